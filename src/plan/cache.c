#include "plan/cache.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/map.h"

/* A plan and all that it refers to, in an arena of its own. */
struct plan_entry {
    plan_entry *older;
    tsr_arena *arena;
    uint64_t hash;
    const tsr_geometry *src;
    const tsr_geometry *dst;
    const tsr_plan *plan;
    size_t moves;
    int64_t uses;
};

plan_cache plan_cache_new(plan_cache_limits limits)
{
    return (plan_cache){.limits = limits};
}

/* A hash of what a geometry is. Names are left to the comparison. */
static uint64_t hash_geometry(const tsr_geometry *g, uint64_t seed)
{
    return hash_bytes(g->shape, g->rank * sizeof *g->shape, sharding_hash(g->sharding, seed));
}

static bool same_geometry(const tsr_geometry *a, const tsr_geometry *b)
{
    if (a->rank != b->rank || !tsr_sharding_equal(a->sharding, b->sharding)) {
        return false;
    }
    for (size_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i]) {
            return false;
        }
    }
    return true;
}

/* Removes an entry from the list; `link` is what points to it. */
static plan_entry *unlink_entry(plan_entry **link)
{
    plan_entry *entry = *link;
    *link = entry->older;
    return entry;
}

static void push(plan_cache *cache, plan_entry *entry)
{
    entry->older = cache->newest;
    cache->newest = entry;
}

/* The link to the entry with this key; to the end of the list when there is none. */
static plan_entry **find(plan_cache *cache, uint64_t hash, const tsr_geometry *src,
                         const tsr_geometry *dst, tsr_dtype dtype)
{
    plan_entry **link = &cache->newest;
    for (; *link != NULL; link = &(*link)->older) {
        const plan_entry *entry = *link;
        if (entry->hash == hash && entry->plan->dtype == dtype && same_geometry(entry->src, src) &&
            same_geometry(entry->dst, dst)) {
            break;
        }
    }
    return link;
}

static tsr_status copy_geometry(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *g,
                                const tsr_geometry **out)
{
    const tsr_sharding *sharding = NULL;
    TSR_TRY(sharding_copy(ctx, arena, g->sharding, &sharding));
    return tsr_geometry_create(ctx, arena, sharding, g->rank, g->shape, out);
}

/* Fills in an entry that has its arena. */
static tsr_status fill_entry(tsr_context *ctx, plan_entry *entry, const tsr_geometry *src,
                             const tsr_geometry *dst, tsr_dtype dtype)
{
    TSR_TRY(copy_geometry(ctx, entry->arena, src, &entry->src));
    TSR_TRY(copy_geometry(ctx, entry->arena, dst, &entry->dst));
    TSR_TRY(tsr_plan_create(ctx, entry->arena, entry->src, entry->dst, dtype, &entry->plan));
    for (size_t i = 0; i < entry->plan->num_steps; i++) {
        entry->moves += entry->plan->steps[i].num_moves;
    }
    return TSR_OK;
}

static tsr_status make_entry(tsr_context *ctx, const tsr_geometry *src, const tsr_geometry *dst,
                             tsr_dtype dtype, plan_entry **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    plan_entry *entry = ARENA_NEW(arena, plan_entry);
    if (entry == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    *entry = (plan_entry){.arena = arena};
    const tsr_status status = fill_entry(ctx, entry, src, dst, dtype);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    *out = entry;
    return TSR_OK;
}

/*
 * The link to the entry to evict: one that is too large by itself, else the least recently used;
 * NULL if all are in use.
 */
static plan_entry **least_needed(plan_cache *cache)
{
    plan_entry **oldest = NULL;
    for (plan_entry **link = &cache->newest; *link != NULL; link = &(*link)->older) {
        if ((*link)->uses > 0) {
            continue;
        }
        oldest = link;
        if ((*link)->moves > cache->limits.moves) {
            break;
        }
    }
    return oldest;
}

static void keep_within_limits(plan_cache *cache)
{
    while (cache->count > cache->limits.plans || cache->moves > cache->limits.moves) {
        plan_entry **link = least_needed(cache);
        if (link == NULL) {
            return;
        }
        plan_entry *entry = unlink_entry(link);
        cache->count--;
        cache->moves -= entry->moves;
        tsr_arena_destroy(entry->arena);
    }
}

tsr_status plan_cache_get(plan_cache *cache, tsr_context *ctx, const tsr_geometry *src,
                          const tsr_geometry *dst, tsr_dtype dtype, const tsr_plan **out)
{
    const uint64_t hash = hash_geometry(dst, hash_geometry(src, (uint64_t)dtype));
    plan_entry **link = find(cache, hash, src, dst, dtype);
    plan_entry *entry = NULL;
    if (*link != NULL) {
        entry = unlink_entry(link);
        cache->hits++;
    } else {
        TSR_TRY(make_entry(ctx, src, dst, dtype, &entry));
        entry->hash = hash;
        cache->misses++;
        cache->count++;
        cache->moves += entry->moves;
    }
    push(cache, entry);
    entry->uses++;
    *out = entry->plan;
    return TSR_OK;
}

void plan_cache_put(plan_cache *cache, const tsr_plan *plan)
{
    for (plan_entry *entry = cache->newest; entry != NULL; entry = entry->older) {
        if (entry->plan == plan) {
            entry->uses--;
            break;
        }
    }
    keep_within_limits(cache);
}

void plan_cache_clear(plan_cache *cache)
{
    while (cache->newest != NULL) {
        plan_entry *entry = unlink_entry(&cache->newest);
        tsr_arena_destroy(entry->arena);
    }
    cache->count = 0;
    cache->moves = 0;
}
