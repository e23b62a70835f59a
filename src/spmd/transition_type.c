/* The type of a value after a collective, a reinterpret or a convert. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "spmd/sizes.h"
#include "spmd/transition.h"

/* The state of a call. */
typedef struct type_change {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_typed_shape *value;
    const size_t *axes;
    size_t num_axes;
    const tsr_transition *t;
    bool global; /* some of the axes are */
    int64_t *shape;
    type_draft draft;
} type_change;

/* An error with the call, the axes and the value. */
static tsr_status change_error(const type_change *c, const char *why)
{
    buffer buf = buffer_new(c->arena);
    const char *text;
    transition_print(&buf, c->t);
    buffer_string(&buf, " along axis ");
    spmd_print_axes(&buf, c->value->type->mesh, c->axes, c->num_axes);
    buffer_string(&buf, " of ");
    spmd_print_typed(&buf, c->value);
    TSR_TRY(buffer_finish(c->ctx, &buf, &text));
    return SPMD_ERROR(c->ctx, "%s: %s", text, why);
}

/* ---- what the value must be ---- */

/* The value is what the call would make it. */
static tsr_status refuse_done(const type_change *c, tsr_axis_type is)
{
    buffer buf = buffer_new(c->arena);
    const char *why;
    buffer_format(&buf, "the value is already %s there: remove this call", tsr_axis_type_name(is));
    TSR_TRY(buffer_finish(c->ctx, &buf, &why));
    return change_error(c, why);
}

static tsr_status check_kind(const type_change *c, size_t axis)
{
    const tsr_axis_type is = c->value->type->axes[axis];
    const bool reduces = c->t->op == TSR_ALL_REDUCE || c->t->op == TSR_REDUCE_SCATTER;
    if (is.kind == TSR_V && c->t->src.kind == TSR_P && reduces && !c->global) {
        return TSR_OK;
    }
    if (is.kind != c->t->src.kind) {
        return is.kind == c->t->dst.kind && is.kind != TSR_V
                   ? refuse_done(c, is)
                   : change_error(
                         c, "the type of the value there differs from the call's source type");
    }
    if (is.kind == TSR_P && is.partial != c->t->src.partial) {
        return change_error(c, "the pending reduction differs from the call's source type");
    }
    return TSR_OK;
}

/* The axes must be the innermost on the dimension that the source names, in that order. */
static tsr_status check_innermost(const type_change *c)
{
    const tsr_type *type = c->value->type;
    size_t dim = 0;
    if (!spmd_resolve_dim(c->t->src.dim, c->value->rank, &dim) ||
        tsr_type_dim_of(type, c->axes[0]) != (int64_t)dim) {
        return change_error(c, "the axis does not cut the dimension given in the call");
    }
    const tsr_spec_dim *d = &type->dims[dim];
    if (d->num_axes < c->num_axes || memcmp(d->axes + (d->num_axes - c->num_axes), c->axes,
                                            c->num_axes * sizeof *c->axes) != 0) {
        return change_error(c, "only the innermost axis of a dimension can be changed: other axes "
                               "cut within this one");
    }
    return TSR_OK;
}

/* Whether an axis is one of those of the call. */
static bool is_named(const type_change *c, size_t axis)
{
    bool named = false;
    for (size_t i = 0; i < c->num_axes; i++) {
        named = named || c->axes[i] == axis;
    }
    return named;
}

/*
 * Where V and S(i) meet: an axis that cuts a dimension cuts the one that pieces come from, and what
 * a plain V is taken along is cut by no other.
 */
static tsr_status check_mixed(const type_change *c)
{
    const tsr_type *type = c->value->type;
    const tsr_transition t = transition_exchanged(c->t);
    const int64_t from = t.src.dim != TSR_NO_DIM ? t.src.dim : t.dst.dim;
    const int64_t plain = c->t->src.dim == TSR_NO_DIM ? t.src.dim : t.dst.dim;
    for (size_t a = 0; a < tsr_mesh_num_axes(type->mesh); a++) {
        const int64_t dim = tsr_type_dim_of(type, a);
        if (is_named(c, a) && dim >= 0 && dim != from) {
            return change_error(c,
                                "the axis cuts another dimension than the one given in the call");
        }
        if (!is_named(c, a) && dim >= 0 && dim == plain && !transition_stays(c->t)) {
            return change_error(c, "the stacked dimension of the plain V is cut by other axes: "
                                   "give both ends as S(i)");
        }
    }
    return TSR_OK;
}

/* What keeps the whole value: no plain V, and no reinterpret that changes what it is. */
static tsr_status check_global(const type_change *c)
{
    const bool plain_v = (c->t->src.kind == TSR_V && c->t->src.dim == TSR_NO_DIM) ||
                         (c->t->dst.kind == TSR_V && c->t->dst.dim == TSR_NO_DIM);
    if (plain_v) {
        return change_error(
            c,
            "on a global axis a varying value has a dimension, S(i); plain V is for local regions");
    }
    if (c->t->op == TSR_REINTERPRET && (c->t->src.kind == TSR_P) != (c->t->dst.kind == TSR_P)) {
        return change_error(
            c, "on a global axis a call must keep the global value, but this one would change it");
    }
    return c->t->src.kind == TSR_V ? check_innermost(c) : TSR_OK;
}

static tsr_status check_axes(type_change *c, tsr_axis_set global, bool *untyped)
{
    const size_t count = tsr_mesh_num_axes(c->value->type->mesh);
    for (size_t i = 0; i < c->num_axes; i++) {
        if (c->axes[i] >= count) {
            return SPMD_ERROR(c->ctx, "axis %zu is out of range: the mesh has %zu axes", c->axes[i],
                              count);
        }
        for (size_t k = 0; k < i; k++) {
            if (c->axes[k] == c->axes[i]) {
                return SPMD_ERROR(c->ctx, "axis %s is given twice",
                                  tsr_mesh_axis_name(c->value->type->mesh, c->axes[i]));
            }
        }
        c->global = c->global || axis_in_set(global, c->axes[i]);
        *untyped = *untyped || c->value->type->axes[c->axes[i]].kind == TSR_UNTYPED;
    }
    return c->num_axes > 0 ? TSR_OK : SPMD_ERROR(c->ctx, "a call needs at least 1 axis");
}

/* ---- what it becomes ---- */

/* What other axes cut as well must be as large along all of them when one is forgotten. */
static tsr_status check_forgotten(const type_change *c, size_t dim)
{
    const tsr_spec_dim *cut = &c->value->type->dims[dim];
    const int64_t shards = spmd_shards(c->draft.mesh, cut->axes, cut->num_axes);
    if (cut->num_axes == c->num_axes ||
        (cut->sizes == NULL && cut->symbol == NULL && c->shape[dim] % shards == 0)) {
        return TSR_OK;
    }
    return change_error(c, "the dimension is cut unevenly and by other axes too, along which its "
                           "extent would differ between ranks");
}

static const char UNBOUND_ERROR[] =
    "the dimension has unbound sizes, so those of a part of its axes are not known: give the sizes";

/* Removes the axes from the spec; sizes of the outer shards are summed. */
static tsr_status take_out(type_change *c)
{
    const bool forgets = transition_stays(c->t) && c->t->dst.dim == TSR_NO_DIM;
    for (size_t i = c->num_axes; i-- > 0;) {
        const size_t axis = c->axes[i];
        const int64_t dim = tsr_type_dim_of(c->value->type, axis);
        if (dim < 0) {
            continue;
        }
        type_draft *d = &c->draft;
        TSR_TRY(forgets ? check_forgotten(c, (size_t)dim) : TSR_OK);
        const int64_t inner = tsr_mesh_axis_size(d->mesh, axis);
        const int64_t shards = spmd_shards(d->mesh, d->dim_axes[dim], d->counts[dim]);
        const bool innermost = d->dim_axes[dim][d->counts[dim] - 1] == axis;
        const int64_t *sizes = NULL;
        if (d->symbols[dim] != NULL && d->counts[dim] > 1) {
            return change_error(c, UNBOUND_ERROR);
        }
        if (innermost) {
            TSR_TRY(
                sizes_join(c->ctx, c->arena, c->shape[dim], d->sizes[dim], shards, inner, &sizes));
        }
        draft_remove(d, axis);
        d->sizes[dim] = sizes;
    }
    return TSR_OK;
}

static tsr_status put_in(type_change *c)
{
    size_t dim = 0;
    if (!spmd_resolve_dim(c->t->dst.dim, c->draft.rank, &dim)) {
        return TSR_OK;
    }
    type_draft *d = &c->draft;
    int64_t inner = 1;
    const int64_t shards = spmd_shards(d->mesh, d->dim_axes[dim], d->counts[dim]);
    const int64_t *sizes = d->sizes[dim];
    if (d->symbols[dim] != NULL) {
        return change_error(c, UNBOUND_ERROR);
    }
    for (size_t i = 0; i < c->num_axes; i++) {
        inner *= tsr_mesh_axis_size(d->mesh, c->axes[i]);
        draft_add_axis(d, c->axes[i], dim);
    }
    if (transition_stays(c->t)) { /* each part stays as it is: the whole is larger */
        TSR_TRY(sizes_scale(c->ctx, c->arena, c->shape[dim], sizes, shards, inner, &sizes));
        if (!checked_mul(c->shape[dim], inner, &c->shape[dim])) {
            return change_error(c, "the extent exceeds 2^63-1");
        }
    }
    return sizes_cut(c->ctx, c->arena, c->shape[dim], sizes, shards, inner, &d->sizes[dim]);
}

/* A plain V removes a dimension or adds one: the entries of the other axes shift. */
static tsr_status drop_dim(type_change *c)
{
    type_draft *d = &c->draft;
    size_t dim = 0;
    if (!c->value->type->has_spec || transition_meets(c->t) || !transition_scatters(c->t) ||
        c->t->dst.dim != TSR_NO_DIM || !spmd_resolve_dim(c->t->scatter_dim, d->rank, &dim)) {
        return TSR_OK;
    }
    if (d->counts[dim] > 0) {
        return change_error(c, "the unbound dimension is cut by other axes");
    }
    for (size_t i = dim; i + 1 < d->rank; i++) {
        d->dim_axes[i] = d->dim_axes[i + 1];
        d->counts[i] = d->counts[i + 1];
        d->sizes[i] = d->sizes[i + 1];
        d->symbols[i] = d->symbols[i + 1];
    }
    d->rank--;
    return TSR_OK;
}

static tsr_status bring_dim(type_change *c)
{
    type_draft *d = &c->draft;
    size_t dim = 0;
    if (!c->value->type->has_spec || transition_meets(c->t) || !transition_gathers(c->t) ||
        c->t->src.dim != TSR_NO_DIM || !spmd_resolve_dim(c->t->gather_dim, d->rank + 1, &dim)) {
        return TSR_OK;
    }
    for (size_t i = d->rank; i > dim; i--) {
        d->dim_axes[i] = d->dim_axes[i - 1];
        d->counts[i] = d->counts[i - 1];
        d->sizes[i] = d->sizes[i - 1];
        d->symbols[i] = d->symbols[i - 1];
    }
    d->counts[dim] = 0;
    d->sizes[dim] = NULL;
    d->symbols[dim] = NULL;
    d->rank++;
    return TSR_OK;
}

static tsr_status change_type(type_change *c, const tsr_type **out)
{
    const tsr_typed_shape *v = c->value;
    TSR_TRY(draft_start(c->ctx, c->arena, v->type->mesh, v->type, v->rank, &c->draft));
    c->shape = arena_copy(c->arena, v->shape, v->rank, sizeof(int64_t));
    if (c->shape == NULL) {
        return diag_nomem(c->ctx);
    }
    TSR_TRY(take_out(c));
    for (size_t i = 0; i < c->num_axes; i++) {
        c->draft.axes[c->axes[i]] =
            (tsr_axis_type){c->t->dst.kind, c->t->dst.kind == TSR_P ? c->t->dst.partial : TSR_SUM};
    }
    if (c->t->dst.dim != TSR_NO_DIM) {
        TSR_TRY(put_in(c));
    }
    TSR_TRY(drop_dim(c));
    TSR_TRY(bring_dim(c));
    return draft_finish(&c->draft, out);
}

/* Whether the spec says already what the call would put there. */
static bool is_said(const type_change *c)
{
    return transition_stays(c->t) && c->t->src.dim == TSR_NO_DIM &&
           tsr_type_dim_of(c->value->type, c->axes[0]) == c->t->dst.dim;
}

tsr_status tsr_type_transition(tsr_context *ctx, tsr_arena *arena, const tsr_typed_shape *value,
                               const size_t *axes, size_t num_axes,
                               const tsr_transition *transition, tsr_axis_set global,
                               tsr_guard guard, bool strict, const tsr_type **out)
{
    GUARD(tsr_type_transition);
    const tsr_transition resolved = transition_resolved(transition, value->rank);
    type_change c = {ctx, arena, value, axes, num_axes, &resolved, .global = false};
    bool untyped = false;
    TSR_TRY(tsr_type_check(
        ctx, &(tsr_typed_shape){value->type, value->dtype, value->rank, value->shape, NULL}));
    TSR_TRY(check_axes(&c, global, &untyped));
    TSR_TRY(tsr_transition_check(ctx, tsr_mesh_axis_name(value->type->mesh, axes[0]), transition,
                                 value->rank, guard));
    if (untyped) {
        if (strict) {
            return change_error(&c, "the value is untyped there, and checks are strict");
        }
        *out = value->type;
        return TSR_OK;
    }
    for (size_t i = 0; i < num_axes; i++) {
        TSR_TRY(check_kind(&c, axes[i]));
    }
    if (c.global) {
        TSR_TRY(check_global(&c));
    }
    if (transition_meets(&resolved)) {
        TSR_TRY(check_mixed(&c));
    }
    if (transition_pair(&resolved) == PAIR_SAME || is_said(&c)) {
        *out = value->type;
        return TSR_OK;
    }
    return change_type(&c, out);
}

tsr_status tsr_type_collective_into(tsr_context *ctx, tsr_arena *arena,
                                    const tsr_typed_shape *value, const size_t *axes,
                                    size_t num_axes, const tsr_transition *transition,
                                    const tsr_type *place, const tsr_type **out)
{
    GUARD(tsr_type_collective_into);
    const type_change c = {ctx, arena, value, axes, num_axes, transition, .global = false};
    const tsr_type *result = NULL;
    TSR_TRY(tsr_type_transition(ctx, arena, value, axes, num_axes, transition, (tsr_axis_set){0},
                                TSR_UNGUARDED, true, &result));
    for (size_t i = 0; i < num_axes; i++) {
        if (value->type->axes[axes[i]].kind == TSR_V && transition->src.kind == TSR_P) {
            return change_error(&c, "the value varies there, and a call that writes to a buffer "
                                    "does not reinterpret it: reinterpret V->P first");
        }
    }
    for (size_t i = 0; place != NULL && i < num_axes; i++) {
        if (place->axes[axes[i]].kind == TSR_UNTYPED) {
            return change_error(
                &c, "the output buffer has no type there: give it the type of the result first");
        }
    }
    if (place != NULL) {
        return tsr_type_store(ctx, arena, place, result, TSR_PLACE_WATCHED, out);
    }
    *out = result;
    return TSR_OK;
}
