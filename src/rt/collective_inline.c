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

/* What this member sends and gets, to be counted on its own cache lines. */
typedef struct own_traffic {
    rank_shared *mine;
    tsr_traffic all;
} own_traffic;

static own_traffic own_start(const coll_task *x, int64_t local)
{
    return (own_traffic){.mine = &x->comm->team->ranks[x->comm->world_rank],
                         .all = {.bytes_local = local}};
}

/* Adds what it sends to another member and gets from it. */
static void own_add(own_traffic *o, const coll_task *x, int64_t peer, int64_t sent,
                    int64_t received)
{
    const rank_levels *levels = &x->comm->state->levels;
    o->all.bytes_sent += sent;
    o->all.bytes_received += received;
    if (levels->count > 0) {
        const size_t l =
            rank_levels_between(levels, x->comm->world_rank, tsr_comm_world_rank(x->comm, peer));
        atomic_fetch_add_explicit(&o->mine->sent_at[l], sent, memory_order_relaxed);
        atomic_fetch_add_explicit(&o->mine->received_at[l], received, memory_order_relaxed);
    }
}

static void own_finish(const own_traffic *o)
{
    atomic_fetch_add_explicit(&o->mine->bytes_sent, o->all.bytes_sent, memory_order_relaxed);
    atomic_fetch_add_explicit(&o->mine->bytes_received, o->all.bytes_received,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&o->mine->bytes_local, o->all.bytes_local, memory_order_relaxed);
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
    own_traffic own = own_start(x, coll_task_sends(x, me, me) ? in : 0);
    for (int64_t i = 0; i < x->comm->size; i++) {
        if (i != me) {
            own_add(&own, x, i, coll_task_sends(x, me, i) ? out : 0,
                    coll_task_sends(x, i, me) ? in : 0);
        }
    }
    own_finish(&own);
}

/* Of a reduction every member gets the sources of all others. */
static void count_reduction(const coll_task *x)
{
    own_traffic own = own_start(x, x->dst.bytes);
    for (int64_t i = 0; i < x->comm->size; i++) {
        if (i != x->comm->rank) {
            own_add(&own, x, i, x->dst.bytes, x->dst.bytes);
        }
    }
    own_finish(&own);
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
        reduce_pull(x);
        count_reduction(x);
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
