/*
 * Routes: how long one takes to find, from 8 to 65,536 devices, and how much cheaper it is by the
 * model than the greedy plan, one direct step and one collective, over random pairs of layouts on
 * machines of one, two and three levels.
 */
#include <string.h>

#include "bench.h"

#include <tessera/route.h>

enum { MAX_RANK = 4, MAX_LEVELS = 3, PAIRS = 2000, MAX_AXES = 4 };

/* ---- how long ---- */

typedef struct route_case {
    const char *name;
    const char *mesh;
    const char *from;
    const char *to;
    const char *topology;
    size_t rank;
    int64_t shape[MAX_RANK];
} route_case;

static const route_case cases[] = {
    {"3 axes, 3 dimensions",
     "x=2,y=2,z=2",
     "[{\"x\"}, {\"y\"}, {\"z\"}]",
     "[{\"z\"}, {\"x\"}, {\"y\"}]",
     "host",
     3,
     {64, 64, 64}},
    {"3 axes, 3 dimensions",
     "x=2,y=4,z=2",
     "[{\"x\"}, {\"y\"}, {\"z\"}]",
     "[{\"z\"}, {\"x\"}, {\"y\"}]",
     "gpu-pod",
     3,
     {64, 64, 64}},
    {"4 axes, 4 dimensions",
     "x=2,y=2,z=2,w=2",
     "[{\"x\"}, {\"y\"}, {\"z\"}, {\"w\"}]",
     "[{\"w\"}, {\"z\"}, {\"y\"}, {\"x\"}]",
     "host",
     4,
     {16, 16, 16, 16}},
    {"4 axes, 4 dimensions",
     "x=4,y=2,z=2,w=4",
     "[{\"x\"}, {\"y\"}, {\"z\"}, {\"w\"}]",
     "[{\"w\"}, {\"z\"}, {\"y\"}, {\"x\"}]",
     "gpu-pod",
     4,
     {16, 16, 16, 16}},
    {"rows to columns",
     "x=256,y=256",
     "[{\"x\", \"y\"}, {}]",
     "[{}, {\"x\", \"y\"}]",
     "gpu-pod",
     2,
     {65536, 65536}},
    {"rows to replicated",
     "x=256,y=256",
     "[{\"x\", \"y\"}, {}]",
     "[{}, {}]",
     "gpu-pod",
     2,
     {65536, 65536}},
    {"sums to rows",
     "x=256,y=256",
     "[{}, {}], unreduced={\"x\", \"y\"}",
     "[{\"x\"}, {\"y\"}]",
     "gpu-pod",
     2,
     {65536, 65536}},
    {"axes turned, 3-D",
     "x=64,y=128,z=8",
     "[{\"x\"}, {\"y\"}, {\"z\"}]",
     "[{\"z\"}, {\"x\"}, {\"y\"}]",
     "gpu-pod",
     3,
     {8192, 8192, 8192}},
    {"uneven", "x=8192,y=8", "[{\"x\"}, {}]", "[{}, {\"x\"}]", "gpu-pod", 2, {8191, 8191}},
};

typedef struct finding {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_topology *topology;
    const tsr_geometry *src;
    const tsr_geometry *dst;
} finding;

static int64_t find(void *state)
{
    finding *f = state;
    const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
    const tsr_route_options options = {.topology = f->topology};
    const tsr_route *route = NULL;
    INSIST(tsr_route_find(f->ctx, f->arena, f->src, f->dst, TSR_F32, &options, &route) == TSR_OK);
    const tsr_route_facts facts = tsr_route_describe(route);
    const int64_t answer = facts.proven ? facts.nanoseconds : -facts.nanoseconds;
    tsr_arena_reset(f->arena, mark);
    return answer;
}

static const tsr_geometry *layout(finding *f, const tsr_mesh *mesh, const char *text, size_t rank,
                                  const int64_t *shape)
{
    const tsr_sharding *sharding = NULL;
    const tsr_geometry *geometry = NULL;
    INSIST(tsr_sharding_parse(f->ctx, f->arena, mesh, text, &sharding) == TSR_OK);
    INSIST(tsr_geometry_create(f->ctx, f->arena, sharding, rank, shape, &geometry) == TSR_OK);
    return geometry;
}

static void time_case(finding *f, const route_case *c)
{
    const tsr_mesh *mesh = NULL;
    double samples[ROUNDS];
    int64_t answer = 0;
    INSIST(tsr_mesh_parse(f->ctx, f->arena, c->mesh, &mesh) == TSR_OK);
    INSIST(tsr_topology_find(f->ctx, f->arena, c->topology, &f->topology) == TSR_OK);
    f->src = layout(f, mesh, c->from, c->rank, c->shape);
    f->dst = layout(f, mesh, c->to, c->rank, c->shape);
    for (int i = 0; i < ROUNDS; i++) {
        const double start = seconds();
        answer = find(f);
        samples[i] = seconds() - start;
    }
    qsort(samples, ROUNDS, sizeof *samples, by_value);
    printf("{\"bench\": \"route\", \"case\": \"%s\", \"devices\": %lld, \"topology\": \"%s\", "
           "\"milliseconds\": %.4g, \"spread\": %.3g, \"proven\": %s}\n",
           c->name, (long long)tsr_mesh_num_devices(mesh), c->topology, 1e3 * samples[ROUNDS / 2],
           (samples[ROUNDS - 1] - samples[0]) / samples[ROUNDS / 2], answer > 0 ? "true" : "false");
}

/* ---- how much cheaper ---- */

typedef struct machine {
    const char *name;
    const char *mesh;
    size_t num_levels;
    tsr_level levels[MAX_LEVELS];
} machine;

#define GB INT64_C(1000000000)
#define US INT64_C(1000000)

static const machine machines[] = {
    {"one level of 16", "a=2,b=2,c=4", 1, {{"host", 16, US, 10 * GB}}},
    {"2 hosts of 8, a tenth of the bandwidth",
     "a=2,b=2,c=4",
     2,
     {{"network", 2, 10 * US, 1 * GB}, {"host", 8, US, 10 * GB}}},
    {"an axis over 4 hosts of 4",
     "a=8,b=2",
     2,
     {{"network", 4, 10 * US, 1 * GB}, {"host", 4, US, 10 * GB}}},
    {"three levels, odd sizes",
     "a=3,b=2,c=3",
     3,
     {{"rack", 3, 20 * US, 1 * GB}, {"host", 2, 5 * US, 5 * GB}, {"socket", 3, US, 40 * GB}}},
};

static uint64_t next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* A layout of three dimensions: each axis cuts one, is replicated, or at the source pending. */
static const tsr_geometry *draw(finding *f, const tsr_mesh *mesh, uint64_t *state, bool source,
                                const int64_t *shape)
{
    tsr_axis_ref refs[3][MAX_AXES];
    tsr_axis_ref pending[MAX_AXES];
    size_t counts[3] = {0};
    size_t num_pending = 0;
    tsr_dim dims[3];
    for (size_t i = 0; i < tsr_mesh_num_axes(mesh); i++) {
        const uint64_t place = next_number(state) % 10;
        if (place < 6) {
            refs[place % 3][counts[place % 3]++] = tsr_axis_full(mesh, i);
        } else if (place == 6 && source) {
            pending[num_pending++] = tsr_axis_full(mesh, i);
        }
    }
    for (size_t d = 0; d < 3; d++) {
        dims[d] = tsr_dim_closed(refs[d], counts[d]);
    }
    const tsr_sharding_spec spec = {
        .mesh = mesh, .rank = 3, .dims = dims, .num_unreduced = num_pending, .unreduced = pending};
    const tsr_sharding *sharding = NULL;
    const tsr_geometry *geometry = NULL;
    INSIST(tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &sharding) ==
           TSR_OK);
    INSIST(tsr_geometry_create(f->ctx, f->arena, sharding, 3, shape, &geometry) == TSR_OK);
    return geometry;
}

/* How a way compares with the route: over the pairs where it exists. */
typedef struct comparison {
    int64_t pairs;
    int64_t beaten; /* where the route is cheaper */
    double mean;    /* of the ratios */
    double worst;
} comparison;

static void compare(comparison *c, int64_t other, int64_t route)
{
    if (other >= 0 && route > 0) {
        const double ratio = (double)other / (double)route;
        INSIST(other >= route);
        c->pairs++;
        c->beaten += other > route;
        c->mean += ratio;
        c->worst = ratio > c->worst ? ratio : c->worst;
    }
}

static void print_comparison(const machine *m, const char *way, const comparison *c)
{
    printf("{\"bench\": \"route against %s\", \"machine\": \"%s\", \"pairs\": %lld, \"cheaper\": "
           "%.3f, \"mean\": %.3f, \"worst\": %.3f}\n",
           way, m->name, (long long)c->pairs, (double)c->beaten / (double)c->pairs,
           c->mean / (double)c->pairs, c->worst);
}

static void compare_ways(finding *f, const machine *m)
{
    static const int64_t shape[] = {288, 144, 432};
    const tsr_mesh *mesh = NULL;
    comparison greedy = {0};
    comparison direct = {0};
    comparison collective = {0};
    uint64_t state = 7;
    const tsr_topology_spec spec = {.num_levels = m->num_levels,
                                    .levels = m->levels,
                                    .copy_bandwidth = 20 * GB,
                                    .reduce_bandwidth = 20 * GB};
    INSIST(tsr_mesh_parse(f->ctx, f->arena, m->mesh, &mesh) == TSR_OK);
    INSIST(tsr_topology_create(f->ctx, f->arena, &spec, &f->topology) == TSR_OK);
    for (int i = 0; i < PAIRS; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const tsr_route_options options = {.topology = f->topology};
        const tsr_route *route = NULL;
        f->src = draw(f, mesh, &state, true, shape);
        f->dst = draw(f, mesh, &state, false, shape);
        INSIST(tsr_route_find(f->ctx, f->arena, f->src, f->dst, TSR_F32, &options, &route) ==
               TSR_OK);
        const tsr_route_facts facts = tsr_route_describe(route);
        INSIST(facts.proven);
        compare(&direct, facts.direct, facts.nanoseconds);
        compare(&collective, facts.collective, facts.nanoseconds);
        compare(&greedy, facts.greedy_obeys ? facts.greedy : -1, facts.nanoseconds);
        tsr_arena_reset(f->arena, mark);
    }
    print_comparison(m, "greedy", &greedy);
    print_comparison(m, "one direct step", &direct);
    print_comparison(m, "one collective", &collective);
}

int main(void)
{
    finding f = {0};
    INSIST(tsr_context_create(NULL, &f.ctx) == TSR_OK);
    INSIST(tsr_arena_create(f.ctx, &f.arena) == TSR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        time_case(&f, &cases[i]);
    }
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        compare_ways(&f, &machines[i]);
    }
    tsr_arena_destroy(f.arena);
    tsr_context_destroy(f.ctx);
    return 0;
}
