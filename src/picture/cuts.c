#include "picture/cuts.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "shard/geometry.h"

/* Intervals under construction; `next` is where the next one starts. */
typedef struct builder {
    tsr_interval *list;
    int64_t count;
    int64_t next;
    int64_t last_shard;
} builder;

/* Appends what a shard has next, joined to the interval before when that is the shard's too. */
static void append(builder *b, int64_t shard, int64_t size)
{
    if (size == 0) {
        return;
    }
    if (b->count > 0 && b->last_shard == shard) {
        b->list[b->count - 1].size += size;
    } else {
        b->list[b->count++] = (tsr_interval){b->next, size};
    }
    b->last_shard = shard;
    b->next += size;
}

/* The blocks of an unaligned dimension: for each partition, for each shard. */
static void append_blocks(builder *b, const tsr_ragged *ragged, int64_t shards)
{
    for (int64_t p = 0; p < ragged->partitions; p++) {
        for (int64_t s = 0; s < shards; s++) {
            append(b, s, ragged->counts[s * ragged->partitions + p]);
        }
    }
}

static tsr_status cut_by_list(tsr_context *ctx, tsr_arena *arena, const dim_geometry *dim,
                              cuts *out)
{
    const int64_t blocks = dim->ragged != NULL ? dim->ragged->partitions : 1;
    builder b = {.list = ARENA_ARRAY(arena, tsr_interval, (size_t)(out->shards * blocks))};
    if (b.list == NULL) {
        return diag_nomem(ctx);
    }
    for (int64_t s = 0; s < out->shards; s++) {
        const int64_t size = dim_box(dim, s).size;
        out->holding += size > 0;
        if (dim->ragged == NULL) {
            append(&b, s, size);
        }
    }
    if (dim->ragged != NULL) {
        append_blocks(&b, dim->ragged, out->shards);
    }
    out->list = b.list;
    out->count = b.count;
    return TSR_OK;
}

tsr_status cuts_make(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                     const cuts **out)
{
    TSR_TRY(geometry_check_bound(ctx, geometry));
    cuts *all = ARENA_ARRAY(arena, cuts, geometry->rank);
    if (all == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t d = 0; d < geometry->rank; d++) {
        const dim_geometry *dim = &geometry->dims[d];
        all[d] = (cuts){.extent = dim->extent, .chunk = dim->chunk, .shards = dim->along.size};
        if (dim_is_even(dim)) {
            all[d].count = dim->used;
            all[d].holding = dim->used;
        } else {
            TSR_TRY(cut_by_list(ctx, arena, dim, &all[d]));
        }
    }
    *out = all;
    return TSR_OK;
}

tsr_interval cuts_at(const cuts *of, int64_t i)
{
    if (of->list != NULL) {
        return of->list[i];
    }
    const int64_t start = i * of->chunk;
    return (tsr_interval){start, min_i64(of->chunk, of->extent - start)};
}
