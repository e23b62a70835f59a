/*
 * Reduce-scatter by halving: Bruck's all-gather backwards. A member has partial folds of the blocks
 * of all members, from its own on. In a round it sends those of the members m to 2m-1 places on to
 * the one m places on, gets as many from the member m places back, which are its own and those
 * behind, and folds them in; m halves down to 1. What a member gives to a block thus takes the way
 * back that the block takes in the all-gather, for any number of members. Out of the order of the
 * group. Costs cost_reduce_scatter_halving.
 */
#include "rt/message.h"

static tsr_status round_came(exchange *x);

/* Starts the round of distance `round`. */
static tsr_status begin_round(exchange *x)
{
    const circle *c = &x->post->circle;
    const int64_t far = x->post->round;
    if (far == 0) {
        return x->post->then(x);
    }
    const int64_t count = min_i64(far, x->comm->size - far);
    x->post->next = round_came;
    TSR_TRY(message_receive(x, message_member(x, -far), x->post->in, c->at[count]));
    return message_send(x, message_member(x, far), c->data + c->at[far],
                        c->at[far + count] - c->at[far]);
}

static tsr_status round_came(exchange *x)
{
    const circle *c = &x->post->circle;
    const int64_t far = x->post->round;
    message_fold_pair(x, c->data, x->post->in, c->at[min_i64(far, x->comm->size - far)], false);
    x->post->round /= 2;
    return begin_round(x);
}

tsr_status message_fold_circle(exchange *x, message_step *then)
{
    const int64_t p = x->comm->size;
    const circle *c = &x->post->circle;
    int64_t far = 1;
    while (2 * far < p) {
        far *= 2;
    }
    x->post->round = p > 1 ? far : 0;
    x->post->then = then;
    x->post->in = mail_buffer(&x->post->m, (size_t)c->at[p]);
    return x->post->in != NULL ? begin_round(x) : TSR_ERR_NOMEM;
}

static tsr_status chunk_done(exchange *x)
{
    if (x->dst.bytes > 0) {
        message_unpack(x, (place){x->dst.data, x->dst.strides}, x->post->circle.data, x->dst.shape);
    }
    return TSR_OK;
}

tsr_status message_halving(exchange *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    int64_t bytes[COMM_MAX_RANKS];
    if (x->src.bytes == 0) {
        return TSR_OK;
    }
    for (int64_t i = 0; i < x->comm->size; i++) {
        (void)message_part_for(x, i, shape);
        bytes[i] = exchange_bytes(x, shape);
    }
    TSR_TRY(message_make_circle(x, bytes));
    const circle *c = &x->post->circle;
    for (int64_t i = 0; i < x->comm->size; i++) {
        const place from = message_part_for(x, message_member(x, i), shape);
        message_pack(x, c->data + c->at[i], from, shape);
    }
    message_count_kept(x, x->dst.bytes);
    return message_fold_circle(x, chunk_done);
}
