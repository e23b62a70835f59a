/* Building rules factor by factor. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "factor/rule.h"

/* The factors of a dimension so far. */
typedef struct built_dim {
    size_t *factors;
    size_t count;
    size_t room;
} built_dim;

typedef struct built_tensor {
    size_t rank;
    built_dim *dims;
} built_tensor;

rule_builder rule_start(tsr_context *ctx, tsr_arena *arena, const tsr_extents *operands,
                        size_t num_operands, const tsr_extents *results, size_t num_results)
{
    rule_builder b = {.ctx = ctx,
                      .arena = arena,
                      .num_operands = num_operands,
                      .num_tensors = num_operands + num_results};
    b.tensors = ARENA_ARRAY(arena, built_tensor, b.num_tensors);
    b.failed = b.tensors == NULL;
    for (size_t i = 0; !b.failed && i < b.num_tensors; i++) {
        const size_t rank = i < num_operands ? operands[i].rank : results[i - num_operands].rank;
        b.tensors[i] = (built_tensor){rank, ARENA_ARRAY(arena, built_dim, rank)};
        b.failed = b.tensors[i].dims == NULL;
        if (!b.failed) {
            memset(b.tensors[i].dims, 0, rank * sizeof *b.tensors[i].dims);
        }
    }
    return b;
}

size_t rule_factor(rule_builder *b, int64_t size, tsr_factor_kind kind, bool blocked)
{
    if (b->num_factors == b->room) {
        const size_t room = b->room > 0 ? 2 * b->room : 8;
        tsr_factor *grown = ARENA_ARRAY(b->arena, tsr_factor, room);
        if (grown == NULL) {
            b->failed = true;
            return 0;
        }
        if (b->num_factors > 0) {
            memcpy(grown, b->factors, b->num_factors * sizeof *grown);
        }
        b->factors = grown;
        b->room = room;
    }
    b->factors[b->num_factors] = (tsr_factor){size, kind, blocked};
    return b->num_factors++;
}

void rule_put(rule_builder *b, size_t tensor, size_t dim, size_t factor)
{
    if (b->failed || dim == NO_DIM) {
        return;
    }
    built_dim *d = &b->tensors[tensor].dims[dim];
    if (d->count == d->room) {
        const size_t room = d->room > 0 ? 2 * d->room : 2;
        size_t *grown = ARENA_ARRAY(b->arena, size_t, room);
        if (grown == NULL) {
            b->failed = true;
            return;
        }
        if (d->count > 0) {
            memcpy(grown, d->factors, d->count * sizeof *grown);
        }
        d->factors = grown;
        d->room = room;
    }
    d->factors[d->count++] = factor;
}

void rule_map(rule_builder *b, size_t tensor, size_t dim, size_t factor)
{
    if (b->failed || dim == NO_DIM) {
        return;
    }
    if (b->factors[factor].size != 1 || b->tensors[tensor].dims[dim].count == 0) {
        rule_put(b, tensor, dim, factor);
    }
}

void rule_put_each(rule_builder *b, size_t dim, size_t factor)
{
    for (size_t i = 0; !b->failed && i < b->num_tensors; i++) {
        if (b->tensors[i].rank > 0) {
            rule_put(b, i, dim, factor);
        }
    }
}

static void fill_empty_dims(rule_builder *b)
{
    for (size_t i = 0; !b->failed && i < b->num_tensors; i++) {
        for (size_t d = 0; !b->failed && d < b->tensors[i].rank; d++) {
            if (b->tensors[i].dims[d].count == 0) {
                rule_put(b, i, d, rule_factor(b, 1, TSR_FACTOR_PASS_THROUGH, false));
            }
        }
    }
}

tsr_status rule_finish(rule_builder *b, const tsr_rule **out)
{
    fill_empty_dims(b);
    tsr_rule *rule = ARENA_NEW(b->arena, tsr_rule);
    tsr_rule_tensor *tensors = ARENA_ARRAY(b->arena, tsr_rule_tensor, b->num_tensors);
    if (b->failed || rule == NULL || tensors == NULL) {
        return diag_nomem(b->ctx);
    }
    for (size_t i = 0; i < b->num_tensors; i++) {
        const built_tensor *t = &b->tensors[i];
        tsr_rule_dim *dims = ARENA_ARRAY(b->arena, tsr_rule_dim, t->rank);
        if (dims == NULL) {
            return diag_nomem(b->ctx);
        }
        for (size_t d = 0; d < t->rank; d++) {
            dims[d] = (tsr_rule_dim){t->dims[d].factors, t->dims[d].count};
        }
        tensors[i] = (tsr_rule_tensor){dims, t->rank};
    }
    *rule = (tsr_rule){.num_factors = b->num_factors,
                       .factors = b->factors,
                       .num_operands = b->num_operands,
                       .num_results = b->num_tensors - b->num_operands,
                       .tensors = tensors};
    *out = rule;
    return TSR_OK;
}
