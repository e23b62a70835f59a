/*
 * Propagation through one op: from the shardings that some of its tensors have to those that the
 * others should have.
 *
 * Dimensions are projected to the factors of the op's rule, axes are passed between tensors factor
 * by factor, and the factors are projected back to dimensions. Axes are only ever added, to open
 * dimensions: closed dimensions, explicit replication and what a user wrote stay.
 */
#ifndef TESSERA_PROPAGATE_H
#define TESSERA_PROPAGATE_H

#include <tessera/rule.h>
#include <tessera/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_strategy {
    /* What all tensors agree on: their longest common prefix. One that disagrees stops all. */
    TSR_STRATEGY_BASIC,
    /*
     * Tensors may get different axes; one that disagrees stops only itself. An axis that two
     * factors want goes to the one that the largest tensor has it for.
     */
    TSR_STRATEGY_AGGRESSIVE,
    /* Of axes that disagree along a factor, and of factors that want one axis, the more shards. */
    TSR_STRATEGY_MOST_PARALLEL,
    /*
     * For eager calls (tsr_set_strategy): the layouts with the lowest modelled cost. Propagation,
     * which has no prices, treats it as AGGRESSIVE.
     */
    TSR_STRATEGY_CHEAPEST
} tsr_strategy;

/* "basic", "aggressive", "most-parallel", "cheapest"; "?" for an unknown value. Static. */
TSR_API const char *tsr_strategy_name(tsr_strategy strategy) TSR_MT_SAFE;
TSR_API bool tsr_strategy_find(const char *name, tsr_strategy *out) TSR_MT_SAFE;

/* The direction in which axes propagate. */
typedef enum tsr_direction {
    TSR_DIRECTION_BOTH,
    TSR_DIRECTION_FORWARD, /* from operands to results */
    TSR_DIRECTION_BACKWARD,
    TSR_DIRECTION_NONE
} tsr_direction;

/* What became of some axes of a factor. */
typedef enum tsr_decision_kind {
    TSR_DECISION_GIVEN,      /* `tensor` got `axes` from `other` */
    TSR_DECISION_DISAGREE,   /* `tensor` and `other` shard the factor differently: `axes` is kept */
    TSR_DECISION_TAKEN,      /* `tensor` has `axes` in another factor, `other_factor` */
    TSR_DECISION_REPLICATED, /* `tensor` says that `axes` are replicated, or pending, there */
    TSR_DECISION_CLOSED,     /* the dimension of `tensor` is closed */
    TSR_DECISION_INDIVISIBLE /* the factor of `tensor` does not divide by `axes` */
} tsr_decision_kind;

/* One decision. Tensors are numbered through, operands first; -1 where there is none. */
typedef struct tsr_decision {
    tsr_decision_kind kind;
    size_t factor;
    int64_t tensor;
    int64_t other;
    int64_t other_factor;
    TSR_ARRAY(num_axes) const tsr_axis_ref *axes;
    size_t num_axes;
} tsr_decision;

/* Decisions in the order in which they were taken. Starts as zeros; allocated in the arena. */
typedef struct tsr_decisions {
    tsr_decision *list;
    size_t count;
    size_t room;
} tsr_decisions;

/* One op. Shardings that are NULL are open and empty; NULL instead of a list: all of them. */
typedef struct tsr_propagation {
    const tsr_rule *rule;
    TSR_NULLABLE const tsr_mesh *mesh; /* NULL: the one that the shardings have in common */
    tsr_strategy strategy;
    tsr_direction direction;
    TSR_NULLABLE const tsr_direction
        *directions;   /* one for each factor; NULL: `direction` for all */
    bool conservative; /* no sub-axis propagates, so that no axis is split */
    bool elementwise;  /* AGGRESSIVE breaks ties by shards for these ops */
    TSR_NULLABLE const tsr_sharding *const *operands;
    TSR_NULLABLE const tsr_sharding *const *results;
    TSR_NULLABLE tsr_decisions *decisions; /* NULL: nothing is recorded */
} tsr_propagation;

/*
 * Propagates through one op. Dimensions with priorities are propagated in rounds, those without and
 * with 0 first: what a lower number has given stays where a higher one would conflict. `operands`
 * and `results`, as many as the rule has, get the new shardings: the same object for a tensor that
 * did not change, NULL for one that had none and got nothing. A tensor on the empty mesh is on any
 * mesh, and rewritten onto it when it changes; on a maximal mesh nothing propagates. TSR_OK, or an
 * error when a sharding has another rank than the rule gives, or is on another mesh than the op's.
 * Without a mesh of the op, shardings on several meshes change nothing.
 */
TSR_API TSR_NODISCARD tsr_status tsr_propagate(tsr_context *ctx, tsr_arena *arena,
                                               const tsr_propagation *op,
                                               TSR_ARRAY(tsr_rule_num_operands(op->rule))
                                                   const tsr_sharding **operands,
                                               TSR_ARRAY(tsr_rule_num_results(op->rule))
                                                   const tsr_sharding **results) TSR_MT_CONTEXT;

/*
 * Returns the axes over which the results are pending when the op runs on operands of these
 * shardings: what all operands that have a reduction factor shard it by, factor after factor. The
 * list is allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_propagate_pending(tsr_context *ctx, tsr_arena *arena,
                                                       const tsr_rule *rule, const tsr_mesh *mesh,
                                                       TSR_ARRAY(tsr_rule_num_operands(rule))
                                                           const tsr_sharding *const *operands,
                                                       const tsr_axis_ref **axes,
                                                       size_t *num_axes) TSR_MT_CONTEXT;

/*
 * Returns whether the op can run on operands of these shardings, none of them NULL, each device by
 * itself on what it holds, and how its results are laid out then: closed, with `reduction` pending
 * over the axes of reduction factors. So all operands that have a factor shard it alike and divide
 * as its dimensions need; factors that need replication or permutation are whole; no axis shards
 * two factors; nothing is pending. A dimension with explicit sizes is a factor by itself, cut alike
 * in every operand that has it. TSR_NOT_APPLICABLE when it cannot: redistribute first.
 */
TSR_API TSR_NODISCARD tsr_status tsr_propagate_local(
    tsr_context *ctx, tsr_arena *arena, const tsr_rule *rule, const tsr_mesh *mesh,
    TSR_ARRAY(tsr_rule_num_operands(rule)) const tsr_sharding *const *operands,
    tsr_reduction reduction,
    TSR_ARRAY(tsr_rule_num_results(rule)) const tsr_sharding **results) TSR_MT_CONTEXT;

/*
 * Shardings of the operands with which the op can run on local parts, as tsr_propagate_local
 * requires: for each factor the axes of one operand, chosen by the strategy, by priorities, and so
 * that as few bytes as possible move; what an operand declares replicated is not sharded in it.
 * `bytes` has the size of each operand, then of each result. The same object for an operand that
 * can stay as it is.
 */
typedef struct tsr_alignment {
    const tsr_rule *rule;
    const tsr_mesh *mesh;
    tsr_strategy strategy;
    TSR_ARRAY(tsr_rule_num_operands(rule))
    const tsr_sharding *const *operands; /* none of them NULL */
    TSR_ARRAY(tsr_rule_num_operands(rule)) const int64_t *bytes;
} tsr_alignment;
TSR_API TSR_NODISCARD tsr_status tsr_propagate_align(
    tsr_context *ctx, tsr_arena *arena, const tsr_alignment *op,
    TSR_ARRAY(tsr_rule_num_operands(op->rule)) const tsr_sharding **aligned) TSR_MT_CONTEXT;

/*
 * Returns a decision as a sentence, `result 0 gets "x" for i from operand 0`; allocated in the
 * arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_decision_print(tsr_context *ctx, tsr_arena *arena,
                                                    const tsr_propagation *op,
                                                    const tsr_decision *decision,
                                                    const char **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
