/* Partition specs: from ends to a spec, moving an axis, an order that several specs agree on. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "spmd/type.h"

static bool is_in(const size_t *list, size_t count, size_t axis)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == axis) {
            return true;
        }
    }
    return false;
}

/* The dimension that each axis cuts, or `rank`; kinds go to the draft. */
static tsr_status take_ends(type_draft *d, const tsr_end *ends, size_t *dims)
{
    for (size_t a = 0; a < tsr_mesh_num_axes(d->mesh); a++) {
        d->axes[a] = (tsr_axis_type){ends[a].kind, ends[a].partial};
        dims[a] = d->rank;
        if (ends[a].kind == TSR_V && ends[a].dim != TSR_NO_DIM &&
            !spmd_resolve_dim(ends[a].dim, d->rank, &dims[a])) {
            return SPMD_ERROR(d->ctx,
                              "axis %s cuts dimension %lld, which a value of %zu dimensions does "
                              "not have",
                              tsr_mesh_axis_name(d->mesh, a), (long long)ends[a].dim, d->rank);
        }
    }
    return TSR_OK;
}

tsr_status tsr_type_of_ends(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                            const tsr_end *ends, size_t rank, const size_t *order, size_t num_order,
                            const tsr_type **out)
{
    GUARD(tsr_type_of_ends);
    const size_t num_axes = tsr_mesh_num_axes(mesh);
    size_t *dims = ARENA_ARRAY(arena, size_t, num_axes);
    type_draft d;
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(draft_start(ctx, arena, mesh, NULL, rank, &d));
    TSR_TRY(take_ends(&d, ends, dims));
    for (size_t i = 0; i < num_order; i++) {
        if (is_in(order, i, order[i])) {
            return SPMD_ERROR(ctx, "axis %zu occurs twice in the order", order[i]);
        }
        if (order[i] < num_axes && dims[order[i]] < rank) {
            draft_add_axis(&d, order[i], dims[order[i]]);
        }
    }
    for (size_t a = 0; a < num_axes; a++) {
        if (dims[a] == rank || is_in(order, num_order, a)) {
            continue;
        }
        if (d.counts[dims[a]] > 0) {
            return SPMD_ERROR(ctx,
                              "axes %s and %s both cut dimension %zu, and it is ambiguous which is "
                              "outer: give their order",
                              tsr_mesh_axis_name(mesh, d.dim_axes[dims[a]][0]),
                              tsr_mesh_axis_name(mesh, a), dims[a]);
        }
        draft_add_axis(&d, a, dims[a]);
    }
    return draft_finish(&d, out);
}

tsr_status tsr_type_move_axis(tsr_context *ctx, tsr_arena *arena, const tsr_type *type, size_t rank,
                              size_t axis, int64_t dim, const tsr_type **out)
{
    GUARD(tsr_type_move_axis);
    const int64_t from = tsr_type_dim_of(type, axis);
    type_draft d;
    size_t to = rank;
    if (dim != TSR_NO_DIM && !spmd_resolve_dim(dim, rank, &to)) {
        return SPMD_ERROR(ctx, "a value of %zu dimensions has no dimension %lld", rank,
                          (long long)dim);
    }
    TSR_TRY(draft_start(ctx, arena, type->mesh, type, rank, &d));
    if (from >= 0 && d.dim_axes[from][d.counts[from] - 1] != axis) {
        return SPMD_ERROR(ctx,
                          "axis %s is not the innermost on dimension %lld: work on axis %s first",
                          tsr_mesh_axis_name(type->mesh, axis), (long long)from,
                          tsr_mesh_axis_name(type->mesh, d.dim_axes[from][d.counts[from] - 1]));
    }
    draft_remove(&d, axis);
    if (to < rank) {
        draft_add_axis(&d, axis, to);
    }
    return draft_finish(&d, out);
}

tsr_status tsr_local_axes(tsr_context *ctx, const tsr_mesh *mesh, const size_t *axes,
                          size_t num_axes, tsr_axis_set *out)
{
    GUARD(tsr_local_axes);
    tsr_axis_set set = {0};
    for (size_t i = 0; i < num_axes; i++) {
        if (axes[i] >= tsr_mesh_num_axes(mesh) || axes[i] >= 64) {
            return SPMD_ERROR(ctx, "axis %zu is out of range, or not among the first 64", axes[i]);
        }
        if (axis_in_set(set, axes[i])) {
            return SPMD_ERROR(ctx, "axis %s is given twice", tsr_mesh_axis_name(mesh, axes[i]));
        }
        set.bits |= UINT64_C(1) << axes[i];
    }
    for (size_t i = 0; i < num_axes; i++) {
        for (size_t a = 0; a < axes[i]; a++) {
            if (!axis_in_set(set, a)) {
                return SPMD_ERROR(ctx,
                                  "axis %s cannot be local while %s, outside of it, is global: "
                                  "local axes are the outer ones of the mesh",
                                  tsr_mesh_axis_name(mesh, axes[i]), tsr_mesh_axis_name(mesh, a));
            }
        }
    }
    *out = set;
    return TSR_OK;
}

/* ---- an order for all ---- */

/* Which axes are used, and which precede which. */
typedef struct axis_graph {
    size_t num_axes;
    size_t *used; /* in the order of their first use */
    size_t num_used;
    bool *before; /* [a * num_axes + b]: a is before b */
} axis_graph;

static void add_type(axis_graph *g, const tsr_type *type)
{
    for (size_t d = 0; d < type->rank; d++) {
        const tsr_spec_dim *dim = &type->dims[d];
        for (size_t k = 0; k < dim->num_axes; k++) {
            if (!is_in(g->used, g->num_used, dim->axes[k])) {
                g->used[g->num_used++] = dim->axes[k];
            }
            if (k > 0) {
                g->before[dim->axes[k - 1] * g->num_axes + dim->axes[k]] = true;
            }
        }
    }
}

/* The first axis that is not taken and that only taken ones come before; false when none. */
static bool next_axis(const axis_graph *g, const size_t *order, size_t count, size_t *out)
{
    for (size_t i = 0; i < g->num_used; i++) {
        const size_t axis = g->used[i];
        bool free = !is_in(order, count, axis);
        for (size_t k = 0; free && k < g->num_used; k++) {
            free = !g->before[g->used[k] * g->num_axes + axis] || is_in(order, count, g->used[k]);
        }
        if (free) {
            *out = axis;
            return true;
        }
    }
    return false;
}

tsr_status tsr_types_order(tsr_context *ctx, tsr_arena *arena, const tsr_type *const *types,
                           size_t num_types, size_t *order, size_t *count)
{
    GUARD(tsr_types_order);
    const tsr_mesh *mesh = num_types > 0 ? types[0]->mesh : NULL;
    axis_graph g = {.num_axes = mesh != NULL ? tsr_mesh_num_axes(mesh) : 0};
    g.used = ARENA_ARRAY(arena, size_t, g.num_axes);
    g.before = ARENA_ARRAY(arena, bool, g.num_axes *g.num_axes);
    if (g.used == NULL || g.before == NULL) {
        return diag_nomem(ctx);
    }
    memset(g.before, 0, g.num_axes * g.num_axes * sizeof *g.before);
    for (size_t i = 0; i < num_types; i++) {
        add_type(&g, types[i]);
    }
    size_t found = 0;
    while (found < g.num_used) {
        if (!next_axis(&g, order, found, &order[found])) {
            size_t stuck = 0;
            while (is_in(order, found, g.used[stuck])) {
                stuck++;
            }
            return SPMD_ERROR(ctx,
                              "the partition specs contradict each other on the order of the "
                              "axes of a dimension: axis %s would have to be outside of itself",
                              tsr_mesh_axis_name(mesh, g.used[stuck]));
        }
        found++;
    }
    *count = found;
    return TSR_OK;
}
