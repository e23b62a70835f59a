/*
 * Small calls: the sources travel in the records of the rendezvous, and there is no rendezvous at
 * the end. A member returns while others may still read its record. That is safe because there are
 * two records: the one of this call is overwritten only in the call after the next, and no member
 * enters that before all have entered the next one, when they have finished with this.
 *
 * One rendezvous, in which each member sees all sources: cost_all_reduce_direct, and for movements
 * the costs of direct movement.
 */
#include <string.h>

#include "base/base.h"
#include "rt/collective.h"

/* Counts on the member's own cache line. */
static void count_own(const coll_task *x, int64_t sent, int64_t received, int64_t local)
{
    rank_shared *mine = &x->comm->team->ranks[x->comm->world_rank];
    atomic_fetch_add_explicit(&mine->bytes_sent, sent, memory_order_relaxed);
    atomic_fetch_add_explicit(&mine->bytes_received, received, memory_order_relaxed);
    atomic_fetch_add_explicit(&mine->bytes_local, local, memory_order_relaxed);
}

static void put_source(coll_task *x, comm_call *what)
{
    if (x->src.bytes > 0) {
        (void)packed_strides(x->src.shape, x->rank, x->item, x->packed);
    }
    if (x->src.here && x->src.bytes > 0) {
        kernel_copy(what->words, x->packed, x->src.data, x->src.strides, x->src.shape, x->rank,
                    x->item, false);
    }
}

/* What this member sends and gets of a movement. */
static void count_movement(const coll_task *x)
{
    const int64_t me = x->comm->rank;
    const int64_t cut_src = coll_has(x->row, COLL_CUTS_SRC) ? x->comm->size : 1;
    const int64_t cut_dst = coll_has(x->row, COLL_CUTS_DST) ? x->comm->size : 1;
    const int64_t out = x->src.bytes / cut_src;
    const int64_t in = x->dst.bytes / cut_dst;
    int64_t sent = 0;
    int64_t received = 0;
    for (int64_t i = 0; i < x->comm->size; i++) {
        sent += i != me && coll_task_sends(x, me, i) ? out : 0;
        received += i != me && coll_task_sends(x, i, me) ? in : 0;
    }
    count_own(x, sent, received, coll_task_sends(x, me, me) ? in : 0);
}

/* All sources have arrived. */
static tsr_status after_inline_rendezvous(coll_task *x, bool wait)
{
    const comm_call what = {.name = x->row->call, .describe = coll_task_describe, .of = x};
    const tsr_status met = comm_finish_entering(x->comm, &what, wait);
    if (met != TSR_OK) {
        return met;
    }
    x->next = NULL;
    if (coll_has(x->row, COLL_HAS_OP)) {
        const int64_t others = (x->comm->size - 1) * x->dst.bytes;
        reduce_pull(x);
        count_own(x, others, others, x->dst.bytes);
    } else {
        movement_pull(x);
        count_movement(x);
    }
    return TSR_OK;
}

tsr_status inline_begin(coll_task *x)
{
    comm_call what = {
        .name = x->row->call, .hash = x->hash, .hash_has_name = true, .history = x->history};
    put_source(x, &what);
    x->next = after_inline_rendezvous;
    return comm_start_entering(x->comm, &what);
}
