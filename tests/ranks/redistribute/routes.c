#include "routes.h"

#include <string.h>

#include <tessera/route.h>

#include "base/diag.h"
#include "catalogue.h"
#include "memory_transport.h"
#include "parts.h"
#include "want.h"

#include "rt/comm.h"

enum { MAX_LEVELS = 3, MAX_STEPS = 8 };

/* A step: the layout after it, and what the busiest rank receives at each level. */
typedef struct route_stage {
    const tsr_geometry *dst;
    bool is_counted; /* the runtime takes every part from where the route does */
    int64_t bytes[MAX_LEVELS];
} route_stage;

typedef struct route_case {
    const family *of;
    const tsr_topology *topology;
    const tsr_geometry *src;
    size_t num_levels;
    size_t num_steps;
    route_stage steps[MAX_STEPS];
} route_case;

typedef struct route_list {
    route_case *cases;
    size_t count;
} route_list;

static tsr_status largest(tsr_comm *world, int64_t mine, int64_t *out)
{
    const tsr_view view = {&mine, TSR_I64, 0, NULL, NULL};
    const tsr_status status = tsr_comm_all_reduce(world, TSR_REDUCE_MAX, &view, &view);
    *out = mine;
    return status;
}

/* The bytes by level since the topology was set, against those of the route. */
static tsr_status check_levels(tsr_comm *world, const route_case *c, const route_stage *stage)
{
    int64_t received[MAX_LEVELS];
    for (size_t l = 0; l < c->num_levels; l++) {
        received[l] = tsr_comm_traffic_at(world, l).bytes_received;
    }
    for (size_t l = 0; l < c->num_levels; l++) {
        int64_t most = 0;
        const tsr_status status = largest(world, received[l], &most);
        if (status < 0) {
            return status;
        }
        if (stage->is_counted && most != stage->bytes[l]) {
            return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,
                              "a rank received %lld bytes at level %zu, the route says %lld",
                              (long long)most, l, (long long)stage->bytes[l]);
        }
    }
    return TSR_OK;
}

/* Whether what each rank holds is known: of a sum that is reduced in part only the whole is. */
static bool has_known_elements(const route_case *c, const tsr_sharding *s)
{
    const int64_t members = filling_of(s, 0).members;
    return members == 1 || members == filling_of(tsr_geometry_sharding(c->src), 0).members;
}

/* One step, from a tensor that is dropped to a new one. */
static tsr_status run_stage(tsr_comm *world, tsr_arena *arena, const route_case *c, size_t index,
                            part *now, tsr_tensor **tensor)
{
    const route_stage *stage = &c->steps[index];
    const tsr_geometry *before = index == 0 ? c->src : c->steps[index - 1].dst;
    const tsr_step_spec spec = {TSR_STEP_DIRECT, stage->dst};
    const tsr_tensor_spec after = {tsr_geometry_sharding(stage->dst), TSR_F64, c->of->rank,
                                   c->of->shape};
    const tsr_plan *plan = NULL;
    part next = {0};
    tsr_tensor *dst = NULL;
    tsr_status status = make_part(world, &after, c->of, OWNED, &next, &dst);
    status = status < 0 ? status
                        : tsr_plan_from_steps(tsr_comm_context(world), arena, before, 1, &spec,
                                              TSR_F64, &plan);
    status = status < 0 ? status : tsr_comm_set_topology(world, c->topology);
    status = status < 0 ? status : tsr_redistribute_by(dst, *tensor, plan);
    status = status < 0 ? status : check_levels(world, c, stage);
    const bool known = has_known_elements(c, after.sharding);
    if (status == TSR_OK && !(same_sizes(dst, &next) && (!known || part_is_right(&next)))) {
        status =
            diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION, "wrong elements");
    }
    drop_part(now, tensor);
    *now = next;
    *tensor = dst;
    return status;
}

static tsr_status run_case(tsr_comm *world, tsr_arena *arena, const route_case *c)
{
    const tsr_tensor_spec before = {tsr_geometry_sharding(c->src), TSR_F64, c->of->rank,
                                    c->of->shape};
    part now = {0};
    tsr_tensor *tensor = NULL;
    size_t at = 0;
    tsr_status status = make_part(world, &before, c->of, OWNED, &now, &tensor);
    if (status == TSR_OK) {
        part_fill(&now);
        status = tsr_barrier(world);
    }
    for (; at < c->num_steps && status == TSR_OK; at++) {
        status = run_stage(world, arena, c, at, &now, &tensor);
    }
    drop_part(&now, &tensor);
    if (status < 0) {
        const char *texts[2] = {"?", "?"};
        tsr_context *ctx = tsr_comm_context(world);
        (void)!tsr_sharding_print(ctx, arena, tsr_geometry_sharding(c->src), TSR_PRINT_BARE,
                                  &texts[0]);
        (void)!tsr_sharding_print(ctx, arena, tsr_geometry_sharding(c->steps[c->num_steps - 1].dst),
                                  TSR_PRINT_BARE, &texts[1]);
        return diag_error(ctx, status, NO_LOCATION, "step %zu of the route from %s to %s of %s: %s",
                          at, texts[0], texts[1], c->of->name, last_error_text(ctx));
    }
    return TSR_OK;
}

static tsr_status run_cases(tsr_comm *world, void *state)
{
    const route_list *list = state;
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    for (size_t i = 0; i < list->count && status == TSR_OK; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(arena);
        status = run_case(world, arena, &list->cases[i]);
        tsr_arena_reset(arena, mark);
    }
    tsr_arena_destroy(arena);
    return status;
}

/* A machine of that many ranks: one to three levels, the outer ones slower. */
static const tsr_topology *invent(fixture *f, rng *r, int64_t ranks)
{
    static const char *const names[MAX_LEVELS] = {"a", "b", "c"};
    tsr_level levels[MAX_LEVELS];
    size_t count = 0;
    int64_t left = ranks;
    for (int64_t size = 2; size < left && count + 1 < MAX_LEVELS; size++) {
        if (left % size == 0 && rng_chance(r, 60)) {
            levels[count++] = (tsr_level){.size = size};
            left /= size;
        }
    }
    levels[count++] = (tsr_level){.size = left};
    for (size_t l = 0; l < count; l++) {
        const int64_t slower = (int64_t)(count - l);
        levels[l].name = names[l];
        levels[l].latency = slower * (1 + rng_below(r, 2000));
        levels[l].bandwidth = (1 + rng_below(r, 1000)) * 1000000 / slower + 1;
    }
    const tsr_topology_spec spec = {.num_levels = count,
                                    .levels = levels,
                                    .copy_bandwidth = 1 + rng_below(r, 10000000000),
                                    .reduce_bandwidth = 1 + rng_below(r, 10000000000)};
    const tsr_topology *out = NULL;
    assert_int_equal(tsr_topology_create(f->ctx, f->arena, &spec, &out), TSR_OK);
    return out;
}

/* Whether no two devices hold the same elements, or parts of the same sum at one place. */
static bool is_held_once(const tsr_sharding *s, int64_t ranks)
{
    int64_t parts = filling_of(s, 0).members;
    size_t rank = tsr_sharding_rank(s);
    for (size_t d = 0; d < rank; d++) {
        parts *= tsr_sharding_num_shards(s, d);
    }
    return parts == ranks;
}

/* Whether devices were counted one by one, as the runtime moves their parts. */
static bool is_listed(const tsr_route_facts *facts)
{
    return !facts->proven && facts->num_layouts == facts->num_steps + 1;
}

/*
 * Whether the runtime receives at each level what a step says: every part comes straight from its
 * owner. Of several owners it takes another one than the route, which prefers the innermost level.
 */
static bool is_comparable(const route_case *c, const tsr_route_step *step, const tsr_sharding *src,
                          int64_t ranks)
{
    const bool direct = strcmp(step->algorithm, "bruck") != 0 || step->kind != TSR_STEP_ALL_TO_ALL;
    return direct && step->kind != TSR_STEP_ALL_REDUCE &&
           (c->num_levels == 1 || is_held_once(src, ranks));
}

/* Fills in a case; false if the route is refused, has a layout without a sharding, or is empty. */
static bool fill_case(fixture *f, int64_t ranks, const family *of, const layout_pair *pair,
                      route_case *c, route_counts *counts)
{
    const tsr_geometry *dst = geometry_of(f, of->layouts[pair->to], of->rank, of->shape);
    const tsr_route_options options = {.topology = c->topology};
    const tsr_route *route = NULL;
    c->of = of;
    c->src = geometry_of(f, of->layouts[pair->from], of->rank, of->shape);
    const tsr_status status =
        tsr_route_find(f->ctx, f->arena, c->src, dst, TSR_F64, &options, &route);
    if (status == TSR_ERR_UNSUPPORTED) {
        tsr_context_clear(f->ctx);
        counts->refused++;
        return false;
    }
    if (status != TSR_OK) {
        fail_msg("%s, pair %zu to %zu on %lld ranks: %s", of->name, pair->from, pair->to,
                 (long long)ranks, last_error_text(f->ctx));
    }
    const tsr_route_facts facts = tsr_route_describe(route);
    assert_true(facts.num_steps <= MAX_STEPS);
    c->num_levels = tsr_topology_facts(facts.topology).num_levels;
    const tsr_sharding *before = of->layouts[pair->from];
    for (size_t i = 0; i < facts.num_steps; i++) {
        const tsr_route_step step = tsr_route_step_at(route, i);
        route_stage *stage = &c->steps[c->num_steps++];
        if (step.sharding == NULL) {
            counts->held++;
            return false;
        }
        stage->dst = geometry_of(f, step.sharding, of->rank, of->shape);
        stage->is_counted = is_listed(&facts) || is_comparable(c, &step, before, ranks);
        memcpy(stage->bytes, step.bytes, c->num_levels * sizeof *stage->bytes);
        counts->listed += is_listed(&facts);
        counts->counted += stage->is_counted;
        counts->apart += stage->is_counted && c->num_levels > 1;
        before = step.sharding;
    }
    if (facts.num_steps > 0) {
        bool same = false;
        assert_int_equal(tsr_geometry_same(f->ctx, c->steps[c->num_steps - 1].dst, dst, &same),
                         TSR_OK);
        assert_true(same);
    }
    counts->routes += facts.num_steps > 0;
    counts->long_routes += facts.num_steps > 1;
    return facts.num_steps > 0;
}

void check_routes(fixture *f, int64_t ranks, tsr_ranks kind, size_t sample, route_counts *counts)
{
    const tsr_launch_spec spec = {
        .num_ranks = ranks, .ranks = kind, .timeout = 60, .segment_bytes = (size_t)1 << 24};
    rng r = rng_start("check_routes");
    static catalogue all;
    catalogue_fill(f, ranks, &all);
    const pair_list pairs = pairs_of(f, all.families, all.num_families, sample);
    route_list list = {.cases = tsr_arena_alloc(f->arena, (pairs.count + 1) * sizeof *list.cases)};
    assert_non_null(list.cases);
    for (size_t i = 0; i < pairs.count; i++) {
        route_case *c = &list.cases[list.count];
        *c = (route_case){.topology = invent(f, &r, ranks)};
        list.count +=
            fill_case(f, ranks, &all.families[pairs.pairs[i].family], &pairs.pairs[i], c, counts);
    }
    expect_ranks(f, &spec, run_cases, &list);
}
