/* Calls with indices, and sorts. */
#include <string.h>

#include "case.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* A tensor one of whose dimensions is `dim`, with a row in it if `some`. */
static const ref_array *add_rows(tsr_arena *arena, number_case *c, rng *r, size_t most, bool some)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 1, most, shape);
    c->dim = (size_t)rng_below(r, (int64_t)rank);
    shape[c->dim] = some && shape[c->dim] == 0 ? 1 : shape[c->dim];
    return add_operand(arena, c, r, c->dtype, rank, shape);
}

/* ---- rows ---- */

static void make_take(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const int64_t size = add_rows(arena, c, r, 3, true)->shape[c->dim];
    const size_t rank = draw_shape(r, 0, 2, shape);
    (void)add_indices(arena, c, r, rank, shape, -2, size + 1);
}

static tsr_status run_take(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_take(x[0], x[1], c->dim, out);
}

static void want_take(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_take(arena, &c->x[0], &c->x[1], c->dim);
}

static void make_embedding(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const int64_t table[] = {1 + draw_extent(r), draw_extent(r)};
    (void)add_operand(arena, c, r, c->dtype, 2, table);
    const size_t rank = draw_shape(r, 0, 3, shape);
    (void)add_indices(arena, c, r, rank, shape, 0, table[0] - 1);
}

static tsr_status run_embedding(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    (void)c;
    return tsr_embedding(x[0], x[1], out);
}

static void make_scatter(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const ref_array *x = add_rows(arena, c, r, 3, false);
    const size_t rank = draw_shape(r, 0, x->rank > 2 ? 1 : 2, shape);
    const ref_array *indices = add_indices(arena, c, r, rank, shape, -2, x->shape[c->dim] + 1);
    ref_array of_a_row = *x;
    of_a_row.shape[c->dim] = 1;
    const ref_array taken = ref_take(arena, &of_a_row, indices, c->dim);
    (void)add_operand(arena, c, r, c->dtype, taken.rank, taken.shape);
    c->variant = (int)rng_below(r, 5);
    c->terms = 1 + indices->count;
}

static tsr_status run_scatter(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_scatter(x[0], x[1], x[2], c->dim, (tsr_scatter_op)c->variant, out);
}

static void want_scatter(tsr_arena *arena, number_case *c)
{
    c->want[0] =
        ref_scatter(arena, &c->x[0], &c->x[1], &c->x[2], c->dim, (tsr_scatter_op)c->variant);
}

/* ---- slices ---- */

enum { OFFSET, COLLAPSED, INPUT_BATCHING, INDICES_BATCHING, INDEX_MAP };

static void push(case_list *list, size_t dim)
{
    list->dims[list->count++] = dim;
}

static tsr_slices_dims slices_dims(const number_case *c)
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

/* What each dimension of the input is: of a batch, collapsed, or of the slices. */
static void draw_slices(number_case *c, rng *r, const int64_t *shape, size_t rank)
{
    size_t order[REF_DIMS];
    const size_t batching = rng_chance(r, 40) ? (size_t)rng_below(r, (int64_t)rank) : rank;
    for (size_t d = 0; d < rank; d++) {
        const bool collapses = d != batching && rng_chance(r, 40);
        c->sizes[d] = d == batching || collapses ? 1 : rng_below(r, shape[d] + 1);
        if (d == batching) {
            push(&c->lists[INPUT_BATCHING], d);
        } else if (collapses) {
            push(&c->lists[COLLAPSED], d);
        } else {
            push(&c->lists[OFFSET], 0);
        }
    }
    draw_order(r, rank, order);
    for (size_t i = 0; i < rank; i++) {
        if (order[i] != batching && (rng_chance(r, 70) || c->lists[INDEX_MAP].count == 0)) {
            push(&c->lists[INDEX_MAP], order[i]);
        }
    }
}

/* Indices of a batch of slices: where the index of a slice is, and which dimension of a batch. */
static void add_starts(tsr_arena *arena, number_case *c, rng *r, const int64_t *shape)
{
    int64_t own[REF_DIMS];
    const bool batching = c->lists[INPUT_BATCHING].count > 0;
    const size_t batches = (batching ? 1 : 0) + (size_t)rng_below(r, 2);
    const size_t indexed = c->lists[INDEX_MAP].count;
    const bool none = indexed == 1 && rng_chance(r, 50);
    const size_t place = none ? batches : (size_t)rng_below(r, (int64_t)batches + 1);
    const size_t batch = batching ? (size_t)rng_below(r, (int64_t)batches) : batches;
    size_t rank = 0;
    for (size_t d = 0; d <= batches; d++) {
        if (d == place && !none) {
            own[rank++] = (int64_t)indexed;
        }
        if (d == batch && batching) {
            push(&c->lists[INDICES_BATCHING], rank);
        }
        if (d < batches) {
            own[rank++] = d == batch ? shape[c->lists[INPUT_BATCHING].dims[0]] : draw_extent(r);
        }
    }
    c->dim = place;
    (void)add_indices(arena, c, r, rank, own, -2, 9);
    size_t places[REF_DIMS];
    const size_t all = c->lists[OFFSET].count + batches;
    draw_order(r, all, places);
    for (size_t d = 0, i = 0; d < all; d++) {
        bool is_offset = false;
        for (size_t k = 0; k < c->lists[OFFSET].count; k++) {
            is_offset = is_offset || places[k] == d;
        }
        if (is_offset) {
            c->lists[OFFSET].dims[i++] = d;
        }
    }
}

static void make_gather_slices(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 1, 3, shape);
    for (size_t d = 0; d < rank; d++) {
        shape[d] = shape[d] == 0 || shape[d] > 7 ? 3 : shape[d];
    }
    if (rank == 1) {
        push(&c->lists[INDEX_MAP], 0);
        push(rng_chance(r, 50) ? &c->lists[COLLAPSED] : &c->lists[OFFSET], 0);
        c->sizes[0] = c->lists[COLLAPSED].count > 0 ? 1 : rng_below(r, shape[0] + 1);
    } else {
        draw_slices(c, r, shape, rank);
    }
    (void)add_operand(arena, c, r, c->dtype, rank, shape);
    add_starts(arena, c, r, shape);
}

static tsr_status run_gather_slices(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    const tsr_slices_dims dims = slices_dims(c);
    return tsr_gather_slices(x[0], x[1], &dims, c->sizes, out);
}

static void want_gather_slices(tsr_arena *arena, number_case *c)
{
    const tsr_slices_dims dims = slices_dims(c);
    c->want[0] = ref_gather_slices(arena, &c->x[0], &c->x[1], &dims, c->sizes);
}

static void make_scatter_slices(tsr_arena *arena, number_case *c, rng *r)
{
    make_gather_slices(arena, c, r);
    want_gather_slices(arena, c);
    (void)add_operand(arena, c, r, c->dtype, c->want[0].rank, c->want[0].shape);
    c->variant = (int)rng_below(r, 5);
    c->terms = 1 + c->x[2].count;
}

static tsr_status run_scatter_slices(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    const tsr_slices_dims dims = slices_dims(c);
    return tsr_scatter_slices(x[0], x[1], x[2], &dims, (tsr_scatter_op)c->variant, out);
}

static void want_scatter_slices(tsr_arena *arena, number_case *c)
{
    const tsr_slices_dims dims = slices_dims(c);
    c->want[0] =
        ref_scatter_slices(arena, &c->x[0], &c->x[1], &c->x[2], &dims, (tsr_scatter_op)c->variant);
}

/* ---- others ---- */

static void make_one_hot(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 0, 3, shape);
    c->number = draw_extent(r);
    (void)add_indices(arena, c, r, rank, shape, -2, c->number + 1);
}

static tsr_status run_one_hot(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_one_hot(x[0], c->number, c->dtype, out);
}

static void want_one_hot(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_one_hot(arena, &c->x[0], c->number, c->dtype);
}

/* Variant 1 descends. */
static void make_sort(tsr_arena *arena, number_case *c, rng *r)
{
    const int64_t size = add_rows(arena, c, r, 3, false)->shape[c->dim];
    c->variant = (int)rng_below(r, 2);
    c->number = size;
    c->num_results = 2;
}

static tsr_status run_sort(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_sort(x[0], c->dim, c->variant == 1, &out[0], &out[1]);
}

static void want_sort(tsr_arena *arena, number_case *c)
{
    ref_sort(arena, &c->x[0], c->dim, c->variant == 1, c->number, &c->want[0], &c->want[1]);
}

static void make_top_k(tsr_arena *arena, number_case *c, rng *r)
{
    const int64_t size = add_rows(arena, c, r, 3, false)->shape[c->dim];
    c->variant = 1;
    c->number = rng_below(r, size + 1);
    c->num_results = 2;
}

static tsr_status run_top_k(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_top_k(x[0], c->dim, c->number, &out[0], &out[1]);
}

#define ROW(name, kinds, traits_, times, what, wants)                                              \
    {                                                                                              \
        .call = #name, .types = (kinds), .traits = (traits_), .roundings = (times),                \
        .make = make_##what, .run = run_##what, .want = want_##wants                               \
    }

static const case_row rows[] = {
    ROW(tsr_take, ALL_TYPES, SPECIALS, 0, take, take),
    ROW(tsr_embedding, ALL_TYPES, SPECIALS, 0, embedding, take),
    ROW(tsr_scatter, NUMBERS, SPECIALS | MULTILINEAR, 4, scatter, scatter),
    ROW(tsr_gather_slices, ALL_TYPES, SPECIALS, 0, gather_slices, gather_slices),
    ROW(tsr_scatter_slices, NUMBERS, SPECIALS | MULTILINEAR, 4, scatter_slices, scatter_slices),
    ROW(tsr_one_hot, ALL_TYPES, 0, 0, one_hot, one_hot),
    ROW(tsr_sort, NUMBERS, SPECIALS | COARSE, 0, sort, sort),
    ROW(tsr_top_k, NUMBERS, SPECIALS | COARSE, 0, top_k, sort),
};

const case_rows rows_of_indices = {rows, COUNT(rows)};
