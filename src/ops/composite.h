/*
 * Ops that are made of others, against the builder. Their arguments have been checked where a
 * comment says so; everything else is checked by the ops that they are made of. NULL when something
 * failed.
 */
#ifndef OPS_COMPOSITE_H
#define OPS_COMPOSITE_H

#include "ops/builder.h"

/* x has rank > dim. */
op_value *compose_softmax(op_builder *b, op_value *x, int64_t dim);
op_value *compose_logsumexp(op_builder *b, op_value *x, int64_t dim);
op_value *compose_argmax(op_builder *b, op_value *x, int64_t dim);

/* x has a dimension; scale and bias may be NULL. */
op_value *compose_layer_norm(op_builder *b, op_value *x, op_value *scale, op_value *bias,
                             double epsilon);
op_value *compose_rms_norm(op_builder *b, op_value *x, op_value *scale, double epsilon);

/* x has a dimension, weight has two; bias may be NULL. */
op_value *compose_linear(op_builder *b, op_value *x, op_value *weight, op_value *bias);

/* The labels are i64, settled, of the shape of the logits without the last dimension, which these
 * have. */
op_value *compose_cross_entropy(op_builder *b, op_value *logits, op_value *labels, int64_t ignored);

op_value *compose_one_hot(op_builder *b, op_value *indices, int64_t depth, tsr_dtype dtype);

/* All values have one shape, and there is one. */
op_value *compose_stack(op_builder *b, op_value *const *values, size_t count, int64_t dim);

/* As many values as the rule of the equation has operands, with its shapes. */
op_value *compose_einsum(op_builder *b, const tsr_rule *rule, op_value *const *values);

#endif
