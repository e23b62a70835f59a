/* Tensors from nothing. */
#ifndef OPS_OP_CREATE_H
#define OPS_OP_CREATE_H

#include "kernel/index.h"
#include "ops/op.h"

typedef struct iota_params {
    int64_t iota_dimension;
    op_type result;
} iota_params;

typedef struct random_params {
    int32_t distribution; /* random_kind */
    int64_t key;
    int64_t stream;
    op_type result;
} random_params;

typedef struct rng_bit_generator_params {
    int32_t rng_algorithm; /* DEFAULT, THREE_FRY, PHILOX */
} rng_bit_generator_params;

extern const op_row op_iota;              /* iota_params */
extern const op_row op_random;            /* random_params */
extern const op_row op_rng_bit_generator; /* state to state, bits; rng_bit_generator_params */

#endif
