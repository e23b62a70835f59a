/* Reductions over windows that move over an array, with padding and dilation. */
#ifndef KERNEL_WINDOW_H
#define KERNEL_WINDOW_H

#include <tessera/view.h>

#include "kernel/copy.h"
#include "kernel/elementwise.h"

/* How windows of an input of some rank move: one entry for each of its dimensions. */
typedef struct window_shape {
    size_t rank;
    int64_t input[KERNEL_MAX_RANK];
    int64_t output[KERNEL_MAX_RANK]; /* how many windows there are */
    int64_t size[KERNEL_MAX_RANK];
    int64_t stride[KERNEL_MAX_RANK];
    int64_t input_dilation[KERNEL_MAX_RANK];
    int64_t dilation[KERNEL_MAX_RANK];
    int64_t before[KERNEL_MAX_RANK]; /* padding, of either sign */
    int64_t after[KERNEL_MAX_RANK];
} window_shape;

/*
 * Sets `output`: as many windows as fit. False when a size is not positive, or something overflows.
 */
bool window_fit(window_shape *w);

/* The windows of which a place is on an element of the input: every `step`-th from `first` on. */
typedef struct window_range {
    int64_t first;
    int64_t step;
    int64_t count;
    int64_t source;      /* the element of the first */
    int64_t source_step; /* and from one to the next */
} window_range;
window_range window_range_of(const window_shape *w, size_t d, int64_t place);

/* The element of the input that a place in a window is on: -1 for padding or holes. */
static inline int64_t window_source(const window_shape *w, size_t d, int64_t window, int64_t place)
{
    const int64_t at = window * w->stride[d] + place * w->dilation[d] - w->before[d];
    if (at < 0 || at % w->input_dilation[d] != 0 || at / w->input_dilation[d] >= w->input[d]) {
        return -1;
    }
    return at / w->input_dilation[d];
}

/*
 * dst = the left fold, by an op, of the initial element and the elements of each window in
 * row-major order; the op supports the type. f16 and bf16 are rounded after each step.
 */
void kernel_reduce_window(binary_op op, const window_shape *w, const tsr_view *dst,
                          const tsr_view *src, const void *initial);

/* Computes results from arguments, each one element. */
typedef void (*window_call)(void *state, const void *const *arguments, void *const *results);

enum { WINDOW_MAX_ARRAYS = 32 };

/* The same of several arrays at once, by any function of those so far and the next ones. */
void kernel_reduce_window_call(window_call call, void *state, const window_shape *w,
                               const tsr_view *dst, const tsr_view *src, const void *const *initial,
                               size_t count);

/*
 * For each window picks an element of the input: the first, unless `select` of it and a later one
 * is false, then that one, and so on. dst, which is filled with the initial element, is combined
 * there with the element of the source by `combine`.
 */
void kernel_select_and_scatter(window_call select, void *select_state, window_call combine,
                               void *combine_state, const window_shape *w, const tsr_view *dst,
                               const tsr_view *input, const tsr_view *source);

#endif
