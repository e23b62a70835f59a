/*
 * Broadcast along a binomial tree: a member that has the data forwards it, first to the member with
 * the largest subtree. Costs cost_broadcast_tree.
 *
 * Members are counted from the root. Member v receives the data from v without its lowest bit; its
 * subtree are the members that differ from v only below that bit.
 */
#include "rt/message.h"

/* The size of the subtree of v, v included, if the tree were full. */
static int64_t branch_of(int64_t v, int64_t members)
{
    int64_t size = 1;
    if (v > 0) {
        return v & -v;
    }
    while (size < members) {
        size *= 2;
    }
    return size;
}

static int64_t position_in_tree(const coll_task *x)
{
    return message_member(x, -x->args.root);
}

static int64_t member_at(const coll_task *x, int64_t v)
{
    return (v + x->args.root) % x->comm->size;
}

/* All sends are complete: the memory is the caller's again. */
static tsr_status sent(coll_task *x)
{
    (void)x;
    return TSR_OK;
}

static tsr_status send_on(coll_task *x)
{
    const int64_t members = x->comm->size;
    const int64_t v = position_in_tree(x);
    for (int64_t size = branch_of(v, members) / 2; size > 0; size /= 2) {
        if (v + size < members) {
            TSR_TRY(message_send(x, member_at(x, v + size), x->messages->packed, x->src.bytes));
        }
    }
    x->messages->next = sent;
    return TSR_OK;
}

/* The data has arrived: forwards it first. */
static tsr_status data_received(coll_task *x)
{
    TSR_TRY(send_on(x));
    if (x->messages->packed != x->dst.data) {
        message_unpack(x, (strided_ref){x->dst.data, x->dst.strides}, x->messages->packed,
                       x->dst.shape);
    }
    return TSR_OK;
}

static tsr_status receive(coll_task *x)
{
    const int64_t v = position_in_tree(x);
    const bool dense = message_is_dense(x, x->dst.shape, x->dst.strides);
    message_state *p = x->messages;
    p->packed = dense ? x->dst.data : channel_buffer(&p->channel, (size_t)x->dst.bytes);
    if (p->packed == NULL) {
        return TSR_ERR_NOMEM;
    }
    x->messages->next = data_received;
    return message_receive(x, member_at(x, v - branch_of(v, x->comm->size)), p->packed,
                           x->dst.bytes);
}

tsr_status message_tree(coll_task *x)
{
    if (!x->src.here) {
        return receive(x);
    }
    x->messages->packed = message_dense_source(x);
    return x->messages->packed != NULL ? send_on(x) : TSR_ERR_NOMEM;
}
