#include "shard/intern.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

sharding_interner sharding_interner_new(tsr_context *ctx, tsr_arena *arena)
{
    return (sharding_interner){.ctx = ctx, .arena = arena};
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_axes(uint64_t hash, const tsr_axis_ref *axes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t axis = (uint64_t)axes[i].axis << 1 | (uint64_t)axes[i].is_sub;
        hash = mix(hash, axis ^ (uint64_t)axes[i].pre << 20 ^ (uint64_t)axes[i].size << 40);
    }
    return hash;
}

/*
 * Of a sharding on an interned mesh. The mesh itself is left out: shardings of several meshes that
 * are otherwise equal are few, and so the hash does not depend on addresses.
 */
static uint64_t hash_of(const tsr_sharding *s)
{
    uint64_t hash = mix(s->rank, s->num_replicated << 8 | s->num_unreduced);
    for (size_t d = 0; d < s->rank; d++) {
        const tsr_dim *dim = &s->dims[d];
        hash = mix(hash, (uint64_t)dim->priority << 8 ^ dim->num_axes << 1 ^ (uint64_t)dim->open);
        hash = mix_axes(hash, dim->axes, dim->num_axes);
    }
    hash = mix_axes(hash, s->replicated, s->num_replicated);
    return mix_axes(hash, s->unreduced, s->num_unreduced);
}

/* The entry of a sharding, or the free one where it belongs. The table has a free entry. */
static interned_sharding *probe(interned_sharding *entries, size_t capacity, uint64_t hash,
                                const tsr_sharding *sharding)
{
    for (size_t i = (size_t)hash & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        interned_sharding *entry = &entries[i];
        if (entry->sharding == NULL ||
            (entry->hash == hash && entry->sharding->mesh == sharding->mesh &&
             tsr_sharding_equal(entry->sharding, sharding))) {
            return entry;
        }
    }
}

/* Makes room for one more; at most half of the table is used. */
static bool reserve(sharding_interner *in)
{
    if (in->count < in->capacity / 2) {
        return true;
    }
    const size_t capacity = in->capacity == 0 ? 32 : 2 * in->capacity;
    interned_sharding *entries = ARENA_ARRAY(in->arena, interned_sharding, capacity);
    if (entries == NULL) {
        return false;
    }
    memset(entries, 0, capacity * sizeof *entries);
    for (size_t i = 0; i < in->capacity; i++) {
        const interned_sharding *old = &in->entries[i];
        if (old->sharding != NULL) {
            *probe(entries, capacity, old->hash, old->sharding) = *old;
        }
    }
    in->entries = entries;
    in->capacity = capacity;
    return true;
}

/* The interned sharding that is equal; NULL when there is none. */
static const tsr_sharding *find(const sharding_interner *in, const tsr_sharding *sharding,
                                uint64_t hash)
{
    return in->capacity > 0 ? probe(in->entries, in->capacity, hash, sharding)->sharding : NULL;
}

static tsr_status add(sharding_interner *in, const tsr_sharding *sharding, uint64_t hash,
                      const tsr_sharding **out)
{
    if (!reserve(in)) {
        return diag_nomem(in->ctx);
    }
    TSR_TRY(sharding_build_trusted(in->ctx, in->arena, sharding, out));
    *probe(in->entries, in->capacity, hash, *out) = (interned_sharding){hash, *out};
    in->count++;
    return TSR_OK;
}

tsr_status sharding_intern_trusted(sharding_interner *in, const tsr_sharding *sharding,
                                   const tsr_sharding **out)
{
    const uint64_t hash = hash_of(sharding);
    const tsr_sharding *kept = find(in, sharding, hash);
    if (kept != NULL) {
        *out = kept;
        return TSR_OK;
    }
    return add(in, sharding, hash, out);
}

static bool same_name(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static tsr_status intern_mesh(sharding_interner *in, const tsr_mesh *mesh, const tsr_mesh **out)
{
    const tsr_mesh *kept = NULL;
    for (size_t i = 0; i < in->num_meshes; i++) {
        kept = in->meshes[i];
        if (kept == mesh ||
            (same_name(tsr_mesh_name(kept), tsr_mesh_name(mesh)) && tsr_mesh_equal(kept, mesh))) {
            *out = kept;
            return TSR_OK;
        }
    }
    if (in->num_meshes == in->room_for_meshes) {
        const size_t room = 2 * in->room_for_meshes + 4;
        const tsr_mesh **meshes = ARENA_ARRAY(in->arena, const tsr_mesh *, room);
        if (meshes == NULL) {
            return diag_nomem(in->ctx);
        }
        if (in->num_meshes > 0) {
            memcpy(meshes, in->meshes, in->num_meshes * sizeof *meshes);
        }
        in->meshes = meshes;
        in->room_for_meshes = room;
    }
    TSR_TRY(tsr_mesh_rename(in->ctx, in->arena, mesh, tsr_mesh_name(mesh), &kept));
    in->meshes[in->num_meshes++] = kept;
    *out = kept;
    return TSR_OK;
}

tsr_status sharding_intern(sharding_interner *in, const tsr_sharding *sharding,
                           const tsr_sharding **out)
{
    tsr_sharding own = *sharding;
    TSR_TRY(intern_mesh(in, sharding->mesh, &own.mesh));
    const uint64_t hash = hash_of(&own);
    const tsr_sharding *kept = find(in, &own, hash);
    if (kept != NULL) {
        *out = kept;
        return TSR_OK;
    }
    TSR_TRY(sharding_copy_ragged(in->ctx, in->arena, &own));
    return add(in, &own, hash, out);
}
