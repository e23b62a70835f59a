#include "plan/overlap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

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

/* Whether a shard can store its rows in several runs. */
static bool has_runs(const dim_geometry *dim)
{
    return dim->ragged != NULL || (dim->aligned != NULL && dim->aligned->alignment > 1);
}

tsr_status plan_dim_create(const plan_maker *m, const dim_geometry *dim, plan_dim *out)
{
    *out = (plan_dim){.of = dim};
    if (!has_runs(dim)) {
        return TSR_OK;
    }
    const size_t count = list_runs(dim, NULL);
    stored_run *runs = ARENA_ARRAY(m->arena, stored_run, count);
    if (runs == NULL) {
        return diag_nomem(m->ctx);
    }
    (void)list_runs(dim, runs);
    if (count > 1) {
        qsort(runs, count, sizeof *runs, by_start);
    }
    out->sorted = runs;
    out->num_sorted = count;
    return TSR_OK;
}

/* Where a walk over the runs of a dimension is. */
typedef struct run_walk {
    const plan_dim *dim;
    int64_t next; /* a shard, or a sorted run */
} run_walk;

/* From the run that has a row; the runs tile the dimension. */
static run_walk walk_from(const plan_dim *dim, int64_t row)
{
    if (dim->sorted == NULL) {
        return (run_walk){dim, dim_shard_of_row(dim->of, row)};
    }
    const size_t after =
        lower_bound(&dim->sorted->start, sizeof *dim->sorted, dim->num_sorted, row + 1);
    return (run_walk){dim, (int64_t)after - 1};
}

/* The next run that begins before `end`; false when there is none. */
static bool walk_next(run_walk *w, int64_t end, stored_run *out)
{
    if (w->dim->sorted != NULL) {
        if (w->next == (int64_t)w->dim->num_sorted || w->dim->sorted[w->next].start >= end) {
            return false;
        }
        *out = w->dim->sorted[w->next++];
        return true;
    }
    while (w->next < w->dim->of->along.size) {
        const int64_t shard = w->next++;
        const tsr_interval box = dim_box(w->dim->of, shard);
        if (box.start >= end) {
            return false;
        }
        if (box.size > 0) {
            *out = (stored_run){box.start, box.size, shard, 0};
            return true;
        }
    }
    return false;
}

/* Rows in common with one shard of the other layout. */
typedef struct common {
    int64_t shard;
    plan_rows rows;
} common;

static int by_shard(const void *a, const void *b)
{
    const common *x = a;
    const common *y = b;
    if (x->shard != y->shard) {
        return x->shard < y->shard ? -1 : 1;
    }
    return (x->rows.dst > y->rows.dst) - (x->rows.dst < y->rows.dst);
}

/* How many rows in common a shard has, as runs; with `out`, also which. */
static size_t list_common(plan_side side, const plan_dim *own, int64_t shard, const plan_dim *other,
                          common *out)
{
    size_t count = 0;
    int64_t at = 0;
    int64_t local = 0;
    int64_t where;
    tsr_interval piece;
    while (dim_next_stored(own->of, shard, &at, &local, &piece, &where)) {
        run_walk walk = walk_from(other, piece.start);
        stored_run run;
        while (walk_next(&walk, piece.start + piece.size, &run)) {
            const int64_t start = max_i64(piece.start, run.start);
            const int64_t end = min_i64(piece.start + piece.size, run.start + run.size);
            const int64_t mine = where + start - piece.start;
            const int64_t theirs = run.local + start - run.start;
            if (out != NULL) {
                out[count] = side == PLAN_OF_SRC ? (common){run.shard, {mine, theirs, end - start}}
                                                 : (common){run.shard, {theirs, mine, end - start}};
            }
            count++;
        }
    }
    return count;
}

/* Groups rows by the shard that they are in common with. */
static tsr_status group(const plan_maker *m, const common *parts, size_t count, plan_overlaps *out)
{
    size_t number = 0;
    for (size_t i = 0; i < count; i++) {
        number += i == 0 || parts[i].shard != parts[i - 1].shard;
    }
    plan_overlap *overlaps = ARENA_ARRAY(m->arena, plan_overlap, number);
    plan_rows *rows = ARENA_ARRAY(m->arena, plan_rows, count);
    if (overlaps == NULL || rows == NULL) {
        return diag_nomem(m->ctx);
    }
    plan_overlap *now = NULL;
    for (size_t i = 0; i < count; i++) {
        rows[i] = parts[i].rows;
        if (now == NULL || now->shard != parts[i].shard) {
            now = now == NULL ? overlaps : now + 1;
            *now = (plan_overlap){.shard = parts[i].shard, .rows = &rows[i]};
        }
        now->size += rows[i].size;
        now->count++;
    }
    *out = (plan_overlaps){overlaps, number};
    return TSR_OK;
}

tsr_status plan_overlaps_of(const plan_maker *m, plan_side side, const plan_dim *own, int64_t shard,
                            const plan_dim *other, plan_overlaps *out)
{
    const size_t count = list_common(side, own, shard, other, NULL);
    common *parts = ARENA_ARRAY(m->scratch, common, count);
    if (parts == NULL) {
        return diag_nomem(m->ctx);
    }
    (void)list_common(side, own, shard, other, parts);
    if (count > 1 && (own->sorted != NULL || other->sorted != NULL)) {
        qsort(parts, count, sizeof *parts, by_shard);
    }
    return group(m, parts, count, out);
}

int64_t plan_common_rows(const plan_dim *a, int64_t shard_a, const plan_dim *b, int64_t shard_b)
{
    int64_t at_a = 0;
    int64_t at_b = 0;
    int64_t size = 0;
    tsr_interval piece_a;
    tsr_interval piece_b;
    bool more = dim_next_piece(a->of, shard_a, &at_a, &piece_a) &&
                dim_next_piece(b->of, shard_b, &at_b, &piece_b);
    while (more) {
        const int64_t end_a = piece_a.start + piece_a.size;
        const int64_t end_b = piece_b.start + piece_b.size;
        size += max_i64(0, min_i64(end_a, end_b) - max_i64(piece_a.start, piece_b.start));
        more = end_a <= end_b ? dim_next_piece(a->of, shard_a, &at_a, &piece_a)
                              : dim_next_piece(b->of, shard_b, &at_b, &piece_b);
    }
    return size;
}
