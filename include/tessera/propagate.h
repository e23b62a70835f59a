/*
 * Propagation through one op: computes shardings for the tensors of an op from those that some of
 * them have.
 *
 * Dimensions are projected to the factors of the op's rule, axes are propagated between tensors
 * factor by factor, and the factors are projected back to dimensions. Propagation only adds axes,
 * to open dimensions; it does not change closed dimensions, explicit replication or annotations.
 */
#ifndef TESSERA_PROPAGATE_H
#define TESSERA_PROPAGATE_H

#include <tessera/rule.h>
#include <tessera/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_strategy {
    /*
     * The axes on which all tensors agree: their longest common prefix. A tensor that disagrees
     * stops propagation to all.
     */
    TSR_STRATEGY_BASIC,
    /*
     * Tensors may get different axes; a tensor that disagrees stops only propagation to itself. An
     * axis that two factors compete for goes to the one for which the largest tensor has it.
     */
    TSR_STRATEGY_AGGRESSIVE,
    /*
     * Of axes that disagree along a factor, and of factors that compete for an axis, the choice
     * with more shards.
     */
    TSR_STRATEGY_MOST_PARALLEL,
    /*
     * For eager calls (tsr_set_strategy): the layouts with the lowest modelled cost. Propagation,
     * which has no prices, treats it as AGGRESSIVE.
     */
    TSR_STRATEGY_CHEAPEST
} tsr_strategy;

/* Returns "basic", "aggressive", "most-parallel" or "cheapest"; "?" if unknown. Static. */
TSR_API const char *tsr_strategy_name(tsr_strategy strategy) TSR_MT_SAFE;
TSR_API bool tsr_strategy_find(const char *name, tsr_strategy *out) TSR_MT_SAFE;

/* The direction in which axes propagate. */
typedef enum tsr_direction {
    TSR_DIRECTION_BOTH,
    TSR_DIRECTION_FORWARD, /* from operands to results */
    TSR_DIRECTION_BACKWARD,
    TSR_DIRECTION_NONE
} tsr_direction;

/* What happened to some axes of a factor. */
typedef enum tsr_decision_kind {
    TSR_DECISION_GIVEN,      /* `tensor` got `axes` from `other` */
    TSR_DECISION_DISAGREE,   /* `tensor` and `other` shard the factor differently: `axes` is kept */
    TSR_DECISION_TAKEN,      /* `tensor` has `axes` in another factor, `other_factor` */
    TSR_DECISION_REPLICATED, /* `tensor` declares `axes` replicated, or pending, there */
    TSR_DECISION_CLOSED,     /* the dimension of `tensor` is closed */
    TSR_DECISION_INDIVISIBLE /* the factor of `tensor` does not divide by `axes` */
} tsr_decision_kind;

/* One decision. Tensors are numbered consecutively, operands first; -1 where none is concerned. */
typedef struct tsr_decision {
    tsr_decision_kind kind;
    size_t factor;
    int64_t tensor;
    int64_t other;
    int64_t other_factor;
    TSR_ARRAY(num_axes) const tsr_axis_ref *axes;
    size_t num_axes;
} tsr_decision;

/*
 * The decisions in the order in which they were made. Initialise with zeros; allocated in the
 * arena.
 */
typedef struct tsr_decisions {
    tsr_decision *list;
    size_t count;
    size_t room;
} tsr_decisions;

/* One op. A sharding that is NULL is open and empty; NULL in place of a list: all of them are. */
typedef struct tsr_propagation {
    const tsr_rule *rule;
    TSR_NULLABLE const tsr_mesh *mesh; /* NULL: the mesh that the shardings have in common */
    tsr_strategy strategy;
    tsr_direction direction;
    TSR_NULLABLE const tsr_direction
        *directions;   /* one for each factor; NULL: `direction` for all */
    bool conservative; /* no sub-axis propagates, so that no axis is split */
    bool elementwise;  /* AGGRESSIVE breaks ties by the number of shards for these ops */
    TSR_NULLABLE const tsr_sharding *const *operands;
    TSR_NULLABLE const tsr_sharding *const *results;
    TSR_NULLABLE tsr_decisions *decisions; /* NULL: nothing is recorded */
} tsr_propagation;

/*
 * Propagates through one op. Dimensions with priorities are propagated in rounds, those without and
 * with 0 first: axes that an earlier round added have precedence over later rounds. `operands` and
 * `results`, one entry for each tensor of the rule, receive the new shardings: the same object for
 * a tensor that did not change, NULL for one that had none and got no axes. A tensor on the empty
 * mesh is compatible with every mesh, and is moved to the op's mesh if it changes; on a maximal
 * mesh nothing propagates. It is an error if a sharding has another rank than the rule, or is on
 * another mesh than the op. If the op has no mesh, shardings on several meshes change nothing.
 */
TSR_API TSR_NODISCARD tsr_status tsr_propagate(tsr_context *ctx, tsr_arena *arena,
                                               const tsr_propagation *op,
                                               TSR_ARRAY(tsr_rule_num_operands(op->rule))
                                                   const tsr_sharding **operands,
                                               TSR_ARRAY(tsr_rule_num_results(op->rule))
                                                   const tsr_sharding **results) TSR_MT_CONTEXT;

/*
 * Computes the axes over which the results are pending when the op runs on operands of these
 * shardings: the axes by which all operands that have a reduction factor shard it, factor by
 * factor. The list is allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_propagate_pending(tsr_context *ctx, tsr_arena *arena,
                                                       const tsr_rule *rule, const tsr_mesh *mesh,
                                                       TSR_ARRAY(tsr_rule_num_operands(rule))
                                                           const tsr_sharding *const *operands,
                                                       const tsr_axis_ref **axes,
                                                       size_t *num_axes) TSR_MT_CONTEXT;

/*
 * Decides whether the op can run on operands of these shardings, none of them NULL, each device by
 * itself on the part that it holds, and computes the layout of its results: closed, with
 * `reduction` pending over the axes of reduction factors. The conditions: all operands that have a
 * factor shard it alike and divide as its dimensions require; factors that need replication or
 * permutation are not sharded; no axis shards two factors; nothing is pending. A dimension with
 * explicit sizes is a factor by itself, cut alike in every operand that has it. Returns
 * TSR_NOT_APPLICABLE if the op cannot: redistribute first.
 */
TSR_API TSR_NODISCARD tsr_status tsr_propagate_local(
    tsr_context *ctx, tsr_arena *arena, const tsr_rule *rule, const tsr_mesh *mesh,
    TSR_ARRAY(tsr_rule_num_operands(rule)) const tsr_sharding *const *operands,
    tsr_reduction reduction,
    TSR_ARRAY(tsr_rule_num_results(rule)) const tsr_sharding **results) TSR_MT_CONTEXT;

/*
 * Computes shardings of the operands with which the op can run on local parts, as
 * tsr_propagate_local requires: for each factor the axes of one operand, chosen by the strategy, by
 * priorities, and so that as few bytes as possible move; axes that an operand declares replicated
 * do not shard it. `bytes` has the size of each operand, then of each result. Returns the same
 * object for an operand that can stay as it is.
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
 * Prints a decision as a sentence, `result 0 gets "x" for i from operand 0`; allocated in the
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
