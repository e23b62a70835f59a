/*
 * What the rules of several families share. The uses that they are asked about may be of rows
 * without `types`, so nothing is checked: each sees to it that dimensions exist before it names
 * them, and has no rule where they do not.
 */
#ifndef OPS_RULE_BUILD_H
#define OPS_RULE_BUILD_H

#include "factor/rule.h"
#include "ops/op.h"

/* A rule under way for the tensors of a request. */
rule_builder op_rule_start(const op_request *r, const op_type *results, tsr_arena *arena);

/* Whether every tensor has that rank, or rank 0. */
bool op_each_has_rank(const op_request *r, const op_type *results, size_t rank);

/* Hook: dimension d of every tensor is dimension d of result 0. */
tsr_status op_rule_pointwise(const op_request *r, const op_type *results, tsr_arena *arena,
                             const tsr_rule **out);

/* One factor for each dimension, in all tensors that have dimensions. */
tsr_status op_rule_each(const op_request *r, const op_type *results, tsr_arena *arena,
                        const tsr_factor *factors, size_t rank, const tsr_rule **out);

/* The same with the sizes of `from`; of another kind, or blocked, where `to` has another size. */
tsr_status op_rule_mismatch(const op_request *r, const op_type *results, tsr_arena *arena,
                            tsr_factor_kind kind, bool blocked, const tsr_rule **out);

/* Into dimension `dim` of operands, and of results, that have dimensions. */
void op_put_operands(rule_builder *b, const op_request *r, size_t dim, size_t factor);
void op_put_results(rule_builder *b, const op_request *r, const op_type *results, size_t dim,
                    size_t factor);

/* Factors for the dimensions `first` to `last` of operand 0, in all tensors. */
void op_put_dims(rule_builder *b, const op_request *r, size_t first, size_t last);

/* Whether a parameter names one of so many dimensions. */
static inline bool is_dim(int64_t dim, size_t rank)
{
    return dim >= 0 && (uint64_t)dim < rank;
}

#endif
