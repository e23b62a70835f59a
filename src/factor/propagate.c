/* Propagation through one op: rounds by priority, what is pending, decisions in words. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/guard.h"
#include "factor/visit.h"

static const char *const strategy_names[] = {[TSR_STRATEGY_BASIC] = "basic",
                                             [TSR_STRATEGY_AGGRESSIVE] = "aggressive",
                                             [TSR_STRATEGY_MOST_PARALLEL] = "most-parallel",
                                             [TSR_STRATEGY_CHEAPEST] = "cheapest"};
enum { NUM_STRATEGIES = sizeof strategy_names / sizeof strategy_names[0] };

const char *tsr_strategy_name(tsr_strategy strategy)
{
    GUARD(tsr_strategy_name);
    return (unsigned)strategy < NUM_STRATEGIES ? strategy_names[strategy] : "?";
}

bool tsr_strategy_find(const char *name, tsr_strategy *out)
{
    GUARD(tsr_strategy_find);
    for (size_t i = 0; i < NUM_STRATEGIES; i++) {
        if (strcmp(name, strategy_names[i]) == 0) {
            *out = (tsr_strategy)i;
            return true;
        }
    }
    return false;
}

/* The op under way: its shardings as they were given and as they are now. */
typedef struct run {
    tsr_context *ctx;
    tsr_arena *scratch;
    visit_op op;
    const tsr_mesh *mesh;
    size_t count;
    const tsr_sharding **given;
    const tsr_sharding **now;
} run;

/* Shardings of operands, then of results; NULL instead of a list: none. */
static const tsr_sharding **gather(tsr_arena *arena, const tsr_propagation *op)
{
    const size_t count = rule_num_tensors(op->rule);
    const tsr_sharding **all = ARENA_ARRAY(arena, const tsr_sharding *, count);
    for (size_t t = 0; all != NULL && t < count; t++) {
        const bool operand = t < op->rule->num_operands;
        const tsr_sharding *const *list = operand ? op->operands : op->results;
        all[t] = list != NULL ? list[operand ? t : t - op->rule->num_operands] : NULL;
    }
    return all;
}

static tsr_status run_start(tsr_context *ctx, tsr_arena *scratch, tsr_arena *record,
                            const tsr_propagation *op, run *r)
{
    *r = (run){.ctx = ctx,
               .scratch = scratch,
               .op = {.rule = op->rule,
                      .strategy = op->strategy,
                      .direction = op->direction,
                      .directions = op->directions,
                      .conservative = op->conservative,
                      .elementwise = op->elementwise,
                      .decisions = op->decisions,
                      .record = record},
               .mesh = op->mesh,
               .count = rule_num_tensors(op->rule),
               .given = gather(scratch, op),
               .now = gather(scratch, op)};
    if (r->given == NULL || r->now == NULL) {
        return diag_nomem(ctx);
    }
    if (op->mesh != NULL) {
        return check_meshes(ctx, op->rule, op->mesh, r->given);
    }
    r->mesh = tsr_sharding_common_mesh(r->given, r->count, false);
    return TSR_OK;
}

/* The scratch's own copy of a sharding that is made of parts in the scratch. */
static tsr_status hold(const run *r, const tsr_sharding *s, const tsr_sharding **out)
{
    const tsr_sharding *held = arena_copy(r->scratch, s, 1, sizeof *s);
    if (held == NULL) {
        return diag_nomem(r->ctx);
    }
    *out = held;
    return TSR_OK;
}

/* One round of the strategy over the shardings as they are. */
static tsr_status propagate_once(run *r)
{
    projection p;
    TSR_TRY(visit(r->ctx, r->scratch, &r->op, r->mesh, r->now, &p));
    for (size_t t = 0; p.changed && t < r->count; t++) {
        tsr_sharding now;
        if (p.tensors[t].changed) {
            TSR_TRY(project_back(&p, t, &now));
            if (is_update(r->now[t], &now)) {
                TSR_TRY(hold(r, &now, &r->now[t]));
            }
        }
    }
    return TSR_OK;
}

/* The smallest priority above `above` of any dimension; TSR_NO_PRIORITY when there is none. */
static int64_t next_priority(const run *r, int64_t above)
{
    int64_t next = TSR_NO_PRIORITY;
    for (size_t t = 0; t < r->count; t++) {
        for (size_t d = 0; r->given[t] != NULL && d < r->given[t]->rank; d++) {
            const int64_t priority = r->given[t]->dims[d].priority;
            if (priority > above && (next == TSR_NO_PRIORITY || priority < next)) {
                next = priority;
            }
        }
    }
    return next;
}

static size_t count_axes(const tsr_sharding *s)
{
    size_t count = s->num_replicated;
    for (size_t d = 0; d < s->rank; d++) {
        count += s->dims[d].num_axes;
    }
    return count;
}

/* A sharding with other dimensions and other replicated axes, in any order. */
static tsr_status change(const run *r, const tsr_sharding *s, const tsr_dim *dims,
                         tsr_axis_list *replicated, const tsr_sharding **out)
{
    tsr_sharding changed = *s;
    tsr_axes_sort_and_merge(s->mesh, replicated);
    changed.dims = dims;
    changed.num_replicated = replicated->count;
    changed.replicated = replicated->refs;
    return hold(r, &changed, out);
}

/* Takes dimensions of a priority above 0 out: empty, closed, their axes replicated. */
static tsr_status hold_back(run *r, size_t t)
{
    const tsr_sharding *s = r->given[t];
    const size_t room = count_axes(s);
    tsr_dim *dims = arena_copy(r->scratch, s->dims, s->rank, sizeof *dims);
    tsr_axis_list replicated = {ARENA_ARRAY(r->scratch, tsr_axis_ref, room), 0, room};
    if (dims == NULL || replicated.refs == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t i = 0; i < s->num_replicated; i++) {
        replicated.refs[replicated.count++] = s->replicated[i];
    }
    for (size_t d = 0; d < s->rank; d++) {
        if (dims[d].priority > 0) {
            for (size_t i = 0; i < dims[d].num_axes; i++) {
                replicated.refs[replicated.count++] = dims[d].axes[i];
            }
            dims[d] = tsr_dim_closed(NULL, 0);
        }
        dims[d].priority = TSR_NO_PRIORITY;
    }
    return change(r, s, dims, &replicated, &r->now[t]);
}

/* Gives a dimension back what it was given. */
static tsr_status restore_dim(run *r, size_t t, size_t d)
{
    const tsr_dim *given = &r->given[t]->dims[d];
    const tsr_sharding *s = r->now[t];
    tsr_dim *dims = arena_copy(r->scratch, s->dims, s->rank, sizeof *dims);
    const size_t room = 2 * s->num_replicated + 2 * given->num_axes + 8;
    tsr_axis_list left = {ARENA_ARRAY(r->scratch, tsr_axis_ref, room), 0, room};
    if (dims == NULL || left.refs == NULL) {
        return diag_nomem(r->ctx);
    }
    dims[d] = *given;
    dims[d].priority = TSR_NO_PRIORITY;
    TSR_TRY(
        tsr_axes_difference(s->replicated, s->num_replicated, given->axes, given->num_axes, &left));
    return change(r, s, dims, &left, &r->now[t]);
}

/* Gives the dimensions of one priority back what they were given. */
static tsr_status restore(run *r, size_t t, int64_t priority)
{
    for (size_t d = 0; d < r->given[t]->rank; d++) {
        if (r->given[t]->dims[d].priority == priority) {
            TSR_TRY(restore_dim(r, t, d));
        }
    }
    return TSR_OK;
}

/* Rounds: dimensions without a priority and of 0 first, then each higher one joins. */
static tsr_status propagate_rounds(run *r)
{
    for (size_t t = 0; t < r->count; t++) {
        if (r->given[t] != NULL) {
            TSR_TRY(hold_back(r, t));
        }
    }
    TSR_TRY(propagate_once(r));
    for (int64_t priority = next_priority(r, 0); priority != TSR_NO_PRIORITY;
         priority = next_priority(r, priority)) {
        for (size_t t = 0; t < r->count; t++) {
            if (r->given[t] != NULL) {
                TSR_TRY(restore(r, t, priority));
            }
        }
        TSR_TRY(propagate_once(r));
    }
    return TSR_OK;
}

/* The shardings now, in the caller's arena; the same objects where nothing changed. */
static tsr_status keep_results(run *r, tsr_arena *arena)
{
    for (size_t t = 0; t < r->count; t++) {
        if (r->given[t] != NULL && tsr_sharding_equal(r->given[t], r->now[t])) {
            r->now[t] = r->given[t];
        } else if (r->now[t] != NULL) {
            TSR_TRY(sharding_build_trusted(r->ctx, arena, r->now[t], &r->now[t]));
        }
    }
    return TSR_OK;
}

static tsr_status propagate(tsr_context *ctx, tsr_arena *arena, tsr_arena *scratch,
                            const tsr_propagation *op, const tsr_sharding **operands,
                            const tsr_sharding **results)
{
    run r;
    TSR_TRY(run_start(ctx, scratch, arena, op, &r));
    if (r.mesh != NULL && !tsr_mesh_is_maximal(r.mesh)) {
        TSR_TRY(next_priority(&r, 0) == TSR_NO_PRIORITY ? propagate_once(&r)
                                                        : propagate_rounds(&r));
    }
    TSR_TRY(keep_results(&r, arena));
    for (size_t t = 0; t < r.count; t++) {
        const bool operand = t < op->rule->num_operands;
        (operand ? operands : results)[operand ? t : t - op->rule->num_operands] = r.now[t];
    }
    return TSR_OK;
}

tsr_status tsr_propagate(tsr_context *ctx, tsr_arena *arena, const tsr_propagation *op,
                         const tsr_sharding **operands, const tsr_sharding **results)
{
    GUARD(tsr_propagate);
    tsr_arena *scratch = NULL;
    TSR_TRY(tsr_arena_create(ctx, &scratch));
    const tsr_status status = propagate(ctx, arena, scratch, op, operands, results);
    tsr_arena_destroy(scratch);
    return status;
}

/* The longest list that both start with; the last axis of one may be a part of the last axis of the
 * other. */
static axis_view common_prefix(axis_view a, axis_view b)
{
    size_t i = 0;
    tsr_axis_ref common;
    while (i < a.count && i < b.count && tsr_axis_equal(a.refs[i], b.refs[i])) {
        i++;
    }
    if (i == a.count || i == b.count || !tsr_axis_common_prefix(a.refs[i], b.refs[i], &common)) {
        return (axis_view){a.refs, i};
    }
    return (axis_view){tsr_axis_equal(common, a.refs[i]) ? a.refs : b.refs, i + 1};
}

/* What all operands that have a factor shard it by. */
static axis_view common_axes(const projection *p, size_t factor)
{
    axis_view common = {0};
    bool first = true;
    for (size_t t = 0; t < p->rule->num_operands; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (f->present) {
            common = first ? f->axes : common_prefix(common, f->axes);
            first = false;
        }
    }
    return common;
}

/* The axes of reduction factors, factor after factor. */
static tsr_status find_pending(const projection *p, tsr_arena *arena, tsr_axis_list *all)
{
    *all = (tsr_axis_list){0};
    for (size_t f = 0; f < p->rule->num_factors; f++) {
        all->capacity += common_axes(p, f).count;
    }
    all->refs = ARENA_ARRAY(arena, tsr_axis_ref, all->capacity);
    if (all->refs == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t f = 0; f < p->rule->num_factors; f++) {
        const axis_view axes = common_axes(p, f);
        for (size_t i = 0; p->rule->factors[f].kind == TSR_FACTOR_REDUCTION && i < axes.count;
             i++) {
            TSR_TRY(tsr_axes_add(p->mesh, all, axes.refs[i]));
        }
    }
    return TSR_OK;
}

static tsr_status pending(tsr_context *ctx, tsr_arena *arena, tsr_arena *scratch,
                          const tsr_propagation *op, tsr_axis_list *out)
{
    run r;
    projection p;
    TSR_TRY(run_start(ctx, scratch, arena, op, &r));
    TSR_TRY(project(ctx, scratch, &r.op, op->mesh, r.now, &p));
    return find_pending(&p, arena, out);
}

tsr_status tsr_propagate_pending(tsr_context *ctx, tsr_arena *arena, const tsr_rule *rule,
                                 const tsr_mesh *mesh, const tsr_sharding *const *operands,
                                 const tsr_axis_ref **axes, size_t *num_axes)
{
    GUARD(tsr_propagate_pending);
    const tsr_propagation op = {.rule = rule, .mesh = mesh, .operands = operands};
    tsr_arena *scratch = NULL;
    tsr_axis_list all;
    TSR_TRY(tsr_arena_create(ctx, &scratch));
    const tsr_status status = pending(ctx, arena, scratch, &op, &all);
    tsr_arena_destroy(scratch);
    TSR_TRY(status);
    *axes = all.refs;
    *num_axes = all.count;
    return TSR_OK;
}

static void print_tensor(buffer *buf, const tsr_rule *rule, int64_t tensor)
{
    const int64_t operands = (int64_t)rule->num_operands;
    const bool operand = tensor < operands;
    buffer_format(buf, "%s %lld", operand ? "operand" : "result",
                  (long long)(operand ? tensor : tensor - operands));
}

/* The mesh on which an op propagates. */
static tsr_status mesh_of(tsr_context *ctx, tsr_arena *arena, const tsr_propagation *op,
                          const tsr_mesh **out)
{
    *out = op->mesh;
    if (op->mesh == NULL) {
        const tsr_sharding **given = gather(arena, op);
        if (given == NULL) {
            return diag_nomem(ctx);
        }
        *out = tsr_sharding_common_mesh(given, rule_num_tensors(op->rule), false);
    }
    return TSR_OK;
}

tsr_status tsr_decision_print(tsr_context *ctx, tsr_arena *arena, const tsr_propagation *op,
                              const tsr_decision *decision, const char **out)
{
    GUARD(tsr_decision_print);
    const char *axes = "nothing";
    if (decision->num_axes > 0) {
        const tsr_mesh *mesh = NULL;
        TSR_TRY(mesh_of(ctx, arena, op, &mesh));
        TSR_TRY(tsr_axes_print(ctx, arena, mesh, decision->axes, decision->num_axes, &axes));
    }
    buffer buf = buffer_new(arena);
    print_tensor(&buf, op->rule, decision->tensor);
    switch (decision->kind) {
    case TSR_DECISION_GIVEN:
        buffer_format(&buf, " gets %s for ", axes);
        break;
    case TSR_DECISION_DISAGREE:
        buffer_string(&buf, " and ");
        print_tensor(&buf, op->rule, decision->other);
        buffer_format(&buf, " disagree, %s is common for ", axes);
        break;
    case TSR_DECISION_TAKEN:
        buffer_format(&buf, " has %s in ", axes);
        factor_print(&buf, (size_t)decision->other_factor);
        buffer_string(&buf, ", which keeps it from ");
        break;
    case TSR_DECISION_REPLICATED:
        buffer_format(&buf, " has %s replicated or pending, which keeps it from ", axes);
        break;
    case TSR_DECISION_CLOSED:
        buffer_format(&buf, " is closed, which keeps %s from ", axes);
        break;
    case TSR_DECISION_INDIVISIBLE:
        buffer_format(&buf, " does not divide by %s along ", axes);
        break;
    }
    factor_print(&buf, decision->factor);
    if (decision->kind == TSR_DECISION_GIVEN && decision->other >= 0) {
        buffer_string(&buf, " from ");
        print_tensor(&buf, op->rule, decision->other);
    }
    return buffer_finish(ctx, &buf, out);
}
