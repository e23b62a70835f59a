/* Drafts: mutable lists of axes, then built as a type. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "spmd/type.h"

/* With room for one more dimension, which a stack may add. */
static tsr_status make_lists(type_draft *d, size_t num_axes, size_t room)
{
    d->axes = ARENA_ARRAY(d->arena, tsr_axis_type, num_axes);
    d->dim_axes = ARENA_ARRAY(d->arena, size_t *, room);
    d->counts = ARENA_ARRAY(d->arena, size_t, room);
    d->sizes = ARENA_ARRAY(d->arena, const int64_t *, room);
    d->symbols = ARENA_ARRAY(d->arena, const char *, room);
    if (d->axes == NULL || d->dim_axes == NULL || d->counts == NULL || d->sizes == NULL ||
        d->symbols == NULL) {
        return diag_nomem(d->ctx);
    }
    for (size_t i = 0; i < room; i++) {
        d->dim_axes[i] = ARENA_ARRAY(d->arena, size_t, num_axes);
        if (d->dim_axes[i] == NULL) {
            return diag_nomem(d->ctx);
        }
        d->counts[i] = 0;
        d->sizes[i] = NULL;
        d->symbols[i] = NULL;
    }
    return TSR_OK;
}

tsr_status draft_start(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                       const tsr_type *type, size_t rank, type_draft *out)
{
    const size_t num_axes = tsr_mesh_num_axes(mesh);
    const bool has_spec = type != NULL && type->has_spec;
    type_draft d = {.ctx = ctx, .arena = arena, .mesh = mesh, .rank = has_spec ? type->rank : rank};
    TSR_TRY(make_lists(&d, num_axes, d.rank + 1));
    for (size_t a = 0; a < num_axes; a++) {
        d.axes[a] = type != NULL ? type->axes[a] : (tsr_axis_type){TSR_UNTYPED, TSR_SUM};
    }
    for (size_t i = 0; has_spec && i < d.rank; i++) {
        d.counts[i] = type->dims[i].num_axes;
        d.sizes[i] = type->dims[i].sizes;
        d.symbols[i] = type->dims[i].symbol;
        for (size_t k = 0; k < d.counts[i]; k++) {
            d.dim_axes[i][k] = type->dims[i].axes[k];
        }
    }
    *out = d;
    return TSR_OK;
}

void draft_add_axis(type_draft *draft, size_t axis, size_t dim)
{
    draft->dim_axes[dim][draft->counts[dim]++] = axis;
    draft->sizes[dim] = NULL;
    draft->symbols[dim] = NULL;
}

void draft_remove(type_draft *draft, size_t axis)
{
    for (size_t d = 0; d < draft->rank; d++) {
        for (size_t k = 0; k < draft->counts[d]; k++) {
            if (draft->dim_axes[d][k] == axis) {
                memmove(&draft->dim_axes[d][k], &draft->dim_axes[d][k + 1],
                        (draft->counts[d] - k - 1) * sizeof(size_t));
                draft->counts[d]--;
                draft->sizes[d] = NULL;
                draft->symbols[d] = NULL;
                return;
            }
        }
    }
}

tsr_status draft_finish(const type_draft *draft, const tsr_type **out)
{
    tsr_spec_dim *dims = ARENA_ARRAY(draft->arena, tsr_spec_dim, draft->rank);
    if (dims == NULL) {
        return diag_nomem(draft->ctx);
    }
    for (size_t d = 0; d < draft->rank; d++) {
        dims[d] = (tsr_spec_dim){draft->counts[d], draft->dim_axes[d], draft->sizes[d],
                                 draft->symbols[d]};
    }
    const tsr_type_spec spec = {
        .mesh = draft->mesh, .axes = draft->axes, .has_spec = true, draft->rank, dims};
    return tsr_type_create(draft->ctx, draft->arena, &spec, out);
}
