/*
 * How a rank's part of a tensor lies: what all tensors of one sharding, shape, type and strides
 * share.
 *
 * A world keeps each layout once, so that tensors that lie alike have the same one, and making a
 * tensor like another costs no more than its memory. One rank's, like the tensors.
 */
#ifndef RT_LAYOUT_H
#define RT_LAYOUT_H

#include <tessera/tensor.h>

#include "shard/geometry.h"

typedef struct tensor_layout tensor_layout;
struct tensor_layout {
    tensor_layout *next; /* with the same place in the table */
    tsr_arena *arena;
    uint64_t hash;
    int64_t references;
    const tsr_geometry *geometry;
    tsr_dtype dtype;
    const int64_t *start; /* of the rank's box */
    const int64_t *local_shape;
    const int64_t *strides; /* in bytes */
    int64_t elements;       /* that the rank stores, pad rows included */
    size_t bytes;           /* of them, at least 1 */
    bool row_major;
    bool padded; /* the rank stores rows that are no part of the tensor */
};

enum { LAYOUT_BUCKETS = 256, LAYOUT_MOST_UNUSED = 1024 };

/* All layouts of a world. Those that no tensor has stay until there are too many. Starts as zeros.
 */
typedef struct layout_table {
    tensor_layout *buckets[LAYOUT_BUCKETS];
    size_t unused;
} layout_table;

void layout_table_clear(layout_table *table);

/* The layout of a spec on this rank, found or made, with one more reference; strides NULL:
 * row-major. */
tsr_status layout_get(tsr_comm *world, const tsr_tensor_spec *spec, const int64_t *strides,
                      tensor_layout **out);
tensor_layout *layout_retain(layout_table *table, tensor_layout *layout);
void layout_release(layout_table *table, tensor_layout *layout);

#endif
