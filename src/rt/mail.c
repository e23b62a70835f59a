#include "rt/mail.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "rt/barrier.h"

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
    char *pooled;       /* in the pool; NULL when it is behind this */
    max_align_t data[]; /* `bytes` of it, or none */
} mail_memory;

/* Smaller buffers are not worth a page. */
enum { POOLED_BYTES = 16384 };

void mail_open(mail *m, tsr_context *ctx, mail_link *link, int32_t tag, segment *pool)
{
    *m = (mail){.ctx = ctx, .link = link, .tag = tag, .most_bytes = link->most_bytes, .pool = pool};
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
    const bool large = m->pool != NULL && bytes >= POOLED_BYTES;
    char *pooled = large ? segment_try(m->pool, bytes) : NULL;
    const size_t own = pooled != NULL ? 0 : bytes;
    if (own < SIZE_MAX - sizeof *b) {
        b = context_resize(m->ctx, NULL, 0, sizeof *b + own);
    }
    if (b == NULL) {
        if (pooled != NULL) {
            segment_free(m->pool, pooled, bytes);
        }
        (void)diag_nomem(m->ctx);
        return NULL;
    }
    *b = (mail_memory){.next = m->buffers, .bytes = bytes, .pooled = pooled};
    m->buffers = b;
    return pooled != NULL ? pooled : (char *)b->data;
}

/* A list with room for one more; NULL when there is no memory. */
static mail_piece *grow(tsr_context *ctx, mail_piece *list, size_t count, size_t *room)
{
    if (count < *room) {
        return list;
    }
    const size_t more = *room > 0 ? 2 * *room : 16;
    mail_piece *grown = context_resize(ctx, list, *room * sizeof *list, more * sizeof *list);
    *room = grown != NULL ? more : *room;
    return grown;
}

static mail_piece *add_piece(mail *m, int64_t peer, int64_t index)
{
    mail_piece *grown = grow(m->ctx, m->pieces, m->num_pieces, &m->room);
    if (grown == NULL) {
        (void)diag_nomem(m->ctx);
        return NULL;
    }
    m->pieces = grown;
    mail_piece *piece = &m->pieces[m->num_pieces++];
    *piece = (mail_piece){.peer = peer, .index = index};
    return piece;
}

tsr_status mail_send(mail *m, int64_t peer, const void *data, size_t bytes)
{
    const tsr_transport *t = &m->link->transport;
    for (size_t at = 0; at < bytes; at += m->most_bytes) {
        const size_t size = bytes - at < m->most_bytes ? bytes - at : m->most_bytes;
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
    for (size_t at = 0; at < bytes; at += m->most_bytes) {
        const size_t size = bytes - at < m->most_bytes ? bytes - at : m->most_bytes;
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

bool mail_has_all(const mail *m)
{
    for (size_t i = 0; m->left > 0 && i < m->num_pieces; i++) {
        if (m->pieces[i].index != NO_INDEX && m->pieces[i].request != NULL) {
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

static void free_buffers(tsr_context *ctx, segment *pool, mail_memory *list)
{
    while (list != NULL) {
        mail_memory *next = list->next;
        const size_t own = list->pooled != NULL ? 0 : list->bytes;
        if (list->pooled != NULL) {
            segment_free(pool, list->pooled, list->bytes);
        }
        (void)context_resize(ctx, list, sizeof *list + own, 0);
        list = next;
    }
}

/* Leaves a piece that is being sent to the link; without memory for that it is never heard of. */
static void leave_piece(mail *m, const mail_piece *piece)
{
    mail_link *link = m->link;
    mail_piece *grown = grow(m->ctx, link->left, link->num_left, &link->room);
    if (grown == NULL) {
        link->lost = true;
        return;
    }
    link->left = grown;
    link->left[link->num_left++] = *piece;
}

static void leave_buffers(mail *m)
{
    m->link->pool = m->pool != NULL ? m->pool : m->link->pool;
    while (m->buffers != NULL) {
        mail_memory *b = m->buffers;
        m->buffers = b->next;
        b->next = m->link->buffers;
        m->link->buffers = b;
    }
}

/* Gives up what is under way. Whether something is still being sent. */
static bool give_up_pieces(mail *m)
{
    const tsr_transport *t = &m->link->transport;
    bool sending = false;
    for (size_t i = 0; i < m->num_pieces; i++) {
        mail_piece *piece = &m->pieces[i];
        if (piece->request != NULL && piece->index == NO_INDEX) {
            leave_piece(m, piece);
            sending = true;
        } else if (piece->request != NULL) {
            (void)t->cancel(t->state, &piece->request);
        }
    }
    return sending;
}

void mail_close(mail *m)
{
    if (m->link == NULL) {
        return;
    }
    if (give_up_pieces(m)) {
        leave_buffers(m);
    } else {
        free_buffers(m->ctx, m->pool, m->buffers);
    }
    (void)context_resize(m->ctx, m->pieces, m->room * sizeof *m->pieces, 0);
    *m = (mail){0};
}

bool mail_tidy(mail_link *link, tsr_context *ctx)
{
    const tsr_transport *t = &link->transport;
    size_t left = 0;
    for (size_t i = 0; i < link->num_left; i++) {
        mail_piece piece = link->left[i];
        bool done = false;
        if (t->test(t->state, &piece.request, &done) != 0 || !done) {
            link->left[left++] = piece;
        }
    }
    link->num_left = left;
    if (left == 0 && !link->lost) {
        free_buffers(ctx, link->pool, link->buffers);
        link->buffers = NULL;
    }
    return left == 0 && !link->lost;
}

bool mail_settle(mail_link *link, tsr_context *ctx, double seconds)
{
    const double deadline = clock_seconds() + seconds;
    bool settled = mail_tidy(link, ctx);
    while (!settled && clock_seconds() < deadline) {
        settled = mail_tidy(link, ctx);
    }
    (void)context_resize(ctx, link->left, link->room * sizeof *link->left, 0);
    link->left = NULL;
    link->num_left = 0;
    link->room = 0;
    return settled;
}
