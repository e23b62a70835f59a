/* Ops where indices matter. */
#ifndef OPS_OP_INDEX_H
#define OPS_OP_INDEX_H

#include "kernel/index.h"
#include "ops/op.h"

/*
 * offset_dims (lhs_contracting), collapsed_slice_dims (rhs_contracting), operand_batching_dims
 * (lhs_batch), start_indices_batching_dims (rhs_batch), start_index_map (index_map),
 * index_vector_dim, slice_sizes. Operands: input, indices.
 */
extern const op_row op_gather;
/* The same names; variant: scatter_kind. Operands: input, indices, updates. */
extern const op_row op_scatter;
extern const op_row op_iota;   /* dtype, shape, dimension */
extern const op_row op_random; /* dtype, shape, variant: random_kind, key, stream */
extern const op_row
    op_sort; /* dimension, variant: 1 for descending. Results: values, indices (i64) */
extern const op_row op_top_k; /* dimension, k. Results: values, indices (i64) */

#endif
