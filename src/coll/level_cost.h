/*
 * Costs by level of a topology, in integers: what the busiest device does in one step, and the time
 * of that. Every rank computes the same numbers, and they do not depend on the number of devices.
 *
 * A group is described by g_l, how many of its members differ at level l while they agree at all
 * others; p is the product of all g_l. The peers of a member that differ from it first at level l
 * are (g_l - 1) times the product of g_m over the inner levels m.
 */
#ifndef COLL_LEVEL_COST_H
#define COLL_LEVEL_COST_H

#include <tessera/topology.h>

#include "coll/algorithm.h"

/* What the busiest device does; of devices that differ the largest counts, level by level. */
typedef struct level_work {
    int64_t rounds[TSR_MAX_LEVELS];
    int64_t bytes[TSR_MAX_LEVELS]; /* received */
    int64_t reduced;
    int64_t copied;
} level_work;

/*
 * The time of a step in nanoseconds; INT64_MAX if it is more: sum of rounds x latency + the largest
 * of bytes / bandwidth over the levels + reduced / reduce bandwidth + copied / copy bandwidth. Each
 * quotient is rounded up to picoseconds, the sum up to nanoseconds.
 */
int64_t level_nanoseconds(const tsr_topology_spec *t, const level_work *w);

/* Negative if a is cheaper than b: less time, or equal time and fewer bytes from the outermost
 * level. */
int level_compare(const tsr_topology_spec *t, const level_work *a, const level_work *b);

/* Members of a group by level; 1 where all agree. */
typedef struct level_group {
    int64_t sizes[TSR_MAX_LEVELS];
} level_group;

/* The peers of a member by level, (g_l - 1) x prod of inner g_m; returns p - 1, their sum. */
int64_t level_peers(const level_group *g, size_t num_levels, int64_t *peers);

/*
 * A collective over a group. `share` is the part of one pair of members, in bytes: of an all-gather
 * what a member has before, of a reduce-scatter what it has after, of an all-to-all the p-th part
 * of what it has, of an all-reduce the p-th part of the elements, rounded up. `even`: all shares
 * are that large; otherwise `known` has the bytes of the largest by level.
 */
typedef struct level_call {
    coll_kind kind;
    level_group group;
    int64_t share;
    int64_t copied;          /* bytes that the step copies in addition */
    const level_work *known; /* NULL: even */
} level_call;

/*
 * The work of the cheapest algorithm that keeps the group order, and its name.
 *
 * In pairs, where every part comes straight from its owner, over any levels: rounds are the peers
 * of a level; all-gather, all-to-all and reduce-scatter receive `share` from each peer, all-reduce
 * twice, for its reduce-scatter and its all-gather; p-1 shares are reduced.
 *
 * The other algorithms have the formulas of cost.h, with n = p x share, and apply where all members
 * differ at one level and shares are even. Over several levels a plan composes steps of one level
 * instead.
 */
const char *level_cheapest(const tsr_topology_spec *t, const level_call *call, level_work *out);

#endif
