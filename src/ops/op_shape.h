/* Ops that give all elements another shape. */
#ifndef OPS_OP_SHAPE_H
#define OPS_OP_SHAPE_H

#include "ops/op.h"

typedef struct reshape_params {
    op_type result;
} reshape_params;

typedef struct transpose_params {
    op_ints permutation;
} transpose_params;

typedef struct broadcast_params {
    op_ints broadcast_dimensions;
    op_type result;
} broadcast_params;

extern const op_row op_reshape;
extern const op_row op_transpose;
extern const op_row op_broadcast_in_dim;

#endif
