/* Products of strided arrays, by CBLAS where there is one for the type. */
#ifndef KERNEL_DOT_H
#define KERNEL_DOT_H

#include <tessera/view.h>

/*
 * A product: the dimensions of a are batch, then m, then k; those of b batch, then k, then n; those
 * of dst batch, then m, then n. Any strides: f32, f64 and complex go to CBLAS without copies where
 * the m and k dimensions (k and n, m and n) join to one each and one of the two has stride 1,
 * whichever that is; what does not is packed into the scratch. f16 and bf16 are multiplied in f32
 * and rounded once. Integers wrap around. Truth values: an OR of ANDs.
 */
typedef struct dot_job {
    const tsr_view *dst;
    const tsr_view *a;
    const tsr_view *b;
    size_t num_batch;
    size_t num_contracting;
} dot_job;

bool dot_supports(tsr_dtype dtype);

/* How many bytes of scratch, aligned as malloc aligns, the product needs; then the product. */
size_t kernel_dot_scratch(const dot_job *job);
void kernel_dot(const dot_job *job, void *scratch);

/*
 * How many threads CBLAS takes for a product from now on, in this whole process; returns how many
 * it took before. It is 1 or less where CBLAS has no threads. CBLAS that is not safe to call from
 * several threads is called by one at a time.
 */
int blas_set_threads(int threads);

#endif
