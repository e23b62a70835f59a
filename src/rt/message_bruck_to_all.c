/*
 * All-to-all after Bruck, for equal chunks: a block for the member d positions further hops along
 * the bits of d, 1, 2, 4 .. positions at a time, and in each round all blocks with that bit go in
 * one message. Fewer messages than in pairs, more bytes. Costs cost_all_to_all_bruck, the copies
 * being those into the circle and out of it, and those into and out of the message of each round.
 */
#include <string.h>

#include "rt/message.h"

static int64_t block_bytes(const coll_task *x)
{
    return x->src.bytes / x->comm->size;
}

/* Copies the blocks with the bit of this round between the circle and a message; their bytes. */
static int64_t copy_blocks(const coll_task *x, char *message, bool out)
{
    const int64_t each = block_bytes(x);
    char *at = message;
    for (int64_t i = 0; i < x->comm->size; i++) {
        if ((i & x->messages->round) != 0) {
            char *block = x->messages->circle.data + i * each;
            memcpy(out ? at : block, out ? block : at, (size_t)each);
            at += each;
        }
    }
    return at - message;
}

/* All blocks have arrived: block d of the circle is from the member d positions before this one. */
static void finish(const coll_task *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    for (int64_t i = 0; i < x->comm->size; i++) {
        const strided_ref to = message_part_from(x, message_member(x, -i), shape);
        message_unpack(x, to, x->messages->circle.data + i * block_bytes(x), shape);
    }
    kernel_copy_fence();
}

static tsr_status round_received(coll_task *x);

static tsr_status begin_round(coll_task *x)
{
    const int64_t far = x->messages->round;
    if (far >= x->comm->size) {
        finish(x);
        return TSR_OK;
    }
    const int64_t bytes = copy_blocks(x, x->messages->out, true);
    x->messages->next = round_received;
    TSR_TRY(message_receive(x, message_member(x, -far), x->messages->in, bytes));
    return message_send(x, message_member(x, far), x->messages->out, bytes);
}

static tsr_status round_received(coll_task *x)
{
    (void)copy_blocks(x, x->messages->in, false);
    x->messages->round *= 2;
    return begin_round(x);
}

tsr_status message_bruck_to_all(coll_task *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    message_state *p = x->messages;
    if (x->src.bytes == 0) {
        return TSR_OK;
    }
    p->circle.data = channel_buffer(&p->channel, (size_t)x->src.bytes);
    p->out = channel_buffer(&p->channel, (size_t)x->src.bytes);
    p->in = channel_buffer(&p->channel, (size_t)x->src.bytes);
    if (p->circle.data == NULL || p->out == NULL || p->in == NULL) {
        return TSR_ERR_NOMEM;
    }
    for (int64_t i = 0; i < x->comm->size; i++) {
        const strided_ref from = message_part_for(x, message_member(x, i), shape);
        message_pack(x, p->circle.data + i * block_bytes(x), from, shape);
    }
    message_count_kept(x, block_bytes(x));
    p->round = 1;
    return begin_round(x);
}
