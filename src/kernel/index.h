/*
 * Compute on strided arrays where indices matter: counting, random numbers, gather, scatter, sort.
 * All views have strides, any; what is written overlaps nothing else.
 */
#ifndef KERNEL_INDEX_H
#define KERNEL_INDEX_H

#include <tessera/view.h>

#include "kernel/fold.h"

/*
 * dst[.., i, ..] = start + i along `dim`, as a number of its type: integers wrap around, floats are
 * rounded to nearest, complex numbers are real, truth values say whether it is not 0. The types are
 * those that kernel_fold has a sum of.
 */
void kernel_iota(const tsr_view *dst, size_t dim, int64_t start);

/*
 * Random numbers by counter: the element at a global index of an array of shape `full` depends on
 * the key and on its row-major place e there, and on nothing else, and has the same bits on every
 * machine. dst is the box that begins at `start`. Philox4x32-10; key is its 64-bit key, stream the
 * upper half of its counter, the lower half is the number of a block of four 32-bit words. Elements
 * of up to 32 bits take word e mod 4 of block e / 4; those of 64 bits take words 2 (e mod 2), the
 * low half, and 2 (e mod 2) + 1 of block e / 2.
 */
typedef enum random_kind {
    RANDOM_BITS,    /* every bit of an integer: the low ones of the word; i1 too */
    RANDOM_UNIFORM, /* floats in [0, 1), every multiple of 2^-24 (f64: 2^-53; f16 2^-11; bf16 2^-8)
                       alike: the high bits of the word */
    RANDOM_NORMAL   /* floats, mean 0 and variance 1: the highest bit is the sign, the others go
                       through the inverse of the distribution function */
} random_kind;

bool random_supports(random_kind kind, tsr_dtype dtype);
void kernel_random(random_kind kind, const tsr_view *dst, uint64_t key, uint64_t stream,
                   const int64_t *start, const int64_t *full);

/* One block of words; `low` and `high` are the halves of its counter. */
void philox_block(uint64_t key, uint64_t low, uint64_t high, uint32_t *words);

/*
 * StableHLO's gather and scatter on one box of the input. Names as there. Indices are of any
 * integer type of whole bytes. `input_start` and `input_full` say which box of the whole input this
 * one is, and matter for the indexed dimensions, those of start_index_map: indices are of the
 * whole. Batching dimensions of the box line up with those of the indices as they are here. Of a
 * dimension that no index moves, a slice of fewer rows has the first ones of the whole; a slice of
 * all rows has those of the box. A list of dims that is sorted there is sorted here. Lists
 * that are empty may be NULL.
 */
typedef struct gather_job {
    const tsr_view *input;
    const tsr_view *indices;
    const int64_t *input_start;
    const int64_t *input_full;
    const size_t *offset_dims; /* of the slices: scatter's update_window_dims */
    size_t num_offset;
    const size_t *collapsed_dims; /* of the input: scatter's inserted_window_dims */
    size_t num_collapsed;
    const size_t *input_batching;
    const size_t *indices_batching;
    size_t num_batching;
    const size_t *start_index_map;
    size_t num_indexed;
    size_t index_vector_dim; /* the rank of the indices: there is one index each */
    const int64_t
        *slice_sizes; /* gather only: of the whole input, one for each of its dimensions */
} gather_job;

/*
 * Gathers into the slices, of any type. A start index is clamped so that the slice is inside the
 * whole input. Elements of slices that are outside the box are 0: the sum over boxes is the gather
 * of the whole. Sizes are those of `slices`: of an indexed dimension the slice size; of others, and
 * of those whose slice size is the full size, what the box has, from its start.
 */
void kernel_gather(const gather_job *job, const tsr_view *slices);

/* How an update is combined with the element of the input: as kernel_fold folds the two. */
typedef enum scatter_kind {
    SCATTER_SET, /* any type */
    SCATTER_ADD,
    SCATTER_MULTIPLY,
    SCATTER_MAX,
    SCATTER_MIN
} scatter_kind;

/*
 * Scatters updates into job->input, in place, in the order of the updates. Elements of updates that
 * would land outside of the whole input are left out; those outside of this box are too.
 */
bool scatter_supports(scatter_kind kind, tsr_dtype dtype);
void kernel_scatter(scatter_kind kind, const gather_job *job, const tsr_view *updates);

/* Computes results from arguments, each one element. */
typedef void (*scatter_call)(void *state, const void *const *arguments, void *const *results);

enum { SCATTER_MAX_ARRAYS = 16 };

/*
 * The same of several arrays at once, by any function of old elements and updates. All jobs
 * have the same indices and dimensions, and inputs of one shape.
 */
void kernel_scatter_call(scatter_call call, void *state, const gather_job *jobs,
                         const tsr_view *updates, size_t count);

/*
 * Sorts along `dim`, stably: ascending, or descending with equals in their order all the same. -0
 * and 0 are equal, and so are all NaNs, which come after all numbers ascending and before them
 * descending; every element keeps its bits. `indices` (i32 or i64 view of dst's shape, or NULL)
 * gets where each element was along dim, from 0. `values` may be NULL. Both may have fewer rows
 * along dim than src, as many as each other: the first of the sorted ones are kept. The scratch is
 * aligned as malloc aligns.
 */
bool sort_supports(tsr_dtype dtype);
size_t kernel_sort_scratch(const tsr_view *src, size_t dim);
void kernel_sort(const tsr_view *values, const tsr_view *indices, const tsr_view *src, size_t dim,
                 bool descending, void *scratch);

#endif
