/*
 * All-gather after Bruck: a member that knows the blocks of m members, from its own on, receives
 * those of the next m from the member m positions after it, and sends its own to the one m
 * positions before it. Works for any number of members: the last round sends only what is missing.
 * Costs cost_all_gather_bruck, the copy being that from the circle to the destination.
 */
#include "rt/message.h"

static tsr_status round_received(coll_task *x);

/* Starts the round in which `round` blocks are known. */
static tsr_status begin_round(coll_task *x)
{
    const circle *c = &x->messages->circle;
    const int64_t p = x->comm->size;
    const int64_t known = x->messages->round;
    if (known >= p) {
        return x->messages->then(x);
    }
    const int64_t more = min_i64(known, p - known);
    x->messages->next = round_received;
    TSR_TRY(message_receive(x, message_member(x, known), c->data + c->at[known],
                            c->at[known + more] - c->at[known]));
    return message_send(x, message_member(x, -known), c->data, c->at[more]);
}

static tsr_status round_received(coll_task *x)
{
    x->messages->round *= 2;
    return begin_round(x);
}

tsr_status message_gather_circle(coll_task *x, message_step *then)
{
    x->messages->round = 1;
    x->messages->then = then;
    return begin_round(x);
}

/* All blocks have arrived: copies each to the destination. */
static tsr_status blocks_received(coll_task *x)
{
    const circle *c = &x->messages->circle;
    for (int64_t i = 1; i < x->comm->size; i++) {
        int64_t shape[KERNEL_MAX_RANK];
        const strided_ref to = message_part_from(x, message_member(x, i), shape);
        message_unpack(x, to, c->data + c->at[i], shape);
    }
    kernel_copy_fence();
    return TSR_OK;
}

tsr_status message_bruck(coll_task *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    int64_t bytes[COMM_MAX_RANKS];
    if (x->dst.bytes == 0) {
        return TSR_OK;
    }
    for (int64_t i = 0; i < x->comm->size; i++) {
        (void)message_part_from(x, i, shape);
        bytes[i] = coll_task_bytes(x, shape);
    }
    TSR_TRY(message_make_circle(x, bytes));
    if (x->src.bytes > 0) {
        message_pack(x, x->messages->circle.data, (strided_ref){x->src.data, x->src.strides},
                     x->src.shape);
    }
    message_keep_part(x);
    return message_gather_circle(x, blocks_received);
}
