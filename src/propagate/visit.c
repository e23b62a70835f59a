/* One visit: the shardings of an op's tensors, through its rule, back to their places. */
#include "base/arena.h"
#include "ir/message.h"
#include "ir/row.h"
#include "propagate/state.h"

static tsr_status make_tensors(propagation *s, size_t count, visit_plan *out)
{
    out->places = ARENA_ARRAY(s->w.scratch, uint32_t, count + 1);
    out->shardings = ARENA_ARRAY(s->w.scratch, const tsr_sharding *, count + 1);
    out->count = 0;
    return out->places != NULL && out->shardings != NULL ? TSR_OK : diag_nomem(s->w.ctx);
}

/* Whether the tensor has a sharding. */
static bool add_tensor(const propagation *s, visit_plan *v, uint32_t place)
{
    v->places[v->count] = place;
    v->shardings[v->count] = s->shardings[place];
    return v->shardings[v->count++] != NULL;
}

/*
 * Writes a sharding to a place, and what the visit made of it to all that are in a group with it:
 * at the edge of a manual computation that is another, as the reference has it.
 */
static tsr_status write_and_notify(propagation *s, uint32_t place, const tsr_sharding *sharding,
                                   const tsr_sharding *visited)
{
    const bool notifies = s->visiting != 0;
    TSR_TRY(places_write(s, place, sharding));
    if (notifies) {
        TSR_TRY(sweep_notify(s, place));
    }
    const uint32_t group =
        place < s->num_values && s->groups.group_of != NULL ? s->groups.group_of[place] : 0;
    for (uint32_t i = 0; group != 0 && i < s->groups.counts[group - 1]; i++) {
        const uint32_t other = s->groups.members[group - 1][i];
        if (other != place) {
            TSR_TRY(places_write(s, other, visited));
            TSR_TRY(debug_share(s, place, other));
            if (notifies) {
                TSR_TRY(sweep_notify(s, other));
            }
        }
    }
    return TSR_OK;
}

static tsr_status write_changes(propagation *s, const visit_plan *v, const engine_changes *changes)
{
    if (changes->count > 0 && s->debug != NULL) {
        TSR_TRY(debug_visit(s, v, changes));
    }
    for (size_t i = 0; i < changes->count; i++) {
        const engine_change *c = &changes->list[i];
        const tsr_sharding *after = c->after;
        const uint32_t place = v->places[c->tensor];
        if (v->edge != 0 && c->tensor + 1 == v->count) {
            TSR_TRY(edge_inside(&s->w, v->edge, after, &after));
            if (after == s->shardings[place]) {
                continue;
            }
        }
        TSR_TRY(write_and_notify(s, place, after, c->after));
    }
    return TSR_OK;
}

/* An op with a rule of its own. */
static tsr_status plan_by_rule(propagation *s, uint32_t op, const name_info *info, visit_plan *out)
{
    const tsr_program *p = s->w.p;
    const ir_op *o = program_op(p, op);
    const tsr_rule *rule = NULL;
    visit_direction way;
    TSR_TRY(rule_of_op(s, op, &rule));
    if (rule == NULL) {
        return TSR_OK;
    }
    TSR_TRY(priorities_direction(s, op, rule, &way));
    if (way.directions == NULL && way.direction == TSR_DIRECTION_NONE) {
        return TSR_OK;
    }
    TSR_TRY(make_tensors(s, o->num_operands + o->num_results, out));
    bool any = false;
    for (uint32_t i = 0; i < o->num_operands; i++) {
        any = add_tensor(s, out, s->place[op_operand(p, op, i)]) || any;
    }
    for (uint32_t i = 0; i < o->num_results; i++) {
        any = add_tensor(s, out, s->place[o->results + i]) || any;
    }
    if (any) {
        out->how = (visit_op){.rule = rule,
                              .strategy = s->strategy,
                              .direction = way.direction,
                              .directions = way.directions,
                              .conservative = s->options->conservative,
                              .elementwise = rule_op_is_elementwise(s, op, info)};
    }
    return TSR_OK;
}

static tsr_direction barrier_direction(const tsr_program *p, uint32_t op)
{
    static const tsr_direction directions[] = {TSR_DIRECTION_NONE, TSR_DIRECTION_FORWARD,
                                               TSR_DIRECTION_BACKWARD, TSR_DIRECTION_BOTH};
    int64_t value = 0;
    return attr_as_integer(p, op_property(p, op, "allowed_direction"), &value) && value >= 0 &&
                   value < 4
               ? directions[value]
               : TSR_DIRECTION_NONE;
}

static tsr_status plan_barrier(propagation *s, uint32_t op, visit_plan *out)
{
    const tsr_program *p = s->w.p;
    const uint32_t type = value_type(p, op_result(p, op, 0));
    const tsr_rule *rule = NULL;
    if (!type_is_static(p, type)) {
        return TSR_OK;
    }
    TSR_TRY(rule_identity(s, type, 1, &rule));
    TSR_TRY(make_tensors(s, 2, out));
    (void)add_tensor(s, out, s->place[op_operand(p, op, 0)]);
    (void)add_tensor(s, out, s->place[op_result(p, op, 0)]);
    out->how = (visit_op){.rule = rule,
                          .strategy = s->strategy,
                          .direction = barrier_direction(p, op),
                          .elementwise = true};
    return TSR_OK;
}

static tsr_status plan_edge(propagation *s, uint32_t op, visit_plan *out)
{
    const tsr_program *p = s->w.p;
    const uint32_t value = op_result(p, op, 0);
    const uint32_t type = value_type(p, value);
    uint32_t *sources = NULL;
    size_t count = 0;
    const tsr_rule *rule = NULL;
    visit_direction way;
    if (!type_is_static(p, type)) {
        return TSR_OK;
    }
    TSR_TRY(priorities_direction(s, op, NULL, &way));
    if (way.direction == TSR_DIRECTION_NONE) {
        return TSR_OK;
    }
    TSR_TRY(edge_sources(s, op, &sources, &count));
    if (count == 0) {
        return TSR_OK;
    }
    TSR_TRY(rule_identity(s, type, count, &rule));
    TSR_TRY(make_tensors(s, count + 1, out));
    for (size_t i = 0; i < count; i++) {
        (void)add_tensor(s, out, s->place[sources[i]]);
    }
    (void)add_tensor(s, out, value);
    TSR_TRY(edge_outside(&s->w, op, out->shardings[count], &out->shardings[count]));
    out->edge = op;
    out->how = (visit_op){.rule = rule, .strategy = s->strategy, .direction = way.direction};
    return TSR_OK;
}

tsr_status visit_plan_make(propagation *s, uint32_t op, visit_plan *out)
{
    const name_info *info = NULL;
    *out = (visit_plan){0};
    TSR_TRY(rule_name_of_op(s, op, &info));
    switch ((visit_kind)info->visit) {
    case VISIT_RULE:
        return plan_by_rule(s, op, info, out);
    case VISIT_BARRIER:
        return plan_barrier(s, op, out);
    case VISIT_EDGE:
    case VISIT_FUNC_EDGE:
        return plan_edge(s, op, out);
    case VISIT_NOTHING:
        break;
    }
    return TSR_OK;
}

static tsr_status carry_out(propagation *s, const visit_plan *v)
{
    engine_changes changes;
    if (v->how.rule == NULL) {
        return TSR_OK;
    }
    TSR_TRY(engine_visit(s->w.engine, &v->how, v->shardings, &changes));
    return write_changes(s, v, &changes);
}

tsr_status visit_one(propagation *s, uint32_t op)
{
    visit_plan v;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    tsr_status status = visit_plan_make(s, op, &v);
    if (status >= 0) {
        status = carry_out(s, &v);
    }
    tsr_arena_reset(s->w.scratch, mark);
    return status;
}

static const func_results *results_of(const propagation *s, uint32_t func)
{
    for (size_t i = 0; i < s->num_funcs; i++) {
        if (s->funcs[i].func == func) {
            return &s->funcs[i];
        }
    }
    return NULL;
}

static tsr_status plan_result(propagation *s, uint32_t value, uint32_t place, visit_plan *out)
{
    const tsr_rule *rule = NULL;
    *out = (visit_plan){0};
    if (!type_is_static(s->w.p, value_type(s->w.p, value))) {
        return TSR_OK;
    }
    TSR_TRY(rule_identity(s, value_type(s->w.p, value), 1, &rule));
    TSR_TRY(make_tensors(s, 2, out));
    (void)add_tensor(s, out, s->place[value]);
    (void)add_tensor(s, out, place);
    out->how = (visit_op){.rule = rule, .strategy = s->strategy, .direction = TSR_DIRECTION_BOTH};
    return TSR_OK;
}

tsr_status visit_main_results(propagation *s, result_visitor visitor, void *state)
{
    const tsr_program *p = s->w.p;
    const uint32_t block = s->main != 0 ? op_entry_block(p, s->main, 0) : 0;
    const uint32_t last = block != 0 ? program_block(p, block)->last_op : 0;
    if (last == 0) {
        return TSR_OK;
    }
    const func_results *f = results_of(s, s->main);
    for (uint32_t i = 0; i < program_op(p, last)->num_operands && i < f->count; i++) {
        visit_plan v;
        const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
        TSR_TRY(plan_result(s, op_operand(p, last, i), f->first + i, &v));
        TSR_TRY(visitor(s, &v, state));
        tsr_arena_reset(s->w.scratch, mark);
    }
    return TSR_OK;
}

static tsr_status visit_result(propagation *s, const visit_plan *v, void *state)
{
    (void)state;
    return carry_out(s, v);
}

tsr_status visit_results(propagation *s)
{
    s->visiting = 0;
    return visit_main_results(s, visit_result, NULL);
}
