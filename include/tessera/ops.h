/*
 * Ops on distributed tensors. eager.h says how layouts of operands and results follow.
 *
 * Element types are not converted by themselves: operands of one type, unless a call says
 * otherwise. Elementwise ops broadcast: the last dimensions go together, and one of size 1, or that
 * an operand does not have, repeats. Dimensions count from 0. A result is the caller's, or the
 * scope's.
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
TSR_API TSR_NODISCARD tsr_status tsr_erf(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_sin(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_cos(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_tan(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_floor(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_ceil(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
/* To the nearest integer; one half goes to the even one, or away from zero. */
TSR_API TSR_NODISCARD tsr_status tsr_round_nearest_even(tsr_tensor *x,
                                                        tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_round_nearest_afz(tsr_tensor *x,
                                                       tsr_tensor **out) TSR_MT_CONTEXT;
/* 1 / (1 + e^-x); x times that; x (1 + erf(x / sqrt 2)) / 2; max(x, 0), of integers too. */
TSR_API TSR_NODISCARD tsr_status tsr_sigmoid(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_silu(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_gelu(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_relu(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
/* The bits of integers, truth values; how many bits are set; how many leading ones are not. */
TSR_API TSR_NODISCARD tsr_status tsr_not(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_popcnt(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_count_leading_zeros(tsr_tensor *x,
                                                         tsr_tensor **out) TSR_MT_CONTEXT;
/* Truth values: whether a float is neither infinite nor a NaN. */
TSR_API TSR_NODISCARD tsr_status tsr_is_finite(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Integers wrap around and their division rounds towards zero, by zero it is all ones. Max and min
 * hand on a NaN. A remainder has the dividend's sign.
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
 * x times a number, and x plus a number, of any type but truth values: the number becomes one of
 * x's elements, rounded for floats. For integers it must be one of theirs: 0.5 is refused. In typed
 * code a number has no type: times one a P value stays P, plus one it is refused.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mul_number(tsr_tensor *x, double number,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_add_number(tsr_tensor *x, double number,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
/* The angle of the point (b, a), in -pi .. pi. */
TSR_API TSR_NODISCARD tsr_status tsr_atan2(tsr_tensor *a, tsr_tensor *b,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Integers shifted by so many bits. By as many as the type has, or more, or a negative number, all
 * bits are shifted out: 0, or for an arithmetic shift copies of the sign bit.
 */
TSR_API TSR_NODISCARD tsr_status tsr_shift_left(tsr_tensor *a, tsr_tensor *b,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_shift_right_arithmetic(tsr_tensor *a, tsr_tensor *b,
                                                            tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_shift_right_logical(tsr_tensor *a, tsr_tensor *b,
                                                         tsr_tensor **out) TSR_MT_CONTEXT;

/* min(max(x, least), greatest). */
TSR_API TSR_NODISCARD tsr_status tsr_clamp(tsr_tensor *least, tsr_tensor *x, tsr_tensor *greatest,
                                           tsr_tensor **out) TSR_MT_CONTEXT;

typedef enum tsr_comparison { TSR_EQ, TSR_NE, TSR_LT, TSR_LE, TSR_GT, TSR_GE } tsr_comparison;

/* Truth values, i1. A NaN is unequal to everything and in no order. */
TSR_API TSR_NODISCARD tsr_status tsr_compare(tsr_tensor *a, tsr_tensor *b,
                                             tsr_comparison comparison,
                                             tsr_tensor **out) TSR_MT_CONTEXT;

/* `yes` where the predicate, of i1, is true, `no` elsewhere. */
TSR_API TSR_NODISCARD tsr_status tsr_select(tsr_tensor *predicate, tsr_tensor *yes, tsr_tensor *no,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Another element type: floats are rounded to nearest even, towards zero and saturating when they
 * become integers, NaN to 0; integers wrap around; what is not 0 is true. A pending sum is carried
 * out first, unless every number of a float type is one of the new type.
 */
TSR_API TSR_NODISCARD tsr_status tsr_convert(tsr_tensor *x, tsr_dtype dtype,
                                             tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- products ---- */

/*
 * Matrices, [.., m, k] by [.., k, n]: leading dimensions alike, or on one side only. A vector on
 * either side is a matrix without that dimension.
 */
TSR_API TSR_NODISCARD tsr_status tsr_matmul(tsr_tensor *a, tsr_tensor *b,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* Any product: the result has the batch dimensions, the free ones of a, the free ones of b. */
TSR_API TSR_NODISCARD tsr_status tsr_dot_general(tsr_tensor *a, tsr_tensor *b,
                                                 const tsr_dot_dims *dims,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * `ij,jk->ik`, `...ij,jk->...ik`: subscripts as tsr_rule_einsum has them, for any number of
 * operands; they are multiplied from left to right.
 */
TSR_API TSR_NODISCARD tsr_status tsr_einsum(const char *equation,
                                            TSR_ARRAY(num_operands) tsr_tensor *const *operands,
                                            size_t num_operands, tsr_tensor **out) TSR_MT_CONTEXT;

/* x [.., i] by weight [o, i], and bias [o] added unless it is NULL: [.., o]. */
TSR_API TSR_NODISCARD tsr_status tsr_linear(tsr_tensor *x, tsr_tensor *weight,
                                            TSR_NULLABLE tsr_tensor *bias,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- reductions ---- */

/*
 * Over some dimensions, each once, which the result lacks. Over a sharded one the result is
 * pending: sums by a sum, a greatest by a greatest. The sum of nothing is 0, the product 1, the
 * greatest the least value of the type. A mean is of floats, over the elements of the whole.
 *
 * Sums and products, running ones too, have the element type of x. They accumulate in it, f16 and
 * bf16 in f32: integers wrap around, as sums of i8 soon do, and the sum of truth values is their
 * or, the product their and. tsr_sum_as and the like below reduce in another type.
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
/* All true, any true; of integers all bits, any bit. */
TSR_API TSR_NODISCARD tsr_status tsr_all(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                         size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_any(tsr_tensor *x, TSR_ARRAY(num_dims) const size_t *dims,
                                         size_t num_dims, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Where along a dimension the first greatest element is, i64; a NaN is greater than all. Of size 0
 * the dimension is refused.
 */
TSR_API TSR_NODISCARD tsr_status tsr_argmax(tsr_tensor *x, size_t dim,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* The running sum along a dimension. */
TSR_API TSR_NODISCARD tsr_status tsr_cumsum(tsr_tensor *x, size_t dim,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Reduces the elements converted to another type first, which the result has: of i8 or truth values
 * as TSR_I64 they give what NumPy gives, and a mean of integers as TSR_F64.
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

/* The same elements, row-major, in another shape; one extent may be -1: what the others leave. */
TSR_API TSR_NODISCARD tsr_status tsr_reshape(tsr_tensor *x, TSR_ARRAY(rank) const int64_t *shape,
                                             size_t rank, tsr_tensor **out) TSR_MT_CONTEXT;
/* Dimension d of the result is dimension permutation[d] of x; as many as x has. */
TSR_API TSR_NODISCARD tsr_status tsr_transpose(tsr_tensor *x,
                                               TSR_ARRAY(tsr_tensor_rank(x))
                                                   const size_t *permutation,
                                               tsr_tensor **out) TSR_MT_CONTEXT;
/* To a shape whose last dimensions are those of x, where size 1 may grow. */
TSR_API TSR_NODISCARD tsr_status tsr_broadcast_to(tsr_tensor *x,
                                                  TSR_ARRAY(rank) const int64_t *shape, size_t rank,
                                                  tsr_tensor **out) TSR_MT_CONTEXT;
/* From start to before limit in steps of stride, for each dimension; strides NULL: all 1. */
TSR_API TSR_NODISCARD tsr_status tsr_slice(tsr_tensor *x,
                                           TSR_ARRAY(tsr_tensor_rank(x)) const int64_t *start,
                                           TSR_ARRAY(tsr_tensor_rank(x)) const int64_t *limit,
                                           TSR_NULLABLE const int64_t *strides,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
/* One after the other along a dimension; 1 to 64 of them, and TSR_ERR_INVALID without a message of
 * none. */
TSR_API TSR_NODISCARD tsr_status tsr_concatenate(TSR_ARRAY(count) tsr_tensor *const *tensors,
                                                 size_t count, size_t dim,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;
/* The same along a new dimension, likewise. */
TSR_API TSR_NODISCARD tsr_status tsr_stack(TSR_ARRAY(count) tsr_tensor *const *tensors,
                                           size_t count, size_t dim,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
/* Cuts a dimension into parts of `sizes`, which sum to it; out has room for `count`. */
TSR_API TSR_NODISCARD tsr_status tsr_split(tsr_tensor *x, size_t dim,
                                           TSR_ARRAY(count) const int64_t *sizes, size_t count,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * A border of a number: before, after and between the elements of each dimension; between NULL:
 * none. Negative padding before or after takes elements away.
 */
TSR_API TSR_NODISCARD tsr_status tsr_pad(tsr_tensor *x, double number,
                                         TSR_ARRAY(tsr_tensor_rank(x)) const int64_t *before,
                                         TSR_ARRAY(tsr_tensor_rank(x)) const int64_t *after,
                                         TSR_NULLABLE const int64_t *between,
                                         tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- indices ---- */

/*
 * The rows of x at indices (of any integer type and shape) along a dimension: the indices'
 * dimensions stand in its place. An index out of range is taken as the nearest in it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_take(tsr_tensor *x, tsr_tensor *indices, size_t dim,
                                          tsr_tensor **out) TSR_MT_CONTEXT;

/* Rows of a table [v, e] by indices: their shape, then e. A sharded table leaves a pending sum. */
TSR_API TSR_NODISCARD tsr_status tsr_embedding(tsr_tensor *table, tsr_tensor *indices,
                                               tsr_tensor **out) TSR_MT_CONTEXT;

/* What updates do to the elements at their places. */
typedef enum tsr_scatter_op {
    TSR_SCATTER_SET,
    TSR_SCATTER_ADD,
    TSR_SCATTER_MUL,
    TSR_SCATTER_MAX,
    TSR_SCATTER_MIN
} tsr_scatter_op;

/*
 * x with updates at the rows `indices` along a dimension: the updates have the shape that tsr_take
 * gives. An index out of range is left out. Of several updates of one element SET takes the last.
 */
TSR_API TSR_NODISCARD tsr_status tsr_scatter(tsr_tensor *x, tsr_tensor *indices,
                                             tsr_tensor *updates, size_t dim, tsr_scatter_op op,
                                             tsr_tensor **out) TSR_MT_CONTEXT;

/* StableHLO's gather and scatter in general; start_index_map has an entry for each index of a
 * slice. */
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

/* 1 where the last, new dimension of size `depth` is the index, 0 elsewhere. */
TSR_API TSR_NODISCARD tsr_status tsr_one_hot(tsr_tensor *indices, int64_t depth, tsr_dtype dtype,
                                             tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Sorted along a dimension, stably, NaNs as greater than all; and where each element was, i64.
 * Either may be NULL. The first k of the descending order.
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

/* e^x over its sum along a dimension; the log of that sum, which the result lacks the dimension of.
 */
TSR_API TSR_NODISCARD tsr_status tsr_softmax(tsr_tensor *x, size_t dim,
                                             tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_logsumexp(tsr_tensor *x, size_t dim,
                                               tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Along the last dimension: (x - mean) / sqrt(variance + epsilon), and x / sqrt(mean square +
 * epsilon); times scale and plus bias, of that dimension's size, unless those are NULL.
 */
TSR_API TSR_NODISCARD tsr_status tsr_layer_norm(tsr_tensor *x, TSR_NULLABLE tsr_tensor *scale,
                                                TSR_NULLABLE tsr_tensor *bias, double epsilon,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_rms_norm(tsr_tensor *x, TSR_NULLABLE tsr_tensor *scale,
                                              double epsilon, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * For logits [.., v] and labels [..] of integers: logsumexp of the logits minus the label's one,
 * for each. The vocabulary may be sharded: only numbers for each label are exchanged.
 *
 * Where the label is `ignored`, whichever number that is, the loss is 0 and so is the gradient of
 * its logits, if they are finite; tsr_cross_entropy ignores TSR_IGNORE_LABEL. A mean over the
 * others is the caller's: the sum of losses over the number of labels that count. Any other label
 * below 0 or from v on is an error in checked mode, which names the first one on every rank (in
 * typed code on the rank that has it); unchecked, its loss and the gradient of its logits are NaN.
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
