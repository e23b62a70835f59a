/*
 * What a run of an empty function costs in an open world: with one rank beside a direct call of the
 * function, with several beside a bare hand-over to as many threads by condition variables.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "bench.h"

enum { MAX_RANKS = 8 };

/* Threads that sleep until a turn begins, and a caller that sleeps until all have had theirs. */
typedef struct hand_over {
    pthread_mutex_t lock;
    pthread_cond_t begins;
    pthread_cond_t ends;
    int64_t turn;
    int64_t left;
    bool closing;
    int64_t num_threads;
    pthread_t threads[MAX_RANKS];
    tsr_world *world;
    _Atomic int64_t calls;
} hand_over;

static tsr_status count_call(tsr_comm *world, void *state)
{
    _Atomic int64_t *calls = state;
    (void)world;
    atomic_fetch_add_explicit(calls, 1, memory_order_relaxed);
    return TSR_OK;
}

static tsr_status do_nothing(tsr_comm *world, void *state)
{
    (void)world;
    (void)state;
    return TSR_OK;
}

static void *take_turns(void *state)
{
    hand_over *h = state;
    (void)pthread_mutex_lock(&h->lock);
    for (int64_t seen = 0;; seen++) {
        while (h->turn == seen) {
            (void)pthread_cond_wait(&h->begins, &h->lock);
        }
        if (h->closing) {
            break;
        }
        (void)pthread_mutex_unlock(&h->lock);
        (void)count_call(NULL, &h->calls);
        (void)pthread_mutex_lock(&h->lock);
        if (--h->left == 0) {
            (void)pthread_cond_signal(&h->ends);
        }
    }
    (void)pthread_mutex_unlock(&h->lock);
    return NULL;
}

static int64_t hand_over_bare(void *state)
{
    hand_over *h = state;
    (void)pthread_mutex_lock(&h->lock);
    h->left = h->num_threads;
    h->turn++;
    (void)pthread_cond_broadcast(&h->begins);
    while (h->left > 0) {
        (void)pthread_cond_wait(&h->ends, &h->lock);
    }
    (void)pthread_mutex_unlock(&h->lock);
    return 0;
}

static int64_t run_counting(void *state)
{
    hand_over *h = state;
    return tsr_world_run(h->world, count_call, &h->calls);
}

/* Through a pointer that the compiler cannot follow, as the library calls it. */
static tsr_rank_function volatile empty = do_nothing;

static int64_t call_directly(void *state)
{
    return empty(tsr_world_comm(((hand_over *)state)->world, 0), NULL);
}

static int64_t run_empty(void *state)
{
    return tsr_world_run(((hand_over *)state)->world, empty, NULL);
}

static tsr_world *open_world(tsr_context *ctx, int64_t num_ranks)
{
    const tsr_launch_spec spec = {.num_ranks = num_ranks, .ranks = TSR_RANKS_THREADS};
    tsr_world *world = NULL;
    INSIST(tsr_world_open(ctx, &spec, &world) == TSR_OK);
    return world;
}

static void bench_one(tsr_context *ctx)
{
    hand_over h = {.world = open_world(ctx, 1)};
    timing run;
    timing call;
    race(run_empty, call_directly, &h, 1000000, &run, &call);
    INSIST(run.answer == TSR_OK && call.answer == TSR_OK);
    printf(
        "{\"bench\": \"run of an open world\", \"ranks\": 1, \"nanoseconds\": %.1f, "
        "\"direct_call_nanoseconds\": %.1f, \"above\": %.1f, \"wanted\": 100, \"spread\": %.2f}\n",
        run.median * 1e9, call.median * 1e9, (run.median - call.median) * 1e9, run.spread);
    INSIST(tsr_world_close(h.world) == TSR_OK);
}

static void bench_several(tsr_context *ctx, int64_t num_ranks)
{
    enum { TIMES = 2000 };
    hand_over h = {.lock = PTHREAD_MUTEX_INITIALIZER,
                   .begins = PTHREAD_COND_INITIALIZER,
                   .ends = PTHREAD_COND_INITIALIZER,
                   .num_threads = num_ranks,
                   .world = open_world(ctx, num_ranks)};
    timing run;
    timing bare;
    for (int64_t i = 0; i < num_ranks; i++) {
        INSIST(pthread_create(&h.threads[i], NULL, take_turns, &h) == 0);
    }
    race(run_counting, hand_over_bare, &h, TIMES, &run, &bare);
    INSIST(h.calls == 2 * num_ranks * TIMES * ROUNDS);
    printf("{\"bench\": \"run of an open world\", \"ranks\": %lld, \"microseconds\": %.2f, "
           "\"condition_variables_microseconds\": %.2f, \"ratio\": %.2f, \"spread\": %.2f}\n",
           (long long)num_ranks, run.median * 1e6, bare.median * 1e6, run.median / bare.median,
           run.spread);
    (void)pthread_mutex_lock(&h.lock);
    h.closing = true;
    h.turn++;
    (void)pthread_cond_broadcast(&h.begins);
    (void)pthread_mutex_unlock(&h.lock);
    for (int64_t i = 0; i < num_ranks; i++) {
        INSIST(pthread_join(h.threads[i], NULL) == 0);
    }
    INSIST(tsr_world_close(h.world) == TSR_OK);
}

int main(void)
{
    tsr_context *ctx = NULL;
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    bench_one(ctx);
    for (int64_t num_ranks = 2; num_ranks <= MAX_RANKS; num_ranks *= 2) {
        bench_several(ctx, num_ranks);
    }
    tsr_context_destroy(ctx);
    return 0;
}
