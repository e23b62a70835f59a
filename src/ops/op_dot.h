/* Products of tensors. */
#ifndef OPS_OP_DOT_H
#define OPS_OP_DOT_H

#include "ops/op.h"

/* lhs_batch, rhs_batch, lhs_contracting, rhs_contracting; the result: batch, free lhs, free rhs. */
extern const op_row op_dot_general;

#endif
