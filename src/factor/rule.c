#include "factor/rule.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"

size_t tsr_rule_num_factors(const tsr_rule *rule)
{
    GUARD(tsr_rule_num_factors);
    return rule->num_factors;
}

const tsr_factor *tsr_rule_factor(const tsr_rule *rule, size_t factor)
{
    GUARD(tsr_rule_factor);
    return factor < rule->num_factors ? &rule->factors[factor] : NULL;
}

size_t tsr_rule_num_operands(const tsr_rule *rule)
{
    GUARD(tsr_rule_num_operands);
    return rule->num_operands;
}

size_t tsr_rule_num_results(const tsr_rule *rule)
{
    GUARD(tsr_rule_num_results);
    return rule->num_results;
}

const tsr_rule_tensor *tsr_rule_operand(const tsr_rule *rule, size_t operand)
{
    GUARD(tsr_rule_operand);
    return operand < rule->num_operands ? &rule->tensors[operand] : NULL;
}

const tsr_rule_tensor *tsr_rule_result(const tsr_rule *rule, size_t result)
{
    GUARD(tsr_rule_result);
    return result < rule->num_results ? &rule->tensors[rule->num_operands + result] : NULL;
}

bool tsr_rule_is_custom(const tsr_rule *rule)
{
    GUARD(tsr_rule_is_custom);
    return rule->custom;
}

static bool same_dim(const tsr_rule_dim *a, const tsr_rule_dim *b)
{
    return a->num_factors == b->num_factors &&
           memcmp(a->factors, b->factors, a->num_factors * sizeof *a->factors) == 0;
}

static bool same_tensor(const tsr_rule_tensor *a, const tsr_rule_tensor *b)
{
    bool same = a->rank == b->rank;
    for (size_t i = 0; same && i < a->rank; i++) {
        same = same_dim(&a->dims[i], &b->dims[i]);
    }
    return same;
}

bool tsr_rule_equal(const tsr_rule *a, const tsr_rule *b)
{
    GUARD(tsr_rule_equal);
    bool same = a->num_factors == b->num_factors && a->num_operands == b->num_operands &&
                a->num_results == b->num_results && a->custom == b->custom;
    for (size_t i = 0; same && i < a->num_factors; i++) {
        const tsr_factor *f = &a->factors[i];
        const tsr_factor *g = &b->factors[i];
        same = f->size == g->size && f->kind == g->kind && f->blocked == g->blocked;
    }
    for (size_t i = 0; same && i < rule_num_tensors(a); i++) {
        same = same_tensor(&a->tensors[i], &b->tensors[i]);
    }
    return same;
}

tsr_status tsr_rule_shape(tsr_context *ctx, const tsr_rule *rule, const tsr_rule_tensor *tensor,
                          int64_t *shape)
{
    GUARD(tsr_rule_shape);
    for (size_t i = 0; i < tensor->rank; i++) {
        const tsr_rule_dim *dim = &tensor->dims[i];
        shape[i] = 1;
        for (size_t k = 0; k < dim->num_factors; k++) {
            const int64_t size = rule->factors[dim->factors[k]].size;
            if (size == TSR_UNKNOWN) {
                shape[i] = TSR_UNKNOWN;
                break;
            }
            if (!checked_mul(shape[i], size, &shape[i])) {
                return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                                  "the factors of dimension %zu multiply to more than 2^63-1", i);
            }
        }
    }
    return TSR_OK;
}

static tsr_status check_factors(tsr_context *ctx, const tsr_rule_spec *spec)
{
    for (size_t i = 0; i < spec->num_factors; i++) {
        if (spec->factors[i].size < 0 && spec->factors[i].size != TSR_UNKNOWN) {
            return RULE_ERROR(ctx, "factor %zu has a negative size: %lld", i,
                              (long long)spec->factors[i].size);
        }
    }
    return TSR_OK;
}

/* What a check over the tensors of a rule carries along. */
typedef struct rule_check {
    tsr_context *ctx;
    const tsr_rule_spec *spec;
    bool *seen; /* factors of the tensor under way */
} rule_check;

static tsr_status check_dim(const rule_check *c, const char *what, size_t index, size_t d,
                            const tsr_rule_dim *dim)
{
    if (dim->num_factors == 0) {
        return RULE_ERROR(c->ctx, "dimension %zu of %s %zu has no factor", d, what, index);
    }
    for (size_t k = 0; k < dim->num_factors; k++) {
        const size_t factor = dim->factors[k];
        if (factor >= c->spec->num_factors) {
            return RULE_ERROR(
                c->ctx, "dimension %zu of %s %zu has factor %zu, but the rule has %zu factors", d,
                what, index, factor, c->spec->num_factors);
        }
        if (c->seen[factor]) {
            return RULE_ERROR(c->ctx, "factor %zu occurs twice in %s %zu", factor, what, index);
        }
        if (k + 1 < dim->num_factors && c->spec->factors[factor].size == TSR_UNKNOWN) {
            return RULE_ERROR(c->ctx,
                              "dimension %zu of %s %zu has several factors: give the size of all "
                              "but the last",
                              d, what, index);
        }
        c->seen[factor] = true;
    }
    return TSR_OK;
}

static tsr_status check_tensors(const rule_check *c, const char *what,
                                const tsr_rule_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        memset(c->seen, 0, c->spec->num_factors * sizeof *c->seen);
        for (size_t d = 0; d < tensors[i].rank; d++) {
            TSR_TRY(check_dim(c, what, i, d, &tensors[i].dims[d]));
        }
    }
    return TSR_OK;
}

static tsr_status check_spec(tsr_context *ctx, tsr_arena *arena, const tsr_rule_spec *spec)
{
    const rule_check c = {ctx, spec, ARENA_ARRAY(arena, bool, spec->num_factors)};
    if (c.seen == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(check_factors(ctx, spec));
    TSR_TRY(check_tensors(&c, "operand", spec->operands, spec->num_operands));
    return check_tensors(&c, "result", spec->results, spec->num_results);
}

static tsr_status copy_tensors(tsr_context *ctx, tsr_arena *arena, const tsr_rule_tensor *from,
                               size_t count, tsr_rule_tensor *to)
{
    for (size_t i = 0; i < count; i++) {
        tsr_rule_dim *dims = arena_copy(arena, from[i].dims, from[i].rank, sizeof *dims);
        if (dims == NULL) {
            return diag_nomem(ctx);
        }
        for (size_t d = 0; d < from[i].rank; d++) {
            dims[d].factors =
                arena_copy(arena, dims[d].factors, dims[d].num_factors, sizeof *dims[d].factors);
            if (dims[d].factors == NULL) {
                return diag_nomem(ctx);
            }
        }
        to[i] = (tsr_rule_tensor){dims, from[i].rank};
    }
    return TSR_OK;
}

tsr_status tsr_rule_create(tsr_context *ctx, tsr_arena *arena, const tsr_rule_spec *spec,
                           const tsr_rule **out)
{
    GUARD(tsr_rule_create);
    const size_t count = spec->num_operands + spec->num_results;
    TSR_TRY(check_spec(ctx, arena, spec));
    tsr_rule *rule = ARENA_NEW(arena, tsr_rule);
    tsr_rule_tensor *tensors = ARENA_ARRAY(arena, tsr_rule_tensor, count);
    const tsr_factor *factors =
        arena_copy(arena, spec->factors, spec->num_factors, sizeof *factors);
    if (rule == NULL || tensors == NULL || factors == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(copy_tensors(ctx, arena, spec->operands, spec->num_operands, tensors));
    TSR_TRY(
        copy_tensors(ctx, arena, spec->results, spec->num_results, tensors + spec->num_operands));
    *rule = (tsr_rule){.num_factors = spec->num_factors,
                       .factors = factors,
                       .num_operands = spec->num_operands,
                       .num_results = spec->num_results,
                       .tensors = tensors,
                       .custom = spec->custom};
    *out = rule;
    return TSR_OK;
}

tsr_status tsr_rule_keep_whole(tsr_context *ctx, tsr_arena *arena, const tsr_rule *rule,
                               const bool *whole, const tsr_rule **out)
{
    GUARD(tsr_rule_keep_whole);
    tsr_rule *marked = ARENA_NEW(arena, tsr_rule);
    tsr_factor *factors = arena_copy(arena, rule->factors, rule->num_factors, sizeof *factors);
    if (marked == NULL || factors == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (whole[f]) {
            factors[f].kind = TSR_FACTOR_NEED_REPLICATION;
        }
    }
    *marked = *rule;
    marked->factors = factors;
    *out = marked;
    return TSR_OK;
}
