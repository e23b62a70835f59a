/* Ops that move elements and change nothing of them. */
#ifndef OPS_OP_SHAPE_H
#define OPS_OP_SHAPE_H

#include "ops/op.h"

extern const op_row op_reshape;          /* shape */
extern const op_row op_transpose;        /* dimensions: the permutation */
extern const op_row op_broadcast_in_dim; /* shape, dimensions */
extern const op_row op_slice;            /* start, limit, strides */
extern const op_row op_concatenate;      /* dimension */
extern const op_row op_pad; /* start: low, limit: high, strides: interior; operand 1: the value */

#endif
