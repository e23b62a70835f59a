/*
 * Explicit sizes. A ragged dimension is closed, and only ops that run on their operands in any
 * layout hand it on: elementwise ops and transposes, and what hands tensors on as they are. That
 * needs no strategy, so it is done before propagation, both ways, until nothing changes.
 */
#include "base/arena.h"
#include "factor/rule.h"
#include "propagate/state.h"

/* The first ragged dimension of a sharding from one on; its rank: none. */
static size_t ragged_from(const tsr_sharding *sharding, size_t dim)
{
    while (dim < sharding->rank && sharding->dims[dim].ragged == NULL) {
        dim++;
    }
    return dim;
}

static bool is_ragged(const tsr_sharding *sharding)
{
    return sharding != NULL && ragged_from(sharding, 0) < sharding->rank;
}

/* Whether each dimension of each tensor is a factor of its own, which all tensors have. */
static bool hands_sizes_on(const tsr_rule *rule)
{
    const size_t count = rule->num_operands + rule->num_results;
    for (size_t t = 0; t < count; t++) {
        if (rule->tensors[t].rank != rule->num_factors) {
            return false;
        }
        for (size_t d = 0; d < rule->tensors[t].rank; d++) {
            const tsr_rule_dim *dim = &rule->tensors[t].dims[d];
            if (dim->num_factors != 1 || rule->factors[dim->factors[0]].blocked ||
                rule->factors[dim->factors[0]].kind != TSR_FACTOR_PASS_THROUGH) {
                return false;
            }
        }
    }
    return true;
}

/* Whether a tensor can take a ragged dimension: it is open there and has none of the axes. */
static bool can_take(const tsr_sharding *to, size_t dim, const tsr_sharding *from,
                     const tsr_dim *ragged)
{
    if (to == NULL) {
        return true;
    }
    if (to->mesh != from->mesh || !to->dims[dim].open || to->dims[dim].num_axes > 0 ||
        tsr_axes_overlap(to->replicated, to->num_replicated, ragged->axes, ragged->num_axes) ||
        tsr_axes_overlap(to->unreduced, to->num_unreduced, ragged->axes, ragged->num_axes)) {
        return false;
    }
    for (size_t d = 0; d < to->rank; d++) {
        if (tsr_axes_overlap(to->dims[d].axes, to->dims[d].num_axes, ragged->axes,
                             ragged->num_axes)) {
            return false;
        }
    }
    return true;
}

/* One dimension of one tensor handed to another. */
typedef struct handing {
    propagation *s;
    const visit_plan *v;
    size_t from;
    size_t from_dim;
    size_t to;
    size_t to_dim;
} handing;

static tsr_status write_dim(const handing *h)
{
    propagation *s = h->s;
    const tsr_sharding *from = h->v->shardings[h->from];
    const tsr_sharding *to = h->v->shardings[h->to];
    const uint32_t place = h->v->places[h->to];
    if (to == NULL) { /* the type of a function's result is that of what is returned */
        const uint32_t value = place < s->num_values ? place : h->v->places[h->from];
        TSR_TRY(open_sharding(&s->w, from->mesh, value_type(s->w.p, value), &to));
    }
    tsr_sharding given = *to;
    tsr_dim *dims = arena_copy(s->w.scratch, to->dims, to->rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(s->w.ctx);
    }
    dims[h->to_dim] = from->dims[h->from_dim];
    dims[h->to_dim].priority = TSR_NO_PRIORITY;
    given.dims = dims;
    TSR_TRY(engine_intern(s->w.engine, &given, &h->v->shardings[h->to]));
    TSR_TRY(debug_hand_on(s, h->v, h->from, h->from_dim, h->to, h->to_dim));
    const tsr_sharding *stored = h->v->shardings[h->to];
    if (h->v->edge != 0 && h->to + 1 == h->v->count) {
        TSR_TRY(edge_inside(&s->w, h->v->edge, stored, &stored));
    }
    return places_write(s, place, stored);
}

static tsr_status hand_on(propagation *s, const visit_plan *v, bool *changed)
{
    if (v->how.rule == NULL || !hands_sizes_on(v->how.rule)) {
        return TSR_OK;
    }
    for (size_t t = 0; t < v->count; t++) {
        const tsr_sharding *from = v->shardings[t];
        for (size_t d = is_ragged(from) ? ragged_from(from, 0) : SIZE_MAX;
             from != NULL && d < from->rank; d = ragged_from(from, d + 1)) {
            const size_t factor = v->how.rule->tensors[t].dims[d].factors[0];
            for (size_t u = 0; u < v->count; u++) {
                const size_t dim = rule_dim_of_factor(&v->how.rule->tensors[u], factor);
                if (v->places[u] != v->places[t] && v->places[u] != 0 &&
                    can_take(v->shardings[u], dim, from, &from->dims[d])) {
                    const handing h = {s, v, t, d, u, dim};
                    TSR_TRY(write_dim(&h));
                    *changed = true;
                }
            }
        }
    }
    return TSR_OK;
}

static tsr_status hand_on_at(propagation *s, uint32_t op, bool *changed)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    visit_plan v;
    s->visiting = op;
    tsr_status status = visit_plan_make(s, op, &v);
    if (status >= 0) {
        status = hand_on(s, &v, changed);
    }
    s->visiting = 0;
    tsr_arena_reset(s->w.scratch, mark);
    return status;
}

static tsr_status hand_on_result(propagation *s, const visit_plan *v, void *state)
{
    return hand_on(s, v, state);
}

tsr_status ragged_hand_on(propagation *s)
{
    const tsr_program *p = s->w.p;
    bool changed = false;
    for (uint32_t place = 1; place < s->num_places && !changed; place++) {
        changed = is_ragged(s->shardings[place]);
    }
    while (changed) {
        changed = false;
        TSR_TRY(visit_main_results(s, hand_on_result, &changed));
        for (uint32_t op = op_walk_next(p, p->module, p->module); op != 0;
             op = op_walk_next(p, p->module, op)) {
            TSR_TRY(hand_on_at(s, op, &changed));
        }
    }
    return TSR_OK;
}
