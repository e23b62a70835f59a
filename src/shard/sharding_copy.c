/* Shardings that outlive their arena: copies, and a hash to look them up by. */
#include "base/base.h"
#include "base/map.h"
#include "mesh/mesh.h"
#include "shard/sharding.h"

static uint64_t mix(uint64_t hash, int64_t value)
{
    return (hash ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

static uint64_t mix_axes(uint64_t hash, const tsr_axis_ref *axes, size_t count)
{
    hash = mix(hash, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        hash = mix(mix(mix(hash, axes[i].axis), axes[i].pre), axes[i].size);
    }
    return hash;
}

static uint64_t mix_numbers(uint64_t hash, const int64_t *numbers, int64_t count)
{
    return numbers != NULL ? hash_bytes(numbers, (size_t)count * sizeof *numbers, hash) : hash;
}

static uint64_t mix_ragged(uint64_t hash, const tsr_ragged *ragged, int64_t shards)
{
    if (ragged == NULL) {
        return hash;
    }
    hash = mix(mix(hash, (int64_t)ragged->kind), ragged->alignment);
    hash = mix_numbers(hash, ragged->sizes, shards);
    hash = mix_numbers(hash, ragged->counts, shards * ragged->partitions);
    return mix_numbers(hash, ragged->owner_start, shards + 1);
}

uint64_t sharding_hash(const tsr_sharding *s, uint64_t seed)
{
    uint64_t hash = mix(mix(seed, s->mesh->num_devices), (int64_t)s->mesh->ids_hash);
    for (size_t i = 0; i < s->rank; i++) {
        const tsr_dim *dim = &s->dims[i];
        hash = mix_axes(hash, dim->axes, dim->num_axes);
        if (dim->ragged != NULL) {
            hash = mix_ragged(hash, dim->ragged, tsr_sharding_num_shards(s, i));
        }
    }
    return mix(mix_axes(hash, s->unreduced, s->num_unreduced), (int64_t)s->reduction);
}

tsr_status sharding_copy(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                         const tsr_sharding **out)
{
    const tsr_mesh *kept = NULL;
    TSR_TRY(tsr_mesh_rename(ctx, arena, sharding->mesh, tsr_mesh_name(sharding->mesh), &kept));
    const tsr_sharding_spec spec = {.mesh = kept,
                                    .rank = sharding->rank,
                                    .dims = sharding->dims,
                                    .num_replicated = sharding->num_replicated,
                                    .replicated = sharding->replicated,
                                    .num_unreduced = sharding->num_unreduced,
                                    .unreduced = sharding->unreduced,
                                    .reduction = sharding->reduction};
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_DEFAULT, out);
}
