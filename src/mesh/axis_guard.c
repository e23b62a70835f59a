/* The guard of axes that a call takes with a mesh: base/guard.h. */
#include <inttypes.h>

#include "base/diag.h"
#include "base/guard.h"

bool guard_axes(const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count)
{
    for (size_t i = 0; mesh != NULL && i < count; i++) {
        const tsr_axis_ref *a = &axes[i];
        const int64_t size = a->axis >= 0 ? tsr_mesh_axis_size(mesh, (size_t)a->axis) : -1;
        if (size < 0 || (!a->is_sub && (a->pre != 1 || a->size != size))) {
            return false;
        }
    }
    return true;
}

tsr_status guard_axis(tsr_context *ctx, const char *function, const char *argument,
                      const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count)
{
    size_t at = 0;
    while (at + 1 < count && guard_axes(mesh, &axes[at], 1)) {
        at++;
    }
    const tsr_axis_ref *a = &axes[at];
    if (ctx == NULL) {
        return TSR_ERR_INVALID;
    }
    return a->axis >= 0 && (size_t)a->axis < tsr_mesh_num_axes(mesh)
               ? diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "%s: '%s' is the whole axis %" PRId32 " with pre-size %" PRId64
                            " and size %" PRId64 "; use tsr_axis_full for a whole axis",
                            function, argument, a->axis, a->pre, a->size)
               : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "%s: '%s' is axis %" PRId32 " of a mesh that has %zu", function,
                            argument, a->axis, tsr_mesh_num_axes(mesh));
}
