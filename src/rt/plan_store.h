/*
 * Plans that several ranks share. A plan is the same on every rank, so ranks that are threads keep
 * one of each: the first that needs it makes it, the last that lets go of it frees it. What a rank
 * itself moves is in its cache (plan_cache.h).
 */
#ifndef RT_PLAN_STORE_H
#define RT_PLAN_STORE_H

#include <pthread.h>

#include "plan/plan.h"

/* A plan and all that it refers to, in an arena of its own. */
typedef struct stored_plan {
    struct stored_plan *next;
    tsr_arena *arena;
    uint64_t hash;
    const tsr_geometry *src;
    const tsr_geometry *dst;
    const tsr_plan *plan;
    int64_t uses;
} stored_plan;

typedef struct plan_store {
    pthread_mutex_t lock;
    tsr_context *ctx; /* whose memory it is, used under the lock */
    stored_plan *plans;
    size_t count;
    int64_t made; /* so far */
} plan_store;

/* An empty store, which has no memory yet. The context must outlive it. */
void plan_store_init(plan_store *store, tsr_context *ctx);

/* Every plan has been returned. */
void plan_store_destroy(plan_store *store);

/* A hash of the two layouts and the element type. */
uint64_t plan_hash(const tsr_geometry *src, const tsr_geometry *dst, tsr_dtype dtype);

/* Whether a plan is the one between these layouts; the hash is theirs. */
bool stored_plan_is(const stored_plan *plan, uint64_t hash, const tsr_geometry *src,
                    const tsr_geometry *dst, tsr_dtype dtype);

/*
 * The plan of tsr_plan_create, made or found, with its own copies of the geometries. Diagnostics go
 * to `ctx`, which is the caller's alone. A failure leaves the store as it was. Thread-safe.
 */
tsr_status plan_store_take(plan_store *store, tsr_context *ctx, const tsr_geometry *src,
                           const tsr_geometry *dst, tsr_dtype dtype, const stored_plan **out);

/* Ends a use. Thread-safe. */
void plan_store_return(plan_store *store, const stored_plan *plan);

#endif
