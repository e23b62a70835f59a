/* Ops that read or write at indices. */
#ifndef OPS_OP_INDEX_H
#define OPS_OP_INDEX_H

#include "kernel/index.h"
#include "ops/op.h"

typedef struct gather_params {
    op_ints offset_dims;
    op_ints collapsed_slice_dims;
    op_ints operand_batching_dims;
    op_ints start_indices_batching_dims;
    op_ints start_index_map;
    int64_t index_vector_dim;
    op_ints slice_sizes;
} gather_params;

typedef struct scatter_params {
    op_ints update_window_dims;
    op_ints inserted_window_dims;
    op_ints input_batching_dims;
    op_ints scatter_indices_batching_dims;
    op_ints scatter_dims_to_operand_dims;
    int64_t index_vector_dim;
    op_region body; /* of the old element and the update */
} scatter_params;

/* Operands: input, indices. */
extern const op_row op_gather;
/* Operands: inputs of one shape, indices, as many updates; as many results as inputs. */
extern const op_row op_scatter;

/* What gather and scatter share, in the words of both. */
typedef struct window_dims {
    op_ints window;           /* of the slices: offset_dims, update_window_dims */
    op_ints collapsed;        /* of the input: collapsed_slice_dims, inserted_window_dims */
    op_ints input_batching;   /* of the input */
    op_ints indices_batching; /* of the indices */
    op_ints index_map;        /* of the input: start_index_map, scatter_dims_to_operand_dims */
    int64_t index_vector_dim;
} window_dims;

window_dims gather_window_dims(const gather_params *p);
window_dims scatter_window_dims(const scatter_params *p);
/* The parameters of the scatter that writes where a gather reads, and the other way round. */
scatter_params scatter_of_windows(const window_dims *w, op_body body);
gather_params gather_of_windows(const window_dims *w, op_ints slice_sizes);

/* The first dimension of the input from `dim` on that a window has. */
size_t next_window_dim(const window_dims *w, size_t dim);

#endif
