/*
 * Decompositions and solvers of matrices: the last two dimensions of arrays, all others a batch.
 * f16, bf16, f32, f64, c64 and c128, computed in f64 (or pairs of them) and rounded once.
 */
#ifndef KERNEL_LINALG_H
#define KERNEL_LINALG_H

#include <tessera/view.h>

bool linalg_supports(tsr_dtype dtype);

/*
 * The lower triangular L of which a = L L^H, by the lower triangle of a; or the upper U of which
 * a = U^H U, by the upper one. The other triangle of dst is 0. A matrix that has none gives NaNs.
 */
size_t kernel_cholesky_scratch(const tsr_view *a);
void kernel_cholesky(const tsr_view *dst, const tsr_view *a, bool lower, void *scratch);

typedef struct solve_job {
    bool left_side; /* op(a) x = b, else x op(a) = b */
    bool lower;     /* which triangle of a counts */
    bool unit_diagonal;
    bool transposed; /* op(a) is the transpose */
    bool conjugated; /* of the conjugate */
} solve_job;

size_t kernel_solve_scratch(const tsr_view *a, const tsr_view *b);
void kernel_triangular_solve(const solve_job *job, const tsr_view *dst, const tsr_view *a,
                             const tsr_view *b, void *scratch);

#endif
