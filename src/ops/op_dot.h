/* Products of tensors. */
#ifndef OPS_OP_DOT_H
#define OPS_OP_DOT_H

#include "ops/op.h"

typedef struct dot_params {
    op_ints lhs_batching_dimensions;
    op_ints rhs_batching_dimensions;
    op_ints lhs_contracting_dimensions;
    op_ints rhs_contracting_dimensions;
} dot_params;

/* The result: batch dimensions, free ones of the left, free ones of the right. dot_params. */
extern const op_row op_dot_general;
/* Of vectors and matrices. */
extern const op_row op_dot;

#endif
