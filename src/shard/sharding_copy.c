/* Shardings that outlive their arena: copies, and a hash to look them up by. */
#include <string.h>

#include "base/arena.h"
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
    hash = mix_numbers(hash, ragged->owner_start, shards + 1);
    return ragged->symbol != NULL ? hash_bytes(ragged->symbol, strlen(ragged->symbol), hash) : hash;
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

static size_t count_axes(const tsr_sharding *s)
{
    size_t count = s->num_replicated + s->num_unreduced;
    for (size_t d = 0; d < s->rank; d++) {
        count += s->dims[d].num_axes;
    }
    return count;
}

/* Copies a list to where the last one ended. */
static const tsr_axis_ref *put_axes(tsr_axis_ref **end, const tsr_axis_ref *axes, size_t count)
{
    tsr_axis_ref *copy = *end;
    for (size_t i = 0; i < count; i++) {
        copy[i] = axes[i];
    }
    *end += count;
    return copy;
}

tsr_status sharding_build_trusted(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                                  const tsr_sharding **out)
{
    const size_t num_axes = count_axes(sharding);
    const size_t dims_at = sizeof(tsr_sharding);
    const size_t axes_at = dims_at + sharding->rank * sizeof(tsr_dim);
    char *memory = tsr_arena_alloc(arena, axes_at + num_axes * sizeof(tsr_axis_ref));
    if (memory == NULL) {
        return diag_nomem(ctx);
    }
    tsr_sharding *copy = (tsr_sharding *)(void *)memory;
    tsr_dim *dims = (tsr_dim *)(void *)(memory + dims_at);
    tsr_axis_ref *end = (tsr_axis_ref *)(void *)(memory + axes_at);
    *copy = *sharding;
    copy->dims = dims;
    for (size_t d = 0; d < sharding->rank; d++) {
        dims[d] = sharding->dims[d];
        dims[d].axes = put_axes(&end, dims[d].axes, dims[d].num_axes);
    }
    copy->replicated = put_axes(&end, sharding->replicated, sharding->num_replicated);
    copy->unreduced = put_axes(&end, sharding->unreduced, sharding->num_unreduced);
    *out = copy;
    return TSR_OK;
}

/* The arena's copy of numbers, which may be NULL. False when there is no memory. */
static bool copy_numbers(tsr_arena *arena, const int64_t **numbers, int64_t count)
{
    if (*numbers != NULL) {
        *numbers = arena_copy(arena, *numbers, (size_t)count, sizeof **numbers);
        return *numbers != NULL;
    }
    return true;
}

static const tsr_ragged *copy_ragged(tsr_arena *arena, const tsr_ragged *ragged, int64_t shards)
{
    tsr_ragged *copy = arena_copy(arena, ragged, 1, sizeof *ragged);
    const bool copied = copy != NULL && copy_numbers(arena, &copy->sizes, shards) &&
                        copy_numbers(arena, &copy->counts, shards * ragged->partitions) &&
                        copy_numbers(arena, &copy->owner_start, shards + 1);
    if (copied && copy->symbol != NULL) {
        copy->symbol = arena_string(arena, copy->symbol, strlen(copy->symbol));
    }
    return copied && (ragged->symbol == NULL || copy->symbol != NULL) ? copy : NULL;
}

tsr_status sharding_copy_ragged(tsr_context *ctx, tsr_arena *arena, tsr_sharding *sharding)
{
    tsr_dim *dims = arena_copy(arena, sharding->dims, sharding->rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t d = 0; d < sharding->rank; d++) {
        if (dims[d].ragged != NULL) {
            dims[d].ragged =
                copy_ragged(arena, dims[d].ragged, tsr_sharding_num_shards(sharding, d));
            if (dims[d].ragged == NULL) {
                return diag_nomem(ctx);
            }
        }
    }
    sharding->dims = dims;
    return TSR_OK;
}

tsr_status sharding_copy(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                         const tsr_sharding **out)
{
    tsr_sharding own = *sharding;
    TSR_TRY(tsr_mesh_rename(ctx, arena, sharding->mesh, tsr_mesh_name(sharding->mesh), &own.mesh));
    TSR_TRY(sharding_copy_ragged(ctx, arena, &own));
    return sharding_build_trusted(ctx, arena, &own, out);
}
