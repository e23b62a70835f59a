/*
 * Walking over what a rank stores of a tensor.
 *
 * In each dimension a rank's rows are some runs that it stores contiguously: one, but for ragged
 * dimensions. A box of the walk is one run of each dimension, the last dimension fastest; or, by
 * elements, one row of each. Nothing is allocated.
 */
#ifndef RT_BOX_WALK_H
#define RT_BOX_WALK_H

#include "kernel/copy.h"
#include "shard/geometry.h"

/* Where a walk is in one dimension: the state of dim_next_stored, and the run that it gave. */
typedef struct box_walk_dim {
    int64_t shard;
    int64_t at;
    int64_t local;
    tsr_interval run;
    int64_t offset;
} box_walk_dim;

typedef struct box_walk {
    const tsr_geometry *geometry;
    bool by_element;
    box_walk_dim dims[KERNEL_MAX_RANK];
    int64_t start[KERNEL_MAX_RANK];  /* of the box, in the tensor */
    int64_t size[KERNEL_MAX_RANK];   /* of the box */
    int64_t offset[KERNEL_MAX_RANK]; /* of the box, in the rank's storage */
} box_walk;

/* The first box of a device's part, and the next one; false when there is none. */
bool box_walk_first(box_walk *w, const tsr_geometry *geometry, int64_t device, bool by_element);
bool box_walk_next(box_walk *w);

/* Where the box starts in storage of these strides, in bytes. */
int64_t box_walk_offset(const box_walk *w, const int64_t *strides);

#endif
