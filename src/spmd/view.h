/*
 * Types under another mesh over the same ranks, and types on parts of axes.
 *
 * A type has an entry for each axis of its mesh. One that is on a part of an axis, `x:(1)2`, has a
 * mesh that is cut there (mesh/parts.h). The types of a call are brought to one mesh, that of the
 * scope, which is cut where any of them is on a part; afterwards the parts of a result that agree
 * are joined again, so that equal types have equal meshes.
 */
#ifndef SPMD_VIEW_H
#define SPMD_VIEW_H

#include "mesh/parts.h"
#include "spmd/type.h"

/*
 * Brings types to the mesh of a call, *out: `mesh`, cut where one of the types or of `parts` is on
 * a part of an axis. Types that are NULL stay. A type on another mesh over the same ranks is read
 * under `mesh`, whole axes alone.
 */
tsr_status spmd_meet(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                     const tsr_type **types, size_t num_types, const tsr_axis_ref *parts,
                     size_t num_parts, const tsr_mesh **out);

/* A type on a mesh cut out of `mesh`, with parts joined that have one type and one place. */
tsr_status spmd_join(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh, const tsr_type *type,
                     const tsr_type **out);

/*
 * The axes of a mesh cut out of `mesh` that make up some axes and parts, in their order: at most
 * `capacity`. Parts must end where the mesh is cut.
 */
tsr_status spmd_axes_of_parts(tsr_context *ctx, const tsr_mesh *cut, const tsr_mesh *mesh,
                              const tsr_axis_ref *parts, size_t num_parts, size_t capacity,
                              size_t *axes, size_t *count);

/* The axes of one mesh along which ranks differ that differ along an axis of a set of another. */
tsr_axis_set spmd_map_axes(const tsr_mesh *from, tsr_axis_set set, const tsr_mesh *to);

/* tsr_type_sharding on a mesh that the type's mesh is cut out of, with parts as sub-axes. */
tsr_status spmd_sharding_on(tsr_context *ctx, tsr_arena *arena, const tsr_type *type,
                            const tsr_mesh *mesh, size_t rank, const tsr_sharding **out);

#endif
