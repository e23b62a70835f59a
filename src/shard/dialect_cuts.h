/*
 * Cutting a dimension axis by axis, as DTensor does: each axis of the mesh, in mesh order, cuts
 * what the axes before it left into ceil(rows / size). Tessera cuts once, into chunks of
 * ceil(extent / shards).
 *
 * An axis that is minor to later axes of the mesh is DTensor's _StridedShard. Its split factor is
 * the number of shards that those make. It cuts into that many blocks first, each block into its
 * own shards, and a shard is what it has of all blocks; the later axes then cut these apart.
 */
#ifndef SHARD_DIALECT_CUTS_H
#define SHARD_DIALECT_CUTS_H

#include <tessera/context.h>

/* An axis or part of one, as it cuts a dimension. */
typedef struct cut {
    int32_t axis;
    int64_t size;
} cut;

/* The axes that cut a dimension, major to minor, none of size 1. */
typedef struct cuts {
    cut *list;
    size_t count;
    int64_t shards;
    bool strided; /* not in mesh order */
} cuts;

/* Room for `most` axes; false when there is no memory. */
bool cuts_init(cuts *c, tsr_arena *arena, size_t most);
void cuts_add(cuts *c, int32_t axis, int64_t size);

/* How many shards the later axes of the mesh make that are major to an axis: its split factor. */
int64_t cuts_split_factor(const cuts *c, int32_t axis);

/*
 * Whether that gives the even chunks of an extent. O(1) in the number of shards. Strided cuts that
 * do not divide are not followed: false then means that it is not known.
 */
bool cuts_are_even(const cuts *c, int64_t extent);

/*
 * The sizes of all shards, in row-major order of the axes. NULL when there is no memory. *ordered:
 * every shard is one interval, in that order; strided cuts may give a device others.
 */
int64_t *cuts_sizes(const cuts *c, tsr_arena *arena, int64_t extent, bool *ordered);

/* Whether sizes are those of even chunks. */
bool sizes_are_even(const int64_t *sizes, int64_t shards, int64_t extent);

#endif
