/*
 * Steps between states: which step leads from one state to another, and what it costs.
 *
 * A step takes a set of atoms at once. In each dimension a list loses atoms or gains atoms: losing
 * takes them from the minor end, or holds them; gaining appends them, or cuts held ones again.
 * Lists that change otherwise are reached only by a permutation or by a direct exchange.
 */
#ifndef PLAN_STATE_STEP_H
#define PLAN_STATE_STEP_H

#include "plan/lacking.h"

typedef struct state_step {
    tsr_step_kind kind;
    uint32_t atoms;        /* along which something changes */
    const char *algorithm; /* of coll; "pairwise" */
    bool padded;           /* a part is padded, since its extent does not divide */
    level_work work;
    int64_t time;      /* nanoseconds */
    int64_t workspace; /* bytes in addition to the two tensors */
    int64_t effort;    /* coordinates that were enumerated to price it */
    bool skipped;      /* not found because these would have been too many */
} state_step;

/*
 * Finds the step between two different states. *found is false where there is none: the boxes do
 * not nest, a sum would become pending, or the vocabulary has no such step. It may be false for a
 * step that takes longer than `limit` nanoseconds, since its bytes need not be counted then. The
 * effort, and whether the step was skipped for it, are set in any case.
 */
tsr_status state_step_find(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                           const state_view *from, const state_view *to, int64_t limit,
                           state_step *out, bool *found);

/* The same for the one collective that the change is, if it is one. */
tsr_status state_step_collective(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                                 const state_view *from, const state_view *to, state_step *out,
                                 bool *found);

/* The same for one direct exchange, whatever other steps lead there. */
tsr_status state_step_direct(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                             const state_view *from, const state_view *to, state_step *out,
                             bool *found);

#endif
