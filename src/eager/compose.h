/* Composite ops, executed: values are tensors of a scope of their own. */
#ifndef EAGER_COMPOSE_H
#define EAGER_COMPOSE_H

#include "eager/eager.h"
#include "ops/composite.h"

/* The builder, and what it executes for. */
typedef struct eager_builder {
    op_builder base;
    eager *e;
    const char *call;
} eager_builder;

static inline op_value *value_of(tsr_tensor *tensor)
{
    return (op_value *)tensor;
}

static inline tsr_tensor *tensor_of(op_value *value)
{
    return (tsr_tensor *)value;
}

/* Begins a composite call beside a tensor; what it makes belongs to the builder. */
tsr_status compose_begin(const char *call, tsr_tensor *beside, eager_builder *b);

/* A tensor of one number. */
tsr_status eager_fill(const char *call, tsr_comm *world, const tsr_tensor_spec *spec,
                      op_number number, tsr_tensor **out);

/* Ends it: the result, or why there is none, and everything else given back. */
tsr_status compose_end(eager_builder *b, op_value *result, tsr_tensor **out);

#endif
