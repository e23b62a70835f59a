/* The checks of a rule against the op it is on, in the order and words of the reference. */
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/base.h"
#include "factor/rule.h"

/* The values of one kind, operands or results. */
typedef struct value_list {
    const char *kind;
    const rule_map_text *maps;
    size_t num_maps;
    const int64_t *ranks;
    const char *const *types;
    size_t count;
} value_list;

/* A check under way. */
typedef struct rule_checker {
    tsr_context *ctx;
    location where;
    const char *op_prefix;
    const rule_text *rule;
    size_t num_factors;
    const value_list *list; /* the kind of the value that is checked; NULL: the op */
    size_t index;           /* of that value */
    bool *used;             /* by any value */
    bool *used_here;        /* by the value that is checked */
    bool *in_results;       /* by a result */
} rule_checker;

enum { MAX_TEXT = 1024 };

/* Adds an error about the op, or about the value that is checked: `'name' op operand 1 - `. */
static tsr_status refuse(const rule_checker *c, const char *format, ...) TSR_PRINTF(2, 3);
static tsr_status refuse(const rule_checker *c, const char *format, ...)
{
    char text[MAX_TEXT];
    char index[32] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (c->list == NULL) {
        return diag_error(c->ctx, TSR_ERR_INVALID, c->where, "%s%s", c->op_prefix, text);
    }
    if (c->list->count > 1) {
        snprintf(index, sizeof index, "%zu ", c->index);
    }
    return diag_error(c->ctx, TSR_ERR_INVALID, c->where, "%s%s %s- %s", c->op_prefix, c->list->kind,
                      index, text);
}

/* One factor of a dimension. */
static tsr_status check_factor(rule_checker *c, int64_t factor)
{
    if (factor < 0 || (size_t)factor >= c->num_factors) {
        return refuse(c,
                      "expecting factor indices to be within 0<=...<num_factors; received: %lld, "
                      "num_factors: %zu",
                      (long long)factor, c->num_factors);
    }
    if (c->used_here[factor]) {
        return refuse(c, "cannot reuse factors for the same tensor value");
    }
    c->used_here[factor] = true;
    return TSR_OK;
}

static tsr_status check_dim(rule_checker *c, const rule_numbers *dim)
{
    bool has_one = false;
    if (dim->count == 0) {
        return refuse(c, "dim mapping must have at least one factor");
    }
    for (size_t i = 0; i < dim->count; i++) {
        TSR_TRY(check_factor(c, dim->values[i]));
        has_one = has_one || c->rule->sizes.values[dim->values[i]] == 1;
    }
    if (has_one && dim->count > 1) {
        return refuse(c, "dim mapping can't have a factor of size 1 if there are multiple factors");
    }
    return TSR_OK;
}

static tsr_status check_map(rule_checker *c)
{
    const value_list *list = c->list;
    const size_t index = c->index;
    const rule_map_text *map = &list->maps[index];
    if (list->ranks[index] < 0) {
        return refuse(c, "expected a ranked tensor with a static shape. type: '%s'",
                      list->types[index]);
    }
    if ((int64_t)map->rank != list->ranks[index]) {
        return refuse(c, "mapping rank must match: %zu != %lld", map->rank,
                      (long long)list->ranks[index]);
    }
    for (size_t d = 0; d < map->rank; d++) {
        TSR_TRY(check_dim(c, &map->dims[d]));
    }
    return TSR_OK;
}

/* Adds the factors of the value at hand to others, and forgets them. */
static void note_used(rule_checker *c, bool *others)
{
    for (size_t i = 0; i < c->num_factors; i++) {
        others[i] = others[i] || c->used_here[i];
        c->used_here[i] = false;
    }
}

static tsr_status check_values(rule_checker *c, const value_list *list, bool *used)
{
    if (list->num_maps != list->count) {
        return refuse(c, "number of %ss and mappings must match: %zu != %zu", list->kind,
                      list->count, list->num_maps);
    }
    if (list->num_maps == 0) {
        return refuse(c,
                      "number of %ss mappings cannot be 0. Op sharding rules can only be defined "
                      "on operations with at least one operand and result.",
                      list->kind);
    }
    for (size_t i = 0; i < list->count; i++) {
        c->list = list;
        c->index = i;
        TSR_TRY(check_map(c));
        note_used(c, used);
    }
    c->list = NULL;
    return TSR_OK;
}

static tsr_status check_all_used(const rule_checker *c, tsr_arena *arena)
{
    for (size_t i = 0; i < c->num_factors; i++) {
        if (!c->used[i] && !c->in_results[i]) {
            buffer buf = buffer_new(arena);
            const char *name = NULL;
            factor_print(&buf, i);
            TSR_TRY(buffer_finish(c->ctx, &buf, &name));
            return refuse(c, "has factor %s=%lld that isn't used in operand and result mappings",
                          name, (long long)c->rule->sizes.values[i]);
        }
    }
    return TSR_OK;
}

/* Sorted, unique, in range. */
static tsr_status check_list(const rule_checker *c, rule_list which)
{
    const rule_numbers *list = &c->rule->lists[which];
    for (size_t i = 1; i < list->count; i++) {
        if (list->values[i] < list->values[i - 1]) {
            return refuse(c, "indices of special factors must be sorted");
        }
    }
    for (size_t i = 1; i < list->count; i++) {
        if (list->values[i] == list->values[i - 1]) {
            return refuse(c, "indices of special factors must be unique");
        }
    }
    if (list->count > 0 && list->values[0] < 0) {
        return refuse(c, "index must be non-negative");
    }
    if (list->count > 0 && list->values[list->count - 1] >= (int64_t)c->num_factors) {
        return refuse(c, "index must be less than %zu, got: %lld", c->num_factors,
                      (long long)list->values[list->count - 1]);
    }
    return TSR_OK;
}

/* The lists that give factors a kind; a factor has one kind. */
static tsr_status check_kinds(rule_checker *c)
{
    for (int i = RULE_REDUCTION; i <= RULE_PERMUTATION; i++) {
        TSR_TRY(check_list(c, (rule_list)i));
    }
    for (int i = RULE_REDUCTION; i <= RULE_PERMUTATION; i++) {
        const rule_numbers *list = &c->rule->lists[i];
        for (size_t k = 0; k < list->count; k++) {
            if (c->used_here[list->values[k]]) {
                return refuse(c, "a factor can only be in one of the reduction, need replication, "
                                 "or permutation factor sets");
            }
            c->used_here[list->values[k]] = true;
        }
    }
    return TSR_OK;
}

static tsr_status check_reductions(const rule_checker *c)
{
    const rule_numbers *list = &c->rule->lists[RULE_REDUCTION];
    for (size_t i = 0; i < list->count; i++) {
        if (c->in_results[list->values[i]]) {
            return refuse(c, "reduction factor cannot be in result mappings");
        }
    }
    return TSR_OK;
}

/* Three flags for each factor. */
static tsr_status make_flags(rule_checker *c, tsr_arena *arena)
{
    bool *flags = ARENA_ARRAY(arena, bool, 3 * c->num_factors);
    if (flags == NULL) {
        return diag_nomem(c->ctx);
    }
    memset(flags, 0, 3 * c->num_factors * sizeof *flags);
    c->used = flags;
    c->used_here = flags + c->num_factors;
    c->in_results = flags + 2 * c->num_factors;
    return TSR_OK;
}

static tsr_status check(rule_checker *c, tsr_arena *arena, const value_list *operands,
                        const value_list *results)
{
    TSR_TRY(make_flags(c, arena));
    TSR_TRY(check_values(c, operands, c->used));
    TSR_TRY(check_values(c, results, c->in_results));
    TSR_TRY(check_all_used(c, arena));
    TSR_TRY(check_kinds(c));
    TSR_TRY(check_list(c, RULE_BLOCKED));
    TSR_TRY(check_reductions(c));
    return c->rule->too_large ? TSR_ERR_SYNTAX : TSR_OK;
}

tsr_status rule_text_verify(tsr_context *ctx, location where, const char *op_prefix,
                            const rule_text *rule, const int64_t *ranks, size_t num_operands,
                            size_t num_results, const char *const *type_texts)
{
    rule_checker checker = {.ctx = ctx,
                            .where = where,
                            .op_prefix = op_prefix,
                            .rule = rule,
                            .num_factors = rule->sizes.count};
    const value_list operands = {"operand", rule->maps, rule->num_operands,
                                 ranks,     type_texts, num_operands};
    const value_list results = {"result",
                                rule->maps + rule->num_operands,
                                rule->num_results,
                                ranks + num_operands,
                                type_texts + num_operands,
                                num_results};
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    const tsr_status status = check(&checker, arena, &operands, &results);
    tsr_arena_destroy(arena);
    return status;
}
