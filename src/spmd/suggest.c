/* Fixes for a call that does not type-check, each tried before it is offered. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "spmd/infer.h"

/* The changes that keep the value and its shape, with their costs. */
static const struct {
    tsr_transition_op op;
    tsr_local_type src;
    tsr_local_type dst;
    const char *cost;
} candidates[] = {
    {TSR_ALL_REDUCE, TSR_P, TSR_R, "one all_reduce forward, one all_reduce backward"},
    {TSR_CONVERT, TSR_I, TSR_R, "nothing forward, one all_reduce backward"},
    {TSR_CONVERT, TSR_R, TSR_P, "zeroes all ranks but the first, forward and backward"},
    {TSR_CONVERT, TSR_I, TSR_P, "zeroes all ranks but the first forward, nothing backward"},
    {TSR_ALL_REDUCE, TSR_P, TSR_I, "one all_reduce forward, nothing backward"},
};

enum { NUM_CANDIDATES = sizeof candidates / sizeof candidates[0] };

/* The state of a search. */
typedef struct search {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_typed_call *call;
    size_t axis;
    axis_operand *operands; /* along the axis, as they are */
    bool *unchanged;
    tsr_fix *fixes;
    size_t count;
} search;

/* The operands with those that change given their new type. */
static tsr_status change(const search *s, tsr_local_type to, tsr_typed_shape *out)
{
    for (size_t i = 0; i < s->call->num_operands; i++) {
        out[i] = s->call->operands[i];
        if (!s->unchanged[i]) {
            type_draft d;
            TSR_TRY(draft_start(s->ctx, s->arena, s->call->mesh, out[i].type, out[i].rank, &d));
            d.axes[s->axis] = (tsr_axis_type){to, TSR_SUM};
            TSR_TRY(draft_finish(&d, &out[i].type));
        }
    }
    return TSR_OK;
}

/* Whether the result is what the operands that stay have by themselves. */
static bool keeps_result(const search *s, tsr_axis_type result)
{
    const verdict rest = infer_axis(s->call, s->axis, s->operands, s->unchanged);
    return rest.fine && (rest.type.kind == TSR_UNTYPED ||
                         (rest.type.kind == result.kind && rest.type.partial == result.partial));
}

/* Runs the changed call through the checker. */
static tsr_status try_change(const search *s, tsr_local_type to, bool *works)
{
    tsr_typed_call call = *s->call;
    tsr_typed_shape *operands = ARENA_ARRAY(s->arena, tsr_typed_shape, call.num_operands);
    const size_t num_results = call.rule != NULL ? tsr_rule_num_results(call.rule) : 1;
    const tsr_type **results = ARENA_ARRAY(s->arena, const tsr_type *, num_results);
    if (operands == NULL || results == NULL) {
        return diag_nomem(s->ctx);
    }
    TSR_TRY(change(s, to, operands));
    call.operands = operands;
    inference inf = {.ctx = s->ctx, .arena = s->arena, .call = &call, .quiet = true};
    const tsr_status status = infer_call(&inf, results);
    if (status < 0 && status != TSR_ERR_INVALID) {
        return status;
    }
    *works = (status >= 0 || (inf.bad_axis != SIZE_MAX && inf.bad_axis > s->axis)) &&
             keeps_result(s, inf.axes[s->axis]);
    return TSR_OK;
}

static void add_fix(search *s, size_t candidate, size_t operand, bool all)
{
    const tsr_reduction pending = s->operands[operand].type.partial;
    s->fixes[s->count++] = (tsr_fix){
        .operand = operand,
        .all = all,
        .axis = s->axis,
        .call = {.op = candidates[candidate].op,
                 .src = {candidates[candidate].src, TSR_NO_DIM, pending},
                 .dst = {candidates[candidate].dst, TSR_NO_DIM, TSR_SUM}},
        .mesh = s->call->mesh,
        .cost = candidates[candidate].cost,
    };
}

static bool is_of(const search *s, size_t operand, tsr_local_type kind)
{
    return !s->operands[operand].number && s->operands[operand].type.kind == kind;
}

/* One operand at a time; if none is a fix, all of that type at once. */
static tsr_status try_candidate(search *s, size_t candidate)
{
    const size_t n = s->call->num_operands;
    size_t found = 0;
    size_t first = n;
    for (size_t i = n; i-- > 0;) {
        if (is_of(s, i, candidates[candidate].src)) {
            first = i;
            found++;
        }
    }
    for (size_t i = first; i < n; i++) {
        bool works = false;
        for (size_t k = 0; k < n; k++) {
            s->unchanged[k] = k != i;
        }
        if (is_of(s, i, candidates[candidate].src)) {
            TSR_TRY(try_change(s, candidates[candidate].dst, &works));
        }
        if (works) {
            add_fix(s, candidate, i, false);
        }
    }
    if (found > 1 && s->count == 0) {
        bool works = false;
        for (size_t k = 0; k < n; k++) {
            s->unchanged[k] = !is_of(s, k, candidates[candidate].src);
        }
        TSR_TRY(try_change(s, candidates[candidate].dst, &works));
        if (works) {
            add_fix(s, candidate, first, true);
        }
    }
    return TSR_OK;
}

tsr_status find_fixes(tsr_context *ctx, tsr_arena *arena, const tsr_typed_call *call, size_t axis,
                      const tsr_fix **fixes, size_t *num_fixes)
{
    const size_t n = call->num_operands;
    search s = {.ctx = ctx,
                .arena = arena,
                .call = call,
                .axis = axis,
                .operands = ARENA_ARRAY(arena, axis_operand, n),
                .unchanged = ARENA_ARRAY(arena, bool, n),
                .fixes = ARENA_ARRAY(arena, tsr_fix, NUM_CANDIDATES * (n + 1))};
    if (s.operands == NULL || s.unchanged == NULL || s.fixes == NULL) {
        return diag_nomem(ctx);
    }
    operands_along(call, axis, s.operands);
    for (size_t i = 0; i < NUM_CANDIDATES; i++) {
        TSR_TRY(try_candidate(&s, i));
    }
    *fixes = s.fixes;
    *num_fixes = s.count;
    return TSR_OK;
}

tsr_status tsr_type_fixes(tsr_context *ctx, tsr_arena *arena, const tsr_typed_call *call,
                          const tsr_fix **fixes, size_t *num_fixes)
{
    GUARD(tsr_type_fixes);
    const size_t num_results = call->rule != NULL ? tsr_rule_num_results(call->rule) : 1;
    const tsr_type **results = ARENA_ARRAY(arena, const tsr_type *, num_results);
    tsr_typed_call met;
    inference inf = {.ctx = ctx, .arena = arena, .call = &met, .quiet = true};
    if (results == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(infer_meet(ctx, arena, call, &met));
    const tsr_status status = infer_call(&inf, results);
    if (status < 0 && status != TSR_ERR_INVALID) {
        return status;
    }
    *fixes = NULL;
    *num_fixes = 0;
    return inf.bad_axis == SIZE_MAX ? TSR_OK
                                    : find_fixes(ctx, arena, &met, inf.bad_axis, fixes, num_fixes);
}
