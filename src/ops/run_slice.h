/* Kernels of slices at indices that are computed, and of reversal. */
#ifndef OPS_RUN_SLICE_H
#define OPS_RUN_SLICE_H

#include "ops/op.h"

/* Hooks of dynamic_slice, dynamic_update_slice and reverse, which programs alone have: `supports`
 * also refuses shapes that do not fit. */
bool dynamic_slice_supports(const op_request *r, const op_type *results);
void dynamic_slice_run(const op_call *c, void *scratch);
bool dynamic_update_slice_supports(const op_request *r, const op_type *results);
void dynamic_update_slice_run(const op_call *c, void *scratch);
bool reverse_supports(const op_request *r, const op_type *results);
void reverse_run(const op_call *c, void *scratch);

#endif
