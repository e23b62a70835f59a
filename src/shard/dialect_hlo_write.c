/*
 * Writing HLO. The devices are a transposed iota wherever they can be, found from (size, stride)
 * pairs whatever their number; else a list.
 */
#include "base/arena.h"
#include "base/base.h"
#include "mesh/digits.h"
#include "mesh/groups.h"
#include "shard/dialect.h"

/* More devices than this are not listed where the mesh does not list them itself. */
#define MAX_LISTED (INT64_C(1) << 20)

/* The tile assignment of a sharding: its sizes, and the places of the mesh in its order. */
typedef struct assignment {
    int64_t unreduced;
    int64_t replicated;
    places order;
} assignment;

static void push_axes(const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count,
                      tsr_stride *pairs, size_t *num_pairs)
{
    for (size_t i = 0; i < count; i++) {
        pairs[(*num_pairs)++] = (tsr_stride){axes[i].size, mesh_place_stride(mesh, axes[i])};
    }
}

/* All axes that the sharding uses, tile by tile. */
static tsr_status used_axes(const dialect_writer *w, tsr_axis_ref **out, size_t *count)
{
    const tsr_sharding *s = w->sharding;
    size_t total = s->num_unreduced;
    for (size_t i = 0; i < s->rank; i++) {
        total += s->dims[i].num_axes;
    }
    tsr_axis_ref *axes = ARENA_ARRAY(w->arena, tsr_axis_ref, total);
    if (axes == NULL) {
        return diag_nomem(w->ctx);
    }
    size_t number = 0;
    for (size_t i = 0; i < s->rank; i++) {
        for (size_t j = 0; j < s->dims[i].num_axes; j++) {
            axes[number++] = s->dims[i].axes[j];
        }
    }
    for (size_t i = 0; i < s->num_unreduced; i++) {
        axes[number++] = s->unreduced[i];
    }
    *out = axes;
    *count = total;
    return TSR_OK;
}

static tsr_status assign(const dialect_writer *w, assignment *out)
{
    const tsr_sharding *s = w->sharding;
    tsr_axis_ref *axes = NULL;
    size_t count = 0;
    places beside;
    TSR_TRY(used_axes(w, &axes, &count));
    TSR_TRY(places_beside(w->ctx, w->arena, s->mesh, axes, count, &beside));
    tsr_stride *pairs = ARENA_ARRAY(w->arena, tsr_stride, count + beside.count);
    if (pairs == NULL) {
        return diag_nomem(w->ctx);
    }
    size_t num_pairs = 0;
    push_axes(s->mesh, axes, count, pairs, &num_pairs);
    for (size_t i = 0; i < beside.count; i++) {
        pairs[num_pairs++] = beside.pairs[i];
    }
    *out = (assignment){.unreduced = tsr_axes_size(s->unreduced, s->num_unreduced),
                        .replicated = beside.size};
    out->order = (places){.pairs = pairs,
                          .count = tsr_strides_coalesce(pairs, num_pairs),
                          .size = tsr_mesh_num_devices(s->mesh)};
    return TSR_OK;
}

/* The device ids of the assignment as (size, stride) pairs; false when they have no such form. */
static bool id_pairs(const tsr_mesh *mesh, const places *order, tsr_stride *pairs, size_t *count)
{
    size_t number = 0;
    if (mesh->ids != NULL) {
        return false;
    }
    for (size_t i = 0; i < order->count; i++) {
        size_t found;
        if (!digits_part(mesh->digits, mesh->num_digits, order->pairs[i].stride,
                         order->pairs[i].size, pairs + number, &found)) {
            return false;
        }
        number += found;
    }
    *count = tsr_strides_coalesce(pairs, number);
    return true;
}

/* `2,4` */
static void write_numbers(const dialect_writer *w, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_string(w->buf, i > 0 ? "," : "");
        buffer_int(w->buf, values[i]);
    }
}

/* `<=[2,4]T(1,0)`: the pairs sorted by stride are the reshape, their places in it the
 * transposition. */
static void write_iota(const dialect_writer *w, const tsr_stride *pairs, size_t count)
{
    int64_t dims[MAX_DIGITS] = {0};
    int64_t perm[MAX_DIGITS];
    for (size_t i = 0; i < count; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < count; j++) {
            rank += pairs[j].stride > pairs[i].stride;
        }
        dims[rank] = pairs[i].size;
        perm[i] = (int64_t)rank;
    }
    buffer_string(w->buf, "<=[");
    write_numbers(w, dims, count);
    buffer_char(w->buf, ']');
    if (count > 1) {
        buffer_string(w->buf, "T(");
        write_numbers(w, perm, count);
        buffer_char(w->buf, ')');
    }
}

static tsr_status write_list(const dialect_writer *w, const places *order)
{
    const tsr_mesh *mesh = w->sharding->mesh;
    if (mesh->ids == NULL && order->size > MAX_LISTED) {
        return diag_error(w->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the device order is not a transposed iota here, and %lld devices are "
                          "too many to list; the maximum is %lld",
                          (long long)order->size, (long long)MAX_LISTED);
    }
    for (int64_t i = 0; i < order->size; i++) {
        buffer_string(w->buf, i > 0 ? "," : "");
        buffer_int(w->buf, tsr_mesh_device_at(mesh, places_at(order, i)));
    }
    return TSR_OK;
}

/* `[2,1,4]`: the tiles of each dimension, then the subgroups. */
static void write_tiles(const dialect_writer *w, const assignment *a)
{
    buffer_char(w->buf, '[');
    for (size_t i = 0; i < w->sharding->rank; i++) {
        buffer_string(w->buf, i > 0 ? "," : "");
        buffer_int(w->buf, tsr_sharding_num_shards(w->sharding, i));
    }
    const char *separator = w->sharding->rank > 0 ? "," : "";
    const int64_t subgroups[] = {a->unreduced, a->replicated};
    for (size_t i = 0; i < 2; i++) {
        if (subgroups[i] > 1) {
            buffer_string(w->buf, separator);
            buffer_int(w->buf, subgroups[i]);
            separator = ",";
        }
    }
    buffer_char(w->buf, ']');
}

static const char *subgroup_words(const assignment *a)
{
    if (a->unreduced > 1) {
        return a->replicated > 1 ? " last_tile_dims={unreduced, replicated}"
                                 : " last_tile_dims={unreduced}";
    }
    return a->replicated > 1 ? " last_tile_dim_replicate" : "";
}

static tsr_status write_tiled(const dialect_writer *w, const assignment *a)
{
    tsr_stride pairs[MAX_DIGITS];
    size_t count;
    buffer_string(w->buf, "{devices=");
    write_tiles(w, a);
    if (id_pairs(w->sharding->mesh, &a->order, pairs, &count)) {
        write_iota(w, pairs, count);
    } else {
        TSR_TRY(write_list(w, &a->order));
    }
    buffer_string(w->buf, subgroup_words(a));
    buffer_char(w->buf, '}');
    return TSR_OK;
}

tsr_status hlo_write(const dialect_writer *w)
{
    const tsr_mesh *mesh = w->sharding->mesh;
    if (tsr_mesh_is_maximal(mesh)) {
        buffer_format(w->buf, "{maximal device=%lld}", (long long)tsr_mesh_device_at(mesh, 0));
        return TSR_OK;
    }
    assignment a = {0};
    TSR_TRY(assign(w, &a));
    if (a.replicated == tsr_mesh_num_devices(mesh)) {
        buffer_string(w->buf, "{replicated}");
        return TSR_OK;
    }
    if (a.unreduced == tsr_mesh_num_devices(mesh)) {
        buffer_string(w->buf, "{unreduced}");
        return TSR_OK;
    }
    return write_tiled(w, &a);
}
