#include "mesh/mesh.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "base/map.h"
#include "mesh/digits.h"

#define MAX_DEVICES (INT64_C(1) << 62)

/* Of a mesh, and dimensions of an iota; those larger than 1 are 62 at the most. */
enum { MAX_AXES = 1024 };

const char *tsr_mesh_name(const tsr_mesh *mesh)
{
    GUARD(tsr_mesh_name);
    return mesh->name;
}

int64_t tsr_mesh_num_devices(const tsr_mesh *mesh)
{
    GUARD(tsr_mesh_num_devices);
    return mesh->num_devices;
}

size_t tsr_mesh_num_axes(const tsr_mesh *mesh)
{
    GUARD(tsr_mesh_num_axes);
    return mesh->num_axes;
}

const char *tsr_mesh_axis_name(const tsr_mesh *mesh, size_t axis)
{
    GUARD(tsr_mesh_axis_name);
    return axis < mesh->num_axes ? mesh->axis_names[axis] : NULL;
}

int64_t tsr_mesh_axis_size(const tsr_mesh *mesh, size_t axis)
{
    GUARD(tsr_mesh_axis_size);
    return axis < mesh->num_axes ? mesh->sizes[axis] : -1;
}

int32_t tsr_mesh_find_axis(const tsr_mesh *mesh, const char *name, size_t length)
{
    GUARD(tsr_mesh_find_axis);
    for (size_t i = 0; i < mesh->num_axes; i++) {
        const char *axis = mesh->axis_names[i];
        if (strlen(axis) == length && memcmp(axis, name, length) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

bool tsr_mesh_is_maximal(const tsr_mesh *mesh)
{
    GUARD(tsr_mesh_is_maximal);
    return mesh->maximal;
}

bool tsr_mesh_is_empty(const tsr_mesh *mesh)
{
    GUARD(tsr_mesh_is_empty);
    return mesh->num_axes == 0 && !mesh->maximal;
}

bool tsr_mesh_is_iota(const tsr_mesh *mesh)
{
    GUARD(tsr_mesh_is_iota);
    if (mesh->maximal) {
        return mesh->maximal_device == 0;
    }
    return mesh->ids == NULL &&
           (mesh->num_digits == 0 || (mesh->num_digits == 1 && mesh->digits[0].id_stride == 1));
}

int64_t tsr_mesh_device_at(const tsr_mesh *mesh, int64_t place)
{
    GUARD(tsr_mesh_device_at);
    if (mesh->ids != NULL) {
        return mesh->ids[place];
    }
    if (mesh->num_digits <= 1) {
        return mesh->maximal ? mesh->maximal_device : place;
    }
    return digits_number(mesh->digits, mesh->num_digits, place);
}

int64_t tsr_mesh_place_of(const tsr_mesh *mesh, int64_t device)
{
    GUARD(tsr_mesh_place_of);
    if (mesh->maximal) {
        return device == mesh->maximal_device ? 0 : -1;
    }
    if (device < 0 || device >= mesh->num_devices) {
        return -1;
    }
    if (mesh->places != NULL) {
        return mesh->places[device];
    }
    if (mesh->num_digits <= 1) {
        return device;
    }
    int64_t place = 0;
    for (size_t i = 0; i < mesh->num_digits; i++) {
        const digit *d = &mesh->digits[i];
        place += device / d->id_stride % d->size * d->place_stride;
    }
    return place;
}

bool tsr_mesh_coordinates(const tsr_mesh *mesh, int64_t device, int64_t *coordinates)
{
    GUARD(tsr_mesh_coordinates);
    const int64_t place = tsr_mesh_place_of(mesh, device);
    if (place < 0) {
        return false;
    }
    for (size_t i = 0; i < mesh->num_axes; i++) {
        coordinates[i] = place / mesh->strides[i] % mesh->sizes[i];
    }
    return true;
}

int64_t tsr_mesh_device(const tsr_mesh *mesh, const int64_t *coordinates)
{
    GUARD(tsr_mesh_device);
    int64_t place = 0;
    for (size_t i = 0; i < mesh->num_axes; i++) {
        if (coordinates[i] < 0 || coordinates[i] >= mesh->sizes[i]) {
            return -1;
        }
        place += coordinates[i] * mesh->strides[i];
    }
    return tsr_mesh_device_at(mesh, place);
}

int64_t mesh_place_stride(const tsr_mesh *mesh, tsr_axis_ref axis)
{
    return mesh->strides[axis.axis] * (mesh->sizes[axis.axis] / (axis.pre * axis.size));
}

bool mesh_same_ids(const tsr_mesh *a, const tsr_mesh *b)
{
    if (a->maximal || b->maximal) {
        return tsr_mesh_device_at(a, 0) == tsr_mesh_device_at(b, 0);
    }
    if (a->ids != NULL && b->ids != NULL) {
        return a->ids == b->ids ||
               (a->ids_hash == b->ids_hash &&
                memcmp(a->ids, b->ids, (size_t)a->num_devices * sizeof *a->ids) == 0);
    }
    return a->ids == NULL && b->ids == NULL && a->num_digits == b->num_digits &&
           memcmp(a->digits, b->digits, a->num_digits * sizeof *a->digits) == 0;
}

static bool same_sizes(const tsr_mesh *a, const tsr_mesh *b)
{
    return a->num_axes == b->num_axes &&
           memcmp(a->sizes, b->sizes, a->num_axes * sizeof *a->sizes) == 0;
}

bool tsr_mesh_equal_axes(const tsr_mesh *a, const tsr_mesh *b)
{
    GUARD(tsr_mesh_equal_axes);
    if (a->maximal != b->maximal || !same_sizes(a, b)) {
        return false;
    }
    for (size_t i = 0; i < a->num_axes; i++) {
        if (strcmp(a->axis_names[i], b->axis_names[i]) != 0) {
            return false;
        }
    }
    return true;
}

bool tsr_mesh_equal(const tsr_mesh *a, const tsr_mesh *b)
{
    GUARD(tsr_mesh_equal);
    return a == b || (tsr_mesh_equal_axes(a, b) && mesh_same_ids(a, b));
}

bool tsr_mesh_same_view(const tsr_mesh *a, const tsr_mesh *b)
{
    GUARD(tsr_mesh_same_view);
    return same_sizes(a, b) && mesh_same_ids(a, b);
}

bool tsr_mesh_same_devices(const tsr_mesh *a, const tsr_mesh *b)
{
    GUARD(tsr_mesh_same_devices);
    if (a->num_devices != b->num_devices) {
        return false;
    }
    return a->num_devices > 1 || tsr_mesh_device_at(a, 0) == tsr_mesh_device_at(b, 0);
}

static tsr_status check_axes(tsr_context *ctx, const tsr_mesh_spec *spec, location where)
{
    if (spec->num_axes > MAX_AXES || spec->num_iota_dims > MAX_AXES) {
        return diag_error(
            ctx, TSR_ERR_LIMIT, where,
            "a mesh has at most %d axes and an iota at most %d dimensions, got: %zu and %zu",
            MAX_AXES, MAX_AXES, spec->num_axes, spec->num_iota_dims);
    }
    for (size_t i = 0; i < spec->num_axes; i++) {
        if (spec->axis_sizes[i] < 1) {
            return diag_error(ctx, TSR_ERR_INVALID, where,
                              "axis size must be at least 1, got: %lld",
                              (long long)spec->axis_sizes[i]);
        }
    }
    for (size_t i = 0; i < spec->num_device_ids; i++) {
        if (spec->device_ids[i] < 0) {
            return diag_error(ctx, TSR_ERR_INVALID, where,
                              "device id must be non-negative, got: %lld",
                              (long long)spec->device_ids[i]);
        }
    }
    if (spec->num_axes == 0 && spec->num_device_ids > 1) {
        (void)diag_error(ctx, TSR_ERR_INVALID, where,
                         "axes is empty and device_ids has more than one element");
        return diag_note(ctx, NO_LOCATION,
                         "give an axis for the device ids, as in <[\"x\"=%zu], device_ids=[...]>",
                         spec->num_device_ids);
    }
    for (size_t i = 0; i < spec->num_axes; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(spec->axis_names[i], spec->axis_names[j]) == 0) {
                return diag_error(ctx, TSR_ERR_INVALID, where, "duplicate axis name: \"%s\"",
                                  spec->axis_names[i]);
            }
        }
    }
    return TSR_OK;
}

static tsr_status count_devices(tsr_context *ctx, const tsr_mesh_spec *spec, location where,
                                int64_t *out)
{
    int64_t product = 1;
    for (size_t i = 0; i < spec->num_axes; i++) {
        if (!checked_mul(product, spec->axis_sizes[i], &product) || product > MAX_DEVICES) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, where,
                              "the product of the axis sizes exceeds 2^62 at axis \"%s\" of size "
                              "%lld",
                              spec->axis_names[i], (long long)spec->axis_sizes[i]);
        }
    }
    *out = product;
    return TSR_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The error for ids that are not a permutation, with the first one that is missing. */
static tsr_status not_a_permutation(tsr_context *ctx, tsr_arena *arena, const tsr_mesh_spec *spec,
                                    location where)
{
    const size_t count = spec->num_device_ids;
    int64_t *sorted = arena_copy(arena, spec->device_ids, count, sizeof *sorted);
    if (sorted == NULL) {
        return diag_nomem(ctx);
    }
    qsort(sorted, count, sizeof *sorted, compare_ids);
    buffer list = buffer_new(arena);
    buffer_ints(&list, sorted, count);
    const char *text;
    TSR_TRY(buffer_finish(ctx, &list, &text));
    (void)diag_error(ctx, TSR_ERR_INVALID, where,
                     "sorted device ids must be iota(product(axes)), got: %s", text);
    size_t missing = 0;
    while (missing < count && sorted[missing] == (int64_t)missing) {
        missing++;
    }
    const bool twice = missing > 0 && sorted[missing] == sorted[missing - 1];
    const int64_t wrong = twice ? sorted[missing - 1] : sorted[missing];
    return diag_note(ctx, NO_LOCATION, "each of 0 to %zu must be listed once: %lld %s", count - 1,
                     (long long)wrong,
                     twice ? "is repeated" : "is listed, and a smaller id is missing");
}

static int64_t listed_id(const void *state, int64_t place)
{
    return ((const int64_t *)state)[place];
}

static tsr_status keep_digits(tsr_context *ctx, tsr_arena *arena, const digit *digits, size_t count,
                              tsr_mesh *mesh)
{
    mesh->digits = arena_copy(arena, digits, count, sizeof *digits);
    mesh->num_digits = count;
    return mesh->digits != NULL ? TSR_OK : diag_nomem(ctx);
}

/* Keeps a list as digits where it is made of them, else with its inverse. */
static tsr_status keep_list(tsr_context *ctx, tsr_arena *arena, const tsr_mesh_spec *spec,
                            location where, tsr_mesh *mesh)
{
    const size_t count = spec->num_device_ids;
    const tsr_arena_mark mark = tsr_arena_get_mark(arena);
    int64_t *places = ARENA_ARRAY(arena, int64_t, count);
    if (places == NULL) {
        return diag_nomem(ctx);
    }
    memset(places, 0xff, count * sizeof *places);
    for (size_t i = 0; i < count; i++) {
        const int64_t id = spec->device_ids[i];
        if (id >= (int64_t)count || places[id] >= 0) {
            return not_a_permutation(ctx, arena, spec, where);
        }
        places[id] = (int64_t)i;
    }
    digit digits[MAX_DIGITS];
    size_t num_digits;
    if (digits_find(mesh->num_devices, listed_id, spec->device_ids, digits, &num_digits)) {
        tsr_arena_reset(arena, mark);
        return keep_digits(ctx, arena, digits, num_digits, mesh);
    }
    mesh->places = places;
    mesh->ids = arena_copy(arena, spec->device_ids, count, sizeof *mesh->ids);
    mesh->ids_hash = hash_bytes(spec->device_ids, count * sizeof *spec->device_ids, 0);
    return mesh->ids != NULL ? TSR_OK : diag_nomem(ctx);
}

/* Whether perm is a permutation of 0 .. count-1. */
static bool is_permutation(const int64_t *perm, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (perm[i] < 0 || perm[i] >= (int64_t)count) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (perm[i] == perm[j]) {
                return false;
            }
        }
    }
    return true;
}

static tsr_status keep_iota(tsr_context *ctx, tsr_arena *arena, const tsr_mesh_spec *spec,
                            location where, tsr_mesh *mesh)
{
    int64_t product = 1;
    size_t large = 0;
    for (size_t i = 0; i < spec->num_iota_dims; i++) {
        if (spec->iota_dims[i] < 1) {
            return diag_error(ctx, TSR_ERR_INVALID, where,
                              "dimension %zu of the iota must be at least 1, got: %lld", i,
                              (long long)spec->iota_dims[i]);
        }
        if (!checked_mul(product, spec->iota_dims[i], &product)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, where,
                              "the product of the iota's dimensions exceeds 2^63-1");
        }
        large += spec->iota_dims[i] > 1;
    }
    if (product != mesh->num_devices) {
        return diag_error(ctx, TSR_ERR_INVALID, where,
                          "total product of axis sizes must match total number of device ids, got: "
                          "%lld != %lld",
                          (long long)mesh->num_devices, (long long)product);
    }
    if (spec->iota_perm != NULL && !is_permutation(spec->iota_perm, spec->num_iota_dims)) {
        return diag_error(ctx, TSR_ERR_INVALID, where,
                          "the transposition of the iota is not a permutation of 0 to %zu",
                          spec->num_iota_dims - 1);
    }
    digit digits[MAX_DIGITS];
    const size_t count =
        large == 0 ? 0
                   : digits_of_iota(spec->iota_dims, spec->iota_perm, spec->num_iota_dims, digits);
    return keep_digits(ctx, arena, digits, count, mesh);
}

static tsr_status keep_ids(tsr_context *ctx, tsr_arena *arena, const tsr_mesh_spec *spec,
                           location where, tsr_mesh *mesh)
{
    if (spec->num_axes == 0) {
        mesh->maximal = spec->num_device_ids == 1;
        mesh->maximal_device = mesh->maximal ? spec->device_ids[0] : 0;
        return keep_digits(ctx, arena, NULL, 0, mesh);
    }
    if (spec->num_device_ids > 0) {
        if ((int64_t)spec->num_device_ids != mesh->num_devices) {
            return diag_error(ctx, TSR_ERR_INVALID, where,
                              "total product of axis sizes must match total number of device ids, "
                              "got: %lld != %zu",
                              (long long)mesh->num_devices, spec->num_device_ids);
        }
        return keep_list(ctx, arena, spec, where, mesh);
    }
    if (spec->num_iota_dims > 0) {
        return keep_iota(ctx, arena, spec, where, mesh);
    }
    const digit whole = {mesh->num_devices, 1, 1};
    return keep_digits(ctx, arena, &whole, mesh->num_devices > 1 ? 1 : 0, mesh);
}

/* Copies names and sizes and works out the strides of places. */
static tsr_status keep_axes(tsr_context *ctx, tsr_arena *arena, const tsr_mesh_spec *spec,
                            tsr_mesh *mesh)
{
    const size_t count = spec->num_axes;
    const char **names = ARENA_ARRAY(arena, const char *, count);
    int64_t *strides = ARENA_ARRAY(arena, int64_t, count);
    mesh->sizes = arena_copy(arena, spec->axis_sizes, count, sizeof *mesh->sizes);
    if (names == NULL || strides == NULL || mesh->sizes == NULL) {
        return diag_nomem(ctx);
    }
    int64_t stride = 1;
    for (size_t i = count; i-- > 0;) {
        strides[i] = stride;
        stride *= mesh->sizes[i];
        names[i] = arena_string(arena, spec->axis_names[i], strlen(spec->axis_names[i]));
        if (names[i] == NULL) {
            return diag_nomem(ctx);
        }
    }
    mesh->num_axes = count;
    mesh->axis_names = names;
    mesh->strides = strides;
    return TSR_OK;
}

tsr_status mesh_build(tsr_context *ctx, tsr_arena *arena, const tsr_mesh_spec *spec, location where,
                      const tsr_mesh **out)
{
    TSR_TRY(check_axes(ctx, spec, where));
    tsr_mesh *mesh = ARENA_NEW(arena, tsr_mesh);
    if (mesh == NULL) {
        return diag_nomem(ctx);
    }
    *mesh = (tsr_mesh){0};
    TSR_TRY(count_devices(ctx, spec, where, &mesh->num_devices));
    TSR_TRY(keep_axes(ctx, arena, spec, mesh));
    TSR_TRY(keep_ids(ctx, arena, spec, where, mesh));
    if (spec->name != NULL) {
        mesh->name = arena_string(arena, spec->name, strlen(spec->name));
        if (mesh->name == NULL) {
            return diag_nomem(ctx);
        }
    }
    *out = mesh;
    return TSR_OK;
}

tsr_status tsr_mesh_create(tsr_context *ctx, tsr_arena *arena, const tsr_mesh_spec *spec,
                           const tsr_mesh **out)
{
    GUARD(tsr_mesh_create);
    return mesh_build(ctx, arena, spec, NO_LOCATION, out);
}

tsr_status tsr_mesh_rename(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                           const char *name, const tsr_mesh **out)
{
    GUARD(tsr_mesh_rename);
    const tsr_mesh_spec axes = {
        .num_axes = mesh->num_axes, .axis_names = mesh->axis_names, .axis_sizes = mesh->sizes};
    tsr_mesh *renamed = arena_copy(arena, mesh, 1, sizeof *mesh);
    if (renamed == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(keep_axes(ctx, arena, &axes, renamed));
    renamed->name = name != NULL ? arena_string(arena, name, strlen(name)) : NULL;
    renamed->digits = arena_copy(arena, mesh->digits, mesh->num_digits, sizeof *mesh->digits);
    if (mesh->ids != NULL) {
        const size_t count = (size_t)mesh->num_devices;
        renamed->ids = arena_copy(arena, mesh->ids, count, sizeof *mesh->ids);
        renamed->places = arena_copy(arena, mesh->places, count, sizeof *mesh->places);
    }
    if ((name != NULL && renamed->name == NULL) || renamed->digits == NULL ||
        (mesh->ids != NULL && (renamed->ids == NULL || renamed->places == NULL))) {
        return diag_nomem(ctx);
    }
    *out = renamed;
    return TSR_OK;
}
