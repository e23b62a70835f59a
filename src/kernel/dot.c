#include "kernel/dot.h"

#include "base/base.h"
#include "kernel/copy.h"
#include "kernel/loops.h"
#include "kernel/packed.h"
#include "kernel/product.h"
#include "kernel/vector.h"
#include "number/half.h"

/* How many halves are converted at a time: a constant, so that compilers use vectors. */
enum { CHUNK = 64, HALF = 2, FLOAT = 4 };

/* Blocks of halves, in f32: at most 12 MiB in all. */
enum { HALF_MOST = 1024 };

/* Between n halves, `stride` bytes apart, and n floats in a row. */
typedef void (*convert_row)(char *halves, int64_t stride, char *floats, int64_t n);

INLINE void load_items(const char *halves, int64_t stride, char *floats, int64_t n,
                       float (*convert)(uint16_t))
{
    for (int64_t i = 0; i < n; i++) {
        uint16_t x;
        memcpy(&x, halves + i * stride, sizeof x);
        const float y = convert(x);
        memcpy(floats + i * (int64_t)sizeof y, &y, sizeof y);
    }
}

INLINE void load_row(const char *halves, int64_t stride, char *floats, int64_t n,
                     float (*convert)(uint16_t))
{
    for (; stride == HALF && n >= CHUNK; n -= CHUNK) {
        load_items(halves, HALF, floats, CHUNK, convert);
        halves += (ptrdiff_t)HALF * CHUNK;
        floats += (ptrdiff_t)FLOAT * CHUNK;
    }
    load_items(halves, stride, floats, n, convert);
}

INLINE void store_items(char *halves, int64_t stride, const char *floats, int64_t n,
                        uint16_t (*convert)(float))
{
    for (int64_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, floats + i * (int64_t)sizeof x, sizeof x);
        const uint16_t y = convert(x);
        memcpy(halves + i * stride, &y, sizeof y);
    }
}

INLINE void store_row(char *halves, int64_t stride, const char *floats, int64_t n,
                      uint16_t (*convert)(float))
{
    for (; stride == HALF && n >= CHUNK; n -= CHUNK) {
        store_items(halves, HALF, floats, CHUNK, convert);
        halves += (ptrdiff_t)HALF * CHUNK;
        floats += (ptrdiff_t)FLOAT * CHUNK;
    }
    store_items(halves, stride, floats, n, convert);
}

/* The two forms of a conversion of rows. */
#define DEFINE_CONVERSION(name, row, convert)                                                      \
    static void name(char *halves, int64_t stride, char *floats, int64_t n)                        \
    {                                                                                              \
        row(halves, stride, floats, n, convert);                                                   \
    }                                                                                              \
    AVX2 static void name##_avx2(char *halves, int64_t stride, char *floats, int64_t n)            \
    {                                                                                              \
        row(halves, stride, floats, n, convert);                                                   \
    }
DEFINE_CONVERSION(load_f16, load_row, float_of_f16)
DEFINE_CONVERSION(load_bf16, load_row, float_of_bf16)
DEFINE_CONVERSION(store_f16, store_row, f16_of_float)
DEFINE_CONVERSION(store_bf16, store_row, bf16_of_float)

typedef enum way { NO_WAY, BY_BLAS, BY_HALVES, BY_INTEGERS } way;

/* How a type is multiplied. */
typedef struct dot_type {
    way way;
    size_t parts;        /* numbers in an item, each aligned */
    convert_row load[2]; /* portable, AVX2 */
    convert_row store[2];
} dot_type;

static const dot_type types[] = {
    [TSR_I1] = {.way = BY_INTEGERS},
    [TSR_I8] = {.way = BY_INTEGERS},
    [TSR_I16] = {.way = BY_INTEGERS},
    [TSR_I32] = {.way = BY_INTEGERS},
    [TSR_I64] = {.way = BY_INTEGERS},
    [TSR_U8] = {.way = BY_INTEGERS},
    [TSR_U16] = {.way = BY_INTEGERS},
    [TSR_U32] = {.way = BY_INTEGERS},
    [TSR_U64] = {.way = BY_INTEGERS},
    [TSR_F16] = {BY_HALVES, 1, {load_f16, load_f16_avx2}, {store_f16, store_f16_avx2}},
    [TSR_BF16] = {BY_HALVES, 1, {load_bf16, load_bf16_avx2}, {store_bf16, store_bf16_avx2}},
    [TSR_F32] = {.way = BY_BLAS, .parts = 1},
    [TSR_F64] = {.way = BY_BLAS, .parts = 1},
    [TSR_C64] = {.way = BY_BLAS, .parts = 2},
    [TSR_C128] = {.way = BY_BLAS, .parts = 2},
};

bool dot_supports(tsr_dtype dtype)
{
    return (size_t)dtype < sizeof types / sizeof types[0] && types[dtype].way != NO_WAY;
}

/*
 * One of the three arrays, as a matrix for each place in the batch. An array whose dimensions do
 * not join is packed as a whole, and a matrix that cannot be multiplied in place by blocks.
 */
typedef struct operand {
    const tsr_view *view;
    size_t num_batch;
    int64_t rows;
    int64_t cols;
    matrix now; /* the matrix of this place in the batch */
    bool by_whole;
    bool by_blocks;
    bool block_by_columns;
    char *whole;        /* where it is packed */
    const char *wholes; /* which matrix is packed */
    char *block;
    matrix blocks; /* which block is packed */
    int64_t block_rows;
    int64_t block_cols;
} operand;

typedef struct plan {
    const dot_type *type;
    tsr_dtype multiplied; /* the type of blocks */
    int64_t item;
    int64_t block_item;
    int64_t most_k;
    int64_t most;
    operand dst;
    operand a;
    operand b;
    size_t scratch;
} plan;

/* Dimensions from..to as one; false when their strides do not allow it. */
static bool join(const tsr_view *v, size_t from, size_t to, int64_t *size, int64_t *stride)
{
    bool joins = true;
    *size = 1;
    *stride = 0;
    for (size_t d = to; d-- > from;) {
        if (v->shape[d] == 1) {
            continue;
        }
        if (*size == 1) {
            *stride = v->strides[d];
        } else {
            joins = joins && v->strides[d] == *stride * *size;
        }
        *size *= v->shape[d];
    }
    return joins;
}

/* Whether every matrix of the batch starts where a number may. */
static bool is_aligned(const tsr_view *v, size_t num_batch, int64_t number)
{
    bool aligned = (uintptr_t)v->data % (uintptr_t)number == 0;
    for (size_t d = 0; d < num_batch; d++) {
        aligned = aligned && (v->shape[d] == 1 || v->strides[d] % number == 0);
    }
    return aligned;
}

static bool can_multiply_in_place(const plan *p, const operand *o)
{
    switch (p->type->way) {
    case BY_BLAS:
        return can_blas_take(&o->now, o->rows, o->cols, p->item) &&
               (o->by_whole ||
                is_aligned(o->view, o->num_batch, p->item / (int64_t)p->type->parts));
    case BY_INTEGERS:
        return true;
    default:
        return false;
    }
}

static void plan_operand(const plan *p, operand *o, const tsr_view *view, size_t num_batch,
                         size_t num_rows)
{
    *o = (operand){.view = view, .num_batch = num_batch};
    const size_t middle = num_batch + num_rows;
    const bool rows_join = join(view, num_batch, middle, &o->rows, &o->now.row_stride);
    const bool cols_join = join(view, middle, view->rank, &o->cols, &o->now.col_stride);
    o->by_whole = !rows_join || !cols_join;
    if (o->by_whole) {
        o->now.row_stride = o->cols * p->item;
        o->now.col_stride = p->item;
    }
    o->by_blocks = !can_multiply_in_place(p, o);
    o->block_by_columns =
        o->cols > 1 && stride_magnitude(o->now.row_stride) < stride_magnitude(o->now.col_stride);
}

enum { ALIGNMENT = 64 };

/* Gives an operand its part of the scratch; `scratch` is NULL where only the sum is wanted. */
static void allot(plan *p, operand *o, char *scratch, int64_t most_rows, int64_t most_cols)
{
    const int64_t whole = o->by_whole ? o->rows * o->cols * p->item : 0;
    const int64_t block =
        o->by_blocks ? min_i64(o->rows, most_rows) * min_i64(o->cols, most_cols) * p->block_item
                     : 0;
    const size_t start = p->scratch;
    const size_t middle = start + ((size_t)whole + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    p->scratch = middle + ((size_t)block + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (scratch != NULL) {
        o->whole = scratch + start;
        o->block = scratch + middle;
    }
}

static plan plan_of(const dot_job *job, char *scratch)
{
    const tsr_dtype dtype = job->dst->dtype;
    const way w = types[dtype].way;
    plan p = {.type = &types[dtype], .multiplied = w == BY_HALVES ? TSR_F32 : dtype};
    p.item = tsr_dtype_item_bytes(dtype);
    p.block_item = tsr_dtype_item_bytes(p.multiplied);
    p.most = w == BY_HALVES ? HALF_MOST : BLAS_MOST;
    p.most_k = w == BY_INTEGERS ? INTEGER_MAX_K : p.most;
    const size_t num_m = job->a->rank - job->num_batch - job->num_contracting;
    plan_operand(&p, &p.dst, job->dst, job->num_batch, num_m);
    plan_operand(&p, &p.a, job->a, job->num_batch, num_m);
    plan_operand(&p, &p.b, job->b, job->num_batch, job->num_contracting);
    allot(&p, &p.dst, scratch, p.most, p.most);
    allot(&p, &p.a, scratch, p.most, p.most_k);
    allot(&p, &p.b, scratch, p.most_k, p.most);
    return p;
}

static bool is_empty(const tsr_view *v)
{
    bool empty = false;
    for (size_t d = 0; d < v->rank; d++) {
        empty = empty || v->shape[d] == 0;
    }
    return empty;
}

size_t kernel_dot_scratch(const dot_job *job)
{
    return is_empty(job->dst) || is_empty(job->a) ? 0 : plan_of(job, NULL).scratch;
}

/* Copies a matrix whose dimensions do not join to where it is packed, or from there. */
static void copy_whole(const plan *p, const operand *o, char *at, bool back)
{
    const size_t rank = o->view->rank - o->num_batch;
    const int64_t *shape = o->view->shape + o->num_batch;
    const int64_t *strides = o->view->strides + o->num_batch;
    int64_t packed[KERNEL_MAX_RANK];
    (void)packed_strides(shape, rank, (size_t)p->item, packed);
    if (back) {
        kernel_copy(at, strides, o->whole, packed, shape, rank, (size_t)p->item, false);
    } else {
        kernel_copy(o->whole, packed, at, strides, shape, rank, (size_t)p->item, false);
    }
}

/* Moves a source to a place in the batch, unless it is at that place. */
static void go_to(const plan *p, operand *o, char *at)
{
    if (!o->by_whole) {
        o->now.data = at;
    } else if (o->wholes != at) {
        copy_whole(p, o, at, false);
        o->wholes = at;
        o->now.data = o->whole;
        o->blocks.data = NULL;
    }
}

/* The strides of a block that is packed, of some size. */
static matrix packed_block(const plan *p, const operand *o, int64_t rows, int64_t cols)
{
    const int64_t item = p->block_item;
    return o->block_by_columns ? (matrix){o->block, item, rows * item}
                               : (matrix){o->block, cols * item, item};
}

/* Copies a block to where it is packed, or from there. */
static void copy_block(const plan *p, const operand *o, const matrix *at, int64_t rows,
                       int64_t cols, bool back)
{
    const matrix block = packed_block(p, o, rows, cols);
    const int64_t shape[] = {rows, cols};
    const int64_t strides[] = {at->row_stride, at->col_stride};
    const int64_t packed[] = {block.row_stride, block.col_stride};
    if (p->type->way == BY_HALVES) {
        const int outer = o->block_by_columns ? 1 : 0;
        const convert_row row =
            (back ? p->type->store : p->type->load)[(vector_best() >= VECTOR_AVX2) ? 1 : 0];
        for (int64_t i = 0; i < shape[outer]; i++) {
            row(at->data + i * strides[outer], strides[1 - outer], block.data + i * packed[outer],
                shape[1 - outer]);
        }
    } else if (back) {
        kernel_copy(at->data, strides, block.data, packed, shape, 2, (size_t)p->item, false);
    } else {
        kernel_copy(block.data, packed, at->data, strides, shape, 2, (size_t)p->item, false);
    }
}

static matrix part_of(const operand *o, int64_t row, int64_t col)
{
    matrix part = o->now;
    part.data += row * part.row_stride + col * part.col_stride;
    return part;
}

/* A block of a source as it is multiplied: in place, or packed, unless it is packed already. */
static matrix block_of(const plan *p, operand *o, int64_t row, int64_t col, int64_t rows,
                       int64_t cols)
{
    const matrix part = part_of(o, row, col);
    if (!o->by_blocks) {
        return part;
    }
    if (o->blocks.data != part.data || o->block_rows != rows || o->block_cols != cols) {
        copy_block(p, o, &part, rows, cols, false);
        o->blocks = part;
        o->block_rows = rows;
        o->block_cols = cols;
    }
    return packed_block(p, o, rows, cols);
}

static void multiply(const plan *p, const product *pr)
{
    if (p->type->way == BY_INTEGERS) {
        integer_multiply(p->multiplied, pr);
    } else {
        blas_multiply(p->multiplied, pr);
    }
}

/* One block of dst, over all of k. */
static void multiply_block(plan *p, int64_t row, int64_t col, int64_t m, int64_t n)
{
    const int64_t total = p->a.cols;
    const matrix part = part_of(&p->dst, row, col);
    product pr = {.m = m, .n = n};
    pr.dst = p->dst.by_blocks ? packed_block(p, &p->dst, m, n) : part;
    for (int64_t k = 0; k < total; k += p->most_k) {
        pr.k = min_i64(p->most_k, total - k);
        pr.a = block_of(p, &p->a, row, k, m, pr.k);
        pr.b = block_of(p, &p->b, k, col, pr.k, n);
        pr.accumulate = k > 0;
        multiply(p, &pr);
    }
    if (p->dst.by_blocks) {
        copy_block(p, &p->dst, &part, m, n, true);
    }
}

/* The product at one place in the batch. */
static void multiply_matrices(plan *p, char *dst, char *a, char *b)
{
    go_to(p, &p->a, a);
    go_to(p, &p->b, b);
    p->dst.now.data = p->dst.by_whole ? p->dst.whole : dst;
    for (int64_t col = 0; col < p->dst.cols; col += p->most) {
        for (int64_t row = 0; row < p->dst.rows; row += p->most) {
            multiply_block(p, row, col, min_i64(p->most, p->dst.rows - row),
                           min_i64(p->most, p->dst.cols - col));
        }
    }
    if (p->dst.by_whole) {
        copy_whole(p, &p->dst, dst, true);
    }
}

void kernel_dot(const dot_job *job, void *scratch)
{
    if (is_empty(job->dst)) {
        return;
    }
    if (is_empty(job->a)) {
        kernel_clear(job->dst->data, job->dst->strides, job->dst->shape, job->dst->rank,
                     (size_t)tsr_dtype_item_bytes(job->dst->dtype));
        return;
    }
    plan p = plan_of(job, scratch);
    const int64_t *strides[] = {job->dst->strides, job->a->strides, job->b->strides};
    loops nest;
    (void)loops_init(&nest, job->dst->shape, job->num_batch, strides, 3, 0);
    do {
        const loop *inner = &nest.loops[nest.count - 1];
        for (int64_t i = 0; i < inner->size; i++) {
            multiply_matrices(&p, (char *)job->dst->data + nest.offsets[0] + i * inner->strides[0],
                              (char *)job->a->data + nest.offsets[1] + i * inner->strides[1],
                              (char *)job->b->data + nest.offsets[2] + i * inner->strides[2]);
        }
    } while (loops_next(&nest));
}
