/*
 * Direct movement: what moves from one member to another is copied once, by the sender (push) or by
 * the receiver (pull), without a message in between.
 *
 * Costs, each pair of members counting as a message: all-gather cost_all_gather_ring, all-to-all
 * cost_all_to_all_pairwise, scatter and gather cost_scatter_linear, broadcast cost_broadcast_pull,
 * permutation cost_permute.
 */
#include <string.h>

#include "base/base.h"
#include "rt/collective.h"
#include "rt/collective_blocks.h"

/* A source that goes to several members is read in blocks of this many bytes, which stay cached. */
enum { BLOCK_BYTES = 128 << 10 };

bool coll_task_sends(const coll_task *x, int64_t from, int64_t to)
{
    const int64_t root = x->args.root;
    if (coll_has(x->row, COLL_HAS_DESTINATIONS)) {
        return x->args.destinations[from] == to;
    }
    if (coll_has(x->row, COLL_ROOT_SENDS)) {
        return from == root && !(to == root && coll_has(x->row, COLL_ONE_VIEW));
    }
    return !coll_has(x->row, COLL_ROOT_RECEIVES) || to == root;
}

int64_t coll_task_bytes(const coll_task *x, const int64_t *shape)
{
    return packed_bytes(shape, x->rank, x->item);
}

/*
 * The shape of what moves between two members and where it starts, in rows of what is cut. This
 * member is one of them and knows the shape from its own view.
 */
typedef struct move {
    int64_t src_start;
    int64_t dst_start;
    int64_t bytes;
} move;

static move move_between(const coll_task *x, int64_t from, int64_t to, bool push, int64_t *shape)
{
    const array *mine = push ? &x->src : &x->dst;
    move m = {0};
    if (mine->bytes == 0) {
        return m;
    }
    memcpy(shape, mine->shape, x->rank * sizeof *shape);
    if (coll_has(x->row, COLL_CUTS_SRC)) {
        const chunk c = chunk_of_src(x, from, to);
        m.src_start = c.start;
        shape[x->args.src_dim] = push ? c.rows : shape[x->args.src_dim];
    }
    if (coll_has(x->row, COLL_CUTS_DST)) {
        const chunk c = chunk_of_dst(x, from, to);
        m.dst_start = c.start;
        shape[x->args.dst_dim] = push ? shape[x->args.dst_dim] : c.rows;
    }
    m.bytes = coll_task_bytes(x, shape);
    return m;
}

/* Adds what moves between two members to the copies that are interleaved. */
static void add_move(const coll_task *x, copy_batch *b, int64_t from, int64_t to, bool push)
{
    int64_t shape[KERNEL_MAX_RANK];
    const move m = move_between(x, from, to, push, shape);
    if (m.bytes == 0) {
        return;
    }
    const strided_ref src = src_of_member(x, from);
    const strided_ref dst = dst_of_member(x, to);
    const kernel_box box = {row_address(dst, x, x->args.dst_dim, m.dst_start),
                            row_address(src, x, x->args.src_dim, m.src_start), dst.strides,
                            src.strides, shape};
    copy_batch_add(b, &box);
    if (!x->inlined) {
        count_move(x, from, to, m.bytes);
    }
}

void coll_task_fill_unsent(const coll_task *x)
{
    static const char zeros[32];
    static const int64_t still[KERNEL_MAX_RANK];
    for (int64_t from = 0; from < x->comm->size; from++) {
        if (coll_task_sends(x, from, x->comm->rank)) {
            return;
        }
    }
    kernel_copy(x->dst.data, x->dst.strides, zeros, still, x->dst.shape, x->rank, x->item,
                x->stream);
}

static int64_t offset_of(const int64_t *index, const int64_t *strides, size_t rank)
{
    int64_t offset = 0;
    for (size_t i = 0; i < rank; i++) {
        offset += index[i] * strides[i];
    }
    return offset;
}

/* Writes one block of this member's source into every destination. */
static void push_block(const coll_task *x, const int64_t *start, const int64_t *size)
{
    const int64_t me = x->comm->rank;
    const char *from = x->src.data + offset_of(start, x->src.strides, x->rank);
    for (int64_t turn = 0; turn < x->comm->size; turn++) {
        const int64_t to = (me + turn) % x->comm->size;
        const strided_ref dst = dst_of_member(x, to);
        const chunk c = chunk_of_dst(x, me, to);
        char *at = dst.data + offset_of(start, dst.strides, x->rank) +
                   c.start * dst.strides[x->args.dst_dim];
        kernel_copy(at, dst.strides, from, x->src.strides, size, x->rank, x->item, x->stream);
    }
}

/* All of this member's source to all members: each block is read from memory once. */
static void push_to_all(const coll_task *x)
{
    int64_t start[KERNEL_MAX_RANK];
    int64_t size[KERNEL_MAX_RANK];
    const blocks b = blocks_of(x->src.shape, x->rank, BLOCK_BYTES / (int64_t)x->item);
    for (int64_t i = 0; i < b.count; i++) {
        blocks_at(&b, i, start, size);
        push_block(x, start, size);
    }
    for (int64_t to = 0; to < x->comm->size; to++) {
        count_move(x, x->comm->rank, to, x->src.bytes);
    }
}

void movement_push(const coll_task *x)
{
    const int64_t me = x->comm->rank;
    copy_batch b = copy_batch_new(x->rank, x->item, x->stream);
    if (coll_has(x->row, COLL_CUTS_DST) && !coll_has(x->row, COLL_CUTS_SRC | COLL_ROOT_RECEIVES)) {
        push_to_all(x);
        return;
    }
    for (int64_t to = 0; to < x->comm->size; to++) {
        if (coll_task_sends(x, me, to)) {
            add_move(x, &b, me, to, true);
        }
    }
    copy_batch_run(&b);
    if (coll_has(x->row, COLL_HAS_DESTINATIONS)) {
        coll_task_fill_unsent(x);
    }
}

void movement_pull(const coll_task *x)
{
    const int64_t me = x->comm->rank;
    copy_batch b = copy_batch_new(x->rank, x->item, x->stream);
    for (int64_t from = 0; x->dst.here && from < x->comm->size; from++) {
        if (coll_task_sends(x, from, me)) {
            add_move(x, &b, from, me, false);
        }
    }
    copy_batch_run(&b);
    if (coll_has(x->row, COLL_HAS_DESTINATIONS)) {
        coll_task_fill_unsent(x);
    }
}
