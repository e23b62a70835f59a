/* Copies of strided arrays. */
#ifndef KERNEL_COPY_H
#define KERNEL_COPY_H

#include <tessera/base.h>

enum { KERNEL_MAX_RANK = 32 };

/*
 * Copies that move at least this many bytes in all are worth streaming. Below it both arrays stay
 * in the last cache, and going around it costs half as much again.
 */
enum { KERNEL_STREAM_BYTES = 4 << 20 };

/*
 * Copies a box of `rank` dimensions; strides are in bytes, of either sign, and may be anything for
 * dimensions of size 1. The arrays do not overlap. With `stream` the stores go around the cache,
 * which pays when the whole of the data that is being moved exceeds it; kernel_copy_fence comes
 * after.
 */
void kernel_copy(void *dst, const int64_t *dst_strides, const void *src, const int64_t *src_strides,
                 const int64_t *shape, size_t rank, size_t item, bool stream);

/* Sets all bytes of the items of a box to 0; an item has at most 16. */
void kernel_clear(void *dst, const int64_t *strides, const int64_t *shape, size_t rank,
                  size_t item);

/* One box of several. */
typedef struct kernel_box {
    void *dst;
    const void *src;
    const int64_t *dst_strides;
    const int64_t *src_strides;
    const int64_t *shape;
} kernel_box;

/*
 * Copies several boxes as kernel_copy does, in turns of a row each. Boxes that are side by side in
 * one source, listed in that order, are so read in one sweep: for rows of up to a few KiB twice as
 * fast as one box after another, which reads the memory between the rows in vain.
 */
void kernel_copy_boxes(const kernel_box *boxes, size_t count, size_t rank, size_t item,
                       bool stream);

/* How many boxes take turns. */
enum { COPY_BATCH = 16 };

/* Boxes that are collected, and copied in turns whenever there are enough. */
typedef struct copy_batch {
    size_t rank;
    size_t item;
    bool stream;
    size_t count;
    kernel_box boxes[COPY_BATCH];
    int64_t shapes[COPY_BATCH][KERNEL_MAX_RANK];
    int64_t dst_strides[COPY_BATCH][KERNEL_MAX_RANK];
    int64_t src_strides[COPY_BATCH][KERNEL_MAX_RANK];
} copy_batch;

/* An empty batch; add boxes, whose shapes and strides are copied; and run what is left. */
static inline copy_batch copy_batch_new(size_t rank, size_t item, bool stream)
{
    copy_batch b;
    b.rank = rank;
    b.item = item;
    b.stream = stream;
    b.count = 0;
    return b;
}
void copy_batch_add(copy_batch *batch, const kernel_box *box);
void copy_batch_run(copy_batch *batch);

/* Copies `bytes` contiguous bytes. */
void kernel_copy_run(void *dst, const void *src, size_t bytes, bool stream);

/* Makes streamed stores visible before what follows: call it once before telling a peer. */
void kernel_copy_fence(void);

#endif
