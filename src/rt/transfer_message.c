/*
 * Executing moves by messages: each rank packs one message for each rank that receives something
 * from it, while the others' messages are in flight, and unpacks messages as they arrive.
 * Contiguous data is sent, or received, in place. Folds wait for all of their sources.
 */
#include <sched.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "kernel/packed.h"
#include "rt/transfer.h"

/* What moves one way between this rank and another: moves that follow each other. */
typedef struct payload {
    const plan_move *moves;
    size_t count;
    size_t bytes;
    size_t boxes;
} payload;

/* What moves from and to one rank. */
typedef struct peer_transfer {
    payload out;
    payload in;
    char *received; /* the buffer of the incoming message */
    bool direct;    /* into the destination itself */
    const char *at; /* how far it is unpacked */
    bool unpacked;
} peer_transfer;

/* A step by messages. */
typedef struct message_transfer {
    const transfer *x;
    peer_transfer *peers; /* one for each rank */
    channel channel;
} message_transfer;

static void load(payload *f, const transfer *x, const plan_move *move)
{
    size_t boxes = 1;
    for (size_t i = 0; i < x->rank; i++) {
        boxes *= move->overlaps[i]->count;
    }
    f->moves = f->count == 0 ? move : f->moves;
    f->count++;
    f->bytes += (size_t)move->elements * x->item;
    f->boxes += boxes;
}

/* Finds what goes through messages: a copy within a rank does not, a part of a fold does. */
static void measure(message_transfer *w)
{
    const transfer *x = w->x;
    const int64_t me = x->world->rank;
    for (size_t i = 0; i < x->sends.count; i++) {
        const plan_move *move = &x->sends.list[i];
        if (transfer_wants(x, move->peer) && (x->parts > 1 || move->peer != me)) {
            load(&w->peers[move->peer].out, x, move);
        }
    }
    for (size_t i = 0; i < x->receives.count && transfer_wants(x, me); i++) {
        const plan_move *move = &x->receives.list[i];
        for (size_t q = 0; q < x->parts; q++) {
            const int64_t from = transfer_sources(move)[q];
            if (x->parts > 1 || from != me) {
                load(&w->peers[from].in, x, move);
            }
        }
    }
}

/* The address of a payload that is contiguous in a tensor's memory; NULL if it is not. */
static char *run_of(const transfer *x, const payload *f, const tsr_tensor *t)
{
    transfer_box box;
    if (f->boxes != 1) {
        return NULL;
    }
    transfer_first(x, f->moves, &box);
    if (!is_packed_array(box.shape, x->rank, x->item, t->strides)) {
        return NULL;
    }
    return t->data + transfer_offset(t == x->src ? box.src : box.dst, t->strides, x->rank);
}

/* Packs what another rank receives from this one, in the order of the moves. */
static void pack(const transfer *x, const payload *f, char *out)
{
    int64_t dense[KERNEL_MAX_RANK];
    for (size_t i = 0; i < f->count; i++) {
        const plan_move *move = &f->moves[i];
        transfer_box box;
        transfer_first(x, move, &box);
        do {
            const int64_t bytes = packed_strides(box.shape, x->rank, x->item, dense);
            kernel_copy(out, dense,
                        x->src->data + transfer_offset(box.src, x->src->strides, x->rank),
                        x->src->strides, box.shape, x->rank, x->item, false);
            out += bytes;
        } while (transfer_next(x, move, &box));
    }
}

/* Writes a box into this rank's destination, from its sources' messages or from its own shard. */
static void put_box(message_transfer *w, const plan_move *move, const transfer_box *box)
{
    const transfer *x = w->x;
    const int64_t *from = transfer_sources(move);
    char *dst = x->dst->data + transfer_offset(box->dst, x->dst->strides, x->rank);
    int64_t dense[KERNEL_MAX_RANK];
    if (x->parts == 1 && from[0] == x->world->rank) {
        kernel_copy(dst, x->dst->strides,
                    x->src->data + transfer_offset(box->src, x->src->strides, x->rank),
                    x->src->strides, box->shape, x->rank, x->item, x->stream);
        return;
    }
    const void *sources[COMM_MAX_RANKS];
    const int64_t bytes = packed_strides(box->shape, x->rank, x->item, dense);
    for (size_t q = 0; q < x->parts; q++) {
        sources[q] = w->peers[from[q]].at;
        w->peers[from[q]].at += bytes;
    }
    if (x->parts == 1) {
        kernel_copy(dst, x->dst->strides, sources[0], dense, box->shape, x->rank, x->item,
                    x->stream);
    } else {
        kernel_fold(dst, x->dst->strides, sources, x->parts, dense, box->shape, x->rank,
                    x->src->dtype, x->op, x->stream);
    }
}

/* Unpacks moves, from the messages of their sources, into the destination. */
static void unpack(message_transfer *w, const plan_move *moves, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        transfer_box box;
        transfer_first(w->x, &moves[i], &box);
        do {
            put_box(w, &moves[i], &box);
        } while (transfer_next(w->x, &moves[i], &box));
    }
}

/* Copies what this rank has itself. */
static void unpack_own(message_transfer *w)
{
    const transfer *x = w->x;
    const int64_t me = x->world->rank;
    for (size_t i = 0; i < x->receives.count && transfer_wants(x, me); i++) {
        const plan_move *move = &x->receives.list[i];
        if (move->peer == me) {
            unpack(w, move, 1);
            comm_count(x->world, me, me, move->elements * (int64_t)x->item);
        }
    }
}

/* Starts to receive everything. */
static tsr_status start_receiving(message_transfer *w)
{
    const transfer *x = w->x;
    const int64_t me = x->world->rank;
    for (int64_t from = 0; from < x->world->size; from++) {
        peer_transfer *b = &w->peers[from];
        char *run = x->parts == 1 && from != me ? run_of(x, &b->in, x->dst) : NULL;
        b->direct = run != NULL;
        b->received = b->direct ? run : channel_buffer(&w->channel, b->in.bytes);
        b->at = b->received;
        if (b->received == NULL) {
            return TSR_ERR_NOMEM;
        }
        if (from != me) {
            TSR_TRY(channel_receive(&w->channel, from, b->received, b->in.bytes, (size_t)from));
        }
    }
    return TSR_OK;
}

/* Sends one rank what it lacks. */
static tsr_status send_to(message_transfer *w, int64_t to)
{
    const payload *f = &w->peers[to].out;
    char *data = run_of(w->x, f, w->x->src);
    if (data == NULL) {
        data = channel_buffer(&w->channel, f->bytes);
        if (data == NULL) {
            return TSR_ERR_NOMEM;
        }
        pack(w->x, f, data);
    }
    TSR_TRY(channel_send(&w->channel, to, data, f->bytes));
    const tsr_status status = channel_test(&w->channel);
    return status < 0 ? status : TSR_OK;
}

/* Packs and sends to one rank after the other, starting with the one after this. */
static tsr_status send_all(message_transfer *w)
{
    const tsr_comm *world = w->x->world;
    for (int64_t turn = 1; turn < world->size; turn++) {
        const int64_t to = (world->rank + turn) % world->size;
        if (w->peers[to].out.bytes > 0) {
            TSR_TRY(send_to(w, to));
        }
    }
    return TSR_OK;
}

/* Unpacks each message as it arrives, this rank's own data first. */
static tsr_status receive_all(message_transfer *w)
{
    tsr_comm *world = w->x->world;
    if (w->x->parts > 1) {
        const peer_transfer *own = &w->peers[world->rank];
        pack(w->x, &own->out, own->received);
        TSR_TRY(comm_await_channel(world, &w->channel, w->x->call, true));
        if (transfer_wants(w->x, world->rank)) {
            unpack(w, w->x->receives.list, w->x->receives.count);
        }
        return TSR_OK;
    }
    unpack_own(w);
    for (int64_t left = world->size - 1; left > 0;) {
        tsr_status status = comm_await_channel(world, &w->channel, w->x->call, false);
        if (status == TSR_IN_PROGRESS) {
            status = comm_check_time(world, &w->channel, w->x->call);
        }
        if (status < 0) {
            return status;
        }
        (void)sched_yield();
        for (int64_t from = 0; from < world->size; from++) {
            peer_transfer *b = &w->peers[from];
            if (from != world->rank && !b->unpacked &&
                channel_has_received(&w->channel, (size_t)from)) {
                if (!b->direct) {
                    unpack(w, b->in.moves, b->in.count);
                }
                b->unpacked = true;
                left--;
            }
        }
    }
    return comm_await_channel(world, &w->channel, w->x->call, true);
}

static void count_traffic(const message_transfer *w)
{
    const tsr_comm *world = w->x->world;
    for (int64_t i = 0; i < world->size; i++) {
        const peer_transfer *b = &w->peers[i];
        if (i != world->rank) {
            comm_count(world, world->rank, i, (int64_t)b->out.bytes);
            comm_count(world, i, world->rank, (int64_t)b->in.bytes);
        } else {
            comm_count(world, i, i, (int64_t)b->in.bytes);
        }
    }
}

tsr_status transfer_by_messages(const transfer *x)
{
    tsr_comm *world = x->world;
    const size_t bytes = (size_t)world->size * sizeof(peer_transfer);
    message_transfer w = {.x = x, .peers = context_resize(world->ctx, NULL, 0, bytes)};
    comm_open_channel(world, &w.channel);
    tsr_status status = TSR_ERR_NOMEM;
    if (w.peers != NULL) {
        memset(w.peers, 0, bytes);
        measure(&w);
        status = start_receiving(&w);
    } else {
        (void)diag_nomem(world->ctx);
    }
    status = status == TSR_OK ? send_all(&w) : status;
    status = status == TSR_OK ? receive_all(&w) : status;
    if (status == TSR_OK) {
        count_traffic(&w);
    } else if (world->broken == TSR_OK) {
        status = comm_revoke(world, x->call, status);
    }
    channel_close(&w.channel);
    (void)context_resize(world->ctx, w.peers, bytes, 0);
    return status;
}
