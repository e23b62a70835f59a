/* What a geometry is inside. */
#ifndef SHARD_GEOMETRY_H
#define SHARD_GEOMETRY_H

#include <tessera/geometry.h>

#include "mesh/groups.h"
#include "shard/sharding.h"

/* One dimension. `along` gives the shard of a place. */
typedef struct dim_geometry {
    int64_t extent;
    places along;
    int64_t chunk;             /* the largest shard */
    int64_t used;              /* even chunks: shards from this one on are empty */
    const int64_t *offsets;    /* dynamic and aligned: S + 1 prefix sums; else NULL */
    const int64_t *stored;     /* aligned: rows that each shard stores; else NULL */
    const tsr_ragged *aligned; /* aligned; else NULL */
    const int64_t *totals;     /* aligned: rows of each partition */
    const tsr_ragged *ragged;  /* unaligned; else NULL */
    const int64_t *block_rows; /* unaligned: S * N starts of the blocks in the tensor */
    const tsr_ragged *unbound; /* its sizes are not known: `chunk` is TSR_UNKNOWN; else NULL */
} dim_geometry;

struct tsr_geometry {
    const tsr_sharding *sharding;
    size_t rank;
    const int64_t *shape;
    const dim_geometry *dims;
};

/*
 * tsr_geometry_create which, with `unbound`, accepts dimensions whose sizes are not bound: what
 * follows from these is TSR_UNKNOWN. For abstract worlds, where no element has a place.
 */
tsr_status geometry_create(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                           size_t rank, const int64_t *shape, bool unbound,
                           const tsr_geometry **out);

/* Whether the sizes of all dimensions are known. */
bool geometry_is_bound(const tsr_geometry *geometry);

/* Refuses a geometry with unbound dimensions: the start of what asks for boxes. */
tsr_status geometry_check_bound(tsr_context *ctx, const tsr_geometry *geometry);

/* The shard that holds a row of the dimension. */
int64_t dim_shard_of_row(const dim_geometry *dim, int64_t row);

/* Whether two geometries are of one shape and have equal shardings. */
bool geometry_equal(const tsr_geometry *a, const tsr_geometry *b);

/*
 * The rows of a shard: the first and how many; unaligned, as tsr_geometry_box; unbound, both
 * TSR_UNKNOWN.
 */
tsr_interval dim_box(const dim_geometry *dim, int64_t shard);

/*
 * The next piece of a shard from block *at on, which moves past it; false when there is none. Start
 * with *at 0.
 */
bool dim_next_piece(const dim_geometry *dim, int64_t shard, int64_t *at, tsr_interval *piece);

/*
 * The next run of rows that a shard stores contiguously: a piece of the tensor and its offset in
 * the shard. As dim_next_piece, but alignment padding separates partitions. *local starts at 0.
 */
bool dim_next_stored(const dim_geometry *dim, int64_t shard, int64_t *at, int64_t *local,
                     tsr_interval *piece, int64_t *where);

/*
 * Whether the dimension is cut into even chunks, so that its shards follow from the extent alone.
 */
static inline bool dim_is_even(const dim_geometry *dim)
{
    return dim->offsets == NULL && dim->ragged == NULL && dim->unbound == NULL;
}

/* Whether some shard of a bound dimension is empty. */
bool dim_has_empty(const dim_geometry *dim);

/* Whether two shards of bound dimensions, perhaps of two geometries, hold the same rows. */
bool dim_same_rows(const dim_geometry *a, int64_t shard_a, const dim_geometry *b, int64_t shard_b);

#endif
