/*
 * All-reduce in shares: each member folds its share of all sources, in group order, and sends the
 * result to all. Costs cost_all_reduce_shares.
 */
#include "rt/message.h"

/* All shares of the result have arrived. */
static tsr_status result_received(coll_task *x)
{
    if (x->messages->result != x->dst.data) {
        message_unpack(x, (strided_ref){x->dst.data, x->dst.strides}, x->messages->result,
                       x->dst.shape);
    }
    return TSR_OK;
}

/* This member's share of all sources has arrived: folds it and sends it to all. */
static tsr_status share_received(coll_task *x)
{
    const int64_t item = (int64_t)x->item;
    const int64_t me = x->comm->rank;
    const chunk mine = message_share_of(x, me);
    char *share = x->messages->result + mine.start * item;
    x->messages->incoming[me].data = x->messages->packed + mine.start * item;
    if (mine.rows > 0) {
        message_fold_runs(x, (strided_ref){share, &item}, &mine.rows, 1);
    }
    for (int64_t turn = 1; turn < x->comm->size; turn++) {
        const int64_t other = message_member(x, turn);
        const chunk c = message_share_of(x, other);
        TSR_TRY(message_receive(x, other, x->messages->result + c.start * item, c.rows * item));
        TSR_TRY(message_send(x, other, share, mine.rows * item));
    }
    message_count_kept(x, 2 * mine.rows * item);
    x->messages->next = result_received;
    return TSR_OK;
}

/* The source and the buffer of the result, each contiguous. */
static tsr_status lay_out(coll_task *x)
{
    message_state *p = x->messages;
    const bool dense = message_is_dense(x, x->dst.shape, x->dst.strides);
    p->packed = message_dense_source(x);
    p->result = dense ? x->dst.data : channel_buffer(&p->channel, (size_t)x->dst.bytes);
    return p->packed != NULL && p->result != NULL ? TSR_OK : TSR_ERR_NOMEM;
}

tsr_status message_shares(coll_task *x)
{
    const int64_t item = (int64_t)x->item;
    TSR_TRY(lay_out(x));
    TSR_TRY(message_receive_runs(x, message_share_of(x, x->comm->rank).rows * item));
    for (int64_t turn = 1; turn < x->comm->size; turn++) {
        const int64_t to = message_member(x, turn);
        const chunk c = message_share_of(x, to);
        TSR_TRY(message_send(x, to, x->messages->packed + c.start * item, c.rows * item));
    }
    x->messages->next = share_received;
    return TSR_OK;
}
