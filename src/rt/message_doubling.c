/*
 * All-reduce by recursive doubling: in each round pairs send each other all that they have folded,
 * so that it is of twice as many members. Unless their number is a power of two, the first few hand
 * their source to a neighbour before the rounds, and receive the result after them. Not in group
 * order; both of a pair fold the lower one's first, so that all members get the same bits. Costs
 * cost_all_reduce_doubling.
 */
#include "rt/message.h"

/* The largest power of two, and the number of members beyond it. */
static int64_t power_below(int64_t members)
{
    int64_t power = 1;
    while (2 * power <= members) {
        power *= 2;
    }
    return power;
}

static int64_t too_many(const coll_task *x)
{
    return x->comm->size - power_below(x->comm->size);
}

/*
 * The members of the rounds are renumbered: the second of each of the first pairs, then the rest.
 */
static int64_t number_of(const coll_task *x)
{
    const int64_t pairs = too_many(x);
    return x->comm->rank < 2 * pairs ? x->comm->rank / 2 : x->comm->rank - pairs;
}

static int64_t member_of(const coll_task *x, int64_t number)
{
    const int64_t pairs = too_many(x);
    return number < pairs ? 2 * number + 1 : number + pairs;
}

static tsr_status finished(coll_task *x)
{
    if (x->messages->result != x->dst.data) {
        message_unpack(x, (strided_ref){x->dst.data, x->dst.strides}, x->messages->result,
                       x->dst.shape);
    }
    return TSR_OK;
}

static tsr_status round_received(coll_task *x);

/* Starts the round of distance `round`, or sends the result to the neighbour that waits for it. */
static tsr_status begin_round(coll_task *x)
{
    const int64_t far = x->messages->round;
    if (far < power_below(x->comm->size)) {
        const int64_t partner = member_of(x, number_of(x) ^ far);
        x->messages->next = round_received;
        TSR_TRY(message_receive(x, partner, x->messages->in, x->src.bytes));
        return message_send(x, partner, x->messages->result, x->src.bytes);
    }
    x->messages->next = finished;
    return x->comm->rank < 2 * too_many(x)
               ? message_send(x, x->comm->rank - 1, x->messages->result, x->src.bytes)
               : TSR_OK;
}

static tsr_status round_received(coll_task *x)
{
    const int64_t number = number_of(x);
    const int64_t far = x->messages->round;
    message_fold_pair(x, x->messages->result, x->messages->in, x->src.bytes, (number & far) != 0);
    x->messages->round *= 2;
    return begin_round(x);
}

/* The source of the neighbour before this member has arrived. */
static tsr_status neighbour_received(coll_task *x)
{
    message_fold_pair(x, x->messages->result, x->messages->in, x->src.bytes, true);
    return begin_round(x);
}

/* The neighbour after this member has its source, and will send the result. */
static tsr_status handed_over(coll_task *x)
{
    x->messages->next = finished;
    return message_receive(x, x->comm->rank + 1, x->messages->result, x->src.bytes);
}

/* Copies the source, contiguous, to where the result will be. */
static tsr_status lay_out(coll_task *x)
{
    message_state *p = x->messages;
    const bool dense = message_is_dense(x, x->dst.shape, x->dst.strides);
    p->result = dense ? x->dst.data : channel_buffer(&p->channel, (size_t)x->dst.bytes);
    p->in = channel_buffer(&p->channel, (size_t)x->src.bytes);
    if (p->result == NULL || p->in == NULL) {
        return TSR_ERR_NOMEM;
    }
    if (p->result != x->src.data) {
        message_pack(x, p->result, (strided_ref){x->src.data, x->src.strides}, x->src.shape);
    }
    return TSR_OK;
}

tsr_status message_doubling(coll_task *x)
{
    const int64_t me = x->comm->rank;
    const bool paired = me < 2 * too_many(x);
    if (x->src.bytes == 0) {
        return TSR_OK;
    }
    TSR_TRY(lay_out(x));
    message_count_kept(x, x->src.bytes);
    x->messages->round = 1;
    if (!paired) {
        return begin_round(x);
    }
    x->messages->next = me % 2 == 0 ? handed_over : neighbour_received;
    return me % 2 == 0 ? message_send(x, me + 1, x->messages->result, x->src.bytes)
                       : message_receive(x, me - 1, x->messages->in, x->src.bytes);
}
