/*
 * Worlds that stay open. Ranks that are threads sleep between runs on one word, the number of the
 * last run that was started; the driving thread sleeps on another, that of the last one that has
 * ended. A world with one rank in this process has no threads: its functions run on the calling
 * thread.
 *
 * A thread whose function does not return is abandoned. It may use what the ranks share, so that
 * is freed by the last of those that hold the world: who closes it, and each thread.
 */
#include "rt/world.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "kernel/dot.h"
#include "kernel/progress.h"
#include "rt/joined.h"
#include "rt/plugin.h"
#include "rt/request.h"

#define SECONDS_BETWEEN_LOOKS 0.02
enum { CACHE_LINE = 64 };

typedef enum rank_hold { RANK_IDLE, RANK_BUSY, RANK_ABANDONED } rank_hold;

/* A rank of this process. */
typedef struct local_rank {
    tsr_world *world;
    int64_t rank;
    tsr_context *ctx;
    tsr_comm *comm;
    pthread_t thread;
    bool has_thread; /* to be joined */
    uint32_t runs;   /* that its thread has begun */
    _Atomic bool gone;
    _Atomic int32_t hold;
} local_rank;

typedef enum world_phase { WORLD_IDLE, WORLD_RUNNING } world_phase;

struct tsr_world {
    tsr_context *ctx;    /* the caller's */
    tsr_context *shared; /* of this struct and of what threads share */
    team t;              /* unless it is joined */
    plan_store plans;
    blas_share cores;
    local_rank *ranks;
    tsr_comm **comms; /* of the ranks */
    int64_t num_local;
    int64_t size;
    bool joined;
    bool named;         /* messages say which ranks failed, even if all did */
    bool stays;         /* runs may follow, as in a world that the program has opened */
    uint32_t forks;     /* how many there had been when it was opened */
    world_phase phase;  /* of the driving thread */
    int64_t abandoned;  /* a rank that was, or whose thread is gone; -1 for none */
    tsr_status outcome; /* of the last run of a single rank */
    end_watch watch;
    _Atomic bool closing;
    tsr_rank_function function;
    void *state;
    _Atomic bool stopped;
    char apart_from_above[CACHE_LINE]; /* the words are on lines of their own */
    _Atomic uint32_t started;          /* runs; one more to end the threads */
    char apart_from_started[CACHE_LINE];
    _Atomic uint32_t ended; /* the last run that has ended */
    _Atomic int64_t left;   /* ranks that have not returned from it */
    _Atomic int64_t holders;
};

/* ---- forks ---- */

/* How often this process is the child of a fork: the threads of a world are in one process. */
static _Atomic uint32_t forks;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

__attribute__((__constructor__)) static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
}

static bool is_of_parent(const tsr_world *w)
{
    return w->forks != atomic_load_explicit(&forks, memory_order_relaxed);
}

/* ---- functions that are running ---- */

/* The functions that run on this thread, the innermost first. */
typedef struct running_rank {
    const struct running_rank *outer;
    const local_rank *rank;
} running_rank;

static _Thread_local const running_rank *running __attribute__((tls_model("initial-exec")));

/* The rank of a world whose function makes this call; NULL when none does. */
static const local_rank *calling_rank(const tsr_world *w)
{
    for (const running_rank *r = running; r != NULL; r = r->outer) {
        if (r->rank->world == w) {
            return r->rank;
        }
    }
    return NULL;
}

/* Where messages of a call go: a rank's own when its function makes the call. */
tsr_context *guard_world_context(const tsr_world *world)
{
    const local_rank *caller = world != NULL ? calling_rank(world) : NULL;
    if (caller != NULL) {
        return caller->ctx;
    }
    return world != NULL ? world->ctx : NULL;
}

tsr_status rank_run(tsr_comm *world, tsr_rank_function function, void *state)
{
    const tsr_status status = function(world, state);
    const tsr_status dropped = requests_drop(world);
    return status < 0 ? status : dropped;
}

static tsr_status call_function(local_rank *r, tsr_rank_function function, void *state)
{
    const running_rank here = {.outer = running, .rank = r};
    running = &here;
    const tsr_status status = r->world->stays ? requests_end_run(r->comm, function(r->comm, state))
                                              : rank_run(r->comm, function, state);
    running = here.outer;
    return status;
}

static void clear_messages(const local_rank *r)
{
    if (r->ctx != r->world->ctx && tsr_context_diagnostics(r->ctx) != NULL) {
        tsr_context_clear(r->ctx);
    }
}

/* ---- freeing ---- */

static void destroy(tsr_world *w)
{
    tsr_context *shared = w->shared;
    const size_t n = (size_t)w->num_local;
    for (int64_t i = 0; w->ranks != NULL && i < w->num_local; i++) {
        if (w->ranks[i].comm != NULL) {
            comm_close_world(w->ranks[i].comm);
        }
        if (w->ranks[i].ctx != w->ctx) {
            tsr_context_destroy(w->ranks[i].ctx);
        }
    }
    team_unmap(&w->t);
    if (w->t.plans != NULL) {
        plan_store_destroy(&w->plans);
    }
    (void)context_resize(shared, w->ranks, n * sizeof *w->ranks, 0);
    (void)context_resize(shared, w->comms, n * sizeof *w->comms, 0);
    (void)context_resize(shared, w, sizeof *w, 0);
    tsr_context_destroy(shared);
}

/* What is freed with the last holder must not need the caller's context, which may be gone. */
static void let_go(tsr_world *w)
{
    if (atomic_fetch_sub(&w->holders, 1) == 1) {
        destroy(w);
    }
}

/* ---- threads ---- */

static void wake(_Atomic uint32_t *word, int count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* Sleeps while a word has a value; for at most so many seconds, or without limit if negative. */
static void sleep_while(_Atomic uint32_t *word, uint32_t value, double seconds)
{
    const struct timespec limit = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, seconds < 0 ? NULL : &limit, NULL, 0);
}

/* Reports the end of a rank's function; false when the rank was abandoned in the meantime. */
static bool end_rank(local_rank *r, tsr_status status)
{
    tsr_world *w = r->world;
    int32_t busy = RANK_BUSY;
    if (!atomic_compare_exchange_strong(&r->hold, &busy, RANK_IDLE)) {
        return false;
    }
    team_report(&w->t, r->rank, status, r->ctx);
    if (atomic_fetch_sub(&w->left, 1) == 1) {
        atomic_store(&w->ended, r->runs);
        wake(&w->ended, 1);
    }
    return true;
}

/* What a thread does last; also when its function has ended it, as pthread_exit does. */
static void leave_world(void *argument)
{
    local_rank *r = argument;
    if (atomic_load(&r->hold) == RANK_BUSY) {
        atomic_store(&r->gone, true);
        (void)end_rank(r, diag_error(r->ctx, TSR_ERR_PEER, NO_LOCATION,
                                     "its thread ended inside the function"));
    }
    let_go(r->world);
}

/* Returns when the world closes, or abandons this rank. */
static void take_runs(local_rank *r)
{
    tsr_world *w = r->world;
    for (;;) {
        while (atomic_load_explicit(&w->started, memory_order_acquire) == r->runs) {
            sleep_while(&w->started, r->runs, -1);
        }
        if (w->closing) {
            return;
        }
        r->runs++;
        clear_messages(r);
        if (!end_rank(r, call_function(r, w->function, w->state))) {
            return;
        }
    }
}

static void *serve(void *argument)
{
    pthread_cleanup_push(leave_world, argument);
    take_runs(argument);
    pthread_cleanup_pop(1);
    return NULL;
}

static void raise_started(tsr_world *w)
{
    atomic_fetch_add(&w->started, 1);
    wake(&w->started, INT_MAX);
}

static void start_ranks(tsr_world *w)
{
    team_restart(&w->t);
    for (int64_t i = 0; i < w->num_local; i++) {
        atomic_store_explicit(&w->ranks[i].hold, RANK_BUSY, memory_order_relaxed);
    }
    atomic_store(&w->left, w->num_local);
    w->watch = (end_watch){0};
    raise_started(w);
}

/* Gives up the first rank that has not returned; the next has the whole limit again. */
static void abandon_one(tsr_world *w)
{
    for (int64_t i = 0; i < w->num_local; i++) {
        local_rank *r = &w->ranks[i];
        int32_t busy = RANK_BUSY;
        if (atomic_compare_exchange_strong(&r->hold, &busy, RANK_ABANDONED)) {
            team_report_end(&w->t, i, TSR_ERR_TIMEOUT, "its thread did not end and was abandoned");
            (void)pthread_detach(r->thread);
            r->has_thread = false;
            w->abandoned = w->abandoned < 0 ? i : w->abandoned;
            atomic_fetch_sub(&w->left, 1);
            return;
        }
    }
}

/* Whether all ranks have returned within some seconds; ranks that exceed their limit are given up.
 */
static bool await_ranks(tsr_world *w, double seconds)
{
    const uint32_t before = atomic_load(&w->started) - 1;
    const double deadline = seconds < 0 ? HUGE_VAL : clock_seconds() + seconds;
    while (atomic_load(&w->left) > 0) {
        if (team_is_overdue(&w->t, team_num_running(&w->t), &w->watch)) {
            abandon_one(w);
            continue;
        }
        const double rest = deadline - clock_seconds();
        if (rest <= 0) {
            return false;
        }
        sleep_while(&w->ended, before, rest < SECONDS_BETWEEN_LOOKS ? rest : SECONDS_BETWEEN_LOOKS);
    }
    return true;
}

static tsr_status start_threads(tsr_world *w)
{
    for (int64_t i = 0; i < w->num_local; i++) {
        local_rank *r = &w->ranks[i];
        atomic_fetch_add(&w->holders, 1);
        const int error = pthread_create(&r->thread, NULL, serve, r);
        r->has_thread = error == 0;
        if (error != 0) {
            atomic_fetch_sub(&w->holders, 1);
            return diag_error(w->ctx, TSR_ERR_NOMEM, NO_LOCATION,
                              "rank %lld: its thread could not be started: %s", (long long)i,
                              strerror(error));
        }
    }
    return TSR_OK;
}

/* Ends the threads that were not abandoned. */
static void end_threads(tsr_world *w)
{
    w->closing = true;
    raise_started(w);
    for (int64_t i = 0; i < w->num_local; i++) {
        if (w->ranks[i].has_thread) {
            (void)pthread_join(w->ranks[i].thread, NULL);
        }
    }
}

/* ---- opening ---- */

static tsr_status new_world(tsr_context *ctx, bool named, tsr_world **out)
{
    tsr_context *shared = NULL;
    if (tsr_context_create(NULL, &shared) < 0) {
        return diag_nomem(ctx);
    }
    tsr_world *w = context_resize(shared, NULL, 0, sizeof *w);
    if (w == NULL) {
        tsr_context_destroy(shared);
        return diag_nomem(ctx);
    }
    *w = (tsr_world){.ctx = ctx,
                     .shared = shared,
                     .named = named,
                     .forks = atomic_load(&forks),
                     .abandoned = -1,
                     .holders = 1};
    *out = w;
    return TSR_OK;
}

static tsr_status add_ranks(tsr_world *w, int64_t size, int64_t count, int64_t first)
{
    const size_t n = (size_t)count;
    w->size = size;
    w->num_local = count;
    w->ranks = context_resize(w->shared, NULL, 0, n * sizeof *w->ranks);
    w->comms = context_resize(w->shared, NULL, 0, n * sizeof *w->comms);
    if (w->ranks == NULL || w->comms == NULL) {
        (void)context_resize(w->shared, w->ranks, n * sizeof *w->ranks, 0);
        w->ranks = NULL;
        return diag_nomem(w->ctx);
    }
    for (int64_t i = 0; i < count; i++) {
        w->ranks[i] = (local_rank){.world = w, .rank = first + i};
    }
    return TSR_OK;
}

/* Puts the communicator of a rank into the world, which may stop it. */
static void add_comm(local_rank *r, int64_t i)
{
    r->comm->state->stopped = &r->world->stopped;
    r->world->comms[i] = r->comm;
}

/* A rank of threads; its failure is reported as that of its function would be. */
static void open_rank(local_rank *r)
{
    tsr_status status = tsr_context_create(NULL, &r->ctx);
    if (status == TSR_OK) {
        status = comm_open_world(r->ctx, &r->world->t, r->rank, &r->comm);
    }
    if (status < 0) {
        team_report(&r->world->t, r->rank, status, r->ctx);
    } else {
        add_comm(r, r->rank);
    }
}

static tsr_status open_threads(tsr_world *w, const tsr_launch_spec *spec)
{
    const int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    TSR_TRY(team_open(w->ctx, spec, true, &w->t));
    plan_store_init(&w->plans, w->shared);
    w->t.plans = &w->plans;
    TSR_TRY(add_ranks(w, w->t.num_ranks, w->t.num_ranks, 0));
    for (int64_t i = 0; i < w->num_local; i++) {
        open_rank(&w->ranks[i]);
    }
    TSR_TRY(team_collect(w->ctx, &w->t, w->named));
    blas_share_take(&w->cores, (int)max_i64(cores / w->num_local, 1));
    return w->num_local > 1 ? start_threads(w) : TSR_OK;
}

/* This process becomes one of the ranks that mpirun started. */
static tsr_status open_mpi(tsr_world *w, const char *mpi, const tsr_launch_spec *spec)
{
    tsr_transport transport;
    TSR_TRY(plugin_open_world(w->ctx, mpi, &transport));
    tsr_status status = add_ranks(w, transport.size, 1, transport.rank);
    status = status < 0 ? status : tsr_context_create(NULL, &w->ranks[0].ctx);
    if (status < 0) {
        transport.close(transport.state, TSR_END_BROKEN);
        return diag_nomem(w->ctx);
    }
    local_rank *r = &w->ranks[0];
    status = joined_open(r->ctx, &transport, spec, &r->comm);
    if (status < 0) {
        return diag_error(w->ctx, status, NO_LOCATION, "%s", last_error_text(r->ctx));
    }
    w->joined = true;
    add_comm(r, 0);
    return TSR_OK;
}

static tsr_status open_here(tsr_world *w, const tsr_launch_spec *spec)
{
    const bool may_join = spec->ranks == TSR_RANKS_AUTO || spec->ranks == TSR_RANKS_MPI;
    const char *mpi = may_join ? plugin_of_launcher() : NULL;
    if (mpi != NULL) {
        return open_mpi(w, mpi, spec);
    }
    if (spec->ranks == TSR_RANKS_MPI) {
        return diag_error(w->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "no MPI launcher started this process; start it with mpirun, or set "
                          "TSR_MPI to openmpi or mpich");
    }
    return open_threads(w, spec);
}

/* Ends what runs in the world, and lets go of it. */
static void finish(tsr_world *w)
{
    if (w->num_local > 1) {
        end_threads(w);
    }
    blas_share_release(&w->cores);
    let_go(w);
}

static tsr_status open_world(tsr_context *ctx, const tsr_launch_spec *spec, bool named,
                             tsr_world **out)
{
    tsr_world *w = NULL;
    TSR_TRY(new_world(ctx, named, &w));
    const tsr_status status = open_here(w, spec);
    if (status < 0) {
        finish(w);
        return status;
    }
    *out = w;
    return TSR_OK;
}

tsr_status tsr_world_open(tsr_context *ctx, const tsr_launch_spec *spec, tsr_world **out)
{
    GUARD(tsr_world_open);
    if (spec->ranks == TSR_RANKS_PROCESSES) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "tsr_world_open: forked processes cannot stay open; use tsr_launch, "
                          "threads, or processes started by mpirun");
    }
    TSR_TRY(open_world(ctx, spec, false, out));
    (*out)->stays = true;
    return TSR_OK;
}

static tsr_status open_abstract(tsr_world *w, int64_t num_ranks, int64_t rank)
{
    TSR_TRY(add_ranks(w, num_ranks, 1, rank));
    w->t = (team){.num_ranks = num_ranks, .threads = true, .abstract = true, .name = "abstract"};
    w->ranks[0].ctx = w->ctx;
    TSR_TRY(comm_open_world(w->ctx, &w->t, rank, &w->ranks[0].comm));
    add_comm(&w->ranks[0], 0);
    return TSR_OK;
}

static tsr_status new_abstract(tsr_context *ctx, const char *call, int64_t num_ranks, int64_t rank,
                               tsr_world **out)
{
    tsr_world *w = NULL;
    if (num_ranks < 1 || rank < 0 || rank >= num_ranks) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: rank %lld is out of range: the world has %lld ranks", call,
                          (long long)rank, (long long)num_ranks);
    }
    TSR_TRY(new_world(ctx, false, &w));
    const tsr_status status = open_abstract(w, num_ranks, rank);
    if (status < 0) {
        finish(w);
        return status;
    }
    *out = w;
    return TSR_OK;
}

tsr_status tsr_world_open_abstract(tsr_context *ctx, int64_t num_ranks, int64_t rank,
                                   tsr_world **out)
{
    GUARD(tsr_world_open_abstract);
    return new_abstract(ctx, "tsr_world_open_abstract", num_ranks, rank, out);
}

/* ---- running ---- */

/* Refuses what cannot be done from a rank's function, or in a child of the process. */
static tsr_status check_caller(const tsr_world *w, const char *call)
{
    const local_rank *caller = running != NULL ? calling_rank(w) : NULL;
    if (caller != NULL) {
        return diag_error(caller->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: called by the function that rank %lld of this world runs; return "
                          "from the function first",
                          call, (long long)caller->rank);
    }
    if (is_of_parent(w)) {
        return diag_error(w->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the world was opened before a fork and its ranks are in the parent "
                          "process; open another world in this process",
                          call);
    }
    return TSR_OK;
}

/* Refuses a run that cannot be started. */
static tsr_status check_run(const tsr_world *w, const char *call)
{
    TSR_TRY(check_caller(w, call));
    if (w->phase != WORLD_IDLE) {
        return diag_error(w->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: a run is in progress; wait for it first (tsr_world_wait)", call);
    }
    if (w->abandoned >= 0) {
        return diag_error(
            w->ctx, TSR_ERR_TIMEOUT, NO_LOCATION,
            "%s: rank %lld did not return from an earlier run; the world can only be closed", call,
            (long long)w->abandoned);
    }
    if (atomic_load_explicit(&w->stopped, memory_order_relaxed)) {
        return diag_error(w->ctx, TSR_ERR_PEER, NO_LOCATION,
                          "%s: the world was stopped and can only be closed", call);
    }
    return TSR_OK;
}

/*
 * Runs a function on the only rank. The thread may be a rank of another world, which goes on to
 * show its progress there afterwards.
 */
static tsr_status run_single(tsr_world *w, tsr_rank_function function, void *state)
{
    local_rank *r = &w->ranks[0];
    const progress_target before = progress_get();
    clear_messages(r);
    w->phase = WORLD_RUNNING;
    const tsr_status status = call_function(r, function, state);
    w->phase = WORLD_IDLE;
    progress_set(before);
    if (status < 0 && r->ctx != w->ctx) {
        team_collect_one(w->ctx, w->named ? r->rank : -1, status, r->ctx);
    }
    return w->outcome = status;
}

static void start(tsr_world *w, tsr_rank_function function, void *state)
{
    w->function = function;
    w->state = state;
    w->phase = WORLD_RUNNING;
    start_ranks(w);
}

/* What the ranks came to, once all have returned. */
static tsr_status collect(tsr_world *w)
{
    w->phase = WORLD_IDLE;
    for (int64_t i = 0; i < w->num_local; i++) {
        w->abandoned = atomic_load(&w->ranks[i].gone) ? i : w->abandoned;
    }
    const tsr_status status = team_collect(w->ctx, &w->t, w->named);
    if (status < 0 && w->abandoned < 0) {
        comm_settle(w->comms, w->num_local);
    }
    return status;
}

static tsr_status run(tsr_world *w, tsr_rank_function function, void *state)
{
    if (w->num_local == 1) {
        const tsr_status status = run_single(w, function, state);
        return status < 0 ? status : TSR_OK;
    }
    start(w, function, state);
    (void)await_ranks(w, -1);
    return collect(w);
}

tsr_status tsr_world_run(tsr_world *world, tsr_rank_function function, void *state)
{
    GUARD(tsr_world_run);
    TSR_TRY(check_run(world, "tsr_world_run"));
    return run(world, function, state);
}

/* A single rank runs at once; what it came to is kept for the wait. */
tsr_status tsr_world_start(tsr_world *world, tsr_rank_function function, void *state)
{
    GUARD(tsr_world_start);
    TSR_TRY(check_run(world, "tsr_world_start"));
    if (world->num_local > 1) {
        start(world, function, state);
        return TSR_OK;
    }
    (void)run_single(world, function, state);
    world->phase = WORLD_RUNNING;
    return TSR_OK;
}

static tsr_status wait_for(tsr_world *w, double seconds)
{
    if (w->num_local == 1) {
        w->phase = WORLD_IDLE;
        return w->outcome < 0 ? w->outcome : TSR_OK;
    }
    return await_ranks(w, seconds) ? collect(w) : TSR_IN_PROGRESS;
}

tsr_status tsr_world_wait(tsr_world *world, double seconds)
{
    GUARD(tsr_world_wait);
    TSR_TRY(check_caller(world, "tsr_world_wait"));
    if (isnan(seconds)) {
        return diag_error(
            world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_world_wait: the seconds must be a number (negative for no limit), got: %g",
            seconds);
    }
    if (world->phase != WORLD_RUNNING) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_world_wait: no run is in progress; start one (tsr_world_start), and "
                          "wait for it once");
    }
    return wait_for(world, seconds);
}

void tsr_world_stop(tsr_world *world)
{
    GUARD(tsr_world_stop);
    if (!is_of_parent(world)) {
        atomic_store(&world->stopped, true);
    }
}

/* ---- closing ---- */

/* Ends this process's rank with a status; what all ranks came to goes to the caller's context. */
static tsr_status close_joined(tsr_world *w, tsr_status status)
{
    const tsr_status ended = joined_close(w->ranks[0].comm, w->ctx, status);
    w->ranks[0].comm = NULL;
    finish(w);
    return ended;
}

/* Ranks that wait for this one learn why its last run failed, or that it was stopped. */
static void leave_reason(const tsr_world *w)
{
    const local_rank *r = &w->ranks[0];
    const bool stopped = atomic_load(&w->stopped);
    if (stopped || w->outcome < 0) {
        team_leave_text(r->comm->team, r->rank,
                        stopped ? "the world was stopped" : last_error_text(r->ctx));
    }
}

tsr_status tsr_world_close(tsr_world *world)
{
    GUARD(tsr_world_close);
    tsr_status status = TSR_OK;
    if (world == NULL) {
        return TSR_OK;
    }
    if (is_of_parent(world)) {
        team_unmap(&world->t);
        blas_share_release(&world->cores);
        return TSR_OK;
    }
    TSR_TRY(check_caller(world, "tsr_world_close"));
    if (world->phase == WORLD_RUNNING) {
        status = wait_for(world, -1);
    }
    if (!world->joined) {
        finish(world);
        return status;
    }
    leave_reason(world);
    const tsr_status closed = close_joined(world, TSR_OK);
    return status < 0 ? status : closed;
}

tsr_status world_launch(tsr_context *ctx, const tsr_launch_spec *spec, tsr_rank_function function,
                        void *state)
{
    tsr_world *w = NULL;
    TSR_TRY(open_world(ctx, spec, true, &w));
    if (w->joined) {
        return close_joined(w, rank_run(w->ranks[0].comm, function, state));
    }
    const tsr_status status = run(w, function, state);
    finish(w);
    return status;
}

tsr_status tsr_launch_abstract(tsr_context *ctx, int64_t num_ranks, int64_t rank,
                               tsr_rank_function function, void *state)
{
    GUARD(tsr_launch_abstract);
    tsr_world *w = NULL;
    TSR_TRY(new_abstract(ctx, "tsr_launch_abstract", num_ranks, rank, &w));
    const tsr_status status = run_single(w, function, state);
    finish(w);
    return status;
}

/* ---- looking ---- */

int64_t tsr_world_size(const tsr_world *world)
{
    GUARD(tsr_world_size);
    return is_of_parent(world) ? -1 : world->size;
}

int64_t tsr_world_num_local(const tsr_world *world)
{
    GUARD(tsr_world_num_local);
    return is_of_parent(world) ? -1 : world->num_local;
}

tsr_comm *tsr_world_comm(const tsr_world *world, int64_t i)
{
    GUARD(tsr_world_comm);
    return is_of_parent(world) || i < 0 || i >= world->num_local ? NULL : world->comms[i];
}
