/* The rules of gather and scatter, as StableHLO has them. */
#include "base/base.h"
#include "base/diag.h"
#include "factor/rule.h"

/* Where inputs, indices and slices stand among the tensors of the rule. */
typedef struct gathering {
    rule_builder b;
    const tsr_gather_dims *dims;
    tsr_extents input;
    tsr_extents indices;
    tsr_extents slices;
    bool scatter;
    bool reduces;
    size_t num_inputs; /* of a scatter; its results are as many */
} gathering;

static bool is_in(size_t dim, const size_t *dims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (dims[i] == dim) {
            return true;
        }
    }
    return false;
}

/* Into a dimension of every input, and of every result of a scatter. */
static void put_input(gathering *g, size_t dim, size_t factor)
{
    if (!g->scatter) {
        rule_put(&g->b, 0, dim, factor);
        return;
    }
    for (size_t i = 0; i < g->num_inputs; i++) {
        rule_put(&g->b, i, dim, factor);
        rule_put(&g->b, 2 * g->num_inputs + 1 + i, dim, factor);
    }
}

static void put_indices(gathering *g, size_t dim, size_t factor)
{
    rule_put(&g->b, g->scatter ? g->num_inputs : 1, dim, factor);
}

/* Into a dimension of the result of a gather, or of every update of a scatter. */
static void put_slices(gathering *g, size_t dim, size_t factor)
{
    if (!g->scatter) {
        rule_put(&g->b, 2, dim, factor);
        return;
    }
    for (size_t i = 0; i < g->num_inputs; i++) {
        rule_put(&g->b, g->num_inputs + 1 + i, dim, factor);
    }
}

static size_t new_factor(gathering *g, int64_t size, tsr_factor_kind kind)
{
    return rule_factor(&g->b, size, kind, false);
}

/* A dimension of the slices that comes from one of the input. */
static void add_offset(gathering *g, size_t s, size_t c)
{
    const int64_t all = g->input.sizes[c];
    const int64_t some = g->slices.sizes[s];
    if (all == some) {
        const size_t f = new_factor(g, all, TSR_FACTOR_PASS_THROUGH);
        put_input(g, c, f);
        put_slices(g, s, f);
    } else if (g->scatter) {
        put_input(g, c, new_factor(g, all, TSR_FACTOR_NEED_REPLICATION));
        put_slices(g, s, new_factor(g, some, TSR_FACTOR_NEED_REPLICATION));
    } else if (some == 1) {
        put_input(g, c, new_factor(g, all, TSR_FACTOR_REDUCTION));
        put_slices(g, s, new_factor(g, 1, TSR_FACTOR_NEED_REPLICATION));
    } else {
        const size_t f = rule_factor(&g->b, all, TSR_FACTOR_NEED_REPLICATION, true);
        put_input(g, c, f);
        put_slices(g, s, f);
    }
}

/* A dimension of the slices that comes from one of the indices. */
static void add_batch(gathering *g, size_t s, size_t batch)
{
    const tsr_gather_dims *d = g->dims;
    const size_t x = batch < d->index_vector_dim ? batch : batch + 1;
    size_t paired = NO_DIM;
    for (size_t i = 0; i < d->num_batching; i++) {
        paired = d->indices_batching[i] == x ? d->input_batching[i] : paired;
    }
    tsr_factor_kind kind = TSR_FACTOR_PASS_THROUGH;
    if (g->scatter && paired == NO_DIM) {
        kind = g->reduces ? TSR_FACTOR_REDUCTION : TSR_FACTOR_NEED_REPLICATION;
    }
    const size_t f = new_factor(g, g->slices.sizes[s], kind);
    put_input(g, paired, f);
    put_indices(g, x, f);
    put_slices(g, s, f);
}

static void add_collapsed(gathering *g)
{
    for (size_t i = 0; i < g->dims->num_collapsed; i++) {
        const size_t d = g->dims->collapsed_dims[i];
        const int64_t size = g->input.sizes[d];
        tsr_factor_kind kind = TSR_FACTOR_PASS_THROUGH;
        if (!g->scatter) {
            kind = size == 1 ? TSR_FACTOR_NEED_REPLICATION : TSR_FACTOR_REDUCTION;
        }
        put_input(g, d, new_factor(g, size, kind));
    }
}

static tsr_status finish(gathering *g, const tsr_rule **out)
{
    const tsr_gather_dims *d = g->dims;
    size_t c = 0;
    size_t batch = 0;
    for (size_t s = 0; s < g->slices.rank; s++) {
        if (!is_in(s, d->offset_dims, d->num_offset)) {
            add_batch(g, s, batch++);
            continue;
        }
        while (is_in(c, d->collapsed_dims, d->num_collapsed) ||
               is_in(c, d->input_batching, d->num_batching)) {
            c++;
        }
        add_offset(g, s, c++);
    }
    add_collapsed(g);
    if (d->index_vector_dim < g->indices.rank) {
        put_indices(
            g, d->index_vector_dim,
            new_factor(g, g->indices.sizes[d->index_vector_dim], TSR_FACTOR_NEED_REPLICATION));
    }
    return rule_finish(&g->b, out);
}

/* What the walk relies on: dimensions in range, and as many of each kind as the shapes have. */
static tsr_status check(tsr_context *ctx, const gathering *g)
{
    const tsr_gather_dims *d = g->dims;
    TSR_TRY(rule_check_dims(ctx, "offset", d->offset_dims, d->num_offset, g->slices.rank));
    TSR_TRY(rule_check_dims(ctx, "collapsed", d->collapsed_dims, d->num_collapsed, g->input.rank));
    TSR_TRY(rule_check_dims(ctx, "batching", d->input_batching, d->num_batching, g->input.rank));
    TSR_TRY(
        rule_check_dims(ctx, "batching", d->indices_batching, d->num_batching, g->indices.rank));
    if (d->index_vector_dim > g->indices.rank) {
        return RULE_ERROR(ctx, "index_vector_dim %zu is out of range: the indices have rank %zu",
                          d->index_vector_dim, g->indices.rank);
    }
    for (size_t i = 0; i < d->num_collapsed; i++) {
        if (is_in(d->collapsed_dims[i], d->input_batching, d->num_batching)) {
            return RULE_ERROR(ctx, "dimension %zu of the input is both collapsed and batching",
                              d->collapsed_dims[i]);
        }
    }
    const size_t windows = g->input.rank - d->num_collapsed - d->num_batching;
    const size_t batches = g->indices.rank - (d->index_vector_dim < g->indices.rank ? 1 : 0);
    if (windows != d->num_offset || g->slices.rank != d->num_offset + batches) {
        return RULE_ERROR(ctx,
                          "slices of rank %zu with %zu offset dimensions do not fit an input of "
                          "rank %zu, of which %zu dimensions are left, and indices with %zu",
                          g->slices.rank, d->num_offset, g->input.rank, windows, batches);
    }
    return TSR_OK;
}

tsr_status tsr_rule_gather(tsr_context *ctx, tsr_arena *arena, tsr_extents input,
                           tsr_extents indices, tsr_extents slices, const tsr_gather_dims *dims,
                           const tsr_rule **out)
{
    const tsr_extents operands[] = {input, indices};
    gathering g = {.dims = dims, .input = input, .indices = indices, .slices = slices};
    TSR_TRY(check(ctx, &g));
    g.b = rule_start(ctx, arena, operands, 2, &slices, 1);
    return finish(&g, out);
}

tsr_status tsr_rule_scatter(tsr_context *ctx, tsr_arena *arena, size_t num_inputs,
                            tsr_extents input, tsr_extents indices, tsr_extents updates,
                            const tsr_gather_dims *dims, bool reduces, const tsr_rule **out)
{
    enum { MOST_INPUTS = 64 };
    tsr_extents operands[2 * MOST_INPUTS + 1];
    tsr_extents results[MOST_INPUTS];
    if (num_inputs == 0 || num_inputs > MOST_INPUTS) {
        return RULE_ERROR(ctx, "a scatter has 1 to %d inputs, got: %zu", MOST_INPUTS, num_inputs);
    }
    for (size_t i = 0; i < num_inputs; i++) {
        operands[i] = input;
        operands[num_inputs + 1 + i] = updates;
        results[i] = input;
    }
    operands[num_inputs] = indices;
    gathering g = {.dims = dims,
                   .input = input,
                   .indices = indices,
                   .slices = updates,
                   .scatter = true,
                   .reduces = reduces,
                   .num_inputs = num_inputs};
    TSR_TRY(check(ctx, &g));
    g.b = rule_start(ctx, arena, operands, 2 * num_inputs + 1, results, num_inputs);
    return finish(&g, out);
}
