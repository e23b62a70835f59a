/* Which devices hold an element. */
#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "shard/geometry.h"

struct tsr_devices {
    const tsr_mesh *mesh;
    places set;
};

int64_t tsr_devices_count(const tsr_devices *devices)
{
    GUARD(tsr_devices_count);
    return devices->set.size;
}

int64_t tsr_devices_at(const tsr_devices *devices, int64_t index)
{
    GUARD(tsr_devices_at);
    return tsr_mesh_device_at(devices->mesh, places_at(&devices->set, index));
}

static int64_t shard_by_blocks(const dim_geometry *dim, int64_t row)
{
    const int64_t blocks = dim->along.size * dim->ragged->partitions;
    for (int64_t i = 0; i < blocks; i++) {
        if (row >= dim->block_rows[i] && row - dim->block_rows[i] < dim->ragged->counts[i]) {
            return i / dim->ragged->partitions;
        }
    }
    return 0;
}

int64_t dim_shard_of_row(const dim_geometry *dim, int64_t row)
{
    if (dim->ragged != NULL) {
        return shard_by_blocks(dim, row);
    }
    if (dim->offsets == NULL) {
        return row / dim->chunk;
    }
    return (int64_t)lower_bound(dim->offsets + 1, sizeof *dim->offsets, (size_t)dim->along.size,
                                row + 1);
}

tsr_status sharding_axes(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                         bool pending, tsr_axis_list *out)
{
    const size_t num_pending = pending ? sharding->num_unreduced : 0;
    *out = (tsr_axis_list){.capacity = num_pending};
    for (size_t i = 0; i < sharding->rank; i++) {
        out->capacity += sharding->dims[i].num_axes;
    }
    out->refs = ARENA_ARRAY(arena, tsr_axis_ref, out->capacity);
    if (out->refs == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < sharding->rank; i++) {
        for (size_t j = 0; j < sharding->dims[i].num_axes; j++) {
            out->refs[out->count++] = sharding->dims[i].axes[j];
        }
    }
    for (size_t i = 0; i < num_pending; i++) {
        out->refs[out->count++] = sharding->unreduced[i];
    }
    return TSR_OK;
}

tsr_status tsr_geometry_holders(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                                const int64_t *index, const tsr_devices **out)
{
    GUARD(tsr_geometry_holders);
    const tsr_sharding *sharding = geometry->sharding;
    int64_t base = 0;
    TSR_TRY(geometry_check_bound(ctx, geometry));
    for (size_t i = 0; i < geometry->rank; i++) {
        const dim_geometry *dim = &geometry->dims[i];
        if (index[i] < 0 || index[i] >= dim->extent) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "index %lld in dim %zu is out of range 0 to %lld",
                              (long long)index[i], i, (long long)dim->extent - 1);
        }
        base += places_at(&dim->along, dim_shard_of_row(dim, index[i]));
    }
    tsr_axis_list axes;
    tsr_devices *devices = ARENA_NEW(arena, tsr_devices);
    if (devices == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(sharding_axes(ctx, arena, sharding, false, &axes));
    devices->mesh = sharding->mesh;
    TSR_TRY(places_beside(ctx, arena, sharding->mesh, axes.refs, axes.count, &devices->set));
    devices->set.base = base;
    *out = devices;
    return TSR_OK;
}
