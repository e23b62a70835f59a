/* Types: building, accessors, comparison, checks against a value. */
#include "spmd/type.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "base/lex.h"

static const char *const kind_names[] = {
    [TSR_UNTYPED] = "?", [TSR_R] = "R", [TSR_I] = "I", [TSR_V] = "V", [TSR_P] = "P"};
static const char *const partial_names[] = {[TSR_SUM] = "P",
                                            [TSR_MAX] = "P(max)",
                                            [TSR_MIN] = "P(min)",
                                            [TSR_AVG] = "P(avg)",
                                            [TSR_PROD] = "P(prod)"};

const char *tsr_local_type_name(tsr_local_type type)
{
    GUARD(tsr_local_type_name);
    return type >= TSR_UNTYPED && type <= TSR_P ? kind_names[type] : "?";
}

const char *tsr_axis_type_name(tsr_axis_type type)
{
    GUARD(tsr_axis_type_name);
    if (type.kind == TSR_P && type.partial >= TSR_SUM && type.partial <= TSR_PROD) {
        return partial_names[type.partial];
    }
    return tsr_local_type_name(type.kind);
}

int64_t spmd_shards(const tsr_mesh *mesh, const size_t *axes, size_t num_axes)
{
    int64_t shards = 1;
    for (size_t i = 0; i < num_axes; i++) {
        if (!checked_mul(shards, tsr_mesh_axis_size(mesh, axes[i]), &shards)) {
            return -1;
        }
    }
    return shards;
}

int64_t spmd_chunk(int64_t extent, int64_t shards, int64_t index)
{
    const int64_t chunk = ceil_div(extent, shards);
    int64_t start;
    if (!checked_mul(chunk, index, &start) || start >= extent) {
        return 0;
    }
    return min_i64(chunk, extent - start);
}

bool spmd_resolve_dim(int64_t dim, size_t rank, size_t *out)
{
    if (dim == TSR_NO_DIM || rank > (size_t)INT64_MAX) {
        return false;
    }
    const int64_t from_front = dim < 0 ? dim + (int64_t)rank : dim;
    if (from_front < 0 || from_front >= (int64_t)rank) {
        return false;
    }
    *out = (size_t)from_front;
    return true;
}

/* ---- building ---- */

static tsr_status copy_axes(tsr_context *ctx, tsr_arena *arena, const tsr_type_spec *spec,
                            tsr_axis_type **out)
{
    const size_t count = tsr_mesh_num_axes(spec->mesh);
    tsr_axis_type *axes = ARENA_ARRAY(arena, tsr_axis_type, count);
    if (axes == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t a = 0; a < count; a++) {
        axes[a] = spec->axes != NULL ? spec->axes[a] : (tsr_axis_type){TSR_UNTYPED, TSR_SUM};
        if (axes[a].kind < TSR_UNTYPED || axes[a].kind > TSR_P ||
            (axes[a].kind == TSR_P && (axes[a].partial < TSR_SUM || axes[a].partial > TSR_PROD))) {
            return SPMD_ERROR(ctx, "the type of axis %s, %d, is not one of the %d types",
                              tsr_mesh_axis_name(spec->mesh, a), (int)axes[a].kind,
                              (int)axes[a].partial);
        }
        axes[a].partial = axes[a].kind == TSR_P ? axes[a].partial : TSR_SUM;
    }
    *out = axes;
    return TSR_OK;
}

/* An axis in the spec varies, and occurs once. */
static tsr_status claim_axis(tsr_context *ctx, const tsr_mesh *mesh, size_t axis, size_t dim,
                             bool *seen, tsr_axis_type *axes)
{
    if (axis >= tsr_mesh_num_axes(mesh)) {
        return SPMD_ERROR(ctx, "dimension %zu is cut by axis %zu, but the mesh has %zu", dim, axis,
                          tsr_mesh_num_axes(mesh));
    }
    const char *name = tsr_mesh_axis_name(mesh, axis);
    if (seen[axis]) {
        return SPMD_ERROR(ctx,
                          "axis %s occurs twice in the partition spec, the second time at "
                          "dimension %zu; an axis cuts at most 1 dimension",
                          name, dim);
    }
    if (axes[axis].kind != TSR_UNTYPED && axes[axis].kind != TSR_V) {
        return SPMD_ERROR(
            ctx,
            "axis %s cuts dimension %zu and is %s: only an axis along which the value "
            "varies (V) has an entry in the partition spec",
            name, dim, tsr_axis_type_name(axes[axis]));
    }
    seen[axis] = true;
    axes[axis].kind = TSR_V;
    return TSR_OK;
}

static tsr_status copy_sizes(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                             const tsr_spec_dim *dim, const int64_t **out)
{
    const int64_t shards = spmd_shards(mesh, dim->axes, dim->num_axes);
    if (shards < 0) {
        return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                          "a dimension has more than 2^63-1 shards");
    }
    *out = NULL;
    if (dim->sizes == NULL || dim->num_axes == 0) {
        return TSR_OK;
    }
    for (int64_t i = 0; i < shards; i++) {
        if (dim->sizes[i] < 0) {
            return SPMD_ERROR(ctx, "shard %lld has size %lld; the minimum is 0", (long long)i,
                              (long long)dim->sizes[i]);
        }
    }
    *out = arena_copy(arena, dim->sizes, (size_t)shards, sizeof(int64_t));
    return *out != NULL ? TSR_OK : diag_nomem(ctx);
}

/* The symbol of sizes that are not bound. */
static tsr_status copy_symbol(tsr_context *ctx, tsr_arena *arena, const tsr_spec_dim *dim,
                              const char **out)
{
    if (dim->symbol == NULL || dim->sizes != NULL || dim->num_axes == 0) {
        return TSR_OK;
    }
    const slice name = {dim->symbol, strlen(dim->symbol)};
    if (name.size > 0 && !is_bare_id(name)) {
        return SPMD_ERROR(
            ctx, "the symbol of unbound sizes must be a bare id, such as rows_2, got: '%s'",
            dim->symbol);
    }
    *out = arena_string(arena, name.data, name.size);
    return *out != NULL ? TSR_OK : diag_nomem(ctx);
}

static tsr_status copy_dims(tsr_context *ctx, tsr_arena *arena, const tsr_type_spec *spec,
                            tsr_type *type, tsr_axis_type *axes)
{
    const size_t num_axes = tsr_mesh_num_axes(spec->mesh);
    tsr_spec_dim *dims = ARENA_ARRAY(arena, tsr_spec_dim, spec->rank);
    bool *seen = ARENA_ARRAY(arena, bool, num_axes);
    if (dims == NULL || seen == NULL) {
        return diag_nomem(ctx);
    }
    memset(seen, 0, num_axes * sizeof *seen);
    for (size_t d = 0; d < spec->rank; d++) {
        const tsr_spec_dim *from = &spec->dims[d];
        for (size_t k = 0; k < from->num_axes; k++) {
            TSR_TRY(claim_axis(ctx, spec->mesh, from->axes[k], d, seen, axes));
        }
        dims[d] = (tsr_spec_dim){from->num_axes,
                                 arena_copy(arena, from->axes, from->num_axes, sizeof(size_t)),
                                 NULL, NULL};
        if (dims[d].axes == NULL) {
            return diag_nomem(ctx);
        }
        TSR_TRY(copy_sizes(ctx, arena, spec->mesh, from, &dims[d].sizes));
        TSR_TRY(copy_symbol(ctx, arena, from, &dims[d].symbol));
        type->has_spec = type->has_spec || from->num_axes > 0;
    }
    type->dims = dims;
    type->rank = type->has_spec ? spec->rank : 0;
    return TSR_OK;
}

tsr_status tsr_type_create(tsr_context *ctx, tsr_arena *arena, const tsr_type_spec *spec,
                           const tsr_type **out)
{
    GUARD(tsr_type_create);
    tsr_type *type = ARENA_NEW(arena, tsr_type);
    tsr_axis_type *axes = NULL;
    if (type == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(copy_axes(ctx, arena, spec, &axes));
    *type = (tsr_type){.mesh = spec->mesh, .axes = axes};
    if (spec->has_spec) {
        TSR_TRY(copy_dims(ctx, arena, spec, type, axes));
    }
    *out = type;
    return TSR_OK;
}

tsr_status tsr_type_uniform(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                            tsr_axis_type type, const tsr_type **out)
{
    GUARD(tsr_type_uniform);
    const size_t count = tsr_mesh_num_axes(mesh);
    tsr_axis_type *axes = ARENA_ARRAY(arena, tsr_axis_type, count);
    if (axes == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t a = 0; a < count; a++) {
        axes[a] = type;
    }
    const tsr_type_spec spec = {.mesh = mesh, .axes = axes};
    return tsr_type_create(ctx, arena, &spec, out);
}

/* ---- accessors ---- */

const tsr_mesh *tsr_type_mesh(const tsr_type *type)
{
    GUARD(tsr_type_mesh);
    return type->mesh;
}

tsr_axis_type tsr_type_axis(const tsr_type *type, size_t axis)
{
    GUARD(tsr_type_axis);
    return axis < tsr_mesh_num_axes(type->mesh) ? type->axes[axis] : (tsr_axis_type){0};
}

bool tsr_type_has_spec(const tsr_type *type)
{
    GUARD(tsr_type_has_spec);
    return type->has_spec;
}

size_t tsr_type_rank(const tsr_type *type)
{
    GUARD(tsr_type_rank);
    return type->rank;
}

const tsr_spec_dim *tsr_type_dim(const tsr_type *type, size_t dim)
{
    GUARD(tsr_type_dim);
    return dim < type->rank ? &type->dims[dim] : NULL;
}

int64_t tsr_type_dim_of(const tsr_type *type, size_t axis)
{
    GUARD(tsr_type_dim_of);
    for (size_t d = 0; d < type->rank; d++) {
        for (size_t k = 0; k < type->dims[d].num_axes; k++) {
            if (type->dims[d].axes[k] == axis) {
                return (int64_t)d;
            }
        }
    }
    return -1;
}

static bool same_dim(const tsr_mesh *mesh, const tsr_spec_dim *a, const tsr_spec_dim *b)
{
    if (a->num_axes != b->num_axes || (a->sizes == NULL) != (b->sizes == NULL) ||
        !spmd_same_symbol(a->symbol, b->symbol) ||
        (a->num_axes > 0 && memcmp(a->axes, b->axes, a->num_axes * sizeof *a->axes) != 0)) {
        return false;
    }
    const int64_t shards = a->sizes != NULL ? spmd_shards(mesh, a->axes, a->num_axes) : 0;
    for (int64_t i = 0; i < shards; i++) {
        if (a->sizes[i] != b->sizes[i]) {
            return false;
        }
    }
    return true;
}

bool tsr_type_equal(const tsr_type *a, const tsr_type *b)
{
    GUARD(tsr_type_equal);
    if (!tsr_mesh_equal(a->mesh, b->mesh) || a->has_spec != b->has_spec || a->rank != b->rank) {
        return false;
    }
    for (size_t i = 0; i < tsr_mesh_num_axes(a->mesh); i++) {
        if (a->axes[i].kind != b->axes[i].kind || a->axes[i].partial != b->axes[i].partial) {
            return false;
        }
    }
    for (size_t d = 0; d < a->rank; d++) {
        if (!same_dim(a->mesh, &a->dims[d], &b->dims[d])) {
            return false;
        }
    }
    return true;
}

/* ---- against a value ---- */

static tsr_status check_sizes(tsr_context *ctx, const tsr_typed_shape *typed, size_t dim)
{
    const tsr_spec_dim *d = &typed->type->dims[dim];
    const int64_t shards = spmd_shards(typed->type->mesh, d->axes, d->num_axes);
    int64_t sum = 0;
    for (int64_t i = 0; d->sizes != NULL && i < shards; i++) {
        if (!checked_add(sum, d->sizes[i], &sum)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "the sizes of dimension %zu sum to more than 2^63-1", dim);
        }
    }
    if (d->sizes != NULL && sum != typed->shape[dim]) {
        return SPMD_ERROR(ctx, "the sizes of dimension %zu sum to %lld, but its extent is %lld",
                          dim, (long long)sum, (long long)typed->shape[dim]);
    }
    return TSR_OK;
}

/* What a rank has must be one of the shards' sizes. */
static bool is_a_shard(const tsr_typed_shape *typed, size_t dim, int64_t local)
{
    const tsr_type *t = typed->type;
    const tsr_spec_dim *d = t->has_spec ? &t->dims[dim] : NULL;
    if (d == NULL || d->num_axes == 0) {
        return local == typed->shape[dim];
    }
    if (d->symbol != NULL) {
        return local >= 0 && local <= typed->shape[dim];
    }
    const int64_t shards = spmd_shards(t->mesh, d->axes, d->num_axes);
    const int64_t chunk = ceil_div(typed->shape[dim], shards);
    if (d->sizes == NULL) {
        const int64_t full = chunk == 0 ? 0 : typed->shape[dim] / chunk;
        return local == chunk || (full < shards && local == typed->shape[dim] - full * chunk) ||
               (full + 1 < shards && local == 0);
    }
    for (int64_t i = 0; i < shards; i++) {
        if (d->sizes[i] == local) {
            return true;
        }
    }
    return false;
}

tsr_status tsr_type_check(tsr_context *ctx, const tsr_typed_shape *typed)
{
    GUARD(tsr_type_check);
    const tsr_type *t = typed->type;
    if (t == NULL) {
        return SPMD_ERROR(ctx, "%s", "a plain number without a type is not a value of ranks");
    }
    if (t->has_spec && t->rank != typed->rank) {
        return SPMD_ERROR(ctx, "the partition spec has %zu dimensions, but the value has %zu",
                          t->rank, typed->rank);
    }
    for (size_t d = 0; d < typed->rank; d++) {
        if (t->has_spec) {
            TSR_TRY(check_sizes(ctx, typed, d));
        }
        if (typed->local != NULL && !is_a_shard(typed, d, typed->local[d])) {
            return SPMD_ERROR(
                ctx,
                "dimension %zu has extent %lld on this rank, but no shard of %lld has that size", d,
                (long long)typed->local[d], (long long)typed->shape[d]);
        }
    }
    return TSR_OK;
}

tsr_status tsr_type_local_shape(tsr_context *ctx, const tsr_typed_shape *typed,
                                const int64_t *coordinates, int64_t *local)
{
    GUARD(tsr_type_local_shape);
    const tsr_type *t = typed->type;
    TSR_TRY(
        tsr_type_check(ctx, &(tsr_typed_shape){t, typed->dtype, typed->rank, typed->shape, NULL}));
    for (size_t d = 0; d < typed->rank; d++) {
        int64_t index = 0;
        int64_t shards = 1;
        for (size_t k = 0; t->has_spec && k < t->dims[d].num_axes; k++) {
            const int64_t size = tsr_mesh_axis_size(t->mesh, t->dims[d].axes[k]);
            index = index * size + coordinates[t->dims[d].axes[k]];
            shards *= size;
        }
        if (t->has_spec && t->dims[d].symbol != NULL) {
            local[d] = TSR_UNKNOWN;
            continue;
        }
        local[d] = t->has_spec && t->dims[d].sizes != NULL
                       ? t->dims[d].sizes[index]
                       : spmd_chunk(typed->shape[d], shards, index);
    }
    return TSR_OK;
}
