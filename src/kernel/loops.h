/*
 * Loops over strided arrays: dimensions of size 1 dropped, neighbours joined where all arrays
 * allow, so that the innermost loop is as long as it can be.
 */
#ifndef KERNEL_LOOPS_H
#define KERNEL_LOOPS_H

#include "kernel/copy.h"

enum { LOOPS_MAX_ARRAYS = 4 };

typedef struct loop {
    int64_t size;
    int64_t strides[LOOPS_MAX_ARRAYS]; /* in bytes */
    int64_t index;
} loop;

typedef struct loops {
    size_t count;
    size_t num_arrays;
    loop loops[KERNEL_MAX_RANK]; /* the last is the innermost */
    int64_t offsets[LOOPS_MAX_ARRAYS];
} loops;

/*
 * Prepares the loops over `shape`, in the order of its dimensions. There is always an innermost
 * loop; that of a single item has size 1 and stride `item`. False when there are no items.
 */
bool loops_init(loops *nest, const int64_t *shape, size_t rank, const int64_t *const *strides,
                size_t num_arrays, int64_t item);

/*
 * The same where the order of the items does not matter: the dimensions are taken by their strides
 * in the first array, the smallest innermost, so that arrays of one layout are walked in the order
 * of memory.
 */
bool loops_init_sorted(loops *nest, const int64_t *shape, size_t rank,
                       const int64_t *const *strides, size_t num_arrays, int64_t item);

/* How far a stride of either sign goes. */
static inline uint64_t stride_magnitude(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* Moves the offsets to the next row of the innermost loop; false when there is none. */
bool loops_next(loops *nest);

#endif
