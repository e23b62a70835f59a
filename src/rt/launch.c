/* Running a function on ranks: threads of this process, forked processes, or those of mpirun. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
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
#include "rt/joined.h"
#include "rt/plugin.h"
#include "rt/request.h"

/* What one rank runs; a thread's argument. */
typedef struct rank_job {
    team *t;
    int64_t rank;
    tsr_rank_function function;
    void *state;
    pthread_t thread;
    pid_t process;
    int handle; /* of the process: a pidfd */
    bool started;
} rank_job;

/* A launch: what the ranks share and what runs on them. */
typedef struct launch {
    tsr_context *ctx;
    tsr_ranks ranks;
    team t;
    rank_job *jobs;
    tsr_context *shared; /* of what thread ranks share */
    plan_store plans;
} launch;

/* A rank that leaves a request pending has failed. */
static tsr_status run_function(tsr_comm *world, tsr_rank_function function, void *state)
{
    const tsr_status status = function(world, state);
    const tsr_status dropped = requests_drop(world);
    return status < 0 ? status : dropped;
}

/* Runs the function on one rank, in its own thread or process. */
static void run_rank(const rank_job *job)
{
    tsr_context *ctx = NULL;
    tsr_comm *world = NULL;
    tsr_status status = tsr_context_create(NULL, &ctx);
    if (status == TSR_OK) {
        status = comm_open_world(ctx, job->t, job->rank, &world);
    }
    if (status == TSR_OK) {
        status = run_function(world, job->function, job->state);
    }
    team_report(job->t, job->rank, status, ctx);
    if (world != NULL) {
        comm_close_world(world);
    }
    tsr_context_destroy(ctx);
}

static void *run_thread(void *argument)
{
    run_rank(argument);
    return NULL;
}

static tsr_status start_threads(launch *l)
{
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        rank_job *job = &l->jobs[i];
        const int error = pthread_create(&job->thread, NULL, run_thread, job);
        job->started = error == 0;
        if (error != 0) {
            team_report_end(&l->t, i, TSR_ERR_NOMEM, "its thread could not be started");
            return diag_error(l->ctx, TSR_ERR_NOMEM, NO_LOCATION,
                              "rank %lld: its thread could not be started: %s", (long long)i,
                              strerror(error));
        }
    }
    return TSR_OK;
}

/* Marks the ranks from one on as failed: they were never started. */
static void give_up_from(launch *l, int64_t rank)
{
    for (int64_t i = rank; i < l->t.num_ranks; i++) {
        if (!l->jobs[i].started) {
            team_report_end(&l->t, i, TSR_ERR_NOMEM, "it was never started");
        }
    }
}

/* Joins a thread; false when it does not end in time after all others have. */
static bool join_thread(const launch *l, const rank_job *job)
{
    end_watch watch = {0};
    for (;;) {
        struct timespec soon;
        (void)clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 20000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        if (pthread_timedjoin_np(job->thread, NULL, &soon) == 0) {
            return true;
        }
        if (team_is_overdue(&l->t, &watch)) {
            return false;
        }
    }
}

/* Returns the number of threads that had to be abandoned: they may still use shared memory. */
static int64_t join_threads(launch *l)
{
    int64_t abandoned = 0;
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        if (l->jobs[i].started && !join_thread(l, &l->jobs[i])) {
            (void)pthread_detach(l->jobs[i].thread);
            team_report_end(&l->t, i, TSR_ERR_TIMEOUT, "its thread did not end and was abandoned");
            abandoned++;
        }
    }
    return abandoned;
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

/* Kills the processes that are still running. */
static void kill_running(const launch *l)
{
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        if (l->jobs[i].started && !team_is_done(&l->t, i)) {
            team_report_end(&l->t, i, TSR_ERR_TIMEOUT, "its process did not end and was killed");
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
        if (team_is_overdue(&l->t, &watch)) {
            kill_running(l);
        }
        const struct timespec nap = {.tv_nsec = 200000};
        (void)nanosleep(&nap, NULL);
    }
}

static tsr_status prepare(launch *l, tsr_rank_function function, void *state)
{
    TSR_TRY(team_map(l->ctx, &l->t, l->ranks == TSR_RANKS_PROCESSES));
    const size_t n = (size_t)l->t.num_ranks;
    l->jobs = context_resize(l->ctx, NULL, 0, n * sizeof *l->jobs);
    if (l->jobs == NULL) {
        return diag_nomem(l->ctx);
    }
    for (size_t i = 0; i < n; i++) {
        l->jobs[i] =
            (rank_job){.t = &l->t, .rank = (int64_t)i, .function = function, .state = state};
    }
    if (l->t.threads) {
        TSR_TRY(tsr_context_create(NULL, &l->shared));
        plan_store_init(&l->plans, l->shared);
        l->t.plans = &l->plans;
    }
    return TSR_OK;
}

/* Runs the ranks; *abandoned tells whether threads may still use shared memory. */
static tsr_status run(launch *l, bool *abandoned)
{
    *abandoned = false;
    const bool threads = l->ranks == TSR_RANKS_THREADS;
    const tsr_status started = threads ? start_threads(l) : start_processes(l);
    if (started < 0) {
        give_up_from(l, 0);
    }
    if (threads) {
        *abandoned = join_threads(l) > 0;
    } else {
        join_processes(l);
    }
    const tsr_status ended = team_collect(l->ctx, &l->t);
    return started < 0 ? started : ended;
}

/* Starts the ranks in this process or forked from it, and frees what they shared. */
static tsr_status launch_here(tsr_context *ctx, const tsr_launch_spec *spec, tsr_ranks ranks,
                              tsr_rank_function function, void *state)
{
    const int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    launch *l = context_resize(ctx, NULL, 0, sizeof *l);
    if (l == NULL) {
        return diag_nomem(ctx);
    }
    *l = (launch){.ctx = ctx, .ranks = ranks};
    bool abandoned = false;
    tsr_status status =
        team_init(ctx, spec, spec->num_ranks != 0 ? spec->num_ranks : max_i64(cores, 1), &l->t);
    l->t.threads = ranks == TSR_RANKS_THREADS;
    l->t.name = l->t.threads ? "threads" : "processes";
    if (status == TSR_OK) {
        status = prepare(l, function, state);
    }
    if (status == TSR_OK) {
        const int before = blas_set_threads((int)max_i64(cores / l->t.num_ranks, 1));
        status = run(l, &abandoned);
        (void)blas_set_threads(before);
    }
    if (!abandoned) {
        team_unmap(&l->t);
        if (l->t.plans != NULL) {
            plan_store_destroy(&l->plans);
        }
        tsr_context_destroy(l->shared);
        if (l->jobs != NULL) {
            (void)context_resize(ctx, l->jobs, (size_t)l->t.num_ranks * sizeof *l->jobs, 0);
        }
        (void)context_resize(ctx, l, sizeof *l, 0);
    }
    return status;
}

/* Runs the function as one of the ranks that mpirun started. */
static tsr_status join_mpi(tsr_context *ctx, const char *mpi, const tsr_launch_spec *spec,
                           tsr_rank_function function, void *state)
{
    tsr_transport transport;
    tsr_context *own = NULL;
    tsr_comm *world = NULL;
    TSR_TRY(plugin_open_world(ctx, mpi, &transport));
    tsr_status status = tsr_context_create(NULL, &own);
    if (status < 0) {
        transport.close(transport.state, TSR_END_BROKEN);
        return diag_nomem(ctx);
    }
    status = joined_open(own, &transport, spec, &world);
    if (status == TSR_OK) {
        status = joined_close(world, ctx, run_function(world, function, state));
    } else {
        (void)diag_error(ctx, status, NO_LOCATION, "%s", last_error_text(own));
    }
    tsr_context_destroy(own);
    return status;
}

tsr_status tsr_launch(tsr_context *ctx, const tsr_launch_spec *spec, tsr_rank_function function,
                      void *state)
{
    GUARD(tsr_launch);
    const char *mpi = NULL;
    if (spec->ranks == TSR_RANKS_AUTO || spec->ranks == TSR_RANKS_MPI) {
        mpi = plugin_of_launcher();
    }
    if (mpi != NULL) {
        return join_mpi(ctx, mpi, spec, function, state);
    }
    if (spec->ranks == TSR_RANKS_MPI) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "no MPI launcher started this process: start it by mpirun, or set "
                          "TSR_MPI to openmpi or mpich");
    }
    const tsr_ranks ranks =
        spec->ranks == TSR_RANKS_PROCESSES ? TSR_RANKS_PROCESSES : TSR_RANKS_THREADS;
    return launch_here(ctx, spec, ranks, function, state);
}

bool tsr_comm_is_abstract(const tsr_comm *comm)
{
    GUARD(tsr_comm_is_abstract);
    return comm->team->abstract;
}

tsr_status tsr_launch_abstract(tsr_context *ctx, int64_t num_ranks, int64_t rank,
                               tsr_rank_function function, void *state)
{
    GUARD(tsr_launch_abstract);
    const team t = {.num_ranks = num_ranks, .threads = true, .abstract = true, .name = "abstract"};
    tsr_comm *world = NULL;
    if (num_ranks < 1 || rank < 0 || rank >= num_ranks) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_launch_abstract: there is no rank %lld of %lld", (long long)rank,
                          (long long)num_ranks);
    }
    TSR_TRY(comm_open_world(ctx, &t, rank, &world));
    const tsr_status status = function(world, state);
    comm_close_world(world);
    return status;
}
