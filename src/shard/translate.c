/* The same sharding over another view of the devices. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "mesh/digits.h"
#include "mesh/groups.h"
#include "mesh/view.h"
#include "shard/sharding.h"

/* From one mesh to another, with both in one numbering. */
typedef struct translator {
    tsr_context *ctx;
    tsr_arena *arena;
    bool in_view; /* one numbering fits both meshes */
    mesh_view from;
    mesh_view to;
} translator;

/* More devices than this are not compared one by one. */
#define MAX_LISTED (INT64_C(1) << 20)

static tsr_status cannot(const translator *t, const tsr_axis_ref *axes, size_t count)
{
    const char *text;
    TSR_TRY(tsr_axes_print(t->ctx, t->arena, t->from.mesh, axes, count, &text));
    return diag_error(t->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "{%s} cannot be expressed by the axes of the other mesh", text);
}

/*
 * The part of a pair that is in one axis of the target, from the pair's minor end: it begins at
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

/*
 * The pairs of a list of axes, major to minor; false when one is not made of digits of the
 * numbering.
 */
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

/* A list of axes of the first mesh, seen from the places of the second. */
typedef struct list_seen {
    const tsr_mesh *from;
    const tsr_mesh *to;
    places along;
    int64_t *firsts; /* the first place, in the second mesh, of each group along the list */
    places beside;
} list_seen;

/* The coordinate along the list of the device at a place. */
static int64_t coordinate_at(const void *state, int64_t place)
{
    const list_seen *seen = state;
    const int64_t device = tsr_mesh_device_at(seen->to, place);
    return places_index(&seen->along, tsr_mesh_place_of(seen->from, device));
}

/* The first place of the group of the device at a place. */
static int64_t first_of_group(const void *state, int64_t place)
{
    const list_seen *seen = state;
    const int64_t device = tsr_mesh_device_at(seen->to, place);
    return seen->firsts[places_index(&seen->beside, tsr_mesh_place_of(seen->from, device))];
}

/* Fills in the first place of each group; places are tried from the last to the first. */
static bool find_firsts(const translator *t, list_seen *seen)
{
    seen->firsts = ARENA_ARRAY(t->arena, int64_t, (size_t)seen->beside.size);
    for (int64_t place = seen->to->num_devices; seen->firsts != NULL && place-- > 0;) {
        const int64_t device = tsr_mesh_device_at(seen->to, place);
        const int64_t there = tsr_mesh_place_of(seen->from, device);
        seen->firsts[places_index(&seen->beside, there)] = place;
    }
    return seen->firsts != NULL;
}

/* Digits with a weight as pairs, the heaviest first; false when the weights leave gaps. */
static bool weighted_pairs(const digit *digits, size_t count, tsr_stride *pairs, size_t *num_pairs)
{
    size_t found = 0;
    for (int64_t weight = 1;;) {
        size_t next = 0;
        while (next < count && digits[next].id_stride != weight) {
            next++;
        }
        if (next == count) {
            break;
        }
        pairs[found++] = (tsr_stride){digits[next].size, digits[next].place_stride};
        weight *= digits[next].size;
    }
    size_t weighty = 0;
    for (size_t i = 0; i < count; i++) {
        weighty += digits[i].id_stride > 0;
    }
    for (size_t i = 0; i < found / 2; i++) {
        const tsr_stride kept = pairs[i];
        pairs[i] = pairs[found - 1 - i];
        pairs[found - 1 - i] = kept;
    }
    *num_pairs = found;
    return found == weighty;
}

/* Digits on which the first place of a group does not depend; false when others are moved. */
static bool group_pairs(const digit *digits, size_t count, tsr_stride *pairs, size_t *num_pairs)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (digits[i].id_stride == 0) {
            pairs[found++] = (tsr_stride){digits[i].size, digits[i].place_stride};
        } else if (digits[i].id_stride != digits[i].place_stride) {
            return false;
        }
    }
    *num_pairs = found;
    return true;
}

/*
 * Where no numbering fits both meshes as a whole, one may still fit the axes in question: looks at
 * every device. Of axes that shard a dimension the coordinates count, of others only the groups.
 */
static tsr_status translate_listed(const translator *t, const tsr_axis_ref *axes, size_t count,
                                   bool ordered, tsr_axis_list *list)
{
    list_seen seen = {.from = t->from.mesh, .to = t->to.mesh};
    digit digits[MAX_DIGITS];
    tsr_stride pairs[MAX_DIGITS];
    size_t num_digits = 0;
    size_t num_pairs = 0;
    if (seen.to->num_devices > MAX_LISTED) {
        return cannot(t, axes, count);
    }
    TSR_TRY(places_along(t->ctx, t->arena, seen.from, axes, count, &seen.along));
    TSR_TRY(places_beside(t->ctx, t->arena, seen.from, axes, count, &seen.beside));
    if (!ordered && !find_firsts(t, &seen)) {
        return diag_nomem(t->ctx);
    }
    translator by_place = *t;
    mesh_view_by_place(t->to.mesh, &by_place.to);
    list->count = 0;
    const bool fits = digits_find(seen.to->num_devices, ordered ? coordinate_at : first_of_group,
                                  &seen, digits, &num_digits) &&
                      (ordered ? weighted_pairs(digits, num_digits, pairs, &num_pairs)
                               : group_pairs(digits, num_digits, pairs, &num_pairs)) &&
                      express(&by_place, pairs, num_pairs, list);
    return fits ? TSR_OK : cannot(t, axes, count);
}

static tsr_status translate_axes(const translator *t, const tsr_axis_ref *axes, size_t count,
                                 bool ordered, const tsr_axis_ref **out, size_t *out_count)
{
    tsr_axis_list list = {.refs = ARENA_ARRAY(t->arena, tsr_axis_ref, MAX_DIGITS),
                          .capacity = MAX_DIGITS};
    if (list.refs == NULL) {
        return diag_nomem(t->ctx);
    }
    tsr_stride pairs[MAX_DIGITS];
    size_t num_pairs = 0;
    const bool trivial = tsr_axes_size(axes, count) == 1;
    const bool fits = trivial || (t->in_view && pairs_of(t, axes, count, pairs, &num_pairs) &&
                                  express(t, pairs, num_pairs, &list));
    if (!fits) {
        TSR_TRY(translate_listed(t, axes, count, ordered, &list));
    }
    *out = list.refs;
    *out_count = list.count;
    return TSR_OK;
}

/*
 * The target may cut the axes differently, so sizes in rows become one row; without any axes left
 * there is one shard, which holds all that an even one would.
 */
static tsr_status translate_ragged(const translator *t, tsr_dim *dim)
{
    if (dim->ragged == NULL || dim->num_axes == 0) {
        dim->ragged = NULL;
        return TSR_OK;
    }
    if (dim->ragged->rows == 1) {
        return TSR_OK;
    }
    tsr_ragged *flat = arena_copy(t->arena, dim->ragged, 1, sizeof *flat);
    if (flat == NULL) {
        return diag_nomem(t->ctx);
    }
    flat->rows = 1;
    dim->ragged = flat;
    return TSR_OK;
}

/* Whether lists that can each be expressed can be so together: no two cut an axis across. */
static bool can_stand_together(const tsr_axis_ref *a, size_t count_a, const tsr_axis_ref *b,
                               size_t count_b)
{
    for (size_t i = 0; i < count_a; i++) {
        for (size_t j = 0; j < count_b; j++) {
            if (tsr_axis_overlaps(a[i], b[j]) || !tsr_axis_can_coexist(a[i], b[j])) {
                return false;
            }
        }
    }
    return true;
}

static tsr_status check_together(const translator *t, const tsr_sharding_spec *spec)
{
    bool fine = can_stand_together(spec->replicated, spec->num_replicated, spec->unreduced,
                                   spec->num_unreduced);
    for (size_t i = 0; i < spec->rank; i++) {
        const tsr_dim *dim = &spec->dims[i];
        fine =
            fine &&
            can_stand_together(dim->axes, dim->num_axes, spec->replicated, spec->num_replicated) &&
            can_stand_together(dim->axes, dim->num_axes, spec->unreduced, spec->num_unreduced);
        for (size_t j = 0; j < i; j++) {
            fine = fine && can_stand_together(dim->axes, dim->num_axes, spec->dims[j].axes,
                                              spec->dims[j].num_axes);
        }
    }
    if (fine) {
        return TSR_OK;
    }
    return diag_error(t->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "each axis of the sharding can be expressed by axes of the other mesh, but "
                      "not all of them together");
}

static tsr_status translate(const translator *t, const tsr_sharding *sharding,
                            const tsr_sharding **out)
{
    tsr_dim *dims = arena_copy(t->arena, sharding->dims, sharding->rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(t->ctx);
    }
    for (size_t i = 0; i < sharding->rank; i++) {
        TSR_TRY(translate_axes(t, dims[i].axes, dims[i].num_axes, true, &dims[i].axes,
                               &dims[i].num_axes));
        TSR_TRY(translate_ragged(t, &dims[i]));
        if (dims[i].num_axes == 0 && !dims[i].open) {
            dims[i].priority = TSR_NO_PRIORITY;
        }
    }
    tsr_sharding_spec spec = {
        .mesh = t->to.mesh, .rank = sharding->rank, .dims = dims, .reduction = sharding->reduction};
    TSR_TRY(translate_axes(t, sharding->replicated, sharding->num_replicated, false,
                           &spec.replicated, &spec.num_replicated));
    TSR_TRY(translate_axes(t, sharding->unreduced, sharding->num_unreduced, false, &spec.unreduced,
                           &spec.num_unreduced));
    TSR_TRY(check_together(t, &spec));
    return tsr_sharding_create(t->ctx, t->arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

tsr_status tsr_sharding_translate(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                                  const tsr_mesh *mesh, const tsr_sharding **out)
{
    GUARD(tsr_sharding_translate);
    if (!tsr_mesh_same_devices(sharding->mesh, mesh)) {
        return diag_error(
            ctx, TSR_ERR_INVALID, NO_LOCATION,
            "the meshes are not views of the same devices: one has %lld devices, the other %lld",
            (long long)tsr_mesh_num_devices(sharding->mesh), (long long)tsr_mesh_num_devices(mesh));
    }
    translator *t = ARENA_NEW(arena, translator);
    if (t == NULL) {
        return diag_nomem(ctx);
    }
    t->ctx = ctx;
    t->arena = arena;
    t->in_view = mesh_views(sharding->mesh, mesh, &t->from, &t->to);
    return translate(t, sharding, out);
}
