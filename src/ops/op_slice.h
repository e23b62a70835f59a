/* Ops that take a part of a tensor, or put parts side by side. */
#ifndef OPS_OP_SLICE_H
#define OPS_OP_SLICE_H

#include "ops/op.h"

typedef struct slice_params {
    op_ints start_indices;
    op_ints limit_indices;
    op_ints strides;
} slice_params;

typedef struct concatenate_params {
    int64_t dimension;
} concatenate_params;

typedef struct pad_params {
    op_ints edge_padding_low;
    op_ints edge_padding_high;
    op_ints interior_padding;
} pad_params;

typedef struct dynamic_slice_params {
    op_ints slice_sizes;
} dynamic_slice_params;

typedef struct reverse_params {
    op_ints dimensions;
} reverse_params;

extern const op_row op_slice;
extern const op_row op_concatenate;          /* one operand or more */
extern const op_row op_pad;                  /* operand, the value to pad with */
extern const op_row op_dynamic_slice;        /* operand, an index for each dimension */
extern const op_row op_dynamic_update_slice; /* operand, update, an index for each dimension */
extern const op_row op_reverse;

#endif
