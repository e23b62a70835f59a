#include "rt/plan_cache.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

struct plan_entry {
    plan_entry *older;
    tsr_arena *arena;
    const stored_plan *of;
    cached_plan view;
    plan_part part;
    int64_t uses;
};

plan_cache plan_cache_new(plan_store *store, plan_cache_limits limits)
{
    return (plan_cache){.store = store, .limits = limits};
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
        if (stored_plan_is((*link)->of, hash, src, dst, dtype)) {
            break;
        }
    }
    return link;
}

/* Frees an entry that is in no list. */
static void drop(const plan_cache *cache, plan_entry *entry)
{
    plan_store_return(cache->store, entry->of);
    tsr_arena_destroy(entry->arena);
}

static tsr_status make_entry(const plan_cache *cache, tsr_context *ctx, const tsr_geometry *src,
                             const tsr_geometry *dst, tsr_dtype dtype, plan_entry **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    plan_entry *entry = ARENA_NEW(arena, plan_entry);
    if (entry == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    *entry = (plan_entry){.arena = arena};
    const tsr_status status = plan_store_take(cache->store, ctx, src, dst, dtype, &entry->of);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    entry->view = (cached_plan){.plan = entry->of->plan, .hash = entry->of->hash};
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
        if ((*link)->part.num_moves > cache->limits.moves) {
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
        cache->moves -= entry->part.num_moves;
        drop(cache, entry);
    }
}

tsr_status plan_cache_get(plan_cache *cache, tsr_context *ctx, const tsr_geometry *src,
                          const tsr_geometry *dst, tsr_dtype dtype, const cached_plan **out)
{
    plan_entry **link = find(cache, plan_hash(src, dst, dtype), src, dst, dtype);
    plan_entry *entry = NULL;
    if (*link != NULL) {
        entry = unlink_entry(link);
        cache->hits++;
    } else {
        TSR_TRY(make_entry(cache, ctx, src, dst, dtype, &entry));
        cache->misses++;
        cache->count++;
    }
    push(cache, entry);
    entry->uses++;
    *out = &entry->view;
    return TSR_OK;
}

/* The entry of a plan that the cache gave; NULL when there is none. */
static plan_entry *entry_of(const plan_cache *cache, const cached_plan *plan)
{
    plan_entry *entry = cache->newest;
    while (entry != NULL && &entry->view != plan) {
        entry = entry->older;
    }
    return entry;
}

tsr_status plan_cache_get_part(plan_cache *cache, tsr_context *ctx, const cached_plan *plan,
                               int64_t device, part_lists of_folds)
{
    plan_entry *entry = entry_of(cache, plan);
    if (entry->view.part != NULL) {
        return TSR_OK;
    }
    plan_part part = {0};
    const tsr_arena_mark mark = tsr_arena_get_mark(entry->arena);
    const tsr_status status =
        plan_part_create(ctx, entry->arena, plan->plan, device, of_folds, &part);
    if (status < 0) {
        tsr_arena_reset(entry->arena, mark);
        return status;
    }
    entry->part = part;
    entry->view.part = &entry->part;
    cache->moves += part.num_moves;
    return TSR_OK;
}

void plan_cache_put(plan_cache *cache, const cached_plan *plan)
{
    plan_entry *entry = entry_of(cache, plan);
    if (entry != NULL) {
        entry->uses--;
    }
    keep_within_limits(cache);
}

void plan_cache_clear(plan_cache *cache)
{
    while (cache->newest != NULL) {
        drop(cache, unlink_entry(&cache->newest));
    }
    cache->count = 0;
    cache->moves = 0;
}
