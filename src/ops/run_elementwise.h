/* Kernels of elementwise ops that programs alone have: `supports` also refuses shapes that do not
 * fit. */
#ifndef OPS_RUN_ELEMENTWISE_H
#define OPS_RUN_ELEMENTWISE_H

#include "ops/op.h"

bool complex_part_supports(const op_request *r, const op_type *results);
void real_run(const op_call *c, void *scratch);
void imag_run(const op_call *c, void *scratch);
bool complex_supports(const op_request *r, const op_type *results);
void complex_run(const op_call *c, void *scratch);
bool reduce_precision_supports(const op_request *r, const op_type *results);
void reduce_precision_run(const op_call *c, void *scratch);

#endif
