/*
 * Redistribution plans: which rows go from which device to which.
 *
 * A plan is data, the same on every rank: a list of steps, each a list of moves from the layout
 * before it to the layout after it. The runtime executes moves.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <tessera/plan.h>

#include "shard/geometry.h"

/* Rows that two shards of a dimension have in common, by where each stores them. */
typedef struct plan_rows {
    int64_t src;
    int64_t dst;
    int64_t size;
} plan_rows;

/* All that one source shard and one destination shard of a dimension have in common. */
typedef struct plan_overlap {
    int64_t src_shard;
    int64_t dst_shard;
    size_t first; /* of the rows */
    size_t count;
    int64_t size;
} plan_overlap;

/* One dimension of a step: overlaps by destination shard, then source shard. */
typedef struct plan_dim {
    const plan_overlap *overlaps;
    const size_t *of_dst; /* the first overlap of each destination shard, and the end */
    const plan_rows *rows;
} plan_dim;

/*
 * What a device gets: the product of one overlap for each dimension. Of several sources the
 * elements are folded in their order; all sources store them at the same offset.
 */
typedef struct plan_move {
    int64_t dst;
    size_t first_source;
    const plan_overlap *const *overlaps; /* one for each dimension */
    int64_t elements;
} plan_move;

typedef struct plan_step {
    const tsr_geometry *src;
    const tsr_geometry *dst;
    const plan_dim *dims;
    size_t sources_each; /* 1, or how many are folded */
    const int64_t *sources;
    const plan_move *moves;
    size_t num_moves;
} plan_step;

struct tsr_plan {
    size_t num_steps;
    const plan_step *steps;
    tsr_dtype dtype;
    tsr_reduction reduction; /* of the folds */
};

#endif
