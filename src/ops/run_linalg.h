/* Kernels of decompositions, solvers, transforms and random bits, which programs alone have:
 * `supports` also refuses shapes that do not fit. */
#ifndef OPS_RUN_LINALG_H
#define OPS_RUN_LINALG_H

#include "ops/op.h"

bool cholesky_supports(const op_request *r, const op_type *results);
size_t cholesky_scratch(const op_call *c);
void cholesky_run(const op_call *c, void *scratch);
bool solve_supports(const op_request *r, const op_type *results);
size_t solve_scratch(const op_call *c);
void solve_run(const op_call *c, void *scratch);
bool fft_supports(const op_request *r, const op_type *results);
size_t fft_scratch(const op_call *c);
void fft_run(const op_call *c, void *scratch);
bool bits_supports(const op_request *r, const op_type *results);
void bits_run(const op_call *c, void *scratch);

#endif
