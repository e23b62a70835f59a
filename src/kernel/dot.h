/* Products of strided arrays, by CBLAS where there is one for the type. */
#ifndef KERNEL_DOT_H
#define KERNEL_DOT_H

#include <tessera/view.h>

/*
 * A product: the dimensions of a are batch, then m, then k; those of b batch, then k, then n; those
 * of dst batch, then m, then n. All views have strides, any; dst overlaps neither source, and none
 * of its elements another. f32, f64 and complex go to CBLAS without copies where the m and k
 * dimensions (k and n, m and n) join to one each and one of the two has the stride of an item,
 * whichever that is; what does not fit is packed into the scratch. f16 and bf16 are multiplied in
 * f32 and rounded once. Integers wrap around. Truth values, bytes of 0 and 1: an OR of ANDs. With a
 * k of 0 the product is 0.
 */
typedef struct dot_job {
    const tsr_view *dst;
    const tsr_view *a;
    const tsr_view *b;
    size_t num_batch;
    size_t num_contracting;
} dot_job;

/* i1, i8 to i64, u8 to u64, f16, bf16, f32, f64, c64 and c128. */
bool dot_supports(tsr_dtype dtype);

/*
 * How many bytes of scratch, aligned as malloc aligns, the product needs; then the product. The
 * size depends on shapes, strides, and whether `data` is aligned.
 */
size_t kernel_dot_scratch(const dot_job *job);
void kernel_dot(const dot_job *job, void *scratch);

/*
 * What a world asks of CBLAS while it is open, in a list: products take as many threads as the one
 * that asks for the fewest, so that a world never gets more than it would alone, and worlds that
 * are idle take nothing from others. When the last is released CBLAS takes what it took before.
 * CBLAS that is not safe to call from several threads is called by one at a time.
 */
typedef struct blas_share {
    struct blas_share *next;
    int threads;
} blas_share;

void blas_share_take(blas_share *share, int threads);
void blas_share_release(blas_share *share);

/*
 * How much address space CBLAS takes for buffers when so many threads of this process call it, its
 * own threads included. OpenBLAS tries again without end where the system has none; 0 of another
 * CBLAS.
 */
size_t blas_room(int64_t num_callers);

#endif
