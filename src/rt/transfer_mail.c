/*
 * Moves by messages: one to each rank that lacks something, packed, while what others send is on
 * its way; unpacked as it comes. Folds wait for all of their sources.
 */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "rt/transfer.h"

/* What moves from and to one rank. */
typedef struct bundle {
    size_t bytes_out;
    size_t bytes_in;
    char *in;
    const char *at; /* how far it is unpacked */
    bool unpacked;
} bundle;

/* A step by mail. */
typedef struct mailing {
    const transfer *x;
    bundle *bundles; /* one for each rank */
    mail m;
} mailing;

static bool has_source(const transfer *x, const plan_move *move, int64_t rank)
{
    for (size_t q = 0; q < x->step->sources_each; q++) {
        if (x->step->sources[move->first_source + q] == rank) {
            return true;
        }
    }
    return false;
}

/* Whether a rank's part of a move goes through a buffer: a copy within a rank does not. */
static bool is_packed(const transfer *x, const plan_move *move, int64_t from)
{
    return transfer_wants(x, move) && (x->step->sources_each > 1 || from != move->dst) &&
           has_source(x, move, from);
}

static void measure(mailing *w)
{
    const transfer *x = w->x;
    const int64_t me = x->world->rank;
    for (size_t i = 0; i < x->step->num_moves; i++) {
        const plan_move *move = &x->step->moves[i];
        const size_t bytes = (size_t)move->elements * x->item;
        if (is_packed(x, move, me)) {
            w->bundles[move->dst].bytes_out += bytes;
        }
        for (size_t q = 0; move->dst == me && q < x->step->sources_each; q++) {
            const int64_t from = x->step->sources[move->first_source + q];
            w->bundles[from].bytes_in += is_packed(x, move, from) ? bytes : 0;
        }
    }
}

static void dense_strides(const int64_t *shape, size_t rank, size_t item, int64_t *strides)
{
    int64_t stride = (int64_t)item;
    for (size_t i = rank; i-- > 0;) {
        strides[i] = stride;
        stride *= shape[i];
    }
}

static size_t box_bytes(const transfer *x, const transfer_box *box)
{
    size_t bytes = x->item;
    for (size_t i = 0; i < x->step->dst->rank; i++) {
        bytes *= (size_t)box->shape[i];
    }
    return bytes;
}

/* Packs what this rank has for another, in the order of the moves. */
static void pack(const transfer *x, int64_t to, char *out)
{
    const size_t rank = x->step->dst->rank;
    int64_t dense[KERNEL_MAX_RANK];
    for (size_t i = 0; i < x->step->num_moves; i++) {
        const plan_move *move = &x->step->moves[i];
        if (move->dst != to || !is_packed(x, move, x->world->rank)) {
            continue;
        }
        transfer_box box;
        transfer_first(x, move, &box);
        do {
            dense_strides(box.shape, rank, x->item, dense);
            kernel_copy(out, dense, x->src->data + transfer_offset(box.src, x->src->strides, rank),
                        x->src->strides, box.shape, rank, x->item, false);
            out += box_bytes(x, &box);
        } while (transfer_next(x, move, &box));
    }
}

/* Puts a box into this rank's destination, from its sources' bundles or from its own shard. */
static void put_box(mailing *w, const plan_move *move, const transfer_box *box)
{
    const transfer *x = w->x;
    const size_t rank = x->step->dst->rank;
    const int64_t *from = x->step->sources + move->first_source;
    char *dst = x->dst->data + transfer_offset(box->dst, x->dst->strides, rank);
    int64_t dense[KERNEL_MAX_RANK];
    if (!is_packed(x, move, from[0])) {
        kernel_copy(dst, x->dst->strides,
                    x->src->data + transfer_offset(box->src, x->src->strides, rank),
                    x->src->strides, box->shape, rank, x->item, x->stream);
        return;
    }
    const void *sources[COMM_MAX_RANKS];
    dense_strides(box->shape, rank, x->item, dense);
    for (size_t q = 0; q < x->step->sources_each; q++) {
        sources[q] = w->bundles[from[q]].at;
        w->bundles[from[q]].at += box_bytes(x, box);
    }
    if (x->step->sources_each == 1) {
        kernel_copy(dst, x->dst->strides, sources[0], dense, box->shape, rank, x->item, x->stream);
    } else {
        kernel_fold(dst, x->dst->strides, sources, x->step->sources_each, dense, box->shape, rank,
                    x->src->dtype, x->op, x->stream);
    }
}

/* Puts what came from one rank, or with -1 from all, into the destination. */
static void unpack(mailing *w, int64_t from)
{
    const transfer *x = w->x;
    for (size_t i = 0; i < x->step->num_moves; i++) {
        const plan_move *move = &x->step->moves[i];
        if (move->dst != x->world->rank || !transfer_wants(x, move) ||
            (from >= 0 && x->step->sources[move->first_source] != from)) {
            continue;
        }
        transfer_box box;
        transfer_first(x, move, &box);
        do {
            put_box(w, move, &box);
        } while (transfer_next(x, move, &box));
        if (x->step->sources_each == 1 && x->step->sources[move->first_source] == move->dst) {
            comm_count(x->world, move->dst, move->dst, move->elements * (int64_t)x->item);
        }
    }
}

/* Starts to receive everything. */
static tsr_status start_receiving(mailing *w)
{
    const int64_t me = w->x->world->rank;
    for (int64_t from = 0; from < w->x->world->size; from++) {
        bundle *b = &w->bundles[from];
        b->in = mail_buffer(&w->m, b->bytes_in);
        b->at = b->in;
        if (b->in == NULL) {
            return TSR_ERR_NOMEM;
        }
        if (from != me) {
            TSR_TRY(mail_receive(&w->m, from, b->in, b->bytes_in, (size_t)from));
        }
    }
    return TSR_OK;
}

/* Packs and sends to one rank after the other, starting with the one behind this. */
static tsr_status send_all(mailing *w)
{
    const tsr_comm *world = w->x->world;
    for (int64_t turn = 1; turn < world->size; turn++) {
        const int64_t to = (world->rank + turn) % world->size;
        const size_t bytes = w->bundles[to].bytes_out;
        char *out = bytes > 0 ? mail_buffer(&w->m, bytes) : NULL;
        if (bytes > 0 && out == NULL) {
            return TSR_ERR_NOMEM;
        }
        if (bytes > 0) {
            pack(w->x, to, out);
            TSR_TRY(mail_send(&w->m, to, out, bytes));
            const tsr_status status = mail_test(&w->m);
            if (status < 0) {
                return status;
            }
        }
    }
    return TSR_OK;
}

/* Unpacks each bundle as it comes, this rank's own first. */
static tsr_status receive_all(mailing *w)
{
    tsr_comm *world = w->x->world;
    if (w->x->step->sources_each > 1) {
        pack(w->x, world->rank, w->bundles[world->rank].in);
        TSR_TRY(comm_mail_done(world, &w->m, "tsr_redistribute", true));
        unpack(w, -1);
        return TSR_OK;
    }
    unpack(w, world->rank);
    for (int64_t left = world->size - 1; left > 0;) {
        const tsr_status status = comm_mail_done(world, &w->m, "tsr_redistribute", false);
        if (status < 0) {
            return status;
        }
        for (int64_t from = 0; from < world->size; from++) {
            bundle *b = &w->bundles[from];
            if (from != world->rank && !b->unpacked && mail_has(&w->m, (size_t)from)) {
                unpack(w, from);
                b->unpacked = true;
                left--;
            }
        }
    }
    return comm_mail_done(world, &w->m, "tsr_redistribute", true);
}

static void count_traffic(const mailing *w)
{
    const tsr_comm *world = w->x->world;
    for (int64_t i = 0; i < world->size; i++) {
        const bundle *b = &w->bundles[i];
        if (i != world->rank) {
            comm_count(world, world->rank, i, (int64_t)b->bytes_out);
            comm_count(world, i, world->rank, (int64_t)b->bytes_in);
        } else {
            comm_count(world, i, i, (int64_t)b->bytes_in);
        }
    }
}

tsr_status transfer_by_mail(const transfer *x)
{
    tsr_comm *world = x->world;
    const size_t bytes = (size_t)world->size * sizeof(bundle);
    mailing w = {.x = x, .bundles = context_resize(world->ctx, NULL, 0, bytes)};
    comm_open_mail(world, &w.m);
    tsr_status status = TSR_ERR_NOMEM;
    if (w.bundles != NULL) {
        memset(w.bundles, 0, bytes);
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
        status = comm_give_up(world, "tsr_redistribute", status);
    }
    mail_close(&w.m);
    (void)context_resize(world->ctx, w.bundles, bytes, 0);
    return status;
}
