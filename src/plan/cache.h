/*
 * Plans that were made before. A redistribution that comes again, in a loop or for each of many
 * tensors of one kind, finds its plan by what the two layouts are, wherever they are stored.
 *
 * A cache is one rank's and knows nothing of threads. Whoever gets a plan puts it back; until then
 * it stays. When a plan is put back and there are too many, the least recently used of those that
 * nobody uses go, or one that is too large by itself.
 */
#ifndef PLAN_CACHE_H
#define PLAN_CACHE_H

#include "plan/plan.h"

/* How much is kept: plans, and moves in all of them. A move takes about a hundred bytes. */
typedef struct plan_cache_limits {
    size_t plans;
    size_t moves;
} plan_cache_limits;

#define PLAN_CACHE_DEFAULT ((plan_cache_limits){.plans = 64, .moves = (size_t)1 << 16})

typedef struct plan_entry plan_entry;

typedef struct plan_cache {
    plan_cache_limits limits;
    plan_entry *newest;
    size_t count;
    size_t moves;
    int64_t hits;
    int64_t misses;
} plan_cache;

/* An empty cache, which has no memory yet. */
plan_cache plan_cache_new(plan_cache_limits limits);

/* Forgets all plans, those in use too, and gives back all memory. */
void plan_cache_clear(plan_cache *cache);

/*
 * The plan of tsr_plan_create, made or found. It has its own copies of the geometries, so those may
 * go; its memory is the context's, which must outlive the cache. Valid until it is put back. A
 * failure leaves the cache as it was.
 */
tsr_status plan_cache_get(plan_cache *cache, tsr_context *ctx, const tsr_geometry *src,
                          const tsr_geometry *dst, tsr_dtype dtype, const tsr_plan **out);

/* Ends one use of a plan that the cache gave; NULL is fine. */
void plan_cache_put(plan_cache *cache, const tsr_plan *plan);

#endif
