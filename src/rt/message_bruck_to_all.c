/*
 * All-to-all after Bruck, for equal chunks: a block for the member d places on hops along the bits
 * of d, 1, 2, 4 .. places at a time, and in each round all blocks with that bit go in one message.
 * Fewer messages than in pairs, more bytes. Costs cost_all_to_all_bruck, the copies being those
 * into the circle and out of it, and those into and out of the message of each round.
 */
#include <string.h>

#include "rt/message.h"

static int64_t block_bytes(const exchange *x)
{
    return x->src.bytes / x->comm->size;
}

/* Copies the blocks with the bit of this round between the circle and a message; their bytes. */
static int64_t copy_blocks(const exchange *x, char *message, bool out)
{
    const int64_t each = block_bytes(x);
    char *at = message;
    for (int64_t i = 0; i < x->comm->size; i++) {
        if ((i & x->post->round) != 0) {
            char *block = x->post->circle.data + i * each;
            memcpy(out ? at : block, out ? block : at, (size_t)each);
            at += each;
        }
    }
    return at - message;
}

/* All blocks are where they are wanted: the one at place d is from the member d places back. */
static void finish(const exchange *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    for (int64_t i = 0; i < x->comm->size; i++) {
        const place to = message_part_from(x, message_member(x, -i), shape);
        message_unpack(x, to, x->post->circle.data + i * block_bytes(x), shape);
    }
    kernel_copy_fence();
}

static tsr_status round_came(exchange *x);

static tsr_status begin_round(exchange *x)
{
    const int64_t far = x->post->round;
    if (far >= x->comm->size) {
        finish(x);
        return TSR_OK;
    }
    const int64_t bytes = copy_blocks(x, x->post->out, true);
    x->post->next = round_came;
    TSR_TRY(message_receive(x, message_member(x, -far), x->post->in, bytes));
    return message_send(x, message_member(x, far), x->post->out, bytes);
}

static tsr_status round_came(exchange *x)
{
    (void)copy_blocks(x, x->post->in, false);
    x->post->round *= 2;
    return begin_round(x);
}

tsr_status message_bruck_to_all(exchange *x)
{
    int64_t shape[KERNEL_MAX_RANK];
    post *p = x->post;
    if (x->src.bytes == 0) {
        return TSR_OK;
    }
    p->circle.data = mail_buffer(&p->m, (size_t)x->src.bytes);
    p->out = mail_buffer(&p->m, (size_t)x->src.bytes);
    p->in = mail_buffer(&p->m, (size_t)x->src.bytes);
    if (p->circle.data == NULL || p->out == NULL || p->in == NULL) {
        return TSR_ERR_NOMEM;
    }
    for (int64_t i = 0; i < x->comm->size; i++) {
        const place from = message_part_for(x, message_member(x, i), shape);
        message_pack(x, p->circle.data + i * block_bytes(x), from, shape);
    }
    message_count_kept(x, block_bytes(x));
    p->round = 1;
    return begin_round(x);
}
