#include "rt/mail.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

enum { NO_INDEX = -1 };

/* A request of the transport; NULL when it is done. */
typedef struct mail_piece {
    void *request;
    int64_t peer;
    int64_t index; /* of the receive; NO_INDEX for a send */
} mail_piece;

typedef struct mail_memory {
    struct mail_memory *next;
    size_t bytes;
    _Alignas(64) char data[];
} mail_memory;

void mail_open(mail *m, tsr_context *ctx, const mail_link *link, int32_t tag)
{
    *m = (mail){.ctx = ctx, .link = link, .tag = tag};
}

tsr_status mail_failure(tsr_context *ctx, const mail_link *link, const char *what, int error)
{
    const tsr_transport *t = &link->transport;
    return diag_error(ctx, TSR_ERR_PEER, NO_PLACE, "%s could not %s: %s", t->name, what,
                      t->error_text(t->state, error));
}

void *mail_buffer(mail *m, size_t bytes)
{
    mail_memory *b = NULL;
    if (bytes < SIZE_MAX - sizeof *b) {
        b = context_resize(m->ctx, NULL, 0, sizeof *b + bytes);
    }
    if (b == NULL) {
        (void)diag_nomem(m->ctx);
        return NULL;
    }
    b->next = m->buffers;
    b->bytes = bytes;
    m->buffers = b;
    return b->data;
}

static mail_piece *add_piece(mail *m, int64_t peer, int64_t index)
{
    if (m->num_pieces == m->room) {
        const size_t room = m->room > 0 ? 2 * m->room : 16;
        mail_piece *grown =
            context_resize(m->ctx, m->pieces, m->room * sizeof *grown, room * sizeof *grown);
        if (grown == NULL) {
            (void)diag_nomem(m->ctx);
            return NULL;
        }
        m->pieces = grown;
        m->room = room;
    }
    mail_piece *piece = &m->pieces[m->num_pieces++];
    *piece = (mail_piece){.peer = peer, .index = index};
    return piece;
}

tsr_status mail_send(mail *m, int64_t peer, const void *data, size_t bytes)
{
    const tsr_transport *t = &m->link->transport;
    for (size_t at = 0; at < bytes; at += m->link->most_bytes) {
        const size_t size = bytes - at < m->link->most_bytes ? bytes - at : m->link->most_bytes;
        mail_piece *piece = add_piece(m, peer, NO_INDEX);
        if (piece == NULL) {
            return TSR_ERR_NOMEM;
        }
        const int error =
            t->send(t->state, peer, m->tag, (const char *)data + at, size, &piece->request);
        if (error != 0) {
            return mail_failure(m->ctx, m->link, "send", error);
        }
        m->left++;
    }
    return TSR_OK;
}

tsr_status mail_receive(mail *m, int64_t peer, void *data, size_t bytes, size_t index)
{
    const tsr_transport *t = &m->link->transport;
    for (size_t at = 0; at < bytes; at += m->link->most_bytes) {
        const size_t size = bytes - at < m->link->most_bytes ? bytes - at : m->link->most_bytes;
        mail_piece *piece = add_piece(m, peer, (int64_t)index);
        if (piece == NULL) {
            return TSR_ERR_NOMEM;
        }
        const int error =
            t->receive(t->state, peer, m->tag, (char *)data + at, size, &piece->request);
        if (error != 0) {
            return mail_failure(m->ctx, m->link, "receive", error);
        }
        m->left++;
    }
    return TSR_OK;
}

tsr_status mail_test(mail *m)
{
    const tsr_transport *t = &m->link->transport;
    for (size_t i = 0; m->left > 0 && i < m->num_pieces; i++) {
        bool done = false;
        if (m->pieces[i].request == NULL) {
            continue;
        }
        const int error = t->test(t->state, &m->pieces[i].request, &done);
        if (error != 0) {
            return mail_failure(m->ctx, m->link, "go on with a message", error);
        }
        m->left -= done;
    }
    return m->left == 0 ? TSR_OK : TSR_IN_PROGRESS;
}

bool mail_has(const mail *m, size_t index)
{
    for (size_t i = 0; m->left > 0 && i < m->num_pieces; i++) {
        if (m->pieces[i].index == (int64_t)index && m->pieces[i].request != NULL) {
            return false;
        }
    }
    return true;
}

bool mail_waits_for(const mail *m, int64_t peer)
{
    for (size_t i = 0; m->left > 0 && i < m->num_pieces; i++) {
        if (m->pieces[i].peer == peer && m->pieces[i].request != NULL) {
            return true;
        }
    }
    return false;
}

/* Frees the buffers, unless a send that is under way may be reading them. */
static void free_buffers(mail *m)
{
    for (mail_memory *b = m->buffers; m->left == 0 && b != NULL;) {
        mail_memory *next = b->next;
        (void)context_resize(m->ctx, b, sizeof *b + b->bytes, 0);
        b = next;
    }
    m->buffers = NULL;
}

void mail_close(mail *m)
{
    if (m->link == NULL) {
        return;
    }
    const tsr_transport *t = &m->link->transport;
    for (size_t i = 0; i < m->num_pieces; i++) {
        if (m->pieces[i].request != NULL) {
            (void)t->cancel(t->state, &m->pieces[i].request);
        }
    }
    free_buffers(m);
    (void)context_resize(m->ctx, m->pieces, m->room * sizeof *m->pieces, 0);
    *m = (mail){0};
}
