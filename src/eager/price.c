#include "eager/price.h"

#include "base/arena.h"
#include "eager/case.h"

/* Where sizes are unbound it is not known what moves: the price of all of it. */
static double price_of_whole(const tsr_link *link, const op_type *type)
{
    int64_t elements = 0;
    const coll_work work = cost_exchange(
        1, op_elements(type, &elements) ? elements * tsr_dtype_item_bytes(type->dtype) : 0, 0);
    return coll_seconds(link, &work);
}

static tsr_status price_move(tsr_comm *world, const plan_maker *m, const op_type *type,
                             const tsr_sharding *from, const tsr_sharding *to, double *seconds)
{
    const tsr_link *link = &world->state->choices.link;
    const tsr_geometry *src = NULL;
    const tsr_geometry *dst = NULL;
    const tsr_plan *plan = NULL;
    TSR_TRY(geometry_create(m->ctx, m->arena, from, type->rank, type->shape, true, &src));
    TSR_TRY(geometry_create(m->ctx, m->arena, to, type->rank, type->shape, true, &dst));
    if (!geometry_is_bound(src) || !geometry_is_bound(dst)) {
        plan_sketch sketch;
        TSR_TRY(plan_sketch_create(m->ctx, m->arena, src, dst, &sketch));
        *seconds = sketch.may_move ? price_of_whole(link, type) : 0;
        return TSR_OK;
    }
    TSR_TRY(tsr_plan_create(m->ctx, m->arena, src, dst, type->dtype, &plan));
    return plan_price(m, plan, link, seconds);
}

static tsr_status move(void *state, const op_type *type, const tsr_sharding *from,
                       const tsr_sharding *to, double *seconds)
{
    eager *e = state;
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(e->world->ctx, &arena));
    const plan_maker m = {e->world->ctx, arena, arena};
    const tsr_status status = price_move(e->world, &m, type, from, to, seconds);
    tsr_arena_destroy(arena);
    return status;
}

/* As fast as this rank reduces. */
static double compute(void *state, const op_type *result, double points)
{
    const eager *e = state;
    const coll_work work = cost_compute(points, tsr_dtype_item_bytes(result->dtype));
    return coll_seconds(&e->world->state->choices.link, &work);
}

inference_prices price_table(eager *e)
{
    return (inference_prices){e, move, compute};
}

static bool same_link(const tsr_link *a, const tsr_link *b)
{
    return a->alpha == b->alpha && a->beta == b->beta && a->gamma == b->gamma &&
           a->delta == b->delta;
}

void price_refresh(eager *e)
{
    const tsr_link *link = &e->world->state->choices.link;
    if (!same_link(&e->priced_by, link)) {
        cases_clear(e);
        e->priced_by = *link;
    }
}
