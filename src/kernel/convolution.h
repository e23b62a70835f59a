/* Convolutions of strided arrays, as products of matrices. */
#ifndef KERNEL_CONVOLUTION_H
#define KERNEL_CONVOLUTION_H

#include <tessera/view.h>

#include "kernel/window.h"

/*
 * A convolution: which dimension of each array is which, and how windows of the size of the kernel
 * move over the input. With groups of features, each group of the input's features meets its part
 * of the kernel's output features; with groups of batches, each group of the batch does.
 */
typedef struct convolution_job {
    const tsr_view *dst;
    const tsr_view *input;
    const tsr_view *kernel;
    size_t input_batch;
    size_t input_feature;
    size_t input_spatial[KERNEL_MAX_RANK];
    size_t kernel_input;
    size_t kernel_output;
    size_t kernel_spatial[KERNEL_MAX_RANK];
    size_t output_batch;
    size_t output_feature;
    size_t output_spatial[KERNEL_MAX_RANK];
    window_shape window; /* of the spatial dimensions, in the order of those lists */
    bool reversed[KERNEL_MAX_RANK];
    int64_t feature_groups;
    int64_t batch_groups;
} convolution_job;

/*
 * Types are those of kernel_dot, one for all three arrays. What each window is on is copied side by
 * side (im2col), some of the batch at a time, and multiplied with the kernel by kernel_dot. The
 * scratch is aligned as malloc aligns.
 */
size_t kernel_convolution_scratch(const convolution_job *job);
void kernel_convolution(const convolution_job *job, void *scratch);

#endif
