#include "mesh/view.h"

#include <string.h>

#include "base/base.h"
#include "base/guard.h"
#include "mesh/digits.h"

/* How many devices are compared one by one before giving up. */
#define MAX_COMPARED (INT64_C(1) << 26)

static void own_view(const tsr_mesh *mesh, mesh_view *view)
{
    view->mesh = mesh;
    view->count = mesh->num_digits;
    if (view->count > 0) {
        memcpy(view->digits, mesh->digits, view->count * sizeof *view->digits);
    }
}

void mesh_view_by_place(const tsr_mesh *mesh, mesh_view *view)
{
    view->mesh = mesh;
    view->count = mesh->num_devices > 1 ? 1 : 0;
    view->digits[0] = (digit){mesh->num_devices, 1, 1};
}

/* The place in the second mesh of the device at a place of the first. */
static int64_t place_in_other(const void *state, int64_t place)
{
    const tsr_mesh *const *meshes = state;
    return tsr_mesh_place_of(meshes[1], tsr_mesh_device_at(meshes[0], place));
}

/* The inverse digits: from a device's id to its place, by descending id stride. */
static void inverse_digits(const tsr_mesh *mesh, digit *out)
{
    for (size_t i = 0; i < mesh->num_digits; i++) {
        const digit *d = &mesh->digits[i];
        size_t rank = 0;
        for (size_t j = 0; j < mesh->num_digits; j++) {
            rank += mesh->digits[j].id_stride > d->id_stride;
        }
        out[rank] = (digit){d->size, d->id_stride, d->place_stride};
    }
}

/* Appends a digit minor to all others, joined with the last where it continues it. */
static void append_digit(mesh_view *view, digit d)
{
    digit *last = view->count > 0 ? &view->digits[view->count - 1] : NULL;
    if (last != NULL && last->id_stride == d.id_stride * d.size) {
        *last = (digit){last->size * d.size, d.place_stride, d.id_stride};
    } else {
        view->digits[view->count++] = d;
    }
}

/* Numbers the devices of one mesh by their places in another; false when digits cut across. */
static bool view_by_places_of(const tsr_mesh *mesh, const tsr_mesh *other, mesh_view *view)
{
    digit back[MAX_DIGITS];
    inverse_digits(other, back);
    view->mesh = mesh;
    view->count = 0;
    for (size_t i = 0; i < mesh->num_digits; i++) {
        const digit *d = &mesh->digits[i];
        tsr_stride pairs[MAX_DIGITS];
        size_t count;
        if (!digits_part(back, other->num_digits, d->id_stride, d->size, pairs, &count)) {
            return false;
        }
        int64_t minor = d->size;
        for (size_t j = 0; j < count; j++) {
            minor /= pairs[j].size;
            append_digit(view, (digit){pairs[j].size, d->place_stride * minor, pairs[j].stride});
        }
    }
    return true;
}

/*
 * The places of the second mesh are the first choice of a numbering: all of its sub-axes are digits
 * there, whatever its device ids are.
 */
bool mesh_views(const tsr_mesh *a, const tsr_mesh *b, mesh_view *view_a, mesh_view *view_b)
{
    mesh_view_by_place(b, view_b);
    if (mesh_same_ids(a, b)) {
        mesh_view_by_place(a, view_a);
        return true;
    }
    if (a->ids == NULL && b->ids == NULL) {
        if (!view_by_places_of(a, b, view_a)) {
            own_view(a, view_a);
            own_view(b, view_b);
        }
        return true;
    }
    const tsr_mesh *meshes[] = {a, b};
    view_a->mesh = a;
    return digits_find(a->num_devices, place_in_other, meshes, view_a->digits, &view_a->count);
}

bool mesh_view_axis(const mesh_view *view, tsr_axis_ref axis, tsr_stride *out, size_t *count)
{
    return digits_part(view->digits, view->count, mesh_place_stride(view->mesh, axis), axis.size,
                       out, count);
}

/* Whether a mesh has an axis or sub-axis. */
static bool is_axis_of(const tsr_mesh *mesh, tsr_axis_ref axis)
{
    const int64_t size = axis.axis >= 0 ? tsr_mesh_axis_size(mesh, (size_t)axis.axis) : -1;
    int64_t product;
    return size >= 0 && axis.pre > 0 && axis.size > 0 &&
           checked_mul(axis.pre, axis.size, &product) && product <= size && size % product == 0;
}

tsr_status tsr_mesh_axis_strides(const tsr_mesh *mesh, tsr_axis_ref axis, size_t capacity,
                                 tsr_stride *out, size_t *count)
{
    GUARD(tsr_mesh_axis_strides);
    tsr_stride pairs[MAX_DIGITS];
    size_t found;
    if (!is_axis_of(mesh, axis)) {
        return TSR_ERR_INVALID;
    }
    if (mesh->ids != NULL ||
        !digits_part(mesh->digits, mesh->num_digits, mesh_place_stride(mesh, axis), axis.size,
                     pairs, &found)) {
        return TSR_NOT_APPLICABLE;
    }
    if (found > capacity) {
        return TSR_ERR_LIMIT;
    }
    memcpy(out, pairs, found * sizeof *out);
    *count = found;
    return TSR_OK;
}

/* The coordinate of a place on an axis, and the place with that coordinate set to 0. */
static int64_t coordinate(const tsr_mesh *mesh, tsr_axis_ref axis, int64_t place, int64_t *origin)
{
    const int64_t stride = mesh_place_stride(mesh, axis);
    const int64_t index = place / stride % axis.size;
    *origin = place - index * stride;
    return index;
}

/* Compares axes device by device. */
static bool same_axis_listed(const tsr_mesh *a, tsr_axis_ref axis_a, const tsr_mesh *b,
                             tsr_axis_ref axis_b)
{
    for (int64_t place = 0; place < a->num_devices; place++) {
        const int64_t other = tsr_mesh_place_of(b, tsr_mesh_device_at(a, place));
        int64_t origin_a;
        int64_t origin_b;
        if (coordinate(a, axis_a, place, &origin_a) != coordinate(b, axis_b, other, &origin_b) ||
            tsr_mesh_device_at(a, origin_a) != tsr_mesh_device_at(b, origin_b)) {
            return false;
        }
    }
    return true;
}

tsr_status tsr_mesh_same_axis(tsr_context *ctx, const tsr_mesh *a, tsr_axis_ref axis_a,
                              const tsr_mesh *b, tsr_axis_ref axis_b, bool *out)
{
    GUARD(tsr_mesh_same_axis);
    if (!is_axis_of(a, axis_a) || !is_axis_of(b, axis_b)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_mesh_same_axis: the %s mesh does not have this axis",
                          is_axis_of(a, axis_a) ? "second" : "first");
    }
    if (!tsr_mesh_same_devices(a, b) || axis_a.size != axis_b.size) {
        *out = false;
        return TSR_OK;
    }
    mesh_view view_a;
    mesh_view view_b;
    tsr_stride pairs_a[MAX_DIGITS];
    tsr_stride pairs_b[MAX_DIGITS];
    size_t count_a;
    size_t count_b;
    if (mesh_views(a, b, &view_a, &view_b) && mesh_view_axis(&view_a, axis_a, pairs_a, &count_a) &&
        mesh_view_axis(&view_b, axis_b, pairs_b, &count_b)) {
        *out = tsr_strides_equal(pairs_a, count_a, pairs_b, count_b);
        return TSR_OK;
    }
    if (a->num_devices > MAX_COMPARED) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the axes cut across the order of the device ids; devices are then "
                          "compared one by one, for at most %lld devices, and the mesh has %lld",
                          (long long)MAX_COMPARED, (long long)a->num_devices);
    }
    *out = same_axis_listed(a, axis_a, b, axis_b);
    return TSR_OK;
}
