#include "rt/joined.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "kernel/dot.h"
#include "kernel/progress.h"
#include "rt/control.h"
#include "rt/plugin.h"
#include "rt/proc.h"
#include "rt/request.h"

enum { HOST_BYTES = 96 };
#define SECONDS_TO_SETTLE 1.0

/* What a process tells its peers, so that they can reach it. */
typedef struct peer_info {
    char host[HOST_BYTES]; /* the same for processes that share one pid name space */
    int64_t pid;
    int64_t control; /* descriptors of the memory that it shares, -1 for none */
    int64_t segment;
    uint64_t segment_bytes;
    uint64_t message_bytes; /* the largest fragment that it would send */
    uint64_t record_bytes;  /* of what it sends at each rendezvous */
    int64_t message;        /* whether it wants no memory shared */
    int64_t checked;        /* whether it wants calls compared */
    int64_t reaches;        /* in the second round: whether it has mapped the memory of all peers */
} peer_info;

/* A world and its resources. */
typedef struct joined {
    struct joined *next; /* in the list of those that are never freed */
    tsr_comm *world;
    tsr_context *ctx;
    team t;
    endpoint endpoint;
    int *pidfds;
    peer_info *peers;
    bool settled; /* nothing is being sent from its memory */
    int control;  /* this process's, while the others open them */
    int segment;
    blas_share cores;
} joined;

/*
 * Worlds that ended while something was being sent from their memory, to ranks that are gone: a
 * transport may read it until the process ends.
 */
static _Atomic(joined *) never_freed;

/* Identifies the machine by its boot id and the pid name space: a container has its own. */
static void name_host(char *host)
{
    memset(host, 0, HOST_BYTES);
    if (!proc_read("/proc/sys/kernel/random/boot_id", host, HOST_BYTES / 2)) {
        (void)gethostname(host, HOST_BYTES / 2);
    }
    const size_t used = strnlen(host, HOST_BYTES / 2);
    (void)!readlink("/proc/self/ns/pid", host + used, HOST_BYTES - 1 - used);
}

/* Memory that other processes can map; -1 when there is none. */
static int share_memory(size_t bytes)
{
    const int file = memfd_create("tessera", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)bytes) != 0) {
        (void)close(file);
        return -1;
    }
    return file;
}

static void close_file(int *file)
{
    if (*file >= 0) {
        (void)close(*file);
    }
    *file = -1;
}

/* The size of a fragment; TSR_MESSAGE_BYTES makes it smaller, for tests. */
static size_t most_bytes(const tsr_transport *t)
{
    const char *wish = getenv("TSR_MESSAGE_BYTES");
    const long long bytes = wish != NULL ? atoll(wish) : 0;
    return bytes > 0 && (size_t)bytes < t->most_bytes ? (size_t)bytes : t->most_bytes;
}

static peer_info own_info(const joined *j)
{
    const char *wish = getenv("TSR_TRANSPORT");
    peer_info c = {.pid = getpid(),
                   .control = j->control,
                   .segment = j->segment,
                   .segment_bytes = j->t.segment_bytes,
                   .message_bytes = most_bytes(&j->endpoint.transport),
                   .record_bytes = sizeof(call_record),
                   .checked = j->t.checked,
                   .message = (wish != NULL && strcmp(wish, "message") == 0) || j->control < 0 ||
                              j->segment < 0};
    name_host(c.host);
    return c;
}

/*
 * Processes load their libraries and start at different times, which has nothing to do with how
 * long a call may take: joining waits at least this many seconds, however short the time-out is.
 */
static const double MIN_JOIN_SECONDS = 10;

/* Sends this process's information to all peers and receives theirs. */
static tsr_status all_gather_peers(joined *j)
{
    const tsr_transport *t = &j->endpoint.transport;
    const double patience = fmax(j->t.timeout, MIN_JOIN_SECONDS);
    const double deadline = clock_seconds() + patience;
    channel m;
    channel_open(&m, j->ctx, &j->endpoint, TAG_BOOT, NULL);
    tsr_status status = TSR_OK;
    for (int64_t i = 1; status == TSR_OK && i < t->size; i++) {
        const int64_t peer = (t->rank + i) % t->size;
        status = channel_receive(&m, peer, &j->peers[peer], sizeof(peer_info), (size_t)peer);
        if (status == TSR_OK) {
            status = channel_send(&m, peer, &j->peers[t->rank], sizeof(peer_info));
        }
    }
    while (status == TSR_OK && (status = channel_test(&m)) == TSR_IN_PROGRESS) {
        if (clock_seconds() > deadline) {
            status = diag_error(j->ctx, TSR_ERR_TIMEOUT, NO_LOCATION,
                                "the processes of the world did not all arrive within %g seconds",
                                patience);
            break;
        }
        (void)sched_yield();
        status = TSR_OK;
    }
    channel_close(&m);
    return status;
}

/*
 * What must be the same on all ranks: checked mode if one asks for it, the smallest fragment size,
 * the library.
 */
static tsr_status agree(joined *j)
{
    for (int64_t i = 0; i < j->t.num_ranks; i++) {
        const peer_info *c = &j->peers[i];
        if (c->record_bytes != sizeof(call_record)) {
            return diag_error(j->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                              "rank %lld runs another version of the library: its records have "
                              "%llu bytes, but those of rank %lld have %zu",
                              (long long)i, (unsigned long long)c->record_bytes,
                              (long long)j->endpoint.transport.rank, sizeof(call_record));
        }
        j->t.checked = j->t.checked || c->checked != 0;
        j->endpoint.most_bytes = c->message_bytes < j->endpoint.most_bytes
                                     ? (size_t)c->message_bytes
                                     : j->endpoint.most_bytes;
    }
    return TSR_OK;
}

/* Whether all processes are on this machine, and none of them asks for messages. */
static bool one_host(const joined *j)
{
    const peer_info *mine = &j->peers[j->endpoint.transport.rank];
    for (int64_t i = 0; i < j->t.num_ranks; i++) {
        const peer_info *c = &j->peers[i];
        if (c->message || strncmp(c->host, mine->host, HOST_BYTES) != 0 ||
            c->segment_bytes != mine->segment_bytes) {
            return false;
        }
    }
    return true;
}

static int open_of(int64_t pid, int64_t file)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)pid, (long long)file);
    return open(path, O_RDWR | O_CLOEXEC);
}

/*
 * Maps the memory of all processes; false, without a diagnostic, when one of them cannot be
 * reached.
 */
static bool map_peers(joined *j)
{
    const int64_t n = j->t.num_ranks;
    int segments[COMM_MAX_RANKS];
    int control = open_of(j->peers[0].pid, j->peers[0].control);
    bool complete = control >= 0;
    for (int64_t i = 0; i < n; i++) {
        segments[i] = complete ? open_of(j->peers[i].pid, j->peers[i].segment) : -1;
        complete = complete && segments[i] >= 0;
        j->pidfds[i] = complete && i != j->endpoint.transport.rank
                           ? (int)syscall(SYS_pidfd_open, (pid_t)j->peers[i].pid, 0)
                           : -1;
    }
    complete = complete && team_map_files(&j->t, control, segments);
    for (int64_t i = 0; i < n; i++) {
        close_file(&segments[i]);
    }
    close_file(&control);
    j->t.pidfds = j->pidfds;
    return complete;
}

static void close_pidfds(joined *j)
{
    for (int64_t i = 0; i < j->t.num_ranks; i++) {
        close_file(&j->pidfds[i]);
    }
    j->t.pidfds = NULL;
}

/* The processes of this machine, of which can be told whether they are stopped. */
static void note_pids(joined *j)
{
    const peer_info *mine = &j->peers[j->endpoint.transport.rank];
    for (int64_t i = 0; i < j->t.num_ranks; i++) {
        const peer_info *c = &j->peers[i];
        const bool here = strncmp(c->host, mine->host, HOST_BYTES) == 0;
        j->t.ranks[i].pid = here ? (int32_t)c->pid : 0;
    }
}

/* Shares memory if all processes can; else maps private memory and uses messages. */
static tsr_status share_or_not(joined *j)
{
    peer_info *mine = &j->peers[j->endpoint.transport.rank];
    *mine = own_info(j);
    TSR_TRY(all_gather_peers(j));
    TSR_TRY(agree(j));
    const bool can = one_host(j) && map_peers(j);
    mine->reaches = can;
    TSR_TRY(all_gather_peers(j));
    bool all = true;
    for (int64_t i = 0; i < j->t.num_ranks; i++) {
        all = all && j->peers[i].reaches != 0;
    }
    if (all) {
        return TSR_OK;
    }
    if (can) {
        team_unmap(&j->t);
    }
    close_pidfds(j);
    j->t.message = true;
    TSR_TRY(team_map(j->ctx, &j->t, false));
    note_pids(j);
    return TSR_OK;
}

static tsr_status check_transport(tsr_context *ctx, const tsr_transport *t,
                                  const tsr_launch_spec *spec)
{
    if (t->version != TSR_TRANSPORT_VERSION) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "the transport %s has version %u, this library version %u", t->name,
                          t->version, (unsigned)TSR_TRANSPORT_VERSION);
    }
    if (spec->num_ranks != 0 && spec->num_ranks != t->size) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the program requests %lld ranks, but %s started %lld; start as many as "
                          "requested, or request 0 to use all that were started",
                          (long long)spec->num_ranks, t->name, (long long)t->size);
    }
    return TSR_OK;
}

static void destroy(joined *j, tsr_transport_end how)
{
    tsr_context *ctx = j->ctx;
    const size_t n = (size_t)j->endpoint.transport.size;
    close_file(&j->control);
    close_file(&j->segment);
    if (j->pidfds != NULL) {
        close_pidfds(j);
    }
    j->endpoint.transport.close(j->endpoint.transport.state, how);
    if (!j->settled) {
        j->next = atomic_load(&never_freed);
        while (!atomic_compare_exchange_weak(&never_freed, &j->next, j)) {
        }
        return;
    }
    team_unmap(&j->t);
    (void)context_resize(ctx, j->pidfds, n * sizeof *j->pidfds, 0);
    (void)context_resize(ctx, j->peers, n * sizeof *j->peers, 0);
    (void)context_resize(ctx, j, sizeof *j, 0);
}

static tsr_status set_up(joined *j, const tsr_launch_spec *spec)
{
    const tsr_transport *t = &j->endpoint.transport;
    const size_t n = (size_t)t->size;
    TSR_TRY(check_transport(j->ctx, t, spec));
    TSR_TRY(team_init(j->ctx, spec, t->size, &j->t));
    j->t.name = t->name;
    j->t.endpoint = &j->endpoint;
    j->endpoint.most_bytes = t->most_bytes;
    j->pidfds = context_resize(j->ctx, NULL, 0, n * sizeof *j->pidfds);
    j->peers = context_resize(j->ctx, NULL, 0, n * sizeof *j->peers);
    if (j->pidfds == NULL || j->peers == NULL) {
        return diag_nomem(j->ctx);
    }
    memset(j->pidfds, -1, n * sizeof *j->pidfds);
    j->control = t->rank == 0 ? share_memory(j->t.control_bytes) : share_memory(1);
    j->segment = share_memory(j->t.segment_bytes);
    TSR_TRY(share_or_not(j));
    close_file(&j->control);
    close_file(&j->segment);
    return TSR_OK;
}

/* How many of the processes are on this one's machine. */
static int64_t ranks_here(const joined *j)
{
    const peer_info *mine = &j->peers[j->endpoint.transport.rank];
    int64_t count = 0;
    for (int64_t i = 0; i < j->t.num_ranks; i++) {
        count += memcmp(j->peers[i].host, mine->host, sizeof mine->host) == 0;
    }
    return max_i64(count, 1);
}

tsr_status joined_open(tsr_context *ctx, const tsr_transport *transport,
                       const tsr_launch_spec *spec, tsr_comm **world)
{
    static const tsr_launch_spec defaults;
    joined *j = context_resize(ctx, NULL, 0, sizeof *j);
    if (j == NULL) {
        transport->close(transport->state, TSR_END_BROKEN);
        return diag_nomem(ctx);
    }
    *j = (joined){.ctx = ctx,
                  .endpoint.transport = *transport,
                  .settled = true,
                  .control = -1,
                  .segment = -1};
    tsr_status status = set_up(j, spec != NULL ? spec : &defaults);
    if (status == TSR_OK) {
        status = comm_open_world(ctx, &j->t, transport->rank, world);
    }
    if (status < 0) {
        j->settled = endpoint_flush(&j->endpoint, ctx, 0);
        destroy(j, TSR_END_BROKEN);
        return status;
    }
    j->world = *world;
    j->world->state->joined = j;
    const int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    blas_share_take(&j->cores, (int)max_i64(cores / ranks_here(j), 1));
    return TSR_OK;
}

/* Waits until the other ranks have ended, or exceed their limit. Whether all have ended. */
static bool await_ends(tsr_comm *world)
{
    const team *t = world->team;
    end_watch watch = {0};
    while (!team_others_are_done(t, world->rank) &&
           !team_is_overdue(t, team_num_running(t), &watch)) {
        if (t->message) {
            control_poll(world);
        }
        team_look_for_deaths(t);
        const struct timespec nap = {.tv_nsec = 50000};
        (void)nanosleep(&nap, NULL);
    }
    bool all = true;
    for (int64_t i = 0; i < t->num_ranks; i++) {
        if (!team_is_done(t, i)) {
            team_report_end(t, i, TSR_ERR_TIMEOUT, "it did not end within the time-out");
            all = false;
        }
        all = all && atomic_load(&t->ranks[i].state) != RANK_DIED;
    }
    return all;
}

/* Whether no rank before this one lives, so that this one prints what all have. */
static bool is_first_living(const tsr_comm *world)
{
    for (int64_t i = 0; i < world->rank; i++) {
        if (atomic_load(&world->team->ranks[i].state) != RANK_DIED) {
            return false;
        }
    }
    return true;
}

/* The outcome of all ranks, which every process gets and one prints. */
static tsr_status collect(const tsr_comm *world, tsr_context *ctx)
{
    const uint64_t before = diag_count(ctx);
    const tsr_status status = team_collect(ctx, world->team, true);
    if (!is_first_living(world)) {
        diag_mark_elsewhere(ctx, before);
    }
    return status;
}

/*
 * From here on this thread shows no progress: the transport, through which it would, is closed even
 * where the world is not freed.
 */
tsr_status joined_close(tsr_comm *world, tsr_context *ctx, tsr_status status)
{
    joined *j = world->state->joined;
    team_report(world->team, world->rank, status, world->ctx);
    if (world->team->message) {
        control_send_end(world, status);
    }
    progress_set((progress_target){0});
    comm_close_control(world);
    blas_share_release(&j->cores);
    const bool all = await_ends(world);
    const tsr_status ended = collect(world, ctx);
    j->settled = endpoint_flush(&j->endpoint, j->ctx, all ? SECONDS_TO_SETTLE : 0);
    if (j->settled) {
        comm_close_world(world);
    }
    /* A rank that failed may have been sent what it no longer receives. */
    const tsr_transport_end received =
        j->endpoint.has_unreceived || ended < 0 ? TSR_END_UNRECEIVED : TSR_END_CLEAN;
    destroy(j, all && j->settled ? received : TSR_END_BROKEN);
    return ended;
}

/* Whether a transport of the caller's has all of its functions. */
static tsr_status check_functions(tsr_context *ctx, const tsr_transport *t)
{
    const bool is_whole = t->name != NULL && t->send != NULL && t->receive != NULL &&
                          t->test != NULL && t->cancel != NULL && t->probe != NULL &&
                          t->error_text != NULL && t->abort != NULL && t->close != NULL;
    return is_whole
               ? TSR_OK
               : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "tsr_comm_open: a function of the transport, or its name, is NULL");
}

/* A world that tsr_comm_close ends. */
static tsr_status open_for_program(tsr_context *ctx, const tsr_transport *transport,
                                   const tsr_launch_spec *spec, tsr_comm **world)
{
    TSR_TRY(joined_open(ctx, transport, spec, world));
    (*world)->state->closable = true;
    return TSR_OK;
}

tsr_status tsr_comm_open(tsr_context *ctx, const tsr_transport *transport,
                         const tsr_launch_spec *spec, tsr_comm **world)
{
    GUARD(tsr_comm_open);
    TSR_TRY(check_functions(ctx, transport));
    return open_for_program(ctx, transport, spec, world);
}

tsr_status tsr_comm_open_mpi(tsr_context *ctx, const void *mpi_comm, const tsr_launch_spec *spec,
                             tsr_comm **world)
{
    GUARD(tsr_comm_open_mpi);
    tsr_transport transport;
    TSR_TRY(plugin_open_comm(ctx, mpi_comm, &transport));
    return open_for_program(ctx, &transport, spec, world);
}

tsr_status tsr_comm_close(tsr_comm *world)
{
    GUARD(tsr_comm_close);
    TSR_TRY(comm_check_world(world));
    if (!world->state->closable) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_comm_close: the world was not opened by tsr_comm_open; tsr_launch "
                          "and tsr_world_close close the worlds they open");
    }
    return joined_close(world, world->ctx, requests_drop(world));
}
