/* Shardings: accessors, equality, and shardings derived from others. */
#include "shard/sharding.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "mesh/axis.h"

tsr_dim tsr_dim_closed(const tsr_axis_ref *axes, size_t num_axes)
{
    GUARD(tsr_dim_closed);
    return (tsr_dim){.axes = axes, .num_axes = num_axes, .priority = TSR_NO_PRIORITY};
}

const tsr_mesh *tsr_sharding_mesh(const tsr_sharding *sharding)
{
    GUARD(tsr_sharding_mesh);
    return sharding->mesh;
}

size_t tsr_sharding_rank(const tsr_sharding *sharding)
{
    GUARD(tsr_sharding_rank);
    return sharding->rank;
}

const tsr_dim *tsr_sharding_dim(const tsr_sharding *sharding, size_t dim)
{
    GUARD(tsr_sharding_dim);
    return dim < sharding->rank ? &sharding->dims[dim] : NULL;
}

const tsr_axis_ref *tsr_sharding_replicated(const tsr_sharding *sharding, size_t *count)
{
    GUARD(tsr_sharding_replicated);
    *count = sharding->num_replicated;
    return sharding->replicated;
}

const tsr_axis_ref *tsr_sharding_unreduced(const tsr_sharding *sharding, size_t *count)
{
    GUARD(tsr_sharding_unreduced);
    *count = sharding->num_unreduced;
    return sharding->unreduced;
}

tsr_reduction tsr_sharding_reduction(const tsr_sharding *sharding)
{
    GUARD(tsr_sharding_reduction);
    return sharding->reduction;
}

int64_t tsr_sharding_num_shards(const tsr_sharding *sharding, size_t dim)
{
    GUARD(tsr_sharding_num_shards);
    return dim < sharding->rank
               ? tsr_axes_size(sharding->dims[dim].axes, sharding->dims[dim].num_axes)
               : -1;
}

static bool same_axes(const tsr_dim *a, const tsr_dim *b)
{
    return a->num_axes == b->num_axes && axes_same(a->axes, b->axes, a->num_axes);
}

/* Whether both have the same explicit sizes, or none. */
static bool same_ragged(const tsr_dim *a, const tsr_dim *b)
{
    return a->ragged == b->ragged ||
           ragged_equal(a->ragged, b->ragged, tsr_axes_size(a->axes, a->num_axes));
}

static bool same_unreduced(const tsr_sharding *a, const tsr_sharding *b)
{
    return tsr_axes_equal(a->unreduced, a->num_unreduced, b->unreduced, b->num_unreduced);
}

/* Whether both refer to a mesh alike: by the same name, or by none, to equal meshes. */
static bool same_mesh(const tsr_sharding *a, const tsr_sharding *b)
{
    if (a->mesh == b->mesh) {
        return true;
    }
    const char *name_a = tsr_mesh_name(a->mesh);
    const char *name_b = tsr_mesh_name(b->mesh);
    if ((name_a == NULL) != (name_b == NULL) || (name_a != NULL && strcmp(name_a, name_b) != 0)) {
        return false;
    }
    return tsr_mesh_equal(a->mesh, b->mesh);
}

bool tsr_sharding_equal(const tsr_sharding *a, const tsr_sharding *b)
{
    GUARD(tsr_sharding_equal);
    if (a->rank != b->rank || a->reduction != b->reduction || !same_mesh(a, b) ||
        !same_unreduced(a, b) ||
        !tsr_axes_equal(a->replicated, a->num_replicated, b->replicated, b->num_replicated)) {
        return false;
    }
    for (size_t i = 0; i < a->rank; i++) {
        const tsr_dim *x = &a->dims[i];
        const tsr_dim *y = &b->dims[i];
        if (x->open != y->open || x->priority != y->priority || !same_axes(x, y) ||
            !same_ragged(x, y)) {
            return false;
        }
    }
    return true;
}

static bool has_axes(const tsr_sharding *sharding, bool ignore_unreduced)
{
    for (size_t i = 0; i < sharding->rank; i++) {
        if (sharding->dims[i].num_axes > 0) {
            return true;
        }
    }
    return !ignore_unreduced && sharding->num_unreduced > 0;
}

bool tsr_sharding_equivalent(const tsr_sharding *a, const tsr_sharding *b, bool ignore_unreduced)
{
    GUARD(tsr_sharding_equivalent);
    const bool axes_a = a != NULL && has_axes(a, ignore_unreduced);
    const bool axes_b = b != NULL && has_axes(b, ignore_unreduced);
    if (!axes_a || !axes_b) {
        return axes_a == axes_b;
    }
    if (a->rank != b->rank || !same_mesh(a, b) || (!ignore_unreduced && !same_unreduced(a, b))) {
        return false;
    }
    for (size_t i = 0; i < a->rank; i++) {
        if (!same_axes(&a->dims[i], &b->dims[i]) || !same_ragged(&a->dims[i], &b->dims[i])) {
            return false;
        }
    }
    return true;
}

/* No list of ids was given for the mesh, or it was 0, 1, 2, .. and dropped. */
static bool has_no_ids(const tsr_mesh *mesh)
{
    return tsr_mesh_is_iota(mesh) && !tsr_mesh_is_maximal(mesh);
}

/* Whether a mesh replaces the common one so far, which is empty or has device ids. */
static bool is_preferred(const tsr_mesh *mesh, const tsr_mesh *common, bool ignore_device_ids)
{
    return common == NULL || tsr_mesh_is_empty(common) ||
           (ignore_device_ids && has_no_ids(mesh) && !has_no_ids(common));
}

static bool agrees(const tsr_mesh *mesh, const tsr_mesh *common, bool ignore_device_ids)
{
    if (common == NULL || tsr_mesh_is_empty(common)) {
        return true;
    }
    return ignore_device_ids ? tsr_mesh_equal_axes(common, mesh) : tsr_mesh_equal(common, mesh);
}

const tsr_mesh *tsr_sharding_common_mesh(const tsr_sharding *const *shardings, size_t count,
                                         bool ignore_device_ids)
{
    GUARD(tsr_sharding_common_mesh);
    const tsr_mesh *common = NULL;
    for (size_t i = 0; i < count; i++) {
        const tsr_mesh *mesh = shardings[i] != NULL ? shardings[i]->mesh : NULL;
        if (mesh == NULL || (common != NULL && tsr_mesh_is_empty(mesh))) {
            continue;
        }
        if (!agrees(mesh, common, ignore_device_ids)) {
            return NULL;
        }
        if (is_preferred(mesh, common, ignore_device_ids)) {
            common = mesh;
        }
    }
    return common;
}

/* The dimensions of a sharding, to be changed; NULL when there is no memory. */
static tsr_dim *copy_dims(tsr_arena *arena, const tsr_sharding *sharding)
{
    return arena_copy(arena, sharding->dims, sharding->rank, sizeof *sharding->dims);
}

tsr_status tsr_sharding_replicated_over(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                                        size_t rank, bool open, const tsr_sharding **out)
{
    GUARD(tsr_sharding_replicated_over);
    tsr_dim *dims = ARENA_ARRAY(arena, tsr_dim, rank);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < rank; i++) {
        dims[i] = (tsr_dim){.open = open, .priority = TSR_NO_PRIORITY};
    }
    const tsr_sharding_spec spec = {.mesh = mesh, .rank = rank, .dims = dims};
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_DEFAULT, out);
}

/* The spec of a sharding, to build a changed one from. */
static tsr_sharding_spec spec_of(const tsr_sharding *sharding, const tsr_dim *dims)
{
    return (tsr_sharding_spec){.mesh = sharding->mesh,
                               .rank = sharding->rank,
                               .dims = dims,
                               .num_replicated = sharding->num_replicated,
                               .replicated = sharding->replicated,
                               .num_unreduced = sharding->num_unreduced,
                               .unreduced = sharding->unreduced,
                               .reduction = sharding->reduction};
}

tsr_status tsr_sharding_close(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                              const tsr_sharding **out)
{
    GUARD(tsr_sharding_close);
    tsr_dim *dims = copy_dims(arena, sharding);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < sharding->rank; i++) {
        dims[i].open = false;
        if (dims[i].num_axes == 0) {
            dims[i].priority = TSR_NO_PRIORITY;
        }
    }
    tsr_sharding_spec spec = spec_of(sharding, dims);
    spec.num_replicated = 0;
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_DEFAULT, out);
}

tsr_status tsr_sharding_open(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                             const tsr_sharding **out)
{
    GUARD(tsr_sharding_open);
    tsr_dim *dims = copy_dims(arena, sharding);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < sharding->rank; i++) {
        if (dims[i].ragged != NULL) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "dim %zu has explicit sizes and cannot be opened", i);
        }
        dims[i].open = true;
    }
    const tsr_sharding_spec spec = spec_of(sharding, dims);
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_DEFAULT, out);
}

static tsr_status check_dim(tsr_context *ctx, const tsr_sharding *sharding, size_t dim)
{
    if (dim < sharding->rank) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "dim %zu is out of range: the sharding has %zu dimensions", dim,
                      sharding->rank);
}

static bool binds(const tsr_axis_ref *axes, size_t count, int32_t axis)
{
    for (size_t i = 0; i < count; i++) {
        if (axes[i].axis == axis) {
            return true;
        }
    }
    return false;
}

/* Whether any part of an axis is used in the sharding. */
static bool is_bound(const tsr_sharding *sharding, int32_t axis)
{
    for (size_t i = 0; i < sharding->rank; i++) {
        if (binds(sharding->dims[i].axes, sharding->dims[i].num_axes, axis)) {
            return true;
        }
    }
    return binds(sharding->replicated, sharding->num_replicated, axis) ||
           binds(sharding->unreduced, sharding->num_unreduced, axis);
}

/* A list with one more element at its end. */
static tsr_axis_ref *with_axis(tsr_arena *arena, const tsr_axis_ref *axes, size_t count,
                               tsr_axis_ref axis)
{
    tsr_axis_ref *longer = ARENA_ARRAY(arena, tsr_axis_ref, count + 1);
    if (longer != NULL) {
        if (count > 0) {
            memcpy(longer, axes, count * sizeof *axes);
        }
        longer[count] = axis;
    }
    return longer;
}

tsr_status tsr_sharding_add_axis(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                                 size_t dim, tsr_axis_ref axis, const tsr_sharding **out)
{
    GUARD(tsr_sharding_add_axis);
    TSR_TRY(check_dim(ctx, sharding, dim));
    if (!sharding->dims[dim].open) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu is closed and cannot be sharded further", dim);
    }
    if (is_bound(sharding, axis.axis)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "axis \"%s\" is bound already",
                          tsr_mesh_axis_name(sharding->mesh, (size_t)axis.axis));
    }
    const tsr_dim *old = &sharding->dims[dim];
    const tsr_axis_ref *axes = with_axis(arena, old->axes, old->num_axes, axis);
    tsr_dim *dims = copy_dims(arena, sharding);
    if (axes == NULL || dims == NULL) {
        return diag_nomem(ctx);
    }
    dims[dim].axes = axes;
    dims[dim].num_axes++;
    dims[dim].priority = TSR_NO_PRIORITY;
    const tsr_sharding_spec spec = spec_of(sharding, dims);
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

tsr_status tsr_sharding_replicate(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                                  tsr_axis_ref axis, const tsr_sharding **out)
{
    GUARD(tsr_sharding_replicate);
    const tsr_axis_ref *axes =
        with_axis(arena, sharding->replicated, sharding->num_replicated, axis);
    if (axes == NULL) {
        return diag_nomem(ctx);
    }
    tsr_sharding_spec spec = spec_of(sharding, sharding->dims);
    spec.replicated = axes;
    spec.num_replicated++;
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

/* A list without what overlaps `gone`. Each axis taken out can cut another in two at the most. */
static tsr_status without(tsr_context *ctx, tsr_arena *arena, const tsr_axis_ref *axes,
                          size_t count, const tsr_axis_ref *gone, size_t num_gone,
                          tsr_axis_list *out)
{
    out->capacity = count + count * num_gone + 1;
    out->refs = ARENA_ARRAY(arena, tsr_axis_ref, out->capacity);
    if (out->refs == NULL) {
        return diag_nomem(ctx);
    }
    return tsr_axes_difference(axes, count, gone, num_gone, out);
}

static tsr_status remove_from_dim(tsr_context *ctx, tsr_arena *arena, size_t index,
                                  const tsr_axis_ref *gone, size_t num_gone, tsr_dim *dim)
{
    if (!tsr_axes_overlap(dim->axes, dim->num_axes, gone, num_gone)) {
        return TSR_OK;
    }
    if (dim->ragged != NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu has explicit sizes for its axes: none can be "
                          "removed",
                          index);
    }
    tsr_axis_list left = {0};
    TSR_TRY(without(ctx, arena, dim->axes, dim->num_axes, gone, num_gone, &left));
    dim->axes = left.refs;
    dim->num_axes = left.count;
    if (left.count == 0 && !dim->open) {
        dim->priority = TSR_NO_PRIORITY;
    }
    return TSR_OK;
}

tsr_status tsr_sharding_remove_axes(tsr_context *ctx, tsr_arena *arena,
                                    const tsr_sharding *sharding, const tsr_axis_ref *axes,
                                    size_t num_axes, const tsr_sharding **out)
{
    GUARD(tsr_sharding_remove_axes);
    tsr_dim *dims = copy_dims(arena, sharding);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < sharding->rank; i++) {
        TSR_TRY(remove_from_dim(ctx, arena, i, axes, num_axes, &dims[i]));
    }
    tsr_axis_list replicated = {0};
    tsr_axis_list unreduced = {0};
    TSR_TRY(without(ctx, arena, sharding->replicated, sharding->num_replicated, axes, num_axes,
                    &replicated));
    TSR_TRY(without(ctx, arena, sharding->unreduced, sharding->num_unreduced, axes, num_axes,
                    &unreduced));
    tsr_sharding_spec spec = spec_of(sharding, dims);
    spec.replicated = replicated.refs;
    spec.num_replicated = replicated.count;
    spec.unreduced = unreduced.refs;
    spec.num_unreduced = unreduced.count;
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

size_t sharding_unbound_dim(const tsr_sharding *sharding, size_t from)
{
    size_t dim = from;
    while (dim < sharding->rank &&
           (sharding->dims[dim].ragged == NULL || ragged_is_bound(sharding->dims[dim].ragged))) {
        dim++;
    }
    return dim;
}

tsr_status tsr_sharding_bind(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                             size_t dim, const tsr_ragged *ragged, const tsr_sharding **out)
{
    GUARD(tsr_sharding_bind);
    TSR_TRY(check_dim(ctx, sharding, dim));
    const tsr_ragged *old = sharding->dims[dim].ragged;
    if (old == NULL || ragged_is_bound(old) || old->kind != ragged->kind) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu has no unbound sizes or counts of that kind", dim);
    }
    if (old->partitions != 0 && old->partitions != ragged->partitions) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu must have %lld partitions, got: %lld", dim,
                          (long long)old->partitions, (long long)ragged->partitions);
    }
    tsr_dim *dims = copy_dims(arena, sharding);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    tsr_ragged bound = *ragged;
    bound.owner_start = ragged->owner_start != NULL ? ragged->owner_start : old->owner_start;
    bound.alignment = ragged->alignment > 1 ? ragged->alignment : old->alignment;
    dims[dim].ragged = &bound;
    const tsr_sharding_spec spec = spec_of(sharding, dims);
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_DEFAULT, out);
}
