/*
 * Two meshes over the same devices in one numbering.
 *
 * Where both meshes' places are digits of one numbering of the devices, axes of one can be compared
 * with axes of the other as (size, stride) pairs, whatever the number of devices.
 */
#ifndef MESH_VIEW_H
#define MESH_VIEW_H

#include "mesh/mesh.h"

typedef struct mesh_view {
    const tsr_mesh *mesh;
    size_t count;
    digit digits[MAX_DIGITS];
} mesh_view;

/*
 * The views of two meshes with the same devices. False when no numbering makes digits of both:
 * their ids are lists, arbitrary even to each other. Comparing lists takes a pass over them.
 */
bool mesh_views(const tsr_mesh *a, const tsr_mesh *b, mesh_view *view_a, mesh_view *view_b);

/* The numbering of devices by their places in this mesh. */
void mesh_view_by_place(const tsr_mesh *mesh, mesh_view *view);

/* An axis as pairs of the numbering, as digits_part. */
bool mesh_view_axis(const mesh_view *view, tsr_axis_ref axis, tsr_stride *out, size_t *count);

#endif
