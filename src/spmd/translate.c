/* Between types and shardings. */
#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "spmd/view.h"

/* The mesh of a sharding with its axes cut where parts of them are used. */
static tsr_status cut_for(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                          const tsr_mesh **out)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    size_t count = 0;
    size_t num_unreduced;
    const tsr_axis_ref *unreduced = tsr_sharding_unreduced(sharding, &num_unreduced);
    size_t room = num_unreduced;
    for (size_t i = 0; i < tsr_sharding_rank(sharding); i++) {
        room += tsr_sharding_dim(sharding, i)->num_axes;
    }
    tsr_axis_ref *parts = ARENA_ARRAY(arena, tsr_axis_ref, room);
    if (parts == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_unreduced; i++) {
        parts[count] = unreduced[i];
        count += unreduced[i].is_sub != 0;
    }
    for (size_t i = 0; i < tsr_sharding_rank(sharding); i++) {
        const tsr_dim *dim = tsr_sharding_dim(sharding, i);
        for (size_t k = 0; k < dim->num_axes; k++) {
            parts[count] = dim->axes[k];
            count += dim->axes[k].is_sub != 0;
        }
    }
    return mesh_cut(ctx, arena, mesh, parts, count, out);
}

static tsr_status take_dim(type_draft *d, const tsr_mesh *mesh, const tsr_dim *dim, size_t at)
{
    const size_t room = tsr_mesh_num_axes(d->mesh);
    size_t *axes = ARENA_ARRAY(d->arena, size_t, room);
    size_t count = 0;
    if (axes == NULL) {
        return diag_nomem(d->ctx);
    }
    TSR_TRY(
        spmd_axes_of_parts(d->ctx, d->mesh, mesh, dim->axes, dim->num_axes, room, axes, &count));
    for (size_t k = 0; k < count; k++) {
        d->axes[axes[k]] = (tsr_axis_type){TSR_V, TSR_SUM};
        draft_add_axis(d, axes[k], at);
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
    const tsr_mesh *cut = NULL;
    const tsr_type *type = NULL;
    type_draft d;
    size_t num_unreduced;
    size_t count = 0;
    const tsr_axis_ref *unreduced = tsr_sharding_unreduced(sharding, &num_unreduced);
    if (other != TSR_R && other != TSR_I) {
        return SPMD_ERROR(ctx, "axes that a sharding does not use must be R or I, not %s",
                          tsr_local_type_name(other));
    }
    TSR_TRY(cut_for(ctx, arena, sharding, &cut));
    TSR_TRY(draft_start(ctx, arena, cut, NULL, tsr_sharding_rank(sharding), &d));
    size_t *pending = ARENA_ARRAY(arena, size_t, tsr_mesh_num_axes(cut));
    if (pending == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t a = 0; a < tsr_mesh_num_axes(cut); a++) {
        d.axes[a] = (tsr_axis_type){other, TSR_SUM};
    }
    TSR_TRY(spmd_axes_of_parts(ctx, cut, mesh, unreduced, num_unreduced, tsr_mesh_num_axes(cut),
                               pending, &count));
    for (size_t i = 0; i < count; i++) {
        d.axes[pending[i]] = (tsr_axis_type){TSR_P, tsr_sharding_reduction(sharding)};
    }
    for (size_t i = 0; i < d.rank; i++) {
        TSR_TRY(take_dim(&d, mesh, tsr_sharding_dim(sharding, i), i));
    }
    TSR_TRY(draft_finish(&d, &type));
    return spmd_join(ctx, arena, mesh, type, out);
}

/* The pending axes of a type, all of one reduction; `refs` are its axes as the mesh has them. */
static tsr_status find_pending(tsr_context *ctx, const tsr_type *type, const tsr_axis_ref *refs,
                               tsr_axis_ref *out, tsr_sharding_spec *spec)
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
        out[spec->num_unreduced++] = refs[a];
    }
    spec->unreduced = out;
    return TSR_OK;
}

static tsr_status lay_out(tsr_context *ctx, tsr_arena *arena, const tsr_type *type,
                          const tsr_axis_ref *places, size_t at, tsr_dim *out)
{
    const tsr_spec_dim none = {0};
    const tsr_spec_dim *dim = type->has_spec ? &type->dims[at] : &none;
    tsr_axis_ref *refs = ARENA_ARRAY(arena, tsr_axis_ref, dim->num_axes);
    if (refs == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t k = 0; k < dim->num_axes; k++) {
        refs[k] = places[dim->axes[k]];
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

tsr_status spmd_sharding_on(tsr_context *ctx, tsr_arena *arena, const tsr_type *type,
                            const tsr_mesh *mesh, size_t rank, const tsr_sharding **out)
{
    const size_t num_axes = tsr_mesh_num_axes(type->mesh);
    tsr_dim *dims = ARENA_ARRAY(arena, tsr_dim, rank);
    tsr_axis_ref *pending = ARENA_ARRAY(arena, tsr_axis_ref, num_axes);
    tsr_axis_ref *refs = ARENA_ARRAY(arena, tsr_axis_ref, num_axes);
    tsr_sharding_spec spec = {.mesh = mesh, .rank = rank, .dims = dims};
    if (dims == NULL || pending == NULL || refs == NULL) {
        return diag_nomem(ctx);
    }
    if (type->has_spec && type->rank != rank) {
        return SPMD_ERROR(ctx, "the partition spec has %zu dimensions, but the value has %zu",
                          type->rank, rank);
    }
    if (!mesh_parts(type->mesh, mesh, refs)) {
        TSR_TRY(tsr_type_on_mesh(ctx, arena, type, mesh, &type));
        return spmd_sharding_on(ctx, arena, type, mesh, rank, out);
    }
    TSR_TRY(find_pending(ctx, type, refs, pending, &spec));
    for (size_t d = 0; d < rank; d++) {
        TSR_TRY(lay_out(ctx, arena, type, refs, d, &dims[d]));
    }
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

tsr_status tsr_type_sharding(tsr_context *ctx, tsr_arena *arena, const tsr_type *type, size_t rank,
                             const tsr_sharding **out)
{
    GUARD(tsr_type_sharding);
    return spmd_sharding_on(ctx, arena, type, type->mesh, rank, out);
}
