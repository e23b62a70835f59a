/*
 * Interned shardings: of shardings that are equal there is one, so that equality is a comparison of
 * pointers. They and their meshes live as long as the arena; meshes are interned likewise, by what
 * they are and by name.
 */
#ifndef SHARD_INTERN_H
#define SHARD_INTERN_H

#include "shard/sharding.h"

typedef struct interned_sharding {
    uint64_t hash;
    const tsr_sharding *sharding; /* NULL: free */
} interned_sharding;

typedef struct sharding_interner {
    tsr_context *ctx;
    tsr_arena *arena;
    interned_sharding *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    const tsr_mesh **meshes;
    size_t num_meshes;
    size_t room_for_meshes;
} sharding_interner;

sharding_interner sharding_interner_new(tsr_context *ctx, tsr_arena *arena);

/* The interned sharding that is equal to any sharding; the interner keeps nothing of that one. */
tsr_status sharding_intern(sharding_interner *interner, const tsr_sharding *sharding,
                           const tsr_sharding **out);

/*
 * The same of one that is made of interned parts: its mesh and explicit sizes are an interned
 * sharding's, and it keeps every rule. Does not allocate when there is an equal one.
 */
tsr_status sharding_intern_trusted(sharding_interner *interner, const tsr_sharding *sharding,
                                   const tsr_sharding **out);

#endif
