/*
 * Broadcast along a binomial tree: who has the data sends it on, first to the member with most
 * others behind it. Costs cost_broadcast_tree.
 *
 * Members are counted from the root. Member v gets the data from v without its lowest bit, and has
 * those behind it that differ from v only below that bit.
 */
#include "rt/message.h"

/* How many members are counted from v on, itself among them, if the tree were full. */
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

static int64_t place_in_tree(const exchange *x)
{
    return message_member(x, -x->args.root);
}

static int64_t member_at(const exchange *x, int64_t v)
{
    return (v + x->args.root) % x->comm->size;
}

/* The memory is the caller's again. */
static tsr_status sent(exchange *x)
{
    (void)x;
    return TSR_OK;
}

static tsr_status send_on(exchange *x)
{
    const int64_t members = x->comm->size;
    const int64_t v = place_in_tree(x);
    for (int64_t size = branch_of(v, members) / 2; size > 0; size /= 2) {
        if (v + size < members) {
            TSR_TRY(message_send(x, member_at(x, v + size), x->post->packed, x->src.bytes));
        }
    }
    x->post->next = sent;
    return TSR_OK;
}

/* The data is here: on to the others first. */
static tsr_status data_came(exchange *x)
{
    TSR_TRY(send_on(x));
    if (x->post->packed != x->dst.data) {
        message_unpack(x, (place){x->dst.data, x->dst.strides}, x->post->packed, x->dst.shape);
    }
    return TSR_OK;
}

static tsr_status receive(exchange *x)
{
    const int64_t v = place_in_tree(x);
    const bool dense = message_is_dense(x, x->dst.shape, x->dst.strides);
    post *p = x->post;
    p->packed = dense ? x->dst.data : mail_buffer(&p->m, (size_t)x->dst.bytes);
    if (p->packed == NULL) {
        return TSR_ERR_NOMEM;
    }
    x->post->next = data_came;
    return message_receive(x, member_at(x, v - branch_of(v, x->comm->size)), p->packed,
                           x->dst.bytes);
}

tsr_status message_tree(exchange *x)
{
    if (!x->src.here) {
        return receive(x);
    }
    x->post->packed = message_dense_source(x);
    return x->post->packed != NULL ? send_on(x) : TSR_ERR_NOMEM;
}
