/*
 * The cheapest sequence of steps between two states.
 *
 * Best first, with the lower bound of what is left (lacking.h) as heuristic: it is consistent, so a
 * state is final when it is taken up, and the first time the destination is taken up its sequence
 * is the minimum. Costs are compared by time, then by bytes by level from the outermost, then by
 * the number of steps, then by the order of the states, which is the same on every rank.
 */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "plan/state_step.h"

/* The sum over some steps. */
typedef struct plan_cost {
    int64_t time; /* nanoseconds */
    int64_t bytes[TSR_MAX_LEVELS];
    int64_t steps;
} plan_cost;

/* Negative if a is cheaper. */
int plan_cost_compare(const plan_cost *a, const plan_cost *b);

/* The cost of a sequence and one more step. */
plan_cost plan_cost_add(const plan_cost *cost, const state_step *step);

typedef struct search_rules {
    int64_t memory;  /* live bytes of a device; -1: any */
    bool donated;    /* the memory of the source is free after the first step */
    bool any_layout; /* layouts between steps may be larger than both ends */
    int64_t quota;   /* of steps priced and coordinates enumerated */
    size_t max_states;
} search_rules;

/* Tensors and workspace are allocated in whole pages. */
enum { SEARCH_PAGE = 4096 };

/* The live bytes of a device during a step. `first`: from the source. */
int64_t search_live_bytes(const search_rules *rules, int64_t source, int64_t from, int64_t to,
                          const state_step *step, bool first);

typedef struct search_result {
    bool found;
    bool proven;   /* no sequence is cheaper */
    int64_t bound; /* nanoseconds that every sequence takes */
    int64_t lower; /* the lower bound of the source */
    size_t num_states;
    plan_cost cost;
    size_t num_steps;
    plan_state *states; /* num_steps + 1 */
    state_step *steps;
} search_result;

/* Searches; the result is allocated in the arena. */
tsr_status search_run(tsr_context *ctx, tsr_arena *arena, const plan_space *space,
                      const search_rules *rules, search_result *out);

#endif
