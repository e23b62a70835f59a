/* Decompositions, solvers, transforms and norms: ops on whole matrices or rows. */
#ifndef OPS_OP_LINALG_H
#define OPS_OP_LINALG_H

#include "ops/op.h"

typedef struct cholesky_params {
    bool lower;
} cholesky_params;

typedef enum solve_transpose {
    SOLVE_TRANSPOSE_INVALID,
    SOLVE_NO_TRANSPOSE,
    SOLVE_TRANSPOSE,
    SOLVE_ADJOINT
} solve_transpose;

typedef struct triangular_solve_params {
    bool left_side;
    bool lower;
    bool unit_diagonal;
    int32_t transpose_a; /* solve_transpose */
} triangular_solve_params;

typedef struct fft_params {
    int32_t fft_type; /* FFT, IFFT, RFFT, IRFFT */
    op_ints fft_length;
} fft_params;

typedef struct batch_norm_params {
    int64_t feature_index;
} batch_norm_params;

extern const op_row op_cholesky;             /* cholesky_params */
extern const op_row op_triangular_solve;     /* a, b; triangular_solve_params */
extern const op_row op_fft;                  /* fft_params */
extern const op_row op_batch_norm_inference; /* operand and four vectors; batch_norm_params */

#endif
