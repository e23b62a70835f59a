/*
 * Redistribution and reductions on threads and forked processes, beside memcpy by the same ranks of
 * as many bytes as each shard holds: one read and one write of every byte, the limit.
 */
#include <string.h>

#include "bench.h"

/* One reshard of an f32 tensor. */
typedef struct reshard {
    const char *name;
    const char *mesh;
    const char *from;
    const char *to;
    size_t rank;
    int64_t shape[3]; /* for 1 MiB; the first extent grows with the size */
} reshard;

static const reshard reshards[] = {
    {"row to column shards", "<[\"x\"=2]>", "[{\"x\"}, {}]", "[{}, {\"x\"}]", 2, {256, 1024}},
    {"column to row shards", "<[\"x\"=2]>", "[{}, {\"x\"}]", "[{\"x\"}, {}]", 2, {256, 1024}},
    {"first to last dim, 3-D",
     "<[\"x\"=2]>",
     "[{\"x\"}, {}, {}]",
     "[{}, {}, {\"x\"}]",
     3,
     {16, 64, 256}},
    {"all-gather", "<[\"x\"=2]>", "[{\"x\"}, {}]", "[{}, {}]", 2, {256, 1024}},
    {"slice", "<[\"x\"=2]>", "[{}, {}]", "[{\"x\"}, {}]", 2, {256, 1024}},
    {"reduce-scatter",
     "<[\"x\"=2]>",
     "[{}, {}], unreduced={\"x\"}",
     "[{\"x\"}, {}]",
     2,
     {256, 1024}},
    {"all-reduce", "<[\"x\"=2]>", "[{}, {}], unreduced={\"x\"}", "[{}, {}]", 2, {256, 1024}},
    {"uneven dynamic sizes",
     "<[\"x\"=2]>",
     "[{\"x\"}, {}]",
     "[{}, {\"x\"}:dynamic[300, 724]]",
     2,
     {256, 1024}},
};

typedef struct bench_run {
    const reshard *what;
    tsr_ranks kind;
    int64_t megabytes;
} bench_run;

/* One rank's part of a run. */
typedef struct rank_bench {
    tsr_comm *world;
    tsr_tensor *src;
    tsr_tensor *dst;
    char *from;
    char *to;
    size_t bytes;
} rank_bench;

static size_t local_bytes(const tsr_tensor *t)
{
    size_t bytes = (size_t)tsr_dtype_item_bytes(tsr_tensor_dtype(t));
    for (size_t i = 0; i < tsr_tensor_rank(t); i++) {
        bytes *= (size_t)tsr_tensor_local_shape(t)[i];
    }
    return bytes;
}

/* Seconds of one redistribution, from barrier to barrier. */
static double time_ours(rank_bench *b)
{
    INSIST(tsr_barrier(b->world) == TSR_OK);
    const double start = seconds();
    INSIST(tsr_redistribute_into(b->dst, b->src) == TSR_OK);
    return seconds() - start;
}

static double time_memcpy(rank_bench *b)
{
    INSIST(tsr_barrier(b->world) == TSR_OK);
    const double start = seconds();
    memcpy(b->to, b->from, b->bytes);
    INSIST(tsr_barrier(b->world) == TSR_OK);
    return seconds() - start;
}

static double median(double *samples, int count, double *spread)
{
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    *spread = (samples[count - 1] - samples[0]) / samples[count / 2];
    return samples[count / 2];
}

static void report(const bench_run *run, const rank_bench *b, double *ours, double *theirs,
                   int count)
{
    double spread;
    double unused;
    const double a = median(ours, count, &spread);
    const double m = median(theirs, count, &unused);
    printf("{\"bench\": \"redistribute\", \"case\": \"%s\", \"ranks\": 2, \"kind\": \"%s\", "
           "\"mebibytes\": %lld, \"milliseconds\": %.3f, \"spread\": %.2f, \"limit\": \"memcpy of "
           "%zu bytes by each rank\", \"limit_milliseconds\": %.3f, \"ratio\": %.2f}\n",
           run->what->name, run->kind == TSR_RANKS_THREADS ? "threads" : "processes",
           (long long)run->megabytes, 1e3 * a, spread, b->bytes, 1e3 * m, a / m);
    (void)fflush(stdout);
}

static void measure(const bench_run *run, rank_bench *b)
{
    double ours[ROUNDS];
    double theirs[ROUNDS];
    (void)time_ours(b);
    (void)time_memcpy(b);
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = time_ours(b);
        theirs[i] = time_memcpy(b);
    }
    if (tsr_comm_rank(b->world) == 0) {
        report(run, b, ours, theirs, ROUNDS);
    }
}

static const tsr_sharding *parse(tsr_comm *world, tsr_arena *arena, const reshard *r,
                                 const char *text)
{
    const tsr_mesh *mesh;
    const tsr_sharding *sharding;
    tsr_context *ctx = tsr_comm_context(world);
    INSIST(tsr_mesh_parse(ctx, arena, r->mesh, &mesh) == TSR_OK);
    INSIST(tsr_sharding_parse(ctx, arena, mesh, text, &sharding) == TSR_OK);
    return sharding;
}

static tsr_status run_rank(tsr_comm *world, void *state)
{
    const bench_run *run = state;
    const reshard *r = run->what;
    tsr_arena *arena;
    INSIST(tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK);
    const int64_t shape[] = {r->shape[0] * run->megabytes, r->shape[1], r->shape[2]};
    const tsr_tensor_spec from = {parse(world, arena, r, r->from), TSR_F32, r->rank, shape};
    const tsr_tensor_spec to = {parse(world, arena, r, r->to), TSR_F32, r->rank, shape};
    rank_bench b = {.world = world};
    INSIST(tsr_tensor_create(world, &from, &b.src) == TSR_OK);
    INSIST(tsr_tensor_create(world, &to, &b.dst) == TSR_OK);
    const size_t in = local_bytes(b.src);
    const size_t out = local_bytes(b.dst);
    b.bytes = in > out ? in : out;
    b.from = malloc(b.bytes);
    b.to = malloc(b.bytes);
    INSIST(b.from != NULL && b.to != NULL);
    memset(b.from, 1, b.bytes);
    memset(b.to, 2, b.bytes);
    measure(run, &b);
    free(b.from);
    free(b.to);
    tsr_tensor_release(b.dst);
    tsr_tensor_release(b.src);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

int main(void)
{
    static const int64_t sizes[] = {1, 64, 512};
    tsr_context *ctx;
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (size_t i = 0; i < sizeof reshards / sizeof reshards[0]; i++) {
            for (int kind = TSR_RANKS_THREADS; kind <= TSR_RANKS_PROCESSES; kind++) {
                bench_run run = {&reshards[i], (tsr_ranks)kind, sizes[s]};
                const tsr_launch_spec spec = {.num_ranks = 2, .ranks = run.kind};
                INSIST(tsr_launch(ctx, &spec, run_rank, &run) == TSR_OK);
            }
        }
    }
    tsr_context_destroy(ctx);
    return 0;
}
