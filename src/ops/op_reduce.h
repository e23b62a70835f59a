/* Reductions of dimensions, and running ones. */
#ifndef OPS_OP_REDUCE_H
#define OPS_OP_REDUCE_H

#include "kernel/reduce.h"
#include "ops/op.h"

typedef struct reduce_params {
    op_ints dimensions;
    op_region body;
} reduce_params;

typedef struct mean_params {
    op_ints dimensions;
} mean_params;

typedef struct cumulative_params {
    int64_t dimension;
    op_region body; /* a known combiner */
} cumulative_params;

/* Inputs of one shape, then as many initial values; as many results. reduce_params. */
extern const op_row op_reduce;
/* One input, folded from the identity of a known combiner: no initial value. reduce_params. */
extern const op_row op_fold;
/* The sum over the number of elements of the whole. mean_params. */
extern const op_row op_mean;
extern const op_row op_cumulative; /* cumulative_params */

#endif
