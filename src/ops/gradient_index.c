/* Gradients of ops that read or write at indices. */
#include "base/diag.h"
#include "ops/gradient.h"
#include "ops/op_index.h"

static op_value *scatter_of(op_builder *b, op_body body, op_value *into, op_value *indices,
                            op_value *updates, const window_dims *dims)
{
    const scatter_params params = scatter_of_windows(dims, body);
    op_value *const operands[] = {into, indices, updates};
    return build_apply(b, &op_scatter, &params, operands, 3);
}

/* ---- index vectors ---- */

/* The i-th numbers of all index vectors, as i64, the largest for what exceeds that; the dimension
 * of the vectors stays, with size 1. */
static op_value *numbers_at(op_builder *b, const op_vjp *v, const window_dims *w, size_t i)
{
    const op_type type = build_type(b, v->operands[1]);
    const size_t dim = (size_t)w->index_vector_dim;
    int64_t start[OP_MAX_RANK] = {0};
    int64_t limit[OP_MAX_RANK];
    int64_t ones[OP_MAX_RANK];
    op_value *numbers = v->operands[1];
    if (dim < type.rank) {
        for (size_t d = 0; d < type.rank; d++) {
            limit[d] = type.shape[d];
            ones[d] = 1;
        }
        start[dim] = (int64_t)i;
        limit[dim] = (int64_t)i + 1;
        numbers = build_slice(b, numbers, start, limit, ones);
    }
    if (type.dtype == TSR_U64) {
        numbers = build_binary(b, BINARY_MIN, numbers,
                               build_number_of(b, numbers, TSR_U64, number_integer(INT64_MAX)));
    }
    return build_convert(b, numbers, TSR_I64);
}

static op_value *clamp(op_builder *b, op_value *x, int64_t low, int64_t high)
{
    op_value *above =
        build_binary(b, BINARY_MAX, x, build_number_of(b, x, TSR_I64, number_integer(low)));
    return build_binary(b, BINARY_MIN, above, build_number_of(b, x, TSR_I64, number_integer(high)));
}

/* Index vectors from their numbers. */
static op_value *join(op_builder *b, const window_dims *w, op_value *const *numbers)
{
    const size_t count = w->index_map.count;
    return count == 1 ? numbers[0] : build_concatenate(b, numbers, count, w->index_vector_dim);
}

/* ---- gather ---- */

/* A gather takes indices out of range as the nearest in it: so must the scatter that goes back. */
void gradient_gather(op_builder *b, const op_vjp *v, op_value **grads)
{
    const gather_params *p = v->params;
    const window_dims w = gather_window_dims(p);
    const op_type input = build_type(b, v->operands[0]);
    op_value *numbers[OP_MAX_RANK];
    op_value *indices = v->operands[1];
    if (!v->wanted[0]) {
        return;
    }
    for (size_t i = 0; i < w.index_map.count; i++) {
        const size_t d = (size_t)w.index_map.values[i];
        numbers[i] =
            clamp(b, numbers_at(b, v, &w, i), 0, input.shape[d] - p->slice_sizes.values[d]);
    }
    if (w.index_map.count > 0) {
        indices = join(b, &w, numbers);
    }
    grads[0] =
        scatter_of(b, OP_BODY_SUM, build_zeros(b, v->operands[0]), indices, v->cotangents[0], &w);
}

/* ---- scatter ---- */

/* The windows of a scatter, by dimensions of the input. */
static void window_sizes(const window_dims *w, const op_type *input, const op_type *updates,
                         int64_t *sizes)
{
    size_t window = 0;
    for (size_t d = 0; d < input->rank; d++) {
        const bool kept = !op_ints_have(w->collapsed, d) && !op_ints_have(w->input_batching, d);
        sizes[d] = kept ? updates->shape[w->window.values[window]] : 1;
        window += kept;
    }
}

/* Truths for each index vector, for each element of its update. */
static op_value *spread_truths(op_builder *b, const window_dims *w, op_value *truths,
                               const op_type *updates)
{
    const op_type type = build_type(b, truths);
    const size_t vector = (size_t)w->index_vector_dim;
    int64_t shape[OP_MAX_RANK];
    int64_t dims[OP_MAX_RANK];
    size_t rank = 0;
    for (size_t d = 0; d < type.rank; d++) {
        if (d != vector) {
            shape[rank++] = type.shape[d];
        }
    }
    size_t batch = 0;
    for (size_t d = 0; d < updates->rank; d++) {
        if (!op_ints_have(w->window, d)) {
            dims[batch++] = (int64_t)d;
        }
    }
    return build_broadcast(b, build_reshape(b, truths, shape, rank),
                           (op_ints){updates->rank, updates->shape}, dims);
}

/*
 * The elements of an array, shaped as the scatter's input, at the positions of the updates; zero
 * for updates that were dropped. A window of several rows may be outside in part: the array gets a
 * border for those.
 */
static op_value *read_back(op_builder *b, const op_vjp *v, op_value *array)
{
    const op_type input = build_type(b, v->operands[0]);
    const op_type updates = build_type(b, v->operands[2]);
    const int64_t zeros[OP_MAX_RANK] = {0};
    int64_t sizes[OP_MAX_RANK];
    int64_t border[OP_MAX_RANK] = {0};
    op_value *numbers[OP_MAX_RANK];
    op_value *inside = NULL;
    const window_dims w = scatter_window_dims(v->params);
    bool bordered = false;
    window_sizes(&w, &input, &updates, sizes);
    for (size_t i = 0; i < w.index_map.count; i++) {
        const size_t d = (size_t)w.index_map.values[i];
        op_value *at = numbers_at(b, v, &w, i);
        border[d] = sizes[d] > 1 ? sizes[d] : 0;
        bordered = bordered || border[d] > 0;
        const int64_t last = border[d] > 0 ? input.shape[d] : input.shape[d] - sizes[d];
        numbers[i] = clamp(b, at, -border[d], last);
        if (border[d] > 0) {
            numbers[i] =
                build_binary(b, BINARY_ADD, numbers[i],
                             build_number_of(b, numbers[i], TSR_I64, number_integer(border[d])));
        } else {
            op_value *in = build_compare(b, COMPARE_EQ, at, numbers[i]);
            inside = inside != NULL ? build_binary(b, BINARY_AND, inside, in) : in;
        }
    }
    op_value *const operands[] = {bordered ? build_pad(b, array, border, border, zeros) : array,
                                  w.index_map.count > 0 ? join(b, &w, numbers) : v->operands[1]};
    const gather_params params = gather_of_windows(&w, (op_ints){input.rank, sizes});
    op_value *read = build_apply(b, &op_gather, &params, operands, 2);
    if (inside == NULL) {
        return read;
    }
    return build_select(b, spread_truths(b, &w, inside, &updates), read, build_number(b, read, 0));
}

/* Which updates are still there: a scatter of numbers of their own, read back, tells. */
static op_value *find_last(op_builder *b, const op_vjp *v)
{
    const window_dims w = scatter_window_dims(v->params);
    const op_type updates = build_type(b, v->operands[2]);
    int64_t count = 1;
    for (size_t d = 0; d < updates.rank; d++) {
        count *= updates.shape[d];
    }
    op_value *ids = build_count(b, v->operands[2], TSR_I64, count);
    ids = build_binary(b, BINARY_ADD, ids, build_number_of(b, ids, TSR_I64, number_integer(1)));
    ids = build_reshape(b, ids, updates.shape, updates.rank);
    op_value *none = build_convert(b, build_zeros(b, v->operands[0]), TSR_I64);
    op_value *left = scatter_of(b, OP_BODY_SECOND, none, v->operands[1], ids, &w);
    return build_compare(b, COMPARE_EQ, read_back(b, v, left), ids);
}

static bool is_empty(const op_builder *b, const op_value *x)
{
    const op_type type = build_type(b, x);
    for (size_t d = 0; d < type.rank; d++) {
        if (type.shape[d] == 0) {
            return true;
        }
    }
    return false;
}

static op_value *ones_like(op_builder *b, op_value *x)
{
    return build_binary(b, BINARY_ADD, build_zeros(b, x), build_number(b, x, 1));
}

/*
 * Of a product of an element and its updates. The product of the others is that of all without the
 * zeros, divided by the one, unless one of the others is a zero.
 */
static void gradient_product(op_builder *b, const op_vjp *v, const window_dims *w, op_value **grads)
{
    op_value *g = v->cotangents[0];
    op_value *x = v->operands[0];
    op_value *indices = v->operands[1];
    op_value *u = v->operands[2];
    if (v->wanted[0]) {
        op_value *factors = scatter_of(b, OP_BODY_PROD, ones_like(b, x), indices, u, w);
        grads[0] = build_binary(b, BINARY_MULTIPLY, g, factors);
    }
    if (!v->wanted[2] || is_empty(b, x)) {
        return;
    }
    op_value *one = build_number(b, u, 1);
    op_value *none = build_number(b, u, 0);
    op_value *is_zero = build_compare(b, COMPARE_EQ, u, none);
    op_value *divisor = build_select(b, is_zero, ones_like(b, u), u);
    op_value *zeros = build_select(b, is_zero, ones_like(b, u), build_zeros(b, u));
    op_value *count = scatter_of(b, OP_BODY_SUM, build_zeros(b, x), indices, zeros, w);
    op_value *product = scatter_of(b, OP_BODY_PROD, ones_like(b, x), indices, divisor, w);
    op_value *all =
        build_binary(b, BINARY_MULTIPLY, build_binary(b, BINARY_MULTIPLY, g, x), product);
    op_value *others = build_binary(b, BINARY_SUBTRACT, read_back(b, v, count), zeros);
    op_value *part = build_binary(b, BINARY_DIVIDE, read_back(b, v, all), divisor);
    op_value *free = build_compare(b, COMPARE_LT, others, one);
    grads[2] = build_select(b, free, part, build_zeros(b, u));
}

/* Of a greatest or least element: what is equal to it shares the gradient evenly. */
static void gradient_extreme(op_builder *b, const op_vjp *v, const window_dims *w, op_value **grads)
{
    const scatter_params *p = v->params;
    op_value *x = v->operands[0];
    op_value *indices = v->operands[1];
    op_value *u = v->operands[2];
    op_value *zeros = build_zeros(b, x);
    op_value *y = scatter_of(b, p->body.body, x, indices, u, w);
    op_value *from_x = build_compare(b, COMPARE_EQ, x, y);
    op_value *start = build_select(b, from_x, ones_like(b, x), zeros);
    if (is_empty(b, x)) {
        grads[0] = v->wanted[0] ? v->cotangents[0] : NULL;
        return;
    }
    op_value *from_u = build_compare(b, COMPARE_EQ, u, read_back(b, v, y));
    op_value *winners = build_select(b, from_u, ones_like(b, u), build_zeros(b, u));
    op_value *count = scatter_of(b, OP_BODY_SUM, start, indices, winners, w);
    op_value *share = build_binary(b, BINARY_DIVIDE, v->cotangents[0], count);
    if (v->wanted[0]) {
        grads[0] = build_select(b, from_x, share, zeros);
    }
    if (v->wanted[2]) {
        grads[2] = build_select(b, from_u, read_back(b, v, share), build_zeros(b, u));
    }
}

/* Of one input; several are scattered by programs alone. */
void gradient_scatter(op_builder *b, const op_vjp *v, op_value **grads)
{
    const scatter_params *p = v->params;
    const window_dims w = scatter_window_dims(p);
    const bool sets = p->body.body == OP_BODY_SECOND;
    op_value *g = v->cotangents[0];
    if (v->num_operands != 3) {
        b->status = diag_error(b->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                               "%s: a scatter of several inputs has no gradient", v->call);
        return;
    }
    if (p->body.body == OP_BODY_PROD) {
        gradient_product(b, v, &w, grads);
        return;
    }
    if (p->body.body == OP_BODY_MAX || p->body.body == OP_BODY_MIN) {
        gradient_extreme(b, v, &w, grads);
        return;
    }
    if (!sets && p->body.body != OP_BODY_SUM) {
        b->status = diag_error(b->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                               "%s: only scatters that set, add, multiply, or take the maximum or "
                               "minimum have a gradient",
                               v->call);
        return;
    }
    if (v->wanted[0]) {
        grads[0] = sets ? scatter_of(b, OP_BODY_SECOND, g, v->operands[1],
                                     build_zeros(b, v->operands[2]), &w)
                        : g;
    }
    if (v->wanted[2] && !is_empty(b, v->operands[0])) {
        grads[2] = read_back(b, v, g);
        if (sets) {
            grads[2] = build_select(b, find_last(b, v), grads[2], build_number(b, grads[2], 0));
        }
    }
}

/* ---- sorted values ---- */

/* All dimensions but the sorted one are batches; each index is a vector of its own, without a
 * dimension, which a tensor may have no room for. */
void gradient_by_indices(op_builder *b, const op_vjp *v, op_value **grads, int64_t dim)
{
    const op_type type = build_type(b, v->results[1]);
    int64_t batches[OP_MAX_RANK];
    size_t count = 0;
    if (v->cotangents[0] == NULL) {
        return;
    }
    for (size_t d = 0; d < type.rank; d++) {
        if ((int64_t)d != dim) {
            batches[count++] = (int64_t)d;
        }
    }
    const window_dims dims = {.collapsed = {1, &dim},
                              .input_batching = {count, batches},
                              .indices_batching = {count, batches},
                              .index_map = {1, &dim},
                              .index_vector_dim = (int64_t)type.rank};
    grads[0] = scatter_of(b, OP_BODY_SUM, build_zeros(b, v->operands[0]), v->results[1],
                          v->cotangents[0], &dims);
}
