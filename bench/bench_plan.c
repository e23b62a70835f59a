/*
 * Making the plan of a redistribution and the parts of all devices, beside intersecting the boxes
 * of every pair of devices, which only says how much each device lacks; the part of one device as
 * the mesh grows; finding a plan in the cache.
 */
#include "bench.h"

#include "rt/plan_cache.h"

enum { MAX_RANK = 3, MAX_DEVICES = 64 };

typedef struct bench_case {
    const char *name;
    const char *mesh;
    const char *from;
    const char *to;
    size_t rank;
    int64_t shape[MAX_RANK];
} bench_case;

static const bench_case cases[] = {
    {"rows to columns", "<[\"x\"=8]>", "[{\"x\"}, {}]", "[{}, {\"x\"}]", 2, {1024, 1024}},
    {"rows to replicated", "<[\"x\"=8]>", "[{\"x\"}, {}]", "[{}, {}]", 2, {1024, 1024}},
    {"replicas to replicated",
     "<[\"x\"=2, \"y\"=4]>",
     "[{\"x\"}, {}]",
     "[{}, {}]",
     2,
     {1024, 1024}},
    {"uneven replicas",
     "<[\"x\"=2, \"y\"=4]>",
     "[{\"x\"}, {}]",
     "[{}, {\"y\", \"x\"}]",
     2,
     {1001, 1003}},
    {"axes turned, 3-D",
     "<[\"x\"=2, \"y\"=2, \"z\"=2]>",
     "[{\"x\"}, {\"y\"}, {\"z\"}]",
     "[{\"z\"}, {\"x\"}, {\"y\"}]",
     3,
     {64, 64, 64}},
    {"rows to columns", "<[\"x\"=64]>", "[{\"x\"}, {}]", "[{}, {\"x\"}]", 2, {1024, 1024}},
    {"rows to replicated", "<[\"x\"=64]>", "[{\"x\"}, {}]", "[{}, {}]", 2, {1024, 1024}},
    {"replicas to replicated",
     "<[\"x\"=8, \"y\"=8]>",
     "[{\"x\"}, {}]",
     "[{}, {}]",
     2,
     {1024, 1024}},
    {"uneven replicas",
     "<[\"x\"=8, \"y\"=8]>",
     "[{\"x\"}, {}]",
     "[{}, {\"y\", \"x\"}]",
     2,
     {1001, 1003}},
    {"axes turned, 3-D",
     "<[\"x\"=4, \"y\"=4, \"z\"=4]>",
     "[{\"x\"}, {\"y\"}, {\"z\"}]",
     "[{\"z\"}, {\"x\"}, {\"y\"}]",
     3,
     {64, 64, 64}},
};

typedef struct planning {
    tsr_context *ctx;
    tsr_arena *arena;
    const bench_case *of;
    const tsr_geometry *src;
    const tsr_geometry *dst;
    int64_t devices;
    plan_store store;
    plan_cache cache;
} planning;

typedef struct box {
    int64_t start[MAX_RANK];
    int64_t size[MAX_RANK];
} box;

static const tsr_plan *make_plan(const planning *p)
{
    const tsr_plan *plan = NULL;
    INSIST(tsr_plan_create(p->ctx, p->arena, p->src, p->dst, TSR_I8, &plan) == TSR_OK);
    return plan;
}

/* The elements that all devices receive from others, by their parts. */
static int64_t by_plan(void *state)
{
    const planning *p = state;
    const tsr_arena_mark mark = tsr_arena_get_mark(p->arena);
    const tsr_plan *plan = make_plan(p);
    int64_t sum = 0;
    for (int64_t device = 0; device < p->devices; device++) {
        plan_part part;
        INSIST(plan_part_create(p->ctx, p->arena, plan, device, PART_BOTH, &part) == TSR_OK);
        for (size_t i = 0; i < part.receives[0].count; i++) {
            const plan_move *move = &part.receives[0].list[i];
            sum += move->peer != device ? move->elements : 0;
        }
    }
    tsr_arena_reset(p->arena, mark);
    return sum;
}

static int64_t by_cache(void *state)
{
    planning *p = state;
    const cached_plan *plan = NULL;
    INSIST(plan_cache_get(&p->cache, p->ctx, p->src, p->dst, TSR_I8, &plan) == TSR_OK);
    INSIST(plan_cache_get_part(&p->cache, p->ctx, plan, 0, PART_BOTH) == TSR_OK);
    plan_cache_put(&p->cache, plan);
    return 1;
}

/* As a redistribution without a cache does it: in an arena of its own. */
static int64_t by_fresh_plan(void *state)
{
    planning p = *(const planning *)state;
    INSIST(tsr_arena_create(p.ctx, &p.arena) == TSR_OK);
    const tsr_plan *plan = make_plan(&p);
    plan_part part;
    INSIST(plan_part_create(p.ctx, p.arena, plan, 0, PART_BOTH, &part) == TSR_OK);
    tsr_arena_destroy(p.arena);
    return 1;
}

static int64_t common(const planning *p, const box *a, const box *b)
{
    int64_t elements = 1;
    for (size_t i = 0; i < p->of->rank; i++) {
        const int64_t start = a->start[i] > b->start[i] ? a->start[i] : b->start[i];
        const int64_t end_a = a->start[i] + a->size[i];
        const int64_t end_b = b->start[i] + b->size[i];
        const int64_t end = end_a < end_b ? end_a : end_b;
        elements *= end > start ? end - start : 0;
    }
    return elements;
}

static bool same_box(const planning *p, const box *a, const box *b)
{
    for (size_t i = 0; i < p->of->rank; i++) {
        if (a->start[i] != b->start[i] || a->size[i] != b->size[i]) {
            return false;
        }
    }
    return true;
}

/*
 * What each device lacks, from the first of the devices that hold a box; the sending is not
 * balanced.
 */
static int64_t by_boxes(void *state)
{
    const planning *p = state;
    box from[MAX_DEVICES];
    bool first[MAX_DEVICES];
    int64_t sum = 0;
    for (int64_t d = 0; d < p->devices; d++) {
        INSIST(tsr_geometry_box(p->src, d, from[d].start, from[d].size));
        first[d] = true;
        for (int64_t e = 0; e < d && first[d]; e++) {
            first[d] = !same_box(p, &from[d], &from[e]);
        }
    }
    for (int64_t d = 0; d < p->devices; d++) {
        box to;
        INSIST(tsr_geometry_box(p->dst, d, to.start, to.size));
        for (int64_t e = 0; e < p->devices; e++) {
            sum += first[e] && !same_box(p, &from[d], &from[e]) ? common(p, &to, &from[e]) : 0;
        }
    }
    return sum;
}

static const tsr_geometry *prepare(const planning *p, const tsr_mesh *mesh, const char *text)
{
    const tsr_sharding *sharding;
    const tsr_geometry *geometry;
    INSIST(tsr_sharding_parse(p->ctx, p->arena, mesh, text, &sharding) == TSR_OK);
    INSIST(tsr_geometry_create(p->ctx, p->arena, sharding, p->of->rank, p->of->shape, &geometry) ==
           TSR_OK);
    return geometry;
}

/* Finds the plan among as many others as are kept. */
static void run_cache(planning *p)
{
    timing found = {0};
    timing made = {0};
    plan_store_init(&p->store, p->ctx);
    p->cache = plan_cache_new(&p->store, PLAN_CACHE_DEFAULT);
    for (int dtype = 0; dtype < tsr_dtype_count(); dtype++) {
        const cached_plan *plan = NULL;
        INSIST(plan_cache_get(&p->cache, p->ctx, p->src, p->dst, (tsr_dtype)dtype, &plan) ==
               TSR_OK);
        plan_cache_put(&p->cache, plan);
    }
    race(by_cache, by_fresh_plan, p, p->devices > 8 ? 20 : 500, &found, &made);
    INSIST(found.answer == made.answer && p->cache.hits > p->cache.misses);
    printf("{\"bench\": \"plan cache\", \"case\": \"%s\", \"devices\": %lld, \"plans\": %zu, "
           "\"microseconds\": %.3f, \"spread\": %.2f, \"peer\": \"the plan made anew\", "
           "\"peer_microseconds\": %.2f, \"ratio\": %.4f}\n",
           p->of->name, (long long)p->devices, p->cache.count, 1e6 * found.median, found.spread,
           1e6 * made.median, found.median / made.median);
    plan_cache_clear(&p->cache);
    plan_store_destroy(&p->store);
}

static void run(tsr_context *ctx, const bench_case *of)
{
    planning p = {.ctx = ctx, .of = of};
    const tsr_mesh *mesh;
    timing ours = {0};
    timing theirs = {0};
    INSIST(tsr_arena_create(ctx, &p.arena) == TSR_OK);
    INSIST(tsr_mesh_parse(ctx, p.arena, of->mesh, &mesh) == TSR_OK);
    p.devices = tsr_mesh_num_devices(mesh);
    p.src = prepare(&p, mesh, of->from);
    p.dst = prepare(&p, mesh, of->to);
    race(by_plan, by_boxes, &p, p.devices > 8 ? 20 : 500, &ours, &theirs);
    tsr_plan_totals totals;
    INSIST(tsr_plan_total(ctx, make_plan(&p), &totals) == TSR_OK);
    INSIST(ours.answer == theirs.answer && totals.moved == theirs.answer);
    printf("{\"bench\": \"plan\", \"case\": \"%s\", \"devices\": %lld, \"microseconds\": %.2f, "
           "\"spread\": %.2f, \"most_sent\": %lld, \"peer\": \"boxes of all pairs\", "
           "\"peer_microseconds\": %.2f, \"ratio\": %.2f}\n",
           of->name, (long long)p.devices, 1e6 * ours.median, ours.spread,
           (long long)totals.most_sent, 1e6 * theirs.median, ours.median / theirs.median);
    run_cache(&p);
    tsr_arena_destroy(p.arena);
}

/* A tensor of 256 elements between two threads. */
static const bench_case tiny = {
    "tiny, 2 threads", "<[\"x\"=2]>", "[{\"x\"}, {}]", "[{}, {\"x\"}]", 2, {16, 16}};

/* The tensors of one rank. */
typedef struct tiny_pair {
    tsr_tensor *src;
    tsr_tensor *dst;
} tiny_pair;

static int64_t redistribute_tiny(void *state)
{
    const tiny_pair *t = state;
    INSIST(tsr_redistribute_into(t->dst, t->src) == TSR_OK);
    return 1;
}

/* Both contestants are the same: every rank must make as many calls. Rank 0 returns the time. */
static tsr_status run_tiny(tsr_comm *world, void *state)
{
    planning p = {.ctx = tsr_comm_context(world), .of = &tiny};
    const tsr_mesh *mesh;
    tiny_pair t = {0};
    timing one = {0};
    timing other = {0};
    INSIST(tsr_arena_create(p.ctx, &p.arena) == TSR_OK);
    INSIST(tsr_mesh_parse(p.ctx, p.arena, tiny.mesh, &mesh) == TSR_OK);
    const tsr_tensor_spec from = {tsr_geometry_sharding(prepare(&p, mesh, tiny.from)), TSR_F32,
                                  tiny.rank, tiny.shape};
    const tsr_tensor_spec to = {tsr_geometry_sharding(prepare(&p, mesh, tiny.to)), TSR_F32,
                                tiny.rank, tiny.shape};
    INSIST(tsr_tensor_create(world, &from, &t.src) == TSR_OK);
    INSIST(tsr_tensor_create(world, &to, &t.dst) == TSR_OK);
    race(redistribute_tiny, redistribute_tiny, &t, 2000, &one, &other);
    if (tsr_comm_rank(world) == 0) {
        *(double *)state = one.median;
    }
    tsr_tensor_release(t.src);
    tsr_tensor_release(t.dst);
    tsr_arena_destroy(p.arena);
    return TSR_OK;
}

static void compare_tiny(tsr_context *ctx)
{
    planning p = {.ctx = ctx, .of = &tiny};
    const tsr_launch_spec spec = {.num_ranks = 2};
    const tsr_mesh *mesh;
    double whole = 0;
    timing found = {0};
    timing made = {0};
    INSIST(tsr_launch(ctx, &spec, run_tiny, &whole) == TSR_OK);
    INSIST(tsr_arena_create(ctx, &p.arena) == TSR_OK);
    INSIST(tsr_mesh_parse(ctx, p.arena, tiny.mesh, &mesh) == TSR_OK);
    p.src = prepare(&p, mesh, tiny.from);
    p.dst = prepare(&p, mesh, tiny.to);
    plan_store_init(&p.store, ctx);
    p.cache = plan_cache_new(&p.store, PLAN_CACHE_DEFAULT);
    race(by_cache, by_fresh_plan, &p, 2000, &found, &made);
    printf("{\"bench\": \"plan of a tiny redistribution\", \"case\": \"%s\", "
           "\"microseconds\": %.3f, \"made_anew_microseconds\": %.3f, "
           "\"found_microseconds\": %.3f, \"saving\": %.2f}\n",
           tiny.name, 1e6 * whole, 1e6 * made.median, 1e6 * found.median,
           (made.median - found.median) / whole);
    plan_cache_clear(&p.cache);
    plan_store_destroy(&p.store);
    tsr_arena_destroy(p.arena);
}

/* Layouts whose plans are made on more and more devices, an x times y mesh. */
static const struct {
    const char *name;
    const char *from;
    const char *to;
} growing[] = {
    {"rows to columns", "[{\"x\", \"y\"}, {}]", "[{}, {\"x\", \"y\"}]"},
    {"rows to columns, uneven", "[{\"y\", \"x\"}, {}]", "[{}, {\"x\", \"y\"}]"},
    {"replicas to replicated", "[{\"x\"}, {}]", "[{}, {}]"},
    {"replicas to columns", "[{\"x\"}, {}]", "[{}, {\"y\"}]"},
    {"replicas to shards", "[{\"x\"}, {}]", "[{\"y\", \"x\"}, {}]"},
};

static const struct {
    const char *mesh;
    int64_t devices;
} meshes[] = {{"<[\"x\"=8, \"y\"=8]>", 64},
              {"<[\"x\"=16, \"y\"=32]>", 512},
              {"<[\"x\"=64, \"y\"=64]>", 4096},
              {"<[\"x\"=64, \"y\"=128]>", 8192},
              {"<[\"x\"=128, \"y\"=256]>", 32768}};

/* A plan on a mesh that grows, and the devices whose parts are made. */
typedef struct growth {
    planning p;
    const tsr_plan *plan;
} growth;

enum { SAMPLED = 16 };

/* The moves of sixteen devices, by their parts. */
static int64_t by_part(void *state)
{
    const growth *g = state;
    const planning *p = &g->p;
    const tsr_arena_mark mark = tsr_arena_get_mark(p->arena);
    int64_t moves = 0;
    for (int64_t i = 0; i < SAMPLED; i++) {
        const int64_t device = i * (p->devices - 1) / (SAMPLED - 1);
        plan_part part;
        INSIST(plan_part_create(p->ctx, p->arena, g->plan, device, PART_BOTH, &part) == TSR_OK);
        moves += (int64_t)part.num_moves;
    }
    tsr_arena_reset(p->arena, mark);
    return moves;
}

/* The plan, and what all devices receive. */
static int64_t by_structure(void *state)
{
    const growth *g = state;
    const tsr_arena_mark mark = tsr_arena_get_mark(g->p.arena);
    const int64_t moved = plan_bytes_moved(make_plan(&g->p));
    tsr_arena_reset(g->p.arena, mark);
    return moved;
}

static void run_growing(tsr_context *ctx, size_t row)
{
    double first = 0;
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        const bench_case of = {
            growing[row].name, meshes[i].mesh, growing[row].from, growing[row].to, 2,
            {65537, 32771}};
        growth g = {.p = {.ctx = ctx, .of = &of, .devices = meshes[i].devices}};
        const tsr_mesh *mesh;
        timing part = {0};
        timing whole = {0};
        INSIST(tsr_arena_create(ctx, &g.p.arena) == TSR_OK);
        INSIST(tsr_mesh_parse(ctx, g.p.arena, of.mesh, &mesh) == TSR_OK);
        g.p.src = prepare(&g.p, mesh, of.from);
        g.p.dst = prepare(&g.p, mesh, of.to);
        g.plan = make_plan(&g.p);
        race(by_part, by_structure, &g, 9, &part, &whole);
        const double per_move = 1e9 * part.median / (double)part.answer;
        first = i == 0 ? per_move : first;
        printf("{\"bench\": \"plan of a rank\", \"case\": \"%s\", \"devices\": %lld, "
               "\"moves\": %.1f, \"microseconds\": %.2f, \"nanoseconds_a_move\": %.1f, "
               "\"growth\": %.2f, \"plan_and_total_microseconds\": %.2f}\n",
               of.name, (long long)g.p.devices, (double)part.answer / SAMPLED,
               1e6 * part.median / SAMPLED, per_move, per_move / first, 1e6 * whole.median);
        tsr_arena_destroy(g.p.arena);
    }
}

/* A redistribution in an abstract world, noted in the trace. */
typedef struct traced {
    tsr_tensor *src;
    const tsr_sharding *to;
} traced;

static int64_t redistribute_traced(void *state)
{
    traced *t = state;
    tsr_tensor *out = NULL;
    INSIST(tsr_with_sharding(t->src, t->to, &out) == TSR_OK);
    tsr_tensor_release(out);
    return 1;
}

/* Times the first such call, whose plan is not yet known, and those that find it. */
static tsr_status run_traced(tsr_comm *world, void *state)
{
    const bench_case *of = state;
    planning p = {.ctx = tsr_comm_context(world), .of = of};
    const tsr_mesh *mesh;
    traced t = {0};
    timing one = {0};
    timing other = {0};
    INSIST(tsr_arena_create(p.ctx, &p.arena) == TSR_OK);
    INSIST(tsr_mesh_parse(p.ctx, p.arena, of->mesh, &mesh) == TSR_OK);
    const tsr_tensor_spec spec = {tsr_geometry_sharding(prepare(&p, mesh, of->from)), TSR_F32,
                                  of->rank, of->shape};
    t.to = tsr_geometry_sharding(prepare(&p, mesh, of->to));
    INSIST(tsr_abstract(world, &spec, &t.src) == TSR_OK);
    INSIST(tsr_trace_begin(world) == TSR_OK);
    const double start = seconds();
    (void)redistribute_traced(&t);
    const double cold = seconds() - start;
    race(redistribute_traced, redistribute_traced, &t, 200, &one, &other);
    printf("{\"bench\": \"traced redistribution\", \"case\": \"%s\", \"devices\": %lld, "
           "\"first_microseconds\": %.2f, \"microseconds\": %.2f}\n",
           of->name, (long long)tsr_comm_size(world), 1e6 * cold, 1e6 * one.median);
    tsr_trace_end(world);
    tsr_tensor_release(t.src);
    tsr_arena_destroy(p.arena);
    return TSR_OK;
}

static void run_all_traced(tsr_context *ctx)
{
    for (size_t i = 0; i < sizeof growing / sizeof growing[0]; i++) {
        bench_case of = {
            growing[i].name, "<[\"x\"=256, \"y\"=256]>", growing[i].from, growing[i].to, 2,
            {65537, 32771}};
        INSIST(tsr_launch_abstract(ctx, 65536, 4097, run_traced, &of) == TSR_OK);
    }
}

int main(void)
{
    tsr_context *ctx;
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(ctx, &cases[i]);
    }
    for (size_t i = 0; i < sizeof growing / sizeof growing[0]; i++) {
        run_growing(ctx, i);
    }
    run_all_traced(ctx);
    compare_tiny(ctx);
    tsr_context_destroy(ctx);
    return 0;
}
