#include "ops/composite.h"

#include <math.h>

#include "ops/op_index.h"

/*
 * Floats narrower than f32 are computed with as f32 and rounded once, at the end: the steps of a
 * composite cancel, so that roundings in between would show. Gradients go through both conversions,
 * and are f32 in between as well.
 */
static op_value *wide(op_builder *b, op_value *x)
{
    const tsr_dtype dtype = build_type(b, x).dtype;
    const bool is_narrow = x != NULL && dtype_is_float(dtype) && dtype < TSR_F32;
    return is_narrow ? build_convert(b, x, TSR_F32) : x;
}

/* A result, rounded to the element type of what it was computed from. */
static op_value *rounded(op_builder *b, op_value *result, const op_value *from)
{
    return build_convert(b, result, build_type(b, from).dtype);
}

static op_value *wide_softmax(op_builder *b, op_value *x, int64_t dim)
{
    op_value *most = build_reduce(b, OP_BODY_MAX, x, dim, true);
    op_value *e = build_unary(b, UNARY_EXP, build_binary(b, BINARY_SUBTRACT, x, most));
    return build_binary(b, BINARY_DIVIDE, e, build_reduce(b, OP_BODY_SUM, e, dim, true));
}

op_value *compose_softmax(op_builder *b, op_value *x, int64_t dim)
{
    return rounded(b, wide_softmax(b, wide(b, x), dim), x);
}

/* The greatest where it is finite, else 0: infinity less infinity would be no number. */
static op_value *finite_most(op_builder *b, op_value *x, int64_t dim)
{
    op_value *most = build_settled(b, build_reduce(b, OP_BODY_MAX, x, dim, true));
    op_value *zero = build_number(b, x, 0);
    op_value *nothing = build_binary(b, BINARY_SUBTRACT, most, most);
    return build_select(b, build_compare(b, COMPARE_EQ, nothing, zero), most, zero);
}

/* A value without a dimension of size 1. */
static op_value *drop_dim(op_builder *b, op_value *x, int64_t dim)
{
    const op_type type = build_type(b, x);
    int64_t shape[OP_MAX_RANK];
    size_t rank = 0;
    for (size_t d = 0; d < type.rank; d++) {
        if (d != (size_t)dim) {
            shape[rank++] = type.shape[d];
        }
    }
    return x != NULL ? build_reshape(b, x, shape, rank) : NULL;
}

static op_value *wide_logsumexp(op_builder *b, op_value *x, int64_t dim)
{
    op_value *most = finite_most(b, x, dim);
    op_value *e = build_unary(b, UNARY_EXP, build_binary(b, BINARY_SUBTRACT, x, most));
    op_value *log = build_unary(b, UNARY_LOG, build_reduce(b, OP_BODY_SUM, e, dim, true));
    return drop_dim(b, build_binary(b, BINARY_ADD, log, most), dim);
}

op_value *compose_logsumexp(op_builder *b, op_value *x, int64_t dim)
{
    return rounded(b, wide_logsumexp(b, wide(b, x), dim), x);
}

/* Counts along a dimension, of a shape that broadcasts with x. */
static op_value *count_along(op_builder *b, op_value *x, int64_t dim)
{
    const op_type type = build_type(b, x);
    int64_t shape[OP_MAX_RANK];
    for (size_t d = 0; d < type.rank; d++) {
        shape[d] = d == (size_t)dim ? type.shape[d] : 1;
    }
    if (x == NULL) {
        return NULL;
    }
    return build_reshape(b, build_count(b, x, TSR_I64, type.shape[dim]), shape, type.rank);
}

/* The least index of those that are the greatest, or no number; pending, a least of indices. */
op_value *compose_argmax(op_builder *b, op_value *x, int64_t dim)
{
    const op_type type = build_type(b, x);
    op_value *most = build_reduce(b, OP_BODY_MAX, x, dim, true);
    op_value *equal = build_compare(b, COMPARE_EQ, x, most);
    op_value *no_number = build_compare(b, COMPARE_NE, x, x);
    op_value *found = build_binary(b, BINARY_OR, equal, no_number);
    op_value *beyond =
        build_number_of(b, x, TSR_I64, number_integer(x != NULL ? type.shape[dim] : 0));
    op_value *index = build_select(b, found, count_along(b, x, dim), beyond);
    return build_reduce(b, OP_BODY_MIN, index, dim, false);
}

/* x / sqrt(y + epsilon) */
static op_value *over_root(op_builder *b, op_value *x, op_value *y, double epsilon)
{
    op_value *sum = build_binary(b, BINARY_ADD, y, build_number(b, y, epsilon));
    return build_binary(b, BINARY_MULTIPLY, x, build_unary(b, UNARY_RSQRT, sum));
}

static int64_t last_dim(const op_builder *b, const op_value *x)
{
    return (int64_t)build_type(b, x).rank - 1;
}

static op_value *wide_layer_norm(op_builder *b, op_value *x, op_value *scale, op_value *bias,
                                 double epsilon)
{
    const int64_t dim = last_dim(b, x);
    op_value *apart = build_binary(b, BINARY_SUBTRACT, x, build_mean(b, x, dim, true));
    op_value *variance = build_mean(b, build_binary(b, BINARY_MULTIPLY, apart, apart), dim, true);
    op_value *result = over_root(b, apart, variance, epsilon);
    result = scale != NULL ? build_binary(b, BINARY_MULTIPLY, result, scale) : result;
    return bias != NULL ? build_binary(b, BINARY_ADD, result, bias) : result;
}

op_value *compose_layer_norm(op_builder *b, op_value *x, op_value *scale, op_value *bias,
                             double epsilon)
{
    op_value *result = wide_layer_norm(b, wide(b, x), wide(b, scale), wide(b, bias), epsilon);
    return rounded(b, result, x);
}

static op_value *wide_rms_norm(op_builder *b, op_value *x, op_value *scale, double epsilon)
{
    op_value *square = build_binary(b, BINARY_MULTIPLY, x, x);
    op_value *result = over_root(b, x, build_mean(b, square, last_dim(b, x), true), epsilon);
    return scale != NULL ? build_binary(b, BINARY_MULTIPLY, result, scale) : result;
}

op_value *compose_rms_norm(op_builder *b, op_value *x, op_value *scale, double epsilon)
{
    return rounded(b, wide_rms_norm(b, wide(b, x), wide(b, scale), epsilon), x);
}

op_value *compose_linear(op_builder *b, op_value *x, op_value *weight, op_value *bias)
{
    const int64_t last = last_dim(b, x);
    const int64_t in = 1;
    const dot_params dims = {.lhs_contracting_dimensions = {1, &last},
                             .rhs_contracting_dimensions = {1, &in}};
    static const char *const names[] = {"the product", "bias"};
    op_value *product = build_dot(b, x, weight, &dims);
    if (bias == NULL) {
        return product;
    }
    b->operand_names = names;
    op_value *sum = build_binary(b, BINARY_ADD, product, bias);
    b->operand_names = NULL;
    return sum;
}

/* The logit of each label: dimensions before the last are batches. */
static op_value *logit_of(op_builder *b, op_value *logits, op_value *labels)
{
    const op_type type = build_type(b, logits);
    int64_t shape[OP_MAX_RANK];
    int64_t batches[OP_MAX_RANK];
    int64_t ones[OP_MAX_RANK];
    op_value *operands[2] = {logits, NULL};
    if (logits == NULL || b->status < 0) {
        return NULL;
    }
    const size_t n = type.rank - 1;
    const int64_t last = (int64_t)n;
    for (size_t d = 0; d <= n; d++) {
        shape[d] = d < n ? type.shape[d] : 1;
        batches[d] = (int64_t)d;
        ones[d] = type.shape[d] > 0 ? 1 : 0;
    }
    operands[1] = build_reshape(b, labels, shape, type.rank);
    const gather_params params = {.operand_batching_dims = {n, batches},
                                  .start_indices_batching_dims = {n, batches},
                                  .collapsed_slice_dims = {1, &last},
                                  .start_index_map = {1, &last},
                                  .index_vector_dim = last,
                                  .slice_sizes = {type.rank, ones}};
    return build_apply(b, &op_gather, &params, operands, 2);
}

/* What losses, and so gradients, are multiplied by: 1 where the label is one of the classes, else
 * no number. */
static op_value *weight_of(op_builder *b, op_value *beside, op_value *labels, int64_t classes)
{
    op_value *zero = build_number_of(b, labels, TSR_I64, number_integer(0));
    op_value *count = build_number_of(b, labels, TSR_I64, number_integer(classes));
    op_value *inside = build_binary(b, BINARY_AND, build_compare(b, COMPARE_GE, labels, zero),
                                    build_compare(b, COMPARE_LT, labels, count));
    return build_select(b, inside, build_number(b, beside, 1), build_number(b, beside, NAN));
}

/* An ignored label has a weight of 0 for its gradient; its loss is 0 even if its logits are
 * infinite. */
static op_value *wide_cross_entropy(op_builder *b, op_value *logits, op_value *labels,
                                    int64_t ignored)
{
    const int64_t dim = last_dim(b, logits);
    const int64_t classes = logits != NULL ? build_type(b, logits).shape[dim] : 0;
    op_value *all = wide_logsumexp(b, logits, dim);
    op_value *loss = build_binary(b, BINARY_SUBTRACT, all, logit_of(b, logits, labels));
    op_value *left_out = build_compare(
        b, COMPARE_EQ, labels, build_number_of(b, labels, TSR_I64, number_integer(ignored)));
    op_value *zero = build_number(b, loss, 0);
    op_value *weight = build_select(b, left_out, zero, weight_of(b, loss, labels, classes));
    return build_select(b, left_out, zero, build_binary(b, BINARY_MULTIPLY, loss, weight));
}

op_value *compose_cross_entropy(op_builder *b, op_value *logits, op_value *labels, int64_t ignored)
{
    return rounded(b, wide_cross_entropy(b, wide(b, logits), labels, ignored), logits);
}

/* The type to count classes in: the indices' own, or i64 where that would wrap around. */
static tsr_dtype type_of_classes(tsr_dtype indices, int64_t depth)
{
    const int bits = tsr_dtype_bits(indices) - (indices <= TSR_I64 ? 1 : 0);
    return bits < 63 && depth > INT64_C(1) << bits ? TSR_I64 : indices;
}

op_value *compose_one_hot(op_builder *b, op_value *indices, int64_t depth, tsr_dtype dtype)
{
    const op_type type = build_type(b, indices);
    int64_t shape[OP_MAX_RANK];
    for (size_t d = 0; d < type.rank; d++) {
        shape[d] = type.shape[d];
    }
    shape[type.rank] = 1;
    const tsr_dtype counted = type_of_classes(type.dtype, depth);
    op_value *column = build_reshape(b, build_convert(b, indices, counted), shape, type.rank + 1);
    op_value *classes = build_count(b, indices, counted, depth);
    return build_convert(b, build_compare(b, COMPARE_EQ, column, classes), dtype);
}

op_value *compose_stack(op_builder *b, op_value *const *values, size_t count, int64_t dim)
{
    enum { MOST = 64 };
    op_value *grown[MOST];
    int64_t shape[OP_MAX_RANK];
    const op_type type = build_type(b, values[0]);
    for (size_t d = 0; d <= type.rank; d++) {
        shape[d] = d == (size_t)dim ? 1 : type.shape[d - (d > (size_t)dim)];
    }
    for (size_t i = 0; i < count && i < MOST; i++) {
        grown[i] = build_reshape(b, values[i], shape, type.rank + 1);
    }
    return build_concatenate(b, grown, count, dim);
}
