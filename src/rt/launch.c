/* Running a function on ranks: threads of this process, or forked processes. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "rt/comm.h"

#define DEFAULT_TIMEOUT 60.0

/* What one rank runs; a thread's argument. */
typedef struct rank_job {
    team *t;
    int64_t rank;
    tsr_rank_function function;
    void *state;
    pthread_t thread;
    pid_t process;
    bool started;
} rank_job;

/* A launch: what the ranks share and what runs on them. */
typedef struct launch {
    tsr_context *ctx;
    tsr_ranks ranks;
    team t;
    char *control; /* the mapping of everything shared but the segments */
    size_t control_bytes;
    rank_job *jobs;
} launch;

static size_t round_to_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Address space that ranks share; pages come when they are touched. */
static char *map_shared(tsr_ranks ranks, size_t bytes)
{
    const int sharing = ranks == TSR_RANKS_PROCESSES ? MAP_SHARED : MAP_PRIVATE;
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static tsr_status check_spec(tsr_context *ctx, const tsr_launch_spec *spec)
{
    if (spec->num_ranks < 1 || spec->num_ranks > COMM_MAX_RANKS) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_PLACE,
                          "the number of ranks must be 1 to %d, got: %lld", COMM_MAX_RANKS,
                          (long long)spec->num_ranks);
    }
    if (spec->timeout < 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_PLACE,
                          "the time-out must not be negative, got: %g seconds", spec->timeout);
    }
    return TSR_OK;
}

static bool wants_checks(const tsr_launch_spec *spec)
{
    const char *check = getenv("TSR_CHECK");
    return spec->checked || (check != NULL && strcmp(check, "1") == 0);
}

/* As much address space for each rank as the machine has memory. */
static size_t default_segment(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const size_t least = (size_t)1 << 30;
    const size_t all = pages > 0 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : least;
    return round_to_pages(all);
}

static tsr_status map_memory(launch *l, const tsr_launch_spec *spec)
{
    const size_t n = (size_t)spec->num_ranks;
    const size_t world = round_to_pages(comm_shared_bytes(spec->num_ranks));
    const size_t ranks = round_to_pages(n * sizeof(rank_shared));
    const size_t each =
        spec->segment_bytes > 0 ? round_to_pages(spec->segment_bytes) : default_segment();
    l->control_bytes = world + ranks;
    l->control = map_shared(spec->ranks, l->control_bytes);
    l->t.segments = map_shared(spec->ranks, n * each);
    if (l->control == NULL || l->t.segments == NULL) {
        return diag_error(l->ctx, TSR_ERR_NOMEM, NO_PLACE,
                          "no address space for %zu ranks of %zu bytes: %s", n, each,
                          strerror(errno));
    }
    l->t.segment_bytes = each;
    l->t.world = (comm_shared *)(void *)l->control;
    l->t.ranks = (rank_shared *)(void *)(l->control + world);
    return TSR_OK;
}

static void unmap_memory(launch *l)
{
    if (l->control != NULL) {
        (void)munmap(l->control, l->control_bytes);
    }
    if (l->t.segments != NULL) {
        (void)munmap(l->t.segments, (size_t)l->t.num_ranks * l->t.segment_bytes);
    }
}

/* Tells the others that this rank is done, and how it went. */
static void report_end(const team *t, int64_t rank, tsr_status status, const char *text)
{
    rank_shared *shared = &t->ranks[rank];
    const size_t length = strnlen(text, CALL_TEXT - 1);
    memcpy(shared->text, text, length);
    shared->text[length] = '\0';
    shared->status = (int32_t)status;
    atomic_store(&shared->state, status < 0 ? RANK_FAILED : RANK_ENDED);
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
        status = job->function(world, job->state);
    }
    report_end(job->t, job->rank, status, ctx != NULL && status < 0 ? last_error_text(ctx) : "");
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
            report_end(&l->t, i, TSR_ERR_NOMEM, "its thread could not be started");
            return diag_error(l->ctx, TSR_ERR_NOMEM, NO_PLACE,
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
            report_end(&l->t, i, TSR_ERR_NOMEM, "it was never started");
        }
    }
}

/* Whether every rank but this one is done. */
static bool others_are_done(const launch *l, int64_t rank)
{
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        if (i != rank && atomic_load(&l->t.ranks[i].state) == RANK_RUNNING) {
            return false;
        }
    }
    return true;
}

/* Joins a thread; false when it does not end in time after all others have. */
static bool join_thread(const launch *l, const rank_job *job)
{
    double alone_since = 0;
    for (;;) {
        struct timespec soon;
        (void)clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 20000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        if (pthread_timedjoin_np(job->thread, NULL, &soon) == 0) {
            return true;
        }
        const double now = clock_seconds();
        if (!others_are_done(l, job->rank)) {
            alone_since = 0;
        } else if (alone_since == 0) {
            alone_since = now;
        } else if (now - alone_since > l->t.timeout) {
            return false;
        }
    }
}

/* Returns how many threads had to be abandoned: they may still use what is shared. */
static int64_t join_threads(launch *l)
{
    int64_t abandoned = 0;
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        if (l->jobs[i].started && !join_thread(l, &l->jobs[i])) {
            (void)pthread_detach(l->jobs[i].thread);
            report_end(&l->t, i, TSR_ERR_TIMEOUT, "its thread did not end and was abandoned");
            abandoned++;
        }
    }
    return abandoned;
}

static tsr_status start_processes(launch *l)
{
    (void)fflush(NULL);
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        rank_job *job = &l->jobs[i];
        const pid_t parent = getpid();
        job->process = fork();
        if (job->process == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent) {
                run_rank(job);
            }
            (void)fflush(NULL);
            _exit(0);
        }
        job->started = job->process > 0;
        if (!job->started) {
            return diag_error(l->ctx, TSR_ERR_NOMEM, NO_PLACE,
                              "rank %lld: its process could not be started: %s", (long long)i,
                              strerror(errno));
        }
    }
    return TSR_OK;
}

/* What became of a process that did not report an end of its own. */
static void report_death(const launch *l, int64_t rank, int how)
{
    rank_shared *shared = &l->t.ranks[rank];
    if (atomic_load(&shared->state) != RANK_RUNNING) {
        return;
    }
    if (WIFSIGNALED(how)) {
        (void)snprintf(shared->text, sizeof shared->text, "killed by signal %d (%s)", WTERMSIG(how),
                       strsignal(WTERMSIG(how)));
    } else {
        (void)snprintf(shared->text, sizeof shared->text, "it exited with code %d",
                       WEXITSTATUS(how));
    }
    shared->status = (int32_t)TSR_ERR_PEER;
    atomic_store(&shared->state, RANK_DIED);
}

/* Waits for every process that was started, telling the others of each that dies. */
static void join_processes(launch *l)
{
    int64_t left = 0;
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        left += l->jobs[i].started;
    }
    while (left > 0) {
        for (int64_t i = 0; i < l->t.num_ranks; i++) {
            int how = 0;
            if (l->jobs[i].started && waitpid(l->jobs[i].process, &how, WNOHANG) > 0) {
                l->jobs[i].started = false;
                report_death(l, i, how);
                left--;
            }
        }
        const struct timespec nap = {.tv_nsec = 200000};
        (void)nanosleep(&nap, NULL);
    }
}

/* The status of the lowest rank that failed, with a message for each. */
static tsr_status collect(const launch *l)
{
    tsr_status status = TSR_OK;
    for (int64_t i = 0; i < l->t.num_ranks; i++) {
        const rank_shared *r = &l->t.ranks[i];
        const int32_t state = atomic_load(&r->state);
        if (state == RANK_ENDED) {
            continue;
        }
        const tsr_status of_rank = (tsr_status)r->status;
        (void)diag_error(l->ctx, of_rank, NO_PLACE, "rank %lld %s: %s", (long long)i,
                         state == RANK_DIED ? "died" : "failed", r->text);
        status = status < 0 ? status : of_rank;
    }
    return status;
}

static tsr_status prepare(launch *l, const tsr_launch_spec *spec, tsr_rank_function function,
                          void *state)
{
    TSR_TRY(map_memory(l, spec));
    const size_t n = (size_t)spec->num_ranks;
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

/* Runs the ranks; *abandoned tells whether threads still use what is shared. */
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
    const tsr_status ended = collect(l);
    return started < 0 ? started : ended;
}

tsr_status tsr_launch(tsr_context *ctx, const tsr_launch_spec *spec, tsr_rank_function function,
                      void *state)
{
    TSR_TRY(check_spec(ctx, spec));
    launch *l = context_resize(ctx, NULL, 0, sizeof *l);
    if (l == NULL) {
        return diag_nomem(ctx);
    }
    *l = (launch){.ctx = ctx, .ranks = spec->ranks};
    l->t.num_ranks = spec->num_ranks;
    l->t.timeout = spec->timeout > 0 ? spec->timeout : DEFAULT_TIMEOUT;
    l->t.checked = wants_checks(spec);
    l->t.threads = spec->ranks == TSR_RANKS_THREADS;
    l->t.spin = spec->num_ranks <= sysconf(_SC_NPROCESSORS_ONLN);
    bool abandoned = false;
    tsr_status status = prepare(l, spec, function, state);
    if (status == TSR_OK) {
        status = run(l, &abandoned);
    }
    if (!abandoned) {
        unmap_memory(l);
        if (l->jobs != NULL) {
            (void)context_resize(ctx, l->jobs, (size_t)spec->num_ranks * sizeof *l->jobs, 0);
        }
        (void)context_resize(ctx, l, sizeof *l, 0);
    }
    return status;
}
