/*
 * Rendezvous at the start and end of a collective, in shared memory or by control messages; and the
 * diagnostics when one fails.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "kernel/progress.h"
#include "rt/comm.h"
#include "rt/control.h"
#include "rt/proc.h"
#include "rt/request.h"

const tsr_diagnostic *last_error(const tsr_context *ctx)
{
    const tsr_diagnostic *last = NULL;
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        last = d->severity == TSR_ERROR && !d->follow_up ? d : last;
    }
    return last;
}

const char *last_error_text(const tsr_context *ctx)
{
    const tsr_diagnostic *last = last_error(ctx);
    return last != NULL ? last->text : "";
}

const call_record *comm_record(const tsr_comm *comm, int64_t member)
{
    return &comm->shared->slots[member].records[comm->calls & 1];
}

static call_record *own_record(const tsr_comm *comm)
{
    return &comm->shared->slots[comm->rank].records[comm->calls & 1];
}

void copy_call_text(char *out, const char *text)
{
    static const char cut[] = " ...";
    const size_t length = strnlen(text, CALL_TEXT - 1);
    memcpy(out, text, length);
    out[length] = '\0';
    if (text[length] != '\0') {
        memcpy(out + length - (sizeof cut - 1), cut, sizeof cut);
    }
}

static void write_record(tsr_comm *comm, const comm_call *what)
{
    call_record *record = own_record(comm);
    record->hash =
        what->hash_has_name ? what->hash : hash_bytes(what->name, strlen(what->name), what->hash);
    record->history = what->history;
    record->status = (int32_t)what->status;
    copy_call_text(record->text, what->status < 0 ? last_error_text(comm->ctx) : "");
    memcpy(record->words, what->words, sizeof record->words);
}

#define SECONDS_BETWEEN_POLLS 0.02
#define SECONDS_OF_GRACE 0.5

/* A rendezvous at the start of a call, or at its end. */
typedef struct rendezvous {
    tsr_comm *comm;
    bool leaving;
    bool watched;    /* what was seen of the members is set */
    int64_t stalled; /* a member without progress for the time-out, or -1 */
} rendezvous;

/* Whether a member has arrived. */
static bool has_arrived(const rendezvous *m, int64_t member)
{
    const comm_slot *slot = &m->comm->shared->slots[member];
    return atomic_load(m->leaving ? &slot->left : &slot->entered) >= m->comm->calls;
}

static uint64_t progress_of(const tsr_comm *comm, int64_t member)
{
    const rank_shared *r = &comm->team->ranks[tsr_comm_world_rank(comm, member)];
    return atomic_load_explicit(&r->progress, memory_order_relaxed);
}

/*
 * Whether a member that has not arrived has made progress. By messages, another one may be in the
 * call before this one and wait for its data.
 */
static bool a_member_works(const rendezvous *m)
{
    for (int64_t i = 0; i < m->comm->size; i++) {
        if (!has_arrived(m, i) && m->comm->seen[i].progress != progress_of(m->comm, i)) {
            return true;
        }
    }
    return false;
}

/*
 * Looks for a member that has not arrived and has shown no progress for the time-out, counted from
 * when this one began to wait.
 */
static bool a_member_is_stalled(rendezvous *m)
{
    const tsr_comm *comm = m->comm;
    const double now = clock_seconds();
    const bool works = m->watched && comm->team->message && a_member_works(m);
    for (int64_t i = 0; i < comm->size; i++) {
        const uint64_t progress = progress_of(comm, i);
        progress_seen *last = &comm->seen[i];
        if (!m->watched || works || last->progress != progress) {
            *last = (progress_seen){progress, now};
        } else if (now - last->since > comm->team->timeout && !has_arrived(m, i)) {
            m->stalled = i;
        }
    }
    m->watched = true;
    return m->stalled >= 0;
}

/*
 * A member that is gone and will not arrive, as a rank of the world; -1 if none.
 */
static int64_t gone_member(const rendezvous *m)
{
    const tsr_comm *comm = m->comm;
    for (int64_t i = 0; i < comm->size; i++) {
        const int64_t rank = tsr_comm_world_rank(comm, i);
        if (atomic_load(&comm->team->ranks[rank].state) != RANK_RUNNING && !has_arrived(m, i)) {
            return rank;
        }
    }
    return -1;
}

/*
 * By messages, what a member sent before it ended may arrive after the control message of its end.
 */
static bool is_final(tsr_comm *comm, bool gone)
{
    if (!gone || !comm->team->message) {
        return gone;
    }
    const double now = clock_seconds();
    comm->gone_since = comm->gone_since > 0 ? comm->gone_since : now;
    return now > comm->gone_since + SECONDS_OF_GRACE;
}

/* Whether a member that has not arrived is gone, so that waiting is pointless. */
static bool a_member_is_gone(const rendezvous *m)
{
    const double now = m->comm->team->pidfds != NULL ? clock_seconds() : 0;
    if (now > m->comm->last_poll + SECONDS_BETWEEN_POLLS) {
        team_look_for_deaths(m->comm->team);
        m->comm->last_poll = now;
    }
    return is_final(m->comm, gone_member(m) >= 0);
}

uint64_t comm_progress(const tsr_comm *comm)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < comm->size; i++) {
        sum += progress_of(comm, i);
    }
    return sum;
}

/*
 * Whether a member that shows no progress is given up. A thread that is inside a call works on the
 * caller's memory: it is waited for as long as it takes. By messages nothing waits at the end.
 */
static bool gives_up(const rendezvous *m)
{
    return !(m->leaving && (m->comm->team->threads || m->comm->team->message));
}

/* Whether processes are to be looked at again: that reads files, and requests are polled often. */
static bool is_time_to_look(tsr_comm *comm)
{
    const double now = clock_seconds();
    if (now <= comm->last_look + SECONDS_BETWEEN_POLLS) {
        return false;
    }
    comm->last_look = now;
    return true;
}

/* Whether the process of a rank of the world is stopped; no on another machine. */
static bool is_stopped(const tsr_comm *comm, int64_t rank)
{
    const int32_t pid = comm->team->ranks[rank].pid;
    return pid != 0 && proc_is_stopped(pid);
}

/*
 * Whether a member that has not finished a call that it started is stopped. One that computes may
 * take its time: it goes on with the call when it makes another, or waits.
 */
static bool a_member_is_stopped(rendezvous *m)
{
    tsr_comm *comm = m->comm;
    const bool looks = gives_up(m) && is_time_to_look(comm);
    for (int64_t i = 0; i < comm->size && looks; i++) {
        if (!has_arrived(m, i) && is_stopped(comm, tsr_comm_world_rank(comm, i))) {
            m->stalled = i;
        }
    }
    return m->stalled >= 0;
}

/* Whether tsr_world_stop has ended what this rank does. */
static bool is_world_stopped(const tsr_comm *comm)
{
    const _Atomic bool *stopped = comm->state->stopped;
    return stopped != NULL && atomic_load_explicit(stopped, memory_order_relaxed);
}

/*
 * Whether waiting has become pointless. Members that have not finished a call are using this one's
 * memory: those are waited for in a world that was stopped, too.
 */
static bool should_stop(void *state)
{
    rendezvous *m = state;
    return (!m->leaving && is_world_stopped(m->comm)) || a_member_is_gone(m) ||
           (gives_up(m) && a_member_is_stalled(m));
}

/* `1, 3` of the members of which something holds. */
static void list_members(const tsr_comm *comm, bool (*holds)(const tsr_comm *comm, int64_t member),
                         char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < comm->size && used < size; i++) {
        if (holds(comm, i)) {
            const int added = snprintf(text + used, size - used, "%s%lld", used > 0 ? ", " : "",
                                       (long long)tsr_comm_world_rank(comm, i));
            used += added > 0 ? (size_t)added : 0;
        }
    }
}

static bool member_is_stopped(const tsr_comm *comm, int64_t member)
{
    return is_stopped(comm, tsr_comm_world_rank(comm, member));
}

/* Whether a member has not entered this call. */
static bool is_missing(const tsr_comm *comm, int64_t member)
{
    return atomic_load(&comm->shared->slots[member].entered) < comm->calls;
}

/*
 * Names the stopped processes of the world in a message of a time-out: the member that this one
 * waits for may itself wait for one of them. "" when there is none.
 */
static const char *list_stopped(const tsr_comm *comm, char *text, size_t size)
{
    char stopped[CALL_TEXT / 2];
    list_members(comm->world, member_is_stopped, stopped, sizeof stopped);
    (void)snprintf(text, size, "; stopped: rank %s", stopped);
    return stopped[0] != '\0' ? text : "";
}

static tsr_status report_gone(tsr_comm *comm, const char *name, int64_t rank)
{
    static const char *const how[] = {"is running", "ended", "failed", "died"};
    const rank_shared *r = &comm->team->ranks[rank];
    const int32_t state = atomic_load(&r->state);
    return diag_error(comm->ctx, TSR_ERR_PEER, NO_LOCATION, "%s: rank %lld %s%s%s", name,
                      (long long)rank, how[state], r->report[0] != '\0' ? ": " : "", r->report);
}

/* The group can no longer be used, and messages of its members may never be received. */
static void set_broken(tsr_comm *comm, tsr_status status)
{
    comm->broken = status;
    if (comm->team->message) {
        comm->team->endpoint->has_unreceived = true;
    }
}

static tsr_status report_world_stopped(tsr_comm *comm, const char *name)
{
    return diag_error(comm->ctx, TSR_ERR_PEER, NO_LOCATION, "%s: the world was stopped", name);
}

static tsr_status report_late(tsr_comm *comm, const char *name)
{
    return diag_error(
        comm->ctx, TSR_ERR_TIMEOUT, NO_LOCATION,
        "%s: the communicator is broken: the other ranks timed out waiting for this rank", name);
}

/* A member that has not entered this call, as a rank of the world; -1 if all have. */
static int64_t first_missing(const tsr_comm *comm)
{
    for (int64_t i = 0; i < comm->size; i++) {
        if (is_missing(comm, i)) {
            return tsr_comm_world_rank(comm, i);
        }
    }
    return -1;
}

static tsr_status report_missing(tsr_comm *comm, const char *name, bool here)
{
    char missing[CALL_TEXT];
    char stopped[CALL_TEXT];
    list_members(comm, is_missing, missing, sizeof missing);
    if (missing[0] == '\0') {
        return report_late(comm, name);
    }
    (void)diag_error(comm->ctx, TSR_ERR_TIMEOUT, NO_LOCATION,
                     "%s: rank %s did not arrive within %g seconds%s", name, missing,
                     comm->team->timeout, list_stopped(comm, stopped, sizeof stopped));
    return diag_note(
        comm->ctx, NO_LOCATION,
        here ? "the communicator is broken from now on: end the program, or continue without it"
             : "another rank noticed first");
}

/*
 * Whether the current rendezvous is over. By messages, a member that arrives too late finds the
 * records of all others; it learns from a revocation that they no longer wait.
 */
static barrier_result poll_rendezvous(tsr_comm *comm, bool leaving)
{
    if (comm->passed) {
        return BARRIER_PASSED;
    }
    if (!comm->team->message) {
        return barrier_poll(&comm->shared->gate, comm->ticket);
    }
    if (leaving) {
        return BARRIER_PASSED;
    }
    const tsr_status status = control_poll_records(comm);
    control_poll(comm);
    if (status < 0 || control_revocation(comm) != NULL) {
        return BARRIER_BROKEN;
    }
    return status == TSR_OK ? BARRIER_PASSED : BARRIER_WAITING;
}

/* Abandons the rendezvous, unless all members have arrived in the meantime. */
static barrier_result abandon(tsr_comm *comm)
{
    return comm->team->message ? BARRIER_TIMED_OUT
                               : barrier_break(&comm->shared->gate, comm->ticket);
}

/* Between two polls: yields the core to other ranks first, then sleeps for short intervals. */
static void back_off(const tsr_comm *comm, int turn)
{
    const struct timespec nap = {.tv_nsec = 20000};
    if (turn < (comm->team->spin ? 5000 : 50)) {
        (void)sched_yield();
    } else {
        (void)nanosleep(&nap, NULL);
    }
}

/* Waits by polling. */
static barrier_result await_by_polling(tsr_comm *comm, const barrier_wait *how, bool leaving)
{
    for (int turn = 0;; turn++) {
        const barrier_result result = poll_rendezvous(comm, leaving);
        if (result != BARRIER_WAITING) {
            return result;
        }
        if (turn % 64 == 63 && how->stop(how->state)) {
            return abandon(comm) == BARRIER_PASSED ? BARRIER_PASSED : BARRIER_STOPPED;
        }
        if (comm->state->requests != NULL) {
            requests_progress(comm->world);
        }
        back_off(comm, turn);
    }
}

static barrier_result await(tsr_comm *comm, const barrier_wait *how, bool leaving)
{
    if (comm->passed) {
        return BARRIER_PASSED;
    }
    if (!comm->team->message && comm->state->requests == NULL) {
        return barrier_await(&comm->shared->gate, comm->ticket, how);
    }
    return await_by_polling(comm, how, leaving);
}

/* Another member failed first: reports its reason, or that this member was the one missing. */
static tsr_status report_revocation(tsr_comm *comm, const char *name, const revocation *g)
{
    set_broken(comm, g->status);
    if (g->missing == comm->world_rank) {
        return report_late(comm, name);
    }
    (void)diag_error(comm->ctx, g->status, NO_LOCATION, "%s", g->text);
    return diag_note(comm->ctx, NO_LOCATION, "rank %lld noticed first", (long long)g->rank);
}

/* A member that is inside the call makes no progress. */
static tsr_status report_stalled(const rendezvous *m, const char *name)
{
    tsr_comm *comm = m->comm;
    char stopped[CALL_TEXT];
    (void)diag_error(comm->ctx, TSR_ERR_TIMEOUT, NO_LOCATION,
                     "%s: rank %lld has made no progress inside the call for %g seconds%s", name,
                     (long long)tsr_comm_world_rank(comm, m->stalled), comm->team->timeout,
                     list_stopped(comm, stopped, sizeof stopped));
    return diag_note(comm->ctx, NO_LOCATION,
                     "the communicator is broken from now on; memory that the rank may still write "
                     "into is not used again");
}

/* The first member that has not finished the call; the size when there is none. */
static int64_t first_inside(const rendezvous *m)
{
    int64_t member = 0;
    while (member < m->comm->size && has_arrived(m, member)) {
        member++;
    }
    return member;
}

static tsr_status report_failure(rendezvous *m, const char *name, int64_t gone, bool first)
{
    if (is_world_stopped(m->comm)) {
        return report_world_stopped(m->comm, name);
    }
    if (gone >= 0) {
        return report_gone(m->comm, name, gone);
    }
    if (!m->leaving) {
        return report_missing(m->comm, name, first);
    }
    m->stalled = m->stalled >= 0 ? m->stalled : first_inside(m);
    return m->stalled < m->comm->size ? report_stalled(m, name) : report_late(m->comm, name);
}

/*
 * Fails the current rendezvous, and breaks the group. At the end of a call other members may still
 * write into this one's segment: what is allocated now is never used again.
 */
static tsr_status fail_rendezvous(tsr_comm *comm, rendezvous *m, const char *name, bool first)
{
    const revocation *g = comm->team->message ? control_revocation(comm) : NULL;
    const int64_t gone = g == NULL ? gone_member(m) : -1;
    channel_close(&comm->control);
    if (m->leaving) {
        segment_retire_live(comm->own);
    }
    if (g != NULL) {
        return report_revocation(comm, name, g);
    }
    set_broken(comm, gone >= 0 || is_world_stopped(comm) ? TSR_ERR_PEER : TSR_ERR_TIMEOUT);
    const tsr_status status = report_failure(m, name, gone, first);
    if (comm->team->message) {
        control_send_revocation(comm, status, gone >= 0 ? gone : first_missing(comm));
    }
    return status;
}

/*
 * Waits for the other members, or polls. The time-out counts from the last progress of a member
 * that has not arrived, so that a slow transfer goes on and a stopped rank is given up.
 */
static tsr_status finish_rendezvous(tsr_comm *comm, const char *name, bool leaving, bool wait)
{
    rendezvous m = {.comm = comm, .leaving = leaving, .stalled = -1};
    const barrier_wait how = {.spin = comm->team->spin, .stop = should_stop, .state = &m};
    barrier_result result = wait ? await(comm, &how, leaving) : poll_rendezvous(comm, leaving);
    const bool cannot_complete =
        result == BARRIER_WAITING &&
        ((comm->overdue == comm->calls && (!leaving || a_member_is_stopped(&m))) ||
         (!leaving && is_world_stopped(comm)) || a_member_is_gone(&m));
    if (result == BARRIER_WAITING && !cannot_complete) {
        return TSR_IN_PROGRESS;
    }
    if (cannot_complete) {
        result = abandon(comm);
    }
    if (result != BARRIER_PASSED) {
        const bool first = result == BARRIER_TIMED_OUT || m.stalled >= 0;
        return fail_rendezvous(comm, &m, name, first);
    }
    channel_close(&comm->control);
    comm->gone_since = 0;
    return TSR_OK;
}

/* Arrives at a rendezvous. */
static tsr_status start_rendezvous(tsr_comm *comm, const char *name, bool leaving)
{
    comm->passed = comm->size == 1;
    if (comm->passed) {
        return TSR_OK;
    }
    if (comm->team->message) {
        const tsr_status status = leaving ? (tsr_status)TSR_OK : control_send_record(comm);
        return status < 0 ? comm_revoke(comm, name, status) : TSR_OK;
    }
    const barrier_result result =
        barrier_arrive(&comm->shared->gate, (uint32_t)comm->size, &comm->ticket);
    comm->passed = result == BARRIER_PASSED;
    if (result != BARRIER_BROKEN) {
        return TSR_OK;
    }
    rendezvous m = {.comm = comm, .leaving = leaving, .stalled = -1};
    return fail_rendezvous(comm, &m, name, false);
}

/* The first member that refuses, or -1. */
static int64_t refusing_member(const tsr_comm *comm)
{
    for (int64_t i = 0; i < comm->size; i++) {
        if (comm_record(comm, i)->status < 0) {
            return i;
        }
    }
    return -1;
}

static tsr_status report_refusal(tsr_comm *comm, const comm_call *what, int64_t member)
{
    const call_record *record = comm_record(comm, member);
    if (what->status < 0) {
        return what->status;
    }
    return diag_error(comm->ctx, (tsr_status)record->status, NO_LOCATION,
                      "%s: rank %lld refuses: %s", what->name,
                      (long long)tsr_comm_world_rank(comm, member), record->text);
}

static bool differs_from_first(const tsr_comm *comm, int64_t member)
{
    return comm_record(comm, member)->hash != comm_record(comm, 0)->hash;
}

static bool has_another_history(const tsr_comm *comm, int64_t member)
{
    return comm_record(comm, member)->history != comm_record(comm, 0)->history;
}

/* The first member that differs from member 0, or -1. */
static int64_t differing_member(const tsr_comm *comm,
                                bool (*differs)(const tsr_comm *comm, int64_t member))
{
    for (int64_t i = 1; i < comm->size; i++) {
        if (differs(comm, i)) {
            return i;
        }
    }
    return -1;
}

/* An abstract world has one rank: no rendezvous and no record. */
static tsr_status enter_alone(tsr_comm *comm, const comm_call *what)
{
    if (is_world_stopped(comm)) {
        return report_world_stopped(comm, what->name);
    }
    return what->status < 0 ? what->status : TSR_OK;
}

/* Publishes the record of the next call and arrives. */
static tsr_status enter_next(tsr_comm *comm, const comm_call *what)
{
    atomic_store_explicit(&comm->shared->slots[comm->rank].entered, comm->calls,
                          memory_order_release);
    return start_rendezvous(comm, what->name, false);
}

/*
 * A member of a broken group writes no record: peers that have not noticed yet may still be reading
 * the one before the last, which it would overwrite.
 */
tsr_status comm_start_entering(tsr_comm *comm, const comm_call *what)
{
    if (comm->broken < 0) {
        return diag_error(comm->ctx, comm->broken, NO_LOCATION,
                          "%s: the communicator is broken since an earlier call", what->name);
    }
    if (is_world_stopped(comm)) {
        return report_world_stopped(comm, what->name);
    }
    comm->calls++;
    comm->told = false;
    progress_set((progress_target){.counter = &comm->team->ranks[comm->world_rank].progress,
                                   .raised = comm->team->message ? control_send_heartbeat : NULL,
                                   .state = comm->world});
    write_record(comm, what);
    return enter_next(comm, what);
}

/* Publishes a text, and the words of the record, in a rendezvous of its own. */
static tsr_status exchange_text(tsr_comm *comm, const comm_call *what, const char *text,
                                const uint64_t *words)
{
    comm->calls++;
    own_record(comm)->status = TSR_OK;
    copy_call_text(own_record(comm)->text, text);
    if (words != NULL) {
        memcpy(own_record(comm)->words, words, sizeof own_record(comm)->words);
    }
    TSR_TRY(enter_next(comm, what));
    return finish_rendezvous(comm, what->name, false, true);
}

/*
 * All members know that two of them differ. Each says what it was about to do, in a rendezvous of
 * its own.
 */
static tsr_status report_difference(tsr_comm *comm, const comm_call *what, int64_t member)
{
    char text[CALL_TEXT];
    char others[CALL_TEXT];
    list_members(comm, differs_from_first, others, sizeof others);
    (void)snprintf(text, sizeof text, "calls %s", what->name);
    if (what->describe != NULL) {
        what->describe(what->of, text, sizeof text);
    }
    TSR_TRY(exchange_text(comm, what, text, NULL));
    return diag_error(
        comm->ctx, TSR_ERR_PEER, NO_LOCATION,
        "%s: the ranks make different calls: rank %lld %s; rank %lld %s; unlike rank %lld: %s",
        what->name, (long long)tsr_comm_world_rank(comm, 0), comm_record(comm, 0)->text,
        (long long)tsr_comm_world_rank(comm, member), comm_record(comm, member)->text,
        (long long)tsr_comm_world_rank(comm, 0), others);
}

/*
 * The number of the first call that two members made differently, by the words of their records:
 * the hashes of their last calls, and how many there were.
 */
static uint64_t first_difference(const call_record *a, const call_record *b)
{
    const uint64_t in_a = a->words[HISTORY_CALLS];
    const uint64_t in_b = b->words[HISTORY_CALLS];
    const uint64_t last = in_a > in_b ? in_a : in_b;
    uint64_t n = last > HISTORY_CALLS ? last - HISTORY_CALLS + 1 : 1;
    while (n <= in_a && n <= in_b && a->words[n % HISTORY_CALLS] == b->words[n % HISTORY_CALLS]) {
        n++;
    }
    return n;
}

/*
 * All members know that two of them made other calls on tensors before this one. They find the
 * first of these by the hashes of the last ones, then say its name.
 */
static tsr_status report_history(tsr_comm *comm, const comm_call *what, int64_t member)
{
    const call_history *h = &comm->state->history;
    uint64_t words[CALL_WORDS] = {[HISTORY_CALLS] = h->count};
    char others[CALL_TEXT];
    list_members(comm, has_another_history, others, sizeof others);
    for (size_t i = 0; i < HISTORY_CALLS; i++) {
        words[i] = h->last[i].hash;
    }
    TSR_TRY(exchange_text(comm, what, "", words));
    const uint64_t n = first_difference(comm_record(comm, 0), comm_record(comm, member));
    const bool made = n <= h->count && n + HISTORY_CALLS > h->count;
    TSR_TRY(exchange_text(comm, what, made ? h->last[n % HISTORY_CALLS].name : "no call", NULL));
    (void)diag_error(
        comm->ctx, TSR_ERR_PEER, NO_LOCATION,
        "%s: earlier calls of the ranks differ: call %llu on tensors is %s on rank %lld, but %s "
        "with other arguments or operands on rank %lld; unlike rank %lld: %s",
        what->name, (unsigned long long)n, comm_record(comm, 0)->text,
        (long long)tsr_comm_world_rank(comm, 0), comm_record(comm, member)->text,
        (long long)tsr_comm_world_rank(comm, member), (long long)tsr_comm_world_rank(comm, 0),
        others);
    (void)diag_note(comm->ctx, NO_LOCATION,
                    "all ranks must make the same calls; checked mode compares each call when it "
                    "is made and prints its arguments");
    return TSR_ERR_PEER;
}

/* What is wrong with the records of all members. */
static tsr_status compare_records(tsr_comm *comm, const comm_call *what)
{
    const int64_t refusing = refusing_member(comm);
    if (refusing >= 0) {
        return report_refusal(comm, what, refusing);
    }
    const int64_t differs = differing_member(comm, differs_from_first);
    if (differs >= 0) {
        return report_difference(comm, what, differs);
    }
    const int64_t strayed = differing_member(comm, has_another_history);
    return strayed >= 0 ? report_history(comm, what, strayed) : TSR_OK;
}

/*
 * After a call that moved messages: whether one of them was not received. The records of all
 * members have arrived, so their earlier messages have, too.
 */
static tsr_status check_unreceived(tsr_comm *comm, const char *name)
{
    if (!comm->team->message || comm->data_call == 0 || comm->data_call + 1 != comm->calls) {
        return TSR_OK;
    }
    const tsr_status status =
        endpoint_check_unreceived(comm->ctx, comm->team->endpoint, data_tag(comm, comm->data_call));
    return status < 0 ? comm_revoke(comm, name, status) : TSR_OK;
}

tsr_status comm_finish_entering(tsr_comm *comm, const comm_call *what, bool wait)
{
    tsr_status status = finish_rendezvous(comm, what->name, false, wait);
    if (status == TSR_OK) {
        status = check_unreceived(comm, what->name);
    }
    if (status == TSR_OK) {
        status = compare_records(comm, what);
    }
    comm->told = status < 0;
    return status;
}

tsr_status comm_tell(tsr_comm *comm, const char *name, tsr_status status)
{
    const comm_call what = {.name = name, .status = status};
    if (status < 0 && comm->size > 1 && !comm->told && comm->broken == TSR_OK &&
        !comm->team->abstract) {
        (void)comm_enter(comm, &what);
    }
    return status;
}

tsr_status comm_enter(tsr_comm *comm, const comm_call *what)
{
    if (comm->team->abstract) {
        return enter_alone(comm, what);
    }
    requests_finish(comm);
    comm_call now = *what;
    now.history = comm_history(comm);
    tsr_status status = comm_start_entering(comm, &now);
    if (status == TSR_OK) {
        status = comm_finish_entering(comm, &now, true);
    }
    if (status < 0) {
        comm_forget_history(comm);
    }
    return status;
}

tsr_status comm_start_leaving(tsr_comm *comm, const char *name)
{
    if (comm->broken < 0) {
        return comm->broken;
    }
    atomic_store_explicit(&comm->shared->slots[comm->rank].left, comm->calls, memory_order_release);
    return start_rendezvous(comm, name, true);
}

tsr_status comm_finish_leaving(tsr_comm *comm, const char *name, bool wait)
{
    const tsr_status status = finish_rendezvous(comm, name, true, wait);
    comm->told = status < 0;
    return status;
}

tsr_status comm_leave(tsr_comm *comm, const char *name)
{
    if (comm->team->abstract) {
        return TSR_OK;
    }
    TSR_TRY(comm_start_leaving(comm, name));
    return comm_finish_leaving(comm, name, true);
}

void comm_open_channel(tsr_comm *comm, channel *m)
{
    comm->data_call = comm->calls;
    channel_open(m, comm->ctx, comm->team->endpoint, data_tag(comm, comm->calls), comm->own);
}

tsr_status comm_revoke(tsr_comm *comm, const char *name, tsr_status status)
{
    (void)diag_note(comm->ctx, NO_LOCATION, "%s: the communicator is broken from now on", name);
    set_broken(comm, status);
    channel_close(&comm->control);
    if (comm->team->message) {
        control_send_revocation(comm, status, -1);
    }
    return status;
}

/* A member that is gone while a message from or to it is in flight; -1 if none. */
static int64_t gone_peer(const tsr_comm *comm, const channel *m)
{
    for (int64_t i = 0; i < comm->size; i++) {
        const int64_t rank = tsr_comm_world_rank(comm, i);
        if (team_is_done(comm->team, rank) && channel_waits_for(m, rank)) {
            return rank;
        }
    }
    return -1;
}

/*
 * Why messages will not arrive any more; TSR_OK when all have arrived, TSR_IN_PROGRESS while they
 * may.
 */
static tsr_status check_peers(tsr_comm *comm, channel *m, const char *name)
{
    control_poll(comm);
    const tsr_status status = channel_test(m);
    if (status != TSR_IN_PROGRESS) {
        return status;
    }
    if (is_world_stopped(comm)) {
        return report_world_stopped(comm, name);
    }
    const revocation *g = control_revocation(comm);
    const int64_t gone = gone_peer(comm, m);
    if (g != NULL) {
        return report_revocation(comm, name, g);
    }
    if (!is_final(comm, gone >= 0)) {
        return TSR_IN_PROGRESS;
    }
    set_broken(comm, TSR_ERR_PEER);
    return report_gone(comm, name, gone);
}

/* A peer with which a message is in flight, as a rank of the world. */
static int64_t slow_peer(const tsr_comm *comm, const channel *m)
{
    int64_t member = 0;
    while (member + 1 < comm->size && !channel_waits_for(m, tsr_comm_world_rank(comm, member))) {
        member++;
    }
    return tsr_comm_world_rank(comm, member);
}

/*
 * A message that is complete is progress, and so is what a peer does before it sends one. The
 * difference changes with each: no message is started while this rank waits.
 */
tsr_status comm_check_time(tsr_comm *comm, channel *m, const char *name)
{
    char stopped[CALL_TEXT];
    const double now = clock_seconds();
    const uint64_t progress = comm_progress(comm) - m->left;
    if (m->progress != progress || m->since == 0) {
        m->progress = progress;
        m->since = now;
    }
    if (now - m->since <= comm->team->timeout) {
        return TSR_IN_PROGRESS;
    }
    (void)diag_error(comm->ctx, TSR_ERR_TIMEOUT, NO_LOCATION,
                     "%s: no message to or from rank %lld made progress for %g seconds%s", name,
                     (long long)slow_peer(comm, m), comm->team->timeout,
                     list_stopped(comm, stopped, sizeof stopped));
    return comm_revoke(comm, name, TSR_ERR_TIMEOUT);
}

/*
 * Gives up a stopped peer of a request for which this rank has waited for the time-out. One that
 * computes may take its time, and on another machine the two look alike.
 */
static tsr_status check_stopped(tsr_comm *comm, const channel *m, const char *name)
{
    const bool looks = comm->overdue == comm->calls && is_time_to_look(comm);
    for (int64_t i = 0; i < comm->size && looks; i++) {
        const int64_t rank = tsr_comm_world_rank(comm, i);
        if (channel_waits_for(m, rank) && is_stopped(comm, rank)) {
            (void)diag_error(comm->ctx, TSR_ERR_TIMEOUT, NO_LOCATION,
                             "%s: the process of rank %lld is stopped, and no message to or from "
                             "it made progress for %g seconds",
                             name, (long long)rank, comm->team->timeout);
            return comm_revoke(comm, name, TSR_ERR_TIMEOUT);
        }
    }
    return TSR_IN_PROGRESS;
}

tsr_status comm_await_channel(tsr_comm *comm, channel *m, const char *name, bool wait)
{
    for (int turn = 0;; turn++) {
        tsr_status status = channel_test(m);
        if (status == TSR_IN_PROGRESS && (turn % 64 == 63 || !wait)) {
            status = check_peers(comm, m, name);
        }
        if (status == TSR_IN_PROGRESS && !wait) {
            status = check_stopped(comm, m, name);
        }
        if (status == TSR_IN_PROGRESS && wait && turn % 64 == 63) {
            status = comm_check_time(comm, m, name);
        }
        if (status < 0) {
            return comm->broken < 0 ? status : comm_revoke(comm, name, status);
        }
        if (status == TSR_OK) {
            comm->gone_since = 0;
            m->since = 0; /* what is sent next has the whole time-out */
        }
        if (status == TSR_OK || !wait) {
            return status;
        }
        back_off(comm, turn);
    }
}

tsr_status tsr_barrier(tsr_comm *comm)
{
    GUARD(tsr_barrier);
    const comm_call what = {
        .name = "tsr_barrier", .hash = UINT64_C(0x8f1bbcdc62a4c1d3), .hash_has_name = true};
    return comm_enter(comm, &what);
}
