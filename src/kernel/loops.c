#include "kernel/loops.h"

/* Whether a loop is continued by the one inside it, in every array. */
static bool is_continued(const loop *outer, const loop *inner, size_t num_arrays)
{
    for (size_t a = 0; a < num_arrays; a++) {
        if (outer->strides[a] != inner->strides[a] * inner->size) {
            return false;
        }
    }
    return true;
}

/* Appends a loop inside the others, joined with the last where that is continued by it. */
static void append(loops *nest, loop fresh)
{
    loop *last = nest->count > 0 ? &nest->loops[nest->count - 1] : NULL;
    if (last != NULL && is_continued(last, &fresh, nest->num_arrays)) {
        fresh.size *= last->size;
        *last = fresh;
    } else {
        nest->loops[nest->count++] = fresh;
    }
}

static void append_dim(loops *nest, int64_t size, const int64_t *const *strides, size_t dim)
{
    loop fresh = {.size = size};
    for (size_t a = 0; a < nest->num_arrays; a++) {
        fresh.strides[a] = strides[a][dim];
    }
    append(nest, fresh);
}

/* The loops over the dimensions in the order given; NULL stands for their own. */
static bool init(loops *nest, const int64_t *shape, size_t rank, const size_t *order,
                 const int64_t *const *strides, size_t num_arrays, int64_t item)
{
    nest->count = 0;
    nest->num_arrays = num_arrays;
    for (size_t i = 0; i < rank; i++) {
        const size_t dim = order != NULL ? order[i] : i;
        if (shape[dim] == 0) {
            return false;
        }
        if (shape[dim] > 1) {
            append_dim(nest, shape[dim], strides, dim);
        }
    }
    if (nest->count == 0) {
        nest->loops[nest->count++] = (loop){.size = 1, .strides = {item, item, item, item}};
    }
    for (size_t a = 0; a < LOOPS_MAX_ARRAYS; a++) {
        nest->offsets[a] = 0;
    }
    return true;
}

bool loops_init(loops *nest, const int64_t *shape, size_t rank, const int64_t *const *strides,
                size_t num_arrays, int64_t item)
{
    return init(nest, shape, rank, NULL, strides, num_arrays, item);
}

bool loops_init_sorted(loops *nest, const int64_t *shape, size_t rank,
                       const int64_t *const *strides, size_t num_arrays, int64_t item)
{
    size_t order[KERNEL_MAX_RANK];
    for (size_t d = 0; d < rank; d++) {
        size_t at = d;
        for (; at > 0 &&
               stride_magnitude(strides[0][order[at - 1]]) < stride_magnitude(strides[0][d]);
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = d;
    }
    return init(nest, shape, rank, order, strides, num_arrays, item);
}

bool loops_next(loops *nest)
{
    for (size_t i = nest->count - 1; i-- > 0;) {
        loop *l = &nest->loops[i];
        const bool more = ++l->index < l->size;
        const int64_t steps = more ? 1 : 1 - l->size;
        for (size_t a = 0; a < nest->num_arrays; a++) {
            nest->offsets[a] += steps * l->strides[a];
        }
        if (more) {
            return true;
        }
        l->index = 0;
    }
    return false;
}
