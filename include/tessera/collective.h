/*
 * Collectives on strided arrays: every member of a communicator makes the same call.
 *
 * A member passes views of its own memory: the elements that it sends (`src`) and the destination
 * of the elements that it receives (`dst`). All members pass the same element type, reduction,
 * dimensions, root and counts, and shapes that fit together as stated for each call. A call returns
 * when this member's src may be changed and its dst is complete, on this member; it is not a
 * barrier. Counts of rows are int64, so only memory limits the sizes.
 *
 * If the arguments of one member are invalid, the call fails on every member, with a message that
 * names the member and the reason, and no dst is written. If members make different calls, or their
 * arguments do not agree, the call fails on all of them with a message that shows both calls. The
 * communicator can be used again, unless a member that only started its call does not return to it
 * within the time-out.
 *
 * The memory range of src, from its first to its last byte, must not overlap that of dst unless a
 * call allows it; neither may overlap memory that other members pass. The elements of a dst must
 * not overlap each other; those of a src may (a stride of 0 repeats a row).
 *
 * Reductions are the left fold over the members in group order, ((e0 op e1) op e2) .., f16 and bf16
 * in f32 and rounded once: the same bits for every algorithm, every kind of ranks and all strides
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
 * the average of integers does not, and is rounded towards zero. Max and min propagate a NaN. And
 * and or work bit by bit, on integers and booleans. Not every type supports all: complex numbers
 * have no order, floats no bits; types of less than a byte and f8 types support no reduction.
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

/* Returns "sum", "max", "min", "avg", "prod", "and" or "or"; "?" for an unknown value. Static. */
TSR_API const char *tsr_reduce_op_name(tsr_reduce_op op) TSR_MT_SAFE;

/* Returns whether the reduction supports elements of a type. */
TSR_API bool tsr_reduce_op_supports(tsr_reduce_op op, tsr_dtype dtype) TSR_MT_SAFE;

/*
 * Copies the root's elements into the view of every member. The shape is the same on all members.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_broadcast(tsr_comm *comm,
                                                    TSR_COLLECTIVE const tsr_view *view,
                                                    int64_t root) TSR_MT_CONTEXT;

/*
 * Cuts the root's src into equal chunks along a dimension and sends the i-th to member i. In that
 * dimension src has the size of dst times the size of the group; members other than the root may
 * pass NULL for src.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_scatter(tsr_comm *comm,
                                                  TSR_COLLECTIVE const tsr_view *src, size_t dim,
                                                  TSR_COLLECTIVE const tsr_view *dst,
                                                  int64_t root) TSR_MT_CONTEXT;

/*
 * Concatenates every member's src along a dimension in the root's dst; the other members may pass
 * NULL for dst.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_gather(tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src,
                                                 size_t dim, TSR_COLLECTIVE const tsr_view *dst,
                                                 int64_t root) TSR_MT_CONTEXT;

/* Concatenates every member's src along a dimension in every member's dst. */
TSR_API TSR_NODISCARD tsr_status
tsr_comm_all_gather(tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
                    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/* Reduces all srcs element by element into every dst. dst may be the same view as src. */
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_reduce(
    tsr_comm *comm, TSR_COLLECTIVE tsr_reduce_op op, TSR_COLLECTIVE const tsr_view *src,
    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * Reduces all srcs element by element, cuts the result into equal chunks along a dimension and
 * gives the i-th to member i.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_reduce_scatter(
    tsr_comm *comm, TSR_COLLECTIVE tsr_reduce_op op, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * Cuts every member's src into equal chunks along `split_dim` and sends the i-th to member i, which
 * concatenates the chunks that it receives, in the order of the members, along `concat_dim` of dst.
 * Both may be the same dimension.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_comm_all_to_all(tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t split_dim,
                    size_t concat_dim, TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * Sends the src of member i to member destinations[i], which may be i itself, or -1 for no member.
 * A member may be named at most once. A dst that receives nothing is filled with zeros. The list
 * has one entry for each member and is the same on all of them.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_permute(
    tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, TSR_COLLECTIVE const int64_t *destinations,
    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * The same with chunks of different sizes: counts[i] is the number of rows along `dim` that member
 * i sends or receives; it may be 0. The counts are the same on every member; the view that is cut
 * has as many rows as their sum.
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
 * Sends send_counts[i] rows along `dim` of src to member i, from the first row on, and receives
 * receive_counts[i] rows of dst from it. Each member has its own counts; the number of rows that
 * one member expects from another must be the number that the other sends, else the call fails on
 * every member.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_all_to_all_v(
    tsr_comm *comm, TSR_COLLECTIVE const tsr_view *src, size_t dim,
    TSR_COLLECTIVE const int64_t *send_counts, TSR_COLLECTIVE const int64_t *receive_counts,
    TSR_COLLECTIVE const tsr_view *dst) TSR_MT_CONTEXT;

/*
 * The same collectives, started but not completed: the call returns at once with a request. The
 * elements of src and dst must not be used until the request has been waited for, exactly once.
 * Arguments other than the elements are copied. Collectives of one communicator run in the order in
 * which they were started; members must start and call them in the same order, but may wait in any
 * order. They make progress inside calls of this library, on this rank's thread; call tsr_test from
 * time to time to make progress while computing. An error that would fail the blocking call fails
 * the wait. A rank that ends with a pending request has failed.
 */
typedef struct tsr_request {
    uint64_t id;
} tsr_request;

/* Waits until a collective is complete and returns its status. Waiting twice is an error. */
TSR_API TSR_NODISCARD tsr_status tsr_wait(tsr_comm *comm, tsr_request request) TSR_MT_CONTEXT;

/*
 * Returns TSR_IN_PROGRESS, or the status of the collective once it is complete; the request then
 * counts as waited for.
 */
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
