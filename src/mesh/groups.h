/* Sets of places of a mesh, as (size, stride) pairs. */
#ifndef MESH_GROUPS_H
#define MESH_GROUPS_H

#include "mesh/mesh.h"

/* The places base + sums of index times stride, row-major over the pairs. */
typedef struct places {
    int64_t base;
    const tsr_stride *pairs;
    size_t count;
    int64_t size;
} places;

/* The place at an index, and the index of a place (as if base were 0). */
int64_t places_at(const places *set, int64_t index);
int64_t places_index(const places *set, int64_t place);

/* The places along axes that have been verified, and those beside them, in mesh order. */
tsr_status places_along(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                        const tsr_axis_ref *axes, size_t count, places *out);
tsr_status places_beside(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                         const tsr_axis_ref *axes, size_t count, places *out);

#endif
