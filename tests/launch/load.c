/*
 * A transfer on a machine under load completes even where it takes longer than the time-out, which
 * counts from progress: 256 MiB, or 512 where those take less than a second, and 2 GiB where
 * TSR_PROP_SCALE is 16 or more. A first transfer says how long it takes, the time-out of the next
 * ones is half of that; it must be longer than the turn of a process among others.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "random.h"
#include "rt/barrier.h"
#include "want.h"

enum { RANKS = 2, SPINNERS = 4, COLUMNS = 4096, TRIALS = 5 };

/* What all processes see. */
typedef struct shared {
    int64_t num_rows;
    atomic_int ready;   /* ranks that have made their rows */
    atomic_bool loaded; /* the spinners compute */
    double took;        /* the transfer, in seconds */
} shared;

/* Computes while the machine is to be loaded; ends with the test, however that ends. */
static _Noreturn void spin(const shared *s)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        if (!atomic_load_explicit(&s->loaded, memory_order_relaxed)) {
            (void)usleep(1000);
        }
    }
}

static void start_spinners(const shared *s, pid_t *spinners)
{
    for (int i = 0; i < SPINNERS; i++) {
        spinners[i] = fork();
        assert_true(spinners[i] >= 0);
        if (spinners[i] == 0) {
            spin(s);
        }
    }
}

static void stop_spinners(const pid_t *spinners)
{
    for (int i = 0; i < SPINNERS; i++) {
        (void)kill(spinners[i], SIGKILL);
        (void)waitpid(spinners[i], NULL, 0);
    }
}

/* Until all ranks have made their rows, however long that takes: the time-out is for the transfer.
 */
static void wait_for_all(shared *s)
{
    atomic_fetch_add(&s->ready, 1);
    while (atomic_load(&s->ready) < RANKS) {
        (void)usleep(1000);
    }
}

/* Rows to columns, with each element its row. The load is on during the transfer only. */
static tsr_status move_much(tsr_comm *world, void *state)
{
    shared *s = state;
    const int64_t shape[] = {s->num_rows, COLUMNS};
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *layouts[2] = {NULL, NULL};
    tsr_tensor *rows = NULL;
    tsr_tensor *columns = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_parse(ctx, arena, "<[\"x\"=2]>", &mesh));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, "[{\"x\"}, {}]", &layouts[0]));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, "[{}, {\"x\"}]", &layouts[1]));
    const tsr_tensor_spec spec = {layouts[0], TSR_I32, 2, shape};
    TSR_TRY(tsr_iota(world, &spec, 0, &rows));
    wait_for_all(s);
    const double start = clock_seconds();
    atomic_store(&s->loaded, true);
    TSR_TRY(tsr_redistribute(rows, layouts[1], &columns));
    if (tsr_comm_rank(world) == 0) {
        s->took = clock_seconds() - start;
    }
    const int32_t *part = tsr_tensor_data(columns);
    for (int64_t i = 0; i < shape[0]; i++) {
        const int64_t at = i * (COLUMNS / 2) + i % (COLUMNS / 2);
        WANT(world, part[at] == (int32_t)i);
    }
    tsr_tensor_release(rows);
    tsr_tensor_release(columns);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/* Returns how long the transfer took. */
static double transfer(fixture *f, shared *s, double timeout)
{
    const tsr_launch_spec spec = {
        .num_ranks = RANKS, .ranks = TSR_RANKS_PROCESSES, .timeout = timeout};
    atomic_store(&s->ready, 0);
    const tsr_status status = tsr_launch(f->ctx, &spec, move_much, s);
    atomic_store(&s->loaded, false);
    if (status < 0) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
    printf("%lld MiB took %.2f s, the time-out is %.2f s\n",
           (long long)(s->num_rows * COLUMNS * 4 >> 20), s->took, timeout);
    return s->took;
}

static void a_slow_transfer_completes(void **state)
{
    fixture *f = *state;
    const int64_t megabytes = prop_cases(1) >= 16 ? 2048 : 256;
    pid_t spinners[SPINNERS];
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(s, MAP_FAILED);
    s->num_rows = megabytes * (1 << 20) / 4 / COLUMNS;
    start_spinners(s, spinners);
    double took = transfer(f, s, 60);
    if (took < 1 && megabytes == 256) {
        s->num_rows *= 2;
        took = transfer(f, s, 60);
    }
    bool slow = false;
    for (int i = 0; i < TRIALS && !slow; i++) {
        const double timeout = took / 2;
        took = transfer(f, s, timeout);
        slow = took > timeout;
    }
    stop_spinners(spinners);
    assert_true(slow);
    assert_int_equal(munmap(s, sizeof *s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(a_slow_transfer_completes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
