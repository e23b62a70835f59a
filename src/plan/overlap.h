/* What shards of a dimension have in common under two layouts. */
#ifndef PLAN_OVERLAP_H
#define PLAN_OVERLAP_H

#include "shard/geometry.h"

/* Where plans are made: what lasts goes into `arena`, what does not into `scratch`. */
typedef struct plan_maker {
    tsr_context *ctx;
    tsr_arena *arena;
    tsr_arena *scratch;
} plan_maker;

/* Rows that two shards of a dimension have in common, by where each stores them. */
typedef struct plan_rows {
    int64_t src;
    int64_t dst;
    int64_t size;
} plan_rows;

/* All that a shard of one layout has in common with a shard of the other. */
typedef struct plan_overlap {
    int64_t shard; /* of the other layout */
    int64_t size;
    const plan_rows *rows; /* in the order in which the destination stores them */
    size_t count;
} plan_overlap;

/* Every overlap of one shard that has rows, by the other layout's shard. */
typedef struct plan_overlaps {
    const plan_overlap *list;
    size_t count;
} plan_overlaps;

/* Rows that a shard stores together. */
typedef struct stored_run {
    int64_t start;
    int64_t size;
    int64_t shard;
    int64_t local;
} stored_run;

/*
 * A dimension that can be asked which shards hold given rows. `sorted` lists the runs in the order
 * of the tensor where a shard can have several; NULL where each shard is one interval and they
 * follow each other.
 */
typedef struct plan_dim {
    const dim_geometry *of;
    const stored_run *sorted;
    size_t num_sorted;
} plan_dim;

/* A pass over the counts of a ragged dimension, constant time for others. */
tsr_status plan_dim_create(const plan_maker *m, const dim_geometry *dim, plan_dim *out);

/* Whose shard is asked about. */
typedef enum plan_side { PLAN_OF_SRC, PLAN_OF_DST } plan_side;

/*
 * The overlaps of a shard of `own`, which is the source or the destination, with the shards of
 * `other`. Time and memory as for the rows that are found, times a logarithm where a dimension is
 * ragged.
 */
tsr_status plan_overlaps_of(const plan_maker *m, plan_side side, const plan_dim *own, int64_t shard,
                            const plan_dim *other, plan_overlaps *out);

/* How many rows two shards have in common. */
int64_t plan_common_rows(const plan_dim *a, int64_t shard_a, const plan_dim *b, int64_t shard_b);

#endif
