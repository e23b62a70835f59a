/* Calls that only move elements. */
#include <string.h>

#include "case.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static size_t add_any(tsr_arena *arena, number_case *c, rng *r, size_t least, size_t most)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, least, most, shape);
    (void)add_operand(arena, c, r, c->dtype, rank, shape);
    return rank;
}

/* ---- reshape ---- */

/* Factors of a count, in any order; ones among them. */
static void make_reshape(tsr_arena *arena, number_case *c, rng *r)
{
    (void)add_any(arena, c, r, 0, 4);
    int64_t left = c->x[0].count;
    for (int64_t factor = 2; left > 1; factor++) {
        while (left % factor == 0) {
            if (c->rank < 4 && (c->rank == 0 || rng_chance(r, 60))) {
                c->sizes[c->rank++] = 1;
            }
            c->sizes[rng_below(r, (int64_t)c->rank)] *= factor;
            left /= factor;
        }
    }
    if (left == 0) {
        c->sizes[c->rank++] = draw_extent(r);
        c->sizes[c->rank++] = 0;
    }
    if (c->rank < 4 && rng_chance(r, 30)) {
        c->sizes[c->rank++] = 1;
    }
}

static tsr_status run_reshape(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_reshape(x[0], c->sizes, c->rank, out);
}

static void want_reshape(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_reshape(arena, &c->x[0], c->rank, c->sizes);
}

/* ---- transpose and broadcast ---- */

static void make_transpose(tsr_arena *arena, number_case *c, rng *r)
{
    draw_order(r, add_any(arena, c, r, 0, 4), c->lists[0].dims);
}

static tsr_status run_transpose(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_transpose(x[0], c->lists[0].dims, out);
}

static void want_transpose(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_transpose(arena, &c->x[0], c->lists[0].dims);
}

static void make_broadcast_to(tsr_arena *arena, number_case *c, rng *r)
{
    const size_t rank = add_any(arena, c, r, 0, 3);
    const size_t more = (size_t)rng_below(r, 3);
    c->rank = rank + more;
    for (size_t d = 0; d < c->rank; d++) {
        const int64_t size = d < more ? 1 : c->x[0].shape[d - more];
        c->sizes[d] = size == 1 && rng_chance(r, 70) ? rng_below(r, 5) : size;
    }
}

static tsr_status run_broadcast_to(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_broadcast_to(x[0], c->sizes, c->rank, out);
}

static void want_broadcast_to(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_broadcast(arena, &c->x[0], c->rank, c->sizes);
}

/* ---- slice and pad ---- */

static void make_slice(tsr_arena *arena, number_case *c, rng *r)
{
    const size_t rank = add_any(arena, c, r, 0, 4);
    for (size_t d = 0; d < rank; d++) {
        c->sizes[d] = rng_below(r, c->x[0].shape[d] + 1);
        c->more[d] = c->sizes[d] + rng_below(r, c->x[0].shape[d] - c->sizes[d] + 1);
        c->steps[d] = 1 + rng_below(r, 3);
    }
    c->variant = (int)rng_below(r, 2);
}

static tsr_status run_slice(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_slice(x[0], c->sizes, c->more, c->variant == 0 ? NULL : c->steps, out);
}

static void want_slice(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_slice(arena, &c->x[0], c->sizes, c->more, c->variant == 0 ? NULL : c->steps);
}

/* Variant 1 has numbers between the elements. What is taken away is there. */
static void make_pad(tsr_arena *arena, number_case *c, rng *r)
{
    const size_t rank = add_any(arena, c, r, 0, 4);
    c->variant = (int)rng_below(r, 2);
    c->real = ref_is_float(c->dtype) ? -1.5 : c->dtype == TSR_I1 ? 1 : 3;
    c->real = rng_chance(r, 40) ? 0 : c->real;
    for (size_t d = 0; d < rank; d++) {
        const int64_t size = c->x[0].shape[d];
        c->steps[d] = rng_below(r, 3);
        const int64_t grown = size > 0 && c->variant == 1 ? size + (size - 1) * c->steps[d] : size;
        const int64_t less = rng_chance(r, 40) ? rng_below(r, grown + 1) : 0;
        c->sizes[d] = less > 0 ? -less : rng_below(r, 3);
        c->more[d] = rng_chance(r, 40) ? -rng_below(r, grown - less + 1) : rng_below(r, 3);
    }
}

static tsr_status run_pad(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_pad(x[0], c->real, c->sizes, c->more, c->variant == 1 ? c->steps : NULL, out);
}

static void want_pad(tsr_arena *arena, number_case *c)
{
    c->want[0] =
        ref_pad(arena, &c->x[0], c->real, c->sizes, c->more, c->variant == 1 ? c->steps : NULL);
}

/* ---- several ---- */

static void make_concatenate(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 1, 3, shape);
    const int64_t count = 1 + rng_below(r, CASE_OPERANDS);
    c->dim = (size_t)rng_below(r, (int64_t)rank);
    for (int64_t i = 0; i < count; i++) {
        (void)add_operand(arena, c, r, c->dtype, rank, shape);
        shape[c->dim] = draw_extent(r);
    }
}

static tsr_status run_concatenate(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_concatenate(x, c->num_operands, c->dim, out);
}

static void want_concatenate(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_concatenate(arena, c->x, c->num_operands, c->dim);
}

static void make_stack(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 0, 3, shape);
    const int64_t count = 1 + rng_below(r, CASE_OPERANDS);
    c->dim = (size_t)rng_below(r, (int64_t)rank + 1);
    for (int64_t i = 0; i < count; i++) {
        (void)add_operand(arena, c, r, c->dtype, rank, shape);
    }
}

static tsr_status run_stack(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_stack(x, c->num_operands, c->dim, out);
}

static void want_stack(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_stack(arena, c->x, c->num_operands, c->dim);
}

static void make_split(tsr_arena *arena, number_case *c, rng *r)
{
    const size_t rank = add_any(arena, c, r, 1, 4);
    c->dim = (size_t)rng_below(r, (int64_t)rank);
    c->num_results = 1 + (size_t)rng_below(r, CASE_RESULTS);
    int64_t left = c->x[0].shape[c->dim];
    for (size_t i = 0; i < c->num_results; i++) {
        c->sizes[i] = i + 1 < c->num_results ? rng_below(r, left + 1) : left;
        left -= c->sizes[i];
    }
}

static tsr_status run_split(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_split(x[0], c->dim, c->sizes, c->num_results, out);
}

static void want_split(tsr_arena *arena, number_case *c)
{
    int64_t start[REF_DIMS] = {0};
    int64_t limit[REF_DIMS];
    memcpy(limit, c->x[0].shape, sizeof limit);
    for (size_t i = 0; i < c->num_results; i++) {
        limit[c->dim] = start[c->dim] + c->sizes[i];
        c->want[i] = ref_slice(arena, &c->x[0], start, limit, NULL);
        start[c->dim] = limit[c->dim];
    }
}

#define ROW(what)                                                                                  \
    {                                                                                              \
        .call = "tsr_" #what, .types = ALL_TYPES, .traits = SPECIALS, .make = make_##what,         \
        .run = run_##what, .want = want_##what                                                     \
    }

static const case_row rows[] = {ROW(reshape),     ROW(transpose), ROW(broadcast_to), ROW(slice),
                                ROW(concatenate), ROW(stack),     ROW(split),        ROW(pad)};

const case_rows rows_of_shapes = {rows, COUNT(rows)};
