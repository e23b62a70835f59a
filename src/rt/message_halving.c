/*
 * Reduce-scatter by halving: Bruck's all-gather backwards. A member has partial folds of the blocks
 * of all members, from its own on. In a round it sends those of the members m to 2m-1 positions
 * after it to the one m positions after it, receives as many from the member m positions before it,
 * which are its own block and those after it, and folds them in; m halves down to 1. Each
 * contribution to a block thus travels the reverse of the path that the block takes in the
 * all-gather, for any number of members. Not in group order. Costs cost_reduce_scatter_halving.
 */
#include "rt/message.h"

static tsr_status round_received(coll_task *x);

/* Starts the round of distance `round`. */
static tsr_status begin_round(coll_task *x)
{
    const circle *c = &x->messages->circle;
    const int64_t far = x->messages->round;
    if (far == 0) {
        return x->messages->then(x);
    }
    const int64_t count = min_i64(far, x->comm->size - far);
    x->messages->next = round_received;
    TSR_TRY(message_receive(x, message_member(x, -far), x->messages->in, c->at[count]));
    return message_send(x, message_member(x, far), c->data + c->at[far],
                        c->at[far + count] - c->at[far]);
}

static tsr_status round_received(coll_task *x)
{
    const circle *c = &x->messages->circle;
    const int64_t far = x->messages->round;
    message_fold_pair(x, c->data, x->messages->in, c->at[min_i64(far, x->comm->size - far)], false);
    x->messages->round /= 2;
    return begin_round(x);
}

tsr_status message_fold_circle(coll_task *x, message_step *then)
{
    const int64_t p = x->comm->size;
    const circle *c = &x->messages->circle;
    int64_t far = 1;
    while (2 * far < p) {
        far *= 2;
    }
    x->messages->round = p > 1 ? far : 0;
    x->messages->then = then;
    x->messages->in = channel_buffer(&x->messages->channel, (size_t)c->at[p]);
    return x->messages->in != NULL ? begin_round(x) : TSR_ERR_NOMEM;
}

static tsr_status chunk_done(coll_task *x)
{
    if (x->dst.bytes > 0) {
        message_unpack(x, (strided_ref){x->dst.data, x->dst.strides}, x->messages->circle.data,
                       x->dst.shape);
    }
    return TSR_OK;
}

tsr_status message_halving(coll_task *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    int64_t bytes[COMM_MAX_RANKS];
    if (x->src.bytes == 0) {
        return TSR_OK;
    }
    for (int64_t i = 0; i < x->comm->size; i++) {
        (void)message_part_for(x, i, shape);
        bytes[i] = coll_task_bytes(x, shape);
    }
    TSR_TRY(message_make_circle(x, bytes));
    const circle *c = &x->messages->circle;
    for (int64_t i = 0; i < x->comm->size; i++) {
        const strided_ref from = message_part_for(x, message_member(x, i), shape);
        message_pack(x, c->data + c->at[i], from, shape);
    }
    message_count_kept(x, x->dst.bytes);
    return message_fold_circle(x, chunk_done);
}
