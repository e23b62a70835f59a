#include "memory_transport.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "rt/control.h"
#include "rt/joined.h"
#include "rt/request.h"

enum { COPIED_BYTES = 512, LONGEST_DELAY = 5 };

/* A message that was sent, or a posted receive. */
typedef struct message {
    struct message *next;
    int64_t peer; /* the sender */
    int32_t tag;
    size_t bytes;
    char *data; /* the sender's, unless it was copied; or where it goes */
    bool copied;
    int delay;          /* how many polls pass before it is delivered */
    bool done;          /* received; the sender may reuse its memory */
    bool detached;      /* its request no longer exists */
    int64_t through[2]; /* when it is, in messages and in bytes */
} message;

enum { MAX_ARRIVALS = 4096 };

/* A message that has come: when it was through, and how long it takes. */
typedef struct arrival {
    int64_t through;
    int64_t size;
} arrival;

/* How long a rank has been busy sending and receiving; and what came since it last sent. */
typedef struct port {
    int64_t out;
    int64_t in;
    size_t num_arrivals;
    arrival arrivals[MAX_ARRIVALS];
} port;

/* Of one rank: messages that have arrived, and posted receives, each in order. */
typedef struct inbox {
    message *arrived;
    message *posted;
    port ports[2]; /* in messages and in bytes */
} inbox;

typedef struct network {
    pthread_mutex_t lock;
    int64_t size;
    uint64_t random_state;
    inbox *inboxes;
} network;

/* The state of one rank. */
typedef struct memory_endpoint {
    network *network;
    int64_t rank;
} memory_endpoint;

static void append(message **list, message *l)
{
    while (*list != NULL) {
        list = &(*list)->next;
    }
    *list = l;
}

static void take_out(message **list, const message *l)
{
    while (*list != NULL && *list != l) {
        list = &(*list)->next;
    }
    if (*list != NULL) {
        *list = l->next;
    }
}

static void free_message(message *l)
{
    if (l->copied) {
        free(l->data);
    }
    free(l);
}

static message *new_message(int64_t peer, int32_t tag, size_t bytes)
{
    message *l = calloc(1, sizeof *l);
    if (l != NULL) {
        l->peer = peer;
        l->tag = tag;
        l->bytes = bytes;
    }
    return l;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_data(int32_t tag)
{
    return tag >= TAG_GROUPS && (tag - TAG_GROUPS) % TAGS_OF_GROUP > 0;
}

static int earlier(const void *a, const void *b)
{
    const arrival *x = a;
    const arrival *y = b;
    return (x->through > y->through) - (x->through < y->through);
}

/* Receives what has come, in the order in which it was through. */
static void port_settle(port *p)
{
    qsort(p->arrivals, p->num_arrivals, sizeof *p->arrivals, earlier);
    for (size_t i = 0; i < p->num_arrivals; i++) {
        p->in = larger(p->in + p->arrivals[i].size, p->arrivals[i].through);
    }
    p->num_arrivals = 0;
}

/* Sends, when all that was sent and received before is through. */
static int64_t port_send(port *p, int64_t size)
{
    port_settle(p);
    p->out = larger(p->out, p->in) + size;
    return p->out;
}

static void port_receive(port *p, int64_t through, int64_t size)
{
    if (p->num_arrivals == MAX_ARRIVALS) {
        port_settle(p);
    }
    p->arrivals[p->num_arrivals++] = (arrival){through, size};
}

static int send_message(void *state, int64_t peer, int32_t tag, const void *data, size_t bytes,
                        void **out)
{
    memory_endpoint *c = state;
    message *l = new_message(c->rank, tag, bytes);
    if (l == NULL || peer < 0 || peer >= c->network->size || peer == c->rank || bytes == 0) {
        free(l);
        return 1;
    }
    l->copied = bytes <= COPIED_BYTES;
    l->data = (char *)(uintptr_t)data;
    if (l->copied) {
        l->data = malloc(bytes);
        if (l->data == NULL) {
            free(l);
            return 1;
        }
        memcpy(l->data, data, bytes);
    }
    (void)pthread_mutex_lock(&c->network->lock);
    c->network->random_state =
        c->network->random_state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    l->delay = tag == TAG_CONTROL ? 0 : (int)(c->network->random_state >> 33) % LONGEST_DELAY;
    if (is_data(tag)) {
        l->through[0] = port_send(&c->network->inboxes[c->rank].ports[0], 1);
        l->through[1] = port_send(&c->network->inboxes[c->rank].ports[1], (int64_t)bytes);
    }
    append(&c->network->inboxes[peer].arrived, l);
    (void)pthread_mutex_unlock(&c->network->lock);
    *out = l;
    return 0;
}

static int receive_message(void *state, int64_t peer, int32_t tag, void *data, size_t bytes,
                           void **out)
{
    memory_endpoint *c = state;
    message *l = new_message(peer, tag, bytes);
    if (l == NULL) {
        return 1;
    }
    l->data = data;
    (void)pthread_mutex_lock(&c->network->lock);
    append(&c->network->inboxes[c->rank].posted, l);
    (void)pthread_mutex_unlock(&c->network->lock);
    *out = l;
    return 0;
}

/* The first posted receive that matches a message. */
static message *receiver_of(const inbox *b, const message *arrived)
{
    for (message *w = b->posted; w != NULL; w = w->next) {
        if (!w->done && w->peer == arrived->peer && w->tag == arrived->tag) {
            return w;
        }
    }
    return NULL;
}

/* Whether an earlier message of the same sender and tag is still queued. */
static bool follows_another(const inbox *b, const message *l)
{
    for (const message *e = b->arrived; e != l; e = e->next) {
        if (e->peer == l->peer && e->tag == l->tag) {
            return true;
        }
    }
    return false;
}

/* Delivers the messages that have arrived at a rank. */
static void deliver(inbox *b)
{
    for (message *l = b->arrived, *next = NULL; l != NULL; l = next) {
        next = l->next;
        message *w = receiver_of(b, l);
        if (l->delay > 0) {
            l->delay--;
            continue;
        }
        if (w == NULL || follows_another(b, l)) {
            continue;
        }
        if (w->bytes != l->bytes) {
            abort(); /* the library asked for another size than was sent */
        }
        memcpy(w->data, l->data, l->bytes);
        w->done = true;
        if (is_data(l->tag)) {
            port_receive(&b->ports[0], l->through[0], 1);
            port_receive(&b->ports[1], l->through[1], (int64_t)l->bytes);
        }
        take_out(&b->arrived, l);
        l->done = true;
        if (l->detached) {
            free_message(l);
        }
    }
}

static int test(void *state, void **request, bool *done)
{
    memory_endpoint *c = state;
    message *l = *request;
    (void)pthread_mutex_lock(&c->network->lock);
    inbox *b = &c->network->inboxes[c->rank];
    deliver(b);
    const bool posted = l->peer != c->rank;
    *done = l->done || l->copied;
    if (*done) {
        *request = NULL;
        if (posted) {
            take_out(&b->posted, l);
        }
        if (posted || l->done) {
            free_message(l);
        } else {
            l->detached = true;
        }
    }
    (void)pthread_mutex_unlock(&c->network->lock);
    return 0;
}

static int cancel(void *state, void **request)
{
    memory_endpoint *c = state;
    message *l = *request;
    (void)pthread_mutex_lock(&c->network->lock);
    if (l->peer != c->rank) {
        take_out(&c->network->inboxes[c->rank].posted, l);
        free_message(l);
    } else if (l->done) {
        free_message(l);
    } else {
        l->detached = true;
    }
    (void)pthread_mutex_unlock(&c->network->lock);
    *request = NULL;
    return 0;
}

static int probe(void *state, int64_t peer, int32_t tag, bool *found, int64_t *from, size_t *bytes)
{
    memory_endpoint *c = state;
    *found = false;
    (void)pthread_mutex_lock(&c->network->lock);
    inbox *b = &c->network->inboxes[c->rank];
    deliver(b);
    for (const message *l = b->arrived; l != NULL && !*found; l = l->next) {
        *found = l->tag == tag && l->delay == 0 && (peer == TSR_ANY_PEER || l->peer == peer) &&
                 !follows_another(b, l);
        *from = l->peer;
        *bytes = l->bytes;
    }
    (void)pthread_mutex_unlock(&c->network->lock);
    return 0;
}

static const char *error_text(void *state, int error)
{
    (void)state;
    return error == 1 ? "no such message" : "unknown";
}

static void abort_all(void *state, int code)
{
    (void)state;
    (void)code;
}

static void close_endpoint(void *state, tsr_transport_end how)
{
    (void)state;
    (void)how;
}

static network *current_network;

critical_path memory_transport_critical_path(int64_t rank)
{
    int64_t busy[2];
    (void)pthread_mutex_lock(&current_network->lock);
    for (size_t i = 0; i < 2; i++) {
        port *p = &current_network->inboxes[rank].ports[i];
        port_settle(p);
        busy[i] = larger(p->out, p->in);
        p->out = 0;
        p->in = 0;
    }
    (void)pthread_mutex_unlock(&current_network->lock);
    return (critical_path){.messages = busy[0], .bytes = busy[1]};
}

/* One rank and what it runs. */
typedef struct rank {
    pthread_t thread;
    tsr_context *report; /* where rank 0 says what became of all */
    const tsr_launch_spec *spec;
    tsr_rank_function function;
    void *state;
    memory_endpoint at;
    tsr_status status;
} rank;

static void *run_rank(void *argument)
{
    rank *r = argument;
    tsr_context *ctx = NULL;
    tsr_comm *world = NULL;
    const tsr_transport transport = {.version = TSR_TRANSPORT_VERSION,
                                     .name = "memory",
                                     .rank = r->at.rank,
                                     .size = r->at.network->size,
                                     .most_bytes = (size_t)1 << 20,
                                     .most_tag = 32767,
                                     .state = &r->at,
                                     .send = send_message,
                                     .receive = receive_message,
                                     .test = test,
                                     .cancel = cancel,
                                     .probe = probe,
                                     .error_text = error_text,
                                     .abort = abort_all,
                                     .close = close_endpoint};
    r->status = tsr_context_create(NULL, &ctx);
    if (r->status == TSR_OK) {
        r->status = joined_open(ctx, &transport, r->spec, &world);
    }
    if (r->status == TSR_OK) {
        const tsr_status status = r->function(world, r->state);
        const tsr_status dropped = requests_drop(world);
        r->status =
            joined_close(world, r->report != NULL ? r->report : ctx, status < 0 ? status : dropped);
    }
    tsr_context_destroy(ctx);
    return NULL;
}

static void free_messages(message *l)
{
    while (l != NULL) {
        message *next = l->next;
        free_message(l);
        l = next;
    }
}

static tsr_status run_all(tsr_context *ctx, const tsr_launch_spec *spec, network *o, rank *ranks,
                          tsr_rank_function function, void *state)
{
    for (int64_t i = 0; i < o->size; i++) {
        ranks[i] = (rank){.report = i == 0 ? ctx : NULL,
                          .spec = spec,
                          .function = function,
                          .state = state,
                          .at = {o, i}};
        if (pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]) != 0) {
            abort();
        }
    }
    for (int64_t i = 0; i < o->size; i++) {
        (void)pthread_join(ranks[i].thread, NULL);
    }
    for (int64_t i = 0; i < o->size; i++) {
        free_messages(o->inboxes[i].arrived);
        free_messages(o->inboxes[i].posted);
    }
    return ranks[0].status;
}

tsr_status launch_ranks(tsr_context *ctx, const tsr_launch_spec *spec, tsr_rank_function function,
                        void *state)
{
    if (spec->ranks != RANKS_BY_MESSAGES && spec->ranks != RANKS_JOINED) {
        return tsr_launch(ctx, spec, function, state);
    }
    network o = {.lock = PTHREAD_MUTEX_INITIALIZER, .size = spec->num_ranks};
    const size_t n = (size_t)spec->num_ranks;
    o.inboxes = calloc(n, sizeof *o.inboxes);
    rank *ranks = calloc(n, sizeof *ranks);
    if (o.inboxes == NULL || ranks == NULL) {
        abort();
    }
    (void)setenv("TSR_TRANSPORT", spec->ranks == RANKS_BY_MESSAGES ? "message" : "", 1);
    current_network = &o;
    const tsr_status status = run_all(ctx, spec, &o, ranks, function, state);
    current_network = NULL;
    free(ranks);
    free(o.inboxes);
    return status;
}

void expect_ranks(fixture *f, const tsr_launch_spec *spec, tsr_rank_function function, void *state)
{
    if (launch_ranks(f->ctx, spec, function, state) != TSR_OK) {
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        fail_msg("%lld ranks: %s", (long long)spec->num_ranks,
                 d != NULL ? d->text : "a rank could not join the world");
    }
}
