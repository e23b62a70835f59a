/*
 * All-reduce in shares: each member folds its share of the blocks from all sources and writes the
 * result into all destinations, so that each byte of every array is read or written once. Costs
 * cost_all_reduce_shares.
 *
 * A destination may be the source of its member: the member that writes a block has read it from
 * all sources before, and no other member reads it.
 */
#include "base/base.h"
#include "kernel/fold.h"
#include "rt/collective.h"
#include "rt/collective_blocks.h"

/* A block stays in the first-level cache between folding and writing. */
enum { BLOCK_BYTES = 16 << 10, LINE_BYTES = 64 };

/* All views of an all-reduce, and the current block. */
typedef struct sharing {
    const coll_task *x;
    const void *sources[COMM_MAX_RANKS];
    int64_t start[KERNEL_MAX_RANK];
    int64_t size[KERNEL_MAX_RANK];
    _Alignas(64) char block[BLOCK_BYTES];
} sharing;

static int64_t offset_in(const sharing *s, const int64_t *strides)
{
    int64_t offset = 0;
    for (size_t i = 0; i < s->x->rank; i++) {
        offset += s->start[i] * strides[i];
    }
    return offset;
}

/* Folds the block of all sources to `at`. */
static void fold_block(sharing *s, char *at, const int64_t *strides)
{
    const coll_task *x = s->x;
    const int64_t members = x->comm->size;
    const strided_ref first = src_of_member(x, 0);
    const int64_t offset = offset_in(s, first.strides);
    for (int64_t i = 0; i < members; i++) {
        s->sources[i] = src_of_member(x, i).data + offset;
    }
    kernel_fold(at, strides, s->sources, (size_t)members, first.strides, s->size, x->rank, x->dtype,
                (fold_op)x->args.op, false);
}

static void write_block(const sharing *s, int64_t member, const char *at, const int64_t *strides)
{
    const coll_task *x = s->x;
    const strided_ref dst = dst_of_member(x, member);
    kernel_copy(dst.data + offset_in(s, dst.strides), dst.strides, at, strides, s->size, x->rank,
                x->item, x->stream);
}

/*
 * Folds a block and writes it to all members. It is folded straight into this member's destination,
 * unless stores go around the cache: then it could not be read from there.
 */
static void share_block(sharing *s)
{
    const coll_task *x = s->x;
    const int64_t me = x->comm->rank;
    int64_t packed[KERNEL_MAX_RANK];
    (void)packed_strides(s->size, x->rank, x->item, packed);
    char *at = x->stream ? s->block : x->dst.data + offset_in(s, x->dst.strides);
    const int64_t *strides = x->stream ? packed : x->dst.strides;
    fold_block(s, at, strides);
    for (int64_t turn = x->stream ? 0 : 1; turn < x->comm->size; turn++) {
        write_block(s, (me + turn) % x->comm->size, at, strides);
    }
}

static int64_t block_bytes(const sharing *s)
{
    int64_t bytes = (int64_t)s->x->item;
    for (size_t i = 0; i < s->x->rank; i++) {
        bytes *= s->size[i];
    }
    return bytes;
}

/* A block fits its room; of a small array every member has one, of a cache line at least. */
static int64_t elements_of_block(const coll_task *x)
{
    const int64_t share = ceil_div(x->src.bytes, x->comm->size);
    const int64_t bytes = min_i64(BLOCK_BYTES, max_i64(share, LINE_BYTES));
    return ceil_div(bytes, (int64_t)x->item);
}

void all_reduce_share(const coll_task *x)
{
    const int64_t me = x->comm->rank;
    const int64_t members = x->comm->size;
    sharing s;
    s.x = x;
    int64_t bytes = 0;
    const blocks b = blocks_of(x->src.shape, x->rank, elements_of_block(x));
    const int64_t each = b.count / members;
    const int64_t more = b.count % members;
    const int64_t first = me * each + (me < more ? me : more);
    const int64_t end = first + each + (me < more ? 1 : 0);
    for (int64_t i = first; i < end; i++) {
        blocks_at(&b, i, s.start, s.size);
        share_block(&s);
        bytes += block_bytes(&s);
    }
    for (int64_t i = 0; i < members; i++) {
        count_move(x, i, me, bytes);
        count_move(x, me, i, bytes);
    }
}
