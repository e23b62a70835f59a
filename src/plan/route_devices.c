/* Routes that are counted device by device, where the layouts and levels have no common parts. */
#include "plan/route.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "coll/level_cost.h"
#include "plan/plan.h"

/* The work of one device in a step, while its moves are counted. */
typedef struct device_work {
    const tsr_topology *topology;
    int64_t device;
    int64_t *seen; /* by peer: the last device that counted it, plus one */
    level_work work;
} device_work;

/* Adds what a device receives of a peer; the first time a round too. */
static void add_part(device_work *d, int64_t peer, int64_t bytes)
{
    if (peer == d->device) {
        return;
    }
    const int64_t level = tsr_topology_level_between(d->topology, d->device, peer);
    d->work.bytes[level] += bytes;
    d->work.rounds[level] += d->seen[peer] != d->device + 1;
    d->seen[peer] = d->device + 1;
}

/* Takes the larger numbers of two devices, level by level. */
static void take_larger(level_work *most, const level_work *w, size_t num_levels)
{
    for (size_t l = 0; l < num_levels; l++) {
        most->bytes[l] = max_i64(most->bytes[l], w->bytes[l]);
        most->rounds[l] = max_i64(most->rounds[l], w->rounds[l]);
    }
    most->reduced = max_i64(most->reduced, w->reduced);
}

/* Counts the moves of a device in one step. */
static tsr_status count_device(const plan_maker *m, const plan_exchange *x, int64_t item,
                               device_work *d)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(m->arena);
    const int64_t parts = exchange_parts(x);
    plan_moves moves = {0};
    d->work = (level_work){.reduced = 0};
    TSR_TRY(plan_receives(m, x, d->device, &moves));
    for (size_t i = 0; i < moves.count; i++) {
        const plan_move *move = &moves.list[i];
        const int64_t bytes = move->elements * item;
        for (int64_t k = 0; move->sources != NULL && k < parts; k++) {
            add_part(d, move->sources[k], bytes);
        }
        if (move->sources == NULL) {
            add_part(d, move->peer, bytes);
        } else {
            d->work.reduced += (parts - 1) * bytes;
        }
    }
    tsr_arena_reset(m->arena, mark);
    return TSR_OK;
}

static tsr_status count_step(const route_request *q, const plan_maker *m, const plan_step *step,
                             int64_t devices, level_work *most)
{
    const size_t levels = tsr_topology_facts(q->topology).num_levels;
    const int64_t item = tsr_dtype_item_bytes(q->dtype);
    device_work d = {.topology = q->topology,
                     .seen = ARENA_ARRAY(m->arena, int64_t, (size_t)devices)};
    if (d.seen == NULL) {
        return diag_nomem(q->ctx);
    }
    memset(d.seen, 0, (size_t)devices * sizeof *d.seen);
    *most = (level_work){.reduced = 0};
    for (int64_t i = 0; i < devices && step->kind != TSR_STEP_SLICE; i++) {
        d.device = tsr_mesh_device_at(q->src->sharding->mesh, i);
        TSR_TRY(count_device(m, &step->exchange, item, &d));
        take_larger(most, &d.work, levels);
    }
    if (step->kind == TSR_STEP_SLICE) {
        most->copied = plan_largest_part(step->exchange.dst.of) * item;
    }
    return TSR_OK;
}

/* The bytes of the largest part of a layout. */
static int64_t part_bytes(const route_request *q, const tsr_geometry *g)
{
    return plan_largest_part(g) * tsr_dtype_item_bytes(q->dtype);
}

static tsr_status make_step(const route_request *q, const plan_maker *m, const tsr_plan *plan,
                            size_t index, tsr_route_step *out)
{
    const plan_step *step = &plan->steps[index];
    const tsr_geometry *dst = step->exchange.dst.of;
    const tsr_topology_spec spec = tsr_topology_facts(q->topology);
    const state_step whole = {.kind = step->kind};
    level_work work;
    TSR_TRY(count_step(q, m, step, tsr_mesh_num_devices(q->src->sharding->mesh), &work));
    *out = (tsr_route_step){
        .kind = step->kind,
        .algorithm = step->kind == TSR_STEP_SLICE ? "copy" : "pairwise",
        .num_axes = step->num_axes,
        .axes = step->axes,
        .bytes = arena_copy(q->arena, work.bytes, spec.num_levels, sizeof *out->bytes),
        .rounds = arena_copy(q->arena, work.rounds, spec.num_levels, sizeof *out->rounds),
        .reduced = work.reduced,
        .copied = work.copied,
        .nanoseconds = level_nanoseconds(&spec, &work),
        .live_bytes = search_live_bytes(&q->rules, part_bytes(q, q->src),
                                        part_bytes(q, step->exchange.src.of), part_bytes(q, dst),
                                        &whole, index == 0),
        .sharding = dst->sharding};
    if (out->bytes == NULL || out->rounds == NULL) {
        return diag_nomem(q->ctx);
    }
    return tsr_sharding_print(q->ctx, q->arena, out->sharding, TSR_PRINT_BARE, &out->layout);
}

/* The bytes that every device lacks take at least the time of all levels together. */
static int64_t bound_of(const route_request *q, const tsr_plan *plan, int64_t devices)
{
    const tsr_topology_spec spec = tsr_topology_facts(q->topology);
    double bandwidth = 0;
    int64_t most = 0;
    for (size_t l = 0; l < spec.num_levels; l++) {
        bandwidth += (double)spec.levels[l].bandwidth;
    }
    for (int64_t i = 0; i < devices && plan->num_steps == 1; i++) {
        most = max_i64(most, tsr_plan_bytes_received(plan, i));
    }
    const bool reduces = exchange_parts(&plan->steps[0].exchange) > 1;
    return reduces ? 0 : (int64_t)((double)most / bandwidth * 1e9 * (1 - 1e-9));
}

static tsr_status make_route(const route_request *q, const plan_maker *m, const tsr_plan *plan,
                             size_t num_steps, tsr_route *route)
{
    const size_t levels = tsr_topology_facts(q->topology).num_levels;
    tsr_route_step *steps = ARENA_ARRAY(q->arena, tsr_route_step, num_steps + 1);
    int64_t *bytes = ARENA_ARRAY(q->arena, int64_t, levels);
    if (steps == NULL || bytes == NULL) {
        return diag_nomem(q->ctx);
    }
    tsr_route_facts *facts = &route->facts;
    memset(bytes, 0, levels * sizeof *bytes);
    *facts = (tsr_route_facts){.topology = q->topology,
                               .num_steps = num_steps,
                               .bytes = bytes,
                               .live_bytes = part_bytes(q, q->src),
                               .proven = num_steps == 0,
                               .direct = -1,
                               .collective = -1,
                               .greedy = -1,
                               .num_layouts = num_steps + 1};
    for (size_t i = 0; i < num_steps; i++) {
        TSR_TRY(make_step(q, m, plan, i, &steps[i]));
        facts->nanoseconds += steps[i].nanoseconds;
        facts->live_bytes = max_i64(facts->live_bytes, steps[i].live_bytes);
        for (size_t l = 0; l < levels; l++) {
            bytes[l] += steps[i].bytes[l];
        }
    }
    if (num_steps > 0) {
        facts->lower_bound = bound_of(q, plan, tsr_mesh_num_devices(q->src->sharding->mesh));
        facts->gap = facts->nanoseconds - facts->lower_bound;
    }
    facts->bound_met = facts->gap <= (int64_t)num_steps;
    facts->direct = num_steps == 1 ? facts->nanoseconds : -1;
    route->steps = steps;
    return TSR_OK;
}

static tsr_status plan_route(const route_request *q, const plan_maker *m, tsr_route **out)
{
    const tsr_plan *plan = NULL;
    bool same = false;
    tsr_route *route = ARENA_NEW(q->arena, tsr_route);
    TSR_TRY(tsr_plan_create(q->ctx, q->arena, q->src, q->dst, q->dtype, &plan));
    TSR_TRY(tsr_geometry_same(q->ctx, q->src, q->dst, &same));
    if (route == NULL) {
        return diag_nomem(q->ctx);
    }
    TSR_TRY(make_route(q, m, plan, same ? 0 : plan->num_steps, route));
    if (q->rules.memory >= 0 && route->facts.live_bytes > q->rules.memory) {
        return diag_error(q->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "the only route between these layouts takes %lld live bytes of a device, "
                          "the limit is %lld; allow more, or donate the source",
                          (long long)route->facts.live_bytes, (long long)q->rules.memory);
    }
    *out = route;
    return TSR_OK;
}

tsr_status route_by_devices(const route_request *q, tsr_route **out)
{
    const int64_t devices = tsr_mesh_num_devices(q->src->sharding->mesh);
    plan_maker m = {.ctx = q->ctx}; /* of what is counted, and dropped */
    if (devices > ROUTE_MAX_LISTED) {
        return diag_error(q->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the axes of the two layouts and the levels of the topology have no "
                          "common parts, or device ids are an arbitrary list: devices are then "
                          "counted one by one, at most %d, and the mesh has %lld",
                          ROUTE_MAX_LISTED, (long long)devices);
    }
    TSR_TRY(tsr_arena_create(q->ctx, &m.arena));
    tsr_status status = tsr_arena_create(q->ctx, &m.scratch);
    if (status == TSR_OK) {
        status = plan_route(q, &m, out);
        tsr_arena_destroy(m.scratch);
    }
    tsr_arena_destroy(m.arena);
    return status;
}
