/*
 * A step of a redistribution in progress on one rank: where its moves read and write.
 *
 * Where ranks share memory, a move copies from shard to shard (redistribute.c); else what a rank
 * has for another is packed into one message (transfer_message.c). The order of the moves between
 * two ranks, and of the boxes of each, is the same on both, so that messages need no headers.
 */
#ifndef RT_TRANSFER_H
#define RT_TRANSFER_H

#include "kernel/copy.h"
#include "kernel/fold.h"
#include "plan/plan.h"
#include "rt/tensor.h"

typedef struct transfer {
    const char *call; /* that this is part of */
    tsr_comm *world;
    plan_moves receives; /* of this rank, itself included */
    plan_moves sends;
    size_t rank;  /* of the tensor */
    size_t parts; /* of a fold; 1 when nothing is folded */
    tsr_tensor *src;
    tsr_tensor *dst;
    fold_op op;
    size_t item;
    bool stream;
    uint64_t hash; /* of what must be the same on all ranks */
    int64_t only;  /* the one rank that gets anything; -1 for all */
} transfer;

/* A box of a move: the rows of one choice for each dimension, the last one fastest. */
typedef struct transfer_box {
    size_t choice[KERNEL_MAX_RANK];
    int64_t shape[KERNEL_MAX_RANK];
    int64_t src[KERNEL_MAX_RANK]; /* where its rows begin, in the shards */
    int64_t dst[KERNEL_MAX_RANK];
} transfer_box;

/* The first box of a move, and the next one; false when there is none. */
void transfer_first(const transfer *x, const plan_move *move, transfer_box *box);
bool transfer_next(const transfer *x, const plan_move *move, transfer_box *box);

/* The byte offset of an index. */
static inline int64_t transfer_offset(const int64_t *rows, const int64_t *strides, size_t rank)
{
    int64_t offset = 0;
    for (size_t i = 0; i < rank; i++) {
        offset += rows[i] * strides[i];
    }
    return offset;
}

/* The sources of what is received by a move. */
static inline const int64_t *transfer_sources(const plan_move *move)
{
    return move->sources != NULL ? move->sources : &move->peer;
}

/* Whether anything moves to a rank. */
static inline bool transfer_wants(const transfer *x, int64_t dst)
{
    return x->only < 0 || x->only == dst;
}

/* Runs the whole step between ranks that share no memory, after comm_enter. */
tsr_status transfer_by_messages(const transfer *x);

#endif
