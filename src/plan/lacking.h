/*
 * What devices lack between two states, by level.
 *
 * A device gets each element from an owner at the innermost level that has one: of what it wants,
 * V_l is in the union of what the devices hold that agree with it on the levels 0..l. It receives
 * V_(l-1) - V_l at level l. Unions are products over the dimensions, since an atom stands in one
 * dimension only; so V_l is a product of overlaps, one for each dimension. Where extents divide and
 * one list continues the other, an overlap is the same for all devices; only the coordinates of the
 * other dimensions' atoms are enumerated, never devices.
 */
#ifndef PLAN_LACKING_H
#define PLAN_LACKING_H

#include "coll/level_cost.h"
#include "plan/state.h"

/* How many coordinates are enumerated at most for one pair of states. */
enum { LACKING_MAX = 1 << 20 };

/*
 * Bytes and rounds of the device with the most, level by level: a round for each shard from which
 * it receives. *cases is how many coordinates were enumerated; beyond
 * LACKING_MAX, or the maximum of the space, `counted` is false, and *out untouched. Neither state
 * holds atoms, except in dimensions that are the same in both.
 */
tsr_status lacking_count(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                         const state_view *from, const state_view *to, level_work *out,
                         bool *counted, int64_t *cases);

/*
 * The lower bound for getting from one state to another, in nanoseconds, rounded down: for each
 * level l and each group of devices that agree on the levels 0..l the bytes that the group wants
 * and does not hold, divided by its devices and by the sum of the bandwidths of the levels 0..l;
 * the largest. `counted` is false, and the bound too low, where a level has too many coordinates.
 */
tsr_status lacking_bound(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                         const state_view *from, const state_view *to, int64_t *out, bool *counted);

#endif
