#include "rt/channel.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "rt/barrier.h"

enum { NO_INDEX = -1 };

/* A fragment is expected, or has a request of the transport, or is done. */
typedef struct channel_fragment {
    void *request;
    char *expected; /* where it goes, until its message has been probed */
    size_t bytes;
    int64_t peer;
    int64_t index;  /* of the receive; NO_INDEX for a send */
    int64_t before; /* the receive that gets the message before that of this one; NO_INDEX for none,
                       or when receives are posted at once */
} channel_fragment;

static bool is_done(const channel_fragment *fragment)
{
    return fragment->request == NULL && fragment->expected == NULL;
}

typedef struct channel_memory {
    struct channel_memory *next;
    size_t bytes;
    char *pooled;       /* in the pool; NULL when it follows this header */
    max_align_t data[]; /* `bytes` of it, or none */
} channel_memory;

/* Smaller buffers are not worth a page. */
enum { POOLED_BYTES = 16384 };

void channel_open(channel *c, tsr_context *ctx, endpoint *ep, int32_t tag, segment *pool)
{
    *c = (channel){
        .ctx = ctx, .endpoint = ep, .tag = tag, .most_bytes = ep->most_bytes, .pool = pool};
}

tsr_status endpoint_failure(tsr_context *ctx, const endpoint *ep, const char *what, int error)
{
    const tsr_transport *t = &ep->transport;
    return diag_error(ctx, TSR_ERR_PEER, NO_LOCATION, "%s could not %s: %s", t->name, what,
                      t->error_text(t->state, error));
}

void *channel_buffer(channel *c, size_t bytes)
{
    channel_memory *b = NULL;
    const bool large = c->pool != NULL && bytes >= POOLED_BYTES;
    char *pooled = large ? segment_try(c->pool, bytes) : NULL;
    const size_t own = pooled != NULL ? 0 : bytes;
    if (own < SIZE_MAX - sizeof *b) {
        b = context_resize(c->ctx, NULL, 0, sizeof *b + own);
    }
    if (b == NULL) {
        if (pooled != NULL) {
            segment_free(c->pool, pooled);
        }
        (void)diag_nomem(c->ctx);
        return NULL;
    }
    *b = (channel_memory){.next = c->buffers, .bytes = bytes, .pooled = pooled};
    c->buffers = b;
    return pooled != NULL ? pooled : (char *)b->data;
}

/* A list with room for one more; NULL when there is no memory. */
static channel_fragment *grow(tsr_context *ctx, channel_fragment *list, size_t count, size_t *room)
{
    if (count < *room) {
        return list;
    }
    const size_t more = *room > 0 ? 2 * *room : 16;
    channel_fragment *grown = context_resize(ctx, list, *room * sizeof *list, more * sizeof *list);
    *room = grown != NULL ? more : *room;
    return grown;
}

static channel_fragment *add_fragment(channel *c, int64_t peer, int64_t index)
{
    channel_fragment *grown = grow(c->ctx, c->fragments, c->num_fragments, &c->room);
    if (grown == NULL) {
        (void)diag_nomem(c->ctx);
        return NULL;
    }
    c->fragments = grown;
    channel_fragment *fragment = &c->fragments[c->num_fragments++];
    *fragment = (channel_fragment){.peer = peer, .index = index, .before = NO_INDEX};
    return fragment;
}

/* The last receive from a peer; NO_INDEX for none. */
static int64_t last_receive(const channel *c, int64_t peer)
{
    int64_t i = (int64_t)c->num_fragments - 1;
    while (i >= 0 && (c->fragments[i].peer != peer || c->fragments[i].index == NO_INDEX)) {
        i--;
    }
    return i;
}

tsr_status channel_send(channel *c, int64_t peer, const void *data, size_t bytes)
{
    const tsr_transport *t = &c->endpoint->transport;
    for (size_t at = 0; at < bytes; at += c->most_bytes) {
        const size_t size = bytes - at < c->most_bytes ? bytes - at : c->most_bytes;
        channel_fragment *fragment = add_fragment(c, peer, NO_INDEX);
        if (fragment == NULL) {
            return TSR_ERR_NOMEM;
        }
        const int error =
            t->send(t->state, peer, c->tag, (const char *)data + at, size, &fragment->request);
        if (error != 0) {
            return endpoint_failure(c->ctx, c->endpoint, "send", error);
        }
        c->left++;
    }
    return TSR_OK;
}

/* Tells the transport where a message goes. */
static tsr_status post(const channel *c, channel_fragment *fragment)
{
    const tsr_transport *t = &c->endpoint->transport;
    const int error = t->receive(t->state, fragment->peer, c->tag, fragment->expected,
                                 fragment->bytes, &fragment->request);
    fragment->expected = NULL;
    return error == 0 ? TSR_OK : endpoint_failure(c->ctx, c->endpoint, "receive", error);
}

tsr_status channel_receive(channel *c, int64_t peer, void *data, size_t bytes, size_t index)
{
    int64_t before = c->lengths_agreed ? NO_INDEX : last_receive(c, peer);
    for (size_t at = 0; at < bytes; at += c->most_bytes) {
        channel_fragment *fragment = add_fragment(c, peer, (int64_t)index);
        if (fragment == NULL) {
            return TSR_ERR_NOMEM;
        }
        fragment->expected = (char *)data + at;
        fragment->bytes = bytes - at < c->most_bytes ? bytes - at : c->most_bytes;
        fragment->before = before;
        before = (int64_t)c->num_fragments - 1;
        if (c->lengths_agreed) {
            TSR_TRY(post(c, fragment));
        }
        c->left++;
    }
    return TSR_OK;
}

static tsr_status report_length(const channel *c, const channel_fragment *fragment, size_t bytes)
{
    (void)diag_error(c->ctx, TSR_ERR_PEER, NO_LOCATION,
                     "rank %lld expects %zu bytes from rank %lld, but receives %zu",
                     (long long)c->endpoint->transport.rank, fragment->bytes,
                     (long long)fragment->peer, bytes);
    return diag_note(c->ctx, NO_LOCATION,
                     "nothing of it was received; run the same program and the same library on all "
                     "ranks");
}

/* Posts a receive if its message has arrived. Messages of a peer are received in order. */
static tsr_status look_for(const channel *c, channel_fragment *fragment)
{
    const tsr_transport *t = &c->endpoint->transport;
    bool found = false;
    int64_t from = 0;
    size_t bytes = 0;
    if (fragment->before != NO_INDEX && c->fragments[fragment->before].expected != NULL) {
        return TSR_OK;
    }
    const int error = t->probe(t->state, fragment->peer, c->tag, &found, &from, &bytes);
    if (error != 0) {
        return endpoint_failure(c->ctx, c->endpoint, "look for a message", error);
    }
    if (!found) {
        return TSR_OK;
    }
    return bytes == fragment->bytes ? post(c, fragment) : report_length(c, fragment, bytes);
}

tsr_status channel_test(channel *c)
{
    const tsr_transport *t = &c->endpoint->transport;
    for (size_t i = 0; c->left > 0 && i < c->num_fragments; i++) {
        bool done = false;
        if (c->fragments[i].expected != NULL) {
            TSR_TRY(look_for(c, &c->fragments[i]));
        }
        if (c->fragments[i].request == NULL) {
            continue;
        }
        const int error = t->test(t->state, &c->fragments[i].request, &done);
        if (error != 0) {
            return endpoint_failure(c->ctx, c->endpoint, "go on with a message", error);
        }
        c->left -= done;
    }
    return c->left == 0 ? TSR_OK : TSR_IN_PROGRESS;
}

bool channel_has_received(const channel *c, size_t index)
{
    for (size_t i = 0; c->left > 0 && i < c->num_fragments; i++) {
        if (c->fragments[i].index == (int64_t)index && !is_done(&c->fragments[i])) {
            return false;
        }
    }
    return true;
}

bool channel_has_received_all(const channel *c)
{
    for (size_t i = 0; c->left > 0 && i < c->num_fragments; i++) {
        if (c->fragments[i].index != NO_INDEX && !is_done(&c->fragments[i])) {
            return false;
        }
    }
    return true;
}

bool channel_waits_for(const channel *c, int64_t peer)
{
    for (size_t i = 0; c->left > 0 && i < c->num_fragments; i++) {
        if (c->fragments[i].peer == peer && !is_done(&c->fragments[i])) {
            return true;
        }
    }
    return false;
}

static void free_buffers(tsr_context *ctx, segment *pool, channel_memory *list)
{
    while (list != NULL) {
        channel_memory *next = list->next;
        const size_t own = list->pooled != NULL ? 0 : list->bytes;
        if (list->pooled != NULL) {
            segment_free(pool, list->pooled);
        }
        (void)context_resize(ctx, list, sizeof *list + own, 0);
        list = next;
    }
}

/*
 * Hands a fragment that is being sent to the endpoint. Without memory for its record, the endpoint
 * only knows that there is one.
 */
static void leave_fragment(endpoint *ep, tsr_context *ctx, const channel_fragment *fragment)
{
    channel_fragment *grown = grow(ctx, ep->left, ep->num_left, &ep->room);
    if (grown == NULL) {
        ep->has_untracked = true;
        return;
    }
    ep->left = grown;
    ep->left[ep->num_left++] = *fragment;
}

static void leave_buffers(channel *c)
{
    c->endpoint->pool = c->pool != NULL ? c->pool : c->endpoint->pool;
    while (c->buffers != NULL) {
        channel_memory *b = c->buffers;
        c->buffers = b->next;
        b->next = c->endpoint->buffers;
        c->endpoint->buffers = b;
    }
}

/* Cancels what is in flight. Whether something is still being sent. */
static bool cancel_fragments(channel *c)
{
    const tsr_transport *t = &c->endpoint->transport;
    bool sending = false;
    for (size_t i = 0; i < c->num_fragments; i++) {
        channel_fragment *fragment = &c->fragments[i];
        if (fragment->request != NULL && fragment->index == NO_INDEX) {
            leave_fragment(c->endpoint, c->ctx, fragment);
            sending = true;
        } else if (fragment->request != NULL) {
            (void)t->cancel(t->state, &fragment->request);
        }
    }
    return sending;
}

void channel_close(channel *c)
{
    if (c->endpoint == NULL) {
        return;
    }
    if (cancel_fragments(c)) {
        leave_buffers(c);
    } else {
        free_buffers(c->ctx, c->pool, c->buffers);
    }
    (void)context_resize(c->ctx, c->fragments, c->room * sizeof *c->fragments, 0);
    *c = (channel){0};
}

tsr_status endpoint_reserve(endpoint *ep, tsr_context *ctx, size_t count)
{
    while (ep->room < count) {
        channel_fragment *grown = grow(ctx, ep->left, ep->room, &ep->room);
        if (grown == NULL) {
            return diag_nomem(ctx);
        }
        ep->left = grown;
    }
    return TSR_OK;
}

void endpoint_send(endpoint *ep, tsr_context *ctx, int64_t peer, int32_t tag, const void *data,
                   size_t bytes)
{
    const tsr_transport *t = &ep->transport;
    channel_fragment fragment = {.peer = peer, .index = NO_INDEX, .before = NO_INDEX};
    if (t->send(t->state, peer, tag, data, bytes, &fragment.request) == 0 &&
        fragment.request != NULL) {
        leave_fragment(ep, ctx, &fragment);
    }
}

tsr_status endpoint_check_unreceived(tsr_context *ctx, const endpoint *ep, int32_t tag)
{
    const tsr_transport *t = &ep->transport;
    bool found = false;
    int64_t from = 0;
    size_t bytes = 0;
    const int error = t->probe(t->state, TSR_ANY_PEER, tag, &found, &from, &bytes);
    if (error != 0) {
        return endpoint_failure(ctx, ep, "look for a message", error);
    }
    if (!found) {
        return TSR_OK;
    }
    (void)diag_error(ctx, TSR_ERR_PEER, NO_LOCATION,
                     "rank %lld expected no more bytes from rank %lld, but %zu bytes arrived from "
                     "the previous call",
                     (long long)t->rank, (long long)from, bytes);
    return diag_note(ctx, NO_LOCATION, "run the same program and the same library on all ranks");
}

bool endpoint_reap(endpoint *ep, tsr_context *ctx)
{
    const tsr_transport *t = &ep->transport;
    size_t left = 0;
    for (size_t i = 0; i < ep->num_left; i++) {
        channel_fragment fragment = ep->left[i];
        bool done = false;
        if (t->test(t->state, &fragment.request, &done) != 0 || !done) {
            ep->left[left++] = fragment;
        }
    }
    ep->num_left = left;
    if (left == 0 && !ep->has_untracked) {
        free_buffers(ctx, ep->pool, ep->buffers);
        ep->buffers = NULL;
    }
    return left == 0 && !ep->has_untracked;
}

bool endpoint_flush(endpoint *ep, tsr_context *ctx, double seconds)
{
    const double deadline = clock_seconds() + seconds;
    bool settled = endpoint_reap(ep, ctx);
    while (!settled && clock_seconds() < deadline) {
        settled = endpoint_reap(ep, ctx);
    }
    (void)context_resize(ctx, ep->left, ep->room * sizeof *ep->left, 0);
    ep->left = NULL;
    ep->num_left = 0;
    ep->room = 0;
    return settled;
}
