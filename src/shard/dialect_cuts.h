/*
 * Cutting a dimension axis by axis, as DTensor does: each axis cuts the chunk of the previous axis
 * into ceil(rows / size). Tessera cuts once, into chunks of ceil(extent / shards).
 */
#ifndef SHARD_DIALECT_CUTS_H
#define SHARD_DIALECT_CUTS_H

#include <tessera/context.h>

/* The sizes of the axes that cut a dimension, major to minor, none of size 1. */
typedef struct cuts {
    int64_t *sizes;
    size_t count;
    int64_t shards;
} cuts;

/* Room for `most` axes; false when there is no memory. */
bool cuts_init(cuts *c, tsr_arena *arena, size_t most);
void cuts_add(cuts *c, int64_t size);

/* Whether that gives the even chunks of an extent. O(1) in the number of shards. */
bool cuts_are_even(const cuts *c, int64_t extent);

/* The sizes of all shards, in row-major order of the axes. NULL when there is no memory. */
int64_t *cuts_sizes(const cuts *c, tsr_arena *arena, int64_t extent);

#endif
