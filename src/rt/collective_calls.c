/* The public calls: one row each, for the blocking call and the one that only starts. */
#include "base/guard.h"
#include "rt/collective.h"
#include "rt/request.h"

#define PARAMETERS(...) __VA_ARGS__

#define COLLECTIVE(name, parameters, ...)                                                          \
    tsr_status name(tsr_comm *comm, parameters)                                                    \
    {                                                                                              \
        GUARD(name);                                                                               \
        const coll_arguments args = {__VA_ARGS__};                                                 \
        return coll_task_run(comm, &args);                                                         \
    }                                                                                              \
    tsr_status name##_start(tsr_comm *comm, parameters, tsr_request *request)                      \
    {                                                                                              \
        GUARD(name##_start);                                                                       \
        const coll_arguments args = {__VA_ARGS__};                                                 \
        return request_start(comm, &args, request);                                                \
    }

/* clang-format off */
COLLECTIVE(tsr_comm_broadcast, PARAMETERS(const tsr_view *view, int64_t root),
           .kind = COLL_BROADCAST, .src = view, .dst = view, .root = root)

COLLECTIVE(tsr_comm_scatter,
           PARAMETERS(const tsr_view *src, size_t dim, const tsr_view *dst, int64_t root),
           .kind = COLL_SCATTER, .src = src, .src_dim = dim, .dst = dst, .root = root)

COLLECTIVE(tsr_comm_gather,
           PARAMETERS(const tsr_view *src, size_t dim, const tsr_view *dst, int64_t root),
           .kind = COLL_GATHER, .src = src, .dst_dim = dim, .dst = dst, .root = root)

COLLECTIVE(tsr_comm_all_gather, PARAMETERS(const tsr_view *src, size_t dim, const tsr_view *dst),
           .kind = COLL_ALL_GATHER, .src = src, .dst_dim = dim, .dst = dst)

COLLECTIVE(tsr_comm_all_reduce, PARAMETERS(tsr_reduce_op op, const tsr_view *src, const tsr_view *dst),
           .kind = COLL_ALL_REDUCE, .op = op, .src = src, .dst = dst)

COLLECTIVE(tsr_comm_reduce_scatter,
           PARAMETERS(tsr_reduce_op op, const tsr_view *src, size_t dim, const tsr_view *dst),
           .kind = COLL_REDUCE_SCATTER, .op = op, .src = src, .src_dim = dim, .dst = dst)

COLLECTIVE(tsr_comm_all_to_all,
           PARAMETERS(const tsr_view *src, size_t split_dim, size_t concat_dim,
                      const tsr_view *dst),
           .kind = COLL_ALL_TO_ALL, .src = src, .src_dim = split_dim, .dst_dim = concat_dim,
           .dst = dst)

COLLECTIVE(tsr_comm_permute,
           PARAMETERS(const tsr_view *src, const int64_t *destinations, const tsr_view *dst),
           .kind = COLL_PERMUTE, .src = src, .destinations = destinations, .dst = dst)

COLLECTIVE(tsr_comm_scatter_v,
           PARAMETERS(const tsr_view *src, size_t dim, const int64_t *counts, const tsr_view *dst,
                      int64_t root),
           .kind = COLL_SCATTER_V, .src = src, .src_dim = dim, .src_counts = counts, .dst = dst,
           .root = root)

COLLECTIVE(tsr_comm_gather_v,
           PARAMETERS(const tsr_view *src, size_t dim, const int64_t *counts, const tsr_view *dst,
                      int64_t root),
           .kind = COLL_GATHER_V, .src = src, .dst_dim = dim, .dst_counts = counts, .dst = dst,
           .root = root)

COLLECTIVE(tsr_comm_all_gather_v,
           PARAMETERS(const tsr_view *src, size_t dim, const int64_t *counts, const tsr_view *dst),
           .kind = COLL_ALL_GATHER_V, .src = src, .dst_dim = dim, .dst_counts = counts, .dst = dst)

COLLECTIVE(tsr_comm_reduce_scatter_v,
           PARAMETERS(tsr_reduce_op op, const tsr_view *src, size_t dim, const int64_t *counts,
                      const tsr_view *dst),
           .kind = COLL_REDUCE_SCATTER_V, .op = op, .src = src, .src_dim = dim,
           .src_counts = counts, .dst = dst)

COLLECTIVE(tsr_comm_all_to_all_v,
           PARAMETERS(const tsr_view *src, size_t dim, const int64_t *send_counts,
                      const int64_t *receive_counts, const tsr_view *dst),
           .kind = COLL_ALL_TO_ALL_V, .src = src, .src_dim = dim, .src_counts = send_counts,
           .dst_dim = dim, .dst_counts = receive_counts, .dst = dst)
/* clang-format on */
