/* Calls that change shapes and layouts, and those that make tensors from nothing. */
#include <string.h>

#include "op_cases.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* One operand of any shape. */
static void make_any(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    draw_case_type(c, r);
    const size_t rank = draw_shape(c, r, 3, shape);
    (void)add_operand(c, c->dtype, rank, shape);
}

/* The same with a dimension, at which something is done. */
static void make_with_dim(fixture *f, op_case *c, rng *r)
{
    make_any(f, c, r);
    case_operand *o = &c->operands[0];
    if (o->rank == 0) {
        o->rank = 1;
        o->shape[0] = draw_extent(c, r);
    }
    c->dim = (size_t)rng_below(r, (int64_t)o->rank);
}

/* ---- shapes ---- */

/* Factors in a row, cut into dimensions in one way or another. */
static size_t join(rng *r, const int64_t *factors, size_t count, int64_t *shape)
{
    size_t rank = 0;
    bool fresh = true;
    for (size_t i = 0; i < count; i++) {
        if (fresh) {
            shape[rank++] = 1;
        }
        shape[rank - 1] *= factors[i];
        fresh = rng_chance(r, 50);
    }
    return rank;
}

static void make_reshape(fixture *f, op_case *c, rng *r)
{
    static const int64_t sizes[] = {1, 2, 2, 3, 4, 4, 5, 2, 0, 3, 6, 8};
    int64_t factors[4];
    int64_t shape[4];
    (void)f;
    draw_case_type(c, r);
    const size_t count = (size_t)rng_below(r, 5);
    for (size_t i = 0; i < 4; i++) {
        const int64_t size = sizes[rng_below(r, (int64_t)COUNT(sizes))];
        factors[i] = size < c->limits.most_extent ? size : c->limits.most_extent;
    }
    const size_t rank = join(r, factors, count, shape);
    (void)add_operand(c, c->dtype, rank, shape);
    c->rank = join(r, factors, count, c->sizes);
    add_list(c, "int64_t", c->sizes, c->rank);
    add_argument(c, ", %zu", c->rank);
}

static tsr_status run_reshape(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_reshape(at->x[0], c->sizes, c->rank, out);
}

static void make_transpose(fixture *f, op_case *c, rng *r)
{
    make_any(f, c, r);
    c->lists[0].count = c->operands[0].rank;
    draw_order(r, c->lists[0].count, c->lists[0].dims);
    add_dims(c, &c->lists[0]);
}

static tsr_status run_transpose(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_transpose(at->x[0], c->lists[0].dims, out);
}

static void make_broadcast(fixture *f, op_case *c, rng *r)
{
    int64_t own[MAX_DIMS];
    (void)f;
    draw_case_type(c, r);
    c->rank = draw_shape(c, r, 3, c->sizes);
    const size_t first = (size_t)rng_below(r, (int64_t)c->rank + 1);
    for (size_t d = 0; d < c->rank; d++) {
        own[d] = rng_chance(r, 40) ? 1 : c->sizes[d];
    }
    (void)add_operand(c, c->dtype, c->rank - first, own + first);
    add_list(c, "int64_t", c->sizes, c->rank);
    add_argument(c, ", %zu", c->rank);
}

static tsr_status run_broadcast(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_broadcast_to(at->x[0], c->sizes, c->rank, out);
}

static void make_slice(fixture *f, op_case *c, rng *r)
{
    make_any(f, c, r);
    const case_operand *o = &c->operands[0];
    c->variant = rng_chance(r, 50) ? 1 : 0;
    for (size_t d = 0; d < o->rank; d++) {
        const bool whole = rng_chance(r, 40);
        const int64_t a = rng_below(r, o->shape[d] + 1);
        const int64_t b = a + rng_below(r, o->shape[d] - a + 1);
        c->starts[d] = whole ? 0 : a;
        c->limits_of[d] = whole ? o->shape[d] : b;
        c->strides[d] = 1 + rng_below(r, 3);
    }
    add_list(c, "int64_t", c->starts, o->rank);
    add_list(c, "int64_t", c->limits_of, o->rank);
    if (c->variant == 1) {
        add_list(c, "int64_t", c->strides, o->rank);
    } else {
        add_argument(c, ", NULL");
    }
}

static tsr_status run_slice(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_slice(at->x[0], c->starts, c->limits_of, c->variant == 1 ? c->strides : NULL, out);
}

static void make_concatenate(fixture *f, op_case *c, rng *r)
{
    make_with_dim(f, c, r);
    const size_t count = 1 + (size_t)rng_below(r, 3);
    const case_operand *o = &c->operands[0];
    for (size_t i = 1; i < count; i++) {
        int64_t shape[MAX_DIMS];
        memcpy(shape, o->shape, sizeof shape);
        shape[c->dim] = draw_extent(c, r);
        (void)add_operand(c, c->dtype, o->rank, shape);
    }
    add_argument(c, ", %zu, %zu", count, c->dim);
}

static tsr_status run_concatenate(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_concatenate(at->x, c->num_operands, c->dim, out);
}

static void make_stack(fixture *f, op_case *c, rng *r)
{
    make_any(f, c, r);
    const size_t count = 1 + (size_t)rng_below(r, 3);
    const case_operand *o = &c->operands[0];
    for (size_t i = 1; i < count; i++) {
        (void)add_operand(c, c->dtype, o->rank, o->shape);
    }
    c->dim = (size_t)rng_below(r, (int64_t)o->rank + 1);
    add_argument(c, ", %zu, %zu", count, c->dim);
}

static tsr_status run_stack(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_stack(at->x, c->num_operands, c->dim, out);
}

static void make_split(fixture *f, op_case *c, rng *r)
{
    make_with_dim(f, c, r);
    int64_t left = c->operands[0].shape[c->dim];
    c->num_results = 1 + (size_t)rng_below(r, CASE_RESULTS);
    for (size_t i = 0; i < c->num_results; i++) {
        const int64_t some = rng_below(r, left + 1);
        c->sizes[i] = i + 1 < c->num_results ? some : left;
        left -= c->sizes[i];
    }
    add_argument(c, ", %zu", c->dim);
    add_list(c, "int64_t", c->sizes, c->num_results);
    add_argument(c, ", %zu", c->num_results);
}

static tsr_status run_split(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_split(at->x[0], c->dim, c->sizes, c->num_results, out);
}

static void make_pad(fixture *f, op_case *c, rng *r)
{
    make_any(f, c, r);
    const case_operand *o = &c->operands[0];
    c->number = rng_below(r, 3);
    c->variant = rng_chance(r, 50) ? 1 : 0;
    for (size_t d = 0; d < o->rank; d++) {
        const bool none = rng_chance(r, 40);
        const bool less = rng_chance(r, 20) && o->shape[d] > 2;
        c->starts[d] = none ? 0 : rng_below(r, 3) - (less ? 1 : 0);
        c->limits_of[d] = none ? 0 : rng_below(r, 3) - (less ? 1 : 0);
        c->strides[d] = none ? 0 : rng_below(r, 2);
    }
    add_argument(c, ", %lld", (long long)c->number);
    add_list(c, "int64_t", c->starts, o->rank);
    add_list(c, "int64_t", c->limits_of, o->rank);
    if (c->variant == 1) {
        add_list(c, "int64_t", c->strides, o->rank);
    } else {
        add_argument(c, ", NULL");
    }
}

static tsr_status run_pad(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_pad(at->x[0], (double)c->number, c->starts, c->limits_of,
                   c->variant == 1 ? c->strides : NULL, out);
}

/* ---- layouts ---- */

static tsr_status run_one(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return c->op->by.one(at->x[0], out);
}

static void make_gather(fixture *f, op_case *c, rng *r)
{
    make_with_dim(f, c, r);
    add_argument(c, ", %zu", c->dim);
}

static tsr_status run_gather(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_gather(at->x[0], c->dim, out);
}

static tsr_status run_with_sharding(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_with_sharding(at->x[0], at->plain ? c->operands[0].plain : c->target, out);
}

static tsr_status run_shard(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_shard(at->x[0], at->plain ? c->operands[0].plain : c->target, out);
}

static tsr_status run_scalar_like(const op_case *c, const case_site *at, tsr_tensor **out)
{
    (void)c;
    return tsr_scalar_like(at->x[0], 3, out);
}

/* ---- from nothing ---- */

static tsr_tensor_spec spec_of(const op_case *c, const case_site *at)
{
    const case_operand *o = &c->operands[0];
    return (tsr_tensor_spec){at->plain ? o->plain : o->sharding, o->dtype, o->rank, o->shape};
}

static tsr_status run_fill(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_tensor_spec spec = spec_of(c, at);
    return tsr_fill(at->world, &spec, 3, out);
}

static tsr_status run_zeros(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_tensor_spec spec = spec_of(c, at);
    return tsr_zeros(at->world, &spec, out);
}

static tsr_status run_ones(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_tensor_spec spec = spec_of(c, at);
    return tsr_ones(at->world, &spec, out);
}

static void make_iota(fixture *f, op_case *c, rng *r)
{
    make_with_dim(f, c, r);
    add_argument(c, ", %zu", c->dim);
}

static tsr_status run_iota(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_tensor_spec spec = spec_of(c, at);
    return tsr_iota(at->world, &spec, c->dim, out);
}

static tsr_random_key key_of(const op_case *c)
{
    return (tsr_random_key){c->seed, 7};
}

static tsr_status run_bits(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_tensor_spec spec = spec_of(c, at);
    return tsr_random_bits(at->world, &spec, key_of(c), out);
}

static tsr_status run_uniform(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_tensor_spec spec = spec_of(c, at);
    return tsr_random_uniform(at->world, &spec, key_of(c), out);
}

static tsr_status run_normal(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_tensor_spec spec = spec_of(c, at);
    return tsr_random_normal(at->world, &spec, key_of(c), out);
}

#define ROW(function, name, kinds, maker, runner)                                                  \
    .call = #function, .row = (name), .types = (kinds), .make = (maker), .run = (runner)

static const op_maker rows[] = {
    {ROW(tsr_reshape, "reshape", ALL_TYPES, make_reshape, run_reshape)},
    {ROW(tsr_transpose, "transpose", ALL_TYPES, make_transpose, run_transpose)},
    {ROW(tsr_broadcast_to, "broadcast_in_dim", ALL_TYPES, make_broadcast, run_broadcast)},
    {ROW(tsr_slice, "slice", ALL_TYPES, make_slice, run_slice)},
    {ROW(tsr_concatenate, "concatenate", ALL_TYPES, make_concatenate, run_concatenate)},
    {ROW(tsr_stack, NULL, ALL_TYPES, make_stack, run_stack)},
    {ROW(tsr_split, "slice", ALL_TYPES, make_split, run_split)},
    {ROW(tsr_pad, "pad", NUMBERS, make_pad, run_pad)},
    {ROW(tsr_replicate, NULL, ALL_TYPES, make_any, run_one), .by.one = tsr_replicate},
    {ROW(tsr_reduce_pending, NULL, ALL_TYPES, make_any, run_one), .by.one = tsr_reduce_pending},
    {ROW(tsr_gather, NULL, ALL_TYPES, make_gather, run_gather)},
    {ROW(tsr_with_sharding, NULL, ALL_TYPES, make_any, run_with_sharding)},
    {ROW(tsr_shard, NULL, ALL_TYPES, make_any, run_shard)},
    {ROW(tsr_scalar_like, NULL, NUMBERS, make_any, run_scalar_like), .concrete = true},
    {ROW(tsr_fill, NULL, NUMBERS, make_any, run_fill), .creates = true},
    {ROW(tsr_zeros, NULL, ALL_TYPES, make_any, run_zeros), .creates = true},
    {ROW(tsr_ones, NULL, NUMBERS | TRUTH, make_any, run_ones), .creates = true},
    {ROW(tsr_iota, "iota", NUMBERS, make_iota, run_iota), .creates = true},
    {ROW(tsr_random_bits, "random", INTEGERS, make_any, run_bits), .creates = true},
    {ROW(tsr_random_uniform, "random", FLOATS, make_any, run_uniform), .creates = true},
    {ROW(tsr_random_normal, "random", FLOATS, make_any, run_normal), .creates = true},
};

const op_makers makers_of_shapes = {rows, COUNT(rows)};
