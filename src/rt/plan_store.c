#include "rt/plan_store.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/map.h"

void plan_store_init(plan_store *store, tsr_context *ctx)
{
    *store = (plan_store){.ctx = ctx};
    (void)pthread_mutex_init(&store->lock, NULL);
}

void plan_store_destroy(plan_store *store)
{
    (void)pthread_mutex_destroy(&store->lock);
}

/* A hash of what a geometry is. Names are left to the comparison. */
static uint64_t hash_geometry(const tsr_geometry *g, uint64_t seed)
{
    return hash_bytes(g->shape, g->rank * sizeof *g->shape, sharding_hash(g->sharding, seed));
}

uint64_t plan_hash(const tsr_geometry *src, const tsr_geometry *dst, tsr_dtype dtype)
{
    return hash_geometry(dst, hash_geometry(src, (uint64_t)dtype));
}

bool stored_plan_is(const stored_plan *plan, uint64_t hash, const tsr_geometry *src,
                    const tsr_geometry *dst, tsr_dtype dtype)
{
    return plan->hash == hash && plan->plan->dtype == dtype && geometry_equal(plan->src, src) &&
           geometry_equal(plan->dst, dst);
}

static tsr_status copy_geometry(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *g,
                                const tsr_geometry **out)
{
    const tsr_sharding *sharding = NULL;
    TSR_TRY(sharding_copy(ctx, arena, g->sharding, &sharding));
    return tsr_geometry_create(ctx, arena, sharding, g->rank, g->shape, out);
}

/* Fills in a plan that has its arena. */
static tsr_status fill(tsr_context *ctx, stored_plan *s, const tsr_geometry *src,
                       const tsr_geometry *dst, tsr_dtype dtype)
{
    TSR_TRY(copy_geometry(ctx, s->arena, src, &s->src));
    TSR_TRY(copy_geometry(ctx, s->arena, dst, &s->dst));
    return tsr_plan_create(ctx, s->arena, s->src, s->dst, dtype, &s->plan);
}

static tsr_status make(plan_store *store, tsr_context *ctx, const tsr_geometry *src,
                       const tsr_geometry *dst, tsr_dtype dtype, stored_plan **out)
{
    tsr_arena *arena = NULL;
    if (tsr_arena_create(store->ctx, &arena) < 0) {
        return diag_nomem(ctx);
    }
    stored_plan *s = ARENA_NEW(arena, stored_plan);
    if (s == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    *s = (stored_plan){.arena = arena};
    const tsr_status status = fill(ctx, s, src, dst, dtype);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    *out = s;
    return TSR_OK;
}

/* As plan_store_take, with the lock held. */
static tsr_status take(plan_store *store, tsr_context *ctx, const tsr_geometry *src,
                       const tsr_geometry *dst, tsr_dtype dtype, const stored_plan **out)
{
    const uint64_t hash = plan_hash(src, dst, dtype);
    stored_plan *s = store->plans;
    while (s != NULL && !stored_plan_is(s, hash, src, dst, dtype)) {
        s = s->next;
    }
    if (s == NULL) {
        TSR_TRY(make(store, ctx, src, dst, dtype, &s));
        s->hash = hash;
        s->next = store->plans;
        store->plans = s;
        store->count++;
        store->made++;
    }
    s->uses++;
    *out = s;
    return TSR_OK;
}

tsr_status plan_store_take(plan_store *store, tsr_context *ctx, const tsr_geometry *src,
                           const tsr_geometry *dst, tsr_dtype dtype, const stored_plan **out)
{
    (void)pthread_mutex_lock(&store->lock);
    const tsr_status status = take(store, ctx, src, dst, dtype, out);
    (void)pthread_mutex_unlock(&store->lock);
    return status;
}

void plan_store_return(plan_store *store, const stored_plan *plan)
{
    (void)pthread_mutex_lock(&store->lock);
    stored_plan **link = &store->plans;
    while (*link != plan) {
        link = &(*link)->next;
    }
    stored_plan *s = *link;
    if (--s->uses == 0) {
        *link = s->next;
        store->count--;
        tsr_arena_destroy(s->arena);
    }
    (void)pthread_mutex_unlock(&store->lock);
}
