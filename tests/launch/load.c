/*
 * A transfer on a machine under load completes even where it takes longer than the time-out of two
 * seconds, which counts from progress: 128 MiB, and 2 GiB where TSR_PROP_SCALE is 16 or more.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "random.h"
#include "rt/barrier.h"
#include "want.h"

enum { SPINNERS = 4, COLUMNS = 4096 };

/* Processes that do nothing but compute. */
static void start_load(pid_t *spinners)
{
    for (int i = 0; i < SPINNERS; i++) {
        spinners[i] = fork();
        assert_true(spinners[i] >= 0);
        if (spinners[i] == 0) {
            for (volatile uint64_t n = 0;; n++) {
            }
        }
    }
}

static void stop_load(const pid_t *spinners)
{
    for (int i = 0; i < SPINNERS; i++) {
        (void)kill(spinners[i], SIGKILL);
        (void)waitpid(spinners[i], NULL, 0);
    }
}

/* Rows to columns and back, with each element its row. */
static tsr_status move_much(tsr_comm *world, void *state)
{
    const int64_t shape[] = {*(const int64_t *)state, COLUMNS};
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
    TSR_TRY(tsr_barrier(world));
    const double start = clock_seconds();
    TSR_TRY(tsr_redistribute(rows, layouts[1], &columns));
    if (tsr_comm_rank(world) == 0) {
        printf("%lld MiB took %.2f s\n", (long long)(shape[0] * COLUMNS * 4 >> 20),
               clock_seconds() - start);
        (void)fflush(stdout);
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

static void a_slow_transfer_completes(void **state)
{
    fixture *f = *state;
    const bool large = prop_cases(1) >= 16;
    int64_t num_rows = (int64_t)(large ? 2048 : 128) * (1 << 20) / 4 / COLUMNS;
    pid_t spinners[SPINNERS];
    const tsr_launch_spec spec = {.num_ranks = 2, .ranks = TSR_RANKS_PROCESSES, .timeout = 2};
    start_load(spinners);
    const tsr_status status = tsr_launch(f->ctx, &spec, move_much, &num_rows);
    stop_load(spinners);
    if (status < 0) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(a_slow_transfer_completes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
