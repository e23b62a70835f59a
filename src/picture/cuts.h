/* How one dimension is cut: its intervals in logical order, none of them empty. */
#ifndef PICTURE_CUTS_H
#define PICTURE_CUTS_H

#include <tessera/geometry.h>

/*
 * Even cuts are computed on demand, so that a million shards cost nothing; a ragged dimension has
 * its intervals in `list`. Of an unaligned dimension each block is an interval.
 */
typedef struct cuts {
    int64_t extent;
    int64_t chunk; /* of even cuts, when list is NULL */
    const tsr_interval *list;
    int64_t count;   /* of intervals */
    int64_t shards;  /* of all, also those that hold nothing */
    int64_t holding; /* of those that hold something */
} cuts;

/* The cuts of every dimension, in the arena. */
tsr_status cuts_make(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                     const cuts **out);

/* Interval i, 0 <= i < count. */
tsr_interval cuts_at(const cuts *of, int64_t i);

#endif
