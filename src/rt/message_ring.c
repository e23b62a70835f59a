/*
 * All-gather around a ring: in each round a member forwards to the next one what it received from
 * the one before, its own block first. Costs cost_all_gather_ring.
 */
#include "rt/message.h"

static tsr_status send_block(coll_task *x, int64_t block)
{
    int64_t shape[KERNEL_MAX_RANK];
    (void)message_part_from(x, block, shape);
    return message_send(x, message_member(x, 1), x->messages->incoming[block].data,
                        coll_task_bytes(x, shape));
}

static void finish(const coll_task *x)
{
    for (int64_t from = 0; from < x->comm->size; from++) {
        int64_t shape[KERNEL_MAX_RANK];
        const incoming *in = &x->messages->incoming[from];
        if (from != x->comm->rank && !in->direct) {
            message_unpack(x, message_part_from(x, from, shape), in->data, shape);
        }
    }
    kernel_copy_fence();
}

static tsr_status begin_round(coll_task *x)
{
    const int64_t round = x->messages->round++;
    if (round == x->comm->size - 1) {
        finish(x);
        return TSR_OK;
    }
    x->messages->next = begin_round;
    TSR_TRY(message_receive_part(x, message_member(x, -round - 1), message_member(x, -1)));
    return send_block(x, message_member(x, -round));
}

tsr_status message_ring(coll_task *x)
{
    incoming *own = &x->messages->incoming[x->comm->rank];
    if (x->dst.bytes == 0) {
        return TSR_OK;
    }
    message_keep_part(x);
    own->data = message_dense_source(x);
    return own->data != NULL ? begin_round(x) : TSR_ERR_NOMEM;
}
