/* Ops on windows that move over a tensor. */
#ifndef OPS_OP_WINDOW_H
#define OPS_OP_WINDOW_H

#include "ops/op.h"

/* Lists that are left out are of ones; padding, pairs before and after, is then 0. */
typedef struct reduce_window_params {
    op_ints window_dimensions;
    op_ints window_strides;
    op_ints base_dilations;
    op_ints window_dilations;
    op_ints padding;
    op_region body;
} reduce_window_params;

typedef struct select_and_scatter_params {
    op_ints window_dimensions;
    op_ints window_strides;
    op_ints padding;
    op_region select; /* of an element and a later one: is the first kept? */
    op_region scatter;
} select_and_scatter_params;

/* Inputs of one shape, then as many initial values; as many results. reduce_window_params. */
extern const op_row op_reduce_window;
/* operand, source, initial value; select_and_scatter_params. */
extern const op_row op_select_and_scatter;

#endif
