/*
 * The greedy plan, for comparison: reduce what the destination does not have pending, gather one
 * axis at a time from the minor end of each dimension until its list is the start of the
 * destination's, then slice one axis at a time. Frameworks plan so by default.
 */
#ifndef PLAN_GREEDY_H
#define PLAN_GREEDY_H

#include "plan/search.h"

/* Each atom is reduced, gathered and sliced at most once. */
enum { GREEDY_MAX_STEPS = 2 * ATOMS_MAX + 1 };

typedef struct greedy_result {
    bool found;   /* false: a box does not nest, or a sum would become pending */
    bool obeys;   /* the rules on memory of a search */
    int64_t time; /* nanoseconds */
    size_t num_steps;
    plan_state states[GREEDY_MAX_STEPS + 1];
    state_step steps[GREEDY_MAX_STEPS];
} greedy_result;

tsr_status greedy_plan(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                       const search_rules *rules, const plan_state *src, const plan_state *dst,
                       greedy_result *out);

#endif
