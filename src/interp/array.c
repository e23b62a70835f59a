#include "interp/array.h"

#include <string.h>

#include "base/arena.h"
#include "code/code.h"

/* Blocks of 128 bytes, 256, .. are kept; larger ones than the last class are not. */
enum { FIRST_CLASS = 128 };

/* Elements begin on a line of the cache where the block does. */
enum { HEADER = (sizeof(interp_array) + 15) / 16 * 16 };

interp_pool interp_pool_new(tsr_context *ctx, int64_t most, int64_t constants)
{
    return (interp_pool){.ctx = ctx, .most = most, .live = constants, .peak = constants};
}

void interp_pool_clear(interp_pool *pool)
{
    for (size_t c = 0; c < INTERP_NUM_CLASSES; c++) {
        while (pool->free[c] != NULL) {
            interp_array *array = pool->free[c];
            pool->free[c] = array->next;
            (void)context_resize(pool->ctx, array, array->room, 0);
        }
    }
}

/* The class of a size, or INTERP_NUM_CLASSES. */
static inline size_t class_of_size(size_t size)
{
    if (size <= FIRST_CLASS) {
        return 0;
    }
    const size_t log = 64 - (size_t)__builtin_clzll((size - 1) / FIRST_CLASS);
    return log < INTERP_NUM_CLASSES ? log : INTERP_NUM_CLASSES;
}

static tsr_status check_limit(interp_pool *pool, int64_t bytes)
{
    if (pool->most > 0 && bytes > pool->most - pool->live) {
        return code_refuse_bytes(pool->ctx, bytes, pool->live, pool->most);
    }
    return TSR_OK;
}

/* A block for a record, `extra` bytes and the elements. */
static tsr_status take(interp_pool *pool, size_t extra, int64_t bytes, interp_array **out)
{
    if (bytes < 0 || (uint64_t)bytes > SIZE_MAX / 2 - HEADER - extra) {
        return diag_error(pool->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                          "the size of an array in bytes exceeds 2^63-1");
    }
    TSR_TRY(check_limit(pool, bytes));
    size_t room = HEADER + extra + (size_t)bytes;
    const size_t c = class_of_size(room);
    interp_array *array = NULL;
    if (c < INTERP_NUM_CLASSES && pool->free[c] != NULL) {
        array = pool->free[c];
        pool->free[c] = array->next;
        room = array->room;
    } else {
        room = c < INTERP_NUM_CLASSES ? (size_t)FIRST_CLASS << c : room;
        array = context_resize(pool->ctx, NULL, 0, room);
    }
    if (array == NULL) {
        return diag_nomem(pool->ctx);
    }
    array->refs = 1;
    array->bytes = bytes;
    array->counted = bytes;
    array->room = room;
    array->base = NULL;
    array->data = (char *)array + HEADER + extra;
    pool->arrays++;
    pool->live += bytes;
    pool->peak = max_i64(pool->peak, pool->live);
    *out = array;
    return TSR_OK;
}

tsr_status interp_array_new(interp_pool *pool, const code_type *type, interp_array **out)
{
    interp_array *array;
    const tsr_status status = take(pool, 0, type->bytes, &array);
    if (status != TSR_OK) {
        return status;
    }
    array->kind = CODE_TENSOR;
    array->dtype = type->tensor.dtype;
    array->rank = type->tensor.rank;
    array->shape = type->tensor.shape;
    array->strides = type->strides;
    *out = array;
    return TSR_OK;
}

/* A record with extents of its own, and room for so many bytes. */
static tsr_status take_shaped(interp_pool *pool, tsr_dtype dtype, size_t rank, const int64_t *shape,
                              bool own_data, interp_array **out)
{
    int64_t strides[OP_MAX_RANK];
    interp_array *array;
    const int64_t bytes = code_packed(dtype, rank, shape, strides);
    const size_t list = (rank * sizeof(int64_t) + 15) / 16 * 16;
    TSR_TRY(take(pool, 2 * list, own_data ? bytes : min_i64(bytes, 0), &array));
    int64_t *own = (int64_t *)(void *)((char *)array + HEADER);
    if (rank > 0) {
        memcpy(own, shape, rank * sizeof *shape);
        memcpy((char *)own + list, strides, rank * sizeof *strides);
    }
    array->kind = CODE_TENSOR;
    array->dtype = dtype;
    array->rank = rank;
    array->shape = own;
    array->strides = (const int64_t *)(const void *)((char *)own + list);
    array->bytes = bytes;
    *out = array;
    return TSR_OK;
}

tsr_status interp_array_shaped(interp_pool *pool, tsr_dtype dtype, size_t rank,
                               const int64_t *shape, interp_array **out)
{
    return take_shaped(pool, dtype, rank, shape, true, out);
}

tsr_status interp_array_recast(interp_pool *pool, interp_array *base, tsr_dtype dtype, size_t rank,
                               const int64_t *shape, interp_array **out)
{
    interp_array *array;
    TSR_TRY(take_shaped(pool, dtype, rank, shape, false, &array));
    array->data = base->data;
    array->base = interp_array_keep(base);
    *out = array;
    return TSR_OK;
}

interp_array interp_array_over(const code_type *type, const void *data)
{
    return (interp_array){.kind = CODE_TENSOR,
                          .dtype = type->tensor.dtype,
                          .rank = type->tensor.rank,
                          .shape = type->tensor.shape,
                          .strides = type->strides,
                          .bytes = type->bytes,
                          .data = without_const(data)};
}

tsr_status interp_array_borrow(interp_pool *pool, const code_type *type, const void *data,
                               interp_array **out)
{
    interp_array *array;
    TSR_TRY(take(pool, 0, 0, &array));
    const size_t room = array->room;
    *array = interp_array_over(type, data);
    array->refs = 1;
    array->room = room;
    *out = array;
    return TSR_OK;
}

tsr_status interp_array_token(interp_pool *pool, interp_array **out)
{
    interp_array *array;
    TSR_TRY(take(pool, 0, 0, &array));
    array->kind = CODE_TOKEN;
    array->dtype = TSR_I1;
    array->rank = 0;
    array->shape = NULL;
    array->strides = NULL;
    *out = array;
    return TSR_OK;
}

tsr_status interp_array_tuple(interp_pool *pool, interp_array *const *members, size_t count,
                              interp_array **out)
{
    interp_array *array;
    TSR_TRY(take(pool, 0, (int64_t)(count * sizeof *members), &array));
    array->kind = CODE_TUPLE;
    array->dtype = TSR_I1;
    array->rank = count;
    array->shape = NULL;
    array->strides = NULL;
    for (size_t i = 0; i < count; i++) {
        interp_tuple_members(array)[i] = members[i];
    }
    *out = array;
    return TSR_OK;
}

void interp_array_drop(interp_pool *pool, interp_array *array)
{
    if (array == NULL || --array->refs > 0) {
        return;
    }
    if (array->kind == CODE_TUPLE) {
        for (size_t i = 0; i < array->rank; i++) {
            interp_array_drop(pool, interp_tuple_members(array)[i]);
        }
    }
    interp_array_drop(pool, array->base);
    pool->live -= array->counted;
    pool->arrays--;
    const size_t c = class_of_size(array->room);
    if (c < INTERP_NUM_CLASSES) {
        array->next = pool->free[c];
        pool->free[c] = array;
    } else {
        (void)context_resize(pool->ctx, array, array->room, 0);
    }
}
