/* Elementwise ops: operands are broadcast, their last dimensions together, size 1 grows. */
#ifndef OPS_OP_ELEMENTWISE_H
#define OPS_OP_ELEMENTWISE_H

#include "kernel/elementwise.h"
#include "ops/op.h"

extern const op_row op_unary[UNARY_COUNT];
extern const op_row op_binary[BINARY_COUNT];
extern const op_row op_compare; /* variant: compare_op */
extern const op_row op_select;  /* predicate, on true, on false */
extern const op_row op_convert; /* dtype */

#endif
