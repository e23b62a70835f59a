/* Relations between types: claims, slots to write to, gradients, what a region declares. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "spmd/type.h"

static bool same_axis(tsr_axis_type a, tsr_axis_type b)
{
    return a.kind == b.kind && a.partial == b.partial;
}

/* ---- gradients ---- */

tsr_status tsr_type_gradient(tsr_context *ctx, tsr_arena *arena, const tsr_type *type,
                             const tsr_type **out)
{
    GUARD(tsr_type_gradient);
    static const tsr_local_type duals[] = {[TSR_UNTYPED] = TSR_UNTYPED,
                                           [TSR_R] = TSR_P,
                                           [TSR_I] = TSR_I,
                                           [TSR_V] = TSR_V,
                                           [TSR_P] = TSR_R};
    type_draft d;
    TSR_TRY(draft_start(ctx, arena, type->mesh, type, type->rank, &d));
    for (size_t a = 0; a < tsr_mesh_num_axes(type->mesh); a++) {
        if (d.axes[a].kind == TSR_P && d.axes[a].partial != TSR_SUM &&
            d.axes[a].partial != TSR_AVG) {
            return SPMD_ERROR(ctx,
                              "no gradient along axis %s: the value is %s there, and a pending "
                              "reduction other than a sum or an average has none; reduce it first",
                              tsr_mesh_axis_name(type->mesh, a), tsr_axis_type_name(d.axes[a]));
        }
        d.axes[a] = (tsr_axis_type){duals[d.axes[a].kind], TSR_SUM};
    }
    return draft_finish(&d, out);
}

tsr_status tsr_type_check_loss(tsr_context *ctx, const tsr_type *type)
{
    GUARD(tsr_type_check_loss);
    for (size_t a = 0; a < tsr_mesh_num_axes(type->mesh); a++) {
        const tsr_local_type kind = type->axes[a].kind;
        const char *axis = tsr_mesh_axis_name(type->mesh, a);
        if (kind == TSR_R) {
            return SPMD_ERROR(ctx,
                              "a backward cannot start from a loss that is R along axis %s: each "
                              "rank would start a gradient of its own and they would be summed; "
                              "tsr_all_reduce(.., \"%s\", TSR_AS(P), TSR_AS(I), ..) where the loss "
                              "is summed gives I, or tsr_convert_type(loss, \"%s\", TSR_AS(R), "
                              "TSR_AS(P), ..) keeps one of them",
                              axis, axis, axis);
        }
        if (kind == TSR_V) {
            return SPMD_ERROR(
                ctx,
                "a backward cannot start from a loss that is V along axis %s: each "
                "rank has a loss of its own; tsr_reinterpret(loss, \"%s\", TSR_AS(V), "
                "TSR_AS(P), ..) makes their sum the loss, or tsr_all_reduce(loss, "
                "\"%s\", TSR_AS(V), TSR_AS(I), ..) sums them now",
                axis, axis, axis);
        }
        if (kind == TSR_P && type->axes[a].partial != TSR_SUM) {
            const bool average = type->axes[a].partial == TSR_AVG;
            return SPMD_ERROR(
                ctx, "a backward cannot start from a loss that is %s along axis %s: %s",
                tsr_axis_type_name(type->axes[a]), axis,
                average ? "each rank would start with 1 instead of its part of the average; "
                          "tsr_all_reduce with TSR_AS_P(TSR_AVG) to TSR_AS(I) gives I"
                        : "a maximum or minimum over ranks has no gradient");
        }
    }
    return TSR_OK;
}

/* ---- claims ---- */

/* What varies without a dimension may be taken for a pending reduction, as collectives do. */
static bool is_implied(const tsr_type *value, size_t axis, tsr_axis_type want)
{
    return value->axes[axis].kind == TSR_V && want.kind == TSR_P &&
           tsr_type_dim_of(value, axis) < 0;
}

static tsr_status claim_kinds(type_draft *d, const tsr_type *value, const tsr_type *claim,
                              tsr_local_type rest)
{
    for (size_t a = 0; a < tsr_mesh_num_axes(d->mesh); a++) {
        tsr_axis_type want = claim->axes[a];
        if (want.kind == TSR_UNTYPED) {
            want.kind = rest;
        }
        if (want.kind == TSR_UNTYPED) {
            continue;
        }
        if (d->axes[a].kind != TSR_UNTYPED && !same_axis(d->axes[a], want) &&
            !is_implied(value, a, want)) {
            return SPMD_ERROR(d->ctx, "along axis %s the value is %s, but the assertion says %s",
                              tsr_mesh_axis_name(d->mesh, a), tsr_axis_type_name(d->axes[a]),
                              tsr_axis_type_name(want));
        }
        d->axes[a] = want;
    }
    return TSR_OK;
}

/* Whether the first list is the second one with some left out. */
static bool is_subsequence(const size_t *a, size_t count_a, const size_t *b, size_t count_b)
{
    size_t k = 0;
    for (size_t i = 0; i < count_b && k < count_a; i++) {
        k += b[i] == a[k] ? 1 : 0;
    }
    return k == count_a;
}

/* Refuses a claim that puts an axis on another dimension than the value. */
static tsr_status check_dims(const type_draft *d, const tsr_type *claim)
{
    for (size_t dim = 0; dim < d->rank; dim++) {
        for (size_t k = 0; k < d->counts[dim]; k++) {
            const int64_t said = tsr_type_dim_of(claim, d->dim_axes[dim][k]);
            if (said >= 0 && said != (int64_t)dim) {
                return SPMD_ERROR(d->ctx,
                                  "axis %s cuts dimension %zu of the value, but the assertion says "
                                  "dimension %lld",
                                  tsr_mesh_axis_name(d->mesh, d->dim_axes[dim][k]), dim,
                                  (long long)said);
            }
        }
    }
    return TSR_OK;
}

static tsr_status claim_dim(type_draft *d, const tsr_spec_dim *said, size_t dim)
{
    if (is_subsequence(d->dim_axes[dim], d->counts[dim], said->axes, said->num_axes)) {
        const bool grows = said->num_axes > d->counts[dim];
        d->counts[dim] = said->num_axes;
        memcpy(d->dim_axes[dim], said->axes, said->num_axes * sizeof(size_t));
        const bool has_sizes = said->sizes != NULL || said->symbol != NULL;
        d->sizes[dim] = has_sizes ? said->sizes : grows ? NULL : d->sizes[dim];
        d->symbols[dim] = has_sizes ? said->symbol : grows ? NULL : d->symbols[dim];
        return TSR_OK;
    }
    if (is_subsequence(said->axes, said->num_axes, d->dim_axes[dim], d->counts[dim])) {
        return TSR_OK;
    }
    buffer has = buffer_new(d->arena);
    buffer want = buffer_new(d->arena);
    const char *texts[2];
    spmd_print_axes(&has, d->mesh, d->dim_axes[dim], d->counts[dim]);
    spmd_print_axes(&want, d->mesh, said->axes, said->num_axes);
    TSR_TRY(buffer_finish(d->ctx, &has, &texts[0]));
    TSR_TRY(buffer_finish(d->ctx, &want, &texts[1]));
    return SPMD_ERROR(d->ctx,
                      "dimension %zu is cut by (%s), but the assertion says (%s): give all of its "
                      "axes, major to minor, in one assertion",
                      dim, texts[0], texts[1]);
}

tsr_status tsr_type_assert(tsr_context *ctx, tsr_arena *arena, const tsr_type *value,
                           const tsr_type *claim, tsr_local_type rest, const tsr_type **out)
{
    GUARD(tsr_type_assert);
    type_draft d;
    if (!tsr_mesh_equal(value->mesh, claim->mesh)) {
        return SPMD_ERROR(ctx, "the value and the asserted type are on different meshes");
    }
    if (value->has_spec && claim->has_spec && value->rank != claim->rank) {
        return SPMD_ERROR(
            ctx, "the partition spec of the value has %zu dimensions, the asserted one %zu",
            value->rank, claim->rank);
    }
    TSR_TRY(draft_start(ctx, arena, value->mesh, value, claim->rank, &d));
    TSR_TRY(claim_kinds(&d, value, claim, rest));
    if (claim->has_spec) {
        TSR_TRY(check_dims(&d, claim));
        for (size_t dim = 0; dim < d.rank; dim++) {
            if (claim->dims[dim].num_axes > 0) {
                TSR_TRY(claim_dim(&d, &claim->dims[dim], dim));
            }
        }
    }
    return draft_finish(&d, out);
}

/* ---- writing ---- */

/* An axis type with its dimension, `S(1)` or `V`. */
static const char *end_text(tsr_arena *arena, const tsr_type *type, size_t axis)
{
    const int64_t dim = tsr_type_dim_of(type, axis);
    return spmd_end_text(arena, (tsr_end){type->axes[axis].kind, dim < 0 ? TSR_NO_DIM : dim,
                                          type->axes[axis].partial});
}

/* Whether a place that is of the first type along an axis may become the second. */
static bool may_become(tsr_axis_type is, tsr_axis_type becomes, bool moved, tsr_place place)
{
    const bool plain =
        (is.kind == TSR_R || is.kind == TSR_V) && (becomes.kind == TSR_R || becomes.kind == TSR_V);
    return place == TSR_PLACE_UPDATED || (place == TSR_PLACE_OUT && plain && !moved);
}

tsr_status tsr_type_store(tsr_context *ctx, tsr_arena *arena, const tsr_type *slot,
                          const tsr_type *result, tsr_place place, const tsr_type **out)
{
    GUARD(tsr_type_store);
    if (!tsr_mesh_equal(slot->mesh, result->mesh)) {
        return SPMD_ERROR(ctx, "the result and the slot it is written to are on different meshes");
    }
    for (size_t a = 0; a < tsr_mesh_num_axes(slot->mesh); a++) {
        const int64_t from = tsr_type_dim_of(slot, a);
        const int64_t to = tsr_type_dim_of(result, a);
        const bool differs = !same_axis(slot->axes[a], result->axes[a]) || from != to;
        if (slot->axes[a].kind != TSR_UNTYPED && differs &&
            !may_become(slot->axes[a], result->axes[a], from >= 0 && to >= 0 && from != to,
                        place)) {
            return SPMD_ERROR(ctx,
                              "a result that is %s along axis %s cannot be written to a slot that "
                              "is %s: readers of the slot, and its gradient, rely on that type",
                              end_text(arena, result, a), tsr_mesh_axis_name(slot->mesh, a),
                              end_text(arena, slot, a));
        }
    }
    *out = result;
    return TSR_OK;
}

/* ---- regions of local types ---- */

/*
 * Whether a value is what is declared for it along an axis. Inside, nothing but the local type is
 * checked, so a dimension may be declared for a value that varies without one, and is believed.
 */
static bool is_declared(const tsr_type *value, const tsr_type *declared, size_t axis)
{
    const int64_t is = tsr_type_dim_of(value, axis);
    return same_axis(value->axes[axis], declared->axes[axis]) &&
           (is < 0 || is == tsr_type_dim_of(declared, axis));
}

static tsr_status check_declared(tsr_context *ctx, tsr_arena *arena, const tsr_type *value,
                                 const tsr_type *declared, size_t index)
{
    bool same_dims = true;
    for (size_t a = 0; a < tsr_mesh_num_axes(value->mesh); a++) {
        const char *axis = tsr_mesh_axis_name(value->mesh, a);
        if (declared->axes[a].kind == TSR_UNTYPED && value->axes[a].kind != TSR_UNTYPED) {
            return SPMD_ERROR(ctx,
                              "local_map: the declared type of value %zu omits axis %s, along "
                              "which it is %s: declare every axis, or no type at all",
                              index, axis, end_text(arena, value, a));
        }
        if (!is_declared(value, declared, a)) {
            return SPMD_ERROR(ctx, "local_map: value %zu is %s along axis %s, but declared %s",
                              index, end_text(arena, value, a), axis, end_text(arena, declared, a));
        }
        same_dims = same_dims && tsr_type_dim_of(value, a) == tsr_type_dim_of(declared, a);
    }
    return !same_dims || tsr_type_equal(value, declared)
               ? TSR_OK
               : SPMD_ERROR(ctx,
                            "local_map: value %zu has its dimension axes in another order, or with "
                            "other sizes, than declared",
                            index);
}

tsr_status tsr_local_map_check(tsr_context *ctx, tsr_arena *arena, const tsr_type *const *values,
                               const tsr_type *const *declared, size_t count)
{
    GUARD(tsr_local_map_check);
    for (size_t i = 0; i < count; i++) {
        if (declared[i] == NULL) {
            continue;
        }
        if (values[i] == NULL) {
            return SPMD_ERROR(ctx,
                              "local_map: value %zu is declared with a type, but is not a typed "
                              "value: remove its declaration",
                              i);
        }
        if (!tsr_mesh_equal(values[i]->mesh, declared[i]->mesh)) {
            return SPMD_ERROR(ctx, "local_map: value %zu is not on the declared mesh", i);
        }
        TSR_TRY(check_declared(ctx, arena, values[i], declared[i], i));
    }
    return TSR_OK;
}

/* ---- reinterpretation without checks ---- */

tsr_status tsr_type_mutate(tsr_context *ctx, tsr_arena *arena, const tsr_type *type,
                           const tsr_mutation *mutations, size_t num_mutations,
                           const tsr_type **out)
{
    GUARD(tsr_type_mutate);
    type_draft d;
    TSR_TRY(draft_start(ctx, arena, type->mesh, type, type->rank, &d));
    for (size_t i = 0; i < num_mutations; i++) {
        const tsr_mutation *m = &mutations[i];
        if (m->axis >= tsr_mesh_num_axes(type->mesh)) {
            return SPMD_ERROR(ctx, "axis %zu is out of range", m->axis);
        }
        if (type->axes[m->axis].kind == TSR_UNTYPED && m->to.kind != TSR_UNTYPED &&
            m->from.kind != TSR_UNTYPED) {
            return SPMD_ERROR(ctx, "along axis %s the value has no type to change",
                              tsr_mesh_axis_name(type->mesh, m->axis));
        }
        if (!same_axis(type->axes[m->axis], m->from)) {
            return SPMD_ERROR(ctx, "along axis %s the type is %s, not %s: it is not changed to %s",
                              tsr_mesh_axis_name(type->mesh, m->axis),
                              tsr_axis_type_name(type->axes[m->axis]), tsr_axis_type_name(m->from),
                              tsr_axis_type_name(m->to));
        }
        d.axes[m->axis] = m->to;
        if (m->to.kind != TSR_V) {
            draft_remove(&d, m->axis);
        }
    }
    return draft_finish(&d, out);
}
