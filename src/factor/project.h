/*
 * Between dimensions and factors.
 *
 * A tensor's sharding is projected to what shards each of its factors: a factor that is not the
 * minor-most of its dimension takes only what divides it, splitting axes; the minor-most takes the
 * rest. What does not divide is the overflow of a factor, which blocks it. Going back, a dimension
 * ends at the first factor that is not sharded in full: minor ones would need strides.
 *
 * Nothing is copied that can be looked at: the axes of a factor are a part of the sharding's own
 * list, unless an axis had to be cut, and what tensors agree on is a part of one of theirs. So a
 * visit that changes nothing writes little more than the states.
 */
#ifndef FACTOR_PROJECT_H
#define FACTOR_PROJECT_H

#include <tessera/propagate.h>

#include "factor/rule.h"
#include "mesh/axis.h"
#include "shard/sharding.h"

/* Axes in a list that belongs to a sharding or to the scratch. */
typedef struct axis_view {
    const tsr_axis_ref *refs;
    size_t count;
} axis_view;

/* What shards a factor in one tensor. */
typedef struct factor_state {
    axis_view axes;
    axis_view overflow;
    bool present;
    bool closed;
    bool minor_most;
    bool grown; /* it has got axes from another tensor */
} factor_state;

/* One tensor of the op. */
typedef struct tensor_state {
    const tsr_sharding *sharding; /* as it was; NULL for none */
    factor_state *factors;        /* by number */
    bool changed;
} tensor_state;

/* How to propagate through an op, as tsr_propagation says. */
typedef struct visit_op {
    const tsr_rule *rule;
    tsr_strategy strategy;
    tsr_direction direction;
    const tsr_direction *directions; /* by factor, or NULL */
    bool conservative;
    bool elementwise;
    tsr_decisions *decisions; /* NULL: nothing is recorded */
    tsr_arena *record;        /* what is recorded is kept here */
} visit_op;

typedef struct projection {
    tsr_context *ctx;
    tsr_arena *scratch; /* for all that no longer counts after the visit */
    const visit_op *op;
    const tsr_rule *rule;
    const tsr_mesh *mesh;
    size_t num_tensors;
    tensor_state *tensors; /* operands, then results */
    bool changed;          /* some tensor is */
    bool failed;           /* there was no memory */
} projection;

/* Projects the shardings, one for each tensor, to factors. Their meshes are not looked at. */
tsr_status project(tsr_context *ctx, tsr_arena *scratch, const visit_op *op, const tsr_mesh *mesh,
                   const tsr_sharding *const *shardings, projection *out);

/*
 * The sharding of a tensor by its factors now. Its lists are the scratch's and the old sharding's:
 * what is to be kept has to be copied. An error where it would have parts of one axis that do not
 * fit together.
 */
tsr_status project_back(projection *p, size_t tensor, tsr_sharding *out);

/* An error when a sharding is on another mesh; the empty mesh is not another one. */
tsr_status check_meshes(tsr_context *ctx, const tsr_rule *rule, const tsr_mesh *mesh,
                        const tsr_sharding *const *shardings);

static inline bool is_same_list(axis_view a, axis_view b)
{
    return a.count == b.count && axes_same(a.refs, b.refs, a.count);
}

/* Whether one list is a prefix of another and not the same; a prefix or the same. */
static inline bool is_strict_prefix(axis_view a, axis_view b)
{
    if (a.count >= b.count && (a.count > b.count || is_same_list(a, b))) {
        return false;
    }
    return a.count == 0 || (axes_same(a.refs, b.refs, a.count - 1) &&
                            tsr_axis_is_prefix(a.refs[a.count - 1], b.refs[a.count - 1]));
}
static inline bool is_prefix_or_equal(axis_view a, axis_view b)
{
    return is_same_list(a, b) || is_strict_prefix(a, b);
}

/* How many shards a list makes. */
static inline int64_t view_size(axis_view axes)
{
    return tsr_axes_size(axes.refs, axes.count);
}

/* Gives a tensor more axes for a factor, if those it has are a strict prefix of them. */
void expand(projection *p, size_t tensor, size_t factor, axis_view axes);

/* The direction in which axes propagate along a factor. */
tsr_direction direction_of(const projection *p, size_t factor);

static inline bool is_recording(const projection *p)
{
    return p->op->decisions != NULL;
}

/* Records a decision, while decisions are recorded. */
void record(projection *p, tsr_decision decision, const tsr_axis_ref *axes, size_t num_axes);

/* The axes that all tensors with the factor agree on, by 4.2 of the rules; recorded. */
axis_view compatible_axes(projection *p, size_t factor);

/* Which conflicts to look for. */
typedef enum conflicts {
    CONFLICTS_ACROSS = 1, /* with other factors of a tensor */
    CONFLICTS_WITHIN = 2  /* with what the factor can take in a tensor */
} conflicts;

/* A list cut before what tensors first .. end - 1 cannot take for a factor; recorded. */
axis_view remove_conflicts(projection *p, size_t first, size_t end, size_t factor, int which,
                           axis_view axes);

/* The strategies. */
tsr_status propagate_basic(projection *p);
tsr_status propagate_aggressive(projection *p);
tsr_status propagate_most_parallel(projection *p);

#endif
