/* Open worlds in processes that fork and in processes that exit. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "rt/barrier.h"
#include "support.h"

enum { SECONDS = 30 };

static tsr_world *open_world(tsr_context *ctx, int64_t num_ranks)
{
    const tsr_launch_spec spec = {.num_ranks = num_ranks,
                                  .ranks = TSR_RANKS_THREADS,
                                  .timeout = 20,
                                  .segment_bytes = 1 << 22};
    tsr_world *world = NULL;
    return tsr_world_open(ctx, &spec, &world) == TSR_OK ? world : NULL;
}

static tsr_status call_barrier(tsr_comm *world, void *state)
{
    (void)state;
    return tsr_barrier(world);
}

static tsr_status call_forever(tsr_comm *world, void *state)
{
    tsr_status status = TSR_OK;
    while (status >= 0) {
        status = call_barrier(world, state);
    }
    return status;
}

/* Products without end, as large as keep CBLAS busy. */
static tsr_status multiply_forever(tsr_comm *world, void *state)
{
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_tensor_spec spec;
    tsr_tensor *x = NULL;
    (void)state;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_of_world(world, arena, "x=-1", &mesh));
    TSR_TRY(tsr_tensor_spec_parse(ctx, arena, mesh, "f32[200,200]", NULL, &spec));
    TSR_TRY(tsr_random_normal(world, &spec, (tsr_random_key){1, 2}, &x));
    for (;;) {
        tsr_tensor *y = NULL;
        TSR_TRY(tsr_matmul(x, x, &y));
        tsr_tensor_release(y);
    }
}

/* Runs a part of a test in a child; its code, or -1 when it had to be killed. */
static int in_child(int (*part)(void *state), void *state)
{
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(part(state));
    }
    const double end = clock_seconds() + (double)SECONDS;
    int how = 0;
    while (waitpid(child, &how, WNOHANG) == 0) {
        if (clock_seconds() > end) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, &how, 0);
            return -1;
        }
        usleep(2000);
    }
    return WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + WTERMSIG(how);
}

/* Numbers the checks of a child: the first that does not hold is its code. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        step++;                                                                                    \
        if (!(condition)) {                                                                        \
            return step;                                                                           \
        }                                                                                          \
    } while (0)

typedef struct of_parent {
    tsr_context *ctx;
    tsr_world *world;
} of_parent;

static bool was_told(tsr_context *ctx)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(ctx);
    const bool told = d != NULL && strstr(d->text, "the world was opened before a fork") != NULL;
    tsr_context_clear(ctx);
    return told;
}

static int use_in_child(void *state)
{
    const of_parent *p = state;
    int step = 0;
    tsr_context_clear(p->ctx);
    CHECK(tsr_world_run(p->world, call_barrier, NULL) == TSR_ERR_INVALID && was_told(p->ctx));
    CHECK(tsr_world_start(p->world, call_barrier, NULL) == TSR_ERR_INVALID && was_told(p->ctx));
    CHECK(tsr_world_wait(p->world, -1) == TSR_ERR_INVALID && was_told(p->ctx));
    CHECK(tsr_world_size(p->world) == -1 && tsr_world_num_local(p->world) == -1);
    CHECK(tsr_world_comm(p->world, 0) == NULL);
    tsr_world_stop(p->world);
    CHECK(tsr_world_close(p->world) == TSR_OK);
    for (int64_t n = 1; n <= 3; n++) {
        tsr_world *own = open_world(p->ctx, n);
        CHECK(own != NULL);
        CHECK(tsr_world_run(own, call_barrier, NULL) == TSR_OK);
        CHECK(tsr_world_close(own) == TSR_OK);
    }
    return 0;
}

/*
 * A child that forks is a parent, too. The run before it is for the address sanitizer, whose
 * allocator a fork must not find in use, by a thread that is starting.
 */
static int use_in_grandchild(void *state)
{
    const of_parent *p = state;
    int step = 0;
    CHECK(in_child(use_in_child, state) == 0);
    of_parent own = {p->ctx, open_world(p->ctx, 2)};
    CHECK(own.world != NULL);
    CHECK(tsr_world_run(own.world, call_barrier, NULL) == TSR_OK);
    CHECK(in_child(use_in_child, &own) == 0);
    CHECK(tsr_world_run(own.world, call_barrier, NULL) == TSR_OK);
    CHECK(tsr_world_close(own.world) == TSR_OK);
    return 0;
}

static void children_have_no_worlds(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= 3; n++) {
        of_parent p = {f->ctx, open_world(f->ctx, n)};
        assert_non_null(p.world);
        assert_int_equal(tsr_world_run(p.world, call_barrier, NULL), TSR_OK);
        assert_int_equal(in_child(use_in_child, &p), 0);
        assert_int_equal(in_child(use_in_grandchild, &p), 0);
        assert_int_equal(tsr_world_run(p.world, call_barrier, NULL), TSR_OK);
        if (n > 1) { /* in the middle of a run */
            assert_int_equal(tsr_world_start(p.world, call_forever, NULL), TSR_OK);
            for (int i = 0; i < 10; i++) {
                assert_int_equal(in_child(use_in_child, &p), 0);
            }
            tsr_world_stop(p.world);
            assert_int_equal(tsr_world_wait(p.world, -1), TSR_ERR_PEER);
            tsr_context_clear(f->ctx);
        }
        assert_int_equal(tsr_world_close(p.world), TSR_OK);
    }
    of_parent p = {.ctx = f->ctx};
    assert_int_equal(tsr_world_open_abstract(f->ctx, 4096, 1, &p.world), TSR_OK);
    assert_int_equal(in_child(use_in_child, &p), 0);
    assert_int_equal(tsr_world_close(p.world), TSR_OK);
}

static tsr_status launch_from_rank(tsr_comm *world, void *state)
{
    (void)state;
    if (tsr_comm_rank(world) != 0) {
        return TSR_OK;
    }
    const tsr_launch_spec spec = {
        .num_ranks = 2, .ranks = TSR_RANKS_PROCESSES, .timeout = 20, .segment_bytes = 1 << 20};
    return tsr_launch(tsr_comm_context(world), &spec, call_barrier, NULL);
}

/* Forked ranks beside an open world, and started by its ranks. */
static void forked_launches_beside_worlds(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= 3; n += 2) {
        tsr_world *world = open_world(f->ctx, n);
        assert_non_null(world);
        const tsr_launch_spec spec = {
            .num_ranks = 2, .ranks = TSR_RANKS_PROCESSES, .timeout = 20, .segment_bytes = 1 << 20};
        assert_int_equal(tsr_launch(f->ctx, &spec, call_barrier, NULL), TSR_OK);
        assert_int_equal(tsr_world_run(world, launch_from_rank, NULL), TSR_OK);
        assert_int_equal(tsr_world_close(world), TSR_OK);
    }
}

/* ---- exits ---- */

typedef struct exit_case {
    int64_t num_ranks;
    tsr_rank_function running; /* when the process exits; NULL: nothing runs */
} exit_case;

static int exit_with_a_world(void *state)
{
    const exit_case *c = state;
    tsr_context *ctx = NULL;
    int step = 0;
    CHECK(tsr_context_create(NULL, &ctx) == TSR_OK);
    tsr_world *world = open_world(ctx, c->num_ranks);
    CHECK(world != NULL);
    CHECK(tsr_world_run(world, call_barrier, NULL) == TSR_OK);
    if (c->running != NULL) {
        CHECK(tsr_world_start(world, c->running, NULL) == TSR_OK);
        usleep(20000);
    }
    exit(0); /* with all that is done at the end of a process */
}

static void processes_exit_with_worlds(void **state)
{
    static const exit_case cases[] = {{1, NULL},
                                      {2, NULL},
                                      {8, NULL},
                                      {2, call_forever},
                                      {3, call_forever},
                                      {2, multiply_forever},
                                      {3, multiply_forever}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int round = 0; round < 5; round++) {
            exit_case c = cases[i];
            const int code = in_child(exit_with_a_world, &c);
            if (code != 0) {
                fail_msg("case %zu: %d", i, code);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(children_have_no_worlds),
        TEST(forked_launches_beside_worlds),
        TEST(processes_exit_with_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
