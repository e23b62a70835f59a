/*
 * Direct movement: each chunk goes straight from its owner to its receiver, in one message.
 *
 * Costs: all-gather cost_all_gather_ring, all-to-all cost_all_to_all_pairwise, scatter and gather
 * cost_scatter_linear, broadcast cost_broadcast_linear, permutation cost_permute.
 */
#include "rt/message.h"

static bool has_part_for(const coll_task *x, int64_t to)
{
    return x->src.here && x->src.bytes > 0 && coll_task_sends(x, x->comm->rank, to);
}

static bool has_part_from(const coll_task *x, int64_t from)
{
    return x->dst.here && x->dst.bytes > 0 && coll_task_sends(x, from, x->comm->rank);
}

static tsr_status movement_received(coll_task *x)
{
    for (int64_t from = 0; from < x->comm->size; from++) {
        int64_t shape[KERNEL_MAX_RANK];
        const incoming *in = &x->messages->incoming[from];
        if (in->data != NULL && !in->direct) {
            message_unpack(x, message_part_from(x, from, shape), in->data, shape);
        }
    }
    if (coll_has(x->row, COLL_HAS_DESTINATIONS)) {
        coll_task_fill_unsent(x);
    }
    kernel_copy_fence();
    return TSR_OK;
}

tsr_status message_direct(coll_task *x)
{
    const int64_t members = x->comm->size;
    const int64_t me = x->comm->rank;
    for (int64_t from = 0; from < members; from++) {
        if (from != me && has_part_from(x, from)) {
            TSR_TRY(message_receive_part(x, from, from));
        }
    }
    for (int64_t turn = 1; turn < members; turn++) {
        const int64_t to = (me + turn) % members;
        if (has_part_for(x, to)) {
            TSR_TRY(message_send_part(x, to));
        }
    }
    if (has_part_for(x, me) && has_part_from(x, me)) {
        message_keep_part(x);
    }
    x->messages->next = movement_received;
    return TSR_OK;
}
