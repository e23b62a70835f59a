/* Propagation through one op: rounds by priority, what is pending, decisions in words. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "factor/project.h"
#include "shard/sharding.h"

static const char *const strategy_names[] = {[TSR_STRATEGY_BASIC] = "basic",
                                             [TSR_STRATEGY_AGGRESSIVE] = "aggressive",
                                             [TSR_STRATEGY_MOST_PARALLEL] = "most-parallel"};
enum { NUM_STRATEGIES = sizeof strategy_names / sizeof strategy_names[0] };

const char *tsr_strategy_name(tsr_strategy strategy)
{
    return (unsigned)strategy < NUM_STRATEGIES ? strategy_names[strategy] : "?";
}

bool tsr_strategy_find(const char *name, tsr_strategy *out)
{
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
    tsr_arena *arena;
    const tsr_propagation *op;
    const tsr_mesh *mesh;
    size_t count;
    const tsr_sharding **given;
    const tsr_sharding **now;
} run;

static tsr_status run_start(tsr_context *ctx, tsr_arena *arena, const tsr_propagation *op, run *r)
{
    const tsr_rule *rule = op->rule;
    *r = (run){.ctx = ctx, .arena = arena, .op = op, .count = rule_num_tensors(rule)};
    r->given = ARENA_ARRAY(arena, const tsr_sharding *, r->count);
    r->now = ARENA_ARRAY(arena, const tsr_sharding *, r->count);
    if (r->given == NULL || r->now == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t t = 0; t < r->count; t++) {
        const bool operand = t < rule->num_operands;
        const tsr_sharding *const *list = operand ? op->operands : op->results;
        r->given[t] = list != NULL ? list[operand ? t : t - rule->num_operands] : NULL;
        r->now[t] = r->given[t];
    }
    r->mesh = op->mesh != NULL ? op->mesh : tsr_sharding_common_mesh(r->given, r->count, false);
    return TSR_OK;
}

/* One round of the strategy over the shardings as they are. */
static tsr_status propagate_once(run *r)
{
    projection p;
    TSR_TRY(project(r->ctx, r->arena, r->op, r->mesh, r->now, &p));
    switch (r->op->strategy) {
    case TSR_STRATEGY_BASIC:
        TSR_TRY(propagate_basic(&p));
        break;
    case TSR_STRATEGY_AGGRESSIVE:
        TSR_TRY(propagate_aggressive(&p));
        break;
    default:
        TSR_TRY(propagate_most_parallel(&p));
    }
    for (size_t t = 0; t < r->count; t++) {
        TSR_TRY(project_back(&p, t, &r->now[t]));
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

/* Takes dimensions of a priority above 0 out: empty, closed, their axes replicated. */
static tsr_status hold_back(run *r, size_t t)
{
    const tsr_sharding *s = r->given[t];
    size_t room = s->num_replicated;
    for (size_t d = 0; d < s->rank; d++) {
        room += s->dims[d].num_axes;
    }
    tsr_dim *dims = arena_copy(r->arena, s->dims, s->rank, sizeof *dims);
    tsr_axis_ref *replicated = ARENA_ARRAY(r->arena, tsr_axis_ref, room);
    if (dims == NULL || replicated == NULL) {
        return diag_nomem(r->ctx);
    }
    size_t count = s->num_replicated;
    if (count > 0) {
        memcpy(replicated, s->replicated, count * sizeof *replicated);
    }
    for (size_t d = 0; d < s->rank; d++) {
        if (dims[d].priority > 0) {
            for (size_t i = 0; i < dims[d].num_axes; i++) {
                replicated[count++] = dims[d].axes[i];
            }
            dims[d] = tsr_dim_closed(NULL, 0);
        }
        dims[d].priority = TSR_NO_PRIORITY;
    }
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_replicated = count,
                                    .replicated = replicated,
                                    .num_unreduced = s->num_unreduced,
                                    .unreduced = s->unreduced,
                                    .reduction = s->reduction};
    return tsr_sharding_create(r->ctx, r->arena, &spec, TSR_SHARDING_CANONICALIZE, &r->now[t]);
}

/* The replicated axes without those that a dimension gets back. */
static size_t without(const tsr_sharding *s, const tsr_axis_ref *axes, size_t num_axes,
                      tsr_axis_list *out)
{
    (void)!tsr_axes_difference(s->replicated, s->num_replicated, axes, num_axes, out);
    return out->count;
}

/* Gives the dimensions of one priority back what they were given. */
static tsr_status restore(run *r, size_t t, int64_t priority)
{
    const tsr_sharding *given = r->given[t];
    for (size_t d = 0; d < given->rank; d++) {
        if (given->dims[d].priority != priority) {
            continue;
        }
        const tsr_sharding *s = r->now[t];
        tsr_dim *dims = arena_copy(r->arena, s->dims, s->rank, sizeof *dims);
        const size_t room = 2 * s->num_replicated + 2 * given->dims[d].num_axes + 8;
        tsr_axis_list left = {ARENA_ARRAY(r->arena, tsr_axis_ref, room), 0, room};
        if (dims == NULL || left.refs == NULL) {
            return diag_nomem(r->ctx);
        }
        dims[d] = given->dims[d];
        dims[d].priority = TSR_NO_PRIORITY;
        const tsr_sharding_spec spec = {.mesh = s->mesh,
                                        .rank = s->rank,
                                        .dims = dims,
                                        .num_replicated =
                                            without(s, dims[d].axes, dims[d].num_axes, &left),
                                        .replicated = left.refs,
                                        .num_unreduced = s->num_unreduced,
                                        .unreduced = s->unreduced,
                                        .reduction = s->reduction};
        TSR_TRY(
            tsr_sharding_create(r->ctx, r->arena, &spec, TSR_SHARDING_CANONICALIZE, &r->now[t]));
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

tsr_status tsr_propagate(tsr_context *ctx, tsr_arena *arena, const tsr_propagation *op,
                         const tsr_sharding **operands, const tsr_sharding **results)
{
    run r;
    TSR_TRY(run_start(ctx, arena, op, &r));
    if (r.mesh != NULL) {
        TSR_TRY(next_priority(&r, 0) == TSR_NO_PRIORITY ? propagate_once(&r)
                                                        : propagate_rounds(&r));
    }
    for (size_t t = 0; t < r.count; t++) {
        const bool same = r.given[t] != NULL && tsr_sharding_equal(r.given[t], r.now[t]);
        const bool operand = t < op->rule->num_operands;
        (operand ? operands : results)[operand ? t : t - op->rule->num_operands] =
            same ? r.given[t] : r.now[t];
    }
    return TSR_OK;
}

/* What all operands that have a factor shard it by. */
static tsr_status common_axes(const projection *p, size_t factor, tsr_axis_list *out)
{
    tsr_axis_list common = new_axis_list(p);
    bool first = true;
    if (common.refs == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t t = 0; t < p->rule->num_operands; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (!f->present) {
            continue;
        }
        if (first) {
            copy_axes(&common, &f->axes);
        } else {
            tsr_axis_list next = new_axis_list(p);
            if (next.refs == NULL) {
                return diag_nomem(p->ctx);
            }
            TSR_TRY(tsr_axes_common_prefix(common.refs, common.count, f->axes.refs, f->axes.count,
                                           &next));
            copy_axes(&common, &next);
        }
        first = false;
    }
    for (size_t i = 0; i < common.count; i++) {
        TSR_TRY(tsr_axes_add(p->mesh, out, common.refs[i]));
    }
    return TSR_OK;
}

tsr_status tsr_propagate_pending(tsr_context *ctx, tsr_arena *arena, const tsr_rule *rule,
                                 const tsr_mesh *mesh, const tsr_sharding *const *operands,
                                 const tsr_axis_ref **axes, size_t *num_axes)
{
    const tsr_propagation op = {.rule = rule, .mesh = mesh, .operands = operands};
    run r;
    projection p;
    TSR_TRY(run_start(ctx, arena, &op, &r));
    TSR_TRY(project(ctx, arena, &op, mesh, r.now, &p));
    const size_t room = (rule->num_factors + 1) * p.room;
    tsr_axis_list all = {ARENA_ARRAY(arena, tsr_axis_ref, room), 0, room};
    if (all.refs == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (rule->factors[f].kind == TSR_FACTOR_REDUCTION) {
            TSR_TRY(common_axes(&p, f, &all));
        }
    }
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

tsr_status tsr_decision_print(tsr_context *ctx, tsr_arena *arena, const tsr_propagation *op,
                              const tsr_decision *d, const char **out)
{
    run r;
    const char *axes = "nothing";
    TSR_TRY(run_start(ctx, arena, op, &r));
    if (d->num_axes > 0) {
        TSR_TRY(tsr_axes_print(ctx, arena, r.mesh, d->axes, d->num_axes, &axes));
    }
    buffer buf = buffer_new(arena);
    print_tensor(&buf, op->rule, d->tensor);
    switch (d->kind) {
    case TSR_DECISION_GIVEN:
        buffer_format(&buf, " gets %s for ", axes);
        break;
    case TSR_DECISION_DISAGREE:
        buffer_string(&buf, " and ");
        print_tensor(&buf, op->rule, d->other);
        buffer_format(&buf, " disagree, %s is common for ", axes);
        break;
    case TSR_DECISION_TAKEN:
        buffer_format(&buf, " has %s in ", axes);
        factor_print(&buf, (size_t)d->other_factor);
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
    factor_print(&buf, d->factor);
    if (d->kind == TSR_DECISION_GIVEN && d->other >= 0) {
        buffer_string(&buf, " from ");
        print_tensor(&buf, op->rule, d->other);
    }
    return buffer_finish(ctx, &buf, out);
}
