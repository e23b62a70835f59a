#include "rt/letters.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

typedef enum notice_kind { NOTICE_END, NOTICE_GIVEN_UP } notice_kind;

/* What a notice says; sent as it is between machines of one kind. */
typedef struct notice {
    int32_t kind;
    int32_t id; /* of the group that was given up */
    int32_t status;
    int32_t missing;
    char text[CALL_TEXT];
} notice;

int32_t letters_tag(const tsr_comm *comm, bool data)
{
    return TAG_GROUPS + 2 * comm->id + (data ? 1 : 0);
}

static call_record *record_of(const tsr_comm *comm, int64_t member)
{
    return &comm->shared->slots[member].records[comm->calls & 1];
}

/*
 * A transport may hold a letter back until its receiver looks, and that one may be computing. So
 * what is sent is a copy, and the meeting does not wait until it is.
 */
tsr_status letters_start(tsr_comm *comm)
{
    const size_t bytes = sizeof(call_record);
    mail *m = &comm->letters;
    (void)mail_tidy(comm->team->link, comm->ctx);
    mail_open(m, comm->ctx, comm->team->link, letters_tag(comm, false), NULL);
    call_record *mine = mail_buffer(m, bytes);
    if (mine == NULL) {
        return TSR_ERR_NOMEM;
    }
    *mine = *record_of(comm, comm->rank);
    for (int64_t i = 1; i < comm->size; i++) {
        const int64_t member = (comm->rank + i) % comm->size;
        TSR_TRY(mail_receive(m, tsr_comm_world_rank(comm, member), record_of(comm, member), bytes,
                             (size_t)member));
    }
    for (int64_t i = 1; i < comm->size; i++) {
        const int64_t member = (comm->rank + i) % comm->size;
        TSR_TRY(mail_send(m, tsr_comm_world_rank(comm, member), mine, bytes));
    }
    return TSR_OK;
}

tsr_status letters_look(tsr_comm *comm)
{
    const tsr_status status = mail_test(&comm->letters);
    const bool all = mail_has_all(&comm->letters);
    for (int64_t i = 0; i < comm->size; i++) {
        if (all || mail_has(&comm->letters, (size_t)i)) {
            atomic_store(&comm->shared->slots[i].entered, comm->calls);
        }
    }
    return status >= 0 && all ? TSR_OK : status;
}

static void take_notice(tsr_comm *world, int64_t from, const notice *n)
{
    if (n->kind == NOTICE_END) {
        team_report_end(world->team, from, (tsr_status)n->status, n->text);
        return;
    }
    given_up *g = ARENA_NEW(world->arena, given_up);
    if (g != NULL) {
        *g = (given_up){.next = world->given_up,
                        .id = n->id,
                        .rank = from,
                        .missing = n->missing,
                        .status = (tsr_status)n->status};
        memcpy(g->text, n->text, sizeof g->text);
        world->given_up = g;
    }
}

/* Receives a notice that is there. */
static bool receive_notice(const tsr_transport *t, int64_t from, notice *n)
{
    void *request = NULL;
    bool done = false;
    int error = t->receive(t->state, from, TAG_NOTICE, n, sizeof *n, &request);
    while (error == 0 && !done) {
        error = t->test(t->state, &request, &done);
    }
    return error == 0;
}

void notices_look(tsr_comm *comm)
{
    const tsr_transport *t = &comm->team->link->transport;
    for (;;) {
        bool found = false;
        int64_t from = 0;
        notice n;
        if (t->probe(t->state, TAG_NOTICE, &found, &from) != 0 || !found ||
            !receive_notice(t, from, &n)) {
            return;
        }
        n.text[sizeof n.text - 1] = '\0';
        take_notice(comm->world, from, &n);
    }
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

const given_up *notices_given_up(const tsr_comm *comm)
{
    for (const given_up *g = comm->world->given_up; g != NULL; g = g->next) {
        if (g->id == comm->id && is_member(comm, g->rank)) {
            return g;
        }
    }
    return NULL;
}

/* Nobody waits until it is sent: what is not yet stays with the link. A notice is never cut. */
static void tell(tsr_comm *comm, const notice *what)
{
    mail m;
    mail_open(&m, comm->ctx, comm->team->link, TAG_NOTICE, NULL);
    m.most_bytes = sizeof *what;
    notice *n = mail_buffer(&m, sizeof *what);
    if (n != NULL) {
        *n = *what;
    }
    for (int64_t i = 1; n != NULL && i < comm->size; i++) {
        const int64_t member = (comm->rank + i) % comm->size;
        (void)mail_send(&m, tsr_comm_world_rank(comm, member), n, sizeof *n);
    }
    (void)mail_test(&m);
    mail_close(&m);
}

static notice write_notice(notice_kind kind, tsr_status status, const char *text)
{
    notice n = {.kind = (int32_t)kind, .status = (int32_t)status};
    memcpy(n.text, text, strnlen(text, CALL_TEXT - 1));
    return n;
}

void notices_tell_given_up(tsr_comm *comm, tsr_status status, int64_t missing)
{
    notice n = write_notice(NOTICE_GIVEN_UP, status, last_error_text(comm->ctx));
    n.id = comm->id;
    n.missing = (int32_t)missing;
    tell(comm, &n);
}

void notices_tell_end(tsr_comm *world, tsr_status status, const char *text)
{
    const notice n = write_notice(NOTICE_END, status, text);
    tell(world, &n);
}
