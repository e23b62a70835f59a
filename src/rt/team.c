#include "rt/team.h"
#include "rt/barrier.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/environment.h"
#include "rt/comm.h"

#define DEFAULT_TIMEOUT 60.0

static size_t round_to_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* As much address space for each rank as the machine has memory. */
static size_t default_segment(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const size_t least = (size_t)1 << 30;
    return pages > 0 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : least;
}

/* What the environment says of worlds; what is read later is refused here already, on all ranks. */
static tsr_status read_environment(tsr_context *ctx, bool *checked)
{
    static const char *const transports[] = {"shared", "message", NULL};
    int transport = 0;
    int64_t bytes = 0;
    TSR_TRY(environment_word(ctx, "TSR_TRANSPORT", transports, &transport));
    TSR_TRY(environment_count(ctx, "TSR_MESSAGE_BYTES", &bytes));
    return environment_flag(ctx, "TSR_CHECK", checked);
}

tsr_status team_init(tsr_context *ctx, const tsr_launch_spec *spec, int64_t num_ranks, team *t)
{
    if (num_ranks < 1 || num_ranks > COMM_MAX_RANKS) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the number of ranks must be 1 to %d, got: %lld", COMM_MAX_RANKS,
                          (long long)num_ranks);
    }
    if (!(spec->timeout >= 0)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the time-out must not be negative, got: %g seconds", spec->timeout);
    }
    if (!(spec->end_timeout >= 0)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the limit for the last rank must not be negative, got: %g seconds",
                          spec->end_timeout);
    }
    bool checked = false;
    TSR_TRY(read_environment(ctx, &checked));
    const size_t each = spec->segment_bytes > 0 ? spec->segment_bytes : default_segment();
    if (each > PTRDIFF_MAX / 2 / (size_t)num_ranks) {
        return diag_error(ctx, TSR_ERR_NOMEM, NO_LOCATION,
                          "no address space for %lld ranks of %zu bytes", (long long)num_ranks,
                          each);
    }
    *t = (team){.num_ranks = num_ranks,
                .segment_bytes = round_to_pages(each),
                .timeout = spec->timeout > 0 ? spec->timeout : DEFAULT_TIMEOUT,
                .end_timeout = spec->end_timeout,
                .checked = checked || spec->checked,
                .spin = num_ranks <= sysconf(_SC_NPROCESSORS_ONLN)};
    t->control_bytes = round_to_pages(comm_shared_bytes(num_ranks)) +
                       round_to_pages((size_t)num_ranks * sizeof(rank_shared));
    return TSR_OK;
}

/* Address space; pages are allocated when they are touched. */
static void *map_memory(void *where, size_t bytes, int flags, int file)
{
    void *memory = mmap(where, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static void lay_out_control(team *t, void *control)
{
    const size_t world = round_to_pages(comm_shared_bytes(t->num_ranks));
    t->world = control;
    t->ranks = control != NULL ? (rank_shared *)(void *)((char *)control + world) : NULL;
}

tsr_status team_map(tsr_context *ctx, team *t, bool shared)
{
    const int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
    lay_out_control(t, map_memory(NULL, t->control_bytes, flags, -1));
    t->segments = map_memory(NULL, (size_t)t->num_ranks * t->segment_bytes, flags, -1);
    if (t->world != NULL && t->segments != NULL) {
        return TSR_OK;
    }
    const int error = errno;
    team_unmap(t);
    return diag_error(ctx, TSR_ERR_NOMEM, NO_LOCATION,
                      "no address space for %lld ranks of %zu bytes: %s", (long long)t->num_ranks,
                      t->segment_bytes, strerror(error));
}

bool team_map_files(team *t, int control, const int *segments)
{
    const size_t each = t->segment_bytes;
    const int reserve = MAP_PRIVATE | MAP_ANONYMOUS;
    bool complete = true;
    lay_out_control(t, map_memory(NULL, t->control_bytes, MAP_SHARED, control));
    t->segments = map_memory(NULL, (size_t)t->num_ranks * each, reserve, -1);
    for (int64_t i = 0; t->segments != NULL && complete && i < t->num_ranks; i++) {
        complete = map_memory(t->segments + (size_t)i * each, each, MAP_SHARED | MAP_FIXED,
                              segments[i]) != NULL;
    }
    complete = complete && t->world != NULL && t->segments != NULL;
    if (!complete) {
        team_unmap(t);
    }
    return complete;
}

void team_unmap(team *t)
{
    if (t->world != NULL) {
        (void)munmap(t->world, t->control_bytes);
    }
    if (t->segments != NULL) {
        (void)munmap(t->segments, (size_t)t->num_ranks * t->segment_bytes);
    }
    t->world = NULL;
    t->segments = NULL;
}

void team_report_end(const team *t, int64_t rank, tsr_status status, const char *text)
{
    rank_shared *shared = &t->ranks[rank];
    const size_t length = strnlen(text, CALL_TEXT - 1);
    memcpy(shared->text, text, length);
    shared->text[length] = '\0';
    shared->status = (int32_t)status;
    atomic_store(&shared->state, status < 0 ? RANK_FAILED : RANK_ENDED);
}

void team_look_for_deaths(const team *t)
{
    static const char gone[] = "its process is gone";
    for (int64_t i = 0; t->pidfds != NULL && i < t->num_ranks; i++) {
        struct pollfd life = {.fd = t->pidfds[i], .events = POLLIN};
        if (life.fd >= 0 && !team_is_done(t, i) && poll(&life, 1, 0) > 0 && !team_is_done(t, i)) {
            rank_shared *shared = &t->ranks[i];
            memcpy(shared->text, gone, sizeof gone);
            shared->status = (int32_t)TSR_ERR_PEER;
            atomic_store(&shared->state, RANK_DIED);
        }
    }
}

/* How long ranks may go on once no other ends: by the caller's limit, or after a failure. */
static double end_limit(const team *t, int64_t running, bool failed)
{
    if (t->end_timeout > 0 && running == 1 && t->num_ranks > 1) {
        return t->end_timeout;
    }
    return failed ? t->timeout : HUGE_VAL;
}

bool team_is_overdue(const team *t, end_watch *w)
{
    const double now = clock_seconds();
    int64_t running = 0;
    bool failed = false;
    for (int64_t i = 0; i < t->num_ranks; i++) {
        const int32_t state = atomic_load(&t->ranks[i].state);
        running += state == RANK_RUNNING;
        failed = failed || state == RANK_FAILED || state == RANK_DIED;
    }
    if (running != w->running || failed != w->failed) {
        *w = (end_watch){.running = running, .failed = failed, .since = now};
    }
    return running > 0 && now - w->since > end_limit(t, running, failed);
}

bool team_is_done(const team *t, int64_t rank)
{
    return atomic_load(&t->ranks[rank].state) != RANK_RUNNING;
}

bool team_others_are_done(const team *t, int64_t rank)
{
    for (int64_t i = 0; i < t->num_ranks; i++) {
        if (i != rank && !team_is_done(t, i)) {
            return false;
        }
    }
    return true;
}

tsr_status team_collect(tsr_context *ctx, const team *t)
{
    tsr_status status = TSR_OK;
    for (int64_t i = 0; i < t->num_ranks; i++) {
        const rank_shared *r = &t->ranks[i];
        const int32_t state = atomic_load(&r->state);
        if (state == RANK_ENDED) {
            continue;
        }
        const tsr_status of_rank = (tsr_status)r->status;
        (void)diag_error(ctx, of_rank, NO_LOCATION, "rank %lld %s: %s", (long long)i,
                         state == RANK_DIED ? "died" : "failed", r->text);
        status = status < 0 ? status : of_rank;
    }
    return status;
}
