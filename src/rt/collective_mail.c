/*
 * Collectives between ranks that share no memory: chunks go straight from their owner to whoever
 * wants them, in one message each. Views that lie in one run of memory are sent and received where
 * they are, others through buffers.
 *
 * Movements cost what the direct exchange does (collective_exchange.c); a broadcast, by the root
 * alone, cost_broadcast_linear. A reduce-scatter costs cost_reduce_scatter_pairwise. A small
 * all-reduce sends all sources to all members, cost_all_reduce_direct; a larger one reduces in
 * shares, which everybody then sends to all, cost_all_reduce_shares. Both fold in the order of the
 * group.
 */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "coll/cost.h"
#include "kernel/fold.h"
#include "rt/collective.h"

/* About what messages cost between machines. */
static const coll_link message_link = {.alpha = 10e-6, .beta = 0.5e-9, .gamma = 0.1e-9};

/* A message from another member. */
typedef struct incoming {
    char *data;
    bool direct; /* into the destination itself */
} incoming;

/* What goes by mail in one collective. */
typedef struct post {
    mail m;
    int64_t *starts;     /* of all members' chunks */
    char *packed;        /* the whole source, or this member's own part of it, in one run */
    char *result;        /* of an all-reduce, in one run */
    incoming incoming[]; /* one for each member */
} post;

const int64_t *post_starts(const exchange *x, int64_t member)
{
    return x->post->starts + member * 2 * (x->comm->size + 1);
}

static size_t post_bytes(const exchange *x)
{
    return sizeof(post) + (size_t)x->comm->size * sizeof(incoming);
}

void post_end(exchange *x)
{
    mail_close(&x->post->m);
    (void)context_resize(x->comm->ctx, x->post, post_bytes(x), 0);
    x->post = NULL;
}

/* A failure behind the meeting: the others cannot know, so the group is lost. */
static tsr_status lose(exchange *x, tsr_status status)
{
    return x->comm->broken < 0 ? status : comm_give_up(x->comm, x->row->call, status);
}

static tsr_status await_mail(exchange *x, bool wait)
{
    return comm_mail_done(x->comm, &x->post->m, x->row->call, wait);
}

/* Whether an array lies in one run, in the order of its elements. */
static bool is_dense(const exchange *x, const int64_t *shape, const int64_t *strides)
{
    int64_t stride = (int64_t)x->item;
    for (size_t i = x->rank; i-- > 0;) {
        if (shape[i] > 1 && strides[i] != stride) {
            return false;
        }
        stride *= shape[i];
    }
    return true;
}

/* Copies an array into one run of memory. */
static void pack(const exchange *x, char *out, place from, const int64_t *shape)
{
    int64_t dense[KERNEL_MAX_RANK];
    packed_strides(shape, x->rank, x->item, dense);
    kernel_copy(out, dense, from.data, from.strides, shape, x->rank, x->item, false);
}

static void unpack(const exchange *x, place to, const char *in, const int64_t *shape)
{
    int64_t dense[KERNEL_MAX_RANK];
    packed_strides(shape, x->rank, x->item, dense);
    kernel_copy(to.data, to.strides, in, dense, shape, x->rank, x->item, false);
}

/* What this member has for another: its place and shape. */
static place part_for(const exchange *x, int64_t to, int64_t *shape)
{
    place p = {x->src.data, x->src.strides};
    memcpy(shape, x->src.shape, x->rank * sizeof *shape);
    if (coll_has(x->row, COLL_CUTS_SRC)) {
        const chunk c = chunk_of_src(x, x->comm->rank, to);
        shape[x->args.src_dim] = c.rows;
        p.data = exchange_row(p, x, x->args.src_dim, c.start);
    }
    return p;
}

/* Where what another member has for this one goes. */
static place part_from(const exchange *x, int64_t from, int64_t *shape)
{
    place p = {x->dst.data, x->dst.strides};
    memcpy(shape, x->dst.shape, x->rank * sizeof *shape);
    if (coll_has(x->row, COLL_CUTS_DST)) {
        const chunk c = chunk_of_dst(x, from, x->comm->rank);
        shape[x->args.dst_dim] = c.rows;
        p.data = exchange_row(p, x, x->args.dst_dim, c.start);
    }
    return p;
}

static bool has_part_for(const exchange *x, int64_t to)
{
    return x->src.here && x->src.bytes > 0 && exchange_sends(x, x->comm->rank, to);
}

static bool has_part_from(const exchange *x, int64_t from)
{
    return x->dst.here && x->dst.bytes > 0 && exchange_sends(x, from, x->comm->rank);
}

static tsr_status send_to(exchange *x, int64_t to, const void *data, int64_t bytes)
{
    comm_count(x->comm, x->comm->world_rank, tsr_comm_world_rank(x->comm, to), bytes);
    return mail_send(&x->post->m, tsr_comm_world_rank(x->comm, to), data, (size_t)bytes);
}

static tsr_status receive_from(exchange *x, int64_t from, void *data, int64_t bytes)
{
    comm_count(x->comm, tsr_comm_world_rank(x->comm, from), x->comm->world_rank, bytes);
    return mail_receive(&x->post->m, tsr_comm_world_rank(x->comm, from), data, (size_t)bytes,
                        (size_t)from);
}

/* Receives a part of a movement, where it belongs if it can. */
static tsr_status receive_part(exchange *x, int64_t from)
{
    int64_t shape[KERNEL_MAX_RANK];
    incoming *in = &x->post->incoming[from];
    const place to = part_from(x, from, shape);
    const int64_t bytes = exchange_bytes(x, shape);
    in->direct = is_dense(x, shape, to.strides);
    in->data = in->direct ? to.data : mail_buffer(&x->post->m, (size_t)bytes);
    return in->data != NULL ? receive_from(x, from, in->data, bytes) : TSR_ERR_NOMEM;
}

/* Sends a part; one that goes to all is packed only once. */
static tsr_status send_part(exchange *x, int64_t to)
{
    int64_t shape[KERNEL_MAX_RANK];
    const place from = part_for(x, to, shape);
    const int64_t bytes = exchange_bytes(x, shape);
    char *data = from.data;
    if (bytes > 0 && !is_dense(x, shape, from.strides)) {
        data = x->post->packed;
        if (data == NULL) {
            data = mail_buffer(&x->post->m, (size_t)bytes);
            if (data == NULL) {
                return TSR_ERR_NOMEM;
            }
            pack(x, data, from, shape);
        }
        x->post->packed = coll_has(x->row, COLL_CUTS_SRC) ? NULL : data;
    }
    return send_to(x, to, data, bytes);
}

static void keep_part(const exchange *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    const int64_t me = x->comm->rank;
    const place from = part_for(x, me, shape);
    const place to = part_from(x, me, shape);
    const int64_t bytes = exchange_bytes(x, shape);
    kernel_copy(to.data, to.strides, from.data, from.strides, shape, x->rank, x->item, x->stream);
    comm_count(x->comm, x->comm->world_rank, x->comm->world_rank, bytes);
}

static tsr_status movement_came(exchange *x, bool wait)
{
    const tsr_status status = await_mail(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    for (int64_t from = 0; from < x->comm->size; from++) {
        int64_t shape[KERNEL_MAX_RANK];
        const incoming *in = &x->post->incoming[from];
        if (in->data != NULL && !in->direct) {
            unpack(x, part_from(x, from, shape), in->data, shape);
        }
    }
    if (coll_has(x->row, COLL_HAS_DESTINATIONS)) {
        exchange_fill_unsent(x);
    }
    kernel_copy_fence();
    x->next = NULL;
    return TSR_OK;
}

static tsr_status begin_movement(exchange *x)
{
    const int64_t members = x->comm->size;
    const int64_t me = x->comm->rank;
    for (int64_t from = 0; from < members; from++) {
        if (from != me && has_part_from(x, from)) {
            TSR_TRY(receive_part(x, from));
        }
    }
    for (int64_t turn = 1; turn < members; turn++) {
        const int64_t to = (me + turn) % members;
        if (has_part_for(x, to)) {
            TSR_TRY(send_part(x, to));
        }
    }
    if (has_part_for(x, me) && has_part_from(x, me)) {
        keep_part(x);
    }
    x->next = movement_came;
    return TSR_OK;
}

/* Folds runs of elements, one of each member, into an array. */
static void fold(const exchange *x, place to, const int64_t *shape, size_t rank)
{
    const void *sources[COMM_MAX_RANKS];
    int64_t dense[KERNEL_MAX_RANK];
    packed_strides(shape, rank, x->item, dense);
    for (int64_t i = 0; i < x->comm->size; i++) {
        sources[i] = x->post->incoming[i].data;
    }
    kernel_fold(to.data, to.strides, sources, (size_t)x->comm->size, dense, shape, rank, x->dtype,
                (fold_op)x->args.op, false);
}

/* Receives a run of as many bytes from every other member. */
static tsr_status receive_runs(exchange *x, int64_t bytes)
{
    for (int64_t from = 0; bytes > 0 && from < x->comm->size; from++) {
        incoming *in = &x->post->incoming[from];
        if (from == x->comm->rank) {
            continue;
        }
        in->data = mail_buffer(&x->post->m, (size_t)bytes);
        if (in->data == NULL) {
            return TSR_ERR_NOMEM;
        }
        TSR_TRY(receive_from(x, from, in->data, bytes));
    }
    return TSR_OK;
}

/* All parts of this member's chunk of a reduction, or of all of it, are here. */
static tsr_status reduction_came(exchange *x, bool wait)
{
    const tsr_status status = await_mail(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    if (x->dst.bytes > 0) {
        fold(x, (place){x->dst.data, x->dst.strides}, x->dst.shape, x->rank);
    }
    x->next = NULL;
    return TSR_OK;
}

/* This member's own part of a reduction, in one run. */
static tsr_status keep_run(exchange *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    const int64_t me = x->comm->rank;
    const place from = part_for(x, me, shape);
    const int64_t bytes = exchange_bytes(x, shape);
    incoming *in = &x->post->incoming[me];
    in->data = mail_buffer(&x->post->m, (size_t)bytes);
    if (in->data == NULL) {
        return TSR_ERR_NOMEM;
    }
    if (bytes > 0) {
        pack(x, in->data, from, shape);
    }
    comm_count(x->comm, x->comm->world_rank, x->comm->world_rank, bytes);
    return TSR_OK;
}

static tsr_status begin_reduction(exchange *x)
{
    const int64_t me = x->comm->rank;
    TSR_TRY(receive_runs(x, x->dst.bytes));
    for (int64_t turn = 1; x->src.bytes > 0 && turn < x->comm->size; turn++) {
        TSR_TRY(send_part(x, (me + turn) % x->comm->size));
    }
    TSR_TRY(keep_run(x));
    x->next = reduction_came;
    return TSR_OK;
}

/* The elements of which a member makes the sum. */
static chunk share_of(const exchange *x, int64_t member)
{
    const int64_t elements = x->src.bytes / (int64_t)x->item;
    const int64_t each = ceil_div(elements, x->comm->size);
    const int64_t start = min_i64(member * each, elements);
    return (chunk){start, min_i64(start + each, elements) - start};
}

/* All shares of the result are here. */
static tsr_status result_came(exchange *x, bool wait)
{
    const tsr_status status = await_mail(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    if (x->post->result != x->dst.data) {
        unpack(x, (place){x->dst.data, x->dst.strides}, x->post->result, x->dst.shape);
    }
    x->next = NULL;
    return TSR_OK;
}

/* This member's share of all sources is here: folds it and sends it to all. */
static tsr_status share_came(exchange *x, bool wait)
{
    const int64_t item = (int64_t)x->item;
    const int64_t me = x->comm->rank;
    const chunk mine = share_of(x, me);
    const tsr_status status = await_mail(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    char *share = x->post->result + mine.start * item;
    x->post->incoming[me].data = x->post->packed + mine.start * item;
    if (mine.rows > 0) {
        fold(x, (place){share, &item}, &mine.rows, 1);
    }
    for (int64_t turn = 1; turn < x->comm->size; turn++) {
        const int64_t other = (me + turn) % x->comm->size;
        const chunk c = share_of(x, other);
        TSR_TRY(receive_from(x, other, x->post->result + c.start * item, c.rows * item));
        TSR_TRY(send_to(x, other, share, mine.rows * item));
    }
    comm_count(x->comm, x->comm->world_rank, x->comm->world_rank, 2 * mine.rows * item);
    x->next = result_came;
    return TSR_OK;
}

/* The source and the place for the result, each in one run. */
static tsr_status lay_out(exchange *x)
{
    post *p = x->post;
    const size_t bytes = (size_t)x->src.bytes;
    const bool src = is_dense(x, x->src.shape, x->src.strides);
    const bool dst = is_dense(x, x->dst.shape, x->dst.strides);
    p->packed = src ? x->src.data : mail_buffer(&p->m, bytes);
    p->result = dst ? x->dst.data : mail_buffer(&p->m, bytes);
    if (p->packed == NULL || p->result == NULL) {
        return TSR_ERR_NOMEM;
    }
    if (!src) {
        pack(x, p->packed, (place){x->src.data, x->src.strides}, x->src.shape);
    }
    return TSR_OK;
}

static tsr_status begin_shares(exchange *x)
{
    const int64_t item = (int64_t)x->item;
    const int64_t me = x->comm->rank;
    TSR_TRY(lay_out(x));
    TSR_TRY(receive_runs(x, share_of(x, me).rows * item));
    for (int64_t turn = 1; turn < x->comm->size; turn++) {
        const int64_t to = (me + turn) % x->comm->size;
        const chunk c = share_of(x, to);
        TSR_TRY(send_to(x, to, x->post->packed + c.start * item, c.rows * item));
    }
    x->next = share_came;
    return TSR_OK;
}

/* Whether it is cheaper that every member gets every source. */
static bool is_small(const exchange *x)
{
    const double n = (double)x->src.bytes;
    return cost_all_reduce_direct(&message_link, n, x->comm->size) <=
           cost_all_reduce_shares(&message_link, n, x->comm->size);
}

static tsr_status begin_data(exchange *x)
{
    tsr_status status;
    if (!coll_has(x->row, COLL_HAS_OP)) {
        status = begin_movement(x);
    } else if (coll_has(x->row, COLL_CUTS_SRC) || is_small(x)) {
        status = begin_reduction(x);
    } else {
        status = begin_shares(x);
    }
    return status < 0 ? lose(x, status) : status;
}

static tsr_status starts_came(exchange *x, bool wait)
{
    const tsr_status status = await_mail(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    x->next = NULL;
    TSR_TRY(exchange_compare_counts(x));
    return begin_data(x);
}

/* Tells the others which rows this member sends and expects, and asks for theirs. */
static tsr_status begin_starts(exchange *x)
{
    const int64_t members = x->comm->size;
    const size_t words = 2 * ((size_t)members + 1);
    post *p = x->post;
    p->starts = mail_buffer(&p->m, (size_t)members * words * sizeof(int64_t));
    if (p->starts == NULL) {
        return TSR_ERR_NOMEM;
    }
    for (int64_t i = 0; i < members; i++) {
        const int64_t rank = tsr_comm_world_rank(x->comm, i);
        int64_t *theirs = p->starts + (size_t)i * words;
        if (i == x->comm->rank) {
            continue;
        }
        TSR_TRY(mail_receive(&p->m, rank, theirs, words * sizeof *theirs, (size_t)i));
        TSR_TRY(mail_send(&p->m, rank, x->offer->starts, words * sizeof *theirs));
    }
    x->next = starts_came;
    return TSR_OK;
}

tsr_status post_begin(exchange *x)
{
    x->post = context_resize(x->comm->ctx, NULL, 0, post_bytes(x));
    if (x->post == NULL) {
        return lose(x, diag_nomem(x->comm->ctx));
    }
    memset(x->post, 0, post_bytes(x));
    comm_open_mail(x->comm, &x->post->m);
    if (!coll_has(x->row, COLL_COUNTS_DIFFER)) {
        return begin_data(x);
    }
    const tsr_status status = begin_starts(x);
    return status < 0 ? lose(x, status) : status;
}
