/* What gather and scatter share: the windows of the input, one for each index vector, in order. */
#ifndef KERNEL_WINDOWS_H
#define KERNEL_WINDOWS_H

#include "kernel/index.h"
#include "kernel/loops.h"

typedef struct windows {
    const gather_job *job;
    size_t item;
    size_t rank; /* of the input */
    bool is_box_empty;

    /* One window, by the dimensions of the input; those that the slices lack have size 1. */
    int64_t shape[KERNEL_MAX_RANK];
    int64_t slice_strides[KERNEL_MAX_RANK];
    const int64_t *input_strides;

    /* Where this one is; `input` is not moved by the indices. */
    loops nest;
    int64_t inner;
    int64_t index_step; /* from one number of an index vector to the next */
    char *slice;
    char *input;
    const char *index;
} windows;

/* The part of a window that is inside the box. */
typedef struct window_part {
    bool is_whole;
    char *slice;
    char *input;
    int64_t shape[KERNEL_MAX_RANK];
} window_part;

/* Prepares the first window; false when there is none. */
bool windows_init(windows *w, const gather_job *job, const tsr_view *slices);
bool windows_next(windows *w);

/* The index-th number of the index vector of this window; what exceeds int64 is its largest. */
int64_t windows_start(const windows *w, size_t index);

/*
 * The part of this window, which begins at `starts` of the whole input, that is inside the box;
 * false when there is none. `starts` are those of the indexed dimensions, in the order of the map.
 */
bool windows_part(const windows *w, const int64_t *starts, window_part *part);

#endif
