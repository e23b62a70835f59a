/*
 * Between dimensions and factors.
 *
 * A tensor's sharding is projected to what shards each of its factors: a factor that is not the
 * minor-most of its dimension takes only what divides it, splitting axes; the minor-most takes the
 * rest. What does not divide is the overflow of a factor, which blocks it. Going back, a dimension
 * ends at the first factor that is not sharded in full: minor ones would need strides.
 */
#ifndef FACTOR_PROJECT_H
#define FACTOR_PROJECT_H

#include <tessera/propagate.h>

#include "factor/rule.h"

/* What shards a factor in one tensor. */
typedef struct factor_state {
    bool present;
    bool closed;
    bool minor_most;
    bool grown; /* it has got axes from another tensor */
    tsr_axis_list axes;
    tsr_axis_list overflow;
} factor_state;

/* One tensor of the op. */
typedef struct tensor_state {
    const tsr_sharding *sharding; /* as it was; NULL for none */
    factor_state *factors;        /* by number */
    bool changed;
} tensor_state;

typedef struct projection {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_propagation *op;
    const tsr_rule *rule;
    const tsr_mesh *mesh;
    size_t num_tensors;
    tensor_state *tensors; /* operands, then results */
    size_t room;           /* of every axis list */
    bool failed;           /* a record found no memory */
} projection;

/* Projects the shardings, one for each tensor, to factors. */
tsr_status project(tsr_context *ctx, tsr_arena *arena, const tsr_propagation *op,
                   const tsr_mesh *mesh, const tsr_sharding *const *shardings, projection *out);

/* The sharding of a tensor by its factors now; the old one when it did not change. */
tsr_status project_back(const projection *p, size_t tensor, const tsr_sharding **out);

/* A list of the projection's room; NULL refs when there is no memory. */
tsr_axis_list new_axis_list(const projection *p);
void copy_axes(tsr_axis_list *to, const tsr_axis_list *from);

/* Whether one list is a prefix of another, or the same. */
bool is_prefix_or_equal(const tsr_axis_list *a, const tsr_axis_list *b);
bool is_strict_prefix(const tsr_axis_list *a, const tsr_axis_list *b);

/* Gives a tensor more axes for a factor, if those it has are a strict prefix of them. */
void expand(projection *p, size_t tensor, size_t factor, const tsr_axis_list *axes);

/* The direction in which axes propagate along a factor. */
tsr_direction direction_of(const projection *p, size_t factor);

/* Records a decision, while decisions are recorded. */
void record(projection *p, tsr_decision decision, const tsr_axis_ref *axes, size_t num_axes);

/* The axes that all tensors with the factor agree on, by 4.2 of the rules; recorded. */
void compatible_axes(projection *p, size_t factor, tsr_axis_list *out);

/* Which conflicts to look for. */
typedef enum conflicts {
    CONFLICTS_ACROSS = 1, /* with other factors of a tensor */
    CONFLICTS_WITHIN = 2  /* with what the factor can take in a tensor */
} conflicts;

/* Cuts a list before what tensors first .. end - 1 cannot take for a factor; recorded. */
void remove_conflicts(projection *p, size_t first, size_t end, size_t factor, int which,
                      tsr_axis_list *axes);

/* The strategies. */
tsr_status propagate_basic(projection *p);
tsr_status propagate_aggressive(projection *p);
tsr_status propagate_most_parallel(projection *p);

/* Steps 3 and 4 of the aggressive strategy, with axes and an order of the factors given. */
tsr_status give_in_order(projection *p, const tsr_axis_list *axes, const size_t *order);

#endif
