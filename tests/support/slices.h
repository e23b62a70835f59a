/*
 * What each device stores of a tensor, row by row, worked out from the rules alone: nothing here
 * asks the library for a box, so that it can be held against what the library does.
 */
#ifndef SLICES_H
#define SLICES_H

#include "random.h"

enum { MAX_ROWS = 256 };

/* The rows that a device stores of each dimension, in order; -1 for a row that only pads. */
typedef struct device_slice {
    size_t rank;
    int64_t count[MAX_DIMS];
    int64_t rows[MAX_DIMS][MAX_ROWS];
} device_slice;

void slice_of(const tsr_sharding *sharding, size_t rank, const int64_t *shape, int64_t device,
              device_slice *out);

/* Elements of the tensor in a slice, and those that are in both. */
int64_t slice_elements(const device_slice *s);
int64_t slice_common(const device_slice *a, const device_slice *b);

/* The coordinate of a device along axes and sub-axes, major to minor. */
int64_t index_along(const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count, int64_t device);

#endif
