/* Kernels of windows that move over a tensor. */
#ifndef OPS_RUN_WINDOW_H
#define OPS_RUN_WINDOW_H

#include "kernel/elementwise.h"
#include "ops/op.h"

/* Hooks of reduce_window and select_and_scatter, which programs alone have: `supports` also refuses
 * shapes that do not fit. */
bool reduce_window_supports(const op_request *r, const op_type *results);
void reduce_window_run(const op_call *c, void *scratch);
bool select_and_scatter_supports(const op_request *r, const op_type *results);
void select_and_scatter_run(const op_call *c, void *scratch);

/* The op of two numbers that a combiner is; false for other regions. */
bool region_binary(const op_region *region, binary_op *out);

#endif
