/*
 * Ops on distributed tensors. eager.h states how layouts of operands and results follow.
 *
 * Element types are not converted implicitly: operands have one type, unless a call states
 * otherwise. Elementwise ops broadcast: dimensions are aligned from the last, and a dimension of
 * size 1, or one that an operand does not have, is repeated. Dimensions count from 0. A result is
 * owned by the caller, or by the open scope.
 */
#ifndef TESSERA_OPS_H
#define TESSERA_OPS_H

#include <tessera/eager.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elementwise ---- */

TSR_API TSR_NODISCARD tsr_status tsr_negate(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_abs(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_sign(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_exp(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_expm1(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_log(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_log1p(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_sqrt(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_rsqrt(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_cbrt(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_tanh(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_asinh(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_erf(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_erfc(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_sin(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_cos(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_tan(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_floor(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_ceil(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
/* Round to the nearest integer; one half goes to the even one, or away from zero. */
TSR_API TSR_NODISCARD tsr_status tsr_round_nearest_even(tsr_tensor *x,
                                                        tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_round_nearest_afz(tsr_tensor *x,
                                                       tsr_tensor **out) TSR_MT_CONTEXT;
/* Compute 1 / (1 + e^-x); x times that; x (1 + erf(x / sqrt 2)) / 2; max(x, 0), of integers too. */
TSR_API TSR_NODISCARD tsr_status tsr_sigmoid(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_silu(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_gelu(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_relu(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Bitwise not of integers and booleans; the number of bits that are set; the number of leading
 * zeros.
 */
TSR_API TSR_NODISCARD tsr_status tsr_not(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_popcnt(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_count_leading_zeros(tsr_tensor *x,
                                                         tsr_tensor **out) TSR_MT_CONTEXT;
/* Returns booleans: whether a float is neither infinite nor a NaN. */
TSR_API TSR_NODISCARD tsr_status tsr_is_finite(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Elementwise ops of two operands. Integers wrap around; their division rounds towards zero, and
 * division by zero gives all ones. Max and min propagate a NaN. A remainder has the sign of the
 * dividend.
 */
TSR_API TSR_NODISCARD tsr_status tsr_add(tsr_tensor *a, tsr_tensor *b,
                                         tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_sub(tsr_tensor *a, tsr_tensor *b,
                                         tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_mul(tsr_tensor *a, tsr_tensor *b,
                                         tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_div(tsr_tensor *a, tsr_tensor *b,
                                         tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_maximum(tsr_tensor *a, tsr_tensor *b,
                                             tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_minimum(tsr_tensor *a, tsr_tensor *b,
                                             tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_pow(tsr_tensor *a, tsr_tensor *b,
                                         tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_rem(tsr_tensor *a, tsr_tensor *b,
                                         tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_and(tsr_tensor *a, tsr_tensor *b,
                                         tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_or(tsr_tensor *a, tsr_tensor *b,
                                        tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_xor(tsr_tensor *a, tsr_tensor *b,
                                         tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Multiply x by a number, or add a number to x, of any type except booleans. The number is
 * converted to the element type of x, rounded for floats; for integers it must be representable:
 * 0.5 is rejected. In typed code a number has no type: a P value times a number stays P, a P value
 * plus a number is rejected.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mul_number(tsr_tensor *x, double number,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_add_number(tsr_tensor *x, double number,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
/* Computes the angle of the point (b, a), in -pi .. pi. */
TSR_API TSR_NODISCARD tsr_status tsr_atan2(tsr_tensor *a, tsr_tensor *b,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Shift integers by a number of bits. If it is negative or at least the width of the type, all bits
 * are shifted out: the result is 0, or for an arithmetic shift copies of the sign bit.
 */
TSR_API TSR_NODISCARD tsr_status tsr_shift_left(tsr_tensor *a, tsr_tensor *b,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_shift_right_arithmetic(tsr_tensor *a, tsr_tensor *b,
                                                            tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_shift_right_logical(tsr_tensor *a, tsr_tensor *b,
                                                         tsr_tensor **out) TSR_MT_CONTEXT;

/* Computes min(max(x, least), greatest). */
TSR_API TSR_NODISCARD tsr_status tsr_clamp(tsr_tensor *least, tsr_tensor *x, tsr_tensor *greatest,
                                           tsr_tensor **out) TSR_MT_CONTEXT;

typedef enum tsr_comparison { TSR_EQ, TSR_NE, TSR_LT, TSR_LE, TSR_GT, TSR_GE } tsr_comparison;

/*
 * Compares two tensors; the result has element type i1. A NaN is unequal to everything and in no
 * order.
 */
TSR_API TSR_NODISCARD tsr_status tsr_compare(tsr_tensor *a, tsr_tensor *b,
                                             tsr_comparison comparison,
                                             tsr_tensor **out) TSR_MT_CONTEXT;

/* Selects `yes` where the predicate (i1) is true, `no` elsewhere. */
TSR_API TSR_NODISCARD tsr_status tsr_select(tsr_tensor *predicate, tsr_tensor *yes, tsr_tensor *no,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Converts to another element type. Floats are rounded to nearest even; to integers they are
 * rounded towards zero and saturate, NaN gives 0. Integers wrap around. To i1, any value other than
 * 0 is true. A pending sum is reduced first, unless the new type represents every value of the old
 * float type.
 */
TSR_API TSR_NODISCARD tsr_status tsr_convert(tsr_tensor *x, tsr_dtype dtype,
                                             tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- products ---- */

/*
 * Multiplies matrices, [.., m, k] by [.., k, n]: leading dimensions are equal, or only one side has
 * them. A vector on either side is a matrix without that dimension.
 */
TSR_API TSR_NODISCARD tsr_status tsr_matmul(tsr_tensor *a, tsr_tensor *b,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Computes any product: the result has the batch dimensions, the free ones of a, the free ones of
 * b.
 */
TSR_API TSR_NODISCARD tsr_status tsr_dot_general(tsr_tensor *a, tsr_tensor *b,
                                                 const tsr_dot_dims *dims,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Evaluates an equation such as `ij,jk->ik` or `...ij,jk->...ik`, with subscripts as for
 * tsr_rule_einsum and any number of operands, which are multiplied from left to right.
 */
TSR_API TSR_NODISCARD tsr_status tsr_einsum(const char *equation,
                                            TSR_ARRAY(num_operands) tsr_tensor *const *operands,
                                            size_t num_operands, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Computes x [.., i] times the transpose of weight [o, i], plus bias [o] unless it is NULL: [..,
 * o].
 */
TSR_API TSR_NODISCARD tsr_status tsr_linear(tsr_tensor *x, tsr_tensor *weight,
                                            TSR_NULLABLE tsr_tensor *bias,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- reductions ---- */

/*
 * Reduce over some dimensions, each named once, which the result does not have. Over a sharded one
 * the result is pending: sums by a sum, maxima by a maximum. The sum of nothing is 0, the product
 * 1, the maximum the least value of the type. A mean requires floats and divides by the number of
 * elements of the whole.
 *
 * Sums and products, cumulative ones too, have the element type of x. They accumulate in it, f16
 * and bf16 in f32: integers wrap around, as sums of i8 soon do; the sum of booleans is their or,
 * the product their and. tsr_sum_as and its siblings below reduce in another type.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sum(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                         size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_mean(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                          size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_max(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                         size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_min(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                         size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_prod(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                          size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;
/* Compute whether all or any are true; for integers, bit by bit. */
TSR_API TSR_NODISCARD tsr_status tsr_all(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                         size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_any(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                         size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Returns the index along a dimension of the first greatest element, as i64; a NaN is greater than
 * every number. A dimension of size 0 is rejected.
 */
TSR_API TSR_NODISCARD tsr_status tsr_argmax(tsr_tensor *x, size_t dim,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* Computes the cumulative sum along a dimension. */
TSR_API TSR_NODISCARD tsr_status tsr_cumsum(tsr_tensor *x, size_t dim,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Convert the elements to another type, which the result has, and reduce: i8 or booleans as TSR_I64
 * give what NumPy gives, as does a mean of integers as TSR_F64.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sum_as(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                            size_t num_dims, tsr_dtype dtype,
                                            tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_mean_as(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                             size_t num_dims, tsr_dtype dtype,
                                             tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_prod_as(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                             size_t num_dims, tsr_dtype dtype,
                                             tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_cumsum_as(tsr_tensor *x, size_t dim, tsr_dtype dtype,
                                               tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- shapes ---- */

/*
 * Returns the same elements, row-major, in another shape. One extent may be -1; it is computed from
 * the others.
 */
TSR_API TSR_NODISCARD tsr_status tsr_reshape(tsr_tensor *x, TSR_ARRAY(rank) const int64_t *shape,
                                             size_t rank, tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Permutes dimensions: dimension d of the result is dimension permutation[d] of x; one entry per
 * dimension of x.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transpose(tsr_tensor *x,
                                               TSR_ARRAY(tsr_tensor_rank(x))
                                                   const size_t *permutation,
                                               tsr_tensor **out) TSR_MT_CONTEXT;
/* Broadcasts to a shape whose last dimensions are those of x, where size 1 may grow. */
TSR_API TSR_NODISCARD tsr_status tsr_broadcast_to(tsr_tensor *x,
                                                  TSR_ARRAY(rank) const int64_t *shape, size_t rank,
                                                  tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Takes, for each dimension, the elements from start to before limit in steps of stride; strides
 * NULL: all 1.
 */
TSR_API TSR_NODISCARD tsr_status tsr_slice(tsr_tensor *x,
                                           TSR_ARRAY(tsr_tensor_rank(x)) const int64_t *start,
                                           TSR_ARRAY(tsr_tensor_rank(x)) const int64_t *limit,
                                           TSR_NULLABLE const int64_t *strides,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Concatenates 1 to 64 tensors along a dimension. An empty list is TSR_ERR_INVALID without a
 * message, because no tensor provides a context.
 */
TSR_API TSR_NODISCARD tsr_status tsr_concatenate(TSR_ARRAY(count) tsr_tensor *const *tensors,
                                                 size_t count, size_t dim,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;
/* Concatenates tensors along a new dimension, with the same limits. */
TSR_API TSR_NODISCARD tsr_status tsr_stack(TSR_ARRAY(count) tsr_tensor *const *tensors,
                                           size_t count, size_t dim,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
/* Cuts a dimension into parts of `sizes`, which sum to it; out has room for `count`. */
TSR_API TSR_NODISCARD tsr_status tsr_split(tsr_tensor *x, size_t dim,
                                           TSR_ARRAY(count) const int64_t *sizes, size_t count,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Pads with a number: before, after and between the elements of each dimension; between NULL: none.
 * Negative padding before or after removes elements.
 */
TSR_API TSR_NODISCARD tsr_status tsr_pad(tsr_tensor *x, double number,
                                         TSR_ARRAY(tsr_tensor_rank(x)) const int64_t *before,
                                         TSR_ARRAY(tsr_tensor_rank(x)) const int64_t *after,
                                         TSR_NULLABLE const int64_t *between,
                                         tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- indices ---- */

/*
 * Takes the rows of x at indices (of any integer type and shape) along a dimension, which is
 * replaced by the dimensions of the indices. An index out of range is clamped.
 */
TSR_API TSR_NODISCARD tsr_status tsr_take(tsr_tensor *x, tsr_tensor *indices, size_t dim,
                                          tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Takes rows of a table [v, e] by indices: the result has their shape, then e. A sharded table
 * leaves a pending sum.
 */
TSR_API TSR_NODISCARD tsr_status tsr_embedding(tsr_tensor *table, tsr_tensor *indices,
                                               tsr_tensor **out) TSR_MT_CONTEXT;

/* How updates are combined with the elements they address. */
typedef enum tsr_scatter_op {
    TSR_SCATTER_SET,
    TSR_SCATTER_ADD,
    TSR_SCATTER_MUL,
    TSR_SCATTER_MAX,
    TSR_SCATTER_MIN
} tsr_scatter_op;

/*
 * Returns x with updates at the rows `indices` along a dimension: the updates have the shape of the
 * result of tsr_take. An update with an index out of range is ignored. If several updates address
 * one element, SET applies the last.
 */
TSR_API TSR_NODISCARD tsr_status tsr_scatter(tsr_tensor *x, tsr_tensor *indices,
                                             tsr_tensor *updates, size_t dim, tsr_scatter_op op,
                                             tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * The general gather and scatter of StableHLO; start_index_map has an entry for each index of a
 * slice.
 */
typedef struct tsr_slices_dims {
    tsr_gather_dims dims;
    size_t num_indexed;
    TSR_ARRAY(num_indexed) const size_t *start_index_map;
} tsr_slices_dims;
TSR_API TSR_NODISCARD tsr_status tsr_gather_slices(tsr_tensor *x, tsr_tensor *indices,
                                                   const tsr_slices_dims *dims,
                                                   TSR_ARRAY(tsr_tensor_rank(x))
                                                       const int64_t *slice_sizes,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_scatter_slices(tsr_tensor *x, tsr_tensor *indices,
                                                    tsr_tensor *updates,
                                                    const tsr_slices_dims *dims, tsr_scatter_op op,
                                                    tsr_tensor **out) TSR_MT_CONTEXT;

/* Returns 1 where the last, new dimension of size `depth` equals the index, 0 elsewhere. */
TSR_API TSR_NODISCARD tsr_status tsr_one_hot(tsr_tensor *indices, int64_t depth, tsr_dtype dtype,
                                             tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Sort along a dimension, stably, NaNs as greater than every number, and return the previous index
 * of each element, as i64. Either output may be NULL. tsr_top_k returns the first k in descending
 * order.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sort(tsr_tensor *x, size_t dim, bool descending,
                                          TSR_NULLABLE tsr_tensor **values,
                                          TSR_NULLABLE tsr_tensor **indices) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_top_k(tsr_tensor *x, size_t dim, int64_t k,
                                           TSR_NULLABLE tsr_tensor **values,
                                           TSR_NULLABLE tsr_tensor **indices) TSR_MT_CONTEXT;

/*
 * ---- of several ops ----
 *
 * Softmax, logsumexp, norms and cross-entropy of f16 or bf16 are computed in f32 and rounded once,
 * at the end; so are their gradients.
 */

/* Compute e^x over its sum along a dimension; the logarithm of that sum, without the dimension. */
TSR_API TSR_NODISCARD tsr_status tsr_softmax(tsr_tensor *x, size_t dim,
                                             tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_logsumexp(tsr_tensor *x, size_t dim,
                                               tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Normalize along the last dimension: (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean
 * square + epsilon); times scale and plus bias, of that dimension's size, unless they are NULL.
 */
TSR_API TSR_NODISCARD tsr_status tsr_layer_norm(tsr_tensor *x, TSR_NULLABLE tsr_tensor *scale,
                                                TSR_NULLABLE tsr_tensor *bias, double epsilon,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_rms_norm(tsr_tensor *x, TSR_NULLABLE tsr_tensor *scale,
                                              double epsilon, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * For logits [.., v] and labels [..] of integers, computes logsumexp of the logits minus the logit
 * of the label, for each label. The vocabulary may be sharded: only numbers for each label are
 * exchanged.
 *
 * Where the label is `ignored`, which may be any number, the loss is 0, and so is the gradient of
 * its logits if they are finite; tsr_cross_entropy ignores TSR_IGNORE_LABEL. To average over the
 * other labels, divide the sum of losses by their number. Any other label below 0 or not below v is
 * an error in checked mode, which names the first one on every rank (in typed code on the rank that
 * has it); in unchecked mode its loss and the gradient of its logits are NaN.
 */
#define TSR_IGNORE_LABEL (-100)
TSR_API TSR_NODISCARD tsr_status tsr_cross_entropy(tsr_tensor *logits, tsr_tensor *labels,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_cross_entropy_ignoring(tsr_tensor *logits, tsr_tensor *labels,
                                                            int64_t ignored,
                                                            tsr_tensor **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
