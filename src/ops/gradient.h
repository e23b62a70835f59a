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

/* One use of an op, and what is known behind it. */
typedef struct op_vjp {
    const char *call;
    const op_row *row;
    const op_params *params;
    size_t num_operands;
    op_value *const *operands;
    op_value *const *results;
    op_value *const *cotangents; /* of the results; NULL where nothing came */
    const bool *wanted;          /* by operand: nobody asks for the others */
} op_vjp;

/* Ops whose result does not change with their operands, or in steps. */
void gradient_none(op_builder *b, const op_vjp *v, op_value **grads);

void gradient_unary(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_binary(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_select(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_convert(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_reduce(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_mean(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_cumulative(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_dot(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_reshape(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_transpose(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_broadcast(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_slice(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_concatenate(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_pad(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_gather(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_scatter(op_builder *b, const op_vjp *v, op_value **grads);
void gradient_sort(op_builder *b, const op_vjp *v, op_value **grads);

/* A cotangent of a broadcast operand: summed over where it repeats. */
op_value *unbroadcast(op_builder *b, op_value *g, const op_type *operand);

#endif
