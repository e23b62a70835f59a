/* PartitionedShard: the conversions of tensors. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "rt/placement.h"

enum { DIM_PARTITIONED = DIM_UNALIGNED | DIM_ALIGNED };

/* Sets the destination: the source with other explicit sizes of the dimension. */
static void to_ragged(conversion_call *c, size_t dim, const tsr_ragged *ragged)
{
    if (c->status < 0) {
        return;
    }
    tsr_dim with = c->record->src->dims[dim];
    with.ragged = ragged;
    conversion_to_dim(c, dim, &with);
}

/* The same counts, owners and alignment, converted between aligned and unaligned. */
static tsr_status turn(const char *name, tsr_tensor *tensor, size_t dim, dim_kind from,
                       tsr_ragged_kind kind, tsr_conversion **record, tsr_tensor **out)
{
    conversion_call c = conversion_begin(name, tensor, false);
    conversion_check_dim(&c, dim, from);
    if (c.status == TSR_OK) {
        tsr_ragged ragged = *c.record->src->dims[dim].ragged;
        ragged.kind = kind;
        to_ragged(&c, dim, &ragged);
    }
    return conversion_end(&c, record, out);
}

tsr_status tsr_partitioned_unaligned_to_aligned(tsr_tensor *tensor, size_t dim,
                                                tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_partitioned_unaligned_to_aligned);
    return turn("tsr_partitioned_unaligned_to_aligned", tensor, dim, DIM_UNALIGNED,
                TSR_RAGGED_ALIGNED, record, out);
}

tsr_status tsr_partitioned_aligned_to_unaligned(tsr_tensor *tensor, size_t dim,
                                                tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_partitioned_aligned_to_unaligned);
    return turn("tsr_partitioned_aligned_to_unaligned", tensor, dim, DIM_ALIGNED,
                TSR_RAGGED_UNALIGNED, record, out);
}

tsr_status tsr_partitioned_to_replicate(tsr_tensor *tensor, size_t dim, tsr_conversion **record,
                                        tsr_tensor **out)
{
    GUARD(tsr_partitioned_to_replicate);
    static const conversion_row row = {
        .name = "tsr_partitioned_to_replicate", .pending = false, .from = DIM_PARTITIONED};
    return convert_to_whole(&row, tensor, dim, record, out);
}

tsr_status tsr_partitioned_from_replicate(tsr_tensor *tensor, const tsr_placement *to,
                                          tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_partitioned_from_replicate);
    static const conversion_row row = {"tsr_partitioned_from_replicate", false, DIM_PARTITIONED,
                                       DIM_WHOLE};
    return convert_to_placement(&row, tensor, to, record, out);
}

static void check_owners(conversion_call *c, size_t dim, const int64_t *owner_start,
                         size_t num_owners)
{
    if (c->status < 0 || owner_start == NULL) {
        return;
    }
    const int64_t shards = tsr_sharding_num_shards(c->record->src, dim);
    if ((int64_t)num_owners != shards + 1) {
        c->status = diag_error(c->tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                               "dim %zu: owners of %lld shards are %lld numbers, got: %zu", dim,
                               (long long)shards, (long long)shards + 1, num_owners);
    }
}

tsr_status tsr_partitioned_realign(tsr_tensor *tensor, size_t dim, const int64_t *owner_start,
                                   size_t num_owners, int64_t alignment, tsr_conversion **record,
                                   tsr_tensor **out)
{
    GUARD(tsr_partitioned_realign);
    conversion_call c = conversion_begin("tsr_partitioned_realign", tensor, false);
    conversion_check_dim(&c, dim, DIM_ALIGNED);
    check_owners(&c, dim, owner_start, num_owners);
    if (c.status == TSR_OK) {
        tsr_ragged ragged = *c.record->src->dims[dim].ragged;
        ragged.owner_start = owner_start;
        ragged.alignment = alignment;
        to_ragged(&c, dim, &ragged);
    }
    return conversion_end(&c, record, out);
}

/* The rows of the partitions that each shard owns. */
static int64_t *owned_sizes(tsr_arena *arena, const tsr_ragged *ragged, int64_t shards)
{
    int64_t *sizes = ARENA_ARRAY(arena, int64_t, (size_t)shards);
    for (int64_t d = 0; sizes != NULL && d < shards; d++) {
        const int64_t end = ragged_owner_start(ragged, shards, d + 1);
        sizes[d] = 0;
        for (int64_t p = ragged_owner_start(ragged, shards, d); p < end; p++) {
            for (int64_t s = 0; s < shards; s++) {
                sizes[d] += ragged->counts[s * ragged->partitions + p];
            }
        }
    }
    return sizes;
}

/* Dynamic sizes of what each rank owns; in place where the rank stores exactly that. */
static void to_owned(conversion_call *c, size_t dim)
{
    if (c->status < 0) {
        return;
    }
    const tsr_ragged *from = c->record->src->dims[dim].ragged;
    if (!ragged_is_bound(from)) {
        c->status = diag_error(c->tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                               "%s: dim %zu of the tensor is unbound, so the sizes of its shards "
                               "are not known: pass a dynamic placement, or bind the symbol ?%s "
                               "first, by tsr_symbol_bind",
                               c->name, dim, from->symbol != NULL ? from->symbol : "");
        return;
    }
    const int64_t shards = tsr_sharding_num_shards(c->record->src, dim);
    const int64_t *sizes = owned_sizes(c->record->arena, from, shards);
    if (sizes == NULL) {
        c->status = diag_nomem(c->tensor->world->ctx);
        return;
    }
    const tsr_ragged ragged = {
        .kind = TSR_RAGGED_DYNAMIC, .rows = 1, .sizes = sizes, .alignment = 1};
    c->record->in_place = from->kind == TSR_RAGGED_ALIGNED && from->alignment == 1;
    to_ragged(c, dim, &ragged);
}

tsr_status tsr_partitioned_to_dynamic(tsr_tensor *tensor, size_t dim, const tsr_placement *to,
                                      tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_partitioned_to_dynamic);
    conversion_call c = conversion_begin("tsr_partitioned_to_dynamic", tensor, false);
    conversion_check_dim(&c, dim, DIM_PARTITIONED);
    if (to == NULL) {
        to_owned(&c, dim);
    } else {
        conversion_check_to(&c, to, DIM_DYNAMIC,
                            DIM_WHOLE | DIM_EVEN | DIM_DYNAMIC | DIM_PARTITIONED);
        conversion_to(&c, to);
    }
    return conversion_end(&c, record, out);
}

tsr_status tsr_partitioned_to_shard(tsr_tensor *tensor, size_t dim, tsr_conversion **record,
                                    tsr_tensor **out)
{
    GUARD(tsr_partitioned_to_shard);
    conversion_call c = conversion_begin("tsr_partitioned_to_shard", tensor, false);
    conversion_check_dim(&c, dim, DIM_PARTITIONED);
    to_ragged(&c, dim, NULL);
    return conversion_end(&c, record, out);
}

tsr_status tsr_partitioned_reduce(tsr_tensor *tensor, const tsr_placement *to,
                                  tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_partitioned_reduce);
    static const conversion_row row = {"tsr_partitioned_reduce", true, DIM_PARTITIONED,
                                       DIM_WHOLE | DIM_EVEN | DIM_DYNAMIC | DIM_PARTITIONED};
    return convert_to_placement(&row, tensor, to, record, out);
}

/* Refuses layouts that differ elsewhere than where one is unaligned and the other is not. */
static void check_reinterpret(conversion_call *c)
{
    if (c->status < 0) {
        return;
    }
    const tsr_sharding *a = c->record->src;
    const tsr_sharding *b = c->record->dst;
    size_t crossed = 0;
    for (size_t i = 0; i < a->rank; i++) {
        const bool from = dim_kind_of(&a->dims[i]) == DIM_UNALIGNED;
        const bool to = dim_kind_of(&b->dims[i]) == DIM_UNALIGNED;
        const bool axes = tsr_axes_equal(a->dims[i].axes, a->dims[i].num_axes, b->dims[i].axes,
                                         b->dims[i].num_axes);
        crossed += from != to;
        if (!axes) {
            c->status = diag_error(c->tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                                   "%s: dim %zu has other axes in the placement than in the tensor",
                                   c->name, i);
            return;
        }
    }
    if (crossed == 0) {
        c->status = diag_error(c->tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                               "%s: source and destination have the same unaligned dimensions, so "
                               "there is nothing to convert",
                               c->name);
    }
}

tsr_status tsr_partitioned_reinterpret(tsr_tensor *tensor, const tsr_placement *to,
                                       tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_partitioned_reinterpret);
    enum { ANY = DIM_WHOLE | DIM_EVEN | DIM_DYNAMIC | DIM_UNALIGNED };
    conversion_call c = conversion_begin("tsr_partitioned_reinterpret", tensor, false);
    conversion_check_to(&c, to, DIM_EVEN | DIM_DYNAMIC | DIM_UNALIGNED, ANY);
    conversion_to(&c, to);
    check_reinterpret(&c);
    if (c.status == TSR_OK) {
        c.record->in_place = true;
    }
    return conversion_end(&c, record, out);
}
