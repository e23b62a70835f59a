/*
 * All-reduce after Rabenseifner: a reduce-scatter of shares by halving (message_halving.c), then an
 * all-gather of them (message_bruck.c). Not in group order; a share is folded once, so that all
 * members get the same bits. Costs cost_all_reduce_rabenseifner.
 */
#include <string.h>

#include "rt/message.h"

/* Copies between the circle and a contiguous array, in which the shares are in order. */
static void turn(const coll_task *x, char *run, bool to_circle)
{
    const circle *c = &x->messages->circle;
    for (int64_t i = 0; i < x->comm->size; i++) {
        char *in_circle = c->data + c->at[i];
        char *in_run = run + message_share_of(x, message_member(x, i)).start * (int64_t)x->item;
        const size_t bytes = (size_t)(c->at[i + 1] - c->at[i]);
        if (bytes > 0) {
            memcpy(to_circle ? in_circle : in_run, to_circle ? in_run : in_circle, bytes);
        }
    }
}

static tsr_status shares_received(coll_task *x)
{
    turn(x, x->messages->result, false);
    if (x->messages->result != x->dst.data) {
        message_unpack(x, (strided_ref){x->dst.data, x->dst.strides}, x->messages->result,
                       x->dst.shape);
    }
    return TSR_OK;
}

static tsr_status share_done(coll_task *x)
{
    return message_gather_circle(x, shares_received);
}

tsr_status message_rabenseifner(coll_task *x)
{
    int64_t bytes[COMM_MAX_RANKS];
    message_state *p = x->messages;
    const bool dense = message_is_dense(x, x->dst.shape, x->dst.strides);
    if (x->src.bytes == 0) {
        return TSR_OK;
    }
    for (int64_t i = 0; i < x->comm->size; i++) {
        bytes[i] = message_share_of(x, i).rows * (int64_t)x->item;
    }
    p->packed = message_dense_source(x);
    p->result = dense ? x->dst.data : channel_buffer(&p->channel, (size_t)x->dst.bytes);
    if (p->packed == NULL || p->result == NULL) {
        return TSR_ERR_NOMEM;
    }
    TSR_TRY(message_make_circle(x, bytes));
    turn(x, p->packed, true);
    message_count_kept(x, 2 * bytes[x->comm->rank]);
    return message_fold_circle(x, share_done);
}
