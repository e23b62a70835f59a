#include "spmd/view.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "mesh/view.h"

/* How many ranks a message lists. */
enum { MAX_LISTED = 8 };

/* An axis as pairs of a numbering that two meshes share. */
typedef struct axis_pairs {
    tsr_stride pairs[MAX_DIGITS];
    size_t count;
} axis_pairs;

/* The axes of two meshes over the same ranks, comparable. */
typedef struct two_views {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *from;
    const tsr_mesh *to;
    axis_pairs *old; /* of the axes of `from` */
    axis_pairs *new; /* of `to` */
} two_views;

static bool fill_pairs(const mesh_view *view, axis_pairs *out)
{
    for (size_t a = 0; a < tsr_mesh_num_axes(view->mesh); a++) {
        if (!mesh_view_axis(view, tsr_axis_full(view->mesh, a), out[a].pairs, &out[a].count)) {
            return false;
        }
    }
    return true;
}

/* False when the axes of one cut across those of the other, or without memory. */
static bool view_both(two_views *v)
{
    mesh_view from;
    mesh_view to;
    v->old = ARENA_ARRAY(v->arena, axis_pairs, tsr_mesh_num_axes(v->from));
    v->new = ARENA_ARRAY(v->arena, axis_pairs, tsr_mesh_num_axes(v->to));
    return v->old != NULL && v->new != NULL &&mesh_views(v->from, v->to, &from, &to) &&
           fill_pairs(&from, v->old) && fill_pairs(&to, v->new);
}

/* Whether no two ranks differ along both of two axes. */
static bool is_apart(const axis_pairs *a, const axis_pairs *b)
{
    tsr_stride all[2 * MAX_DIGITS];
    memcpy(all, a->pairs, a->count * sizeof *all);
    memcpy(all + a->count, b->pairs, b->count * sizeof *all);
    return tsr_strides_orthogonal(all, a->count + b->count);
}

static tsr_status is_within(const two_views *v, const axis_pairs *a, const axis_pairs *b, bool *out)
{
    return tsr_strides_within(v->ctx, a->pairs, a->count, b->pairs, b->count, out);
}

/* ---- messages ---- */

/* `dp (ranks 0, 4)`: an axis with its first group. */
static void print_axis(buffer *buf, const tsr_mesh *mesh, size_t axis)
{
    const int64_t size = tsr_mesh_axis_size(mesh, axis);
    const int64_t stride = mesh->strides[axis];
    spmd_print_axes(buf, mesh, &axis, 1);
    buffer_string(buf, " (ranks ");
    for (int64_t i = 0; i < min_i64(size, MAX_LISTED); i++) {
        buffer_format(buf, "%s%lld", i > 0 ? ", " : "",
                      (long long)tsr_mesh_device_at(mesh, i * stride));
    }
    buffer_string(buf, size > MAX_LISTED ? ", ..)" : ")");
}

/* `dp:R, cp:V`: a type along all its axes. */
static void print_kinds(buffer *buf, const tsr_type *type)
{
    for (size_t a = 0; a < tsr_mesh_num_axes(type->mesh); a++) {
        buffer_string(buf, a > 0 ? ", " : "");
        spmd_print_axes(buf, type->mesh, &a, 1);
        buffer_format(buf, ":%s", tsr_axis_type_name(type->axes[a]));
    }
}

/* After an error, the type and both meshes. */
static tsr_status with_meshes(const two_views *v, const tsr_type *type, tsr_status status)
{
    buffer buf = buffer_new(v->arena);
    const char *text;
    if (status == TSR_ERR_INVALID) {
        buffer_string(&buf, "the type is {");
        print_kinds(&buf, type);
        buffer_string(&buf, "} on the mesh ");
        mesh_print(&buf, v->from);
        buffer_string(&buf, "; it is read under ");
        mesh_print(&buf, v->to);
        TSR_TRY(buffer_finish(v->ctx, &buf, &text));
        (void)diag_note(v->ctx, NO_LOCATION, "%s", text);
    }
    return status;
}

static tsr_status refuse_overlap(const two_views *v, size_t old, size_t new)
{
    buffer buf = buffer_new(v->arena);
    const char *text;
    buffer_string(&buf, "axis ");
    print_axis(&buf, v->from, old);
    buffer_string(&buf, " of a type overlaps axis ");
    print_axis(&buf, v->to, new);
    buffer_string(&buf, " of the current mesh, and neither is a part of the other");
    TSR_TRY(buffer_finish(v->ctx, &buf, &text));
    return SPMD_ERROR(v->ctx, "%s", text);
}

static tsr_status refuse_parts(const two_views *v, const tsr_type *type, size_t a, size_t b,
                               size_t new)
{
    buffer buf = buffer_new(v->arena);
    const char *text;
    buffer_format(&buf, "a type is %s along axis ", tsr_axis_type_name(type->axes[a]));
    print_axis(&buf, v->from, a);
    buffer_format(&buf, " and %s along axis ", tsr_axis_type_name(type->axes[b]));
    print_axis(&buf, v->from, b);
    buffer_string(&buf, ", which are parts of axis ");
    print_axis(&buf, v->to, new);
    buffer_string(&buf, " of the current mesh: along it a value has one type");
    TSR_TRY(buffer_finish(v->ctx, &buf, &text));
    return SPMD_ERROR(v->ctx, "%s", text);
}

/* ---- another mesh over the same ranks ---- */

static bool same_kind(tsr_axis_type a, tsr_axis_type b)
{
    return a.kind == b.kind && a.partial == b.partial;
}

/* Whether an axis of the new mesh is made of axes of the old one that agree, or is a part of one.
 */
static tsr_status check_axis(const two_views *v, const tsr_type *type, size_t new)
{
    size_t first = SIZE_MAX;
    for (size_t a = 0; a < tsr_mesh_num_axes(v->from); a++) {
        bool inside = false;
        bool around = false;
        if (is_apart(&v->old[a], &v->new[new])) {
            continue;
        }
        TSR_TRY(is_within(v, &v->old[a], &v->new[new], &inside));
        TSR_TRY(inside ? TSR_OK : is_within(v, &v->new[new], &v->old[a], &around));
        if (!inside && !around) {
            return refuse_overlap(v, a, new);
        }
        if (first != SIZE_MAX && !same_kind(type->axes[first], type->axes[a])) {
            return refuse_parts(v, type, first, a, new);
        }
        first = first == SIZE_MAX ? a : first;
    }
    return TSR_OK;
}

/* The typed axes of a type as pairs, with its spec. */
static tsr_status strided_of(const two_views *v, const tsr_type *type, tsr_strided_type *out)
{
    const size_t num_axes = tsr_mesh_num_axes(v->from);
    tsr_strided_axis *axes = ARENA_ARRAY(v->arena, tsr_strided_axis, num_axes);
    size_t *index = ARENA_ARRAY(v->arena, size_t, num_axes);
    tsr_strided_dim *dims = ARENA_ARRAY(v->arena, tsr_strided_dim, type->rank);
    size_t count = 0;
    if (axes == NULL || index == NULL || dims == NULL) {
        return diag_nomem(v->ctx);
    }
    for (size_t a = 0; a < num_axes; a++) {
        index[a] = count;
        if (type->axes[a].kind != TSR_UNTYPED && v->old[a].count > 0) {
            axes[count++] = (tsr_strided_axis){v->old[a].pairs, v->old[a].count, type->axes[a]};
        }
    }
    for (size_t d = 0; d < type->rank; d++) {
        size_t *list = ARENA_ARRAY(v->arena, size_t, type->dims[d].num_axes);
        size_t used = 0;
        if (list == NULL) {
            return diag_nomem(v->ctx);
        }
        for (size_t k = 0; k < type->dims[d].num_axes; k++) {
            const size_t axis = type->dims[d].axes[k];
            if (v->old[axis].count > 0) {
                list[used++] = index[axis];
            }
        }
        dims[d] = (tsr_strided_dim){list, used};
    }
    *out = (tsr_strided_type){count, axes, type->rank, dims};
    return TSR_OK;
}

/* The axis of the new mesh that some pairs are. */
static size_t find_new(const two_views *v, const tsr_strided_axis *axis)
{
    size_t a = 0;
    while (a < tsr_mesh_num_axes(v->to) &&
           !tsr_strides_equal(v->new[a].pairs, v->new[a].count, axis->pairs, axis->num_pairs)) {
        a++;
    }
    return a;
}

/* The type that some strided one is on the new mesh; sizes of shards are those of the old one. */
static tsr_status type_of_strided(const two_views *v, const tsr_type *old,
                                  const tsr_strided_type *strided, const tsr_type **out)
{
    const size_t num_axes = tsr_mesh_num_axes(v->to);
    tsr_axis_type *axes = ARENA_ARRAY(v->arena, tsr_axis_type, num_axes);
    tsr_spec_dim *dims = ARENA_ARRAY(v->arena, tsr_spec_dim, strided->rank);
    if (axes == NULL || dims == NULL) {
        return diag_nomem(v->ctx);
    }
    for (size_t a = 0; a < num_axes; a++) { /* along one rank a type says nothing */
        const char *name = tsr_mesh_axis_name(v->to, a);
        const int32_t same = tsr_mesh_find_axis(v->from, name, strlen(name));
        axes[a] = v->new[a].count == 0 && same >= 0 && v->old[same].count == 0
                      ? old->axes[same]
                      : (tsr_axis_type){TSR_UNTYPED, TSR_SUM};
    }
    for (size_t i = 0; i < strided->num_axes; i++) {
        axes[find_new(v, &strided->axes[i])] = strided->axes[i].type;
    }
    for (size_t d = 0; d < strided->rank; d++) {
        size_t *list = ARENA_ARRAY(v->arena, size_t, strided->dims[d].num_axes);
        if (list == NULL) {
            return diag_nomem(v->ctx);
        }
        for (size_t k = 0; k < strided->dims[d].num_axes; k++) {
            list[k] = find_new(v, &strided->axes[strided->dims[d].axes[k]]);
        }
        dims[d] = (tsr_spec_dim){strided->dims[d].num_axes, list, old->dims[d].sizes,
                                 old->dims[d].symbol};
    }
    const tsr_type_spec spec = {
        .mesh = v->to, .axes = axes, .has_spec = old->has_spec, strided->rank, dims};
    return tsr_type_create(v->ctx, v->arena, &spec, out);
}

static tsr_status read_under(const two_views *v, const tsr_type *type, const tsr_type **out)
{
    const size_t num_axes = tsr_mesh_num_axes(v->to);
    tsr_strided_axis *axes = ARENA_ARRAY(v->arena, tsr_strided_axis, num_axes);
    tsr_strided_type strided;
    size_t count = 0;
    if (axes == NULL) {
        return diag_nomem(v->ctx);
    }
    for (size_t a = 0; a < num_axes; a++) {
        TSR_TRY(check_axis(v, type, a));
        if (v->new[a].count > 0) {
            axes[count++] =
                (tsr_strided_axis){.pairs = v->new[a].pairs, .num_pairs = v->new[a].count};
        }
    }
    TSR_TRY(strided_of(v, type, &strided));
    TSR_TRY(tsr_type_reaxis(v->ctx, v->arena, &strided, axes, count, &strided));
    return type_of_strided(v, type, &strided, out);
}

tsr_status tsr_type_on_mesh(tsr_context *ctx, tsr_arena *arena, const tsr_type *type,
                            const tsr_mesh *mesh, const tsr_type **out)
{
    GUARD(tsr_type_on_mesh);
    two_views v = {.ctx = ctx, .arena = arena, .from = type->mesh, .to = mesh};
    if (tsr_mesh_equal(type->mesh, mesh)) {
        *out = type;
        return TSR_OK;
    }
    if (!tsr_mesh_same_devices(type->mesh, mesh)) {
        return with_meshes(
            &v, type, SPMD_ERROR(ctx, "%s", "a type is on another mesh, which has other ranks"));
    }
    if (!view_both(&v)) {
        return v.old == NULL || v.new == NULL
                   ? diag_nomem(ctx)
                   : with_meshes(&v, type,
                                 SPMD_ERROR(ctx, "%s",
                                            "a type is on another mesh, whose axes cut across "
                                            "those of the current one"));
    }
    return with_meshes(&v, type, read_under(&v, type, out));
}

/* ---- the types of a call ---- */

/* The parts that a cut mesh has of the axes of another, added to a list. */
static tsr_status add_parts(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *cut,
                            const tsr_mesh *mesh, tsr_axis_list *parts, bool *is_cut)
{
    const size_t count = tsr_mesh_num_axes(cut);
    tsr_axis_ref *refs = ARENA_ARRAY(arena, tsr_axis_ref, count);
    if (refs == NULL) {
        return diag_nomem(ctx);
    }
    *is_cut = mesh_parts(cut, mesh, refs);
    for (size_t i = 0; *is_cut && i < count; i++) {
        bool known = refs[i].is_sub == 0;
        for (size_t k = 0; k < parts->count && !known; k++) {
            known = tsr_axis_equal(parts->refs[k], refs[i]);
        }
        if (!known && parts->count == parts->capacity) {
            return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                              "the types of a call are on more than %zu parts of axes",
                              parts->capacity);
        }
        if (!known) {
            parts->refs[parts->count++] = refs[i];
        }
    }
    return TSR_OK;
}

static bool any_sub(const tsr_axis_ref *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].is_sub != 0) {
            return true;
        }
    }
    return false;
}

static bool all_on(const tsr_mesh *mesh, const tsr_type *const *types, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (types[i] != NULL && types[i]->mesh != mesh && !tsr_mesh_equal(types[i]->mesh, mesh)) {
            return false;
        }
    }
    return true;
}

tsr_status spmd_meet(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                     const tsr_type **types, size_t num_types, const tsr_axis_ref *parts,
                     size_t num_parts, const tsr_mesh **out)
{
    enum { MAX_PARTS = 256 };
    tsr_axis_list all = {.capacity = MAX_PARTS};
    *out = mesh;
    if (!any_sub(parts, num_parts) && all_on(mesh, types, num_types)) {
        return TSR_OK;
    }
    all.refs = ARENA_ARRAY(arena, tsr_axis_ref, MAX_PARTS);
    if (all.refs == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_parts; i++) {
        if (parts[i].is_sub != 0 && all.count < all.capacity) {
            all.refs[all.count++] = parts[i];
        }
    }
    for (size_t i = 0; i < num_types; i++) {
        bool is_cut = types[i] == NULL;
        if (!is_cut) {
            TSR_TRY(add_parts(ctx, arena, types[i]->mesh, mesh, &all, &is_cut));
        }
        if (!is_cut) {
            TSR_TRY(tsr_type_on_mesh(ctx, arena, types[i], mesh, &types[i]));
        }
    }
    TSR_TRY(mesh_cut(ctx, arena, mesh, all.refs, all.count, out));
    for (size_t i = 0; i < num_types; i++) {
        TSR_TRY(types[i] != NULL ? tsr_type_on_mesh(ctx, arena, types[i], *out, &types[i])
                                 : TSR_OK);
    }
    return TSR_OK;
}

/* ---- parts joined ---- */

/* Where an axis is in the spec: its dimension and place there; false when nowhere. */
static bool find_place(const tsr_type *type, size_t axis, size_t *dim, size_t *place)
{
    for (size_t d = 0; d < type->rank; d++) {
        for (size_t k = 0; k < type->dims[d].num_axes; k++) {
            if (type->dims[d].axes[k] == axis) {
                *dim = d;
                *place = k;
                return true;
            }
        }
    }
    return false;
}

/* Whether two neighbouring parts of an axis are as one: of one type, one after the other in a spec.
 */
static bool are_one(const tsr_type *type, size_t a, size_t b)
{
    size_t dims[2];
    size_t places[2];
    const bool first = find_place(type, a, &dims[0], &places[0]);
    const bool second = find_place(type, b, &dims[1], &places[1]);
    return same_kind(type->axes[a], type->axes[b]) && first == second &&
           (!first || (dims[0] == dims[1] && places[0] + 1 == places[1]));
}

tsr_status spmd_join(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh, const tsr_type *type,
                     const tsr_type **out)
{
    const size_t count = tsr_mesh_num_axes(type->mesh);
    const tsr_mesh *joined = NULL;
    size_t kept = 0;
    if (tsr_mesh_equal(type->mesh, mesh)) {
        *out = type;
        return TSR_OK;
    }
    tsr_axis_ref *refs = ARENA_ARRAY(arena, tsr_axis_ref, count);
    if (refs == NULL) {
        return diag_nomem(ctx);
    }
    if (!mesh_parts(type->mesh, mesh, refs)) {
        *out = type;
        return TSR_OK;
    }
    for (size_t i = 0; i < count; i++) {
        tsr_axis_ref both;
        if (i > 0 && are_one(type, i - 1, i) &&
            tsr_axis_merge(mesh, refs[kept - 1], refs[i], &both)) {
            refs[kept - 1] = both;
        } else {
            refs[kept++] = refs[i];
        }
    }
    size_t subs = 0;
    for (size_t i = 0; i < kept; i++) {
        refs[subs] = refs[i];
        subs += refs[i].is_sub != 0;
    }
    TSR_TRY(mesh_cut(ctx, arena, mesh, refs, subs, &joined));
    return tsr_type_on_mesh(ctx, arena, type, joined, out);
}

/* ---- sets and lists of axes ---- */

tsr_status spmd_axes_of_parts(tsr_context *ctx, const tsr_mesh *cut, const tsr_mesh *mesh,
                              const tsr_axis_ref *parts, size_t num_parts, size_t capacity,
                              size_t *axes, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < num_parts; i++) {
        for (size_t a = 0; a < tsr_mesh_num_axes(cut); a++) {
            const char *name = tsr_mesh_axis_name(cut, a);
            tsr_axis_ref ref = tsr_axis_full(mesh, a < tsr_mesh_num_axes(mesh) ? a : 0);
            if ((cut != mesh && !mesh_find_part(mesh, name, strlen(name), &ref)) ||
                !(tsr_axis_contains(parts[i], ref) || tsr_axis_equal(parts[i], ref))) {
                continue;
            }
            if (*count == capacity) {
                return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                                  "a call is along more than %zu axes and parts", capacity);
            }
            axes[(*count)++] = a;
        }
    }
    return TSR_OK;
}

/* Whether axes of two meshes are apart; those of one rank are one where they have one name. */
static bool are_apart(const mesh_view *from, size_t a, const mesh_view *to, size_t b)
{
    axis_pairs old;
    axis_pairs new;
    if (tsr_mesh_axis_size(from->mesh, a) == 1 || tsr_mesh_axis_size(to->mesh, b) == 1) {
        return strcmp(tsr_mesh_axis_name(from->mesh, a), tsr_mesh_axis_name(to->mesh, b)) != 0;
    }
    return mesh_view_axis(from, tsr_axis_full(from->mesh, a), old.pairs, &old.count) &&
           mesh_view_axis(to, tsr_axis_full(to->mesh, b), new.pairs, &new.count) &&
           is_apart(&old, &new);
}

tsr_axis_set spmd_map_axes(const tsr_mesh *from, tsr_axis_set set, const tsr_mesh *to)
{
    mesh_view views[2];
    tsr_axis_set mapped = {0};
    if (set.bits == 0 || from == to || tsr_mesh_equal(from, to)) {
        return set;
    }
    const bool known = mesh_views(from, to, &views[0], &views[1]);
    for (size_t b = 0; b < tsr_mesh_num_axes(to) && b < 64; b++) {
        for (size_t a = 0; a < tsr_mesh_num_axes(from); a++) {
            const bool shared =
                axis_in_set(set, a) && (!known || !are_apart(&views[0], a, &views[1], b));
            mapped.bits |= shared ? UINT64_C(1) << b : 0;
        }
    }
    return mapped;
}
