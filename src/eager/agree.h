/* Checked mode: before a call that is local, ranks compare what they are about to do. */
#ifndef EAGER_AGREE_H
#define EAGER_AGREE_H

#include "eager/eager.h"
#include "ops/number.h"

/* What a call is given. */
typedef struct local_call {
    const char *call;
    const char *op;          /* the row's name: a call of several ops makes each; NULL for none */
    const op_fields *fields; /* of the parameters; NULL for none */
    const void *params;
    const op_number *number; /* the value of all elements; NULL for none */
    size_t num_tensors;
    const tsr_tensor_spec *tensors; /* operands, or the tensor that is made */
} local_call;

/*
 * Whether calls are compared: in checked mode, unless ranks have their values to themselves and go
 * their own ways.
 */
bool eager_agrees(const eager *e);

/* A rendezvous that fails on all ranks, and shows the calls, where they differ; so order is
 * compared with the arguments. */
tsr_status eager_agree(const eager *e, const local_call *what);

#endif
