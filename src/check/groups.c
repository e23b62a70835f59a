/* The devices of a collective, as sub-axes of a mesh. */
#include <stdlib.h>

#include "check/check.h"
#include "ir/elements.h"
#include "ir/message.h"
#include "mesh/mesh.h"

/* ---- reading ---- */

/* The numbers of a dense attribute of two dimensions; none of another. */
static tsr_status read_table(checker *c, uint32_t attr, device_groups *out)
{
    const void *bytes = NULL;
    size_t size = 0;
    bool is_splat = false;
    *out = (device_groups){0};
    if (!attr_is_elements(c->p, attr) || attr_is(c->p, attr, ATTR_RESOURCE)) {
        return TSR_OK;
    }
    const type_head *type = program_type(c->p, program_attr(c->p, attr)->type);
    int64_t count = 0;
    if (type->kind != TYPE_TENSOR || type->count != 2 ||
        !type_num_elements(c->p, program_attr(c->p, attr)->type, &count)) {
        return TSR_OK;
    }
    TSR_TRY(elements_bytes(c->ctx, c->scratch, c->p, attr, &bytes, &size, &is_splat));
    int64_t *ids = is_splat || size / 8 == (size_t)count
                       ? ARENA_ARRAY(c->scratch, int64_t, (size_t)count + 1)
                       : NULL;
    if (ids == NULL) {
        return is_splat || size / 8 == (size_t)count ? diag_nomem(c->ctx) : TSR_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(&ids[i], (const char *)bytes + (is_splat ? 0 : i * 8), 8);
    }
    out->count = (size_t)type_extents(type)[0];
    out->size = (size_t)type_extents(type)[1];
    out->ids = ids;
    return TSR_OK;
}

tsr_status groups_of(checker *c, uint32_t op, device_groups *out)
{
    const uint32_t groups = op_property(c->p, op, "replica_groups");
    return read_table(c, groups != 0 ? groups : op_property(c->p, op, "source_target_pairs"), out);
}

/* ---- where groups cut an axis ---- */

static int compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The coordinate along an axis of a device; -1: it has none. */
static int64_t coordinate(const tsr_mesh *mesh, size_t axis, int64_t device)
{
    const int64_t place = device < 0 ? -1 : tsr_mesh_place_of(mesh, device);
    return place < 0 ? -1 : place / mesh->strides[axis] % mesh->sizes[axis];
}

/* Ascending coordinates as digits, the minor one first: each ends where an axis is cut. */
static void cuts_of_coordinates(const int64_t *at, size_t count, int64_t size, cut_list *cuts)
{
    size_t every = 1;
    while (every < count && cuts->count + 2 < MAX_SUB_AXES) {
        const int64_t step = at[every] - at[0];
        size_t run = 1;
        while (run * every < count && at[run * every] == at[0] + (int64_t)run * step) {
            run++;
        }
        cuts->pre[cuts->count++] = size / step;
        cuts->pre[cuts->count++] = max_i64(size / (step * (int64_t)run), 1);
        every *= run;
    }
}

tsr_status groups_cuts(checker *c, const tsr_mesh *mesh, const device_groups *groups, size_t axis,
                       cut_list *cuts)
{
    size_t distinct = 0;
    if (groups->count == 0 || mesh->sizes[axis] == 1) {
        return TSR_OK;
    }
    int64_t *at = ARENA_ARRAY(c->scratch, int64_t, groups->size + 1);
    if (at == NULL) {
        return diag_nomem(c->ctx);
    }
    for (size_t i = 0; i < groups->size; i++) {
        at[i] = coordinate(mesh, axis, groups->ids[i]);
        if (at[i] < 0) {
            return TSR_OK;
        }
    }
    qsort(at, groups->size, sizeof at[0], compare_numbers);
    for (size_t i = 0; i < groups->size; i++) {
        if (distinct == 0 || at[distinct - 1] != at[i]) {
            at[distinct++] = at[i];
        }
    }
    cuts_of_coordinates(at, distinct, mesh->sizes[axis], cuts);
    return TSR_OK;
}

/* ---- sub-axes of groups ---- */

static axis_bits all_axes(const scope *s)
{
    return s->count == MAX_SUB_AXES ? ~(axis_bits)0 : axis_bit(s->count) - 1;
}

/* The sub-axes in which two places differ. */
static axis_bits difference(const scope *s, int64_t a, int64_t b)
{
    axis_bits bits = 0;
    for (size_t i = 0; i < s->count; i++) {
        const sub_axis *x = &s->axes[i];
        if (a / x->place_stride % x->ref.size != b / x->place_stride % x->ref.size) {
            bits |= axis_bit(i);
        }
    }
    return bits;
}

static int64_t place_of(const scope *s, int64_t device)
{
    return device < 0 ? -1 : tsr_mesh_place_of(s->mesh, device);
}

/* The sub-axes along which one group is; false when a member is not a device. */
static bool group_cover(const scope *s, const int64_t *ids, size_t size, axis_bits *out)
{
    const int64_t first = place_of(s, ids[0]);
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        const int64_t place = place_of(s, ids[i]);
        if (first < 0 || place < 0) {
            return false;
        }
        *out |= difference(s, first, place);
    }
    return true;
}

static bool has_size(const scope *s, axis_bits bits, size_t size)
{
    size_t product = 1;
    for (size_t a = 0; a < s->count && product <= size; a++) {
        product *= (bits & axis_bit(a)) != 0 ? (size_t)s->axes[a].ref.size : 1;
    }
    return product == size;
}

bool groups_cover(const scope *s, const device_groups *groups, axis_bits *out)
{
    *out = all_axes(s);
    if (groups->count == 0 || groups->size == 0) {
        return true; /* no groups: all devices are one */
    }
    if ((int64_t)(groups->count * groups->size) != s->mesh->num_devices) {
        return false;
    }
    axis_bits first = 0;
    for (size_t g = 0; g < groups->count; g++) {
        axis_bits bits = 0;
        if (!group_cover(s, groups->ids + g * groups->size, groups->size, &bits) ||
            !has_size(s, bits, groups->size) || (g > 0 && bits != first)) {
            return false;
        }
        first = bits;
    }
    *out = first;
    return true;
}

bool pairs_cover(const scope *s, const device_groups *pairs, axis_bits *out, bool *is_whole)
{
    axis_bits bits = 0;
    *out = all_axes(s);
    *is_whole = (int64_t)pairs->count == s->mesh->num_devices;
    for (size_t i = 0; i < pairs->count; i++) {
        axis_bits one = 0;
        if (pairs->size != 2 || !group_cover(s, pairs->ids + 2 * i, 2, &one)) {
            return false;
        }
        bits |= one;
    }
    *out = bits;
    return true;
}
