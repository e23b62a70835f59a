/*
 * Gradients of ops, against the builder: from the cotangents of the results to those of the
 * operands.
 *
 * A gradient that is left NULL is zero. Cotangents have the types of the values that they belong
 * to.
 */
#ifndef OPS_GRADIENT_H
#define OPS_GRADIENT_H

#include "ops/builder.h"

/* One use of an op, and what is known after it. */
typedef struct op_vjp {
    const char *call;
    const op_row *row;
    const void *params;
    size_t num_operands;
    op_value *const *operands;
    op_value *const *results;
    op_value *const *cotangents; /* of the results; NULL where nothing came */
    const bool *wanted;          /* by operand: gradients of the others are not used */
} op_vjp;

/* Ops whose result does not change with their operands, or in steps. */
void gradient_none(op_builder *b, const op_vjp *v, op_value **grads);

/* Of gather and scatter: gradient_index.c. */
void gradient_gather(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_scatter(op_builder *b, const op_vjp *v, op_value **grads);
/* Each element back to where it was taken from: results are values and their indices. */
void gradient_by_indices(op_builder *b, const op_vjp *v, op_value **grads, int64_t dim);

/* A cotangent of a broadcast operand: summed over where it repeats. */
op_value *unbroadcast(op_builder *b, op_value *g, op_value *operand);

#endif
