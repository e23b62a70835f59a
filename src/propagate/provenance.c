/* Steps: which axis came to which dimension, through what, from which annotation. */
#include "propagate/provenance.h"

#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "propagate/debug.h"

/* ---- lists ---- */

static tsr_status add_step(propagation *s, why_log *log, uint32_t place, tsr_axis_step step)
{
    void *items = log->steps;
    if (!grow_array(s->w.arena, &items, log->count, &log->room, sizeof *log->steps)) {
        return diag_nomem(s->w.ctx);
    }
    log->steps = items;
    step.visit = log->visit;
    step.priority = s->priority;
    step.level = s->level;
    const uint32_t number = (uint32_t)log->count;
    log->steps[log->count++] = (placed_step){step, place};
    if (log->first[place] == 0) {
        log->first[place] = number;
    } else {
        log->steps[log->last[place]].step.next = number;
    }
    log->last[place] = number;
    return TSR_OK;
}

static tsr_status add_annotation(propagation *s, why_log *log, uint32_t place,
                                 tsr_annotation annotation)
{
    void *items = log->annotations;
    if (!grow_array(s->w.arena, &items, log->num_annotations, &log->annotation_room,
                    sizeof *log->annotations)) {
        return diag_nomem(s->w.ctx);
    }
    log->annotations = items;
    log->annotation_of[place] = (uint32_t)log->num_annotations;
    log->annotations[log->num_annotations++] = annotation;
    return TSR_OK;
}

/* ---- annotations ---- */

/* What puts a sharding on an edge: the op or the function that the edge belongs to. */
static tsr_annotation annotation_of_edge(const tsr_program *p, uint32_t edge)
{
    const uint32_t owner = op_operand(p, edge, 0);
    const uint32_t op = value_op(p, owner);
    const uint32_t parent = op != 0 ? op : block_parent(p, value_block(p, owner));
    const bool computes =
        op_is(p, parent, OP_SDY_MANUAL_COMPUTATION) || op_is(p, parent, OP_SDY_NAMED_COMPUTATION);
    tsr_annotation_kind kind = TSR_ANNOTATION_OP;
    if (op == 0) {
        kind = computes ? TSR_ANNOTATION_INPUT : TSR_ANNOTATION_ARGUMENT;
    } else if (computes) {
        kind = TSR_ANNOTATION_OUTPUT;
    }
    return (tsr_annotation){.kind = kind, .op = parent, .index = program_value(p, owner)->index};
}

/*
 * What puts a sharding on a value that had none before the program was imported: a constraint, or a
 * manual computation, that uses it.
 */
static tsr_annotation annotation_of_users(const tsr_program *p, uint32_t value)
{
    for (uint32_t use = value_first_use(p, value); use != 0; use = use_next(p, use)) {
        const uint32_t user = use_op(p, use);
        if (op_is(p, user, OP_SDY_SHARDING_CONSTRAINT)) {
            return (tsr_annotation){.kind = TSR_ANNOTATION_CONSTRAINT, .op = user};
        }
        if (op_is(p, user, OP_SDY_MANUAL_COMPUTATION)) {
            return (tsr_annotation){
                .kind = TSR_ANNOTATION_INPUT, .op = user, .index = use_index(p, use)};
        }
    }
    return (tsr_annotation){0};
}

static tsr_annotation annotation_of_value(const propagation *s, const provenance_request *r,
                                          uint32_t value)
{
    const tsr_program *p = s->w.p;
    const uint32_t op = value_op(p, value);
    const size_t index = program_value(p, value)->index;
    if (value >= r->num_annotated || !r->annotated[value]) {
        const tsr_annotation used = annotation_of_users(p, value);
        if (used.op != 0) {
            return used;
        }
    }
    if (op == 0) {
        const uint32_t parent = block_parent(p, value_block(p, value));
        const bool is_func = op_is(p, parent, OP_FUNC_FUNC);
        return (tsr_annotation){.kind = is_func ? TSR_ANNOTATION_ARGUMENT : TSR_ANNOTATION_INPUT,
                                .op = parent,
                                .index = index};
    }
    if (op_is(p, op, OP_SDY_DATA_FLOW_EDGE)) {
        return annotation_of_edge(p, op);
    }
    return (tsr_annotation){.kind = op_is(p, op, OP_SDY_SHARDING_CONSTRAINT)
                                        ? TSR_ANNOTATION_CONSTRAINT
                                        : TSR_ANNOTATION_OP,
                            .op = op,
                            .index = index};
}

static const func_results *func_of_place(const propagation *s, uint32_t place)
{
    size_t i = 0;
    while (place - s->funcs[i].first >= s->funcs[i].count || place < s->funcs[i].first) {
        i++;
    }
    return &s->funcs[i];
}

static tsr_annotation annotation_at(const propagation *s, const provenance_request *r,
                                    uint32_t place)
{
    if (place < s->num_values) {
        return annotation_of_value(s, r, place);
    }
    const func_results *f = func_of_place(s, place);
    return (tsr_annotation){
        .kind = TSR_ANNOTATION_RESULT, .op = f->func, .index = place - f->first};
}

/* The sharding of a place as what is outside sees it: with manual axes. */
static tsr_status seen_outside(propagation *s, uint32_t place, const tsr_sharding **sharding)
{
    const uint32_t op = place < s->num_values ? value_op(s->w.p, place) : 0;
    return op != 0 && op_is(s->w.p, op, OP_SDY_DATA_FLOW_EDGE)
               ? edge_outside(&s->w, op, *sharding, sharding)
               : TSR_OK;
}

static tsr_status start_place(propagation *s, why_log *log, uint32_t place)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    const tsr_sharding *sharding = s->before[place];
    TSR_TRY(seen_outside(s, place, &sharding));
    tsr_annotation annotation = annotation_at(s, log->request, place);
    annotation.sharding = sharding;
    TSR_TRY(add_annotation(s, log, place, annotation));
    for (size_t d = 0; d < sharding->rank; d++) {
        for (size_t i = 0; i < sharding->dims[d].num_axes; i++) {
            const int64_t priority = sharding->dims[d].priority;
            TSR_TRY(add_step(s, log, place,
                             (tsr_axis_step){.kind = TSR_AXIS_ANNOTATED,
                                             .dim = d,
                                             .axis = sharding->dims[d].axes[i],
                                             .annotation = log->annotation_of[place]}));
            log->steps[log->count - 1].step.priority = priority > 0 ? priority : 0;
        }
    }
    tsr_arena_reset(s->w.scratch, mark);
    return TSR_OK;
}

/* Members of groups that had no sharding have got that of another. */
static tsr_status start_groups(propagation *s, why_log *log)
{
    for (size_t g = 0; g < s->groups.count; g++) {
        uint32_t from = 0;
        for (uint32_t i = 0; i < s->groups.counts[g] && from == 0; i++) {
            const uint32_t place = s->place[s->groups.members[g][i]];
            from = s->before[place] != NULL ? place : 0;
        }
        for (uint32_t i = 0; i < s->groups.counts[g] && from != 0; i++) {
            const uint32_t place = s->place[s->groups.members[g][i]];
            if (s->before[place] == NULL) {
                log->annotation_of[place] = log->annotation_of[from];
                TSR_TRY(provenance_share(s, log, from, place));
            }
        }
    }
    return TSR_OK;
}

static uint32_t *zeros(tsr_arena *arena, size_t count)
{
    uint32_t *list = ARENA_ARRAY(arena, uint32_t, count + 1);
    if (list != NULL) {
        memset(list, 0, (count + 1) * sizeof *list);
    }
    return list;
}

tsr_status provenance_start(propagation *s, const provenance_request *request, why_log *out)
{
    *out = (why_log){.request = request,
                     .first = zeros(s->w.arena, s->num_places),
                     .last = zeros(s->w.arena, s->num_places),
                     .annotation_of = zeros(s->w.arena, s->num_places)};
    if (out->first == NULL || out->last == NULL || out->annotation_of == NULL) {
        return diag_nomem(s->w.ctx);
    }
    TSR_TRY(add_annotation(s, out, 0, (tsr_annotation){0}));
    TSR_TRY(add_step(s, out, 0, (tsr_axis_step){0}));
    for (uint32_t place = 1; place < s->num_places; place++) {
        if (s->before[place] != NULL) {
            TSR_TRY(start_place(s, out, place));
        }
    }
    TSR_TRY(start_groups(s, out));
    out->visit = 1;
    return TSR_OK;
}

/* ---- visits ---- */

static bool dim_contains(const tsr_dim *dim, tsr_axis_ref axis)
{
    for (size_t i = 0; i < dim->num_axes; i++) {
        if (tsr_axis_contains(dim->axes[i], axis)) {
            return true;
        }
    }
    return false;
}

/* A gain under way. */
typedef struct gaining {
    propagation *s;
    why_log *log;
    const visit_plan *v;
    uint32_t to;
    size_t dim;
    const tsr_dim *after;
    uint32_t from;
    size_t from_dim;
} gaining;

static tsr_axis_step_kind kind_of(const propagation *s, const visit_plan *v)
{
    if (s->visiting == 0) {
        return TSR_AXIS_BY_RETURN;
    }
    return v->edge != 0 ? TSR_AXIS_BY_EDGE : TSR_AXIS_BY_OP;
}

/* An axis, by the parts of it that the source has from one step each. */
static tsr_status gain_axis(const gaining *g, tsr_axis_ref axis)
{
    const propagation *s = g->s;
    for (uint32_t i = g->log->first[g->from]; i != 0; i = g->log->steps[i].step.next) {
        const tsr_axis_step source = g->log->steps[i].step;
        tsr_axis_ref part;
        if (source.dim == g->from_dim && tsr_axis_overlap(source.axis, axis, &part) &&
            dim_contains(g->after, part)) {
            TSR_TRY(add_step(g->s, g->log, g->to,
                             (tsr_axis_step){.kind = kind_of(s, g->v),
                                             .dim = g->dim,
                                             .axis = part,
                                             .op = s->visiting != 0 ? s->visiting : s->main,
                                             .from = i,
                                             .annotation = source.annotation}));
        }
    }
    return TSR_OK;
}

/* What a factor has beyond what it had. */
static tsr_status gain_axes(const gaining *g, axis_view had, axis_view has)
{
    for (size_t i = had.count > 0 ? had.count - 1 : 0; i < has.count; i++) {
        tsr_axis_ref axis = has.refs[i];
        if (i < had.count && axis_same(&had.refs[i], &axis)) {
            continue;
        }
        if (i < had.count) { /* the last one was a part that begins it */
            const int64_t size = had.refs[i].size;
            axis = tsr_axis_sub((size_t)axis.axis, axis.pre * size, axis.size / size);
        }
        TSR_TRY(gain_axis(g, axis));
    }
    return TSR_OK;
}

static tsr_status gain_dim(gaining *g, const projection *old, const projection *now, size_t tensor)
{
    const tsr_rule_dim *dim = &now->rule->tensors[tensor].dims[g->dim];
    for (size_t i = 0; i < dim->num_factors; i++) {
        const size_t f = dim->factors[i];
        const axis_view had = old->tensors[tensor].factors[f].axes;
        const axis_view has = now->tensors[tensor].factors[f].axes;
        const size_t source = is_same_list(had, has) ? old->num_tensors : find_source(old, f, has);
        if (source < old->num_tensors) {
            g->from = g->v->places[source];
            g->from_dim = rule_dim_of_factor(&now->rule->tensors[source], f);
            TSR_TRY(gain_axes(g, had, has));
        }
    }
    return TSR_OK;
}

/* Whether a later change is of the same value: an op may use one several times. */
static bool is_overwritten(const visit_plan *v, const engine_changes *changes, size_t i)
{
    for (size_t k = i + 1; k < changes->count; k++) {
        if (v->places[changes->list[k].tensor] == v->places[changes->list[i].tensor]) {
            return true;
        }
    }
    return false;
}

tsr_status provenance_visit(propagation *s, why_log *log, const visit_plan *v,
                            const projection *old, const engine_changes *changes)
{
    const projection *now = engine_last_visit(s->w.engine);
    for (size_t i = 0; i < changes->count; i++) {
        const engine_change *c = &changes->list[i];
        for (size_t d = 0; d < c->after->rank && !is_overwritten(v, changes, i); d++) {
            gaining g = {.s = s,
                         .log = log,
                         .v = v,
                         .to = v->places[c->tensor],
                         .dim = d,
                         .after = &c->after->dims[d]};
            TSR_TRY(gain_dim(&g, old, now, c->tensor));
        }
    }
    log->visit++;
    return TSR_OK;
}

tsr_status provenance_hand_on(propagation *s, why_log *log, const visit_plan *v,
                              const tensor_dim ends[2])
{
    const tsr_dim *dim = &v->shardings[ends[1].tensor]->dims[ends[1].dim];
    const gaining g = {.s = s,
                       .log = log,
                       .v = v,
                       .to = v->places[ends[1].tensor],
                       .dim = ends[1].dim,
                       .after = dim,
                       .from = v->places[ends[0].tensor],
                       .from_dim = ends[0].dim};
    for (size_t i = 0; i < dim->num_axes; i++) {
        TSR_TRY(gain_axis(&g, dim->axes[i]));
    }
    log->visit++;
    return TSR_OK;
}

uint32_t provenance_find_step(const why_log *log, uint32_t place, size_t dim, tsr_axis_ref axis)
{
    for (uint32_t i = log->first[place]; i != 0; i = log->steps[i].step.next) {
        if (log->steps[i].step.dim == dim && tsr_axis_overlaps(log->steps[i].step.axis, axis)) {
            return i;
        }
    }
    return 0;
}

tsr_status provenance_share(propagation *s, why_log *log, uint32_t from, uint32_t to)
{
    for (uint32_t i = log->first[from]; i != 0; i = log->steps[i].step.next) {
        tsr_axis_step step = log->steps[i].step;
        if (provenance_find_step(log, to, step.dim, step.axis) != 0 ||
            !dim_contains(&s->shardings[to]->dims[step.dim], step.axis)) {
            continue;
        }
        step.kind = TSR_AXIS_BY_GROUP;
        step.op = 0;
        step.from = i;
        step.next = 0;
        TSR_TRY(add_step(s, log, to, step));
    }
    return TSR_OK;
}

/* ---- the end ---- */

/* The value that a place stands for: of an edge its owner. */
static tsr_ir_tensor tensor_at(const propagation *s, uint32_t place)
{
    const tsr_program *p = s->w.p;
    if (place >= s->num_values) {
        const func_results *f = func_of_place(s, place);
        return (tsr_ir_tensor){.func = f->func, .index = place - f->first};
    }
    const uint32_t op = place != 0 ? value_op(p, place) : 0;
    const bool is_edge = op != 0 && op_is(p, op, OP_SDY_DATA_FLOW_EDGE);
    return (tsr_ir_tensor){.value = is_edge ? op_operand(p, op, 0) : place};
}

/* Of an edge, what it belongs to. */
static uint32_t op_shown(const tsr_program *p, uint32_t op)
{
    if (op == 0 || !op_is(p, op, OP_SDY_DATA_FLOW_EDGE)) {
        return op;
    }
    const uint32_t owner = op_operand(p, op, 0);
    return value_op(p, owner) != 0 ? value_op(p, owner) : block_parent(p, value_block(p, owner));
}

static tsr_status give_steps(propagation *s, why_log *log)
{
    tsr_arena *arena = log->request->arena;
    tsr_axis_step *steps = ARENA_ARRAY(arena, tsr_axis_step, log->count);
    uint32_t *first = zeros(arena, tsr_program_num_values(s->w.p) + 1);
    uint32_t *results = zeros(arena, s->num_places - s->num_values);
    if (steps == NULL || first == NULL || results == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (size_t i = 0; i < log->count; i++) {
        steps[i] = log->steps[i].step;
        steps[i].tensor = tensor_at(s, log->steps[i].place);
        steps[i].op = op_shown(s->w.p, steps[i].op);
    }
    for (uint32_t value = 1; value < s->num_values; value++) {
        first[value] = log->first[s->place[value]];
    }
    size_t num_results = 0;
    for (uint32_t place = s->num_values; place < s->num_places; place++) {
        results[num_results] = log->first[place];
        num_results += log->first[place] != 0;
    }
    log->request->out->result_steps = results;
    log->request->out->num_result_steps = num_results;
    log->request->out->steps = steps;
    log->request->out->num_steps = log->count - 1;
    log->request->out->first_steps = first;
    log->request->out->num_first_steps = tsr_program_num_values(s->w.p) + 1;
    return TSR_OK;
}

static tsr_status give_annotations(propagation *s, why_log *log)
{
    tsr_arena *arena = log->request->arena;
    tsr_annotation *list = arena_copy(arena, log->annotations, log->num_annotations, sizeof *list);
    if (list == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t place = 1; place < s->num_places; place++) {
        if (s->before[place] != NULL) {
            list[log->annotation_of[place]].tensor = tensor_at(s, place);
        }
    }
    for (size_t i = 1; i < log->num_annotations; i++) {
        TSR_TRY(sharding_copy(s->w.ctx, arena, list[i].sharding, &list[i].sharding));
    }
    log->request->out->annotations = list;
    log->request->out->num_annotations = log->num_annotations - 1;
    return TSR_OK;
}

tsr_status provenance_finish(propagation *s, why_log *log)
{
    *log->request->out = (tsr_provenance){0};
    TSR_TRY(conflicts_find(s, log));
    for (size_t i = 0; i < log->num_conflicts; i++) {
        log->conflicts[i].tensor = tensor_at(s, log->conflicts[i].tensor.value);
        log->conflicts[i].op = op_shown(s->w.p, log->conflicts[i].op);
    }
    const tsr_conflict *list =
        arena_copy(log->request->arena, log->conflicts, log->num_conflicts, sizeof *list);
    if (list == NULL && log->num_conflicts > 0) {
        return diag_nomem(s->w.ctx);
    }
    log->request->out->conflicts = list;
    log->request->out->num_conflicts = log->num_conflicts;
    TSR_TRY(give_steps(s, log));
    return give_annotations(s, log);
}

/* ---- asking ---- */

uint32_t tsr_provenance_first(const tsr_provenance *why, tsr_ir_tensor tensor)
{
    GUARD(tsr_provenance_first);
    if (tensor.value != 0) {
        return tensor.value < why->num_first_steps ? why->first_steps[tensor.value] : 0;
    }
    for (size_t i = 0; i < why->num_result_steps; i++) {
        const tsr_ir_tensor *t = &why->steps[why->result_steps[i]].tensor;
        if (t->func == tensor.func && t->index == tensor.index) {
            return why->result_steps[i];
        }
    }
    return 0;
}
