#include "ops/builder.h"

#include "ops/op_elementwise.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"

op_type build_type(const op_builder *b, const op_value *x)
{
    return x != NULL ? b->type_of(b, x) : (op_type){0};
}

op_value *build_apply(op_builder *b, const op_row *row, const void *params,
                      op_value *const *operands, size_t count)
{
    op_value *result = NULL;
    for (size_t i = 0; i < count; i++) {
        if (operands[i] == NULL) {
            return NULL;
        }
    }
    if (b->status < 0) {
        return NULL;
    }
    b->status = b->apply(b, row, params, operands, count, &result);
    return b->status < 0 ? NULL : result;
}

op_value *build_number_of(op_builder *b, op_value *beside, tsr_dtype dtype, op_number number)
{
    op_value *result = NULL;
    if (b->status < 0 || beside == NULL) {
        return NULL;
    }
    b->status = b->number(b, beside, dtype, number, &result);
    return b->status < 0 ? NULL : result;
}

op_value *build_number(op_builder *b, op_value *beside, double number)
{
    return build_number_of(b, beside, build_type(b, beside).dtype, number_float(number));
}

op_value *build_count(op_builder *b, op_value *beside, tsr_dtype dtype, int64_t n)
{
    op_value *result = NULL;
    if (b->status < 0 || beside == NULL) {
        return NULL;
    }
    b->status = b->count(b, beside, dtype, n, &result);
    return b->status < 0 ? NULL : result;
}

op_value *build_zeros(op_builder *b, op_value *like)
{
    op_value *result = NULL;
    if (b->status < 0 || like == NULL) {
        return NULL;
    }
    b->status = b->zeros(b, like, &result);
    return b->status < 0 ? NULL : result;
}

op_value *build_settled(op_builder *b, op_value *x)
{
    op_value *result = NULL;
    if (b->status < 0 || x == NULL) {
        return NULL;
    }
    b->status = b->settle(b, x, &result);
    return b->status < 0 ? NULL : result;
}

/* ---- elementwise ---- */

enum { MAX_OPERANDS = 3 };

/* The shape that values broadcast to; false when one of them is NULL. Rows report shapes that do
 * not fit. */
static bool common_shape(const op_builder *b, op_value *const *values, size_t count, size_t *rank,
                         int64_t *shape)
{
    *rank = 0;
    for (size_t i = 0; i < count; i++) {
        const op_type type = build_type(b, values[i]);
        if (values[i] == NULL) {
            return false;
        }
        *rank = type.rank > *rank ? type.rank : *rank;
    }
    for (size_t d = 0; d < *rank; d++) {
        shape[d] = 1;
        for (size_t i = 0; i < count; i++) {
            const op_type type = build_type(b, values[i]);
            if (d + type.rank >= *rank && shape[d] == 1) {
                shape[d] = type.shape[d + type.rank - *rank];
            }
        }
    }
    return true;
}

/* A value repeated to a shape whose last dimensions are its own; itself if it has that shape. */
static op_value *spread_to(op_builder *b, op_value *x, size_t rank, const int64_t *shape)
{
    const op_type type = build_type(b, x);
    int64_t dims[OP_MAX_RANK];
    bool same = type.rank == rank;
    for (size_t d = 0; d < type.rank; d++) {
        dims[d] = (int64_t)(rank - type.rank + d);
        same = same && type.shape[d] == shape[d];
    }
    return same ? x : build_broadcast(b, x, (op_ints){rank, shape}, dims);
}

/* Applies an elementwise row, operands brought to one shape where the builder needs that. */
static op_value *apply_elementwise(op_builder *b, const op_row *row, const void *params,
                                   op_value *const *operands, size_t count)
{
    op_value *spread[MAX_OPERANDS];
    int64_t shape[OP_MAX_RANK];
    size_t rank;
    if (b->broadcasts) {
        return build_apply(b, row, params, operands, count);
    }
    if (!common_shape(b, operands, count, &rank, shape)) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        spread[i] = spread_to(b, operands[i], rank, shape);
    }
    return build_apply(b, row, params, spread, count);
}

op_value *build_unary(op_builder *b, unary_op op, op_value *x)
{
    return build_apply(b, &op_unary[op], NULL, &x, 1);
}

op_value *build_binary(op_builder *b, binary_op op, op_value *x, op_value *y)
{
    op_value *const operands[] = {x, y};
    return apply_elementwise(b, &op_binary[op], NULL, operands, 2);
}

op_value *build_compare(op_builder *b, compare_op op, op_value *x, op_value *y)
{
    op_value *const operands[] = {x, y};
    const compare_params params = {.comparison_direction = (int32_t)op};
    return apply_elementwise(b, &op_compare, &params, operands, 2);
}

op_value *build_select(op_builder *b, op_value *which, op_value *yes, op_value *no)
{
    op_value *const operands[] = {which, yes, no};
    return apply_elementwise(b, &op_select, NULL, operands, 3);
}

op_value *build_convert(op_builder *b, op_value *x, tsr_dtype dtype)
{
    const convert_params params = {.result = dtype};
    return build_type(b, x).dtype == dtype && x != NULL
               ? x
               : build_apply(b, &op_convert, &params, &x, 1);
}

/* ---- shapes ---- */

op_value *build_reshape(op_builder *b, op_value *x, const int64_t *shape, size_t rank)
{
    const reshape_params params = {.result = {build_type(b, x).dtype, rank, shape}};
    return build_apply(b, &op_reshape, &params, &x, 1);
}

op_value *build_transpose(op_builder *b, op_value *x, const int64_t *permutation)
{
    const transpose_params params = {.permutation = {build_type(b, x).rank, permutation}};
    return build_apply(b, &op_transpose, &params, &x, 1);
}

op_value *build_broadcast(op_builder *b, op_value *x, op_ints shape, const int64_t *dims)
{
    const op_type type = build_type(b, x);
    const broadcast_params params = {.broadcast_dimensions = {type.rank, dims},
                                     .result = {type.dtype, shape.count, shape.values}};
    return build_apply(b, &op_broadcast_in_dim, &params, &x, 1);
}

op_value *build_slice(op_builder *b, op_value *x, const int64_t *start, const int64_t *limit,
                      const int64_t *strides)
{
    const size_t rank = build_type(b, x).rank;
    const slice_params params = {
        .start_indices = {rank, start}, .limit_indices = {rank, limit}, .strides = {rank, strides}};
    return build_apply(b, &op_slice, &params, &x, 1);
}

op_value *build_pad(op_builder *b, op_value *x, const int64_t *low, const int64_t *high,
                    const int64_t *interior)
{
    const size_t rank = build_type(b, x).rank;
    const pad_params params = {.edge_padding_low = {rank, low},
                               .edge_padding_high = {rank, high},
                               .interior_padding = {rank, interior}};
    op_value *const operands[] = {x, build_number(b, x, 0)};
    return build_apply(b, &op_pad, &params, operands, 2);
}

op_value *build_concatenate(op_builder *b, op_value *const *values, size_t count, int64_t dim)
{
    return build_apply(b, &op_concatenate, &(concatenate_params){.dimension = dim}, values, count);
}

/* ---- reductions and products ---- */

/* Puts a dimension of size 1 where one was reduced. */
static op_value *put_back(op_builder *b, op_value *x, int64_t dim)
{
    const op_type type = build_type(b, x);
    int64_t shape[OP_MAX_RANK];
    for (size_t d = 0; d < type.rank; d++) {
        shape[d + (d >= (size_t)dim)] = type.shape[d];
    }
    shape[dim] = 1;
    return x != NULL ? build_reshape(b, x, shape, type.rank + 1) : NULL;
}

op_value *build_fold(op_builder *b, op_body body, op_value *x, op_ints dims)
{
    const reduce_params params = {.dimensions = dims, .body = known_region(body)};
    return dims.count > 0 ? build_apply(b, &op_fold, &params, &x, 1) : x;
}

op_value *build_reduce(op_builder *b, op_body body, op_value *x, int64_t dim, bool keep)
{
    op_value *reduced = build_fold(b, body, x, (op_ints){1, &dim});
    return keep ? put_back(b, reduced, dim) : reduced;
}

op_value *build_mean(op_builder *b, op_value *x, int64_t dim, bool keep)
{
    const mean_params params = {.dimensions = {1, &dim}};
    op_value *reduced = build_apply(b, &op_mean, &params, &x, 1);
    return keep ? put_back(b, reduced, dim) : reduced;
}

op_value *build_dot(op_builder *b, op_value *x, op_value *y, const dot_params *dims)
{
    op_value *const operands[] = {x, y};
    return build_apply(b, &op_dot_general, dims, operands, 2);
}
