/*
 * Conflicts: at the fixed point, axes that one tensor of an op has for a factor and another has
 * not. Axes are only ever added, so whatever kept one out is still there.
 */
#include "base/arena.h"
#include "propagate/debug.h"
#include "propagate/provenance.h"

/* One visit that changes nothing. */
typedef struct looking {
    propagation *s;
    why_log *log;
    uint32_t op; /* a function: between what it returns and its results */
    const visit_plan *v;
    projection now;
} looking;

/* An axis of a factor that `tensor` has not and `source` has. */
typedef struct missing {
    size_t factor;
    size_t tensor;
    size_t source;
    size_t at; /* in the list of the source */
    tsr_axis_ref axis;
} missing;

static const factor_state *state_of(const looking *l, size_t tensor, size_t factor)
{
    return &l->now.tensors[tensor].factors[factor];
}

static size_t dim_of(const looking *l, size_t tensor, size_t factor)
{
    return rule_dim_of_factor(&l->now.rule->tensors[tensor], factor);
}

static uint32_t step_of(const looking *l, size_t tensor, size_t factor, tsr_axis_ref axis)
{
    return provenance_find_step(l->log, l->v->places[tensor], dim_of(l, tensor, factor), axis);
}

/* ---- who was first ---- */

/* Whether the op passes axes of a factor on at a level of op priorities. */
static tsr_status passes_at(const looking *l, size_t factor, int level, bool *out)
{
    propagation *s = l->s;
    visit_direction way = {.direction = TSR_DIRECTION_BOTH};
    const int now = s->level;
    s->level = level;
    const tsr_status status =
        s->main == l->op ? TSR_OK : priorities_direction(s, l->op, l->v->how.rule, &way);
    s->level = now;
    *out = (way.directions != NULL ? way.directions[factor] : way.direction) != TSR_DIRECTION_NONE;
    return status;
}

static tsr_status rule_of_winner(const looking *l, const missing *m, uint32_t winner,
                                 uint32_t wanted, tsr_conflict_rule *out)
{
    const tsr_axis_step *won = &l->log->steps[winner].step;
    const tsr_axis_step *lost = &l->log->steps[wanted].step;
    bool passes = true;
    *out = TSR_RULE_NONE;
    if (winner == 0) {
        return TSR_OK;
    }
    *out = TSR_RULE_FIRST;
    if (won->kind == TSR_AXIS_ANNOTATED) {
        *out = TSR_RULE_ANNOTATION;
    } else if (won->priority < lost->priority) {
        *out = TSR_RULE_USER_PRIORITY;
    } else if (won->visit <= lost->visit) {
        *out = won->level < lost->level ? TSR_RULE_OP_PRIORITY : TSR_RULE_FIRST;
    } else if (won->op == l->op) {
        *out = TSR_RULE_LARGER;
    } else {
        TSR_TRY(passes_at(l, m->factor, won->level, &passes));
        *out = passes ? TSR_RULE_FIRST : TSR_RULE_OP_PRIORITY;
    }
    return TSR_OK;
}

static tsr_status append(const looking *l, tsr_conflict conflict)
{
    why_log *log = l->log;
    void *items = log->conflicts;
    if (!grow_array(l->s->w.arena, &items, log->num_conflicts, &log->conflict_room,
                    sizeof *log->conflicts)) {
        return diag_nomem(l->s->w.ctx);
    }
    log->conflicts = items;
    conflict.op = l->op;
    log->conflicts[log->num_conflicts++] = conflict;
    return TSR_OK;
}

static tsr_status add_conflict(const looking *l, const missing *m, tsr_conflict conflict)
{
    conflict.tensor.value = l->v->places[m->tensor]; /* a place, until the end */
    conflict.dim = dim_of(l, m->tensor, m->factor);
    conflict.axis = m->axis;
    conflict.wanted = step_of(l, m->source, m->factor, m->axis);
    TSR_TRY(rule_of_winner(l, m, conflict.winner, conflict.wanted, &conflict.rule));
    return append(l, conflict);
}

/* ---- what kept it out ---- */

static bool overlaps(axis_view list, tsr_axis_ref axis)
{
    for (size_t i = 0; i < list.count; i++) {
        if (tsr_axis_overlaps(list.refs[i], axis)) {
            return true;
        }
    }
    return false;
}

/* Another factor of the tensor that has the axis; their number: none. */
static size_t find_taken(const looking *l, const missing *m)
{
    size_t g = 0;
    for (; g < l->now.rule->num_factors; g++) {
        const factor_state *f = state_of(l, m->tensor, g);
        if (g != m->factor && f->present &&
            (overlaps(f->axes, m->axis) || overlaps(f->overflow, m->axis))) {
            break;
        }
    }
    return g;
}

/* All that the tensor itself has against an axis. */
typedef struct refusal {
    tsr_conflict reasons[5];
    size_t count;
} refusal;

static void add_reason(refusal *r, tsr_conflict_kind kind, uint32_t winner, uint32_t annotation)
{
    r->reasons[r->count++] =
        (tsr_conflict){.kind = kind, .winner = winner, .annotation = annotation};
}

/* What annotations say, which holds at all times. */
static void add_annotated_reasons(const looking *l, const missing *m, refusal *r)
{
    const tsr_sharding *sharding = l->v->shardings[m->tensor];
    const uint32_t annotation = l->log->annotation_of[l->v->places[m->tensor]];
    if (sharding == NULL) {
        return;
    }
    if (overlaps((axis_view){sharding->replicated, sharding->num_replicated}, m->axis) ||
        overlaps((axis_view){sharding->unreduced, sharding->num_unreduced}, m->axis)) {
        add_reason(r, TSR_CONFLICT_REPLICATED, 0, annotation);
    }
    const size_t dim = dim_of(l, m->tensor, m->factor);
    if (sharding->dims[dim].ragged != NULL) { /* its own, or handed on from an annotation */
        const uint32_t step =
            provenance_find_step(l->log, l->v->places[m->tensor], dim, sharding->dims[dim].axes[0]);
        add_reason(r, TSR_CONFLICT_RAGGED, 0, l->log->steps[step].step.annotation);
    } else if (state_of(l, m->tensor, m->factor)->closed) {
        add_reason(r, TSR_CONFLICT_CLOSED, 0, annotation);
    }
}

/* Whether the factor cannot be cut by the axis after those before it. */
static bool is_indivisible(const looking *l, const missing *m)
{
    const factor_state *f = state_of(l, m->tensor, m->factor);
    const tsr_axis_ref *has = state_of(l, m->source, m->factor)->axes.refs;
    const int64_t shards = tsr_axes_size(has, m->at) * m->axis.size;
    return f->overflow.count > 0 ||
           (!f->minor_most && l->now.rule->factors[m->factor].size % shards != 0);
}

static refusal reasons_of(const looking *l, const missing *m)
{
    const factor_state *f = state_of(l, m->tensor, m->factor);
    const size_t taken = find_taken(l, m);
    refusal r = {.count = 0};
    add_annotated_reasons(l, m, &r);
    if (f->axes.count > m->at && !tsr_axis_is_prefix(f->axes.refs[m->at], m->axis)) {
        add_reason(&r, TSR_CONFLICT_DISAGREE, step_of(l, m->tensor, m->factor, f->axes.refs[m->at]),
                   0);
    }
    if (taken < l->now.rule->num_factors) {
        add_reason(&r, TSR_CONFLICT_TAKEN, step_of(l, m->tensor, taken, m->axis), 0);
    }
    if (r.count == 0 && is_indivisible(l, m)) {
        add_reason(&r, TSR_CONFLICT_INDIVISIBLE, 0, 0);
    }
    return r;
}

/* A tensor that has other axes than the source from the missing one on; their number: none. */
static size_t find_rival(const looking *l, const missing *m)
{
    const axis_view has = state_of(l, m->source, m->factor)->axes;
    size_t t = 0;
    for (; t < l->now.num_tensors; t++) {
        const factor_state *f = state_of(l, t, m->factor);
        if (t != m->tensor && t != m->source && f->present && !is_prefix_or_equal(f->axes, has) &&
            !is_prefix_or_equal(has, f->axes)) {
            break;
        }
    }
    return t;
}

static tsr_status add_conflicts(const looking *l, const missing *m, const refusal *r)
{
    for (size_t i = 0; i < r->count; i++) {
        TSR_TRY(add_conflict(l, m, r->reasons[i]));
    }
    return TSR_OK;
}

/* Two others that differ, so that this one gets neither; false: there are none. */
static bool is_undecided(const looking *l, const missing *m, tsr_conflict *out)
{
    const size_t rival = find_rival(l, m);
    if (rival == l->now.num_tensors) {
        return false;
    }
    const axis_view has = state_of(l, rival, m->factor)->axes;
    const size_t at = m->at < has.count ? m->at : has.count - 1;
    *out = (tsr_conflict){.kind = TSR_CONFLICT_UNDECIDED,
                          .winner = step_of(l, rival, m->factor, has.refs[at])};
    return true;
}

static tsr_status explain_missing(const looking *l, const missing *m)
{
    tsr_conflict conflict = {.kind = TSR_CONFLICT_BLOCKED};
    if (direction_of(&l->now, m->factor) == TSR_DIRECTION_NONE) {
        return add_conflict(l, m, conflict);
    }
    const refusal own = reasons_of(l, m);
    if (own.count > 0) {
        return add_conflicts(l, m, &own);
    }
    if (!is_undecided(l, m, &conflict)) {
        conflict = (tsr_conflict){.kind = TSR_CONFLICT_HELD};
    }
    return add_conflict(l, m, conflict);
}

/* The first axis that the source has for a factor beyond what the tensor has; false: none. */
static bool find_missing(const looking *l, missing *m)
{
    const axis_view has = state_of(l, m->tensor, m->factor)->axes;
    const axis_view source = state_of(l, m->source, m->factor)->axes;
    m->at = 0;
    while (m->at < has.count && m->at < source.count &&
           axis_same(&has.refs[m->at], &source.refs[m->at])) {
        m->at++;
    }
    if (m->at == source.count) {
        return false;
    }
    m->axis = source.refs[m->at];
    if (m->at < has.count && tsr_axis_is_prefix(m->axis, has.refs[m->at])) {
        return false; /* the tensor has more */
    }
    if (m->at < has.count && tsr_axis_is_prefix(has.refs[m->at], m->axis)) {
        const int64_t size = has.refs[m->at].size;
        m->axis = tsr_axis_sub((size_t)m->axis.axis, m->axis.pre * size, m->axis.size / size);
    }
    return true;
}

/* Of a factor: what each tensor lacks of the others; of those that have the same, the first. */
static tsr_status look_at_factor(const looking *l, size_t factor)
{
    for (size_t t = 0; t < l->now.num_tensors; t++) {
        missing last = {.at = SIZE_MAX};
        for (size_t u = 0; state_of(l, t, factor)->present && u < l->now.num_tensors; u++) {
            missing m = {.factor = factor, .tensor = t, .source = u};
            if (u == t || l->v->places[u] == l->v->places[t] || !state_of(l, u, factor)->present ||
                !find_missing(l, &m) || (m.at == last.at && axis_same(&m.axis, &last.axis))) {
                continue;
            }
            TSR_TRY(explain_missing(l, &m));
            last = m;
        }
    }
    return TSR_OK;
}

/* Of a factor that is ragged in a tensor: the others that have not the same sizes. */
static tsr_status look_at_sizes(const looking *l, size_t factor)
{
    static const tsr_conflict not_handed_on = {.kind = TSR_CONFLICT_SIZES};
    for (size_t u = 0; u < l->now.num_tensors; u++) {
        const size_t from = state_of(l, u, factor)->present ? dim_of(l, u, factor) : 0;
        const tsr_sharding *ragged = l->v->shardings[u];
        if (ragged == NULL || !state_of(l, u, factor)->present ||
            ragged->dims[from].ragged == NULL) {
            continue;
        }
        for (size_t t = 0; t < l->now.num_tensors; t++) {
            const missing m = {
                .factor = factor, .tensor = t, .source = u, .axis = ragged->dims[from].axes[0]};
            const tsr_sharding *s = l->v->shardings[t];
            if (t != u && state_of(l, t, factor)->present &&
                (s == NULL || s->dims[dim_of(l, t, factor)].ragged == NULL)) {
                const refusal own = reasons_of(l, &m);
                TSR_TRY(own.count > 0 ? add_conflicts(l, &m, &own)
                                      : add_conflict(l, &m, not_handed_on));
            }
        }
    }
    return TSR_OK;
}

/* Nothing propagates between meshes: each tensor against the first one of another mesh. */
static tsr_status look_at_meshes(const looking *l)
{
    for (size_t t = 0; t < l->v->count; t++) {
        for (size_t u = 0; u < l->v->count; u++) {
            const tsr_sharding *const pair[] = {l->v->shardings[t], l->v->shardings[u]};
            const uint32_t step = l->log->first[l->v->places[u]];
            if (step != 0 && pair[0] != NULL && pair[1] != NULL &&
                tsr_sharding_common_mesh(pair, 2, false) == NULL) {
                TSR_TRY(append(l, (tsr_conflict){.kind = TSR_CONFLICT_MESHES,
                                                 .tensor.value = l->v->places[t],
                                                 .axis = l->log->steps[step].step.axis,
                                                 .wanted = step}));
                break;
            }
        }
    }
    return TSR_OK;
}

/* A constraint or manual computation is written to what it uses, unless that has an annotation. */
static tsr_status look_at_demands(const looking *l)
{
    const propagation *s = l->s;
    const tsr_program *p = s->w.p;
    if (!op_is(p, l->op, OP_SDY_SHARDING_CONSTRAINT) &&
        !op_is(p, l->op, OP_SDY_MANUAL_COMPUTATION)) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < program_op(p, l->op)->num_operands; i++) {
        const uint32_t place = s->place[op_operand(p, l->op, i)];
        const uint32_t annotation = l->log->annotation_of[place];
        if (annotation != 0 && l->log->annotations[annotation].op != l->op) {
            TSR_TRY(append(l, (tsr_conflict){.kind = TSR_CONFLICT_ANNOTATED,
                                             .tensor.value = place,
                                             .annotation = annotation}));
        }
    }
    return TSR_OK;
}

static tsr_status look(propagation *s, why_log *log, uint32_t op, const visit_plan *v)
{
    looking l = {.s = s, .log = log, .op = op, .v = v};
    TSR_TRY(look_at_demands(&l));
    if (v->how.rule == NULL) {
        return TSR_OK;
    }
    const tsr_mesh *mesh = tsr_sharding_common_mesh(v->shardings, v->count, false);
    if (mesh == NULL || tsr_mesh_is_maximal(mesh)) {
        return look_at_meshes(&l);
    }
    TSR_TRY(project(s->w.ctx, s->w.scratch, &v->how, mesh, v->shardings, &l.now));
    for (size_t f = 0; f < v->how.rule->num_factors; f++) {
        TSR_TRY(look_at_factor(&l, f));
        TSR_TRY(look_at_sizes(&l, f));
    }
    return TSR_OK;
}

static tsr_status look_at_result(propagation *s, const visit_plan *v, void *state)
{
    return look(s, state, s->main, v);
}

tsr_status conflicts_find_at(propagation *s, why_log *log, uint32_t op)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    const int level = s->level;
    visit_plan v;
    s->level = -1; /* in all directions */
    tsr_status status = visit_plan_make(s, op, &v);
    if (status >= 0) {
        status = look(s, log, op, &v);
    }
    s->level = level;
    tsr_arena_reset(s->w.scratch, mark);
    return status;
}

tsr_status conflicts_find(propagation *s, why_log *log)
{
    const tsr_program *p = s->w.p;
    for (uint32_t op = op_walk_next(p, p->module, p->module); op != 0;
         op = op_walk_next(p, p->module, op)) {
        TSR_TRY(conflicts_find_at(s, log, op));
    }
    return visit_main_results(s, look_at_result, log);
}
