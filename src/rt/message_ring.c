/*
 * All-gather around a ring: in each round a member sends on to the next what it got from the one
 * before, its own block first. Costs cost_all_gather_ring.
 */
#include "rt/message.h"

/* Where a block of the destination comes in: in place if it can. */
static tsr_status receive_block(exchange *x, int64_t block)
{
    int64_t shape[KERNEL_MAX_RANK];
    incoming *in = &x->post->incoming[block];
    const place to = message_part_from(x, block, shape);
    const int64_t bytes = exchange_bytes(x, shape);
    in->direct = message_is_dense(x, shape, to.strides);
    in->data = in->direct ? to.data : mail_buffer(&x->post->m, (size_t)bytes);
    return in->data != NULL ? message_receive(x, message_member(x, -1), in->data, bytes)
                            : TSR_ERR_NOMEM;
}

static tsr_status send_block(exchange *x, int64_t block)
{
    int64_t shape[KERNEL_MAX_RANK];
    (void)message_part_from(x, block, shape);
    return message_send(x, message_member(x, 1), x->post->incoming[block].data,
                        exchange_bytes(x, shape));
}

static void finish(const exchange *x)
{
    for (int64_t from = 0; from < x->comm->size; from++) {
        int64_t shape[KERNEL_MAX_RANK];
        const incoming *in = &x->post->incoming[from];
        if (from != x->comm->rank && !in->direct) {
            message_unpack(x, message_part_from(x, from, shape), in->data, shape);
        }
    }
    kernel_copy_fence();
}

static tsr_status begin_round(exchange *x)
{
    const int64_t round = x->post->round++;
    if (round == x->comm->size - 1) {
        finish(x);
        return TSR_OK;
    }
    x->post->next = begin_round;
    TSR_TRY(receive_block(x, message_member(x, -round - 1)));
    return send_block(x, message_member(x, -round));
}

tsr_status message_ring(exchange *x)
{
    incoming *own = &x->post->incoming[x->comm->rank];
    if (x->dst.bytes == 0) {
        return TSR_OK;
    }
    message_keep_part(x);
    own->data = message_dense_source(x);
    return own->data != NULL ? begin_round(x) : TSR_ERR_NOMEM;
}
