/*
 * Parts of axes as axes of their own: a mesh whose axes are cut where parts begin and end.
 *
 * A cut mesh has the places and devices of the mesh that it is made of. Its axes are named as parts
 * are written: `x:(1)2` and `x:(2)2` of an axis x of size 4.
 */
#ifndef MESH_PARTS_H
#define MESH_PARTS_H

#include <tessera/mesh.h>

/*
 * An axis of that name, or the part of one that it writes; the name of an axis comes first. False
 * when it is neither. Whether the axis has the part is left to tsr_axes_verify.
 */
bool mesh_find_part(const tsr_mesh *mesh, const char *name, size_t length, tsr_axis_ref *out);

/*
 * The mesh with its axes cut wherever one of some parts begins or ends; the mesh itself where there
 * are none. It uses the list of devices of the mesh, which outlives it. Parts that no reshape of an
 * axis has together are an error.
 */
tsr_status mesh_cut(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                    const tsr_axis_ref *parts, size_t count, const tsr_mesh **out);

/*
 * Whether `cut` is a mesh cut so out of another; then refs[i] is its axis i as a part of that one.
 * True for the mesh itself.
 */
bool mesh_parts(const tsr_mesh *cut, const tsr_mesh *mesh, tsr_axis_ref *refs);

#endif
