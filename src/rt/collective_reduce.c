/*
 * Reductions by pulling: each member folds what it wants from all sources, which it reads where
 * they are, straight into its destination. A reduce-scatter costs cost_reduce_scatter_pairwise, an
 * all-reduce, which is done so only when it is small, cost_all_reduce_direct.
 */
#include "kernel/fold.h"
#include "rt/collective.h"

void reduce_pull(const coll_task *x)
{
    const void *sources[COMM_MAX_RANKS];
    const int64_t me = x->comm->rank;
    if (x->dst.bytes == 0) {
        return;
    }
    const strided_ref first = src_of_member(x, 0);
    int64_t offset = 0;
    if (coll_has(x->row, COLL_CUTS_SRC)) {
        offset = chunk_of_src(x, 0, me).start * first.strides[x->args.src_dim];
    }
    for (int64_t from = 0; from < x->comm->size; from++) {
        sources[from] = src_of_member(x, from).data + offset;
    }
    kernel_fold(x->dst.data, x->dst.strides, sources, (size_t)x->comm->size, first.strides,
                x->dst.shape, x->rank, x->dtype, (fold_op)x->args.op, x->stream);
    for (int64_t from = 0; !x->inlined && from < x->comm->size; from++) {
        count_move(x, from, me, x->dst.bytes);
    }
}
