#include "ops/builder.h"

#include "ops/op_dot.h"
#include "ops/op_elementwise.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"

op_type build_type(const op_builder *b, const op_value *x)
{
    return x != NULL ? b->type_of(b, x) : (op_type){0};
}

op_value *build_apply(op_builder *b, const op_row *row, const op_params *params,
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

op_value *build_number_of(op_builder *b, op_value *beside, tsr_dtype dtype, double number)
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
    return build_number_of(b, beside, build_type(b, beside).dtype, number);
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

op_value *build_unary(op_builder *b, unary_op op, op_value *x)
{
    return build_apply(b, &op_unary[op], &(op_params){0}, &x, 1);
}

op_value *build_binary(op_builder *b, binary_op op, op_value *x, op_value *y)
{
    op_value *const operands[] = {x, y};
    return build_apply(b, &op_binary[op], &(op_params){0}, operands, 2);
}

op_value *build_compare(op_builder *b, compare_op op, op_value *x, op_value *y)
{
    op_value *const operands[] = {x, y};
    return build_apply(b, &op_compare, &(op_params){.variant = (int32_t)op}, operands, 2);
}

op_value *build_select(op_builder *b, op_value *which, op_value *yes, op_value *no)
{
    op_value *const operands[] = {which, yes, no};
    return build_apply(b, &op_select, &(op_params){0}, operands, 3);
}

op_value *build_convert(op_builder *b, op_value *x, tsr_dtype dtype)
{
    return build_type(b, x).dtype == dtype && x != NULL
               ? x
               : build_apply(b, &op_convert, &(op_params){.dtype = dtype}, &x, 1);
}

op_value *build_reshape(op_builder *b, op_value *x, const int64_t *shape, size_t rank)
{
    return build_apply(b, &op_reshape, &(op_params){.shape = {rank, shape}}, &x, 1);
}

op_value *build_transpose(op_builder *b, op_value *x, const int64_t *permutation)
{
    const op_params params = {.dimensions = {build_type(b, x).rank, permutation}};
    return build_apply(b, &op_transpose, &params, &x, 1);
}

op_value *build_broadcast(op_builder *b, op_value *x, const op_type *to, const int64_t *dims)
{
    const op_params params = {.shape = {to->rank, to->shape},
                              .dimensions = {build_type(b, x).rank, dims}};
    return build_apply(b, &op_broadcast_in_dim, &params, &x, 1);
}

op_value *build_slice(op_builder *b, op_value *x, const int64_t *start, const int64_t *limit,
                      const int64_t *strides)
{
    const size_t rank = build_type(b, x).rank;
    const op_params params = {
        .start = {rank, start}, .limit = {rank, limit}, .strides = {rank, strides}};
    return build_apply(b, &op_slice, &params, &x, 1);
}

op_value *build_pad(op_builder *b, op_value *x, const int64_t *low, const int64_t *high,
                    const int64_t *interior)
{
    const size_t rank = build_type(b, x).rank;
    const op_params params = {
        .start = {rank, low}, .limit = {rank, high}, .strides = {rank, interior}};
    op_value *const operands[] = {x, build_number(b, x, 0)};
    return build_apply(b, &op_pad, &params, operands, 2);
}

op_value *build_concatenate(op_builder *b, op_value *const *values, size_t count, int64_t dim)
{
    return build_apply(b, &op_concatenate, &(op_params){.dimension = dim}, values, count);
}

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

op_value *build_reduce(op_builder *b, fold_op fold, op_value *x, int64_t dim, bool keep)
{
    const op_params params = {.dimensions = {1, &dim}, .variant = (int32_t)fold};
    op_value *reduced = build_apply(b, &op_reduce, &params, &x, 1);
    return keep ? put_back(b, reduced, dim) : reduced;
}

op_value *build_mean(op_builder *b, op_value *x, int64_t dim, bool keep)
{
    const op_params params = {.dimensions = {1, &dim}};
    op_value *reduced = build_apply(b, &op_mean, &params, &x, 1);
    return keep ? put_back(b, reduced, dim) : reduced;
}

op_value *build_sum(op_builder *b, op_value *x, const int64_t *dims, size_t count)
{
    const op_params params = {.dimensions = {count, dims}, .variant = FOLD_SUM};
    return count > 0 ? build_apply(b, &op_reduce, &params, &x, 1) : x;
}

op_value *build_dot(op_builder *b, op_value *x, op_value *y, const op_params *dims)
{
    op_value *const operands[] = {x, y};
    return build_apply(b, &op_dot_general, dims, operands, 2);
}
