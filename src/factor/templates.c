/* The rules of what is not a row by itself: broadcasting, embedding, attention. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "factor/rule.h"

/* Short names for the kinds. */
#define PASS TSR_FACTOR_PASS_THROUGH
#define REDUCE TSR_FACTOR_REDUCTION
#define NEED TSR_FACTOR_NEED_REPLICATION

tsr_status tsr_rule_elementwise(tsr_context *ctx, tsr_arena *arena, size_t num_operands,
                                tsr_extents shape, const tsr_rule **out)
{
    GUARD(tsr_rule_elementwise);
    tsr_extents *operands = ARENA_ARRAY(arena, tsr_extents, num_operands);
    if (operands == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_operands; i++) {
        operands[i] = shape;
    }
    rule_builder b = rule_start(ctx, arena, operands, num_operands, &shape, 1);
    for (size_t d = 0; d < shape.rank; d++) {
        rule_put_each(&b, d, rule_factor(&b, shape.sizes[d], PASS, false));
    }
    return rule_finish(&b, out);
}

/* The dimension of the operand that becomes one of the result. */
static size_t source_of(size_t o, tsr_extents operand, tsr_extents result)
{
    const size_t leading = result.rank - operand.rank;
    return o >= leading ? o - leading : NO_DIM;
}

static tsr_status check_broadcast(tsr_context *ctx, tsr_extents operand, tsr_extents result)
{
    if (operand.rank > result.rank) {
        return RULE_ERROR(ctx, "a tensor of rank %zu cannot be broadcast to rank %zu", operand.rank,
                          result.rank);
    }
    for (size_t o = 0; o < result.rank; o++) {
        const size_t i = source_of(o, operand, result);
        if (i != NO_DIM && operand.sizes[i] != result.sizes[o] && operand.sizes[i] != 1) {
            return RULE_ERROR(ctx,
                              "dimension %zu of size %lld cannot be broadcast to dimension %zu of "
                              "size %lld: only size 1 grows",
                              i, (long long)operand.sizes[i], o, (long long)result.sizes[o]);
        }
    }
    return TSR_OK;
}

tsr_status tsr_rule_broadcasting(tsr_context *ctx, tsr_arena *arena, const tsr_extents *operands,
                                 size_t num_operands, tsr_extents result, const tsr_rule **out)
{
    GUARD(tsr_rule_broadcasting);
    for (size_t i = 0; i < num_operands; i++) {
        TSR_TRY(check_broadcast(ctx, operands[i], result));
    }
    rule_builder b = rule_start(ctx, arena, operands, num_operands, &result, 1);
    for (size_t o = 0; o < result.rank; o++) {
        const size_t f = rule_factor(&b, result.sizes[o], PASS, false);
        for (size_t i = 0; i < num_operands; i++) {
            const size_t d = source_of(o, operands[i], result);
            if (d != NO_DIM && operands[i].sizes[d] == result.sizes[o]) {
                rule_put(&b, i, d, f);
            }
        }
        rule_put(&b, num_operands, o, f);
    }
    return rule_finish(&b, out);
}

tsr_status tsr_rule_embedding(tsr_context *ctx, tsr_arena *arena, tsr_extents table,
                              tsr_extents indices, const tsr_rule **out)
{
    GUARD(tsr_rule_embedding);
    if (table.rank != 2) {
        return RULE_ERROR(ctx, "the table of an embedding must have rank 2, got: %zu", table.rank);
    }
    const tsr_extents operands[] = {table, indices};
    const tsr_extents result = {.rank = indices.rank + 1};
    rule_builder b = rule_start(ctx, arena, operands, 2, &result, 1);
    for (size_t d = 0; d < indices.rank; d++) {
        const size_t f = rule_factor(&b, indices.sizes[d], PASS, false);
        rule_put(&b, 1, d, f);
        rule_put(&b, 2, d, f);
    }
    const size_t e = rule_factor(&b, table.sizes[1], PASS, false);
    rule_put(&b, 0, 1, e);
    rule_put(&b, 2, indices.rank, e);
    rule_put(&b, 0, 0, rule_factor(&b, table.sizes[0], REDUCE, false));
    return rule_finish(&b, out);
}

/* Whether two shapes agree but for the last dimensions, and name what does not. */
static tsr_status check_leading(tsr_context *ctx, const char *what, tsr_extents a, tsr_extents b,
                                size_t last)
{
    if (a.rank < 2 || a.rank != b.rank) {
        return RULE_ERROR(
            ctx, "query and %s of attention must have equal ranks of at least 2, got: %zu, %zu",
            what, a.rank, b.rank);
    }
    for (size_t d = 0; d + last < a.rank; d++) {
        if (a.sizes[d] != b.sizes[d]) {
            return RULE_ERROR(ctx, "dimension %zu of query and %s differ: %lld, %lld", d, what,
                              (long long)a.sizes[d], (long long)b.sizes[d]);
        }
    }
    return TSR_OK;
}

tsr_status tsr_rule_attention(tsr_context *ctx, tsr_arena *arena, tsr_extents query,
                              tsr_extents key, tsr_extents value, const tsr_rule **out)
{
    GUARD(tsr_rule_attention);
    TSR_TRY(check_leading(ctx, "key", query, key, 2));
    TSR_TRY(check_leading(ctx, "value", query, value, 2));
    const size_t n = query.rank;
    if (query.sizes[n - 1] != key.sizes[n - 1] || key.sizes[n - 2] != value.sizes[n - 2]) {
        return RULE_ERROR(ctx,
                          "attention takes queries [.., q, d], keys [.., k, d] and values [.., k, "
                          "e]; d is %lld and %lld, k is %lld and %lld",
                          (long long)query.sizes[n - 1], (long long)key.sizes[n - 1],
                          (long long)key.sizes[n - 2], (long long)value.sizes[n - 2]);
    }
    const tsr_extents operands[] = {query, key, value};
    rule_builder b = rule_start(ctx, arena, operands, 3, &query, 1);
    for (size_t d = 0; d + 2 < n; d++) {
        rule_put_each(&b, d, rule_factor(&b, query.sizes[d], PASS, false));
    }
    const size_t q = rule_factor(&b, query.sizes[n - 2], PASS, false);
    rule_put(&b, 0, n - 2, q);
    rule_put(&b, 3, n - 2, q);
    const size_t e = rule_factor(&b, value.sizes[n - 1], PASS, false);
    rule_put(&b, 2, n - 1, e);
    rule_put(&b, 3, n - 1, e);
    const size_t k = rule_factor(&b, key.sizes[n - 2], NEED, false);
    rule_put(&b, 1, n - 2, k);
    rule_put(&b, 2, n - 2, k);
    const size_t d = rule_factor(&b, query.sizes[n - 1], NEED, false);
    rule_put(&b, 0, n - 1, d);
    rule_put(&b, 1, n - 1, d);
    return rule_finish(&b, out);
}
