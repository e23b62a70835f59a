/*
 * Eager calls: what a call costs above its kernel at one rank, and what types cost above that;
 * chains of products on two ranks, sharded by rows, by columns and by contraction, beside one rank
 * that has both cores for its CBLAS.
 */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "kernel/elementwise.h"

enum { CALLS = 20000, SIDE = 1536, LAYERS = 4, TRIES = 7 };

/* ---- overhead ---- */

typedef struct small_call {
    tsr_tensor *a;
    tsr_tensor *b;
    float direct[4];
} small_call;

static int64_t by_call(void *state)
{
    const small_call *s = state;
    tsr_tensor *out = NULL;
    INSIST(tsr_add(s->a, s->b, &out) == TSR_OK);
    const float first = *(const float *)tsr_tensor_data(out);
    tsr_tensor_release(out);
    return (int64_t)first;
}

static int64_t by_kernel(void *state)
{
    small_call *s = state;
    const int64_t shape[] = {4};
    const int64_t strides[] = {4};
    const tsr_view a = {tsr_tensor_data(s->a), TSR_F32, 1, shape, strides};
    const tsr_view b = {tsr_tensor_data(s->b), TSR_F32, 1, shape, strides};
    const tsr_view out = {s->direct, TSR_F32, 1, shape, strides};
    kernel_binary(BINARY_ADD, &out, &a, &b);
    return (int64_t)s->direct[0];
}

static tsr_status layout_of(tsr_comm *world, tsr_arena *arena, const char *text,
                            const tsr_sharding **out)
{
    const tsr_mesh *mesh = NULL;
    char axes[32];
    (void)snprintf(axes, sizeof axes, "<[\"x\"=%lld]>", (long long)tsr_comm_size(world));
    INSIST(tsr_mesh_parse(tsr_comm_context(world), arena, axes, &mesh) == TSR_OK);
    return tsr_sharding_parse(tsr_comm_context(world), arena, mesh, text, out);
}

static tsr_status bench_overhead(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_sharding *whole = NULL;
    const int64_t shape[] = {4};
    small_call s;
    timing call;
    timing kernel;
    (void)state;
    INSIST(tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK);
    INSIST(layout_of(world, arena, "[{}]", &whole) == TSR_OK);
    const tsr_tensor_spec spec = {whole, TSR_F32, 1, shape};
    INSIST(tsr_fill(world, &spec, 2, &s.a) == TSR_OK);
    INSIST(tsr_fill(world, &spec, 3, &s.b) == TSR_OK);
    race(by_call, by_kernel, &s, CALLS, &call, &kernel);
    INSIST(call.answer == 5 && kernel.answer == 5);
    const double above = (call.median - kernel.median) * 1e6;
    printf("{\"bench\": \"eager call\", \"case\": \"add of 4 f32, above its kernel\", "
           "\"microseconds\": %.3f, \"kernel_microseconds\": %.3f, \"spread\": %.2f, "
           "\"wanted\": 2, \"met\": %s}\n",
           above, kernel.median * 1e6, call.spread, above <= 2 ? "true" : "false");
    tsr_tensor_release(s.a);
    tsr_tensor_release(s.b);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/* A local call by every rank; rank 0's median, in microseconds. */
static tsr_status time_local_calls(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_sharding *whole = NULL;
    const int64_t shape[] = {4};
    double samples[ROUNDS];
    small_call s;
    INSIST(tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK);
    INSIST(layout_of(world, arena, "[{}]", &whole) == TSR_OK);
    const tsr_tensor_spec spec = {whole, TSR_F32, 1, shape};
    INSIST(tsr_fill(world, &spec, 2, &s.a) == TSR_OK);
    INSIST(tsr_fill(world, &spec, 3, &s.b) == TSR_OK);
    for (int round = 0; round < ROUNDS; round++) {
        INSIST(tsr_barrier(world) == TSR_OK);
        const double start = seconds();
        for (int i = 0; i < CALLS; i++) {
            INSIST(by_call(&s) == 5);
        }
        samples[round] = (seconds() - start) / CALLS;
    }
    qsort(samples, ROUNDS, sizeof samples[0], by_value);
    if (tsr_comm_rank(world) == 0) {
        *(double *)state = samples[ROUNDS / 2] * 1e6;
    }
    tsr_tensor_release(s.a);
    tsr_tensor_release(s.b);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/* What it costs to compare calls: nothing on one rank, at the next rendezvous, at each call. */
static void bench_compared(tsr_context *ctx)
{
    double medians[3];
    for (int i = 0; i < 3; i++) {
        const tsr_launch_spec spec = {
            .num_ranks = i > 0 ? 2 : 1, .ranks = TSR_RANKS_THREADS, .checked = i == 2};
        INSIST(tsr_launch(ctx, &spec, time_local_calls, &medians[i]) == TSR_OK);
    }
    printf("{\"bench\": \"eager call\", \"case\": \"add of 4 f32 on each of 2 ranks\", "
           "\"microseconds\": %.3f, \"checked_microseconds\": %.3f, "
           "\"one_rank_microseconds\": %.3f}\n",
           medians[1], medians[2], medians[0]);
}

/* ---- types ---- */

/* Times a call beside another one in turns, in scopes that may differ; above is a less b,
 * microseconds. */
static void time_scopes(tsr_comm *world, small_call *s, const tsr_spmd_scope *scopes,
                        double *medians)
{
    double samples[2][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int c = 0; c < 2; c++) {
            if (scopes[c].mesh != NULL) {
                INSIST(tsr_spmd_open(world, &scopes[c]) == TSR_OK);
            }
            const double start = seconds();
            for (int i = 0; i < CALLS; i++) {
                INSIST(by_call(s) == 5);
            }
            samples[c][round] = (seconds() - start) / CALLS;
            if (scopes[c].mesh != NULL) {
                tsr_spmd_close(world);
            }
        }
    }
    for (int c = 0; c < 2; c++) {
        qsort(samples[c], ROUNDS, sizeof samples[c][0], by_value);
        medians[c] = samples[c][ROUNDS / 2] * 1e6;
    }
}

static tsr_status bench_types(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const int64_t shape[] = {4};
    float twos[] = {2, 2, 2, 2};
    float threes[] = {3, 3, 3, 3};
    small_call s;
    (void)state;
    INSIST(tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK);
    INSIST(tsr_mesh_parse(tsr_comm_context(world), arena, "<[\"dp\"=1, \"tp\"=1]>", &mesh) ==
           TSR_OK);
    const tsr_spmd_scope scopes[2][2] = {{{.mesh = mesh}, {0}},
                                         {{.mesh = mesh, .unchecked = true}, {0}}};
    const tsr_view a = {twos, TSR_F32, 1, shape, NULL};
    const tsr_view b = {threes, TSR_F32, 1, shape, NULL};
    INSIST(tsr_spmd_open(world, &scopes[0][0]) == TSR_OK);
    INSIST(tsr_typed_value(world, &a, "f32[4]{dp:V, tp:R}", &s.a) == TSR_OK);
    INSIST(tsr_typed_value(world, &b, "f32[4]{dp:V, tp:R}", &s.b) == TSR_OK);
    tsr_spmd_close(world);
    static const char *const names[] = {"checks on", "checks off"};
    static const double wanted[] = {1, 0.1};
    for (int i = 0; i < 2; i++) {
        double medians[2];
        time_scopes(world, &s, scopes[i], medians);
        const double above = medians[0] - medians[1];
        printf(
            "{\"bench\": \"typed call\", \"case\": \"add of 4 f32, %s, above the untyped call\", "
            "\"microseconds\": %.3f, \"untyped_microseconds\": %.3f, \"wanted\": %.1f, "
            "\"met\": %s}\n",
            names[i], above, medians[1], wanted[i], above <= wanted[i] ? "true" : "false");
    }
    tsr_tensor_release(s.a);
    tsr_tensor_release(s.b);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/* ---- chains of products ---- */

/* x W W .. : the layouts of x and of the weights, which alternate. */
typedef struct chain {
    const char *name;
    const char *x;
    const char *weights[2];
} chain;

static const chain chains[] = {
    {"rows", "[{\"x\"}, {}]", {"[{}, {}]", "[{}, {}]"}},
    {"columns", "[{}, {}]", {"[{}, {\"x\"}]", "[{}, {\"x\"}]"}},
    {"columns, then contraction", "[{}, {}]", {"[{}, {\"x\"}]", "[{\"x\"}, {}]"}},
};
enum { NUM_CHAINS = sizeof chains / sizeof chains[0] };

typedef struct chain_run {
    const chain *chain;
    double median;
    double sum;
} chain_run;

static void small_number(const int64_t *index, void *element, void *state)
{
    const float number = (float)((index[0] * 3 + index[1] + *(const int64_t *)state) % 5 - 2) / 4;
    memcpy(element, &number, sizeof number);
}

static tsr_tensor *matrix(tsr_comm *world, tsr_arena *arena, const char *layout, int64_t seed)
{
    const int64_t shape[] = {SIDE, SIDE};
    const tsr_sharding *sharding = NULL;
    tsr_tensor *t = NULL;
    INSIST(layout_of(world, arena, layout, &sharding) == TSR_OK);
    const tsr_tensor_spec spec = {sharding, TSR_F32, 2, shape};
    INSIST(tsr_zeros(world, &spec, &t) == TSR_OK);
    tsr_tensor_fill(t, small_number, &seed);
    return t;
}

/* All products, with nothing pending at the end. */
static tsr_tensor *multiply(tsr_tensor *x, tsr_tensor *const *weights)
{
    tsr_tensor *product = x;
    tsr_tensor *whole = NULL;
    for (int i = 0; i < LAYERS; i++) {
        INSIST(tsr_matmul(product, weights[i % 2], &product) == TSR_OK);
    }
    INSIST(tsr_reduce_pending(product, &whole) == TSR_OK);
    return whole;
}

static double checksum(tsr_comm *world, tsr_tensor *t)
{
    static float numbers[2][SIDE * SIDE];
    float *full = numbers[tsr_comm_rank(world)];
    double sum = 0;
    INSIST(tsr_tensor_to_full(t, -1, full) == TSR_OK);
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i++) {
        sum += fabs((double)full[i]) * (double)(i % 7 + 1);
    }
    return sum;
}

static tsr_status run_chain(tsr_comm *world, void *state)
{
    chain_run *run = state;
    tsr_arena *arena = NULL;
    double samples[TRIES];
    INSIST(tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK);
    tsr_tensor *x = matrix(world, arena, run->chain->x, 1);
    tsr_tensor *const weights[] = {matrix(world, arena, run->chain->weights[0], 2),
                                   matrix(world, arena, run->chain->weights[1], 3)};
    for (int i = 0; i < TRIES; i++) {
        INSIST(tsr_scope_open(world) == TSR_OK);
        INSIST(tsr_barrier(world) == TSR_OK);
        const double start = seconds();
        tsr_tensor *result = multiply(x, weights);
        INSIST(tsr_barrier(world) == TSR_OK);
        samples[i] = seconds() - start;
        if (i == 0) {
            const double sum = checksum(world, result);
            if (tsr_comm_rank(world) == 0) {
                run->sum = sum;
            }
        }
        tsr_scope_close(world);
    }
    qsort(samples, TRIES, sizeof samples[0], by_value);
    if (tsr_comm_rank(world) == 0) {
        run->median = samples[TRIES / 2];
    }
    tsr_tensor_release(x);
    tsr_tensor_release(weights[0]);
    tsr_tensor_release(weights[1]);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void bench_chain(tsr_context *ctx, const chain *c)
{
    chain_run runs[2] = {{.chain = c}, {.chain = c}};
    for (int i = 0; i < 2; i++) {
        const tsr_launch_spec spec = {.num_ranks = i + 1, .ranks = TSR_RANKS_THREADS};
        INSIST(tsr_launch(ctx, &spec, run_chain, &runs[i]) == TSR_OK);
    }
    INSIST(fabs(runs[0].sum - runs[1].sum) <= 1e-4 * runs[0].sum);
    printf(
        "{\"bench\": \"chain of products\", \"case\": \"%s\", \"side\": %d, \"products\": %d, "
        "\"milliseconds\": %.2f, \"one_rank_two_threads_milliseconds\": %.2f, \"ratio\": %.2f}\n",
        c->name, SIDE, LAYERS, runs[1].median * 1e3, runs[0].median * 1e3,
        runs[1].median / runs[0].median);
}

int main(void)
{
    tsr_context *ctx = NULL;
    const tsr_launch_spec one = {.num_ranks = 1, .ranks = TSR_RANKS_THREADS};
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    INSIST(tsr_launch(ctx, &one, bench_overhead, NULL) == TSR_OK);
    bench_compared(ctx);
    INSIST(tsr_launch(ctx, &one, bench_types, NULL) == TSR_OK);
    for (size_t i = 0; i < NUM_CHAINS; i++) {
        bench_chain(ctx, &chains[i]);
    }
    tsr_context_destroy(ctx);
    return 0;
}
