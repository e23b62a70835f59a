/* Ops that only move elements. */
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

extern const op_row op_reshape;
extern const op_row op_transpose;
extern const op_row op_broadcast_in_dim;
extern const op_row op_slice;
extern const op_row op_concatenate; /* one operand or more */
extern const op_row op_pad;         /* operand, the value to pad with */

#endif
