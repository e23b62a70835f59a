/*
 * Small calls: the sources travel in the records with which the members meet, and there is no
 * parting. The members go on while others may still read their records; that is safe because there
 * are two: the record of this call is written again only in the call after the next, and nobody
 * gets there before all have entered the next one, when they are done with this.
 *
 * One meeting, in which each member sees all sources: cost_all_reduce_direct, and for movements the
 * costs of the direct exchange.
 */
#include <string.h>

#include "base/base.h"
#include "rt/collective.h"

/* A member's own counters take no other's cache line. */
static void count_own(const exchange *x, int64_t sent, int64_t received, int64_t local)
{
    rank_shared *mine = &x->comm->team->ranks[x->comm->world_rank];
    atomic_fetch_add_explicit(&mine->bytes_sent, sent, memory_order_relaxed);
    atomic_fetch_add_explicit(&mine->bytes_received, received, memory_order_relaxed);
    atomic_fetch_add_explicit(&mine->bytes_local, local, memory_order_relaxed);
}

static void put_source(exchange *x, call *what)
{
    if (x->src.bytes > 0) {
        packed_strides(x->src.shape, x->rank, x->item, x->packed);
    }
    if (x->src.here && x->src.bytes > 0) {
        kernel_copy(what->words, x->packed, x->src.data, x->src.strides, x->src.shape, x->rank,
                    x->item, false);
    }
}

tsr_status run_inline(exchange *x)
{
    char text[CALL_TEXT];
    call what = {.name = x->row->call, .hash = x->hash};
    if (x->comm->team->checked) {
        exchange_describe(x, text, sizeof text);
        what.text = text;
    }
    put_source(x, &what);
    TSR_TRY(comm_enter(x->comm, &what));
    if (!x->comm->team->checked) {
        TSR_TRY(exchange_compare(x));
    }
    if (coll_has(x->row, COLL_HAS_OP)) {
        const int64_t others = (x->comm->size - 1) * x->dst.bytes;
        reduce_pull(x);
        count_own(x, others, others, x->dst.bytes);
    } else {
        exchange_pull(x);
    }
    return TSR_OK;
}
