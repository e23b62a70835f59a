/*
 * Explicit reshards: where an op needs its tensors in other shardings than they have. What the
 * parts of the pass share.
 */
#ifndef TRANSFORM_RESHARD_H
#define TRANSFORM_RESHARD_H

#include "factor/rule.h"
#include "propagate/state.h"
#include "transform/call_graph.h"
#include "verify/contract.h"

typedef struct resharding {
    propagation *s; /* for its rules */
    workspace *w;
    bool full;
    bool only_checks; /* nothing is changed: a reshard that is missing is an error */
    symbols table;
} resharding;

/* Every tensor is sharded as the op that uses it needs; or those of calls and concatenates are. */
extern const contract contract_explicit_reshards;
extern const contract contract_explicit_calls;

/* The shardings of an op's operands and results, and their projection to factors. */
typedef struct op_tensors {
    const tsr_sharding **shardings;
    size_t num_operands;
    size_t count;
    const tsr_mesh *mesh;
    projection x;
} op_tensors;

static inline axis_view axes_of(const op_tensors *t, size_t tensor, size_t factor)
{
    return t->x.tensors[tensor].factors[factor].axes;
}

static inline bool has_factor(const op_tensors *t, size_t tensor, size_t factor)
{
    return t->x.tensors[tensor].factors[factor].present;
}

static inline bool views_overlap(axis_view a, axis_view b)
{
    return tsr_axes_overlap(a.refs, a.count, b.refs, b.count);
}

/* ---- reshard_target.c: one value, from one sharding to another ---- */

/* Whether no dimension is cut; NULL is not a sharding. */
bool reshard_is_replicated(const tsr_sharding *sharding);
/* Whether two shardings put the same data on the same devices; NULL is not a sharding. */
bool reshard_is_equivalent(const tsr_sharding *a, const tsr_sharding *b);
/* A list of axes in the scratch; how many a sharding may become when it is cut. */
tsr_status reshard_new_list(workspace *w, size_t capacity, tsr_axis_list *out);
size_t reshard_list_room(const tsr_sharding *sharding);
/* The sharding of a value as an interned object; NULL for none. */
tsr_status reshard_sharding_of(workspace *w, uint32_t value, const tsr_sharding **out);
/* New ops, in no block yet. */
tsr_status reshard_make(workspace *w, uint32_t value, const tsr_sharding *to, uint32_t like,
                        uint32_t *out);
tsr_status reshard_make_collective(workspace *w, op_kind kind, const char *axes_name, uint32_t axes,
                                   uint32_t value, const tsr_sharding *to, tsr_reduction reduction,
                                   uint32_t like, uint32_t *out);
/* `{"x"}` as an attribute, or `[{"x"}, {}]`. */
tsr_status reshard_axes_attr(workspace *w, const tsr_mesh *mesh, const tsr_axis_list *lists,
                             size_t count, bool nested, uint32_t *out);
/*
 * Makes one use see a value in a target sharding. What is needed goes right after the value's
 * definition, or before an op.
 */
tsr_status reshard_to_target(resharding *r, uint32_t use, const tsr_sharding *target, bool full,
                             uint32_t before);
/* The error that a use of a value, an operand of an op, lacks a reshard. */
tsr_status reshard_is_missing(resharding *r, uint32_t op, size_t operand, const tsr_sharding *from,
                              const tsr_sharding *to);
/* All-reduces unreduced axes of operands that the first result does not keep. */
tsr_status reshard_reduce_operands(resharding *r, uint32_t op);
/* Replaces a reshard that makes axes unreduced by what does that. */
tsr_status reshard_reshard(resharding *r, uint32_t op);

/* ---- reshard_common.c: what the tensors of an op are sharded by together ---- */

/* How many elements a value has; 0 when its shape is not known. */
int64_t reshard_num_elements(const tsr_program *p, uint32_t value);
/* The axes of each factor in all tensors; *moves: some tensor has others. */
tsr_status reshard_find_common(resharding *r, uint32_t op, const op_tensors *t,
                               const tsr_rule *rule, axis_view *common, bool *moves);

/* ---- reshard_ops.c ---- */

/* An op with a rule: its tensors are moved to shardings that fit together. */
tsr_status reshard_op(resharding *r, uint32_t op);

#endif
