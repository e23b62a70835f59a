#include "rt/team.h"
#include "rt/barrier.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/environment.h"
#include "kernel/dot.h"
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
static tsr_status read_environment(tsr_context *ctx, bool *checked, int64_t *segment_bytes)
{
    static const char *const transports[] = {"shared", "message", NULL};
    int transport = 0;
    int64_t bytes = 0;
    TSR_TRY(environment_word(ctx, "TSR_TRANSPORT", transports, &transport));
    TSR_TRY(environment_count(ctx, "TSR_MESSAGE_BYTES", &bytes));
    TSR_TRY(environment_count(ctx, "TSR_SEGMENT_BYTES", segment_bytes));
    return environment_flag(ctx, "TSR_CHECK", checked);
}

/* The address space of a rank: what the program says, the environment, or the machine. */
static size_t choose_segment(const tsr_launch_spec *spec, int64_t environment)
{
    if (spec->segment_bytes > 0) {
        return spec->segment_bytes;
    }
    return environment > 0 ? (size_t)environment : default_segment();
}

static tsr_status no_address_space(tsr_context *ctx, int64_t num_ranks, size_t each,
                                   const char *reason)
{
    return diag_error(
        ctx, TSR_ERR_NOMEM, NO_LOCATION,
        "no address space for %lld ranks of %zu bytes: %s; set segment_bytes of the launch, or the "
        "variable TSR_SEGMENT_BYTES, to the bytes that the tensors of one rank need",
        (long long)num_ranks, each, reason);
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
    int64_t segment_bytes = 0;
    TSR_TRY(read_environment(ctx, &checked, &segment_bytes));
    const size_t each = choose_segment(spec, segment_bytes);
    if (each > PTRDIFF_MAX / 2 / (size_t)num_ranks) {
        return no_address_space(ctx, num_ranks, each, "the total exceeds the address space");
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

/* Where the address space is limited, whether CBLAS finds its buffers: it would not return. */
static tsr_status check_room(tsr_context *ctx, int64_t callers)
{
    const size_t room = blas_room(callers);
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    if (room == 0 || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return TSR_OK;
    }
    void *probe = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe != MAP_FAILED) {
        (void)munmap(probe, room);
        return TSR_OK;
    }
    return diag_error(
        ctx, TSR_ERR_NOMEM, NO_LOCATION,
        "the address space limit, %llu bytes, leaves no room for the buffers of OpenBLAS, %zu "
        "bytes: raise the limit (ulimit -v), use fewer ranks or threads (OPENBLAS_NUM_THREADS=1), "
        "or make segments smaller (TSR_SEGMENT_BYTES)",
        (unsigned long long)limit.rlim_cur, room);
}

tsr_status team_map(tsr_context *ctx, team *t, bool shared)
{
    const int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
    lay_out_control(t, map_memory(NULL, t->control_bytes, flags, -1));
    t->segments = map_memory(NULL, (size_t)t->num_ranks * t->segment_bytes, flags, -1);
    if (t->world != NULL && t->segments != NULL) {
        const tsr_status status = check_room(ctx, shared ? 1 : t->num_ranks);
        if (status < 0) {
            team_unmap(t);
        }
        return status;
    }
    const int error = errno;
    team_unmap(t);
    return no_address_space(ctx, t->num_ranks, t->segment_bytes, strerror(error));
}

tsr_status team_open(tsr_context *ctx, const tsr_launch_spec *spec, bool threads, team *t)
{
    const int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    TSR_TRY(team_init(ctx, spec, spec->num_ranks != 0 ? spec->num_ranks : max_i64(cores, 1), t));
    t->threads = threads;
    t->name = threads ? "threads" : "processes";
    return team_map(ctx, t, !threads);
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

/* A report that is being written: strings one after the other, the last one empty. */
typedef struct report {
    char *bytes;
    size_t used;
} report;

/* Adds to the last string; a text that is too long for the rest ends in an ellipsis. */
static void report_add(report *r, const char *text)
{
    static const char cut[] = " ...";
    const size_t room = REPORT_BYTES - 2 - r->used;
    const size_t length = strlen(text);
    const size_t taken = length <= room ? length : room;
    memcpy(r->bytes + r->used, text, taken);
    r->used += taken;
    if (taken < length && r->used >= sizeof cut) {
        memcpy(r->bytes + r->used - (sizeof cut - 1), cut, sizeof cut - 1);
    }
}

/* Ends a string, if there is room for another. */
static void report_end_string(report *r)
{
    if (r->used < REPORT_BYTES - 2) {
        r->bytes[r->used++] = '\0';
    }
}

static void report_add_message(report *r, const tsr_diagnostic *d)
{
    char place[CALL_TEXT];
    if (d->line > 0) {
        (void)snprintf(place, sizeof place, "%s:%lld:%lld: ", d->file, (long long)d->line,
                       (long long)d->column);
        report_add(r, place);
    }
    report_add(r, d->text);
    report_end_string(r);
}

static void set_state(const team *t, int64_t rank, tsr_status status, int32_t state)
{
    t->ranks[rank].status = (int32_t)status;
    atomic_store(&t->ranks[rank].state, state);
}

void team_restart(const team *t)
{
    for (int64_t i = 0; i < t->num_ranks; i++) {
        if (t->ranks[i].report[0] != '\0') {
            memset(t->ranks[i].report, 0, REPORT_BYTES);
        }
        set_state(t, i, TSR_OK, RANK_RUNNING);
    }
}

void team_leave_text(const team *t, int64_t rank, const char *text)
{
    report r = {.bytes = t->ranks[rank].report};
    memset(r.bytes, 0, REPORT_BYTES);
    report_add(&r, text);
}

void team_report_end(const team *t, int64_t rank, tsr_status status, const char *text)
{
    team_leave_text(t, rank, text);
    set_state(t, rank, status, status < 0 ? RANK_FAILED : RANK_ENDED);
}

void team_report_death(const team *t, int64_t rank, const char *text)
{
    team_leave_text(t, rank, text);
    set_state(t, rank, TSR_ERR_PEER, RANK_DIED);
}

/* The last error of a context and its notes. */
static void report_context(char *bytes, const tsr_context *ctx)
{
    const tsr_diagnostic *error = ctx != NULL ? last_error(ctx) : NULL;
    report r = {.bytes = bytes};
    if (error != NULL) {
        memset(r.bytes, 0, REPORT_BYTES);
        report_add_message(&r, error);
        for (const tsr_diagnostic *note = error->notes; note != NULL; note = note->next) {
            report_add_message(&r, note);
        }
    }
}

void team_report(const team *t, int64_t rank, tsr_status status, const tsr_context *ctx)
{
    if (status < 0) {
        report_context(t->ranks[rank].report, ctx);
    }
    set_state(t, rank, status, status < 0 ? RANK_FAILED : RANK_ENDED);
}

void team_look_for_deaths(const team *t)
{
    for (int64_t i = 0; t->pidfds != NULL && i < t->num_ranks; i++) {
        struct pollfd life = {.fd = t->pidfds[i], .events = POLLIN};
        if (life.fd >= 0 && !team_is_done(t, i) && poll(&life, 1, 0) > 0 && !team_is_done(t, i)) {
            team_report_death(t, i, "its process ended");
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

int64_t team_num_running(const team *t)
{
    int64_t running = 0;
    for (int64_t i = 0; i < t->num_ranks; i++) {
        running += !team_is_done(t, i);
    }
    return running;
}

bool team_is_overdue(const team *t, int64_t running, end_watch *w)
{
    const double now = clock_seconds();
    bool failed = false;
    for (int64_t i = 0; i < t->num_ranks; i++) {
        const int32_t state = atomic_load(&t->ranks[i].state);
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

/* Whether a rank only met the failure of another. */
static bool met_failure(const rank_shared *r)
{
    return atomic_load(&r->state) == RANK_FAILED && r->status == (int32_t)TSR_ERR_PEER;
}

/*
 * Whether a rank failed as another did: in state, status and report. The notes of ranks that met
 * the failure of another say who noticed it first, and do not count.
 */
static bool failed_alike(const rank_shared *a, const rank_shared *b)
{
    return atomic_load(&a->state) == atomic_load(&b->state) && a->status == b->status &&
           (met_failure(a) ? strcmp(a->report, b->report)
                           : memcmp(a->report, b->report, REPORT_BYTES)) == 0;
}

/* Whether a rank before this one failed in the same way, and has the message. */
static bool is_told(const team *t, int64_t rank)
{
    for (int64_t i = 0; i < rank; i++) {
        if (failed_alike(&t->ranks[i], &t->ranks[rank])) {
            return true;
        }
    }
    return false;
}

/* Whether all ranks failed in the same way. */
static bool all_failed_alike(const team *t)
{
    int64_t alike = 0;
    while (alike < t->num_ranks && failed_alike(&t->ranks[0], &t->ranks[alike])) {
        alike++;
    }
    return alike == t->num_ranks;
}

/* `rank 2` or `ranks 0-3, 6`: the ranks that failed as this one did; "?" without memory. */
static const char *list_alike(const team *t, int64_t first, tsr_arena *arena)
{
    buffer text = buffer_new(arena);
    int64_t count = 0;
    for (int64_t i = first; i < t->num_ranks;) {
        int64_t end = i;
        while (end < t->num_ranks && failed_alike(&t->ranks[first], &t->ranks[end])) {
            end++;
        }
        if (end > i) {
            buffer_format(&text, count > 0 ? ", %lld" : "%lld", (long long)i);
            count += end - i;
        }
        if (end > i + 1) {
            buffer_format(&text, "-%lld", (long long)end - 1);
        }
        i = end > i ? end : i + 1;
    }
    buffer_char(&text, '\0');
    buffer whole = buffer_new(arena);
    buffer_format(&whole, "rank%s %s", count > 1 ? "s" : "", text.failed ? "?" : text.data);
    buffer_char(&whole, '\0');
    return whole.failed ? "?" : whole.data;
}

/* `ranks` is NULL where all failed: the message is theirs alone. */
static void add_message(tsr_context *ctx, const rank_shared *r, const char *ranks)
{
    const tsr_status status = (tsr_status)r->status;
    if (r->report[0] == '\0') {
        ranks = ranks != NULL ? ranks : "the function of the ranks";
        (void)diag_error(ctx, status, NO_LOCATION, "%s returned %s without a message", ranks,
                         tsr_status_name(status));
        (void)diag_note(ctx, NO_LOCATION,
                        "the function of the program returned this status itself; a failed library "
                        "call leaves a message in tsr_comm_context(world)");
        return;
    }
    const char *how = atomic_load(&r->state) == RANK_DIED ? " died: " : " failed: ";
    (void)diag_error(ctx, status, NO_LOCATION, "%s%s%s", ranks != NULL ? ranks : "",
                     ranks != NULL ? how : "", r->report);
    for (const char *note = r->report + strlen(r->report) + 1;
         note < r->report + REPORT_BYTES && *note != '\0'; note += strlen(note) + 1) {
        (void)diag_note(ctx, NO_LOCATION, "%s", note);
    }
}

void team_collect_one(tsr_context *ctx, int64_t rank, tsr_status status, const tsr_context *own)
{
    rank_shared alone = {.state = RANK_FAILED, .status = (int32_t)status};
    char name[CALL_TEXT];
    (void)snprintf(name, sizeof name, "rank %lld", (long long)rank);
    report_context(alone.report, own);
    add_message(ctx, &alone, rank >= 0 ? name : NULL);
}

tsr_status team_collect(tsr_context *ctx, const team *t, bool named)
{
    tsr_status status = TSR_OK;
    tsr_arena *arena = NULL;
    for (int64_t i = 0; i < t->num_ranks; i++) {
        status = status < 0 ? status : (tsr_status)t->ranks[i].status;
    }
    if (status >= 0 || tsr_arena_create(ctx, &arena) < 0) {
        return status < 0 ? status : TSR_OK;
    }
    const bool bare = !named && all_failed_alike(t);
    for (int met = 0; met < 2; met++) {
        for (int64_t i = 0; i < t->num_ranks; i++) {
            const rank_shared *r = &t->ranks[i];
            if (r->status < 0 && met_failure(r) == (met == 1) && !is_told(t, i)) {
                add_message(ctx, r, bare ? NULL : list_alike(t, i, arena));
            }
        }
    }
    tsr_arena_destroy(arena);
    return status;
}
