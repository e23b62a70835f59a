/* References to axes, compared without a call: for loops over lists of them. */
#ifndef MESH_AXIS_H
#define MESH_AXIS_H

#include <tessera/axis.h>

static inline bool axis_same(const tsr_axis_ref *a, const tsr_axis_ref *b)
{
    return a->axis == b->axis && a->is_sub == b->is_sub && a->pre == b->pre && a->size == b->size;
}

static inline bool axes_same(const tsr_axis_ref *a, const tsr_axis_ref *b, size_t count)
{
    for (size_t i = 0; a != b && i < count; i++) {
        if (!axis_same(&a[i], &b[i])) {
            return false;
        }
    }
    return true;
}

#endif
