/* Collectives by messages: what all algorithms share, and the table of algorithms. */
#include "rt/message.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "kernel/fold.h"
#include "rt/control.h"

static message_step *const algorithms[METHODS] = {
    [BY_DIRECT] = message_direct,
    [BY_FOLD] = message_fold,
    [BY_SHARES] = message_shares,
    [BY_TREE] = message_tree,
    [BY_RING] = message_ring,
    [BY_BRUCK] = message_bruck,
    [BY_GATHER] = message_gather,
    [BY_BRUCK_TO_ALL] = message_bruck_to_all,
    [BY_DOUBLING] = message_doubling,
    [BY_HALVING] = message_halving,
    [BY_RABENSEIFNER] = message_rabenseifner,
};

const int64_t *message_starts(const coll_task *x, int64_t member)
{
    return x->messages->starts + member * 2 * (x->comm->size + 1);
}

static size_t state_bytes(const coll_task *x)
{
    return sizeof(message_state) + (size_t)x->comm->size * sizeof(incoming);
}

void message_end(coll_task *x)
{
    channel_close(&x->messages->channel);
    (void)context_resize(x->comm->ctx, x->messages, state_bytes(x), 0);
    x->messages = NULL;
}

/* A failure after the rendezvous: the other members cannot know, so the group is revoked. */
static tsr_status lose(coll_task *x, tsr_status status)
{
    return x->comm->broken < 0 ? status : comm_revoke(x->comm, x->row->call, status);
}

/*
 * Waits for messages, or polls whether they have arrived. A member may wait for one that waits for
 * another: the first to see that a member is gone revokes the group. Completed messages are dropped
 * from the channel.
 */
static tsr_status await_messages(coll_task *x, bool wait)
{
    const tsr_status status =
        comm_await_channel(x->comm, &x->messages->channel, x->row->call, wait);
    if (status < 0 && control_revocation(x->comm) == NULL) {
        control_send_revocation(x->comm, status, -1);
    }
    if (status == TSR_OK) {
        x->messages->channel.num_fragments = 0;
    }
    return status;
}

static tsr_status step_on(coll_task *x, bool wait);

/* Runs a step; the one that it sets runs when all messages have arrived. */
static tsr_status take_step(coll_task *x, message_step *step)
{
    x->messages->next = NULL;
    const tsr_status status = step(x);
    x->next = x->messages->next != NULL ? step_on : NULL;
    return status < 0 ? lose(x, status) : status;
}

static tsr_status step_on(coll_task *x, bool wait)
{
    const tsr_status status = await_messages(x, wait);
    return status == TSR_OK ? take_step(x, x->messages->next) : status;
}

tsr_status message_send(coll_task *x, int64_t to, const void *data, int64_t bytes)
{
    comm_count(x->comm, x->comm->world_rank, tsr_comm_world_rank(x->comm, to), bytes);
    return channel_send(&x->messages->channel, tsr_comm_world_rank(x->comm, to), data,
                        (size_t)bytes);
}

tsr_status message_receive(coll_task *x, int64_t from, void *data, int64_t bytes)
{
    comm_count(x->comm, tsr_comm_world_rank(x->comm, from), x->comm->world_rank, bytes);
    return channel_receive(&x->messages->channel, tsr_comm_world_rank(x->comm, from), data,
                           (size_t)bytes, (size_t)from);
}

void message_count_kept(const coll_task *x, int64_t bytes)
{
    comm_count(x->comm, x->comm->world_rank, x->comm->world_rank, bytes);
}

bool message_is_dense(const coll_task *x, const int64_t *shape, const int64_t *strides)
{
    return is_packed_array(shape, x->rank, x->item, strides);
}

void message_pack(const coll_task *x, char *out, strided_ref from, const int64_t *shape)
{
    int64_t dense[KERNEL_MAX_RANK];
    (void)packed_strides(shape, x->rank, x->item, dense);
    kernel_copy(out, dense, from.data, from.strides, shape, x->rank, x->item, false);
}

void message_unpack(const coll_task *x, strided_ref to, const char *in, const int64_t *shape)
{
    int64_t dense[KERNEL_MAX_RANK];
    (void)packed_strides(shape, x->rank, x->item, dense);
    kernel_copy(to.data, to.strides, in, dense, shape, x->rank, x->item, false);
}

strided_ref message_part_for(const coll_task *x, int64_t to, int64_t *shape)
{
    strided_ref p = {x->src.data, x->src.strides};
    memcpy(shape, x->src.shape, x->rank * sizeof *shape);
    if (coll_has(x->row, COLL_CUTS_SRC)) {
        const chunk c = chunk_of_src(x, x->comm->rank, to);
        shape[x->args.src_dim] = c.rows;
        p.data = row_address(p, x, x->args.src_dim, c.start);
    }
    return p;
}

strided_ref message_part_from(const coll_task *x, int64_t from, int64_t *shape)
{
    strided_ref p = {x->dst.data, x->dst.strides};
    memcpy(shape, x->dst.shape, x->rank * sizeof *shape);
    if (coll_has(x->row, COLL_CUTS_DST)) {
        const chunk c = chunk_of_dst(x, from, x->comm->rank);
        shape[x->args.dst_dim] = c.rows;
        p.data = row_address(p, x, x->args.dst_dim, c.start);
    }
    return p;
}

void message_keep_part(const coll_task *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    const int64_t me = x->comm->rank;
    const strided_ref from = message_part_for(x, me, shape);
    const strided_ref to = message_part_from(x, me, shape);
    const int64_t bytes = coll_task_bytes(x, shape);
    kernel_copy(to.data, to.strides, from.data, from.strides, shape, x->rank, x->item, x->stream);
    message_count_kept(x, bytes);
}

tsr_status message_send_part(coll_task *x, int64_t to)
{
    int64_t shape[KERNEL_MAX_RANK];
    const strided_ref from = message_part_for(x, to, shape);
    const int64_t bytes = coll_task_bytes(x, shape);
    char *data = from.data;
    if (bytes > 0 && !message_is_dense(x, shape, from.strides)) {
        data = x->messages->packed;
        if (data == NULL) {
            data = channel_buffer(&x->messages->channel, (size_t)bytes);
            if (data == NULL) {
                return TSR_ERR_NOMEM;
            }
            message_pack(x, data, from, shape);
        }
        x->messages->packed = coll_has(x->row, COLL_CUTS_SRC) ? NULL : data;
    }
    return message_send(x, to, data, bytes);
}

tsr_status message_receive_part(coll_task *x, int64_t member, int64_t from)
{
    int64_t shape[KERNEL_MAX_RANK];
    incoming *in = &x->messages->incoming[member];
    const strided_ref to = message_part_from(x, member, shape);
    const int64_t bytes = coll_task_bytes(x, shape);
    in->direct = message_is_dense(x, shape, to.strides);
    in->data = in->direct ? to.data : channel_buffer(&x->messages->channel, (size_t)bytes);
    return in->data != NULL ? message_receive(x, from, in->data, bytes) : TSR_ERR_NOMEM;
}

tsr_status message_receive_runs(coll_task *x, int64_t bytes)
{
    for (int64_t from = 0; bytes > 0 && from < x->comm->size; from++) {
        incoming *in = &x->messages->incoming[from];
        if (from == x->comm->rank) {
            continue;
        }
        in->data = channel_buffer(&x->messages->channel, (size_t)bytes);
        if (in->data == NULL) {
            return TSR_ERR_NOMEM;
        }
        TSR_TRY(message_receive(x, from, in->data, bytes));
    }
    return TSR_OK;
}

char *message_dense_source(coll_task *x)
{
    if (message_is_dense(x, x->src.shape, x->src.strides)) {
        return x->src.data;
    }
    char *data = channel_buffer(&x->messages->channel, (size_t)x->src.bytes);
    if (data != NULL) {
        message_pack(x, data, (strided_ref){x->src.data, x->src.strides}, x->src.shape);
    }
    return data;
}

void message_fold_runs(const coll_task *x, strided_ref to, const int64_t *shape, size_t rank)
{
    const void *sources[COMM_MAX_RANKS];
    int64_t dense[KERNEL_MAX_RANK];
    (void)packed_strides(shape, rank, x->item, dense);
    for (int64_t i = 0; i < x->comm->size; i++) {
        sources[i] = x->messages->incoming[i].data;
    }
    kernel_fold(to.data, to.strides, sources, (size_t)x->comm->size, dense, shape, rank, x->dtype,
                (fold_op)x->args.op, false);
}

void message_fold_pair(const coll_task *x, char *a, const char *b, int64_t bytes, bool reversed)
{
    const int64_t item = (int64_t)x->item;
    const int64_t elements = bytes / item;
    const void *sources[] = {reversed ? b : a, reversed ? a : b};
    if (elements > 0) {
        kernel_fold(a, &item, sources, 2, &item, &elements, 1, x->dtype, (fold_op)x->args.op,
                    false);
    }
}

chunk message_share_of(const coll_task *x, int64_t member)
{
    const int64_t elements = x->src.bytes / (int64_t)x->item;
    const int64_t each = ceil_div(elements, x->comm->size);
    const int64_t start = min_i64(member * each, elements);
    return (chunk){start, min_i64(start + each, elements) - start};
}

tsr_status message_make_circle(coll_task *x, const int64_t *bytes)
{
    const int64_t p = x->comm->size;
    circle *c = &x->messages->circle;
    c->at = channel_buffer(&x->messages->channel, ((size_t)p + 1) * sizeof *c->at);
    if (c->at == NULL) {
        return TSR_ERR_NOMEM;
    }
    c->at[0] = 0;
    for (int64_t i = 0; i < p; i++) {
        c->at[i + 1] = c->at[i] + bytes[message_member(x, i)];
    }
    c->data = channel_buffer(&x->messages->channel, (size_t)c->at[p]);
    return c->data != NULL ? TSR_OK : TSR_ERR_NOMEM;
}

static tsr_status begin_data(coll_task *x)
{
    return take_step(x, algorithms[x->algorithm->method]);
}

/* Members that disagree all know it from the same numbers, so the group is not broken. */
static tsr_status starts_received(coll_task *x, bool wait)
{
    const tsr_status status = await_messages(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    x->next = NULL;
    TSR_TRY(coll_task_compare_counts(x));
    return begin_data(x);
}

/* Sends the other members the rows that this one sends and expects, and receives theirs. */
static tsr_status begin_starts(coll_task *x)
{
    const int64_t members = x->comm->size;
    const size_t words = 2 * ((size_t)members + 1);
    message_state *p = x->messages;
    p->starts = channel_buffer(&p->channel, (size_t)members * words * sizeof(int64_t));
    if (p->starts == NULL) {
        return TSR_ERR_NOMEM;
    }
    for (int64_t turn = 1; turn < members; turn++) {
        const int64_t member = message_member(x, turn);
        const int64_t rank = tsr_comm_world_rank(x->comm, member);
        int64_t *theirs = p->starts + (size_t)member * words;
        TSR_TRY(channel_receive(&p->channel, rank, theirs, words * sizeof *theirs, (size_t)member));
        TSR_TRY(channel_send(&p->channel, rank, x->offer->starts, words * sizeof *theirs));
    }
    x->next = starts_received;
    return TSR_OK;
}

tsr_status message_begin(coll_task *x)
{
    x->messages = context_resize(x->comm->ctx, NULL, 0, state_bytes(x));
    if (x->messages == NULL) {
        return lose(x, diag_nomem(x->comm->ctx));
    }
    memset(x->messages, 0, state_bytes(x));
    comm_open_channel(x->comm, &x->messages->channel);
    if (!coll_has(x->row, COLL_COUNTS_DIFFER)) {
        return begin_data(x);
    }
    const tsr_status status = begin_starts(x);
    return status < 0 ? lose(x, status) : status;
}
