/*
 * Unaligned to aligned and back, of parts in memory: what a slice of the counts is enough for.
 *
 * Unaligned to aligned is an all-to-all, which brings the owned partitions shard-major, and then a
 * reordering of blocks from (s, p) to (p, s). Back it is the reordering first, then the all-to-all
 * with the transposed counts.
 */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "kernel/copy.h"
#include "rt/placement.h"

/* One conversion of parts, unaligned to aligned or back. */
typedef struct parts {
    const tsr_partitioned *p;
    const char *name;
    const tsr_view *unaligned;
    const tsr_view *aligned;
    size_t item;
    int64_t aligned_strides[KERNEL_MAX_RANK];
    int64_t shape[KERNEL_MAX_RANK]; /* of the scratch: all rows, shard after shard */
    int64_t strides[KERNEL_MAX_RANK];
    size_t bytes;
    char *scratch; /* the rows of the owned partitions, shard-major */
    int64_t *to;   /* rows that each shard gets of this one unaligned */
    int64_t *from; /* rows that this one has of each shard aligned */
    tsr_arena *arena;
} parts;

static tsr_status check_part(const parts *x, const tsr_view *view, bool aligned)
{
    tsr_context *ctx = x->p->world->ctx;
    const int64_t rows = tsr_partitioned_rows(x->p, aligned);
    if (view->rank > KERNEL_MAX_RANK || view->rank != x->p->sharding->rank) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the placement has %zu dimensions, the part %zu", x->name,
                          x->p->sharding->rank, view->rank);
    }
    if (view->shape[x->p->dim] != rows) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: rank %lld has %lld rows of dim %zu %s, got: %lld", x->name,
                          (long long)x->p->world->rank, (long long)rows, x->p->dim,
                          aligned ? "aligned" : "unaligned", (long long)view->shape[x->p->dim]);
    }
    return TSR_OK;
}

static tsr_status check_parts(const parts *x)
{
    tsr_context *ctx = x->p->world->ctx;
    TSR_TRY(check_part(x, x->unaligned, false));
    TSR_TRY(check_part(x, x->aligned, true));
    if (x->unaligned->dtype != x->aligned->dtype) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the parts are of %s unaligned and %s aligned", x->name,
                          tsr_dtype_name(x->unaligned->dtype), tsr_dtype_name(x->aligned->dtype));
    }
    for (size_t i = 0; i < x->aligned->rank; i++) {
        if (i != x->p->dim && x->unaligned->shape[i] != x->aligned->shape[i]) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: dim %zu of the parts is %lld unaligned and %lld aligned",
                              x->name, i, (long long)x->unaligned->shape[i],
                              (long long)x->aligned->shape[i]);
        }
    }
    return TSR_OK;
}

/* Row-major strides; false when the bytes are too many. */
static bool row_major(const int64_t *shape, size_t rank, int64_t item, int64_t *strides,
                      int64_t *bytes)
{
    *bytes = item;
    for (size_t i = rank; i-- > 0;) {
        strides[i] = *bytes;
        if (shape[i] < 0 || !checked_mul(*bytes, shape[i], bytes)) {
            return false;
        }
    }
    return true;
}

static void count_rows(const parts *x)
{
    const tsr_partitioned *p = x->p;
    for (int64_t d = 0; d < p->shards; d++) {
        x->to[d] = 0;
        x->from[d] = 0;
        for (int64_t i = ragged_owner_start(&p->ragged, p->shards, d);
             i < ragged_owner_start(&p->ragged, p->shards, d + 1); i++) {
            x->to[d] += p->row[i];
        }
        for (int64_t i = 0; i < p->owned; i++) {
            x->from[d] += p->columns[d * p->owned + i];
        }
    }
}

/* Counts and scratch memory. */
static tsr_status prepare_parts(parts *x)
{
    tsr_context *ctx = x->p->world->ctx;
    const tsr_view *a = x->aligned;
    int64_t bytes = 0;
    TSR_TRY(check_parts(x));
    TSR_TRY(tsr_arena_create(ctx, &x->arena));
    x->to = ARENA_ARRAY(x->arena, int64_t, (size_t)x->p->shards);
    x->from = ARENA_ARRAY(x->arena, int64_t, (size_t)x->p->shards);
    if (x->to == NULL || x->from == NULL) {
        return diag_nomem(ctx);
    }
    count_rows(x);
    x->item = (size_t)tsr_dtype_item_bytes(a->dtype);
    bool fits = row_major(a->shape, a->rank, (int64_t)x->item, x->aligned_strides, &bytes);
    if (a->strides != NULL) {
        memcpy(x->aligned_strides, a->strides, a->rank * sizeof *a->strides);
    }
    memcpy(x->shape, a->shape, a->rank * sizeof *a->shape);
    x->shape[x->p->dim] = 0;
    for (int64_t s = 0; s < x->p->shards; s++) {
        x->shape[x->p->dim] += x->from[s];
    }
    fits = fits && row_major(x->shape, a->rank, (int64_t)x->item, x->strides, &bytes);
    if (!fits || (a->data == NULL && bytes > 0)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s: the aligned part %s", x->name,
                          fits ? "has no data" : "has an impossible shape");
    }
    x->bytes = bytes > 0 ? (size_t)bytes : 1;
    x->scratch = segment_alloc(x->p->world->own, x->bytes);
    return x->scratch != NULL ? TSR_OK : TSR_ERR_NOMEM;
}

static void release_parts(const parts *x)
{
    if (x->scratch != NULL) {
        segment_free(x->p->world->own, x->scratch);
    }
    tsr_arena_destroy(x->arena);
}

/* One block between the scratch and the aligned part. */
static void copy_block(const parts *x, int64_t scratch_row, int64_t aligned_row, int64_t rows,
                       bool to_aligned)
{
    const size_t dim = x->p->dim;
    char *packed = x->scratch + scratch_row * x->strides[dim];
    char *part = (char *)x->aligned->data + aligned_row * x->aligned_strides[dim];
    int64_t shape[KERNEL_MAX_RANK];
    memcpy(shape, x->shape, x->aligned->rank * sizeof *shape);
    shape[dim] = rows;
    kernel_copy(to_aligned ? part : packed, to_aligned ? x->aligned_strides : x->strides,
                to_aligned ? packed : part, to_aligned ? x->strides : x->aligned_strides, shape,
                x->aligned->rank, x->item, false);
}

/* Zeros in the rows that pad a partition. */
static void clear_rows(const parts *x, int64_t row, int64_t rows)
{
    static const char zero[16];
    const int64_t nowhere[KERNEL_MAX_RANK] = {0};
    const size_t dim = x->p->dim;
    int64_t shape[KERNEL_MAX_RANK];
    memcpy(shape, x->shape, x->aligned->rank * sizeof *shape);
    shape[dim] = rows;
    char *part = (char *)x->aligned->data + row * x->aligned_strides[dim];
    kernel_copy(part, x->aligned_strides, zero, nowhere, shape, x->aligned->rank, x->item, false);
}

/* Reorders blocks between (s, p) in the scratch and (p, s) in the aligned part. */
static void reorder(const parts *x, bool to_aligned)
{
    const tsr_partitioned *p = x->p;
    int64_t aligned_row = 0;
    for (int64_t i = 0; i < p->owned; i++) {
        int64_t shard_start = 0;
        int64_t at = aligned_row;
        for (int64_t s = 0; s < p->shards; s++) {
            int64_t before = shard_start;
            for (int64_t j = 0; j < i; j++) {
                before += p->columns[s * p->owned + j];
            }
            const int64_t rows = p->columns[s * p->owned + i];
            if (rows > 0) {
                copy_block(x, before, at, rows, to_aligned);
            }
            at += rows;
            shard_start += x->from[s];
        }
        aligned_row += partition_stored_rows(p, i);
        if (to_aligned && at < aligned_row) {
            clear_rows(x, at, aligned_row - at);
        }
    }
}

static tsr_status all_to_all_parts(parts *x, bool to_aligned)
{
    const tsr_partitioned *p = x->p;
    const tsr_status status = prepare_parts(x);
    if (status < 0) {
        const comm_call what = {.name = x->name, .status = status};
        return comm_enter(p->group, &what);
    }
    const tsr_view packed = {x->scratch, x->aligned->dtype, x->aligned->rank, x->shape, NULL};
    if (to_aligned) {
        TSR_TRY(tsr_comm_all_to_all_v(p->group, x->unaligned, p->dim, x->to, x->from, &packed));
        reorder(x, true);
        return TSR_OK;
    }
    reorder(x, false);
    return tsr_comm_all_to_all_v(p->group, &packed, p->dim, x->from, x->to, x->unaligned);
}

tsr_status tsr_partitioned_align(const tsr_partitioned *partitioned, const tsr_view *src,
                                 const tsr_view *dst)
{
    GUARD(tsr_partitioned_align);
    parts x = {.p = partitioned, .name = "tsr_partitioned_align", .unaligned = src, .aligned = dst};
    const tsr_status status = all_to_all_parts(&x, true);
    release_parts(&x);
    return status;
}

tsr_status tsr_partitioned_unalign(const tsr_partitioned *partitioned, const tsr_view *src,
                                   const tsr_view *dst)
{
    GUARD(tsr_partitioned_unalign);
    parts x = {
        .p = partitioned, .name = "tsr_partitioned_unalign", .unaligned = dst, .aligned = src};
    const tsr_status status = all_to_all_parts(&x, false);
    release_parts(&x);
    return status;
}
