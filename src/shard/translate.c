/* The same sharding over another view of the devices. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "mesh/view.h"
#include "shard/sharding.h"

/* From one mesh to another, with both in one numbering. */
typedef struct translator {
    tsr_context *ctx;
    tsr_arena *arena;
    mesh_view from;
    mesh_view to;
} translator;

static tsr_status cannot(const translator *t, const tsr_axis_ref *axes, size_t count)
{
    const char *text;
    TSR_TRY(tsr_axes_print(t->ctx, t->arena, t->from.mesh, axes, count, &text));
    return diag_error(t->ctx, TSR_ERR_UNSUPPORTED, NO_PLACE,
                      "{%s} cannot be expressed by the axes of the other mesh", text);
}

/*
 * The part of a pair that lies in one axis of the target, from the pair's minor end: it begins at
 * `stride` and takes as much of `size` as the axis has. False when no axis has it.
 */
static bool minor_part(const translator *t, int64_t stride, int64_t size, tsr_axis_ref *out)
{
    const tsr_mesh *mesh = t->to.mesh;
    for (size_t i = 0; i < mesh->num_axes; i++) {
        tsr_stride pairs[MAX_DIGITS];
        size_t count;
        if (!mesh_view_axis(&t->to, tsr_axis_full(mesh, i), pairs, &count)) {
            continue;
        }
        int64_t after = 1; /* the product of the pairs minor to this one: the post-size */
        for (size_t j = count; j-- > 0; after *= pairs[j].size) {
            const int64_t low = pairs[j].stride;
            const int64_t high = low * pairs[j].size;
            if (stride < low || stride >= high || stride % low != 0 || high % stride != 0) {
                continue;
            }
            const int64_t part = min_i64(size, high / stride);
            if (size % part != 0 || (high / stride) % part != 0) {
                return false;
            }
            const int64_t post = after * (stride / low);
            const int64_t pre = mesh->sizes[i] / (post * part);
            *out = part == mesh->sizes[i] ? tsr_axis_full(mesh, i) : tsr_axis_sub(i, pre, part);
            return true;
        }
    }
    return false;
}

/* Puts a part in front of a list, joining it with the first element where it continues into it. */
static void prepend(const tsr_mesh *mesh, tsr_axis_ref part, tsr_axis_list *list)
{
    if (list->count > 0 && tsr_axis_merge(mesh, part, list->refs[0], &list->refs[0])) {
        return;
    }
    memmove(list->refs + 1, list->refs, list->count * sizeof *list->refs);
    list->refs[0] = part;
    list->count++;
}

/* The pairs of a list of axes, major to minor; false when one is no digits of the numbering. */
static bool pairs_of(const translator *t, const tsr_axis_ref *axes, size_t count, tsr_stride *pairs,
                     size_t *num_pairs)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        tsr_stride part[MAX_DIGITS];
        size_t size;
        if (!mesh_view_axis(&t->from, axes[i], part, &size)) {
            return false;
        }
        memcpy(pairs + found, part, size * sizeof *part);
        found += size;
    }
    *num_pairs = tsr_strides_coalesce(pairs, found);
    return true;
}

/* Axes of the target for pairs; false when it has none for some part. */
static bool express(const translator *t, const tsr_stride *pairs, size_t count, tsr_axis_list *list)
{
    for (size_t i = count; i-- > 0;) {
        int64_t stride = pairs[i].stride;
        for (int64_t left = pairs[i].size; left > 1;) {
            tsr_axis_ref part;
            if (!minor_part(t, stride, left, &part)) {
                return false;
            }
            prepend(t->to.mesh, part, list);
            stride *= part.size;
            left /= part.size;
        }
    }
    return true;
}

static tsr_status translate_axes(const translator *t, const tsr_axis_ref *axes, size_t count,
                                 const tsr_axis_ref **out, size_t *out_count)
{
    tsr_axis_list list = {.refs = ARENA_ARRAY(t->arena, tsr_axis_ref, MAX_DIGITS),
                          .capacity = MAX_DIGITS};
    if (list.refs == NULL) {
        return diag_nomem(t->ctx);
    }
    tsr_stride pairs[MAX_DIGITS];
    size_t num_pairs;
    if (!pairs_of(t, axes, count, pairs, &num_pairs) || !express(t, pairs, num_pairs, &list)) {
        return cannot(t, axes, count);
    }
    *out = list.refs;
    *out_count = list.count;
    return TSR_OK;
}

/* The axes may be cut otherwise over there, so sizes in rows become one row. */
static tsr_status flatten_rows(const translator *t, tsr_dim *dim)
{
    if (dim->layout == NULL || dim->layout->rows == 1) {
        return TSR_OK;
    }
    tsr_layout *flat = arena_copy(t->arena, dim->layout, 1, sizeof *flat);
    if (flat == NULL) {
        return diag_nomem(t->ctx);
    }
    flat->rows = 1;
    dim->layout = flat;
    return TSR_OK;
}

static tsr_status translate(const translator *t, const tsr_sharding *sharding,
                            const tsr_sharding **out)
{
    tsr_dim *dims = arena_copy(t->arena, sharding->dims, sharding->rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(t->ctx);
    }
    for (size_t i = 0; i < sharding->rank; i++) {
        TSR_TRY(
            translate_axes(t, dims[i].axes, dims[i].num_axes, &dims[i].axes, &dims[i].num_axes));
        TSR_TRY(flatten_rows(t, &dims[i]));
        if (dims[i].num_axes == 0 && !dims[i].open) {
            dims[i].priority = TSR_NO_PRIORITY;
        }
    }
    tsr_sharding_spec spec = {
        .mesh = t->to.mesh, .rank = sharding->rank, .dims = dims, .reduction = sharding->reduction};
    TSR_TRY(translate_axes(t, sharding->replicated, sharding->num_replicated, &spec.replicated,
                           &spec.num_replicated));
    TSR_TRY(translate_axes(t, sharding->unreduced, sharding->num_unreduced, &spec.unreduced,
                           &spec.num_unreduced));
    return tsr_sharding_create(t->ctx, t->arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

tsr_status tsr_sharding_translate(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                                  const tsr_mesh *mesh, const tsr_sharding **out)
{
    if (!tsr_mesh_same_devices(sharding->mesh, mesh)) {
        return diag_error(
            ctx, TSR_ERR_INVALID, NO_PLACE,
            "the meshes are no views of the same devices: one has %lld, the other %lld",
            (long long)tsr_mesh_num_devices(sharding->mesh), (long long)tsr_mesh_num_devices(mesh));
    }
    translator *t = ARENA_NEW(arena, translator);
    if (t == NULL) {
        return diag_nomem(ctx);
    }
    t->ctx = ctx;
    t->arena = arena;
    if (!mesh_views(sharding->mesh, mesh, &t->from, &t->to)) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_PLACE,
                          "the device ids of the two meshes are in orders that no split of their "
                          "axes relates");
    }
    return translate(t, sharding, out);
}
