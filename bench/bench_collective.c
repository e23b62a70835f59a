/*
 * Collectives on two threads: the latency of small ones, and of the large ones those that are not
 * among the works of works.h, beside memcpy by the same ranks of as many bytes as each shard holds
 * (the larger of source and destination).
 */
#include <string.h>

#include <tessera/collective.h>

#include "bench.h"

enum { RANKS = 2, TRIES = 10, CALLS = 500 };

/* A small call, made many times. */
typedef struct small_case {
    const char *name;
    double wanted; /* microseconds */
    tsr_status (*call)(tsr_comm *comm);
} small_case;

static tsr_status barrier_once(tsr_comm *comm)
{
    return tsr_barrier(comm);
}

static tsr_status reduce_once(tsr_comm *comm)
{
    double value = (double)tsr_comm_rank(comm) + 1;
    double sum = 0;
    const tsr_view src = {.data = &value, .dtype = TSR_F64};
    const tsr_view dst = {.data = &sum, .dtype = TSR_F64};
    const tsr_status status = tsr_comm_all_reduce(comm, TSR_REDUCE_SUM, &src, &dst);
    INSIST(sum == 3);
    return status;
}

static tsr_status broadcast_once(tsr_comm *comm)
{
    int64_t value = tsr_comm_rank(comm) == 0 ? 5 : 0;
    const tsr_view view = {.data = &value, .dtype = TSR_I64};
    const tsr_status status = tsr_comm_broadcast(comm, &view, 0);
    INSIST(value == 5);
    return status;
}

static const small_case small_cases[] = {
    {"barrier", 0.5, barrier_once},
    {"all-reduce of 8 bytes", 0.5, reduce_once},
    {"broadcast of 8 bytes", 0.5, broadcast_once},
};

static void bench_small(tsr_comm *comm, const small_case *c)
{
    double samples[TRIES];
    for (int i = 0; i < TRIES; i++) {
        INSIST(tsr_barrier(comm) == TSR_OK);
        const double start = seconds();
        for (int k = 0; k < CALLS; k++) {
            INSIST(c->call(comm) == TSR_OK);
        }
        samples[i] = (seconds() - start) / CALLS;
    }
    qsort(samples, TRIES, sizeof samples[0], by_value);
    if (tsr_comm_rank(comm) == 0) {
        printf("{\"bench\": \"collective\", \"case\": \"%s\", \"ranks\": %d, \"kind\": "
               "\"threads\", \"best_of_ten_us\": %.3f, \"median_us\": %.3f, \"wanted_us\": %.1f}\n",
               c->name, RANKS, 1e6 * samples[0], 1e6 * samples[TRIES / 2], c->wanted);
    }
}

/* One rank's arrays: f32 matrices of 1024 columns. */
typedef struct rank_bench {
    tsr_comm *comm;
    tsr_view src;
    tsr_view dst;
    int64_t src_shape[2];
    int64_t dst_shape[2];
    char *from;
    char *to;
    size_t bytes;
} rank_bench;

typedef struct large_case {
    const char *name;
    int src_parts; /* of the whole, over the ranks: 2 is a shard of a half */
    int dst_parts;
    bool by_columns; /* how the destination is cut */
    tsr_status (*call)(rank_bench *b);
} large_case;

static tsr_status all_reduce_in_place(rank_bench *b)
{
    return tsr_comm_all_reduce(b->comm, TSR_REDUCE_MAX, &b->src, &b->src);
}

static tsr_status all_to_all(rank_bench *b)
{
    return tsr_comm_all_to_all(b->comm, &b->src, 1, 0, &b->dst);
}

static tsr_status broadcast(rank_bench *b)
{
    return tsr_comm_broadcast(b->comm, &b->src, 0);
}

static const large_case large_cases[] = {
    {"all-reduce in place", 1, 1, false, all_reduce_in_place},
    {"all-to-all, columns to rows", 2, 2, true, all_to_all},
    {"broadcast", 1, 1, false, broadcast},
};

static double time_ours(rank_bench *b, const large_case *c)
{
    INSIST(tsr_barrier(b->comm) == TSR_OK);
    const double start = seconds();
    INSIST(c->call(b) == TSR_OK);
    return seconds() - start;
}

static double time_memcpy(rank_bench *b)
{
    INSIST(tsr_barrier(b->comm) == TSR_OK);
    const double start = seconds();
    memcpy(b->to, b->from, b->bytes);
    INSIST(tsr_barrier(b->comm) == TSR_OK);
    return seconds() - start;
}

static double median(double *samples, double *spread)
{
    qsort(samples, ROUNDS, sizeof *samples, by_value);
    *spread = (samples[ROUNDS - 1] - samples[0]) / samples[ROUNDS / 2];
    return samples[ROUNDS / 2];
}

static void race_memcpy(rank_bench *b, const large_case *c, int64_t mebibytes)
{
    double ours[ROUNDS];
    double theirs[ROUNDS];
    double spread;
    double unused;
    (void)time_ours(b, c);
    (void)time_memcpy(b);
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = time_ours(b, c);
        theirs[i] = time_memcpy(b);
    }
    const double a = median(ours, &spread);
    const double m = median(theirs, &unused);
    if (tsr_comm_rank(b->comm) == 0) {
        printf("{\"bench\": \"collective\", \"case\": \"%s\", \"ranks\": %d, \"kind\": "
               "\"threads\", \"mebibytes\": %lld, \"milliseconds\": %.3f, \"spread\": %.2f, "
               "\"limit\": \"memcpy of %zu bytes by each rank\", \"limit_milliseconds\": %.3f, "
               "\"ratio\": %.2f}\n",
               c->name, RANKS, (long long)mebibytes, 1e3 * a, spread, b->bytes, 1e3 * m, a / m);
        (void)fflush(stdout);
    }
}

static char *touched(size_t bytes)
{
    char *memory = malloc(bytes);
    INSIST(memory != NULL);
    memset(memory, 1, bytes);
    return memory;
}

static void bench_large(tsr_comm *comm, const large_case *c, int64_t mebibytes)
{
    const int64_t rows = mebibytes * 256;
    rank_bench b = {.comm = comm,
                    .src_shape = {rows / c->src_parts, 1024},
                    .dst_shape = {c->by_columns ? rows : rows / c->dst_parts,
                                  c->by_columns ? 1024 / c->dst_parts : 1024}};
    const size_t in = (size_t)(b.src_shape[0] * b.src_shape[1] * 4);
    const size_t out = (size_t)(b.dst_shape[0] * b.dst_shape[1] * 4);
    b.bytes = in > out ? in : out;
    b.src = (tsr_view){touched(in), TSR_F32, 2, b.src_shape, NULL};
    b.dst = (tsr_view){touched(out), TSR_F32, 2, b.dst_shape, NULL};
    b.from = touched(b.bytes);
    b.to = touched(b.bytes);
    race_memcpy(&b, c, mebibytes);
    free(b.src.data);
    free(b.dst.data);
    free(b.from);
    free(b.to);
}

static tsr_status run_rank(tsr_comm *comm, void *state)
{
    static const int64_t sizes[] = {1, 64};
    (void)state;
    for (size_t i = 0; i < sizeof small_cases / sizeof small_cases[0]; i++) {
        bench_small(comm, &small_cases[i]);
    }
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (size_t i = 0; i < sizeof large_cases / sizeof large_cases[0]; i++) {
            bench_large(comm, &large_cases[i], sizes[s]);
        }
    }
    return TSR_OK;
}

int main(void)
{
    tsr_context *ctx;
    const tsr_launch_spec spec = {.num_ranks = RANKS};
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    INSIST(tsr_launch(ctx, &spec, run_rank, NULL) == TSR_OK);
    tsr_context_destroy(ctx);
    return 0;
}
