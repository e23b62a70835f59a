/* Ops of chlo that programs alone have. */
#ifndef OPS_OP_CHLO_H
#define OPS_OP_CHLO_H

#include "ops/op.h"

typedef struct ragged_dot_params {
    op_ints lhs_batching_dimensions;
    op_ints rhs_batching_dimensions;
    op_ints lhs_contracting_dimensions;
    op_ints rhs_contracting_dimensions;
    op_ints lhs_ragged_dimensions;
    op_ints rhs_group_dimensions;
} ragged_dot_params;

typedef struct scan_params {
    int64_t dimension;
    op_ints operandSegmentSizes; /* how many inputs, how many carries */
} scan_params;

typedef struct chlo_broadcast_params {
    op_ints broadcast_dimensions; /* of the operand of the smaller rank; empty: the last ones */
} chlo_broadcast_params;

/* top_k of programs: the last dimension is sorted, and nothing passes along it. In no family. */
extern const op_row op_top_k_last;

/* Its rule, and that of a custom call of XLA that is the same. */
tsr_status op_top_k_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                         const tsr_rule **out);

#endif
