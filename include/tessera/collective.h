/*
 * Collectives on strided arrays: every member of a communicator makes the same call.
 *
 * A member passes views of its own memory: the elements it sends (`src`) and the destination of
 * what it receives (`dst`). All members pass the same element type, reduction, dimensions, root and
 * counts, and shapes that fit together as each call says. A call returns when this member's src may
 * be changed and its dst is complete, on this member; it is not a barrier. Counts of rows are
 * int64, so there is no limit on sizes but memory.
 *
 * When a member's arguments are refused, the call fails on every member, with a message that names
 * the member and the reason, and no dst is written. When members make different calls, or their
 * arguments do not agree, the call fails on all of them with a message that has both calls, and the
 * communicator can be used again; unless a member that only started its call does not come back to
 * it within the time-out.
 *
 * The first to the last byte of src and those of dst must not overlap, except where a call says so.
 * Neither may they overlap the memory that other members pass. The elements of a dst must not
 * overlap each other; those of a src may (a stride of 0 repeats a row).
 *
 * Reductions are the left fold over the members in group order, ((e0 op e1) op e2) .., f16 and bf16
 * in f32 and rounded once: the same bits whatever the algorithm, the kind of ranks and the strides
 * of the views. Only a world that allows it reduces in another order (algorithm.h).
 */
#ifndef TESSERA_COLLECTIVE_H
#define TESSERA_COLLECTIVE_H

#include <tessera/comm.h>
#include <tessera/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reductions; the first five are those of tsr_reduction. Sums and products of integers wrap around;
 * the average of integers does not, and is rounded towards zero. Max and min propagate a NaN. And,
 * or: bit by bit, of integers and truth values. Not every type has all: complex numbers have no
 * order, floats no bits, and types of less than a byte and f8 no reduction at all.
 */
typedef enum tsr_reduce_op {
    TSR_REDUCE_SUM,
    TSR_REDUCE_MAX,
    TSR_REDUCE_MIN,
    TSR_REDUCE_AVG,
    TSR_REDUCE_PROD,
    TSR_REDUCE_AND,
    TSR_REDUCE_OR
} tsr_reduce_op;

/* "sum", "max", "min", "avg", "prod", "and", "or"; "?" for an unknown value. Static. */
TSR_API const char *tsr_reduce_op_name(tsr_reduce_op op) TSR_MT_SAFE;

/* Whether there is such a reduction of elements of a type. */
TSR_API bool tsr_reduce_op_supports(tsr_reduce_op op, tsr_dtype dtype) TSR_MT_SAFE;

/* The root's elements, in the view of every member. The same shape on all. */
TSR_API TSR_NODISCARD tsr_status tsr_comm_broadcast(tsr_comm *comm,
                                                    TSR_COLLECTIVE const tsr_view *view,
                                                    int64_t root) TSR_MT_CONTEXT;

/*
 * The root's src in equal chunks along a dimension, the i-th to member i. src is as large as dst
 * times the size of the group there; members other than the root may pass NULL for it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_scatter(tsr_comm *comm,
                                                  TSR_COLLECTIVE const tsr_view *src, size_t dim,
                                                  TSR_COLLECTIVE const tsr_view *dst,
                                                  int64_t root) TSR_MT_CONTEXT;

/* Every member's src, concatenated along a dimension, in the root's dst; NULL elsewhere. */
TSR_API TSR_NODISCARD tsr_status tsr_comm_gather(tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src,
                                                 size_t dim, TSR_COLLECTIVE const tsr_view *dst,
                                                 int64_t root) TSR_MT_CONTEXT;

/* Every member's src, concatenated along a dimension, in every member's dst. */
TSR_API TSR_NODISCARD tsr_status
tsr_comm_all_gather(tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
                    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/* The reduction of all srcs, element by element, in every dst. dst may be src: the same view. */
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_reduce(
    tsr_comm *comm, TSR_COLLECTIVE tsr_reduce_op op, TSR_COLLECTIVE const tsr_view *src,
    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/* The reduction of all srcs in equal chunks along a dimension, the i-th to member i. */
TSR_API TSR_NODISCARD tsr_status tsr_comm_reduce_scatter(
    tsr_comm *comm, TSR_COLLECTIVE tsr_reduce_op op, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * Every member cuts its src into equal chunks along `split_dim`, sends the i-th to member i, and
 * concatenates what it receives, in the order of the members, along `concat_dim` of dst. The two
 * may be the same dimension.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_comm_all_to_all(tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t split_dim,
                    size_t concat_dim, TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * Member i sends its src to member destinations[i], which may be itself, or to none (-1). No member
 * is named twice. The dst of a member to which none sends is filled with zeros. The list is the
 * same on every member, and has one entry for each.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_permute(
    tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, TSR_COLLECTIVE const int64_t *destinations,
    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * The same with chunks that differ: counts[i] is how many rows along `dim` member i sends or
 * receives; it may be 0. The counts are the same on every member; the cut view has as many rows as
 * their sum.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_scatter_v(tsr_comm *comm,
                                                    TSR_COLLECTIVE const tsr_view *src, size_t dim,
                                                    TSR_COLLECTIVE const int64_t *counts,
                                                    TSR_COLLECTIVE const tsr_view *dst,
                                                    int64_t root) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_gather_v(tsr_comm *comm,
                                                   TSR_COLLECTIVE const tsr_view *src, size_t dim,
                                                   TSR_COLLECTIVE const int64_t *counts,
                                                   TSR_COLLECTIVE const tsr_view *dst,
                                                   int64_t root) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_gather_v(
    tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const int64_t *counts, TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_reduce_scatter_v(
    tsr_comm *comm, TSR_COLLECTIVE tsr_reduce_op op, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const int64_t *counts, TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * This member sends send_counts[i] rows along `dim` of src to member i, from the first row on, and
 * receives receive_counts[i] rows of dst from it. Each member has counts of its own; what one
 * expects of another must be what that one sends, else the call fails on every member.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_to_all_v(
    tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const int64_t *send_counts, TSR_COLLECTIVE const int64_t *receive_counts,
    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * The same, only started: the call returns at once with a request, and the elements of src and dst
 * belong to the collective until that has been waited for, exactly once. Arguments other than the
 * elements are copied. Collectives of one communicator run in the order in which they were started;
 * members must start and call them in the same order there, but may wait in any. They make progress
 * inside calls of this library, on this rank's thread; call tsr_test from time to time to make
 * progress while computing. What would have failed the blocking call fails the wait. A rank that
 * ends with a request not waited for has failed.
 */
typedef struct tsr_request {
    uint64_t id;
} tsr_request;

/* Waits until a collective is over and returns its status. Waiting twice is an error. */
TSR_API TSR_NODISCARD tsr_status tsr_wait(tsr_comm *comm, tsr_request request) TSR_MT_CONTEXT;

/* TSR_IN_PROGRESS, or when it is over its status: then it has been waited for. */
TSR_API TSR_NODISCARD tsr_status tsr_test(tsr_comm *comm, tsr_request request) TSR_MT_CONTEXT;

TSR_API TSR_NODISCARD tsr_status tsr_comm_broadcast_start(tsr_comm *comm,
                                                          TSR_COLLECTIVE const tsr_view *view,
                                                          int64_t root,
                                                          tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_scatter_start(
    tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const tsr_view *dst, int64_t root, tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_gather_start(
    tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const tsr_view *dst, int64_t root, tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_gather_start(tsr_comm *comm,
                                                           TSR_COLLECTIVE const tsr_view *src,
                                                           size_t dim,
                                                           TSR_COLLECTIVE const tsr_view *dst,
                                                           tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_reduce_start(tsr_comm *comm,
                                                           TSR_COLLECTIVE tsr_reduce_op op,
                                                           TSR_COLLECTIVE const tsr_view *src,
                                                           TSR_COLLECTIVE const tsr_view *dst,
                                                           tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_reduce_scatter_start(
    tsr_comm *comm, TSR_COLLECTIVE tsr_reduce_op op, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const tsr_view *dst, tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_to_all_start(tsr_comm *comm,
                                                           TSR_COLLECTIVE const tsr_view *src,
                                                           size_t split_dim, size_t concat_dim,
                                                           TSR_COLLECTIVE const tsr_view *dst,
                                                           tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_permute_start(tsr_comm *comm,
                                                        TSR_COLLECTIVE const tsr_view *src,
                                                        TSR_COLLECTIVE const int64_t *destinations,
                                                        TSR_COLLECTIVE const tsr_view *dst,
                                                        tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status
tsr_comm_scatter_v_start(tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
                         TSR_COLLECTIVE const int64_t *counts, TSR_COLLECTIVE const tsr_view *dst,
                         int64_t root, tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status
tsr_comm_gather_v_start(tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
                        TSR_COLLECTIVE const int64_t *counts, TSR_COLLECTIVE const tsr_view *dst,
                        int64_t root, tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_gather_v_start(tsr_comm *comm,
                                                             TSR_COLLECTIVE const tsr_view *src,
                                                             size_t dim,
                                                             TSR_COLLECTIVE const int64_t *counts,
                                                             TSR_COLLECTIVE const tsr_view *dst,
                                                             tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_reduce_scatter_v_start(
    tsr_comm *comm, TSR_COLLECTIVE tsr_reduce_op op, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const int64_t *counts, TSR_COLLECTIVE const tsr_view *dst,
    tsr_request *request) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_to_all_v_start(
    tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const int64_t *send_counts, TSR_COLLECTIVE const int64_t *receive_counts,
    TSR_COLLECTIVE const tsr_view *dst, tsr_request *request) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
