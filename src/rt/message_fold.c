/*
 * Reductions where the receiver of a part receives it from all members and folds it, in group
 * order. A reduce-scatter costs cost_reduce_scatter_pairwise, an all-reduce cost_all_reduce_direct.
 */
#include "rt/message.h"

/* All parts of this member's chunk of a reduction, or of the whole, have arrived. */
static tsr_status reduction_received(coll_task *x)
{
    if (x->dst.bytes > 0) {
        message_fold_runs(x, (strided_ref){x->dst.data, x->dst.strides}, x->dst.shape, x->rank);
    }
    return TSR_OK;
}

/* This member's own part of a reduction, contiguous. */
static tsr_status keep_run(coll_task *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    const int64_t me = x->comm->rank;
    const strided_ref from = message_part_for(x, me, shape);
    const int64_t bytes = coll_task_bytes(x, shape);
    incoming *in = &x->messages->incoming[me];
    in->data = channel_buffer(&x->messages->channel, (size_t)bytes);
    if (in->data == NULL) {
        return TSR_ERR_NOMEM;
    }
    if (bytes > 0) {
        message_pack(x, in->data, from, shape);
    }
    message_count_kept(x, bytes);
    return TSR_OK;
}

tsr_status message_fold(coll_task *x)
{
    TSR_TRY(message_receive_runs(x, x->dst.bytes));
    for (int64_t turn = 1; x->src.bytes > 0 && turn < x->comm->size; turn++) {
        TSR_TRY(message_send_part(x, message_member(x, turn)));
    }
    TSR_TRY(keep_run(x));
    x->messages->next = reduction_received;
    return TSR_OK;
}
