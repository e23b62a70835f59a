/*
 * The rules for axes in a sharding or a list, in the order and words of the reference.
 *
 * Works on axes as they were written: the name may be unknown, the numbers may be anything.
 */
#ifndef MESH_AXIS_VERIFY_H
#define MESH_AXIS_VERIFY_H

#include "base/map.h"
#include "mesh/mesh.h"

/* An axis as written. `ref.axis` is -1 when the mesh has none of that name. */
typedef struct named_axis {
    tsr_axis_ref ref;
    slice name;
    location where;
} named_axis;

/* A list of them. */
typedef struct named_axes {
    named_axis *axes;
    size_t count;
} named_axes;

/* The state of a check: where messages go, their prefix, and the axes seen so far. */
typedef struct axis_verifier {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    const char *prefix; /* before every message; "" for none */
    named_axis *seen;
    size_t num_seen;
    map refs; /* of the axes seen, by their bytes */
} axis_verifier;

/* A verifier with room for `capacity` axes in all. */
tsr_status axis_verifier_init(axis_verifier *verifier, tsr_context *ctx, tsr_arena *arena,
                              const tsr_mesh *mesh, const char *prefix, size_t capacity);

/* Looks up the axis of a name as written: full, or the sub-axis (pre)size. */
void named_axis_resolve(named_axis *axis, const tsr_mesh *mesh);

/* A reference as if it had been written, for builders. An index out of range becomes unknown. */
named_axis named_axis_of(const tsr_mesh *mesh, tsr_axis_ref ref);

/* The axis-list check: names known, no duplicates, no adjacent references that could be merged. */
tsr_status axis_verify_list(axis_verifier *verifier, named_axes list);

/* Whether a list is in mesh order. */
bool named_axes_ordered(named_axes list);

/* The sub-axis checks over everything seen. */
tsr_status axis_verify_subs(axis_verifier *verifier);

/* `"x":(1)2` of an axis as written. */
void named_axis_print(buffer *buf, const named_axis *axis);
/* `"x", "y":(1)2` */
void named_axes_print(buffer *buf, named_axes list);
/* The same text of one axis; the arena's, or "?" when there is no memory. */
const char *named_axis_text(tsr_arena *arena, const named_axis *axis);

#endif
