/* The steps of a collective whose sources are too large for the records. */
#include "rt/collective.h"

#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/map.h"
#include "rt/request.h"

/* The words of a member's record. */
enum { WORD_OFFER, WORD_FLAGS, WORD_STRIDES };
enum { SRC_IN_REACH = 1, DST_IN_REACH = 2 };

/* How the bytes get from view to view. */
typedef enum way { WAY_PUSH, WAY_PULL, WAY_BOUNCE } way;

static const offer *offer_of(const coll_task *x, int64_t member)
{
    const uint64_t where = comm_record(x->comm, member)->words[WORD_OFFER];
    const int64_t rank = tsr_comm_world_rank(x->comm, member);
    return (const offer *)(const void *)comm_address(x->comm, rank, where);
}

/* The starts of a member's chunks. */
static const int64_t *starts_of(const coll_task *x, int64_t member, bool source)
{
    const bool far = x->comm->team->message && member != x->comm->rank;
    const int64_t *starts = far ? message_starts(x, member) : offer_of(x, member)->starts;
    return starts + (source ? 0 : x->comm->size + 1);
}

/* Rows of a view that is cut, by counts or equally. `owner` is whose view it is. */
static chunk chunk_at(const coll_task *x, bool source, int64_t owner, int64_t index)
{
    const size_t dim = source ? x->args.src_dim : x->args.dst_dim;
    if (coll_has(x->row, COLL_HAS_COUNTS)) {
        const bool own = !coll_has(x->row, COLL_COUNTS_DIFFER);
        const int64_t *starts = starts_of(x, own ? x->comm->rank : owner, source);
        return (chunk){starts[index], starts[index + 1] - starts[index]};
    }
    const int64_t rows = (source ? x->src.shape : x->dst.shape)[dim] / x->comm->size;
    return (chunk){index * rows, rows};
}

chunk chunk_of_src(const coll_task *x, int64_t from, int64_t to)
{
    return chunk_at(x, true, from, to);
}

chunk chunk_of_dst(const coll_task *x, int64_t from, int64_t to)
{
    return chunk_at(x, false, to, from);
}

strided_ref src_of_member(const coll_task *x, int64_t member)
{
    if (x->inlined) {
        call_record *record = &x->comm->shared->slots[member].records[x->comm->calls & 1];
        return (strided_ref){(char *)record->words, x->packed};
    }
    if (member == x->comm->rank) {
        return (strided_ref){x->src.data, x->src.strides};
    }
    const offer *o = offer_of(x, member);
    const int64_t rank = tsr_comm_world_rank(x->comm, member);
    return (strided_ref){comm_address(x->comm, rank, o->src), o->src_strides};
}

strided_ref dst_of_member(const coll_task *x, int64_t member)
{
    if (member == x->comm->rank) {
        return (strided_ref){x->dst.data, x->dst.strides};
    }
    const offer *o = offer_of(x, member);
    const int64_t rank = tsr_comm_world_rank(x->comm, member);
    return (strided_ref){comm_address(x->comm, rank, o->dst), o->dst_strides};
}

void count_move(const coll_task *x, int64_t from, int64_t to, int64_t bytes)
{
    comm_count(x->comm, tsr_comm_world_rank(x->comm, from), tsr_comm_world_rank(x->comm, to),
               bytes);
}

/*
 * Whether other members can read and write an array. An array that this member does not have counts
 * as reachable.
 */
static bool in_reach(const tsr_comm *comm, const array *a)
{
    if (!a->here || a->bytes == 0 || comm->team->threads) {
        return true;
    }
    const uintptr_t base = (uintptr_t)comm->own->base;
    const uintptr_t low = (uintptr_t)a->data + (uintptr_t)a->low;
    const uintptr_t high = (uintptr_t)a->data + (uintptr_t)a->high;
    return low >= base && high <= base + comm->own->size;
}

/* A hash of the strides of dimensions with several rows. */
static uint64_t strides_hash(const coll_task *x)
{
    uint64_t hash = 0;
    for (size_t i = 0; x->src.bytes > 0 && i < x->rank; i++) {
        if (x->src.shape[i] > 1) {
            hash = hash_bytes(&x->src.strides[i], sizeof x->src.strides[i], hash + i);
        }
    }
    return hash;
}

static size_t offer_bytes(const coll_task *x)
{
    const size_t starts = coll_has(x->row, COLL_HAS_COUNTS) ? 2 * ((size_t)x->comm->size + 1) : 0;
    return sizeof(offer) + starts * sizeof(int64_t);
}

static void fill_starts(int64_t *starts, const int64_t *counts, int64_t members)
{
    starts[0] = 0;
    for (int64_t i = 0; counts != NULL && i < members; i++) {
        starts[i + 1] = starts[i] + counts[i];
    }
}

static tsr_status make_offer(coll_task *x)
{
    const int64_t members = x->comm->size;
    x->offer = segment_alloc(x->comm->own, offer_bytes(x));
    if (x->offer == NULL) {
        return TSR_ERR_NOMEM;
    }
    if (coll_has(x->row, COLL_HAS_COUNTS)) {
        fill_starts(x->offer->starts, x->args.src_counts, members);
        fill_starts(x->offer->starts + members + 1, x->args.dst_counts, members);
    }
    return TSR_OK;
}

/* The offset of an array, for the other members; 0 when there is nothing to read. */
static uint64_t offset_or_none(const tsr_comm *comm, const array *a)
{
    return a->here && a->bytes > 0 ? comm_offset(comm, a->data) : 0;
}

/* Starts the rendezvous with the current views. */
static tsr_status start_entering(coll_task *x, tsr_status status)
{
    comm_call what = {.name = x->row->call,
                      .hash = x->hash,
                      .hash_has_name = true,
                      .status = status,
                      .history = x->history};
    if (status == TSR_OK) {
        x->offer->src = offset_or_none(x->comm, &x->src);
        x->offer->dst = offset_or_none(x->comm, &x->dst);
        memcpy(x->offer->src_strides, x->src.strides, x->rank * sizeof *x->src.strides);
        memcpy(x->offer->dst_strides, x->dst.strides, x->rank * sizeof *x->dst.strides);
        what.words[WORD_OFFER] = comm_offset(x->comm, x->offer);
        what.words[WORD_FLAGS] = (in_reach(x->comm, &x->src) ? SRC_IN_REACH : 0U) |
                                 (in_reach(x->comm, &x->dst) ? DST_IN_REACH : 0U);
        what.words[WORD_STRIDES] = coll_has(x->row, COLL_HAS_OP) ? strides_hash(x) : 0;
    }
    x->refused = status;
    return comm_start_entering(x->comm, &what);
}

/* Whether all members have entered. */
static tsr_status finish_entering(coll_task *x, bool wait)
{
    const comm_call what = {
        .name = x->row->call, .status = x->refused, .describe = coll_task_describe, .of = x};
    return comm_finish_entering(x->comm, &what, wait);
}

static bool all_have(const tsr_comm *comm, uint64_t flag)
{
    for (int64_t i = 0; i < comm->size; i++) {
        if ((comm_record(comm, i)->words[WORD_FLAGS] & flag) == 0) {
            return false;
        }
    }
    return true;
}

static bool all_are_alike(const tsr_comm *comm)
{
    for (int64_t i = 1; i < comm->size; i++) {
        if (comm_record(comm, i)->words[WORD_STRIDES] !=
            comm_record(comm, 0)->words[WORD_STRIDES]) {
            return false;
        }
    }
    return true;
}

/*
 * The same on every member, from their records alone. A root's array is read or written by all at
 * once: they pull from it when it sends, push into it when it receives. Otherwise pushing reads
 * each source in order, once for all destinations.
 */
static way choose_way(const coll_task *x)
{
    const bool src = all_have(x->comm, SRC_IN_REACH);
    const bool dst = all_have(x->comm, DST_IN_REACH);
    if (coll_has(x->row, COLL_HAS_OP)) {
        const bool shares = !coll_has(x->row, COLL_CUTS_SRC);
        return src && all_are_alike(x->comm) && (dst || !shares) ? WAY_PULL : WAY_BOUNCE;
    }
    if (src && (coll_has(x->row, COLL_ROOT_SENDS) || !dst)) {
        return WAY_PULL;
    }
    return dst ? WAY_PUSH : WAY_BOUNCE;
}

/* Copies the source into the segment, row-major. */
static tsr_status bounce(coll_task *x)
{
    array *src = &x->src;
    if (!src->here || src->bytes == 0) {
        return TSR_OK;
    }
    if (x->bounce == NULL) {
        x->bounce = segment_alloc(x->comm->own, (size_t)src->bytes); /* no piece is larger */
    }
    if (x->bounce == NULL) {
        return TSR_ERR_NOMEM;
    }
    (void)packed_strides(src->shape, x->rank, x->item, x->packed);
    kernel_copy(x->bounce, x->packed, src->data, src->strides, src->shape, x->rank, x->item,
                x->stream);
    kernel_copy_fence();
    src->data = x->bounce;
    src->low = 0;
    src->high = src->bytes;
    memcpy(src->strides, x->packed, x->rank * sizeof *src->strides);
    return TSR_OK;
}

/* This member's part, with all views in reach. */
static void run_own_part(const coll_task *x, way how)
{
    if (coll_has(x->row, COLL_HAS_OP)) {
        if (coll_has(x->row, COLL_CUTS_SRC)) {
            reduce_pull(x);
        } else {
            all_reduce_share(x);
        }
    } else if (how == WAY_PUSH) {
        movement_push(x);
    } else {
        movement_pull(x);
    }
    kernel_copy_fence();
}

/* An all-reduce through the segment leaves its result there. */
static void take_result(const coll_task *x, const array *dst)
{
    if (dst->bytes > 0) {
        kernel_copy(dst->data, dst->strides, x->bounce, x->packed, dst->shape, x->rank, x->item,
                    x->stream);
        kernel_copy_fence();
    }
}

/* All members have finished with each other's memory. */
static tsr_status after_leaving(coll_task *x, bool wait)
{
    const tsr_status status = comm_finish_leaving(x->comm, x->row->call, wait);
    x->next = status == TSR_IN_PROGRESS ? x->next : NULL;
    return status;
}

static tsr_status start_leaving(coll_task *x, coll_task_step *next)
{
    x->next = next;
    return comm_start_leaving(x->comm, x->row->call);
}

static tsr_status start_second_rendezvous(coll_task *x);

/* A piece of an all-reduce through the segment is over: this member copies its result. */
static tsr_status after_leaving_with_result(coll_task *x, bool wait)
{
    const tsr_status status = after_leaving(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    take_result(x, &x->dst);
    return pieces_next(x) ? start_second_rendezvous(x) : TSR_OK;
}

/* All sources are in reach. */
static tsr_status after_second_rendezvous(coll_task *x, bool wait)
{
    const bool shares = coll_has(x->row, COLL_HAS_OP) && !coll_has(x->row, COLL_CUTS_SRC);
    const tsr_status status = finish_entering(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    const array dst = x->dst;
    if (shares) {
        x->dst = x->src;
    }
    run_own_part(x, WAY_PULL);
    x->dst = dst;
    return start_leaving(x, shares ? after_leaving_with_result : after_leaving);
}

/* Copies the source into the segment and starts a second rendezvous. */
static tsr_status start_second_rendezvous(coll_task *x)
{
    const bool shares = coll_has(x->row, COLL_HAS_OP) && !coll_has(x->row, COLL_CUTS_SRC);
    const tsr_status status = bounce(x);
    const array dst = x->dst;
    if (shares && status == TSR_OK) {
        x->dst = x->src;
    }
    x->next = after_second_rendezvous;
    const tsr_status started = start_entering(x, status);
    x->dst = dst;
    return started;
}

tsr_status coll_task_compare_counts(const coll_task *x)
{
    const tsr_comm *comm = x->comm;
    for (int64_t from = 0; from < comm->size; from++) {
        const int64_t *sent = starts_of(x, from, true);
        for (int64_t to = 0; to < comm->size; to++) {
            const int64_t *wanted = starts_of(x, to, false);
            const int64_t sends = sent[to + 1] - sent[to];
            const int64_t wants = wanted[from + 1] - wanted[from];
            if (sends != wants) {
                return diag_error(comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                                  "%s: rank %lld sends %lld rows to rank %lld, which expects %lld",
                                  x->row->call, (long long)tsr_comm_world_rank(comm, from),
                                  (long long)sends, (long long)tsr_comm_world_rank(comm, to),
                                  (long long)wants);
            }
        }
    }
    return TSR_OK;
}

/*
 * Members disagree, and all of them know it. Their offers have been read, so all wait until all are
 * done.
 */
static tsr_status after_mismatch(coll_task *x, bool wait)
{
    const tsr_status status = after_leaving(x, wait);
    return status == TSR_OK ? x->refused : status;
}

/* All members have entered: this one does its part, or starts what must happen before. */
static tsr_status after_rendezvous(coll_task *x, bool wait)
{
    const tsr_status status = finish_entering(x, wait);
    if (status != TSR_OK) {
        return status;
    }
    if (x->comm->team->message) {
        return message_begin(x);
    }
    if (coll_has(x->row, COLL_COUNTS_DIFFER)) {
        x->refused = coll_task_compare_counts(x);
        if (x->refused < 0) {
            return start_leaving(x, after_mismatch);
        }
    }
    const way how = choose_way(x);
    if (how == WAY_BOUNCE) {
        if (coll_has(x->row, COLL_HAS_OP) && !coll_has(x->row, COLL_CUTS_SRC)) {
            (void)pieces_next(x);
        }
        return start_second_rendezvous(x);
    }
    run_own_part(x, how);
    return start_leaving(x, after_leaving);
}

/* A member that refuses enters all the same, so that the call fails on all members. */
static tsr_status after_refusal(coll_task *x, bool wait)
{
    return finish_entering(x, wait);
}

tsr_status coll_task_begin(coll_task *x, tsr_comm *comm, const coll_arguments *args,
                           uint64_t history)
{
    *x = (coll_task){.comm = comm, .history = history};
    TSR_TRY(comm_check_real(comm));
    x->refused = coll_task_prepare(x, comm, args);
    if (x->refused < 0) {
        const comm_call what = {.name = x->row->call, .status = x->refused, .history = x->history};
        x->next = after_refusal;
        return comm_start_entering(comm, &what);
    }
    if (x->inlined) {
        return inline_begin(x);
    }
    x->next = after_rendezvous;
    return start_entering(x, make_offer(x));
}

void coll_task_end(coll_task *x)
{
    if (x->bounce != NULL) {
        segment_free(x->comm->own, x->bounce);
    }
    if (x->offer != NULL) {
        segment_free(x->comm->own, x->offer);
    }
    if (x->messages != NULL) {
        message_end(x);
    }
}

tsr_status coll_task_run(tsr_comm *comm, const coll_arguments *args)
{
    coll_task x;
    TSR_TRY(comm_check_real(comm));
    requests_finish(comm);
    tsr_status status = coll_task_begin(&x, comm, args, comm_history(comm));
    while (status == TSR_OK && x.next != NULL) {
        status = x.next(&x, true);
    }
    coll_task_end(&x);
    if (status < 0) {
        comm_forget_history(comm);
    }
    return status;
}
