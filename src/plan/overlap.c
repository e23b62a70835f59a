#include "plan/overlap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

/* Rows that a shard stores together. */
typedef struct stored_run {
    int64_t start;
    int64_t size;
    int64_t shard;
    int64_t local;
} stored_run;

typedef struct stored_runs {
    stored_run *runs;
    size_t count;
} stored_runs;

static int by_start(const void *a, const void *b)
{
    const int64_t x = ((const stored_run *)a)->start;
    const int64_t y = ((const stored_run *)b)->start;
    return (x > y) - (x < y);
}

/* How many runs the shards have; with `out`, also which. */
static size_t list_runs(const dim_geometry *dim, stored_run *out)
{
    size_t count = 0;
    for (int64_t shard = 0; shard < dim->along.size; shard++) {
        int64_t at = 0;
        int64_t local = 0;
        int64_t where;
        tsr_interval piece;
        while (dim_next_stored(dim, shard, &at, &local, &piece, &where)) {
            if (out != NULL) {
                out[count] = (stored_run){piece.start, piece.size, shard, where};
            }
            count++;
        }
    }
    return count;
}

/* All runs of a dimension in the order of the tensor, which they tile. */
static tsr_status sorted_runs(tsr_context *ctx, tsr_arena *arena, const dim_geometry *dim,
                              stored_runs *out)
{
    out->count = list_runs(dim, NULL);
    out->runs = ARENA_ARRAY(arena, stored_run, out->count);
    if (out->runs == NULL) {
        return diag_nomem(ctx);
    }
    (void)list_runs(dim, out->runs);
    if (out->count > 1) {
        qsort(out->runs, out->count, sizeof *out->runs, by_start);
    }
    return TSR_OK;
}

/* Common rows of one pair of shards. */
typedef struct common {
    int64_t src_shard;
    int64_t dst_shard;
    plan_rows rows;
} common;

static int by_shards(const void *a, const void *b)
{
    const common *x = a;
    const common *y = b;
    if (x->dst_shard != y->dst_shard) {
        return x->dst_shard < y->dst_shard ? -1 : 1;
    }
    if (x->src_shard != y->src_shard) {
        return x->src_shard < y->src_shard ? -1 : 1;
    }
    return (x->rows.dst > y->rows.dst) - (x->rows.dst < y->rows.dst);
}

/* Walks both lists at once; both tile the dimension, so there are at most their sum of pieces. */
static size_t intersect(const stored_runs *src, const stored_runs *dst, common *out)
{
    size_t count = 0;
    for (size_t i = 0, j = 0; i < src->count && j < dst->count;) {
        const stored_run *a = &src->runs[i];
        const stored_run *b = &dst->runs[j];
        const int64_t start = max_i64(a->start, b->start);
        const int64_t end = min_i64(a->start + a->size, b->start + b->size);
        if (end > start) {
            out[count++] =
                (common){a->shard,
                         b->shard,
                         {a->local + start - a->start, b->local + start - b->start, end - start}};
        }
        const bool first_ends = a->start + a->size == end;
        const bool second_ends = b->start + b->size == end;
        i += first_ends;
        j += second_ends;
    }
    return count;
}

/* Groups common rows by their pair of shards. */
static tsr_status group(tsr_context *ctx, tsr_arena *arena, const common *parts, size_t count,
                        int64_t dst_shards, plan_dim *out)
{
    plan_overlap *overlaps = ARENA_ARRAY(arena, plan_overlap, count);
    plan_rows *rows = ARENA_ARRAY(arena, plan_rows, count);
    size_t *of_dst = ARENA_ARRAY(arena, size_t, (size_t)dst_shards + 1);
    if (overlaps == NULL || rows == NULL || of_dst == NULL) {
        return diag_nomem(ctx);
    }
    size_t number = 0;
    int64_t shard = 0;
    of_dst[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const common *part = &parts[i];
        const plan_overlap *last = number > 0 ? &overlaps[number - 1] : NULL;
        rows[i] = part->rows;
        if (last == NULL || last->src_shard != part->src_shard ||
            last->dst_shard != part->dst_shard) {
            while (shard < part->dst_shard) {
                of_dst[++shard] = number;
            }
            overlaps[number++] = (plan_overlap){part->src_shard, part->dst_shard, i, 0, 0};
        }
        overlaps[number - 1].count++;
        overlaps[number - 1].size += part->rows.size;
    }
    while (shard < dst_shards) {
        of_dst[++shard] = number;
    }
    *out = (plan_dim){.overlaps = overlaps, .of_dst = of_dst, .rows = rows};
    return TSR_OK;
}

tsr_status plan_dim_create(tsr_context *ctx, tsr_arena *arena, tsr_arena *scratch,
                           const dim_geometry *src, const dim_geometry *dst, plan_dim *out)
{
    stored_runs from = {0};
    stored_runs to = {0};
    TSR_TRY(sorted_runs(ctx, scratch, src, &from));
    TSR_TRY(sorted_runs(ctx, scratch, dst, &to));
    common *parts = ARENA_ARRAY(scratch, common, from.count + to.count);
    if (parts == NULL) {
        return diag_nomem(ctx);
    }
    const size_t count = intersect(&from, &to, parts);
    if (count > 1) {
        qsort(parts, count, sizeof *parts, by_shards);
    }
    return group(ctx, arena, parts, count, dst->along.size, out);
}
