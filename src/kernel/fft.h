/* Fourier transforms of the last dimensions of arrays, in f64, rounded once. */
#ifndef KERNEL_FFT_H
#define KERNEL_FFT_H

#include <tessera/view.h>

typedef enum fft_kind { FFT_FORWARD, FFT_INVERSE, FFT_REAL, FFT_REAL_INVERSE } fft_kind;

/*
 * dst = the transform of the last `num_lengths` dimensions of src, of these lengths; inverse ones
 * are divided by the number of elements. A real transform takes floats and gives the first
 * length / 2 + 1 numbers of the last dimension, its inverse the other way round.
 */
typedef struct fft_job {
    fft_kind kind;
    size_t num_lengths;
    const int64_t *lengths;
    const tsr_view *dst;
    const tsr_view *src;
} fft_job;

size_t kernel_fft_scratch(const fft_job *job);
void kernel_fft(const fft_job *job, void *scratch);

#endif
