#include "slices.h"

#include <string.h>

int64_t index_along(const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count, int64_t device)
{
    int64_t coordinates[64] = {0};
    int64_t index = 0;
    (void)tsr_mesh_coordinates(mesh, device, coordinates);
    for (size_t i = 0; i < count; i++) {
        const tsr_axis_ref axis = axes[i];
        const int64_t inner = tsr_mesh_axis_size(mesh, (size_t)axis.axis) / (axis.pre * axis.size);
        index = index * axis.size + coordinates[axis.axis] / inner % axis.size;
    }
    return index;
}

/* One dimension of a slice while it is listed. */
typedef struct listing {
    int64_t *rows;
    int64_t count;
} listing;

static void add_rows(listing *l, int64_t start, int64_t size)
{
    for (int64_t i = 0; i < size && l->count < MAX_ROWS; i++) {
        l->rows[l->count++] = start + i;
    }
}

static void add_padding(listing *l, int64_t multiple, int64_t size)
{
    for (int64_t i = size; i % multiple != 0 && l->count < MAX_ROWS; i++) {
        l->rows[l->count++] = -1;
    }
}

static void add_even(listing *l, int64_t extent, int64_t shards, int64_t shard)
{
    const int64_t chunk = (extent + shards - 1) / shards;
    for (int64_t row = shard * chunk; row < (shard + 1) * chunk && row < extent; row++) {
        add_rows(l, row, 1);
    }
}

static void add_dynamic(listing *l, const tsr_ragged *ragged, int64_t shard)
{
    int64_t start = 0;
    for (int64_t i = 0; i < shard; i++) {
        start += ragged->sizes[i];
    }
    add_rows(l, start, ragged->sizes[shard]);
}

/* The tensor is partition-major: walks its blocks and takes those of the shard. */
static void add_partitioned(listing *l, const tsr_ragged *ragged, int64_t shards, int64_t shard)
{
    const int64_t partitions = ragged->partitions;
    const bool aligned = ragged->kind == TSR_RAGGED_ALIGNED;
    const int64_t first =
        ragged->owner_start != NULL ? ragged->owner_start[shard] : shard * partitions / shards;
    const int64_t end = ragged->owner_start != NULL ? ragged->owner_start[shard + 1]
                                                    : (shard + 1) * partitions / shards;
    int64_t start = 0;
    for (int64_t p = 0; p < partitions; p++) {
        const int64_t before = l->count;
        for (int64_t s = 0; s < shards; s++) {
            const int64_t rows = ragged->counts[s * partitions + p];
            if (aligned ? p >= first && p < end : s == shard) {
                add_rows(l, start, rows);
            }
            start += rows;
        }
        if (aligned) {
            add_padding(l, ragged->alignment, l->count - before);
        }
    }
}

void slice_of(const tsr_sharding *sharding, size_t rank, const int64_t *shape, int64_t device,
              device_slice *out)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    const bool whole = tsr_mesh_is_maximal(mesh);
    const tsr_dim none = {0};
    out->rank = rank;
    for (size_t i = 0; i < rank; i++) {
        const tsr_dim *dim = whole ? &none : tsr_sharding_dim(sharding, i);
        const int64_t shards = tsr_axes_size(dim->axes, dim->num_axes);
        const int64_t shard = index_along(mesh, dim->axes, dim->num_axes, device);
        listing l = {.rows = out->rows[i]};
        if (dim->ragged == NULL) {
            add_even(&l, shape[i], shards, shard);
        } else if (dim->ragged->kind == TSR_RAGGED_DYNAMIC) {
            add_dynamic(&l, dim->ragged, shard);
        } else {
            add_partitioned(&l, dim->ragged, shards, shard);
        }
        out->count[i] = l.count;
    }
}

int64_t slice_elements(const device_slice *s)
{
    return slice_common(s, s);
}

static bool has(const device_slice *s, size_t dim, int64_t row)
{
    for (int64_t i = 0; i < s->count[dim]; i++) {
        if (s->rows[dim][i] == row) {
            return true;
        }
    }
    return false;
}

int64_t slice_common(const device_slice *a, const device_slice *b)
{
    int64_t elements = 1;
    for (size_t i = 0; i < a->rank; i++) {
        int64_t common = 0;
        for (int64_t k = 0; k < a->count[i]; k++) {
            common += a->rows[i][k] >= 0 && has(b, i, a->rows[i][k]);
        }
        elements *= common;
    }
    return elements;
}
