/*
 * Sharding rules: which dimensions of an op's operands and results correspond.
 *
 * A rule names factors and maps each dimension of each tensor to one or more of them, major to
 * minor: a matrix product is ([i, j], [j, k])->([i, k]), a reshape that merges two dimensions ([i,
 * j])->([ij]). Axes that shard a factor in one tensor may shard it in the others. The kind of a
 * factor states what the op does along it.
 */
#ifndef TESSERA_RULE_H
#define TESSERA_RULE_H

#include <tessera/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_factor_kind {
    TSR_FACTOR_PASS_THROUGH,     /* each part of the result needs the same part of the operands */
    TSR_FACTOR_REDUCTION,        /* reduced: sharded operands leave a pending reduction */
    TSR_FACTOR_NEED_REPLICATION, /* the op needs the whole factor on each device */
    TSR_FACTOR_PERMUTATION       /* parts of the result need shifted parts of the operands */
} tsr_factor_kind;

/*
 * One factor. A size of TSR_UNKNOWN is unknown; only a factor that is minor-most in every dimension
 * may have it. Blocked: nothing is propagated along it.
 */
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

/* The description of a rule. */
typedef struct tsr_rule_spec {
    TSR_ARRAY(num_factors) const tsr_factor *factors;
    size_t num_factors;
    TSR_ARRAY(num_operands) const tsr_rule_tensor *operands;
    size_t num_operands;
    TSR_ARRAY(num_results) const tsr_rule_tensor *results;
    size_t num_results;
    bool custom; /* a custom op */
} tsr_rule_spec;

typedef struct tsr_rule tsr_rule;

/*
 * Builds a rule in the arena; everything is copied. Rejects a dimension without factors, an index
 * out of range, a factor twice in one tensor, a negative size, and an unknown size of a factor that
 * must have a known one.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_create(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_rule_spec *spec,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Reads a rule at `text->at` and moves `at` after it: `([i, j], [j, k])->([i, k]) {i=4, j=8, k=16}
 * reduction={j}`, also inside `#sdy.op_sharding_rule<...>`; after the sizes, any of
 * `reduction={..}`, `need_replication={..}`, `permutation={..}`, `blocked_propagation={..}`, and `,
 * custom`. A factor is a letter, or `z_1`, `z_2` ..; the factors of a dimension are written without
 * a separator, `[ij]`. Factors are numbered in the order of the sizes; without sizes in the order
 * of their first use.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                                               const tsr_rule **out) TSR_MT_CONTEXT;

/* Reads a whole string as a rule. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_parse(tsr_context *ctx, tsr_arena *arena,
                                                const char *string,
                                                const tsr_rule **out) TSR_MT_CONTEXT;

/* How to print a rule. */
typedef enum tsr_rule_printing {
    TSR_RULE_FULL, /* #sdy.op_sharding_rule<([i])->([i]) {i=4}> */
    TSR_RULE_BARE  /* ([i])->([i]) {i=4} */
} tsr_rule_printing;

/* Prints the canonical text, allocated in the arena: factors are i .. z, then z_1 ... */
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

/* Returns whether factors, kinds, flags and mappings are equal. */
TSR_API bool tsr_rule_equal(const tsr_rule *a, const tsr_rule *b) TSR_MT_SAFE;

/* Computes the shape that a rule gives a tensor: the product of each dimension's factors. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_shape(tsr_context *ctx, const tsr_rule *rule,
                                                const tsr_rule_tensor *tensor,
                                                TSR_ARRAY(tensor->rank)
                                                    int64_t *shape) TSR_MT_CONTEXT;

/*
 * Builds a copy of the rule in which the factors whose flag in `whole` is set need replication: for
 * an op that cannot run on parts of them, although its rule propagates along them.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_keep_whole(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_rule *rule,
                                                     TSR_ARRAY(tsr_rule_num_factors(rule))
                                                         const bool *whole,
                                                     const tsr_rule **out) TSR_MT_CONTEXT;

/* ---- the ops that Tessera knows ---- */

typedef struct tsr_op_info {
    const char *name; /* StableHLO's if it has the op; static */
    const char *call; /* the call of ops.h, such as "tsr_exp"; NULL if no single call exists */
    size_t num_operands;
    bool is_variadic; /* num_operands or more */
    bool is_elementwise;
} tsr_op_info;

/*
 * tsr_op_count returns the number of ops, tsr_op_at one of them, from 0; its name is NULL if the
 * index is out of range.
 */
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

/* Builds the rule of any number of operands and one result, all of one shape. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_elementwise(tsr_context *ctx, tsr_arena *arena,
                                                      size_t num_operands, tsr_extents shape,
                                                      const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of any number of operands that broadcast to one result: their dimensions are the
 * last ones of the result, and one of size 1 may grow.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_broadcasting(tsr_context *ctx, tsr_arena *arena,
                                                       TSR_ARRAY(num_operands)
                                                           const tsr_extents *operands,
                                                       size_t num_operands, tsr_extents result,
                                                       const tsr_rule **out) TSR_MT_CONTEXT;

/* The dimensions of the two operands of a product that correspond. */
typedef struct tsr_dot_dims {
    size_t num_batch;
    TSR_ARRAY(num_batch) const size_t *lhs_batch;
    TSR_ARRAY(num_batch) const size_t *rhs_batch;
    size_t num_contracting;
    TSR_ARRAY(num_contracting) const size_t *lhs_contracting;
    TSR_ARRAY(num_contracting) const size_t *rhs_contracting;
} tsr_dot_dims;

/*
 * Builds the rule of the product of two tensors. The result has the batch dimensions, the free
 * dimensions of lhs, the free dimensions of rhs.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_dot_general(tsr_context *ctx, tsr_arena *arena,
                                                      tsr_extents lhs, tsr_extents rhs,
                                                      const tsr_dot_dims *dims,
                                                      const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of a product of matrices, [.., m, k] by [.., k, n], with the same leading
 * dimensions; a vector on either side is a matrix without that dimension.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_matmul(tsr_context *ctx, tsr_arena *arena,
                                                 tsr_extents lhs, tsr_extents rhs,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of an equation `ij,jk->ik`: a subscript for each dimension, any number of
 * operands; subscripts that the result does not have are summed. Without an arrow the result has
 * the subscripts that occur once, in order. A subscript twice in one operand is rejected: take the
 * diagonal first.
 *
 * `...` stands for the dimensions of an operand that have no subscript, as in NumPy: those of
 * several operands are aligned from the last, and one of size 1 is repeated. The result has `...`
 * too; without an arrow it comes first. Sums over its dimensions are rejected.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_einsum(tsr_context *ctx, tsr_arena *arena,
                                                 const char *equation,
                                                 TSR_ARRAY(num_operands)
                                                     const tsr_extents *operands,
                                                 size_t num_operands,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/* Builds the rule of a reduction over some dimensions, which the result does not have. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_reduce(tsr_context *ctx, tsr_arena *arena,
                                                 tsr_extents operand,
                                                 TSR_ARRAY(num_dims) const size_t *dims,
                                                 size_t num_dims,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of a transpose: dimension d of the result is dimension permutation[d] of the
 * operand.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_transpose(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_extents operand,
                                                    TSR_ARRAY(operand.rank)
                                                        const size_t *permutation,
                                                    const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of a broadcast: dimension d of the operand becomes dimension dims[d] of the
 * result; one of size 1 may grow. With dims NULL the operand's dimensions are the last ones of the
 * result.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_broadcast(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_extents operand, tsr_extents result,
                                                    TSR_NULLABLE const size_t *dims,
                                                    const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of a reshape: merges and splits dimensions. A tensor without elements has no
 * rule: TSR_ERR_UNSUPPORTED.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_reshape(tsr_context *ctx, tsr_arena *arena,
                                                  tsr_extents operand, tsr_extents result,
                                                  const tsr_rule **out) TSR_MT_CONTEXT;

/* Builds the rule of a concatenation along a dimension, which needs replication. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_concatenate(tsr_context *ctx, tsr_arena *arena,
                                                      TSR_ARRAY(num_operands)
                                                          const tsr_extents *operands,
                                                      size_t num_operands, size_t dim,
                                                      const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Build the rules of slice and pad, whose second operand is the padding value: dimensions that
 * change are permuted.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_slice(tsr_context *ctx, tsr_arena *arena,
                                                tsr_extents operand, tsr_extents result,
                                                const tsr_rule **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_rule_pad(tsr_context *ctx, tsr_arena *arena,
                                              tsr_extents operand, tsr_extents result,
                                              const tsr_rule **out) TSR_MT_CONTEXT;

/* Builds the rule of a sort along a dimension: as many results as operands, all of one shape. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_sort(tsr_context *ctx, tsr_arena *arena,
                                               size_t num_operands, tsr_extents shape, size_t dim,
                                               const tsr_rule **out) TSR_MT_CONTEXT;

/* Builds the rule of a cumulative op, such as a cumulative sum, along a dimension. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_cumulative(tsr_context *ctx, tsr_arena *arena,
                                                     tsr_extents shape, size_t dim,
                                                     const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * How gather and scatter interpret their indices, as in StableHLO. The lists of offset, collapsed
 * and input batching dimensions ascend.
 */
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
    size_t index_vector_dim; /* the rank of the indices if they have no such dimension */
} tsr_gather_dims;

/* Builds the rule of a gather. Operands: input, indices; the result: slices. */
TSR_API TSR_NODISCARD tsr_status tsr_rule_gather(tsr_context *ctx, tsr_arena *arena,
                                                 tsr_extents input, tsr_extents indices,
                                                 tsr_extents slices, const tsr_gather_dims *dims,
                                                 const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of a scatter. Operands: inputs, indices, updates; as many results as inputs.
 * `reduces`: the updates are added, multiplied, or combined by max or min, so their order does not
 * matter.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_scatter(tsr_context *ctx, tsr_arena *arena,
                                                  size_t num_inputs, tsr_extents input,
                                                  tsr_extents indices, tsr_extents updates,
                                                  const tsr_gather_dims *dims, bool reduces,
                                                  const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of rows of a table [v, e] by indices of any shape: the result has the indices'
 * shape, then e.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_embedding(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_extents table, tsr_extents indices,
                                                    const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * Builds the rule of attention: query [.., h, q, d], key [.., h, k, d], value [.., h, k, e], result
 * [.., h, q, e]. Each device needs all keys of its queries: k needs replication.
 */
TSR_API TSR_NODISCARD tsr_status tsr_rule_attention(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_extents query, tsr_extents key,
                                                    tsr_extents value,
                                                    const tsr_rule **out) TSR_MT_CONTEXT;

/*
 * The dimensions of a convolution: batch, feature, spatial. Operands: input, kernel. An unknown
 * extent has no rule: TSR_ERR_UNSUPPORTED.
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
