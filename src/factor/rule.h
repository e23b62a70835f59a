/* What a rule is inside, and how the templates build one. */
#ifndef FACTOR_RULE_H
#define FACTOR_RULE_H

#include <tessera/rule.h>

#include "base/buffer.h"
#include "base/lex.h"

struct tsr_rule {
    size_t num_factors;
    const tsr_factor *factors;
    size_t num_operands;
    size_t num_results;
    const tsr_rule_tensor *tensors; /* operands, then results */
    bool custom;
};

static inline size_t rule_num_tensors(const tsr_rule *rule)
{
    return rule->num_operands + rule->num_results;
}

/* Its name: i .. z, then z_1 .. */
void factor_print(buffer *buf, size_t factor);

/* The size of a factor, 1 when it is not known. */
static inline int64_t rule_factor_size(const tsr_rule *rule, size_t factor)
{
    const int64_t size = rule->factors[factor].size;
    return size == TSR_UNKNOWN ? 1 : size;
}

/*
 * A rule under way. Factors are numbered as they are made, then put into dimensions, major to
 * minor. Nothing fails visibly before rule_finish.
 */
typedef struct rule_builder {
    tsr_context *ctx;
    tsr_arena *arena;
    size_t num_operands;
    size_t num_tensors;
    struct built_tensor *tensors;
    tsr_factor *factors;
    size_t num_factors;
    size_t room;
    bool failed;
} rule_builder;

/* No such dimension, in a mapping. */
#define NO_DIM SIZE_MAX

rule_builder rule_start(tsr_context *ctx, tsr_arena *arena, const tsr_extents *operands,
                        size_t num_operands, const tsr_extents *results, size_t num_results);

/* The next factor. */
size_t rule_factor(rule_builder *b, int64_t size, tsr_factor_kind kind, bool blocked);

/* Appends a factor to those of a dimension; NO_DIM: to none. */
void rule_put(rule_builder *b, size_t tensor, size_t dim, size_t factor);
/* The same, but that a factor of size 1 is left out where there are others. */
void rule_map(rule_builder *b, size_t tensor, size_t dim, size_t factor);
/* Into dimension `dim` of every tensor that has dimensions. */
void rule_put_each(rule_builder *b, size_t dim, size_t factor);

/* Gives each dimension that has no factor one of size 1, and makes the rule. */
tsr_status rule_finish(rule_builder *b, const tsr_rule **out);

/* The lists of a rule in a program, in the order they are written. */
typedef enum rule_list {
    RULE_REDUCTION,
    RULE_NEED_REPLICATION,
    RULE_PERMUTATION,
    RULE_BLOCKED,
    RULE_LIST_COUNT
} rule_list;

/* Numbers of factors, as written: 0 for `i`, 18 for `z_1`. */
typedef struct rule_numbers {
    int64_t *values;
    size_t count;
} rule_numbers;

/* The factors of each dimension of a tensor. */
typedef struct rule_map_text {
    rule_numbers *dims;
    size_t rank;
} rule_map_text;

/* A rule as a program has it: read by the reference's grammar, nothing else checked. */
typedef struct rule_text {
    rule_map_text *maps; /* of the operands, then of the results */
    size_t num_operands;
    size_t num_results;
    rule_numbers sizes; /* of factor 0, 1, .. */
    rule_numbers lists[RULE_LIST_COUNT];
    bool custom;
    bool too_large; /* the number of a factor was above 2^63-1: reported, but reading went on */
} rule_text;

/*
 * Reads `<([i, j])->([ij]) {i=2, j=4} reduction={j}, custom>`, also with `#sdy.op_sharding_rule`
 * before it, with the reference's errors.
 */
tsr_status rule_text_read(lexer *lex, rule_text *out);

/* Prints it in canonical form, from `<` to `>`. */
void rule_text_print(buffer *buf, const rule_text *rule);

/*
 * Checks a rule against the op it is on, whose values are listed operands first: ranks, -1 for what
 * is not a ranked tensor of static shape, and types as text. `op_prefix` precedes every message:
 * `'dialect.name' op `.
 */
tsr_status rule_text_verify(tsr_context *ctx, location where, const char *op_prefix,
                            const rule_text *rule, const int64_t *ranks, size_t num_operands,
                            size_t num_results, const char *const *type_texts);

/* An error about an op's shapes or dimensions. */
#define RULE_ERROR(ctx, ...) diag_error((ctx), TSR_ERR_INVALID, NO_LOCATION, __VA_ARGS__)

/* The dimension of a tensor that has a factor; its rank: none has. */
static inline size_t rule_dim_of_factor(const tsr_rule_tensor *tensor, size_t factor)
{
    for (size_t d = 0; d < tensor->rank; d++) {
        for (size_t i = 0; i < tensor->dims[d].num_factors; i++) {
            if (tensor->dims[d].factors[i] == factor) {
                return d;
            }
        }
    }
    return tensor->rank;
}

#endif
