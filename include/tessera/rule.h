/*
 * Sharding rules: which dimensions of an op's operands and results belong together.
 *
 * A rule names factors and maps each dimension of each tensor to one or more of them, major to
 * minor: a matrix product is ([i, j], [j, k])->([i, k]), a reshape that merges two dimensions
 * ([i, j])->([ij]). Whatever axes shard a factor in one tensor may shard it in the others. The kind
 * of a factor says what the op does along it.
 */
#ifndef TESSERA_RULE_H
#define TESSERA_RULE_H

#include <tessera/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_factor_kind {
    TSR_FACTOR_PASS_THROUGH,     /* each part of the result needs that part of the operands */
    TSR_FACTOR_REDUCTION,        /* summed away: sharded operands leave a pending reduction */
    TSR_FACTOR_NEED_REPLICATION, /* the op needs all of it in one place */
    TSR_FACTOR_PERMUTATION       /* parts of the result need shifted parts of the operands */
} tsr_factor_kind;

/* One factor. A size of TSR_UNKNOWN is not known; only a factor that is minor-most in every
 * dimension may have it. Blocked: nothing is propagated along it. */
typedef struct tsr_factor {
    int64_t size;
    tsr_factor_kind kind;
    bool blocked;
} tsr_factor;

/* The factors of one dimension, major to minor: indices of the rule's factors, at least one. */
typedef struct tsr_rule_dim {
    TSR_ARRAY(num_factors) const size_t *factors;
    size_t num_factors;
} tsr_rule_dim;

/* The dimensions of one tensor. */
typedef struct tsr_rule_tensor {
    TSR_ARRAY(rank) const tsr_rule_dim *dims;
    size_t rank;
} tsr_rule_tensor;

/* What a rule is built from. */
typedef struct tsr_rule_spec {
    TSR_ARRAY(num_factors) const tsr_factor *factors;
    size_t num_factors;
    TSR_ARRAY(num_operands) const tsr_rule_tensor *operands;
    size_t num_operands;
    TSR_ARRAY(num_results) const tsr_rule_tensor *results;
    size_t num_results;
    bool custom; /* an op of the user's own */
} tsr_rule_spec;

typedef struct tsr_rule tsr_rule;

/*
 * Builds a rule in the arena; everything is copied. Refuses a dimension without factors, an index
 * out of range, a factor twice in one tensor, a negative size, and an unknown size where it
 * matters.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_create(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_rule_spec *spec,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Reads a rule at `text->at` and moves `at` after it:
 * `([i, j], [j, k])->([i, k]) {i=4, j=8, k=16} reduction={j}`, also inside
 * `#sdy.op_sharding_rule<...>`; after the sizes, in any choice, `reduction={..}`,
 * `need_replication={..}`, `permutation={..}`, `blocked_propagation={..}`, and `, custom`. A factor
 * is a letter, or `z_1`, `z_2` ..; those of a dimension stand side by side, `[ij]`. Factors are
 * numbered in the order of the sizes; without sizes in that of their first use.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                                               const tsr_rule **out) TSR_MT_CONTEXT;

/* Reads a whole string. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_parse(tsr_context *ctx, tsr_arena *arena,
                                                const char *string,
                                                const tsr_rule **out) TSR_MT_CONTEXT;

/* How to print a rule. */
typedef enum tsr_rule_printing {
    TSR_RULE_FULL, /* #sdy.op_sharding_rule<([i])->([i]) {i=4}> */
    TSR_RULE_BARE  /* ([i])->([i]) {i=4} */
} tsr_rule_printing;

/* Returns the canonical text, allocated in the arena: factors are i .. z, then z_1 ... */
TSR_API TSR_NODISCARD tsr_status tsr_rule_print(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_rule *rule, tsr_rule_printing printing,
                                                const char **out) TSR_MT_CONTEXT;

/* Returns views of the parts, owned by the rule. */
TSR_API size_t tsr_rule_num_factors(const tsr_rule *rule) TSR_MT_SAFE;
TSR_API const tsr_factor *tsr_rule_factor(const tsr_rule *rule, size_t factor) TSR_MT_SAFE;
TSR_API size_t tsr_rule_num_operands(const tsr_rule *rule) TSR_MT_SAFE;
TSR_API size_t tsr_rule_num_results(const tsr_rule *rule) TSR_MT_SAFE;
TSR_API const tsr_rule_tensor *tsr_rule_operand(const tsr_rule *rule, size_t operand) TSR_MT_SAFE;
TSR_API const tsr_rule_tensor *tsr_rule_result(const tsr_rule *rule, size_t result) TSR_MT_SAFE;
TSR_API bool tsr_rule_is_custom(const tsr_rule *rule) TSR_MT_SAFE;

/* Returns the same factors, kinds, flags and mappings. */
TSR_API bool tsr_rule_equal(const tsr_rule *a, const tsr_rule *b) TSR_MT_SAFE;

/* Returns the shape that a rule gives a tensor: the product of each dimension's factors. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_shape(tsr_context *ctx, const tsr_rule *rule,
                                                const tsr_rule_tensor *tensor,
                                                TSR_ARRAY(tensor->rank)
                                                    int64_t *shape) TSR_MT_CONTEXT;

/*
 * Returns the same rule with the factors whose flag in `whole` is set marked as needing
 * replication: for an op that cannot run on parts of them, although its rule propagates along them.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_keep_whole(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_rule *rule,
                                                     TSR_ARRAY(tsr_rule_num_factors(rule))
                                                         const bool *whole,
                                                     const tsr_rule **out) TSR_MT_CONTEXT;

/* ---- the ops that Tessera knows ---- */

typedef struct tsr_op_info {
    const char *name; /* StableHLO's where it has the op; static */
    const char *call; /* the call of ops.h, such as "tsr_exp"; NULL where there is no single one */
    size_t num_operands;
    bool is_variadic; /* num_operands or more */
    bool is_elementwise;
} tsr_op_info;

/* Returns how many there are, and each of them, from 0; the name is NULL out of range. */
TSR_API size_t tsr_op_count(void) TSR_MT_SAFE;
TSR_API tsr_op_info tsr_op_at(size_t i) TSR_MT_SAFE;

/*
 * ---- templates: the rules of common ops, from their shapes ----
 *
 * A rule is allocated in the arena. Shapes and dimensions that do not fit the op are errors.
 */

/* A shape: `rank` extents. */
typedef struct tsr_extents {
    size_t rank;
    TSR_ARRAY(rank) const int64_t *sizes;
} tsr_extents;

/* Any number of operands and one result, all of one shape. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_elementwise(tsr_context *ctx, tsr_arena *arena,
                                                      size_t num_operands, tsr_extents shape,
                                                      const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Any number of operands and one result, where operands repeat: their dimensions are the last ones
 * of the result, and one of size 1 may grow.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_broadcasting(tsr_context *ctx, tsr_arena *arena,
                                                       TSR_ARRAY(num_operands)
                                                           const tsr_extents *operands,
                                                       size_t num_operands, tsr_extents result,
                                                       const tsr_rule **out) TSR_MT_CONTEXT;

/* Which dimensions of the two operands of a product go together. */
typedef struct tsr_dot_dims {
    size_t num_batch;
    TSR_ARRAY(num_batch) const size_t *lhs_batch;
    TSR_ARRAY(num_batch) const size_t *rhs_batch;
    size_t num_contracting;
    TSR_ARRAY(num_contracting) const size_t *lhs_contracting;
    TSR_ARRAY(num_contracting) const size_t *rhs_contracting;
} tsr_dot_dims;

/*
 * Returns the product of two tensors. The result: batch, free dimensions of lhs, free ones of rhs.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_dot_general(tsr_context *ctx, tsr_arena *arena,
                                                      tsr_extents lhs, tsr_extents rhs,
                                                      const tsr_dot_dims *dims,
                                                      const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Matrices, [.., m, k] by [.., k, n], with the same leading dimensions; a vector on either side is
 * a matrix without that dimension.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_matmul(tsr_context *ctx, tsr_arena *arena,
                                                 tsr_extents lhs, tsr_extents rhs,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * `ij,jk->ik`: a subscript for each dimension, any number of operands; those that the result lacks
 * are summed. Without an arrow the result has those that occur once, in order. A subscript twice
 * in one operand is refused: take the diagonal first.
 *
 * `...` stands for the dimensions of an operand that have no subscript, as in NumPy: those of
 * several operands go together from the last, and one of size 1 repeats. The result has `...` too;
 * without an arrow it comes first. Sums over its dimensions are refused.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_einsum(tsr_context *ctx, tsr_arena *arena,
                                                 const char *equation,
                                                 TSR_ARRAY(num_operands)
                                                     const tsr_extents *operands,
                                                 size_t num_operands,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/* Reduces some dimensions; the result lacks them. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_reduce(tsr_context *ctx, tsr_arena *arena,
                                                 tsr_extents operand,
                                                 TSR_ARRAY(num_dims) const size_t *dims,
                                                 size_t num_dims,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/* Dimension d of the result is dimension permutation[d] of the operand. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_transpose(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_extents operand,
                                                    TSR_ARRAY(operand.rank)
                                                        const size_t *permutation,
                                                    const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Dimension d of the operand becomes dimension dims[d] of the result; one of size 1 may grow. With
 * dims NULL the operand's dimensions are the last ones of the result.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_broadcast(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_extents operand, tsr_extents result,
                                                    TSR_NULLABLE const size_t *dims,
                                                    const tsr_rule **out) TSR_MT_CONTEXT;

/* Merges and splits dimensions. Without elements there is no rule: TSR_ERR_UNSUPPORTED. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_reshape(tsr_context *ctx, tsr_arena *arena,
                                                  tsr_extents operand, tsr_extents result,
                                                  const tsr_rule **out) TSR_MT_CONTEXT;

/* Operands one after the other along a dimension, which must be whole. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_concatenate(tsr_context *ctx, tsr_arena *arena,
                                                      TSR_ARRAY(num_operands)
                                                          const tsr_extents *operands,
                                                      size_t num_operands, size_t dim,
                                                      const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Returns a part of the operand, and an operand with a border, beside the scalar that it is made
 * of: dimensions that change are permuted.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_slice(tsr_context *ctx, tsr_arena *arena,
                                                tsr_extents operand, tsr_extents result,
                                                const tsr_rule **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_rule_pad(tsr_context *ctx, tsr_arena *arena,
                                              tsr_extents operand, tsr_extents result,
                                              const tsr_rule **out) TSR_MT_CONTEXT;

/* Sorts along a dimension: as many results as operands, all of one shape. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_sort(tsr_context *ctx, tsr_arena *arena,
                                               size_t num_operands, tsr_extents shape, size_t dim,
                                               const tsr_rule **out) TSR_MT_CONTEXT;

/* Returns a running sum, or the like, along a dimension. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_cumulative(tsr_context *ctx, tsr_arena *arena,
                                                     tsr_extents shape, size_t dim,
                                                     const tsr_rule **out) TSR_MT_CONTEXT;

/* How gather and scatter read their indices, as StableHLO has it. The lists of offset, collapsed
 * and input's batching dimensions ascend. */
typedef struct tsr_gather_dims {
    size_t num_offset;
    TSR_ARRAY(num_offset)
    const size_t *offset_dims; /* of the slices; scatter's update_window_dims */
    size_t num_collapsed;
    TSR_ARRAY(num_collapsed)
    const size_t *collapsed_dims; /* of the input; scatter's inserted_window_dims */
    size_t num_batching;
    TSR_ARRAY(num_batching) const size_t *input_batching;
    TSR_ARRAY(num_batching) const size_t *indices_batching;
    size_t index_vector_dim; /* the rank of the indices when there is none */
} tsr_gather_dims;

/* Operands: input, indices; the result: slices. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_gather(tsr_context *ctx, tsr_arena *arena,
                                                 tsr_extents input, tsr_extents indices,
                                                 tsr_extents slices, const tsr_gather_dims *dims,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Operands: inputs, indices, updates; as many results as inputs. `reduces`: the updates are added,
 * multiplied, or taken by max or min, so that their order does not matter.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_scatter(tsr_context *ctx, tsr_arena *arena,
                                                  size_t num_inputs, tsr_extents input,
                                                  tsr_extents indices, tsr_extents updates,
                                                  const tsr_gather_dims *dims, bool reduces,
                                                  const tsr_rule **out) TSR_MT_CONTEXT;

/* Rows of a table [v, e] by indices of any shape: the result is the indices' shape, then e. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_embedding(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_extents table, tsr_extents indices,
                                                    const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Attention: query [.., h, q, d], key [.., h, k, d], value [.., h, k, e], result [.., h, q, e]. The
 * keys of a query must be in one place: k needs replication.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_attention(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_extents query, tsr_extents key,
                                                    tsr_extents value,
                                                    const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * The dimensions of a convolution: which is batch, which feature, which are spatial. Operands:
 * input, kernel. With an unknown extent there is no rule: TSR_ERR_UNSUPPORTED.
 */
typedef struct tsr_convolution_dims {
    size_t num_spatial;
    size_t input_batch;
    size_t input_feature;
    TSR_ARRAY(num_spatial) const size_t *input_spatial;
    size_t kernel_input_feature;
    size_t kernel_output_feature;
    TSR_ARRAY(num_spatial) const size_t *kernel_spatial;
    size_t output_batch;
    size_t output_feature;
    TSR_ARRAY(num_spatial) const size_t *output_spatial;
    int64_t feature_group_count; /* 1 for none */
    int64_t batch_group_count;   /* 1 for none */
} tsr_convolution_dims;

TSR_API TSR_NODISCARD tsr_status tsr_rule_convolution(tsr_context *ctx, tsr_arena *arena,
                                                      tsr_extents input, tsr_extents kernel,
                                                      tsr_extents output,
                                                      const tsr_convolution_dims *dims,
                                                      const tsr_rule **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
