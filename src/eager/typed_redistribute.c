/*
 * Redistribution of typed values from one partition spec to another, all axes at once: by the
 * runtime's plans, so that axes that belong together move together.
 */
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "eager/tape.h"
#include "eager/trace.h"
#include "eager/transition.h"
#include "eager/typed.h"
#include "mesh/groups.h"
#include "spmd/view.h"

/* From where to where, as values see it. */
typedef struct spec_move {
    const typed_record *src;
    const typed_record *dst;
} spec_move;

/* The layout of the whole value whose parts have a type. */
static tsr_status layout_of_type(eager *e, const tsr_typed_shape *shape, const tsr_type *type,
                                 tensor_layout **out)
{
    tsr_tensor_spec spec = {.dtype = shape->dtype, .rank = shape->rank, .shape = shape->shape};
    TSR_TRY(tsr_type_sharding(e->world->ctx, e->arena, type, shape->rank, &spec.sharding));
    return layout_get(e->world, &spec, NULL, out);
}

/* The parts of a whole tensor as this rank's own value. */
static tsr_status own_value(eager *e, tsr_tensor *whole, tsr_tensor **out)
{
    tsr_tensor_spec spec = {
        .dtype = whole->dtype, .rank = whole->geometry->rank, .shape = whole->local_shape};
    tensor_layout *layout = NULL;
    TSR_TRY(tsr_sharding_replicated_over(e->world->ctx, e->arena, e->typing.mesh, spec.rank, false,
                                         &spec.sharding));
    TSR_TRY(layout_get(e->world, &spec, NULL, &layout));
    const tsr_status status = alias_tensor(whole, layout, out);
    layout_release(&e->world->state->layouts, layout);
    return status;
}

/* Redistributes a value from the partition spec of one type to that of another. */
static tsr_status move(eager *e, const tsr_typed_shape *shape, tsr_tensor *value,
                       const tsr_type *from, const tsr_type *to, tsr_tensor **out)
{
    tensor_layout *layouts[2] = {NULL, NULL};
    tsr_tensor *whole = NULL;
    tsr_tensor *moved = NULL;
    tsr_status status = layout_of_type(e, shape, from, &layouts[0]);
    if (status == TSR_OK) {
        status = layout_of_type(e, shape, to, &layouts[1]);
    }
    if (status == TSR_OK) {
        status = alias_tensor(value, layouts[0], &whole);
    }
    if (status == TSR_OK) {
        status = is_abstract(value)
                     ? tensor_of_layout(e->world, layouts[1], NULL, &moved)
                     : redistribute_to_layout("tsr_redistribute_spec", whole, layouts[1], &moved);
    }
    if (status == TSR_OK && is_abstract(value)) {
        status = trace_moved(e->world, "tsr_redistribute_spec", layouts[0], layouts[1], NULL, -1);
    }
    if (status == TSR_OK) {
        status = own_value(e, moved, out);
    }
    tsr_tensor_release(whole);
    tsr_tensor_release(moved);
    for (size_t i = 0; i < 2; i++) {
        if (layouts[i] != NULL) {
            layout_release(&e->world->state->layouts, layouts[i]);
        }
    }
    return status;
}

/* ---- backward ---- */

/*
 * A type with R where another one has not P: redistribution carries sums out and makes none. The
 * axes that had P go to `made`.
 */
static tsr_status without_new_sums(eager *e, const tsr_type *type, const tsr_type *from,
                                   const tsr_type **out, axis_names *made)
{
    const tsr_mesh *mesh = tsr_type_mesh(type);
    const size_t axes = tsr_mesh_num_axes(mesh);
    const size_t rank = tsr_type_has_spec(type) ? tsr_type_rank(type) : 0;
    tsr_axis_type *kinds = ARENA_ARRAY(e->arena, tsr_axis_type, axes);
    tsr_spec_dim *dims = ARENA_ARRAY(e->arena, tsr_spec_dim, rank);
    if (kinds == NULL || dims == NULL) {
        return diag_nomem(e->world->ctx);
    }
    made->count = 0;
    for (size_t a = 0; a < axes; a++) {
        kinds[a] = tsr_type_axis(type, a);
        if (kinds[a].kind == TSR_P && tsr_type_axis(from, a).kind != TSR_P && made->count < 16) {
            kinds[a] = (tsr_axis_type){TSR_R, TSR_SUM};
            made->refs[made->count] = tsr_axis_full(mesh, a);
            made->axes[made->count++] = a;
        }
    }
    for (size_t d = 0; d < rank; d++) {
        dims[d] = *tsr_type_dim(type, d);
    }
    const tsr_type_spec spec = {.mesh = mesh,
                                .axes = kinds,
                                .has_spec = tsr_type_has_spec(type),
                                .rank = rank,
                                .dims = dims};
    return tsr_type_create(e->world->ctx, e->arena, &spec, out);
}

/* What all ranks along some axes have becomes a sum over them: it counts on the first. */
static tsr_status make_sum(eager *e, const axis_names *made, const tsr_mesh *mesh,
                           tsr_tensor *value)
{
    places along;
    TSR_TRY(places_along(e->world->ctx, e->arena, mesh, made->refs, made->count, &along));
    if (!is_abstract(value) && places_index(&along, tsr_mesh_place_of(mesh, e->world->rank)) != 0) {
        memset(value->data, 0, value->layout->bytes);
    }
    return TSR_OK;
}

/* Over how many ranks the move has averaged: each of them has that part of the gradient. */
static int64_t ranks_averaged(const spec_move *m)
{
    const tsr_mesh *mesh = tsr_type_mesh(m->src->of.type);
    int64_t ranks = 1;
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh); a++) {
        const tsr_axis_type src = tsr_type_axis(m->src->of.type, a);
        const bool done = tsr_type_axis(m->dst->of.type, a).kind != TSR_P;
        ranks *=
            src.kind == TSR_P && src.partial == TSR_AVG && done ? tsr_mesh_axis_size(mesh, a) : 1;
    }
    return ranks;
}

static tsr_status move_back(eager *e, const spec_move *m, tsr_tensor *cotangent, tsr_tensor **grad)
{
    tsr_context *ctx = e->world->ctx;
    const tsr_type *from = NULL;
    const tsr_type *to = NULL;
    const tsr_type *reachable = NULL;
    axis_names made;
    TSR_TRY(tsr_type_gradient(ctx, e->arena, m->dst->of.type, &from));
    TSR_TRY(tsr_type_gradient(ctx, e->arena, m->src->of.type, &to));
    TSR_TRY(without_new_sums(e, to, from, &reachable, &made));
    TSR_TRY(move(e, &m->src->of, cotangent, from, reachable, grad));
    const int64_t averaged = ranks_averaged(m);
    if (averaged > 1 && !is_abstract(*grad)) {
        transition_divide(*grad, averaged);
    }
    return make_sum(e, &made, tsr_type_mesh(to), *grad);
}

static tsr_status go_back(eager *e, const tape_node *node, tsr_tensor *const *cotangents,
                          tsr_tensor **grads)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = move_back(e, node->state, cotangents[0], &grads[0]);
    tsr_arena_reset(e->arena, mark);
    if (status < 0) {
        tsr_tensor_release(grads[0]);
        grads[0] = NULL;
    }
    return status;
}

static void drop_move(eager *e, void *state)
{
    (void)context_resize(e->world->ctx, state, sizeof(spec_move), 0);
}

static const tape_way spec_way = {.backward = go_back, .destroy = drop_move};

static tsr_status note(eager *e, const spec_move *m, tsr_tensor *value, tsr_tensor *result)
{
    spec_move *kept = context_resize(e->world->ctx, NULL, 0, sizeof *kept);
    if (kept == NULL) {
        return diag_nomem(e->world->ctx);
    }
    *kept = *m;
    const tsr_status status =
        tape_note_way(e, "tsr_redistribute_spec", &spec_way, kept, &value, 1, &result, 1);
    if (status < 0) {
        drop_move(e, kept);
    }
    return status;
}

/* ---- the call ---- */

/* Sums that the destination has must be there already, and be sums where gradients flow. */
static tsr_status check_kinds(eager *e, const spec_move *m, bool differentiated)
{
    const tsr_mesh *mesh = tsr_type_mesh(m->src->of.type);
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh); a++) {
        const tsr_axis_type src = tsr_type_axis(m->src->of.type, a);
        const tsr_axis_type dst = tsr_type_axis(m->dst->of.type, a);
        if (dst.kind == TSR_P && (src.kind != TSR_P || src.partial != dst.partial)) {
            return diag_error(
                e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                "tsr_redistribute_spec: along axis %s the value is %s and would become %s; "
                "redistribution does not make pending sums, use tsr_convert_type",
                tsr_mesh_axis_name(mesh, a), tsr_axis_type_name(src), tsr_axis_type_name(dst));
        }
        if (differentiated && src.kind == TSR_P && src.partial != TSR_SUM &&
            src.partial != TSR_AVG) {
            return diag_error(
                e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                "tsr_redistribute_spec: along axis %s a pending %s has no gradient; all_reduce it",
                tsr_mesh_axis_name(mesh, a), tsr_axis_type_name(src));
        }
    }
    return TSR_OK;
}

static bool same_value(const tsr_typed_shape *a, const tsr_typed_shape *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

static tsr_status read_ends(eager *e, tsr_tensor *value, const char *src, const char *dst,
                            spec_move *m)
{
    tsr_typed_shape from;
    tsr_typed_shape to;
    TSR_TRY(typed_read(e, src, &from));
    TSR_TRY(typed_read(e, dst, &to));
    if (!same_value(&from, &to)) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_redistribute_spec: %s and %s are not two layouts of one value", src,
                          dst);
    }
    TSR_TRY(typed_check_part(e, "tsr_redistribute_spec", value, &from, src));
    const bool typed = is_typing(e) && record_of(value) != NULL;
    const tsr_type *types[] = {from.type, to.type, typed ? record_of(value)->of.type : NULL};
    const tsr_mesh *mesh = NULL;
    TSR_TRY(typed_meet(e, types, 3, NULL, &mesh)); /* both ends have the same axes */
    from.type = types[0];
    to.type = types[1];
    if (typed) {
        TSR_TRY(
            tsr_type_assert(e->world->ctx, e->arena, types[2], from.type, TSR_UNTYPED, &from.type));
    }
    TSR_TRY(typed_intern(e, &from, &m->src));
    return typed_intern(e, &to, &m->dst);
}

/* The record of the result: parts of axes that agree are joined. */
static tsr_status join_result(eager *e, const spec_move *m, const typed_record **out)
{
    tsr_typed_shape shape = m->dst->of;
    TSR_TRY(spmd_join(e->world->ctx, e->arena, e->typing.scope->settings.mesh, shape.type,
                      &shape.type));
    return typed_intern(e, &shape, out);
}

static tsr_status redistribute(eager *e, tsr_tensor *value, const char *src, const char *dst,
                               tsr_tensor **out)
{
    spec_move m = {NULL, NULL};
    const bool differentiated = tape_wants(e, &value, 1);
    tsr_tensor *result = NULL;
    TSR_TRY(read_ends(e, value, src, dst, &m));
    TSR_TRY(check_kinds(e, &m, differentiated));
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(move(e, &m.src->of, value, m.src->of.type, m.dst->of.type, &result));
    const tsr_status status = differentiated ? note(e, &m, value, result) : TSR_OK;
    if (status < 0) {
        tsr_tensor_release(result);
        return status;
    }
    const typed_record *record = NULL;
    const tsr_status joined = is_typing(e) ? join_result(e, &m, &record) : TSR_OK;
    if (joined < 0) {
        tsr_tensor_release(result);
        return joined;
    }
    typed_set(e, result, record);
    eager_adopt(e, result);
    *out = result;
    return TSR_OK;
}

tsr_status tsr_redistribute_spec(tsr_tensor *x, const char *src, const char *dst, tsr_tensor **out)
{
    GUARD(tsr_redistribute_spec);
    eager *e = NULL;
    TSR_TRY(typed_scope(x->world, "tsr_redistribute_spec", &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = redistribute(e, x, src, dst, out);
    tsr_arena_reset(e->arena, mark);
    return status;
}
