#include "plan/greedy.h"

#include <string.h>

#include "base/base.h"

typedef struct greedy {
    tsr_context *ctx;
    tsr_arena *scratch;
    const plan_space *space;
    const search_rules *rules;
    const plan_state *src;
    const plan_state *dst;
    plan_state now;
    int64_t source; /* bytes of the largest part of the source */
    int64_t larger; /* and of the larger end */
    greedy_result result;
} greedy;

/* Whether a step obeys the rules on memory. */
static bool step_obeys(const greedy *g, const state_view *from, const state_view *to,
                       const state_step *step)
{
    const bool first = state_equal(from->state, g->src);
    const int64_t live =
        search_live_bytes(g->rules, g->source, from->bytes, to->bytes, step, first);
    return (g->rules->any_layout || to->bytes <= g->larger) &&
           (g->rules->memory < 0 || live <= g->rules->memory);
}

/* Takes the step to a state, if one exists. */
static tsr_status step_to(greedy *g, const plan_state *next)
{
    state_dim dims[2][ATOMS_MAX_RANK];
    state_step step;
    bool found = false;
    if (!g->result.found || state_equal(&g->now, next)) {
        return TSR_OK;
    }
    const state_view from = state_view_of(g->space, &g->now, dims[0]);
    const state_view to = state_view_of(g->space, next, dims[1]);
    TSR_TRY(state_step_find(g->ctx, g->scratch, g->space, &from, &to, INT64_MAX, &step, &found));
    g->result.found = found;
    if (found) {
        (void)checked_add(g->result.time, step.time, &g->result.time);
        g->result.obeys = g->result.obeys && step_obeys(g, &from, &to, &step);
        g->now = *next;
        g->result.steps[g->result.num_steps++] = step;
        g->result.states[g->result.num_steps] = *next;
    }
    return TSR_OK;
}

/* Removes the last atoms of the list of a dimension. */
static plan_state without_last(const plan_state *s, size_t dim, size_t count)
{
    plan_state out = *s;
    const size_t end = s->ends[dim];
    const size_t used = s->ends[ATOMS_MAX_RANK - 1];
    memmove(out.list + end - count, out.list + end, used - end);
    memset(out.list + used - count, 0, count);
    for (size_t d = dim; d < ATOMS_MAX_RANK; d++) {
        out.ends[d] = (uint8_t)(out.ends[d] - count);
    }
    return out;
}

/* Appends atoms to the list of a dimension. */
static plan_state with_more(const plan_state *s, size_t dim, const uint8_t *atoms, size_t count)
{
    plan_state out = *s;
    const size_t end = s->ends[dim];
    const size_t used = s->ends[ATOMS_MAX_RANK - 1];
    memmove(out.list + end + count, out.list + end, used - end);
    memcpy(out.list + end, atoms, count);
    for (size_t d = dim; d < ATOMS_MAX_RANK; d++) {
        out.ends[d] = (uint8_t)(out.ends[d] + count);
    }
    return out;
}

/* How many neighbouring atoms from one on are parts of its axis, going in a direction. */
static size_t run_of_axis(const plan_space *space, const uint8_t *atoms, size_t count, bool back)
{
    size_t run = 1;
    const int32_t axis = space->atoms[atoms[back ? count - 1 : 0]].ref.axis;
    while (run < count && space->atoms[atoms[back ? count - 1 - run : run]].ref.axis == axis) {
        run++;
    }
    return run;
}

static bool is_prefix(atom_list a, atom_list b)
{
    return a.count <= b.count && memcmp(a.atoms, b.atoms, a.count) == 0;
}

/* Explicit sizes leave with the whole list, unless the destination has the same. */
static tsr_status gather_dim(greedy *g, size_t d)
{
    const uint16_t bit = (uint16_t)(1u << d);
    const bool sized = (g->now.src_sizes & bit) != 0;
    const bool stays = sized && (g->dst->src_sizes & bit) != 0;
    const bool becomes_sized = ((g->dst->src_sizes | g->dst->dst_sizes) & bit) != 0;
    for (;;) {
        const atom_list list = state_list(&g->now, d);
        const atom_list wanted = state_list(g->dst, d);
        const bool whole = (sized || becomes_sized) && !stays;
        if (!g->result.found || list.count == 0 || (is_prefix(list, wanted) && !whole)) {
            return TSR_OK;
        }
        const size_t run = sized ? list.count : run_of_axis(g->space, list.atoms, list.count, true);
        plan_state next = without_last(&g->now, d, run);
        next.src_sizes &= (uint16_t)~bit;
        TSR_TRY(step_to(g, &next));
    }
}

static tsr_status slice_dim(greedy *g, size_t d)
{
    const uint16_t bit = (uint16_t)(1u << d);
    const bool sized = ((g->dst->src_sizes | g->dst->dst_sizes) & bit) != 0;
    for (;;) {
        const atom_list list = state_list(&g->now, d);
        const atom_list wanted = state_list(g->dst, d);
        if (!g->result.found || list.count >= wanted.count) {
            return TSR_OK;
        }
        const uint8_t *rest = wanted.atoms + list.count;
        const size_t left = wanted.count - list.count;
        plan_state next =
            with_more(&g->now, d, rest, sized ? left : run_of_axis(g->space, rest, left, false));
        next.src_sizes |= (uint16_t)(g->dst->src_sizes & bit);
        next.dst_sizes |= (uint16_t)(g->dst->dst_sizes & bit);
        TSR_TRY(step_to(g, &next));
    }
}

tsr_status greedy_plan(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                       const search_rules *rules, const plan_state *src, const plan_state *dst,
                       greedy_result *out)
{
    const int64_t source = state_bytes(space, src);
    greedy g = {.ctx = ctx,
                .scratch = scratch,
                .space = space,
                .rules = rules,
                .src = src,
                .dst = dst,
                .now = *src,
                .source = source,
                .larger = max_i64(source, state_bytes(space, dst)),
                .result = {.found = true, .obeys = true, .states = {*src}}};
    plan_state reduced = *src;
    reduced.pending &= dst->pending;
    TSR_TRY(step_to(&g, &reduced));
    for (size_t d = 0; d < space->rank; d++) {
        TSR_TRY(gather_dim(&g, d));
    }
    for (size_t d = 0; d < space->rank; d++) {
        TSR_TRY(slice_dim(&g, d));
    }
    g.result.found = g.result.found && state_equal(&g.now, dst);
    *out = g.result;
    return TSR_OK;
}
