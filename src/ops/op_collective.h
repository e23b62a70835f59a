/* Collectives as ops of programs, on the ranks that replica groups name. */
#ifndef OPS_OP_COLLECTIVE_H
#define OPS_OP_COLLECTIVE_H

#include "ops/op.h"

typedef struct all_gather_params {
    int64_t all_gather_dim;
} all_gather_params;

typedef struct all_to_all_params {
    int64_t split_dimension;
    int64_t concat_dimension;
    int64_t split_count;
} all_to_all_params;

typedef struct reduce_scatter_params {
    int64_t scatter_dimension;
} reduce_scatter_params;

/* Several operands at once, a result each. */
extern const op_row op_all_gather; /* all_gather_params */
extern const op_row op_all_reduce;
extern const op_row op_all_to_all; /* all_to_all_params */
extern const op_row op_collective_broadcast;
extern const op_row op_collective_permute;
extern const op_row op_cross_replica_sum;
extern const op_row op_reduce_scatter; /* reduce_scatter_params */

#endif
