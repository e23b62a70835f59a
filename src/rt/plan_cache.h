/*
 * The plan cache of one rank. A repeated redistribution, in a loop or for many tensors of one kind,
 * finds its plan, and what the rank itself moves, by the value of the two layouts, wherever they
 * are stored.
 *
 * A cache is not thread-safe. The caller returns each plan that it gets; until then the plan stays.
 * When a plan is returned and the cache is over its limits, it evicts a plan that is too large by
 * itself, else the least recently used of those that are not in use.
 */
#ifndef RT_PLAN_CACHE_H
#define RT_PLAN_CACHE_H

#include "rt/plan_store.h"

/* How much is kept: plans, and moves of this rank in all of them. A move takes about 60 bytes. */
typedef struct plan_cache_limits {
    size_t plans;
    size_t moves;
} plan_cache_limits;

#define PLAN_CACHE_DEFAULT ((plan_cache_limits){.plans = 64, .moves = (size_t)1 << 16})

/* A plan that is in use. */
typedef struct cached_plan {
    const tsr_plan *plan;
    const plan_part *part; /* of this rank; NULL until it is asked for */
    uint64_t hash;         /* of the two layouts and the element type */
} cached_plan;

typedef struct plan_entry plan_entry;

typedef struct plan_cache {
    plan_cache_limits limits;
    plan_store *store;
    plan_entry *newest;
    size_t count;
    size_t moves;
    int64_t hits;
    int64_t misses;
} plan_cache;

/* An empty cache, which has no memory yet. Plans are taken from the store, which outlives it. */
plan_cache plan_cache_new(plan_store *store, plan_cache_limits limits);

/* Frees all plans, including those in use. */
void plan_cache_clear(plan_cache *cache);

/*
 * The plan of tsr_plan_create, made or found. It has its own copies of the geometries, so those may
 * go; memory is the context's and the store's, which must outlive the cache. Valid until it is put
 * back. A failure leaves the cache as it was.
 */
tsr_status plan_cache_get(plan_cache *cache, tsr_context *ctx, const tsr_geometry *src,
                          const tsr_geometry *dst, tsr_dtype dtype, const cached_plan **out);

/* Makes the part of a device, always the same one, unless it exists. As plan_part_create. */
tsr_status plan_cache_get_part(plan_cache *cache, tsr_context *ctx, const cached_plan *plan,
                               int64_t device, part_lists of_folds);

/* Ends one use of a plan that the cache gave; NULL is fine. */
void plan_cache_put(plan_cache *cache, const cached_plan *plan);

#endif
