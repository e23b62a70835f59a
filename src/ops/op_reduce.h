/* Reductions of dimensions, and running ones. */
#ifndef OPS_OP_REDUCE_H
#define OPS_OP_REDUCE_H

#include "kernel/reduce.h"
#include "ops/op.h"

extern const op_row op_reduce; /* dimensions, variant: fold_op */
extern const op_row op_mean;   /* dimensions: the sum over the number of elements of the whole */
extern const op_row op_cumulative; /* dimension, variant: fold_op */

#endif
