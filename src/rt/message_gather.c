/*
 * All-reduce where every member gathers all sources, by Bruck's all-gather (message_bruck.c), and
 * folds them in group order. Costs cost_all_reduce_gather.
 */
#include "rt/message.h"

static tsr_status sources_received(coll_task *x)
{
    const circle *c = &x->messages->circle;
    for (int64_t i = 0; i < x->comm->size; i++) {
        x->messages->incoming[message_member(x, i)].data = c->data + c->at[i];
    }
    if (x->dst.bytes > 0) {
        message_fold_runs(x, (strided_ref){x->dst.data, x->dst.strides}, x->dst.shape, x->rank);
    }
    return TSR_OK;
}

tsr_status message_gather(coll_task *x)
{
    int64_t bytes[COMM_MAX_RANKS];
    for (int64_t i = 0; i < x->comm->size; i++) {
        bytes[i] = x->src.bytes;
    }
    TSR_TRY(message_make_circle(x, bytes));
    if (x->src.bytes > 0) {
        message_pack(x, x->messages->circle.data, (strided_ref){x->src.data, x->src.strides},
                     x->src.shape);
    }
    message_count_kept(x, x->src.bytes);
    return message_gather_circle(x, sources_received);
}
