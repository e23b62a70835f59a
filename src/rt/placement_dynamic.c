/* DynamicShard: splitting arrays, and its conversions. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "kernel/copy.h"
#include "rt/placement.h"

tsr_status tsr_dynamic_slices(tsr_context *ctx, int64_t extent, const int64_t *sizes, size_t count,
                              tsr_chunk *slices)
{
    GUARD(tsr_dynamic_slices);
    int64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] < 0) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "size %zu of %zu is negative: %lld", i, count, (long long)sizes[i]);
        }
        int64_t end;
        if (!checked_add(at, sizes[i], &end)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "%zu sizes sum to more than 2^63-1", count);
        }
        slices[i] = (tsr_chunk){at, end};
        at = end;
    }
    if (at != extent) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%zu sizes sum to %lld, the extent is %lld", count, (long long)at,
                          (long long)extent);
    }
    return TSR_OK;
}

/* Row-major strides; returns the bytes, or -1 when they are too many. */
static int64_t compact_strides(const int64_t *shape, size_t rank, int64_t item, int64_t *strides)
{
    int64_t stride = item;
    for (size_t i = rank; i-- > 0;) {
        strides[i] = stride;
        if (!checked_mul(stride, shape[i], &stride)) {
            return -1;
        }
    }
    return stride;
}

/* An array that is being split. */
typedef struct splitting {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_view *array;
    const int64_t *strides;
    size_t dim;
    bool copy;
} splitting;

static tsr_status make_chunk(const splitting *s, tsr_chunk rows, tsr_view *out)
{
    const tsr_view *a = s->array;
    const int64_t item = tsr_dtype_item_bytes(a->dtype);
    int64_t *shape = arena_copy(s->arena, a->shape, a->rank, sizeof *shape);
    int64_t *strides = arena_copy(s->arena, s->strides, a->rank, sizeof *strides);
    if (shape == NULL || strides == NULL) {
        return diag_nomem(s->ctx);
    }
    shape[s->dim] = rows.end - rows.start;
    char *data = (char *)a->data;
    if (data != NULL) {
        data += rows.start * strides[s->dim];
    }
    *out = (tsr_view){data, a->dtype, a->rank, shape, strides};
    if (!s->copy) {
        return TSR_OK;
    }
    const int64_t bytes = compact_strides(shape, a->rank, item, strides);
    out->data = tsr_arena_alloc(s->arena, bytes > 0 ? (size_t)bytes : 1);
    if (out->data == NULL) {
        return diag_nomem(s->ctx);
    }
    if (bytes > 0) {
        kernel_copy(out->data, strides, data, s->strides, shape, a->rank, (size_t)item, false);
    }
    return TSR_OK;
}

static tsr_status check_array(tsr_context *ctx, const tsr_view *array, size_t dim)
{
    if (array->rank > KERNEL_MAX_RANK) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the maximum rank of an array is %d, got: %zu", KERNEL_MAX_RANK,
                          array->rank);
    }
    if (dim >= array->rank) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu is out of range: the array has %zu dimensions", dim,
                          array->rank);
    }
    return TSR_OK;
}

tsr_status tsr_dynamic_split(tsr_context *ctx, tsr_arena *arena, const tsr_view *array, size_t dim,
                             const int64_t *sizes, size_t count, bool copy, const tsr_view **chunks,
                             const int64_t **pads)
{
    GUARD(tsr_dynamic_split);
    int64_t own[KERNEL_MAX_RANK];
    TSR_TRY(check_array(ctx, array, dim));
    if (compact_strides(array->shape, array->rank, tsr_dtype_item_bytes(array->dtype), own) < 0) {
        return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                          "the array has more than 2^63-1 bytes");
    }
    const splitting s = {ctx, arena, array, array->strides != NULL ? array->strides : own,
                         dim, copy};
    tsr_chunk *slices = ARENA_ARRAY(arena, tsr_chunk, count);
    tsr_view *views = ARENA_ARRAY(arena, tsr_view, count);
    int64_t *zeros = ARENA_ARRAY(arena, int64_t, count);
    if (slices == NULL || views == NULL || zeros == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(tsr_dynamic_slices(ctx, array->shape[dim], sizes, count, slices));
    for (size_t i = 0; i < count; i++) {
        zeros[i] = 0;
        TSR_TRY(make_chunk(&s, slices[i], &views[i]));
    }
    *chunks = views;
    if (pads != NULL) {
        *pads = zeros;
    }
    return TSR_OK;
}

/* Refuses a placement without a dynamic dimension, or of another rank. */
static tsr_status check_dynamic(tsr_context *ctx, const tsr_sharding *s, size_t rank)
{
    if (s->rank != rank) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_dynamic_shard: the placement has %zu dimensions, the array %zu",
                          s->rank, rank);
    }
    for (size_t i = 0; i < rank; i++) {
        if (dim_kind_of(&s->dims[i]) == DIM_DYNAMIC) {
            return TSR_OK;
        }
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "tsr_dynamic_shard: no dimension of the placement is dynamic");
}

/* The bound sharding of a placement. Fails on every rank alike. */
static tsr_status bind_for(tsr_comm *world, tsr_arena *arena, const tsr_placement *to, size_t rank,
                           const int64_t *shape, const tsr_sharding **out)
{
    static const char name[] = "tsr_dynamic_shard";
    tsr_status status = check_dynamic(world->ctx, to->sharding, rank);
    bool known_to_all = false;
    if (status == TSR_OK) {
        status = placement_resolve(world, name, arena, to, shape, out, &known_to_all);
    }
    if (known_to_all || (status == TSR_OK && (to->amounts != NULL || !world->team->checked))) {
        return status;
    }
    return placement_agree(world, name, status, to->sharding, NULL);
}

tsr_status tsr_dynamic_shard(tsr_comm *world, const tsr_placement *to, tsr_dtype dtype, size_t rank,
                             const int64_t *shape, int64_t source, const void *full,
                             tsr_tensor **out)
{
    GUARD(tsr_dynamic_shard);
    tsr_arena *scratch = NULL;
    const tsr_sharding *bound = NULL;
    const tsr_status made = tsr_arena_create(world->ctx, &scratch);
    if (made < 0) {
        return placement_agree(world, "tsr_dynamic_shard", made, NULL, NULL);
    }
    tsr_status status = bind_for(world, scratch, to, rank, shape, &bound);
    if (status == TSR_OK) {
        const tsr_tensor_spec spec = {bound, dtype, rank, shape};
        status = tsr_tensor_from_full(world, &spec, source, full, out);
    }
    tsr_arena_destroy(scratch);
    return status;
}

tsr_status tsr_dynamic_shard_backward(tsr_tensor *gradient, int64_t source, void *full)
{
    GUARD(tsr_dynamic_shard_backward);
    return tsr_tensor_to_full(gradient, source, full);
}

tsr_status tsr_dynamic_to_replicate(tsr_tensor *tensor, size_t dim, tsr_conversion **record,
                                    tsr_tensor **out)
{
    GUARD(tsr_dynamic_to_replicate);
    static const conversion_row row = {
        .name = "tsr_dynamic_to_replicate", .pending = false, .from = DIM_DYNAMIC | DIM_EVEN};
    return convert_to_whole(&row, tensor, dim, record, out);
}

tsr_status tsr_dynamic_from_replicate(tsr_tensor *tensor, const tsr_placement *to,
                                      tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_dynamic_from_replicate);
    static const conversion_row row = {"tsr_dynamic_from_replicate", false, DIM_DYNAMIC, DIM_WHOLE};
    return convert_to_placement(&row, tensor, to, record, out);
}

tsr_status tsr_dynamic_reduce_shard(tsr_tensor *tensor, const tsr_placement *to,
                                    tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_dynamic_reduce_shard);
    static const conversion_row row = {"tsr_dynamic_reduce_shard", true, DIM_DYNAMIC,
                                       DIM_WHOLE | DIM_EVEN | DIM_DYNAMIC};
    return convert_to_placement(&row, tensor, to, record, out);
}

tsr_status tsr_dynamic_to_dynamic(tsr_tensor *tensor, const tsr_placement *to,
                                  tsr_conversion **record, tsr_tensor **out)
{
    GUARD(tsr_dynamic_to_dynamic);
    static const conversion_row row = {"tsr_dynamic_to_dynamic", false, DIM_DYNAMIC,
                                       DIM_WHOLE | DIM_EVEN | DIM_DYNAMIC};
    return convert_to_placement(&row, tensor, to, record, out);
}
