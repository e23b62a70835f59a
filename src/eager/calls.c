/* The public calls of single ops: their arguments as parameters of a row. */
#include <tessera/ops.h>

#include "base/guard.h"
#include "eager/calls.h"
#include "eager/compose.h"
#include "ops/op_dot.h"
#include "ops/op_elementwise.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"

tsr_status eager_read_dims(tsr_comm *world, const char *call, const size_t *dims, size_t count,
                           dims_list *out)
{
    if (count > OP_MAX_RANK) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: %zu dimensions are named; the maximum rank of a tensor is %d", call,
                          count, OP_MAX_RANK);
    }
    for (size_t i = 0; i < count; i++) {
        out->values[i] = dims[i] <= INT64_MAX ? (int64_t)dims[i] : INT64_MAX;
    }
    out->count = count;
    return TSR_OK;
}

/* ---- elementwise ---- */

#define UNARY(kernel, name, dialect, call, types, class, gradient)                                 \
    tsr_status call(tsr_tensor *x, tsr_tensor **out)                                               \
    {                                                                                              \
        GUARD(call);                                                                               \
        return eager_call(#call, &op_unary[UNARY_##kernel], NULL, &x, 1, out);                     \
    }
#define BINARY(kernel, name, dialect, call, types, class, needs, of_x, of_y)                       \
    tsr_status call(tsr_tensor *a, tsr_tensor *b, tsr_tensor **out)                                \
    {                                                                                              \
        GUARD(call);                                                                               \
        tsr_tensor *const operands[] = {a, b};                                                     \
        return eager_call(#call, &op_binary[BINARY_##kernel], NULL, operands, 2, out);             \
    }
#include "ops/elementwise.def"
#undef UNARY
#undef BINARY

tsr_status tsr_is_finite(tsr_tensor *x, tsr_tensor **out)
{
    GUARD(tsr_is_finite);
    return eager_call("tsr_is_finite", &op_is_finite, NULL, &x, 1, out);
}

tsr_status tsr_clamp(tsr_tensor *least, tsr_tensor *x, tsr_tensor *greatest, tsr_tensor **out)
{
    GUARD(tsr_clamp);
    tsr_tensor *const operands[] = {least, x, greatest};
    return eager_call("tsr_clamp", &op_clamp, NULL, operands, 3, out);
}

tsr_status tsr_compare(tsr_tensor *a, tsr_tensor *b, tsr_comparison comparison, tsr_tensor **out)
{
    GUARD(tsr_compare);
    tsr_tensor *const operands[] = {a, b};
    const compare_params params = {.comparison_direction = (int32_t)comparison};
    return eager_call("tsr_compare", &op_compare, &params, operands, 2, out);
}

tsr_status tsr_select(tsr_tensor *predicate, tsr_tensor *yes, tsr_tensor *no, tsr_tensor **out)
{
    GUARD(tsr_select);
    tsr_tensor *const operands[] = {predicate, yes, no};
    return eager_call("tsr_select", &op_select, NULL, operands, 3, out);
}

tsr_status tsr_convert(tsr_tensor *x, tsr_dtype dtype, tsr_tensor **out)
{
    GUARD(tsr_convert);
    return eager_call("tsr_convert", &op_convert, &(convert_params){.result = dtype}, &x, 1, out);
}

/* ---- products ---- */

tsr_status tsr_dot_general(tsr_tensor *a, tsr_tensor *b, const tsr_dot_dims *dims, tsr_tensor **out)
{
    GUARD(tsr_dot_general);
    tsr_tensor *const operands[] = {a, b};
    dims_list lists[4];
    tsr_comm *world = a->world;
    const char *call = "tsr_dot_general";
    TSR_TRY(eager_read_dims(world, call, dims->lhs_batch, dims->num_batch, &lists[0]));
    TSR_TRY(eager_read_dims(world, call, dims->rhs_batch, dims->num_batch, &lists[1]));
    TSR_TRY(eager_read_dims(world, call, dims->lhs_contracting, dims->num_contracting, &lists[2]));
    TSR_TRY(eager_read_dims(world, call, dims->rhs_contracting, dims->num_contracting, &lists[3]));
    const dot_params params = {.lhs_batching_dimensions = ints_of(&lists[0]),
                               .rhs_batching_dimensions = ints_of(&lists[1]),
                               .lhs_contracting_dimensions = ints_of(&lists[2]),
                               .rhs_contracting_dimensions = ints_of(&lists[3])};
    return eager_call(call, &op_dot_general, &params, operands, 2, out);
}

/* Why two tensors are not matrices that can be multiplied. */
static tsr_status refuse_matmul(const tsr_tensor *a, const tsr_tensor *b)
{
    const op_type lhs = type_of_layout(a->layout);
    const op_type rhs = type_of_layout(b->layout);
    return diag_error(a->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "tsr_matmul: %s by %s: each operand needs at least 1 dimension, and leading "
                      "dimensions must be equal or on one side only; broadcast one operand first",
                      op_type_text(&lhs).text, op_type_text(&rhs).text);
}

/* A matrix by several: their leading dimensions come out after its rows, and have to go first. */
static tsr_status matrix_by_many(tsr_tensor *a, tsr_tensor *b, const dot_params *params,
                                 tsr_tensor **out)
{
    const size_t rank = b->geometry->rank;
    int64_t permutation[OP_MAX_RANK];
    eager_builder builder;
    for (size_t d = 0; d < rank; d++) {
        permutation[d] = (int64_t)(d + 2 < rank ? d + 1 : d + 2 == rank ? 0 : d);
    }
    TSR_TRY(compose_begin("tsr_matmul", a, &builder));
    op_value *product = build_dot(&builder.base, value_of(a), value_of(b), params);
    return compose_end(&builder, build_transpose(&builder.base, product, permutation), out);
}

tsr_status tsr_matmul(tsr_tensor *a, tsr_tensor *b, tsr_tensor **out)
{
    GUARD(tsr_matmul);
    tsr_tensor *const operands[] = {a, b};
    const size_t m = a->geometry->rank;
    const size_t n = b->geometry->rank;
    const size_t lhs_batch = m > 2 ? m - 2 : 0;
    const size_t rhs_batch = n > 2 ? n - 2 : 0;
    int64_t batch[OP_MAX_RANK];
    if (m == 0 || n == 0 || (lhs_batch != rhs_batch && lhs_batch > 0 && rhs_batch > 0)) {
        return refuse_matmul(a, b);
    }
    const size_t count = lhs_batch < rhs_batch ? lhs_batch : rhs_batch;
    for (size_t i = 0; i < count; i++) {
        batch[i] = (int64_t)i;
    }
    const int64_t k_of_a = (int64_t)m - 1;
    const int64_t k_of_b = n > 1 ? (int64_t)n - 2 : 0;
    const dot_params params = {.lhs_batching_dimensions = {count, batch},
                               .rhs_batching_dimensions = {count, batch},
                               .lhs_contracting_dimensions = {1, &k_of_a},
                               .rhs_contracting_dimensions = {1, &k_of_b}};
    if (m == 2 && rhs_batch > 0) {
        return matrix_by_many(a, b, &params, out);
    }
    return eager_call("tsr_matmul", &op_dot_general, &params, operands, 2, out);
}

/* ---- reductions ---- */

static tsr_status reduce(const char *call, op_body body, tsr_tensor *x, const size_t *dims,
                         size_t num_dims, tsr_tensor **out)
{
    dims_list list;
    TSR_TRY(eager_read_dims(x->world, call, dims, num_dims, &list));
    const reduce_params params = {.dimensions = ints_of(&list), .body = known_region(body)};
    return eager_call(call, &op_fold, &params, &x, 1, out);
}

#define REDUCE_CALL(name, body)                                                                    \
    tsr_status name(tsr_tensor *x, const size_t *dims, size_t num_dims, tsr_tensor **out)          \
    {                                                                                              \
        GUARD(name);                                                                               \
        return reduce(#name, body, x, dims, num_dims, out);                                        \
    }
REDUCE_CALL(tsr_sum, OP_BODY_SUM)
REDUCE_CALL(tsr_max, OP_BODY_MAX)
REDUCE_CALL(tsr_min, OP_BODY_MIN)
REDUCE_CALL(tsr_prod, OP_BODY_PROD)
REDUCE_CALL(tsr_all, OP_BODY_AND)
REDUCE_CALL(tsr_any, OP_BODY_OR)

tsr_status tsr_mean(tsr_tensor *x, const size_t *dims, size_t num_dims, tsr_tensor **out)
{
    GUARD(tsr_mean);
    dims_list list;
    TSR_TRY(eager_read_dims(x->world, "tsr_mean", dims, num_dims, &list));
    const mean_params params = {.dimensions = ints_of(&list)};
    return eager_call("tsr_mean", &op_mean, &params, &x, 1, out);
}

tsr_status tsr_cumsum(tsr_tensor *x, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_cumsum);
    const cumulative_params params = {.dimension = (int64_t)dim, .body = {.body = OP_BODY_SUM}};
    return eager_call("tsr_cumsum", &op_cumulative, &params, &x, 1, out);
}

/* ---- shapes ---- */

/* The extent that stands for -1: what the others leave of the elements. */
static tsr_status extent_left(tsr_tensor *x, const int64_t *shape, size_t rank, int64_t *out)
{
    const op_type type = type_of_layout(x->layout);
    int64_t elements = 1;
    int64_t others = 1;
    size_t open = 0;
    bool fits = true;
    for (size_t d = 0; d < type.rank; d++) {
        fits = fits && checked_mul(elements, type.shape[d], &elements);
    }
    for (size_t d = 0; d < rank; d++) {
        open += shape[d] == -1;
        fits = fits && (shape[d] == -1 || checked_mul(others, shape[d], &others));
    }
    if (open > 1) {
        return diag_error(
            x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_reshape: %zu extents are -1; at most 1 can be computed from the others", open);
    }
    if (!fits || others <= 0 || elements % others != 0) {
        return diag_error(x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_reshape: %s has %lld elements, not divisible by %lld, the product "
                          "of the extents beside -1; give that extent as a number",
                          op_type_text(&type).text, (long long)elements, (long long)others);
    }
    *out = elements / others;
    return TSR_OK;
}

/* The shape with the extent in place of -1. */
static tsr_status fill_shape(tsr_tensor *x, const int64_t *shape, size_t rank, int64_t *filled)
{
    int64_t left = 0;
    TSR_TRY(extent_left(x, shape, rank, &left));
    for (size_t d = 0; d < rank; d++) {
        filled[d] = shape[d] == -1 ? left : shape[d];
    }
    return TSR_OK;
}

tsr_status tsr_reshape(tsr_tensor *x, const int64_t *shape, size_t rank, tsr_tensor **out)
{
    GUARD(tsr_reshape);
    int64_t filled[OP_MAX_RANK];
    bool open = false;
    for (size_t d = 0; d < rank; d++) {
        open = open || shape[d] == -1;
    }
    if (open && rank <= OP_MAX_RANK) {
        eager_begin(x->world);
        TSR_TRY(eager_tell(x->world, "tsr_reshape", fill_shape(x, shape, rank, filled)));
        shape = filled;
    }
    const reshape_params params = {.result = {x->dtype, rank, shape}};
    return eager_call("tsr_reshape", &op_reshape, &params, &x, 1, out);
}

tsr_status tsr_transpose(tsr_tensor *x, const size_t *permutation, tsr_tensor **out)
{
    GUARD(tsr_transpose);
    dims_list list;
    TSR_TRY(eager_read_dims(x->world, "tsr_transpose", permutation, x->geometry->rank, &list));
    const transpose_params params = {.permutation = ints_of(&list)};
    return eager_call("tsr_transpose", &op_transpose, &params, &x, 1, out);
}

tsr_status tsr_broadcast_to(tsr_tensor *x, const int64_t *shape, size_t rank, tsr_tensor **out)
{
    GUARD(tsr_broadcast_to);
    const size_t own = x->geometry->rank;
    int64_t dims[OP_MAX_RANK];
    for (size_t d = 0; d < own; d++) {
        dims[d] = (int64_t)(rank - own + d);
    }
    const broadcast_params params = {.broadcast_dimensions = {own, dims},
                                     .result = {x->dtype, rank, shape}};
    return eager_call("tsr_broadcast_to", &op_broadcast_in_dim, &params, &x, 1, out);
}

tsr_status tsr_slice(tsr_tensor *x, const int64_t *start, const int64_t *limit,
                     const int64_t *strides, tsr_tensor **out)
{
    GUARD(tsr_slice);
    const size_t rank = x->geometry->rank;
    int64_t ones[OP_MAX_RANK];
    for (size_t d = 0; d < rank; d++) {
        ones[d] = 1;
    }
    const slice_params params = {.start_indices = {rank, start},
                                 .limit_indices = {rank, limit},
                                 .strides = {rank, strides != NULL ? strides : ones}};
    return eager_call("tsr_slice", &op_slice, &params, &x, 1, out);
}

tsr_status tsr_concatenate(tsr_tensor *const *tensors, size_t count, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_concatenate);
    if (count == 0) {
        return TSR_ERR_INVALID;
    }
    const concatenate_params params = {.dimension = (int64_t)dim};
    return eager_call("tsr_concatenate", &op_concatenate, &params, tensors, count, out);
}

/* The sizes of the parts, which must be those of the dimension. */
static tsr_status check_split(const tsr_tensor *x, size_t dim, const int64_t *sizes, size_t count)
{
    const op_type type = type_of_layout(x->layout);
    int64_t total = 0;
    bool fits = dim < type.rank;
    for (size_t i = 0; fits && i < count; i++) {
        fits = sizes[i] >= 0 && checked_add(total, sizes[i], &total);
    }
    if (fits && total == type.shape[dim]) {
        return TSR_OK;
    }
    return diag_error(
        x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
        "tsr_split: %zu parts with %lld rows in total do not add up to dimension %zu of %s", count,
        (long long)total, dim, op_type_text(&type).text);
}

tsr_status tsr_split(tsr_tensor *x, size_t dim, const int64_t *sizes, size_t count,
                     tsr_tensor **out)
{
    GUARD(tsr_split);
    const size_t rank = x->geometry->rank;
    int64_t start[OP_MAX_RANK] = {0};
    int64_t limit[OP_MAX_RANK];
    int64_t ones[OP_MAX_RANK];
    eager *e = NULL;
    TSR_TRY(check_split(x, dim, sizes, count));
    TSR_TRY(eager_of(x->world, &e));
    for (size_t d = 0; d < rank; d++) {
        limit[d] = x->geometry->shape[d];
        ones[d] = 1;
    }
    limit[dim] = 0;
    for (size_t i = 0; i < count; i++) {
        start[dim] = limit[dim];
        limit[dim] += sizes[i];
        const slice_params params = {.start_indices = {rank, start},
                                     .limit_indices = {rank, limit},
                                     .strides = {rank, ones}};
        const tsr_status status = eager_call("tsr_split", &op_slice, &params, &x, 1, &out[i]);
        if (status < 0) {
            for (size_t k = 0; e->scope == NULL && k < i; k++) {
                tsr_tensor_release(out[k]);
            }
            return status;
        }
    }
    return TSR_OK;
}
