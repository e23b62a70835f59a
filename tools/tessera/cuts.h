/* How one dimension is cut: its intervals in logical order, none of them empty. */
#ifndef TOOL_CUTS_H
#define TOOL_CUTS_H

#include "session.h"

/*
 * Even cuts are computed on demand, so that a million shards cost nothing; a ragged dimension has
 * its intervals in `list`. Of an unaligned dimension each block is an interval.
 */
struct cuts {
    int64_t extent;
    int64_t chunk; /* of even cuts, when list is NULL */
    const tsr_interval *list;
    int64_t count;    /* of intervals */
    int64_t shards;   /* of all, also those that hold nothing */
    int64_t holding;  /* of those that hold something */
    int64_t smallest; /* what the shard with the least holds */
};

/* The cuts of every dimension of a tensor of that rank, in the arena. */
const struct cuts *cuts_of(struct session *session, const tsr_geometry *geometry, size_t rank);

/*
 * The explicit sizes of a dimension, or NULL, and its number of shards. A sharding over one device
 * has no dimensions, whatever the rank of the tensor: each of the tensor's is whole then.
 */
const tsr_ragged *ragged_of(const tsr_sharding *sharding, size_t dim);
int64_t shards_of(const tsr_sharding *sharding, size_t dim);

/* Interval i, 0 <= i < count. */
tsr_interval cuts_at(const struct cuts *cuts, int64_t i);

#endif
