#include "kernel/reduce.h"

#include <stdlib.h>

#include "base/base.h"
#include "kernel/copy.h"
#include "kernel/loops.h"
#include "kernel/packed.h"
#include "kernel/vector.h"

/*
 * Element i of a reduction goes to lane i modulo LANES; as many are enough for the additions of one
 * not to wait for each other. Columns are reduced STRIP at a time, all lanes of which are kept.
 */
enum { LANES = 32, STRIP = 256, CHUNK = 64, SMALL_CHUNK = 8, BLOCK = 512, MAX_WIDE = 8 };

/* The lanes of a strip, in the type that a reduction is computed in: those of lane 0 first. */
typedef union lanes {
    _Alignas(64) char bytes[LANES * STRIP * MAX_WIDE];
    float f32[LANES * STRIP];
    double f64[LANES * STRIP];
    uint8_t u8[LANES * STRIP];
    uint16_t u16[LANES * STRIP];
    uint32_t u32[LANES * STRIP];
    uint64_t u64[LANES * STRIP];
} lanes;

/* Folds n contiguous elements, a multiple of LANES, into lanes that are side by side. */
typedef void (*reduce_rows)(lanes *l, const char *src, int64_t n);

/*
 * Folds `rows` rows of `width` contiguous elements, `pitch` bytes apart, into the lanes of a strip,
 * from lane `lane` on.
 */
typedef void (*reduce_columns)(lanes *l, const char *src, int64_t pitch, int64_t rows, int64_t lane,
                               int64_t width);

/* Running folds of `width` lines of n elements each; steps between elements and between lines. */
typedef struct scan_steps {
    int64_t dst_element;
    int64_t src_element;
    int64_t dst_line;
    int64_t src_line;
} scan_steps;

/* One reduction of one type. */
typedef struct reduction {
    reduce_rows rows[2]; /* portable, AVX2 */
    reduce_columns columns[2];
    void (*pad)(char *items, int64_t n); /* n items that change nothing */
    void (*start)(lanes *l, int64_t n);  /* the same for n places of lanes */
    /* Folds the first `used` lanes, `pitch` places apart, of `width` strips; stores the results. */
    void (*finish)(char *dst, int64_t stride, lanes *l, int64_t pitch, int64_t width, int64_t used,
                   double scale);
    void (*scan)(char *dst, const char *src, const scan_steps *s, int64_t n, int64_t width,
                 lanes *l);
} reduction;

/* The functions of a reduction, of the inline ones of reduce_type.inc. */
#define DEFINE_REDUCTION(name, combine, identity)                                                  \
    static void JOIN(name, _rows)(lanes * l, const char *src, int64_t n)                           \
    {                                                                                              \
        OF_TYPE(rows)(l, src, n, combine);                                                         \
    }                                                                                              \
    AVX2 static void JOIN(name, _rows_avx2)(lanes * l, const char *src, int64_t n)                 \
    {                                                                                              \
        OF_TYPE(rows)(l, src, n, combine);                                                         \
    }                                                                                              \
    static void JOIN(name, _columns)(lanes * l, const char *src, int64_t pitch, int64_t rows,      \
                                     int64_t lane, int64_t width)                                  \
    {                                                                                              \
        OF_TYPE(columns)(l, src, pitch, rows, lane, width, combine);                               \
    }                                                                                              \
    AVX2 static void JOIN(name, _columns_avx2)(lanes * l, const char *src, int64_t pitch,          \
                                               int64_t rows, int64_t lane, int64_t width)          \
    {                                                                                              \
        OF_TYPE(columns)(l, src, pitch, rows, lane, width, combine);                               \
    }                                                                                              \
    static void JOIN(name, _pad)(char *items, int64_t n)                                           \
    {                                                                                              \
        OF_TYPE(pad)(items, n, identity);                                                          \
    }                                                                                              \
    static void JOIN(name, _start)(lanes * l, int64_t n)                                           \
    {                                                                                              \
        OF_TYPE(start)(l, n, identity);                                                            \
    }                                                                                              \
    static void JOIN(name, _finish)(char *dst, int64_t stride, lanes *l, int64_t pitch,            \
                                    int64_t width, int64_t used, double scale)                     \
    {                                                                                              \
        OF_TYPE(finish)(dst, stride, l, pitch, width, used, scale, combine);                       \
    }                                                                                              \
    static void JOIN(name, _scan)(char *dst, const char *src, const scan_steps *s, int64_t n,      \
                                  int64_t width, lanes *l)                                         \
    {                                                                                              \
        OF_TYPE(scan)(dst, src, s, n, width, l, combine);                                          \
    }

/* In a template: an operation of FOLD_OPS, and its entry in the table, if this type has it. */
#define DEFINE_OP(NAME, op, combine, identity, ending, floats, integers, truth, complex)           \
    JOIN3(DEFINE_, ending, JOIN(_IF_, COLUMN(floats, integers, truth)))(op, combine, identity)
#define DEFINE_KEEPS_IF_YES(op, combine, identity)                                                 \
    DEFINE_REDUCTION(OF_TYPE(op), FORM(combine), identity)
#define DEFINE_CLEANS_IF_YES(op, combine, identity)                                                \
    DEFINE_REDUCTION(OF_TYPE(op), FORM(combine), identity)
#define DEFINE_KEEPS_IF_NO(op, combine, identity)
#define DEFINE_DIVIDES_IF_YES(op, combine, identity)
#define DEFINE_DIVIDES_IF_NO(op, combine, identity)

#define REDUCTION_ENTRY(NAME, op, combine, identity, ending, floats, integers, truth, complex)     \
    JOIN3(ENTRY_, ending, JOIN(_IF_, COLUMN(floats, integers, truth)))(FOLD_##NAME, OF_TYPE(op))
#define ENTRY_KEEPS_IF_YES(index, name)                                                            \
    [index] = {{JOIN(name, _rows), JOIN(name, _rows_avx2)},                                        \
               {JOIN(name, _columns), JOIN(name, _columns_avx2)},                                  \
               JOIN(name, _pad),                                                                   \
               JOIN(name, _start),                                                                 \
               JOIN(name, _finish),                                                                \
               JOIN(name, _scan)},
#define ENTRY_CLEANS_IF_YES ENTRY_KEEPS_IF_YES
#define ENTRY_KEEPS_IF_NO(index, name)
#define ENTRY_DIVIDES_IF_YES(index, name)
#define ENTRY_DIVIDES_IF_NO(index, name)

#define ZERO 0
#define ONE 1
#define TEMPLATE "kernel/reduce_type.inc"
#include "kernel/element_types.inc"

#define ROW(NAME, type) [TSR_##NAME] = type##_reductions,
static const reduction *const reductions[NUM_ELEMENT_TYPES] = {ELEMENT_TYPES(ROW)};

bool reduce_supports(fold_op op, tsr_dtype dtype)
{
    return reductions[dtype] != NULL && reductions[dtype][op].finish != NULL;
}

/* The state of one reduction. */
typedef struct reduce_job {
    const reduction *by;
    reduce_rows rows;
    reduce_columns columns;
    int64_t item;
    double scale;
    char *dst;
    const char *src;
    int64_t count; /* how many elements go into a result */
    loops along;   /* the reduced dimensions of src, in order */
    loops kept;    /* the others of src, then of dst; by their strides in src */
} reduce_job;

/* Elements that are collected for the lanes where they are not contiguous. */
typedef struct reduce_block {
    _Alignas(64) char bytes[BLOCK * MAX_WIDE];
    int64_t filled;
} reduce_block;

/* Folds what the block holds; at the end it is padded with what changes nothing. */
static void block_flush(const reduce_job *job, reduce_block *b, lanes *l)
{
    const int64_t n = ceil_div(b->filled, LANES) * LANES;
    job->by->pad(b->bytes + b->filled * job->item, n - b->filled);
    job->rows(l, b->bytes, n);
    b->filled = 0;
}

static void block_add(const reduce_job *job, reduce_block *b, lanes *l, const char *src,
                      int64_t stride, int64_t n)
{
    while (n > 0) {
        const int64_t part = min_i64(n, BLOCK - b->filled);
        char *to = b->bytes + b->filled * job->item;
        kernel_copy(to, &job->item, src, &stride, &part, 1, (size_t)job->item, false);
        b->filled += part;
        src += part * stride;
        n -= part;
        if (b->filled == BLOCK) {
            block_flush(job, b, l);
        }
    }
}

/* One result, from elements wherever they are; whole groups of lanes in one row are not copied. */
static void reduce_one(reduce_job *job, const char *src, char *dst, lanes *l, reduce_block *b)
{
    loops *along = &job->along;
    const loop *inner = &along->loops[along->count - 1];
    job->by->start(l, LANES);
    b->filled = 0;
    do {
        const char *row = src + along->offsets[0];
        const bool direct = inner->strides[0] == job->item && b->filled == 0;
        const int64_t whole = direct ? inner->size - inner->size % LANES : 0;
        job->rows(l, row, whole);
        block_add(job, b, l, row + whole * job->item, inner->strides[0], inner->size - whole);
    } while (loops_next(along));
    block_flush(job, b, l);
    job->by->finish(dst, 0, l, 1, 1, min_i64(job->count, LANES), job->scale);
}

static void reduce_each(reduce_job *job)
{
    lanes l;
    reduce_block b;
    const loop *inner = &job->kept.loops[job->kept.count - 1];
    do {
        for (int64_t i = 0; i < inner->size; i++) {
            reduce_one(job, job->src + job->kept.offsets[0] + i * inner->strides[0],
                       job->dst + job->kept.offsets[1] + i * inner->strides[1], &l, &b);
        }
    } while (loops_next(&job->kept));
}

/* Rows of a strip whose elements are not contiguous, one after another. */
static void gather_columns(const reduce_job *job, lanes *l, const char *src, int64_t stride,
                           const loop *rows, int64_t lane, int64_t width)
{
    char row[STRIP * MAX_WIDE];
    for (int64_t r = 0; r < rows->size; r++) {
        kernel_copy(row, &job->item, src + r * rows->strides[0], &stride, &width, 1,
                    (size_t)job->item, false);
        job->columns(l, row, 0, 1, (lane + r) % LANES, width);
    }
}

/* `width` results side by side. */
static void reduce_strip(reduce_job *job, const char *src, char *dst, int64_t width, lanes *l)
{
    const loop *kept = &job->kept.loops[job->kept.count - 1];
    const loop *rows = &job->along.loops[job->along.count - 1];
    const int64_t used = min_i64(job->count, LANES);
    int64_t done = 0;
    job->by->start(l, used * STRIP);
    do {
        const char *from = src + job->along.offsets[0];
        if (kept->strides[0] == job->item) {
            job->columns(l, from, rows->strides[0], rows->size, done % LANES, width);
        } else {
            gather_columns(job, l, from, kept->strides[0], rows, done % LANES, width);
        }
        done += rows->size;
    } while (loops_next(&job->along));
    job->by->finish(dst, kept->strides[1], l, STRIP, width, used, job->scale);
}

static void reduce_strips(reduce_job *job)
{
    lanes l;
    const loop *inner = &job->kept.loops[job->kept.count - 1];
    do {
        for (int64_t at = 0; at < inner->size; at += STRIP) {
            reduce_strip(job, job->src + job->kept.offsets[0] + at * inner->strides[0],
                         job->dst + job->kept.offsets[1] + at * inner->strides[1],
                         min_i64(inner->size - at, STRIP), &l);
        }
    } while (loops_next(&job->kept));
}

/* Nothing is folded: every result is the identity. */
static void reduce_nothing(reduce_job *job)
{
    lanes l;
    const loop *inner = &job->kept.loops[job->kept.count - 1];
    do {
        for (int64_t i = 0; i < inner->size; i++) {
            job->by->start(&l, 1);
            job->by->finish(job->dst + job->kept.offsets[1] + i * inner->strides[1], 0, &l, 1, 1, 1,
                            job->scale);
        }
    } while (loops_next(&job->kept));
}

/* Whether results are closer to each other in src than the elements of one of them. */
static bool is_by_strips(const reduce_job *job)
{
    const loop *kept = &job->kept.loops[job->kept.count - 1];
    const loop *along = &job->along.loops[job->along.count - 1];
    return kept->size >= SMALL_CHUNK && along->size > 1 &&
           llabs(kept->strides[0]) < llabs(along->strides[0]);
}

/* The loops over both kinds of dimensions; false when there are no results. */
static bool split_loops(reduce_job *job, const tsr_view *dst, const tsr_view *src,
                        const bool *reduced)
{
    int64_t shape[KERNEL_MAX_RANK];
    int64_t strides[KERNEL_MAX_RANK];
    int64_t kept_strides[KERNEL_MAX_RANK];
    size_t num_reduced = 0;
    size_t num_kept = 0;
    for (size_t d = 0; d < src->rank; d++) {
        if (reduced[d]) {
            shape[num_reduced] = src->shape[d];
            strides[num_reduced++] = src->strides[d];
        } else {
            kept_strides[num_kept++] = src->strides[d];
        }
    }
    const int64_t *along[] = {strides};
    const int64_t *kept[] = {kept_strides, dst->strides};
    job->count = packed_bytes(shape, num_reduced, 1);
    (void)loops_init(&job->along, shape, num_reduced, along, 1, job->item);
    return loops_init_sorted(&job->kept, dst->shape, num_kept, kept, 2, job->item);
}

void kernel_reduce(fold_op op, const tsr_view *dst, const tsr_view *src, const bool *reduced,
                   double scale)
{
    const reduction *by = &reductions[src->dtype][op];
    const size_t form = vector_best() >= VECTOR_AVX2 ? 1 : 0;
    reduce_job job = {.by = by,
                      .rows = by->rows[form],
                      .columns = by->columns[form],
                      .item = tsr_dtype_item_bytes(src->dtype),
                      .scale = scale,
                      .dst = dst->data,
                      .src = src->data};
    if (!split_loops(&job, dst, src, reduced)) {
        return;
    }
    if (job.count == 0) {
        reduce_nothing(&job);
    } else if (is_by_strips(&job)) {
        reduce_strips(&job);
    } else {
        reduce_each(&job);
    }
}

/* Lines along `dim`, STRIP of them side by side at a time. */
void kernel_cumulative(fold_op op, const tsr_view *dst, const tsr_view *src, size_t dim)
{
    int64_t shape[KERNEL_MAX_RANK];
    for (size_t d = 0; d < dst->rank; d++) {
        shape[d] = d == dim ? min_i64(dst->shape[d], 1) : dst->shape[d];
    }
    const int64_t *strides[] = {dst->strides, src->strides};
    loops nest;
    lanes l;
    if (!loops_init_sorted(&nest, shape, dst->rank, strides, 2, 0)) {
        return;
    }
    const loop *inner = &nest.loops[nest.count - 1];
    const scan_steps steps = {dst->strides[dim], src->strides[dim], inner->strides[0],
                              inner->strides[1]};
    do {
        for (int64_t at = 0; at < inner->size; at += STRIP) {
            reductions[src->dtype][op].scan(
                (char *)dst->data + nest.offsets[0] + at * steps.dst_line,
                (const char *)src->data + nest.offsets[1] + at * steps.src_line, &steps,
                dst->shape[dim], min_i64(inner->size - at, STRIP), &l);
        }
    } while (loops_next(&nest));
}
