/*
 * The plan cache. A repeated redistribution, in a loop or for many tensors of one kind, finds its
 * plan by the value of the two layouts, wherever they are stored.
 *
 * A cache belongs to one rank and is not thread-safe. The caller returns each plan that it gets;
 * until then the plan stays. When a plan is returned and the cache is over its limits, it evicts a
 * plan that is too large by itself, else the least recently used of those that are not in use.
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

/* Frees all plans, including those in use. */
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
