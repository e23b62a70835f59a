/* Running a function on ranks once; here those that are forked processes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "kernel/dot.h"
#include "rt/comm.h"
#include "rt/world.h"

/* What one rank runs. */
typedef struct rank_job {
    team *t;
    int64_t rank;
    tsr_rank_function function;
    void *state;
    pid_t process;
    int handle; /* of the process: a pidfd */
    bool started;
} rank_job;

/* A launch: what the ranks share and what runs on them. */
typedef struct launch {
    tsr_context *ctx;
    team t;
    rank_job *jobs;
    blas_share cores;
} launch;

/* Runs the function on one rank, in its own process. */
static void run_rank(const rank_job *job)
{
    tsr_context *ctx = NULL;
    tsr_comm *world = NULL;
    tsr_status status = tsr_context_create(NULL, &ctx);
    if (status == TSR_OK) {
        status = comm_open_world(ctx, job->t, job->rank, &world);
    }
    if (status == TSR_OK) {
        status = rank_run(world, job->function, job->state);
    }
    team_report(job->t, job->rank, status, ctx);
    if (world != NULL) {
        comm_close_world(world);
    }
    tsr_context_destroy(ctx);
}

/* Marks ranks as failed that were never started. */
static void give_up_unstarted(launch *l)
{
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        if (!l->jobs[i].started) {
            team_report_end(&l->t, i, TSR_ERR_NOMEM, "it was never started");
        }
    }
}

/*
 * A child process that begins only after this one has a handle of it: should SIGCHLD be ignored, or
 * a handler of the program reap its children, the end of a child is seen all the same.
 */
static bool start_process(rank_job *job)
{
    int go[2];
    char word = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, go) != 0) {
        return false;
    }
    const pid_t parent = getpid();
    job->process = fork();
    if (job->process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(go[1]);
        ssize_t length = 0;
        do {
            length = read(go[0], &word, 1);
        } while (length < 0 && errno == EINTR);
        if (length == 1 && getppid() == parent) {
            run_rank(job);
        }
        (void)fflush(NULL);
        _exit(0);
    }
    job->handle = job->process > 0 ? (int)syscall(SYS_pidfd_open, job->process, 0) : -1;
    job->started = job->handle >= 0 && send(go[1], &word, 1, MSG_NOSIGNAL) == 1;
    const int reason = errno;
    (void)close(go[0]);
    (void)close(go[1]);
    if (!job->started && job->process > 0) { /* it sees the end of the stream */
        (void)waitpid(job->process, NULL, 0);
        (void)close(job->handle);
    }
    errno = reason;
    return job->started;
}

static tsr_status start_processes(launch *l)
{
    (void)fflush(NULL);
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        if (!start_process(&l->jobs[i])) {
            return diag_error(l->ctx, TSR_ERR_NOMEM, NO_LOCATION,
                              "rank %lld: its process could not be started: %s", (long long)i,
                              strerror(errno));
        }
    }
    return TSR_OK;
}

/* How a process that did not report its end has ended; `known` says whether the system told. */
static void report_death(const launch *l, int64_t rank, const siginfo_t *how, bool known)
{
    char text[CALL_TEXT];
    if (atomic_load(&l->t.ranks[rank].state) != RANK_RUNNING) {
        return;
    }
    if (!known) {
        (void)snprintf(text, sizeof text,
                       "it ended without a report, and was reaped by the program");
    } else if (how->si_code == CLD_EXITED) {
        (void)snprintf(text, sizeof text, "it exited with code %d", how->si_status);
    } else {
        (void)snprintf(text, sizeof text, "killed by signal %d (%s)", how->si_status,
                       strsignal(how->si_status));
    }
    team_report_death(&l->t, rank, text);
}

/* Reaps a process whose handle says that it has ended; false when it has not. */
static bool reap(const launch *l, int64_t rank)
{
    rank_job *job = &l->jobs[rank];
    struct pollfd ended = {.fd = job->handle, .events = POLLIN};
    siginfo_t how;
    if (poll(&ended, 1, 0) != 1) {
        return false;
    }
    memset(&how, 0, sizeof how);
    const bool known = waitid(P_PIDFD, (id_t)job->handle, &how, WEXITED) == 0 && how.si_pid != 0;
    report_death(l, rank, &how, known);
    (void)close(job->handle);
    job->started = false;
    return true;
}

/*
 * Kills the processes that have not ended. One may have reported the end of its function, and be
 * stopped since, or unable to write out its streams; a failure that it reported stands.
 */
static void kill_left(const launch *l)
{
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        if (l->jobs[i].started) {
            if (l->t.ranks[i].status >= 0) {
                team_report_end(&l->t, i, TSR_ERR_TIMEOUT,
                                "its process did not end and was killed");
            }
            (void)syscall(SYS_pidfd_send_signal, l->jobs[i].handle, SIGKILL, NULL, 0);
        }
    }
}

/* Waits for every process that was started, telling the others of each that dies. */
static void join_processes(launch *l)
{
    int64_t left = 0;
    end_watch watch = {0};
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        left += l->jobs[i].started;
    }
    while (left > 0) {
        for (int64_t i = 0; i < l->t.num_ranks; i++) {
            left -= l->jobs[i].started && reap(l, i);
        }
        if (team_is_overdue(&l->t, left, &watch)) {
            kill_left(l);
        }
        const struct timespec nap = {.tv_nsec = 200000};
        (void)nanosleep(&nap, NULL);
    }
}

static tsr_status add_jobs(launch *l, tsr_rank_function function, void *state)
{
    const size_t n = (size_t)l->t.num_ranks;
    l->jobs = context_resize(l->ctx, NULL, 0, n * sizeof *l->jobs);
    if (l->jobs == NULL) {
        return diag_nomem(l->ctx);
    }
    for (size_t i = 0; i < n; i++) {
        l->jobs[i] =
            (rank_job){.t = &l->t, .rank = (int64_t)i, .function = function, .state = state};
    }
    return TSR_OK;
}

static tsr_status run(launch *l)
{
    const int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    blas_share_take(&l->cores, (int)max_i64(cores / l->t.num_ranks, 1));
    const tsr_status started = start_processes(l);
    if (started < 0) {
        give_up_unstarted(l);
    }
    join_processes(l);
    blas_share_release(&l->cores);
    const tsr_status ended = team_collect(l->ctx, &l->t, true);
    return started < 0 ? started : ended;
}

/* Forks the ranks from this process, and frees what they shared. */
static tsr_status launch_processes(tsr_context *ctx, const tsr_launch_spec *spec,
                                   tsr_rank_function function, void *state)
{
    launch l = {.ctx = ctx};
    tsr_status status = team_open(ctx, spec, false, &l.t);
    if (status == TSR_OK) {
        status = add_jobs(&l, function, state);
    }
    if (status == TSR_OK) {
        status = run(&l);
    }
    team_unmap(&l.t);
    (void)context_resize(ctx, l.jobs, (size_t)l.t.num_ranks * sizeof *l.jobs, 0);
    return status;
}

tsr_status tsr_launch(tsr_context *ctx, const tsr_launch_spec *spec, tsr_rank_function function,
                      void *state)
{
    GUARD(tsr_launch);
    return spec->ranks == TSR_RANKS_PROCESSES ? launch_processes(ctx, spec, function, state)
                                              : world_launch(ctx, spec, function, state);
}
