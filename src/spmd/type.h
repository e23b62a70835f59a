/* The representation of a type, and drafts for making one from another. */
#ifndef SPMD_TYPE_H
#define SPMD_TYPE_H

#include <tessera/spmd.h>

#include "base/buffer.h"
#include "base/diag.h"

struct tsr_type {
    const tsr_mesh *mesh;
    const tsr_axis_type *axes; /* one for each axis of the mesh */
    bool has_spec;             /* some axis is in the spec */
    size_t rank;
    const tsr_spec_dim *dims;
};

#define SPMD_ERROR(ctx, ...) diag_error((ctx), TSR_ERR_INVALID, NO_LOCATION, __VA_ARGS__)

/* Whether an axis is in a set. */
static inline bool axis_in_set(tsr_axis_set set, size_t axis)
{
    return axis < 64 && (set.bits >> axis & 1) != 0;
}

/* How many shards some axes of a mesh make; -1 when it overflows. */
int64_t spmd_shards(const tsr_mesh *mesh, const size_t *axes, size_t num_axes);

/* The extent of the shard at `index` of `shards`, in chunks of ceil. */
int64_t spmd_chunk(int64_t extent, int64_t shards, int64_t index);

/* A dimension as written to one of a rank; false when it is out of range. */
bool spmd_resolve_dim(int64_t dim, size_t rank, size_t *out);

/* Whether two dimensions stand for the same unbound sizes; or for none. */
static inline bool spmd_same_symbol(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && __builtin_strcmp(a, b) == 0);
}

/* Texts for messages, appended. */
void spmd_print_typed(buffer *buf, const tsr_typed_shape *typed);
void spmd_print_end(buffer *buf, tsr_end end);
void spmd_print_axes(buffer *buf, const tsr_mesh *mesh, const size_t *axes, size_t num_axes);

/* `R`, `S(1)`, `P(max)` as text of the arena; never NULL. */
const char *spmd_end_text(tsr_arena *arena, tsr_end end);

/* The call of a transition as a program writes it, `tsr_all_reduce(x, "tp", TSR_AS(P), ..)`. */
void spmd_print_call(buffer *buf, const tsr_transition *t, const char *value, const char *axis);

/* A draft of a type: mutable lists. */
typedef struct type_draft {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    tsr_axis_type *axes;
    size_t rank;
    size_t **dim_axes; /* by dimension: room for every axis of the mesh */
    size_t *counts;
    const int64_t **sizes;
    const char **symbols;
} type_draft;

/* From a type, or from nothing (NULL); `rank` dimensions where the type has no spec. */
tsr_status draft_start(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                       const tsr_type *type, size_t rank, type_draft *out);
/* Appends an axis to a dimension; removes one from its dimension. */
void draft_add_axis(type_draft *draft, size_t axis, size_t dim);
void draft_remove(type_draft *draft, size_t axis);
tsr_status draft_finish(const type_draft *draft, const tsr_type **out);

#endif
