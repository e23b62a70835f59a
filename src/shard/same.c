/* Whether two shardings place every element on the same devices. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "shard/form.h"

/* How many devices are compared one by one before giving up. */
#define MAX_COMPARED (INT64_C(1) << 26)

static tsr_status check_shapes(tsr_context *ctx, const tsr_geometry *a, const tsr_geometry *b)
{
    if (a->rank != b->rank) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "geometries of rank %zu and %zu cannot be compared", a->rank, b->rank);
    }
    for (size_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i]) {
            return diag_error(
                ctx, TSR_ERR_INVALID, NO_LOCATION,
                "geometries of different shapes cannot be compared: dim %zu has extent "
                "%lld and %lld",
                i, (long long)a->shape[i], (long long)b->shape[i]);
        }
    }
    return TSR_OK;
}

static bool has_no_elements(const tsr_geometry *g)
{
    for (size_t i = 0; i < g->rank; i++) {
        if (g->shape[i] == 0) {
            return true;
        }
    }
    return false;
}

static bool is_pending(const tsr_geometry *g)
{
    return tsr_axes_size(g->sharding->unreduced, g->sharding->num_unreduced) > 1;
}

static bool has_empty(const tsr_geometry *g)
{
    for (size_t i = 0; i < g->rank; i++) {
        if (dim_has_empty(&g->dims[i])) {
            return true;
        }
    }
    return false;
}

/* Whether device 0 of a numbering, which has the first shard of everything, holds the same. */
static bool same_first_shards(const tsr_geometry *a, const tsr_geometry *b)
{
    for (size_t i = 0; i < a->rank; i++) {
        if (!dim_same_rows(&a->dims[i], 0, &b->dims[i], 0)) {
            return false;
        }
    }
    return true;
}

static bool all_even(const tsr_geometry *g)
{
    for (size_t i = 0; i < g->rank; i++) {
        if (!dim_is_even(&g->dims[i])) {
            return false;
        }
    }
    return true;
}

/* Whether explicit sizes follow each other in the order of the shards, and none is empty. */
static bool all_plain_or_full(const tsr_geometry *g)
{
    for (size_t i = 0; i < g->rank; i++) {
        const dim_geometry *dim = &g->dims[i];
        if (!dim_is_even(dim) && (dim->ragged != NULL || dim_has_empty(dim))) {
            return false;
        }
    }
    return true;
}

/* With equal forms, whether equal indices denote equal rows in every dimension. */
static bool same_tables(const tsr_geometry *a, const tsr_geometry *b)
{
    for (size_t i = 0; i < a->rank; i++) {
        const dim_geometry *x = &a->dims[i];
        const dim_geometry *y = &b->dims[i];
        if (dim_is_even(x) && dim_is_even(y)) {
            continue;
        }
        if (x->along.size != y->along.size) {
            return false;
        }
        for (int64_t s = 0; s < x->along.size; s++) {
            if (!dim_same_rows(x, s, y, s)) {
                return false;
            }
        }
    }
    return true;
}

/* Whether the devices at two places, -1 for none, hold the same elements. */
static bool same_elements(const tsr_geometry *a, int64_t place_a, const tsr_geometry *b,
                          int64_t place_b)
{
    bool empty_a = place_a < 0;
    bool empty_b = place_b < 0;
    bool same = true;
    for (size_t i = 0; i < a->rank; i++) {
        const dim_geometry *x = &a->dims[i];
        const dim_geometry *y = &b->dims[i];
        const int64_t shard_a = place_a < 0 ? 0 : places_index(&x->along, place_a);
        const int64_t shard_b = place_b < 0 ? 0 : places_index(&y->along, place_b);
        empty_a = empty_a || dim_box(x, shard_a).size == 0;
        empty_b = empty_b || dim_box(y, shard_b).size == 0;
        same = same && dim_same_rows(x, shard_a, y, shard_b);
    }
    return (empty_a && empty_b) || (!empty_a && !empty_b && same);
}

static tsr_status check_countable(tsr_context *ctx, int64_t count)
{
    if (count <= MAX_COMPARED) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                      "these shardings are compared device by device; the mesh has %lld devices, "
                      "the maximum is %lld",
                      (long long)count, (long long)MAX_COMPARED);
}

/* The place of a numbering's device in a mesh. */
static int64_t place_of_number(const mesh_view *view, int64_t number)
{
    int64_t place = 0;
    for (size_t i = 0; i < view->count; i++) {
        const digit *d = &view->digits[i];
        place += number / d->id_stride % d->size * d->place_stride;
    }
    return place;
}

/* Two geometries in one numbering. */
typedef struct pair_in_view {
    const tsr_geometry *a;
    const tsr_geometry *b;
    mesh_view view_a;
    mesh_view view_b;
    form form_a;
    form form_b;
} pair_in_view;

/* Compares over the digits that matter. */
static tsr_status compare_digits(tsr_context *ctx, const pair_in_view *p, const tsr_stride *pairs,
                                 size_t count, bool *out)
{
    const places numbers = {.pairs = pairs, .count = count, .size = tsr_strides_size(pairs, count)};
    TSR_TRY(check_countable(ctx, numbers.size));
    bool same = form_same_pending(&p->form_a, &p->form_b);
    for (int64_t i = 0; same && i < numbers.size; i++) {
        const int64_t number = places_at(&numbers, i);
        same = same_elements(p->a, place_of_number(&p->view_a, number), p->b,
                             place_of_number(&p->view_b, number));
    }
    *out = same;
    return TSR_OK;
}

/* The smallest device of each group of a pending reduction. */
static int64_t *group_labels(tsr_arena *arena, const tsr_mesh *mesh, const tsr_groups *groups)
{
    const int64_t count = tsr_groups_count(groups);
    int64_t *labels = ARENA_ARRAY(arena, int64_t, (size_t)count);
    for (int64_t i = 0; labels != NULL && i < count; i++) {
        labels[i] = mesh->num_devices;
    }
    for (int64_t device = 0; labels != NULL && device < mesh->num_devices; device++) {
        int64_t group;
        int64_t index;
        if (tsr_groups_find(groups, device, &group, &index)) {
            labels[group] = min_i64(labels[group], device);
        }
    }
    return labels;
}

static tsr_status label_groups(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                               const tsr_groups **groups, const int64_t **labels)
{
    TSR_TRY(tsr_groups_create(ctx, arena, sharding->mesh, sharding->unreduced,
                              sharding->num_unreduced, groups));
    *labels = group_labels(arena, sharding->mesh, *groups);
    return *labels != NULL ? TSR_OK : diag_nomem(ctx);
}

/* Whether reductions are pending over the same devices, device by device. */
static tsr_status compare_pending(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *a,
                                  const tsr_geometry *b, bool *out)
{
    const tsr_groups *groups_a;
    const tsr_groups *groups_b;
    const int64_t *labels_a;
    const int64_t *labels_b;
    TSR_TRY(label_groups(ctx, arena, a->sharding, &groups_a, &labels_a));
    TSR_TRY(label_groups(ctx, arena, b->sharding, &groups_b, &labels_b));
    bool same = tsr_groups_size(groups_a) == tsr_groups_size(groups_b);
    for (int64_t device = 0; same && device < a->sharding->mesh->num_devices; device++) {
        int64_t group_a;
        int64_t group_b;
        int64_t index;
        same = tsr_groups_find(groups_a, device, &group_a, &index) &&
               tsr_groups_find(groups_b, device, &group_b, &index) &&
               labels_a[group_a] == labels_b[group_b];
    }
    *out = same;
    return TSR_OK;
}

/* Compares every device, also of meshes with different devices. */
static tsr_status compare_devices(tsr_context *ctx, const tsr_geometry *a, const tsr_geometry *b,
                                  bool *out)
{
    const tsr_mesh *mesh_a = a->sharding->mesh;
    const tsr_mesh *mesh_b = b->sharding->mesh;
    TSR_TRY(check_countable(ctx, max_i64(mesh_a->num_devices, mesh_b->num_devices)));
    bool same = true;
    if (is_pending(a)) {
        tsr_arena *scratch;
        TSR_TRY(tsr_arena_create(ctx, &scratch));
        const tsr_status status = compare_pending(ctx, scratch, a, b, &same);
        tsr_arena_destroy(scratch);
        TSR_TRY(status);
    }
    for (int64_t i = 0; same && i < mesh_a->num_devices; i++) {
        const int64_t device = tsr_mesh_device_at(mesh_a, i);
        same = same_elements(a, i, b, tsr_mesh_place_of(mesh_b, device));
    }
    for (int64_t i = 0; same && i < mesh_b->num_devices; i++) {
        const int64_t device = tsr_mesh_device_at(mesh_b, i);
        const int64_t place_a = tsr_mesh_place_of(mesh_a, device);
        same = place_a >= 0 || same_elements(a, -1, b, i);
    }
    *out = same;
    return TSR_OK;
}

/* Decides by the forms where they suffice, else over the digits that matter. */
static tsr_status compare_forms(tsr_context *ctx, const pair_in_view *p, bool *out)
{
    const bool equal = form_equal(&p->form_a, &p->form_b);
    if (all_even(p->a) && all_even(p->b)) {
        *out = equal && same_first_shards(p->a, p->b);
        return TSR_OK;
    }
    if (equal && same_first_shards(p->a, p->b) && same_tables(p->a, p->b)) {
        *out = true;
        return TSR_OK;
    }
    if (all_plain_or_full(p->a) && all_plain_or_full(p->b) && !has_empty(p->a) &&
        !has_empty(p->b)) {
        *out = false;
        return TSR_OK;
    }
    tsr_stride pairs[4 * MAX_DIGITS];
    size_t count;
    if (form_joint_digits(&p->form_a, &p->form_b, pairs, &count)) {
        return compare_digits(ctx, p, pairs, count, out);
    }
    return compare_devices(ctx, p->a, p->b, out);
}

tsr_status tsr_geometry_same(tsr_context *ctx, const tsr_geometry *a, const tsr_geometry *b,
                             bool *out)
{
    GUARD(tsr_geometry_same);
    TSR_TRY(check_shapes(ctx, a, b));
    if (has_no_elements(a)) {
        *out = true;
        return TSR_OK;
    }
    if (is_pending(a) != is_pending(b) ||
        (is_pending(a) && a->sharding->reduction != b->sharding->reduction)) {
        *out = false;
        return TSR_OK;
    }
    if (!geometry_is_bound(a) || !geometry_is_bound(b)) {
        *out = tsr_sharding_equivalent(a->sharding, b->sharding, false);
        return TSR_OK;
    }
    if (!tsr_mesh_same_devices(a->sharding->mesh, b->sharding->mesh)) {
        if (is_pending(a) || (!has_empty(a) && !has_empty(b))) {
            *out = false;
            return TSR_OK;
        }
        return compare_devices(ctx, a, b, out);
    }
    pair_in_view p;
    p.a = a;
    p.b = b;
    if (mesh_views(a->sharding->mesh, b->sharding->mesh, &p.view_a, &p.view_b) &&
        form_of(&p.view_a, a, &p.form_a) && form_of(&p.view_b, b, &p.form_b)) {
        return compare_forms(ctx, &p, out);
    }
    return compare_devices(ctx, a, b, out);
}
