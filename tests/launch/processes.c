/* Ranks that are forked processes and do something wrong, or die. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#include "rt/comm.h"
#include "rt/proc.h"
#include "rt/team.h"

static tsr_status die(tsr_comm *world, void *state)
{
    (void)state;
    if (tsr_comm_rank(world) == 1) {
        (void)kill(getpid(), SIGKILL);
    }
    return tsr_barrier(world);
}

/* In the middle of a call, when all have entered it. */
static tsr_status die_inside(tsr_comm *world, void *state)
{
    (void)state;
    const comm_call what = {.name = "a call", .hash = 1};
    const tsr_status status = comm_enter(world, &what);
    if (status == TSR_OK && tsr_comm_rank(world) == 1) {
        (void)kill(getpid(), SIGKILL);
    }
    return status == TSR_OK ? comm_leave(world, what.name) : status;
}

static void death_inside_a_call_is_heard_of(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {
        .num_ranks = 3, .ranks = TSR_RANKS_PROCESSES, .timeout = 20, .segment_bytes = 1 << 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, die_inside, NULL), TSR_ERR_PEER);
    expect_message(f, "ranks 0, 2 failed: a call: rank 1 died: killed by signal 9 (Killed)");
}

static void death_is_heard_of(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {
        .num_ranks = 3, .ranks = TSR_RANKS_PROCESSES, .timeout = 20, .segment_bytes = 1 << 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, die, NULL), TSR_ERR_PEER);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_string_equal(d->text, "rank 1 died: killed by signal 9 (Killed)");
    assert_string_equal(d->next->text, "ranks 0, 2 failed: tsr_barrier: rank 1 died: killed by "
                                       "signal 9 (Killed)");
}

static tsr_status sleep_forever(tsr_comm *world, void *state)
{
    (void)state;
    while (tsr_comm_rank(world) == 1) {
        usleep(100000);
    }
    return TSR_OK;
}

static void a_process_that_never_ends_is_killed(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {
        .num_ranks = 3, .ranks = TSR_RANKS_PROCESSES, .end_timeout = 0.2, .segment_bytes = 1 << 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, sleep_forever, NULL), TSR_ERR_TIMEOUT);
    expect_error(f, "rank 1 failed: its process did not end and was killed");
}

static tsr_status work_on(tsr_comm *world, void *state)
{
    (void)state;
    if (tsr_comm_rank(world) == 1) {
        usleep(600000);
    }
    return TSR_OK;
}

/* All is well, and one rank takes longer than the time-out. */
static void a_working_rank_is_waited_for(void **state)
{
    fixture *f = *state;
    tsr_launch_spec spec = {.num_ranks = 3, .timeout = 0.2, .segment_bytes = 1 << 20};
    for (int i = 0; i < 2; i++) {
        spec.ranks = i == 0 ? TSR_RANKS_PROCESSES : TSR_RANKS_THREADS;
        assert_int_equal(tsr_launch(f->ctx, &spec, work_on, NULL), TSR_OK);
    }
}

static tsr_status stop_inside(tsr_comm *world, void *state)
{
    (void)state;
    const comm_call what = {.name = "a call", .hash = 1};
    const tsr_status status = comm_enter(world, &what);
    if (status == TSR_OK && tsr_comm_rank(world) == 1) {
        (void)kill(getpid(), SIGSTOP);
    }
    return status == TSR_OK ? comm_leave(world, what.name) : status;
}

/* A process that is stopped is given up by the others, and killed in the end. */
static void a_stopped_process_is_given_up(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {
        .num_ranks = 3, .ranks = TSR_RANKS_PROCESSES, .timeout = 0.3, .segment_bytes = 1 << 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, stop_inside, NULL), TSR_ERR_TIMEOUT);
    expect_error(f,
                 "ranks 0, 2 failed: a call: rank 1 has made no progress inside the call for 0.3 "
                 "seconds; stopped: rank 1");
}

/*
 * The same where the others wait for a collective that they started. They start it when rank 1 is
 * stopped: else it may have finished its part, and nothing is wrong.
 */
static tsr_status stop_after_start(tsr_comm *world, void *state)
{
    static float numbers[1 << 16];
    const int64_t count = 1 << 16;
    const tsr_view view = {numbers, TSR_F32, 1, &count, NULL};
    tsr_request request;
    (void)state;
    while (tsr_comm_rank(world) != 1 && !proc_is_stopped(world->team->ranks[1].pid)) {
        usleep(1000);
    }
    const tsr_status status =
        tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &view, &view, &request);
    if (status == TSR_OK && tsr_comm_rank(world) == 1) {
        (void)kill(getpid(), SIGSTOP);
    }
    return status == TSR_OK ? tsr_wait(world, request) : status;
}

static void a_process_that_stops_under_a_request_is_given_up(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {
        .num_ranks = 3, .ranks = TSR_RANKS_PROCESSES, .timeout = 0.3, .segment_bytes = 1 << 22};
    assert_int_equal(tsr_launch(f->ctx, &spec, stop_after_start, NULL), TSR_ERR_TIMEOUT);
    expect_message(f, "rank 1");
}

/* Two ranks that are stopped: the third fails, and both are killed. */
static tsr_status stop_two(tsr_comm *world, void *state)
{
    (void)state;
    if (tsr_comm_rank(world) != 1) {
        (void)kill(getpid(), SIGSTOP);
    }
    return tsr_barrier(world);
}

static void all_stopped_processes_are_killed(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {
        .num_ranks = 3, .ranks = TSR_RANKS_PROCESSES, .timeout = 0.3, .segment_bytes = 1 << 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, stop_two, NULL), TSR_ERR_TIMEOUT);
    expect_message(f, "ranks 0, 2 failed: its process did not end and was killed");
}

/* Stops the process that flushes a stream. */
static ssize_t stop_writer(void *cookie, const char *bytes, size_t count)
{
    (void)cookie;
    (void)bytes;
    (void)kill(getpid(), SIGSTOP);
    return (ssize_t)count;
}

/* Rank 1 is stopped after its function has returned: its process writes what is left of a stream.
 */
static tsr_status stop_at_the_end(tsr_comm *world, void *state)
{
    const cookie_io_functions_t calls = {.write = stop_writer};
    const tsr_status *status = state;
    if (tsr_comm_rank(world) != 1) {
        return TSR_OK;
    }
    FILE *stream = fopencookie(NULL, "w", calls);
    return stream != NULL && fputs("text", stream) >= 0 ? *status : TSR_ERR_NOMEM;
}

static void a_process_that_stops_at_its_end_is_killed(void **state)
{
    fixture *f = *state;
    tsr_launch_spec spec = {
        .num_ranks = 3, .ranks = TSR_RANKS_PROCESSES, .timeout = 0.3, .segment_bytes = 1 << 20};
    tsr_status status = TSR_ERR_INVALID;
    assert_int_equal(tsr_launch(f->ctx, &spec, stop_at_the_end, &status), TSR_ERR_INVALID);
    expect_message(f, "rank 1 returned TSR_ERR_INVALID without a message");
    tsr_context_clear(f->ctx);
    status = TSR_OK;
    spec.end_timeout = 0.3;
    assert_int_equal(tsr_launch(f->ctx, &spec, stop_at_the_end, &status), TSR_ERR_TIMEOUT);
    expect_error(f, "rank 1 failed: its process did not end and was killed");
}

static void ignore(int number)
{
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

/* The ends of ranks are seen by a program that ignores SIGCHLD, or whose handler reaps children. */
static void children_may_be_reaped(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {
        .num_ranks = 3, .ranks = TSR_RANKS_PROCESSES, .timeout = 20, .segment_bytes = 1 << 20};
    for (int i = 0; i < 2; i++) {
        (void)signal(SIGCHLD, i == 0 ? SIG_IGN : ignore);
        assert_int_equal(tsr_launch(f->ctx, &spec, work_on, NULL), TSR_OK);
        assert_int_equal(tsr_launch(f->ctx, &spec, die, NULL), TSR_ERR_PEER);
        expect_message(f, "rank 1 died");
        tsr_context_clear(f->ctx);
    }
    (void)signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(death_is_heard_of),
        TEST(death_inside_a_call_is_heard_of),
        TEST(a_process_that_never_ends_is_killed),
        TEST(a_working_rank_is_waited_for),
        TEST(a_stopped_process_is_given_up),
        TEST(a_process_that_stops_under_a_request_is_given_up),
        TEST(all_stopped_processes_are_killed),
        TEST(a_process_that_stops_at_its_end_is_killed),
        TEST(children_may_be_reaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
