/* Calls with indices, and sorts. */
#include <string.h>

#include "op_cases.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* A tensor of at least one dimension, of which one is `dim`, with a row if `some`. */
static case_operand *add_rows(op_case *c, rng *r, size_t most, bool some)
{
    int64_t shape[MAX_DIMS];
    size_t rank = draw_shape(c, r, most, shape);
    rank = rank > 0 ? rank : 1;
    c->dim = (size_t)rng_below(r, (int64_t)rank);
    shape[c->dim] = some && shape[c->dim] == 0 ? 1 : shape[c->dim];
    return add_operand(c, c->dtype, rank, shape);
}

/* ---- rows ---- */

static void make_take(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    draw_case_type(c, r);
    const case_operand *x = add_rows(c, r, 3, true);
    const size_t rank = draw_shape(c, r, 2, shape);
    (void)add_indices(c, r, rank, shape, x->shape[c->dim]);
    add_argument(c, ", %zu", c->dim);
}

static tsr_status run_take(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_take(at->x[0], at->x[1], c->dim, out);
}

static void make_embedding(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    draw_case_type(c, r);
    const int64_t drawn = draw_extent(c, r);
    const int64_t table[] = {drawn > 0 ? drawn : 1, draw_extent(c, r)};
    const size_t rank = draw_shape(c, r, 2, shape);
    (void)add_operand(c, c->dtype, 2, table);
    (void)add_indices(c, r, rank, shape, table[0] - 1);
}

static tsr_status run_embedding(const op_case *c, const case_site *at, tsr_tensor **out)
{
    (void)c;
    return tsr_embedding(at->x[0], at->x[1], out);
}

static void draw_scatter_op(op_case *c, rng *r)
{
    static const char *const names[] = {"TSR_SCATTER_SET", "TSR_SCATTER_ADD", "TSR_SCATTER_MUL",
                                        "TSR_SCATTER_MAX", "TSR_SCATTER_MIN"};
    c->variant = (int)rng_below(r, c->dtype == TSR_C64 ? 2 : 5);
    c->variant = c->dtype == TSR_I1 ? TSR_SCATTER_SET : c->variant;
    for (size_t i = 0; c->variant == TSR_SCATTER_MUL && i < c->num_operands; i += 2) {
        c->operands[i].powers = c->dtype != TSR_U8 && c->dtype != TSR_U32;
    }
    add_argument(c, ", %s", names[c->variant]);
}

static void make_scatter(fixture *f, op_case *c, rng *r)
{
    int64_t indices[MAX_DIMS];
    int64_t updates[MAX_DIMS];
    (void)f;
    draw_case_type(c, r);
    const case_operand *x = add_rows(c, r, 3, false);
    const size_t rank = draw_shape(c, r, x->rank > 2 ? 1 : 2, indices);
    (void)add_indices(c, r, rank, indices, x->shape[c->dim]);
    memcpy(updates, x->shape, c->dim * sizeof *updates);
    memcpy(updates + c->dim, indices, rank * sizeof *updates);
    memcpy(updates + c->dim + rank, x->shape + c->dim + 1,
           (x->rank - c->dim - 1) * sizeof *updates);
    (void)add_operand(c, c->dtype, x->rank - 1 + rank, updates);
    add_argument(c, ", %zu", c->dim);
    draw_scatter_op(c, r);
}

static tsr_status run_scatter(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_scatter(at->x[0], at->x[1], at->x[2], c->dim, (tsr_scatter_op)c->variant, out);
}

/* ---- slices ---- */

enum { OFFSET, COLLAPSED, INPUT_BATCHING, INDICES_BATCHING, INDEX_MAP };

static void push(case_dims *list, size_t dim)
{
    list->dims[list->count++] = dim;
}

/* Pairs of indices into a matrix, along either dimension of theirs; n of them. */
static void make_pairs(op_case *c, rng *r)
{
    const int64_t shape[] = {draw_extent(c, r), draw_extent(c, r)};
    const int64_t n = draw_extent(c, r);
    c->dim = (size_t)rng_below(r, 2);
    const int64_t indices[] = {c->dim == 0 ? 2 : n, c->dim == 0 ? n : 2};
    (void)add_operand(c, c->dtype, 2, shape);
    (void)add_indices(c, r, 2, indices, shape[0] < shape[1] ? shape[0] : shape[1]);
    const size_t swapped = (size_t)rng_below(r, 2);
    push(&c->lists[INDEX_MAP], swapped);
    push(&c->lists[INDEX_MAP], 1 - swapped);
    const size_t place = (size_t)rng_below(r, 3);
    size_t at = 0;
    for (size_t d = 0; d < 2; d++) {
        const int64_t drawn = rng_below(r, shape[d] + 1);
        const bool one = rng_chance(r, 50) && shape[d] > 0;
        const bool collapses = rng_chance(r, 70) && one;
        c->sizes[d] = one ? 1 : drawn;
        if (collapses) {
            push(&c->lists[COLLAPSED], d);
        } else {
            at += at == place;
            push(&c->lists[OFFSET], at++);
        }
    }
    /* The place of the batch dimension may not lie behind all others. */
    for (size_t i = 0; place > c->lists[OFFSET].count && i < c->lists[OFFSET].count; i++) {
        c->lists[OFFSET].dims[i] = i;
    }
    c->rank = 2;
    c->number = n;
}

/* Rows of each matrix of a batch. */
static void make_batch(op_case *c, rng *r)
{
    const int64_t shape[] = {draw_extent(c, r), draw_extent(c, r), draw_extent(c, r)};
    const int64_t indices[] = {shape[0], draw_extent(c, r)};
    (void)add_operand(c, c->dtype, 3, shape);
    (void)add_indices(c, r, 2, indices, shape[1]);
    push(&c->lists[INPUT_BATCHING], 0);
    push(&c->lists[INDICES_BATCHING], 0);
    push(&c->lists[INDEX_MAP], 1);
    push(&c->lists[COLLAPSED], 1);
    push(&c->lists[OFFSET], 2);
    c->sizes[0] = shape[0] > 0 ? 1 : 0;
    c->sizes[1] = shape[1] > 0 ? 1 : 0;
    c->sizes[2] = shape[2];
    c->dim = 2;
    c->rank = 3;
    c->number = -1;
}

static void make_slices(op_case *c, rng *r)
{
    draw_case_type(c, r);
    if (rng_chance(r, 60)) {
        make_pairs(c, r);
    } else {
        make_batch(c, r);
    }
    for (size_t i = 0; i < 5; i++) {
        add_dims(c, &c->lists[i]);
    }
    add_argument(c, ", index_vector_dim %zu", c->dim);
}

static void make_gather_slices(fixture *f, op_case *c, rng *r)
{
    (void)f;
    make_slices(c, r);
    add_list(c, "int64_t", c->sizes, c->rank);
}

static tsr_slices_dims slices_dims(const op_case *c)
{
    return (tsr_slices_dims){.dims = {.num_offset = c->lists[OFFSET].count,
                                      .offset_dims = c->lists[OFFSET].dims,
                                      .num_collapsed = c->lists[COLLAPSED].count,
                                      .collapsed_dims = c->lists[COLLAPSED].dims,
                                      .num_batching = c->lists[INPUT_BATCHING].count,
                                      .input_batching = c->lists[INPUT_BATCHING].dims,
                                      .indices_batching = c->lists[INDICES_BATCHING].dims,
                                      .index_vector_dim = c->dim},
                             .num_indexed = c->lists[INDEX_MAP].count,
                             .start_index_map = c->lists[INDEX_MAP].dims};
}

static tsr_status run_gather_slices(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_slices_dims dims = slices_dims(c);
    return tsr_gather_slices(at->x[0], at->x[1], &dims, c->sizes, out);
}

/* The shape that a gather with the same numbers has. */
static void make_scatter_slices(fixture *f, op_case *c, rng *r)
{
    int64_t updates[MAX_DIMS];
    (void)f;
    make_slices(c, r);
    if (c->number < 0) {
        updates[0] = c->operands[1].shape[0];
        updates[1] = c->operands[1].shape[1];
        updates[2] = c->sizes[2];
        (void)add_operand(c, c->dtype, 3, updates);
    } else {
        const case_dims *offset = &c->lists[OFFSET];
        size_t dim = 0;
        size_t taken = 0;
        for (size_t d = 0; d <= offset->count; d++) {
            const bool window = taken < offset->count && offset->dims[taken] == d;
            while (window && c->lists[COLLAPSED].count > 0 && c->lists[COLLAPSED].dims[0] == dim) {
                dim++;
            }
            updates[d] = window ? c->sizes[dim++] : c->number;
            taken += window;
        }
        (void)add_operand(c, c->dtype, offset->count + 1, updates);
    }
    draw_scatter_op(c, r);
}

static tsr_status run_scatter_slices(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_slices_dims dims = slices_dims(c);
    return tsr_scatter_slices(at->x[0], at->x[1], at->x[2], &dims, (tsr_scatter_op)c->variant, out);
}

/* ---- others ---- */

static void make_one_hot(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    draw_case_type(c, r);
    const size_t rank = draw_shape(c, r, 2, shape);
    c->number = draw_extent(c, r);
    (void)add_indices(c, r, rank, shape, c->number);
    add_argument(c, ", %lld, %s", (long long)c->number, tsr_dtype_name(c->dtype));
}

static tsr_status run_one_hot(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_one_hot(at->x[0], c->number, c->dtype, out);
}

static void make_sort(fixture *f, op_case *c, rng *r)
{
    (void)f;
    draw_case_type(c, r);
    (void)add_rows(c, r, 3, false);
    c->variant = (int)rng_below(r, 2);
    c->num_results = 2;
    add_argument(c, ", %zu, %d", c->dim, c->variant);
}

static tsr_status run_sort(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_sort(at->x[0], c->dim, c->variant == 1, &out[0], &out[1]);
}

static void make_top_k(fixture *f, op_case *c, rng *r)
{
    (void)f;
    draw_case_type(c, r);
    const case_operand *x = add_rows(c, r, 3, false);
    c->number = rng_below(r, x->shape[c->dim] + 1);
    c->num_results = 2;
    add_argument(c, ", %zu, %lld", c->dim, (long long)c->number);
}

static tsr_status run_top_k(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_top_k(at->x[0], c->dim, c->number, &out[0], &out[1]);
}

#define ROW(function, name, kinds, maker, runner)                                                  \
    .call = #function, .row = (name), .types = (kinds), .make = (maker), .run = (runner)

static const op_maker rows[] = {
    {ROW(tsr_take, "gather", ALL_TYPES, make_take, run_take)},
    {ROW(tsr_embedding, "gather", NUMBERS, make_embedding, run_embedding)},
    {ROW(tsr_scatter, "scatter", NUMBERS | COMPLEX, make_scatter, run_scatter)},
    {ROW(tsr_gather_slices, "gather", ALL_TYPES, make_gather_slices, run_gather_slices)},
    {ROW(tsr_scatter_slices, "scatter", NUMBERS, make_scatter_slices, run_scatter_slices)},
    {ROW(tsr_one_hot, NULL, NUMBERS, make_one_hot, run_one_hot)},
    {ROW(tsr_sort, "argsort", NUMBERS, make_sort, run_sort)},
    {ROW(tsr_top_k, "top_k", NUMBERS, make_top_k, run_top_k)},
};

const op_makers makers_of_indices = {rows, COUNT(rows)};
