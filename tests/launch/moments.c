/*
 * A forked rank is killed, crashes or is stopped at a random moment of a training loop: the others
 * end with an error that names it, soon after the time-out at the latest, and nothing is left.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "random.h"
#include "rt/barrier.h"

enum { RANKS = 3, ROWS = 96, ATTEMPTS = 20 };

/* Seconds: the time-out, and what a loaded machine may add to it. */
#define TIMEOUT 0.5
#define SLACK 1.0

/* What all processes see. */
typedef struct shared {
    _Atomic int pids[RANKS];
    _Atomic int steps; /* of rank 0 */
    _Atomic bool over; /* the launch has returned */
    double ended[RANKS];
    double struck; /* 0: not yet */
} shared;

/* One trial: who is struck, how and when. */
typedef struct strike {
    shared *s;
    int victim;
    int number; /* of the signal */
    int after;  /* steps */
    int64_t wait;
} strike;

/* Products, moves, sums and a gradient: calls of every kind. */
static tsr_status take_step(tsr_comm *world, tsr_tensor *x, tsr_tensor *w,
                            const tsr_sharding *columns)
{
    const size_t both[] = {0, 1};
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_tape_begin(world));
    tsr_status status = tsr_watch(w);
    status = status == TSR_OK ? tsr_matmul(x, w, &y) : status;
    status = status == TSR_OK ? tsr_with_sharding(y, columns, &y) : status;
    status = status == TSR_OK ? tsr_sum(y, both, 2, &loss) : status;
    status = status == TSR_OK ? tsr_backward(loss) : status;
    tsr_tape_end(world);
    tsr_scope_close(world);
    return status < 0 ? status : tsr_barrier(world);
}

static tsr_status train(tsr_comm *world, void *state)
{
    shared *s = ((const strike *)state)->s;
    const int64_t rank = tsr_comm_rank(world);
    tsr_context *ctx = tsr_comm_context(world);
    const int64_t shape[] = {ROWS, ROWS};
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *layouts[2] = {NULL, NULL};
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    (void)signal(SIGSEGV, SIG_DFL); /* the test framework's handler would go on with the tests */
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_parse(ctx, arena, "<[\"x\"=3]>", &mesh));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, "[{\"x\"}, {}]", &layouts[0]));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, "[{}, {\"x\"}]", &layouts[1]));
    const tsr_tensor_spec rows = {layouts[0], TSR_F32, 2, shape};
    TSR_TRY(tsr_tensor_create(world, &rows, &x));
    TSR_TRY(tsr_tensor_create(world, &rows, &w));
    atomic_store(&s->pids[rank], (int)getpid());
    tsr_status status = TSR_OK;
    while (status == TSR_OK) {
        status = take_step(world, x, w, layouts[1]);
        if (rank == 0) {
            atomic_fetch_add(&s->steps, 1);
        }
    }
    s->ended[rank] = clock_seconds();
    return status;
}

/* Strikes when the ranks have been at work for a while, unless they are over before. */
static void *run_strike(void *state)
{
    const strike *k = state;
    while (atomic_load(&k->s->steps) < k->after || atomic_load(&k->s->pids[k->victim]) == 0) {
        if (atomic_load(&k->s->over)) {
            return NULL;
        }
        usleep(200);
    }
    usleep((useconds_t)k->wait);
    k->s->struck = clock_seconds();
    (void)kill(atomic_load(&k->s->pids[k->victim]), k->number);
    return NULL;
}

/*
 * How long the last survivor took to notice; negative when one had ended before the strike, as
 * where the machine has no core for a rank within the time-out.
 */
static double survivors_took(const strike *k)
{
    const shared *s = k->s;
    double longest = s->struck > 0 ? 0 : -1;
    for (int i = 0; i < RANKS && longest >= 0; i++) {
        if (i != k->victim && s->ended[i] > 0) {
            const double took = s->ended[i] - s->struck;
            longest = took < 0 || took > longest ? took : longest;
        }
    }
    return longest;
}

/* One moment. Returns how long the last survivor took to notice; negative: they ended before. */
static double attempt(fixture *f, strike *k)
{
    shared *s = k->s;
    const tsr_launch_spec spec = {.num_ranks = RANKS,
                                  .ranks = TSR_RANKS_PROCESSES,
                                  .timeout = TIMEOUT,
                                  .segment_bytes = 1 << 24};
    char victim[32];
    pthread_t thread;
    memset(s, 0, sizeof *s);
    assert_int_equal(pthread_create(&thread, NULL, run_strike, k), 0);
    const tsr_status status = tsr_launch(f->ctx, &spec, train, k);
    atomic_store(&s->over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(status == TSR_ERR_PEER || status == TSR_ERR_TIMEOUT);
    const double took = survivors_took(k);
    (void)snprintf(victim, sizeof victim, "rank %d", k->victim);
    expect_message(f, took < 0 ? "rank" : victim);
    tsr_context_clear(f->ctx);
    for (int i = 0; i < RANKS; i++) {
        const int pid = atomic_load(&s->pids[i]);
        assert_true(i == k->victim || took < 0 || s->ended[i] > 0);
        assert_true(pid > 0 || took < 0);
        assert_true(pid == 0 || kill(pid, 0) == -1);
    }
    return took;
}

/* Tries a moment until the strike comes before the ranks end. Returns how long they took then. */
static double strike_once(fixture *f, rng *r, shared *s)
{
    static const int signals[] = {SIGKILL, SIGSEGV, SIGSTOP};
    strike k = {.s = s,
                .victim = (int)rng_below(r, RANKS),
                .number = signals[rng_below(r, 3)],
                .after = 1 + (int)rng_below(r, 20),
                .wait = rng_below(r, 3000)};
    double took = -1;
    for (int i = 0; i < ATTEMPTS && took < 0; i++) {
        took = attempt(f, &k);
    }
    assert_true(took >= 0);
    return took;
}

static void survivors_notice_soon(void **state)
{
    fixture *f = *state;
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const rng base = rng_start("survivors_notice_soon");
    double longest = 0;
    int64_t count = 0;
    assert_ptr_not_equal(s, MAP_FAILED);
    for (; count < prop_cases(12); count++) {
        rng r = rng_case(&base, (uint64_t)count);
        const double took = strike_once(f, &r, s);
        longest = took > longest ? took : longest;
    }
    printf("%lld moments, the longest wait %.2f s with a time-out of %.2f s\n", (long long)count,
           longest, TIMEOUT);
    assert_true(longest < TIMEOUT + SLACK);
    assert_int_equal(munmap(s, sizeof *s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(survivors_notice_soon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
