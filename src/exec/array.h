/*
 * Arrays that an interpreter computes: counted references to packed elements, taken from a pool.
 *
 * A pool counts the bytes of elements that are alive and the most that ever were. Small blocks are
 * kept for the next array of their size class, large ones go back to the allocator at once.
 */
#ifndef EXEC_ARRAY_H
#define EXEC_ARRAY_H

#include "ops/op.h"

enum { EXEC_NUM_CLASSES = 11 };

struct exec_quantization;

typedef enum exec_kind { EXEC_TENSOR, EXEC_TOKEN, EXEC_TUPLE } exec_kind;

/* A type of values, made once: of a tensor with its packed strides. */
typedef struct exec_type {
    exec_kind kind;
    op_type tensor;         /* of a tensor */
    const int64_t *strides; /* packed, in bytes; NULL where an extent is unknown */
    int64_t bytes;          /* of all elements; -1 where an extent is unknown */
    uint32_t type;          /* in the program */
    /* What the elements stand for, which are integers then; NULL: themselves. */
    const struct exec_quantization *quantization;
} exec_type;

typedef struct exec_array exec_array;
struct exec_array {
    uint32_t refs;
    exec_kind kind;
    tsr_dtype dtype;
    size_t rank;
    const int64_t *shape; /* the type's, or after this record */
    const int64_t *strides;
    int64_t bytes;    /* of the elements */
    int64_t counted;  /* of those, what the pool counts */
    char *data;       /* elements, or the members of a tuple */
    size_t room;      /* of the whole block */
    exec_array *base; /* whose elements these are; NULL: its own */
    exec_array *next; /* in a free list */
};

typedef struct exec_pool {
    tsr_context *ctx;
    exec_array *free[EXEC_NUM_CLASSES];
    int64_t live;  /* bytes of elements */
    int64_t peak;  /* the most of them at one time */
    int64_t most;  /* more are refused; 0: no limit */
    size_t arrays; /* alive */
} exec_pool;

exec_pool exec_pool_new(tsr_context *ctx, int64_t most);
/* Counts bytes that are alive elsewhere; an error when the pool may not have so many. */
tsr_status exec_pool_count(exec_pool *pool, int64_t bytes);
/* Frees what the pool keeps. All arrays are dropped before. */
void exec_pool_clear(exec_pool *pool);

/* A new array of a type whose extents are known, not filled; one reference. */
tsr_status exec_array_new(exec_pool *pool, const exec_type *type, exec_array **out);
/* The same of extents that are known only now, which are copied. */
tsr_status exec_array_shaped(exec_pool *pool, tsr_dtype dtype, size_t rank, const int64_t *shape,
                             exec_array **out);
/* An array to be read, over elements that outlive it: in no pool, not to be kept or dropped. */
exec_array exec_array_over(const exec_type *type, const void *data);
/* The same in a pool, counted. */
tsr_status exec_array_borrow(exec_pool *pool, const exec_type *type, const void *data,
                             exec_array **out);
/* The elements of an array, which is kept, under another type of as many bytes. */
tsr_status exec_array_recast(exec_pool *pool, exec_array *base, tsr_dtype dtype, size_t rank,
                             const int64_t *shape, exec_array **out);
/* A token, and a tuple, which takes over one reference of each member. */
tsr_status exec_array_token(exec_pool *pool, exec_array **out);
tsr_status exec_array_tuple(exec_pool *pool, exec_array *const *members, size_t count,
                            exec_array **out);

static inline exec_array *exec_array_keep(exec_array *array)
{
    array->refs++;
    return array;
}
/* Drops a reference; NULL is fine. */
void exec_array_drop(exec_pool *pool, exec_array *array);

static inline exec_array **exec_tuple_members(const exec_array *tuple)
{
    return (exec_array **)(void *)tuple->data;
}

static inline op_type exec_array_type(const exec_array *a)
{
    return (op_type){.dtype = a->dtype, .rank = a->rank, .shape = a->shape};
}

static inline tsr_view exec_array_view(const exec_array *a)
{
    return (tsr_view){.data = a->data,
                      .dtype = a->dtype,
                      .rank = a->rank,
                      .shape = a->shape,
                      .strides = a->strides};
}

static inline int64_t exec_array_elements(const exec_array *a)
{
    return a->bytes / tsr_dtype_item_bytes(a->dtype);
}

/* Packed strides; the bytes of all elements, or -1 when they exceed int64. */
int64_t exec_packed(tsr_dtype dtype, size_t rank, const int64_t *shape, int64_t *strides);

#endif
