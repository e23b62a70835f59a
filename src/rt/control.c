#include "rt/control.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

typedef enum control_kind {
    CONTROL_END,
    CONTROL_REVOCATION,
    CONTROL_HEARTBEAT,
    CONTROL_REPORT /* a part of the report of a rank that ends: its end follows */
} control_kind;

/* The body of a control message; sent as it is between machines of one byte order. */
typedef struct control_message {
    int32_t kind;
    int32_t id; /* of the group that was revoked; where a part of a report starts */
    int32_t status;
    int32_t missing; /* the rank that was waited for; the bytes of a part of a report */
    char text[CALL_TEXT];
} control_message;

int32_t record_tag(const tsr_comm *comm)
{
    return TAG_GROUPS + TAGS_OF_GROUP * comm->id;
}

int32_t data_tag(const tsr_comm *comm, uint64_t call)
{
    return record_tag(comm) + 1 + (int32_t)(call & 1);
}

static call_record *record_of(const tsr_comm *comm, int64_t member)
{
    return &comm->shared->slots[member].records[comm->calls & 1];
}

/*
 * A transport may hold a message back until its receiver polls, and the receiver may be computing.
 * So a copy is sent, and the rendezvous does not wait until the send is complete.
 */
tsr_status control_send_record(tsr_comm *comm)
{
    const size_t bytes = sizeof(call_record);
    channel *m = &comm->control;
    (void)endpoint_reap(comm->team->endpoint, comm->ctx);
    channel_open(m, comm->ctx, comm->team->endpoint, record_tag(comm), NULL);
    m->lengths_agreed = true;
    call_record *mine = channel_buffer(m, bytes);
    if (mine == NULL) {
        return TSR_ERR_NOMEM;
    }
    *mine = *record_of(comm, comm->rank);
    for (int64_t i = 1; i < comm->size; i++) {
        const int64_t member = (comm->rank + i) % comm->size;
        TSR_TRY(channel_receive(m, tsr_comm_world_rank(comm, member), record_of(comm, member),
                                bytes, (size_t)member));
    }
    for (int64_t i = 1; i < comm->size; i++) {
        const int64_t member = (comm->rank + i) % comm->size;
        TSR_TRY(channel_send(m, tsr_comm_world_rank(comm, member), mine, bytes));
    }
    return TSR_OK;
}

tsr_status control_poll_records(tsr_comm *comm)
{
    const tsr_status status = channel_test(&comm->control);
    const bool all = channel_has_received_all(&comm->control);
    for (int64_t i = 0; i < comm->size; i++) {
        if (all || channel_has_received(&comm->control, (size_t)i)) {
            atomic_store(&comm->shared->slots[i].entered, comm->calls);
        }
    }
    return status >= 0 && all ? TSR_OK : status;
}

/* Puts a part of a report to its place. The last byte stays zero. */
static void take_report(rank_shared *rank, const control_message *n)
{
    if (n->id >= 0 && n->missing >= 0 && n->missing <= CALL_TEXT &&
        n->id <= REPORT_BYTES - 1 - n->missing) {
        memcpy(rank->report + n->id, n->text, (size_t)n->missing);
    }
}

static void handle_control(tsr_comm *world, int64_t from, const control_message *n)
{
    rank_shared *rank = &world->team->ranks[from];
    if (n->kind == CONTROL_REPORT) {
        take_report(rank, n);
        return;
    }
    if (n->kind == CONTROL_END) {
        rank->status = n->status;
        atomic_store(&rank->state, n->status < 0 ? RANK_FAILED : RANK_ENDED);
        return;
    }
    if (n->kind == CONTROL_HEARTBEAT) {
        atomic_fetch_add_explicit(&world->team->ranks[from].progress, 1, memory_order_relaxed);
        return;
    }
    revocation *g = ARENA_NEW(world->arena, revocation);
    if (g != NULL) {
        *g = (revocation){.next = world->state->revocations,
                          .id = n->id,
                          .rank = from,
                          .missing = n->missing,
                          .status = (tsr_status)n->status};
        memcpy(g->text, n->text, sizeof g->text);
        world->state->revocations = g;
    }
}

/* Receives a control message that a probe has found. */
static bool receive_control(const tsr_transport *t, int64_t from, control_message *n)
{
    void *request = NULL;
    bool done = false;
    int error = t->receive(t->state, from, TAG_CONTROL, n, sizeof *n, &request);
    while (error == 0 && !done) {
        error = t->test(t->state, &request, &done);
    }
    return error == 0;
}

void control_poll(tsr_comm *comm)
{
    const tsr_transport *t = &comm->team->endpoint->transport;
    for (;;) {
        bool found = false;
        int64_t from = 0;
        size_t bytes = 0;
        control_message n;
        if (t->probe(t->state, TSR_ANY_PEER, TAG_CONTROL, &found, &from, &bytes) != 0 || !found ||
            bytes != sizeof n || !receive_control(t, from, &n)) {
            return;
        }
        if (n.kind != CONTROL_REPORT) {
            n.text[sizeof n.text - 1] = '\0';
        }
        handle_control(comm->world, from, &n);
    }
}

tsr_status control_open(tsr_comm *world)
{
    world->state->spare = ARENA_NEW(world->arena, control_message);
    return world->state->spare != NULL
               ? endpoint_reserve(world->team->endpoint, world->ctx, (size_t)world->size)
               : diag_nomem(world->ctx);
}

static bool is_member(const tsr_comm *comm, int64_t world_rank)
{
    for (int64_t i = 0; i < comm->size; i++) {
        if (tsr_comm_world_rank(comm, i) == world_rank) {
            return true;
        }
    }
    return false;
}

const revocation *control_revocation(const tsr_comm *comm)
{
    for (const revocation *g = comm->state->revocations; g != NULL; g = g->next) {
        if (g->id == comm->id && is_member(comm, g->rank)) {
            return g;
        }
    }
    return NULL;
}

/*
 * Does not wait until it is sent: the endpoint keeps what is in flight. A control message is one
 * fragment. Without memory others learn of a revocation by their time-out, but always of an end,
 * for which they would wait without a time-out.
 */
static void send_to_all(tsr_comm *comm, const control_message *what)
{
    endpoint *ep = comm->team->endpoint;
    control_message *spare = what->kind == CONTROL_END ? comm->state->spare : NULL;
    channel m;
    channel_open(&m, comm->ctx, ep, TAG_CONTROL, NULL);
    m.most_bytes = sizeof *what;
    control_message *n = channel_buffer(&m, sizeof *what);
    if (n != NULL) {
        *n = *what;
    }
    if (spare != NULL) {
        *spare = *what;
    }
    for (int64_t i = 1; i < comm->size; i++) {
        const int64_t rank = tsr_comm_world_rank(comm, (comm->rank + i) % comm->size);
        const bool sent = n != NULL && channel_send(&m, rank, n, sizeof *n) == TSR_OK;
        if (!sent && spare != NULL) {
            endpoint_send(ep, comm->ctx, rank, TAG_CONTROL, spare, sizeof *spare);
        }
    }
    (void)channel_test(&m);
    channel_close(&m);
}

static control_message make_control(control_kind kind, tsr_status status, const char *text)
{
    control_message n = {.kind = (int32_t)kind, .status = (int32_t)status};
    copy_call_text(n.text, text);
    return n;
}

void control_send_revocation(tsr_comm *comm, tsr_status status, int64_t missing)
{
    control_message n = make_control(CONTROL_REVOCATION, status, last_error_text(comm->ctx));
    n.id = comm->id;
    n.missing = (int32_t)missing;
    send_to_all(comm, &n);
}

/* The used bytes of a report: up to its empty string. */
static int32_t report_size(const char *report)
{
    int32_t size = 0;
    while (size < REPORT_BYTES - 1 && (report[size] != '\0' || report[size + 1] != '\0')) {
        size++;
    }
    return size;
}

void control_send_end(tsr_comm *world, tsr_status status)
{
    const char *report = world->team->ranks[world->rank].report;
    const int32_t size = report_size(report);
    for (int32_t at = 0; at < size; at += CALL_TEXT) {
        control_message part = {.kind = CONTROL_REPORT, .id = at};
        part.missing = size - at < CALL_TEXT ? size - at : CALL_TEXT;
        memcpy(part.text, report + at, (size_t)part.missing);
        send_to_all(world, &part);
    }
    const control_message n = make_control(CONTROL_END, status, "");
    send_to_all(world, &n);
}

/*
 * Without a channel, since a failure must leave no diagnostic: this runs inside copies and folds,
 * which cannot fail. A heartbeat that is lost only brings the peers' time-out nearer.
 */
void control_send_heartbeat(void *world)
{
    static const control_message heartbeat = {.kind = CONTROL_HEARTBEAT};
    tsr_comm *comm = world;
    const double now = clock_seconds();
    if (now - comm->state->last_heartbeat <= comm->team->timeout / 4) {
        return;
    }
    comm->state->last_heartbeat = now;
    for (int64_t i = 1; i < comm->size; i++) {
        endpoint_send(comm->team->endpoint, comm->ctx, (comm->rank + i) % comm->size, TAG_CONTROL,
                      &heartbeat, sizeof heartbeat);
    }
}
