/*
 * Layouts: how a rank stores its part of a tensor. All tensors of one sharding, shape, type and
 * strides share one.
 *
 * A world interns layouts, so that equal layouts are the same pointer and making a tensor like
 * another costs no more than its memory. A layout belongs to one rank, like the tensors.
 */
#ifndef RT_LAYOUT_H
#define RT_LAYOUT_H

#include <tessera/tensor.h>

#include "shard/geometry.h"

typedef struct tensor_layout tensor_layout;
struct tensor_layout {
    tensor_layout *next; /* in the same bucket */
    tsr_arena *arena;
    uint64_t hash;
    int64_t references;
    const tsr_geometry *geometry;
    tsr_dtype dtype;
    tsr_dtype pending;    /* the element type in which a pending sum is kept: dtype, or f32 */
    tensor_layout *plain; /* the same where that is dtype, with one reference; NULL: this one */
    const int64_t *start; /* of the rank's box */
    const int64_t *local_shape;
    const int64_t *strides; /* in bytes */
    int64_t elements;       /* that the rank stores, padding rows included; or TSR_UNKNOWN */
    size_t bytes;           /* of them, at least 1 */
    bool row_major;
    bool padded; /* the rank stores padding rows */
};

enum { LAYOUT_BUCKETS = 256, LAYOUT_MAX_UNUSED = 1024 };

/* All layouts of a world. Those that no tensor has stay until there are too many. Starts as zeros.
 */
typedef struct layout_table {
    tensor_layout *buckets[LAYOUT_BUCKETS];
    size_t unused;
} layout_table;

void layout_table_clear(layout_table *table);

/*
 * The layout of a spec on this rank, found or made, with one more reference; strides NULL:
 * row-major. Symbols that are bound are replaced by their numbers; others are refused but in
 * abstract worlds, where local extents that follow from them, and strides, are TSR_UNKNOWN.
 */
tsr_status layout_get(tsr_comm *world, const tsr_tensor_spec *spec, const int64_t *strides,
                      tensor_layout **out);

/*
 * The layout of tensors like those of a plain one, whose pending sums are kept in a wider element
 * type; with one more reference.
 */
tsr_status layout_get_pending(tsr_comm *world, tensor_layout *plain, tsr_dtype pending,
                              tensor_layout **out);

/* The layout whose pending sums are in the type of the tensor. */
static inline tensor_layout *layout_plain(tensor_layout *layout)
{
    return layout->plain != NULL ? layout->plain : layout;
}

tensor_layout *layout_retain(layout_table *table, tensor_layout *layout);
void layout_release(layout_table *table, tensor_layout *layout);

#endif
