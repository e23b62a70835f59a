/* Between types and shardings. */
#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "spmd/type.h"

/* The axis of a reference that is all of it. */
static tsr_status full_axis(tsr_context *ctx, const tsr_mesh *mesh, tsr_axis_ref ref, size_t *out)
{
    if (ref.is_sub != 0) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "a part of axis %s is used: types know whole axes only",
                          tsr_mesh_axis_name(mesh, (size_t)ref.axis));
    }
    *out = (size_t)ref.axis;
    return TSR_OK;
}

static tsr_status take_dim(type_draft *d, const tsr_dim *dim, size_t at)
{
    for (size_t k = 0; k < dim->num_axes; k++) {
        size_t axis = 0;
        TSR_TRY(full_axis(d->ctx, d->mesh, dim->axes[k], &axis));
        d->axes[axis] = (tsr_axis_type){TSR_V, TSR_SUM};
        draft_add_axis(d, axis, at);
    }
    if (dim->ragged != NULL && dim->ragged->kind != TSR_RAGGED_DYNAMIC) {
        return diag_error(d->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "dimension %zu is partitioned: types know only even chunks, explicit "
                          "sizes and their symbols",
                          at);
    }
    if (dim->ragged != NULL && dim->ragged->sizes == NULL) {
        d->symbols[at] = dim->ragged->symbol != NULL ? dim->ragged->symbol : "";
    }
    d->sizes[at] = dim->ragged != NULL ? dim->ragged->sizes : NULL;
    return TSR_OK;
}

tsr_status tsr_type_of_sharding(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                                tsr_local_type other, const tsr_type **out)
{
    GUARD(tsr_type_of_sharding);
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    type_draft d;
    size_t num_unreduced;
    const tsr_axis_ref *unreduced = tsr_sharding_unreduced(sharding, &num_unreduced);
    if (other != TSR_R && other != TSR_I) {
        return SPMD_ERROR(ctx, "axes that a sharding does not use must be R or I, not %s",
                          tsr_local_type_name(other));
    }
    TSR_TRY(draft_start(ctx, arena, mesh, NULL, tsr_sharding_rank(sharding), &d));
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh); a++) {
        d.axes[a] = (tsr_axis_type){other, TSR_SUM};
    }
    for (size_t i = 0; i < num_unreduced; i++) {
        size_t axis = 0;
        TSR_TRY(full_axis(ctx, mesh, unreduced[i], &axis));
        d.axes[axis] = (tsr_axis_type){TSR_P, tsr_sharding_reduction(sharding)};
    }
    for (size_t i = 0; i < d.rank; i++) {
        TSR_TRY(take_dim(&d, tsr_sharding_dim(sharding, i), i));
    }
    return draft_finish(&d, out);
}

/* The pending axes of a type, all of one reduction. */
static tsr_status find_pending(tsr_context *ctx, const tsr_type *type, tsr_axis_ref *out,
                               tsr_sharding_spec *spec)
{
    for (size_t a = 0; a < tsr_mesh_num_axes(type->mesh); a++) {
        const tsr_axis_type t = type->axes[a];
        if (t.kind == TSR_V && tsr_type_dim_of(type, a) < 0) {
            return SPMD_ERROR(ctx,
                              "the value varies along axis %s and the partition spec has no entry "
                              "for it: this cannot be expressed as a sharding",
                              tsr_mesh_axis_name(type->mesh, a));
        }
        if (t.kind != TSR_P) {
            continue;
        }
        if (spec->num_unreduced > 0 && spec->reduction != t.partial) {
            return SPMD_ERROR(ctx, "different reductions are pending, one of them %s along axis %s",
                              tsr_axis_type_name(t), tsr_mesh_axis_name(type->mesh, a));
        }
        spec->reduction = t.partial;
        out[spec->num_unreduced++] = tsr_axis_full(type->mesh, a);
    }
    spec->unreduced = out;
    return TSR_OK;
}

static tsr_status lay_out(tsr_context *ctx, tsr_arena *arena, const tsr_type *type, size_t at,
                          tsr_dim *out)
{
    const tsr_spec_dim none = {0};
    const tsr_spec_dim *dim = type->has_spec ? &type->dims[at] : &none;
    tsr_axis_ref *refs = ARENA_ARRAY(arena, tsr_axis_ref, dim->num_axes);
    if (refs == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t k = 0; k < dim->num_axes; k++) {
        refs[k] = tsr_axis_full(type->mesh, dim->axes[k]);
    }
    *out = tsr_dim_closed(refs, dim->num_axes);
    if (dim->sizes != NULL || dim->symbol != NULL) {
        const bool named = dim->symbol != NULL && dim->symbol[0] != '\0';
        tsr_ragged *ragged = ARENA_NEW(arena, tsr_ragged);
        if (ragged == NULL) {
            return diag_nomem(ctx);
        }
        *ragged = (tsr_ragged){.kind = TSR_RAGGED_DYNAMIC,
                               .rows = 1,
                               .sizes = dim->sizes,
                               .alignment = 1,
                               .symbol = named ? dim->symbol : NULL};
        out->ragged = ragged;
    }
    return TSR_OK;
}

tsr_status tsr_type_sharding(tsr_context *ctx, tsr_arena *arena, const tsr_type *type, size_t rank,
                             const tsr_sharding **out)
{
    GUARD(tsr_type_sharding);
    tsr_dim *dims = ARENA_ARRAY(arena, tsr_dim, rank);
    tsr_axis_ref *pending = ARENA_ARRAY(arena, tsr_axis_ref, tsr_mesh_num_axes(type->mesh));
    tsr_sharding_spec spec = {.mesh = type->mesh, .rank = rank, .dims = dims};
    if (dims == NULL || pending == NULL) {
        return diag_nomem(ctx);
    }
    if (type->has_spec && type->rank != rank) {
        return SPMD_ERROR(ctx, "the partition spec has %zu dimensions, but the value has %zu",
                          type->rank, rank);
    }
    TSR_TRY(find_pending(ctx, type, pending, &spec));
    for (size_t d = 0; d < rank; d++) {
        TSR_TRY(lay_out(ctx, arena, type, d, &dims[d]));
    }
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}
