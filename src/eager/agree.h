/*
 * Calls that are local: each is added to the history that ranks compare when they next meet. In
 * checked mode they meet before the call, and compare what they are about to do.
 */
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
    tsr_tensor *const *operands;    /* or NULL: which tensors they are is not compared */
    uint64_t hash;                  /* hash_call of the rest, but for the operands; 0: not known */
} local_call;

/* A hash of a call that is the same on all ranks which make the same call. Never 0. */
uint64_t hash_call(const local_call *what);

/*
 * Adds a call to the history, unless ranks have their values to themselves and go their own ways.
 * In checked mode it is first a rendezvous that fails on all ranks, and shows the calls, where they
 * differ. The first result of the call is made by `made_by`, the next by one more.
 */
tsr_status eager_agree(eager *e, const local_call *what, uint64_t *made_by);

#endif
