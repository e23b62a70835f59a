/*
 * Arrays that an interpreter computes: counted references to packed elements, taken from a pool.
 *
 * A pool counts the bytes of elements that are alive and the most that ever were. Small blocks are
 * kept for the next array of their size class, large ones go back to the allocator at once.
 */
#ifndef INTERP_ARRAY_H
#define INTERP_ARRAY_H

#include "code/type.h"

enum { INTERP_NUM_CLASSES = 11 };

typedef struct interp_array interp_array;
struct interp_array {
    uint32_t refs;
    code_value_kind kind;
    tsr_dtype dtype;
    size_t rank;
    const int64_t *shape; /* the type's, or after this record */
    const int64_t *strides;
    int64_t bytes;      /* of the elements */
    int64_t counted;    /* of those, what the pool counts */
    char *data;         /* elements, or the members of a tuple */
    size_t room;        /* of the whole block */
    interp_array *base; /* whose elements these are; NULL: its own */
    interp_array *next; /* in a free list */
};

typedef struct interp_pool {
    tsr_context *ctx;
    interp_array *free[INTERP_NUM_CLASSES];
    int64_t live;  /* bytes of elements */
    int64_t peak;  /* the most of them at one time */
    int64_t most;  /* more are refused; 0: no limit */
    size_t arrays; /* alive */
} interp_pool;

/* A pool that may have so many bytes (0: no limit), of which constants take some. */
interp_pool interp_pool_new(tsr_context *ctx, int64_t most, int64_t constants);
/* Frees what the pool keeps. All arrays are dropped before. */
void interp_pool_clear(interp_pool *pool);

/* A new array of a type whose extents are known, not filled; one reference. */
tsr_status interp_array_new(interp_pool *pool, const code_type *type, interp_array **out);
/* The same of extents that are known only now, which are copied. */
tsr_status interp_array_shaped(interp_pool *pool, tsr_dtype dtype, size_t rank,
                               const int64_t *shape, interp_array **out);
/* An array to be read, over elements that outlive it: in no pool, not to be kept or dropped. */
interp_array interp_array_over(const code_type *type, const void *data);
/* The same in a pool, counted. */
tsr_status interp_array_borrow(interp_pool *pool, const code_type *type, const void *data,
                               interp_array **out);
/* The elements of an array, which is kept, under another type of as many bytes. */
tsr_status interp_array_recast(interp_pool *pool, interp_array *base, tsr_dtype dtype, size_t rank,
                               const int64_t *shape, interp_array **out);
/* A token, and a tuple, which takes over one reference of each member. */
tsr_status interp_array_token(interp_pool *pool, interp_array **out);
tsr_status interp_array_tuple(interp_pool *pool, interp_array *const *members, size_t count,
                              interp_array **out);

static inline interp_array *interp_array_keep(interp_array *array)
{
    array->refs++;
    return array;
}
/* Drops a reference; NULL is fine. */
void interp_array_drop(interp_pool *pool, interp_array *array);

static inline interp_array **interp_tuple_members(const interp_array *tuple)
{
    return (interp_array **)(void *)tuple->data;
}

static inline op_type interp_array_type(const interp_array *a)
{
    return (op_type){.dtype = a->dtype, .rank = a->rank, .shape = a->shape};
}

static inline tsr_view interp_array_view(const interp_array *a)
{
    return (tsr_view){.data = a->data,
                      .dtype = a->dtype,
                      .rank = a->rank,
                      .shape = a->shape,
                      .strides = a->strides};
}

static inline int64_t interp_array_elements(const interp_array *a)
{
    return a->bytes / tsr_dtype_item_bytes(a->dtype);
}

#endif
