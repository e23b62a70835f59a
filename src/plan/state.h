/*
 * States: layouts as lists of atoms.
 *
 * Each atom is replicated, pending, or stands in the list of one dimension, cut or held. A held
 * atom has been gathered although atoms after it in the list are still cut: a device has the blocks
 * of all its coordinates, side by side. A list ends with a cut atom; held ones at its minor end
 * leave it. Only dimensions whose extent divides hold atoms. A dimension may have the explicit
 * sizes of the source or of the destination, with the whole list that they belong to.
 *
 * Unused bytes are 0, so that equal states have equal bytes.
 */
#ifndef PLAN_STATE_H
#define PLAN_STATE_H

#include "plan/atoms.h"

typedef struct plan_state {
    uint8_t list[ATOMS_MAX];      /* the lists of all dimensions, one after the other */
    uint8_t ends[ATOMS_MAX_RANK]; /* where the list of a dimension ends */
    uint16_t held;                /* sets of atoms */
    uint16_t pending;
    uint16_t src_sizes; /* sets of dimensions with explicit sizes */
    uint16_t dst_sizes;
} plan_state;

/* The list of a dimension. */
typedef struct atom_list {
    const uint8_t *atoms;
    size_t count;
} atom_list;

static inline atom_list state_list(const plan_state *s, size_t dim)
{
    const size_t begin = dim > 0 ? s->ends[dim - 1] : 0;
    return (atom_list){s->list + begin, s->ends[dim] - begin};
}

bool state_equal(const plan_state *a, const plan_state *b);

/* A dimension of a state: how many shards, as if held atoms were cut, and how many cut ones. */
typedef struct state_dim {
    atom_list list;
    int64_t shards;
    int64_t cut;
    const tsr_geometry *sized; /* with explicit sizes; NULL: even chunks */
    int64_t largest;           /* rows that a device has at most */
} state_dim;

state_dim state_dim_of(const plan_space *space, const plan_state *s, size_t dim);

/* Whether a dimension is in chunks of equal size. */
bool state_dim_divides(const plan_space *space, const state_dim *dim, size_t index);

/* The rows of a shard. */
tsr_interval state_rows(const plan_space *space, const state_dim *dim, size_t index, int64_t shard);

/* The bytes of the largest part that a device has. */
int64_t state_bytes(const plan_space *space, const plan_state *s);

/* A state with what follows from it, computed once: a search prices many steps of each. */
typedef struct state_view {
    const plan_state *state;
    const state_dim *dims;
    int64_t bytes; /* of the largest part */
} state_view;

/* Fills `dims`, one for each dimension. The state and the list outlive the view. */
state_view state_view_of(const plan_space *space, const plan_state *s, state_dim *dims);

/*
 * The state of a geometry, the source or the destination of a space. `src` is the state of the
 * source, for that of the destination.
 */
tsr_status state_of_geometry(tsr_context *ctx, const plan_space *space, const tsr_geometry *of,
                             const plan_state *src, plan_state *out);

/* The states of a search: the source is the first, the destination the second. */
typedef struct state_set {
    plan_state *states;
    size_t count;
    size_t capacity;
    bool complete; /* there was room for all */
} state_set;

/*
 * All states that a plan may pass, of at most `limit` bytes a device (-1: any). At most `capacity`
 * of them: `complete` says whether that was all.
 */
tsr_status states_list(tsr_context *ctx, tsr_arena *arena, const plan_space *space, int64_t limit,
                       size_t capacity, state_set *out);

#endif
