/* What a visit did, axis by axis: from which tensor of the op to which. */
#include "propagate/debug.h"

#include "base/arena.h"

/* An axis that a tensor got, and the tensor it is from. */
typedef struct gain {
    tsr_axis_ref axis;
    size_t source;
} gain;

typedef struct gains {
    gain *list;
    size_t count;
} gains;

static size_t find_gain(const gains *g, tsr_axis_ref axis)
{
    size_t i = 0;
    while (i < g->count && !tsr_axis_equal(g->list[i].axis, axis)) {
        i++;
    }
    return i;
}

static void forget(gains *g, tsr_axis_ref axis)
{
    const size_t found = find_gain(g, axis);
    if (found < g->count) {
        g->count--;
        for (size_t i = found; i < g->count; i++) {
            g->list[i] = g->list[i + 1];
        }
    }
}

size_t find_source(const projection *old, size_t factor, axis_view axes)
{
    size_t t = 0;
    while (t < old->num_tensors &&
           (!old->tensors[t].factors[factor].present ||
            !is_prefix_or_equal(axes, old->tensors[t].factors[factor].axes))) {
        t++;
    }
    return t;
}

/* The axes that a factor has beyond those it had; the last one is `last`. */
static void add_gains(gains *g, axis_view had, axis_view has, tsr_axis_ref last, size_t source)
{
    for (size_t i = had.count > 0 ? had.count - 1 : 0; i < has.count; i++) {
        const tsr_axis_ref axis = i + 1 == has.count ? last : has.refs[i];
        const bool is_new = i >= had.count || !tsr_axis_equal(had.refs[i], axis);
        if (is_new && find_gain(g, axis) == g->count) {
            g->list[g->count++] = (gain){axis, source};
        }
    }
}

/* What a dimension of a tensor got. A factor may continue the last axis of the one before. */
static void dim_gains(const projection *old, const projection *now, size_t tensor,
                      const tsr_rule_dim *dim, gains *g)
{
    const tsr_axis_ref *before = NULL;
    tsr_axis_ref last;
    for (size_t i = 0; i < dim->num_factors; i++) {
        const size_t f = dim->factors[i];
        const factor_state *was = &old->tensors[tensor].factors[f];
        const factor_state *is = &now->tensors[tensor].factors[f];
        if (!was->present || is->axes.count == 0 || is_same_list(was->axes, is->axes)) {
            continue;
        }
        tsr_axis_ref end = is->axes.refs[is->axes.count - 1];
        if (before != NULL && tsr_axis_can_merge(*before, end)) {
            forget(g, *before);
            (void)!tsr_axis_merge(now->mesh, *before, end, &end);
        }
        last = end;
        before = &last;
        const size_t source = find_source(old, f, is->axes);
        if (source < old->num_tensors) {
            add_gains(g, was->axes, is->axes, end, source);
        }
    }
}

/* How many axes a tensor can have got. */
static size_t most_gains(const projection *now, size_t tensor)
{
    size_t count = 0;
    for (size_t f = 0; f < now->rule->num_factors; f++) {
        const factor_state *state = &now->tensors[tensor].factors[f];
        count += state->present ? state->axes.count : 0;
    }
    return count;
}

static edge_value value_of(const tsr_rule *rule, size_t tensor)
{
    const bool is_result = tensor >= rule->num_operands;
    return (edge_value){is_result, (int64_t)(is_result ? tensor - rule->num_operands : tensor)};
}

/* Records what a tensor of the op under visit got. */
static tsr_status record_gains(propagation *s, const projection *now, size_t tensor,
                               const uint32_t *places, const gains *g)
{
    const uint32_t op = s->visiting != 0 ? s->visiting : s->main;
    for (size_t i = 0; i < g->count; i++) {
        const step_record record = {.axis = named_axis_of(now->mesh, g->list[i].axis),
                                    .source = value_of(now->rule, g->list[i].source),
                                    .target = value_of(now->rule, tensor)};
        if (s->debug->steps.first != NULL) {
            TSR_TRY(steps_add(&s->debug->steps, op, &record));
        }
        if (s->debug->origins.first != NULL) {
            /* the origins of a function's results are with the values returned */
            const uint32_t from = places[s->visiting != 0 ? g->list[i].source : 0];
            const uint32_t to = places[s->visiting != 0 ? tensor : 0];
            TSR_TRY(origins_pass_on(s, &s->debug->origins, from, to, &record.axis));
        }
    }
    return TSR_OK;
}

tsr_status debug_visit(propagation *s, const visit_plan *v, const engine_changes *changes)
{
    const projection *now = engine_last_visit(s->w.engine);
    const visit_op how = {.rule = now->rule};
    projection old;
    const tsr_sharding **before =
        ARENA_ARRAY(s->w.scratch, const tsr_sharding *, now->num_tensors + 1);
    if (before == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (size_t t = 0; t < now->num_tensors; t++) {
        before[t] = now->tensors[t].sharding;
    }
    TSR_TRY(project(s->w.ctx, s->w.scratch, &how, now->mesh, before, &old));
    if (s->options->why != NULL) {
        TSR_TRY(provenance_visit(s, &s->debug->why, v, &old, changes));
    }
    if (!s->options->steps && !s->options->origins) {
        return TSR_OK;
    }
    for (size_t t = 0; t < now->num_tensors; t++) {
        const tsr_rule_tensor *tensor = &now->rule->tensors[t];
        gains g = {.list = ARENA_ARRAY(s->w.scratch, gain, most_gains(now, t) + 1)};
        if (g.list == NULL) {
            return diag_nomem(s->w.ctx);
        }
        for (size_t d = 0; d < tensor->rank; d++) {
            dim_gains(&old, now, t, &tensor->dims[d], &g);
        }
        TSR_TRY(record_gains(s, now, t, v->places, &g));
    }
    s->debug->steps.step++;
    return TSR_OK;
}

tsr_status debug_start(propagation *s)
{
    if (!s->options->steps && !s->options->origins && s->options->why == NULL) {
        return TSR_OK;
    }
    s->debug = ARENA_NEW(s->w.arena, debug_log);
    if (s->debug == NULL) {
        return diag_nomem(s->w.ctx);
    }
    *s->debug = (debug_log){0};
    if (s->options->steps) {
        TSR_TRY(steps_start(&s->w, &s->debug->steps));
    }
    if (s->options->why != NULL) {
        TSR_TRY(provenance_start(s, s->options->why, &s->debug->why));
    }
    return s->options->origins ? origins_start(s, &s->debug->origins) : TSR_OK;
}

tsr_status debug_share(propagation *s, uint32_t from, uint32_t to)
{
    return s->debug != NULL && s->options->why != NULL
               ? provenance_share(s, &s->debug->why, from, to)
               : TSR_OK;
}

tsr_status debug_hand_on(propagation *s, const visit_plan *v, size_t from, size_t from_dim,
                         size_t to, size_t to_dim)
{
    return s->debug != NULL && s->options->why != NULL
               ? provenance_hand_on(s, &s->debug->why, v,
                                    (const tensor_dim[]){{from, from_dim}, {to, to_dim}})
               : TSR_OK;
}

tsr_status debug_erase(propagation *s, uint32_t op)
{
    return s->debug != NULL && s->options->why != NULL ? conflicts_find_at(s, &s->debug->why, op)
                                                       : TSR_OK;
}

tsr_status debug_store(propagation *s)
{
    if (s->debug == NULL) {
        return TSR_OK;
    }
    if (s->options->why != NULL) {
        TSR_TRY(provenance_finish(s, &s->debug->why));
    }
    if (s->options->steps) {
        TSR_TRY(steps_store(&s->debug->steps));
    }
    return s->options->origins ? origins_store(s, &s->debug->origins) : TSR_OK;
}
