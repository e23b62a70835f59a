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
enum { LANES = 32, STRIP = 256, CHUNK = 64, SMALL_CHUNK = 8, BLOCK = 512, MOST_WIDE = 8 };

/* The lanes of a strip, in the type that a reduction is computed in: those of lane 0 first. */
typedef union lanes {
    _Alignas(64) char bytes[LANES * STRIP * MOST_WIDE];
    float f32[LANES * STRIP];
    double f64[LANES * STRIP];
    uint8_t u8[LANES * STRIP];
    uint16_t u16[LANES * STRIP];
    uint32_t u32[LANES * STRIP];
    uint64_t u64[LANES * STRIP];
} lanes;

/* Folds n contiguous elements, a multiple of LANES, into lanes that lie side by side. */
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

#define SAME(x) (x)
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define PROD_UNSIGNED(a, b) (1U * (a) * (b))
#define MAX(a, b) ((((b) > (a)) | ((b) != (b))) ? (b) : (a))
#define MIN(a, b) ((((b) < (a)) | ((b) != (b))) ? (b) : (a))
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESSER(a, b) ((b) < (a) ? (b) : (a))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define KEEP(x) (x)

/* Only floats are scaled. */
#define SCALE(x, scale) ((scale) == 1.0 ? (x) : (x) * (scale))
#define NO_SCALE(x, scale) ((void)(scale), (x))

/* The loops that are vectorised: elements into places, a constant number at a time. */
#define DEFINE_LOOPS(name, item, wide, member, load, combine)                                      \
    typedef wide name##_wide;                                                                      \
    INLINE void name##_chunk(name##_wide *to, const char *src, int64_t n)                          \
    {                                                                                              \
        wide y[CHUNK];                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            item x;                                                                                \
            memcpy(&x, src + i * (int64_t)sizeof x, sizeof x);                                     \
            y[i] = (wide)load(x);                                                                  \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            to[i] = (wide)combine(to[i], y[i]);                                                    \
        }                                                                                          \
    }                                                                                              \
    INLINE void name##_rows_any(lanes *l, const char *src, int64_t n)                              \
    {                                                                                              \
        wide sums[LANES];                                                                          \
        memcpy(sums, l->member, sizeof sums);                                                      \
        for (int64_t at = 0; at < n; at += LANES) {                                                \
            name##_chunk(sums, src + at * (int64_t)sizeof(item), LANES);                           \
        }                                                                                          \
        memcpy(l->member, sums, sizeof sums);                                                      \
    }                                                                                              \
    INLINE void name##_columns_any(lanes *l, const char *src, int64_t pitch, int64_t rows,         \
                                   int64_t lane, int64_t width)                                    \
    {                                                                                              \
        const int64_t size = sizeof(item);                                                         \
        for (int64_t r = 0; r < rows; r++, src += pitch) {                                         \
            name##_wide *to = (name##_wide *)l->member + (lane + r) % LANES * STRIP;               \
            int64_t at = 0;                                                                        \
            for (; at + CHUNK <= width; at += CHUNK) {                                             \
                name##_chunk(to + at, src + at * size, CHUNK);                                     \
            }                                                                                      \
            for (; at + SMALL_CHUNK <= width; at += SMALL_CHUNK) {                                 \
                name##_chunk(to + at, src + at * size, SMALL_CHUNK);                               \
            }                                                                                      \
            for (; at < width; at++) {                                                             \
                name##_chunk(to + at, src + at * size, 1);                                         \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void name##_rows(lanes *l, const char *src, int64_t n)                                  \
    {                                                                                              \
        name##_rows_any(l, src, n);                                                                \
    }                                                                                              \
    AVX2 static void name##_rows_avx2(lanes *l, const char *src, int64_t n)                        \
    {                                                                                              \
        name##_rows_any(l, src, n);                                                                \
    }                                                                                              \
    static void name##_columns(lanes *l, const char *src, int64_t pitch, int64_t rows,             \
                               int64_t lane, int64_t width)                                        \
    {                                                                                              \
        name##_columns_any(l, src, pitch, rows, lane, width);                                      \
    }                                                                                              \
    AVX2 static void name##_columns_avx2(lanes *l, const char *src, int64_t pitch, int64_t rows,   \
                                         int64_t lane, int64_t width)                              \
    {                                                                                              \
        name##_columns_any(l, src, pitch, rows, lane, width);                                      \
    }

/* The rest of a reduction. `none` is the identity, as an item and as what is computed in. */
#define DEFINE_REDUCTION(name, item, wide, member, load, store, combine, finish_nan, scaling,      \
                         none_item, none)                                                          \
    DEFINE_LOOPS(name, item, wide, member, load, combine)                                          \
    static void name##_pad(char *items, int64_t n)                                                 \
    {                                                                                              \
        const item x = (item)(none_item);                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            memcpy(items + i * (int64_t)sizeof x, &x, sizeof x);                                   \
        }                                                                                          \
    }                                                                                              \
    static void name##_start(lanes *l, int64_t n)                                                  \
    {                                                                                              \
        name##_wide *to = (name##_wide *)l->member;                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            to[i] = (wide)(none);                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void name##_finish(char *dst, int64_t stride, lanes *l, int64_t pitch, int64_t width,   \
                              int64_t used, double scale)                                          \
    {                                                                                              \
        name##_wide *of = (name##_wide *)l->member;                                                \
        for (int64_t half = LANES / 2; half > 0; half /= 2) {                                      \
            for (int64_t i = 0; i < half && i + half < used; i++) {                                \
                for (int64_t at = 0; at < width; at++) {                                           \
                    name##_wide *a = &of[i * pitch + at];                                          \
                    *a = (wide)combine(*a, of[(i + half) * pitch + at]);                           \
                }                                                                                  \
            }                                                                                      \
            used = used < half ? used : half;                                                      \
        }                                                                                          \
        for (int64_t at = 0; at < width; at++) {                                                   \
            const wide y = (wide)finish_nan(scaling(of[at], (wide)scale));                         \
            const item x = (item)store(y);                                                         \
            memcpy(dst + at * stride, &x, sizeof x);                                               \
        }                                                                                          \
    }                                                                                              \
    static void name##_scan(char *dst, const char *src, const scan_steps *s, int64_t n,            \
                            int64_t width, lanes *l)                                               \
    {                                                                                              \
        name##_wide *sums = (name##_wide *)l->member;                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            for (int64_t at = 0; at < width; at++) {                                               \
                item x;                                                                            \
                memcpy(&x, src + i * s->src_element + at * s->src_line, sizeof x);                 \
                const wide y = (wide)load(x);                                                      \
                const wide sum = i == 0 ? y : (wide)combine(sums[at], y);                          \
                const wide plain = (wide)finish_nan(sum);                                          \
                sums[at] = sum;                                                                    \
                x = (item)store(plain);                                                            \
                memcpy(dst + i * s->dst_element + at * s->dst_line, &x, sizeof x);                 \
            }                                                                                      \
        }                                                                                          \
    }

/* f32 computes the halves, of which the identities are given as bits. */
#define DEFINE_FLOAT(type, item, wide, member, load, store, zero, one, least, most)                \
    DEFINE_REDUCTION(type##_sum, item, wide, member, load, store, SUM, PLAIN_NAN, SCALE, zero, 0)  \
    DEFINE_REDUCTION(type##_prod, item, wide, member, load, store, PROD, PLAIN_NAN, SCALE, one, 1) \
    DEFINE_REDUCTION(type##_max, item, wide, member, load, store, MAX, PLAIN_NAN, SCALE, least,    \
                     -INFINITY)                                                                    \
    DEFINE_REDUCTION(type##_min, item, wide, member, load, store, MIN, PLAIN_NAN, SCALE, most,     \
                     INFINITY)
DEFINE_FLOAT(f32, float, float, f32, SAME, SAME, 0, 1, -INFINITY, INFINITY)
DEFINE_FLOAT(f64, double, double, f64, SAME, SAME, 0, 1, -INFINITY, INFINITY)
DEFINE_FLOAT(f16, uint16_t, float, f32, float_of_f16, f16_of_float, 0, 0x3c00, 0xfc00, 0x7c00)
DEFINE_FLOAT(bf16, uint16_t, float, f32, float_of_bf16, bf16_of_float, 0, 0x3f80, 0xff80, 0x7f80)

#define DEFINE_PLAIN(name, item, member, combine, none)                                            \
    DEFINE_REDUCTION(name, item, item, member, SAME, SAME, combine, KEEP, NO_SCALE, none, none)

/* Sums and bits do not care for the sign. */
#define DEFINE_INTEGER(bits)                                                                       \
    DEFINE_PLAIN(u##bits##_sum, uint##bits##_t, u##bits, SUM, 0)                                   \
    DEFINE_PLAIN(u##bits##_prod, uint##bits##_t, u##bits, PROD_UNSIGNED, 1)                        \
    DEFINE_PLAIN(u##bits##_and, uint##bits##_t, u##bits, AND, UINT##bits##_MAX)                    \
    DEFINE_PLAIN(u##bits##_or, uint##bits##_t, u##bits, OR, 0)                                     \
    DEFINE_PLAIN(u##bits##_max, uint##bits##_t, u##bits, GREATER, 0)                               \
    DEFINE_PLAIN(u##bits##_min, uint##bits##_t, u##bits, LESSER, UINT##bits##_MAX)                 \
    DEFINE_PLAIN(i##bits##_max, int##bits##_t, u##bits, GREATER, INT##bits##_MIN)                  \
    DEFINE_PLAIN(i##bits##_min, int##bits##_t, u##bits, LESSER, INT##bits##_MAX)
DEFINE_INTEGER(8)
DEFINE_INTEGER(16)
DEFINE_INTEGER(32)
DEFINE_INTEGER(64)

/* Truth values are bytes of 0 and 1. */
DEFINE_PLAIN(i1_all, uint8_t, u8, AND, 1)

#define REDUCTION(name)                                                                            \
    {                                                                                              \
        {name##_rows, name##_rows_avx2}, {name##_columns, name##_columns_avx2}, name##_pad,        \
            name##_start, name##_finish, name##_scan                                               \
    }
#define ROW_FLOAT(type)                                                                            \
    {                                                                                              \
        [FOLD_SUM] = REDUCTION(type##_sum), [FOLD_PROD] = REDUCTION(type##_prod),                  \
        [FOLD_MAX] = REDUCTION(type##_max), [FOLD_MIN] = REDUCTION(type##_min),                    \
    }
#define ROW_INTEGER(type, bits)                                                                    \
    {                                                                                              \
        [FOLD_SUM] = REDUCTION(u##bits##_sum), [FOLD_PROD] = REDUCTION(u##bits##_prod),            \
        [FOLD_MAX] = REDUCTION(type##_max), [FOLD_MIN] = REDUCTION(type##_min),                    \
        [FOLD_AND] = REDUCTION(u##bits##_and), [FOLD_OR] = REDUCTION(u##bits##_or),                \
    }
#define ROW_TRUTH                                                                                  \
    {                                                                                              \
        [FOLD_SUM] = REDUCTION(u8_or), [FOLD_MAX] = REDUCTION(u8_or),                              \
        [FOLD_OR] = REDUCTION(u8_or), [FOLD_PROD] = REDUCTION(i1_all),                             \
        [FOLD_MIN] = REDUCTION(i1_all), [FOLD_AND] = REDUCTION(i1_all),                            \
    }

static const reduction reductions[TSR_C128 + 1][FOLD_COUNT] = {
    [TSR_I1] = ROW_TRUTH,
    [TSR_I8] = ROW_INTEGER(i8, 8),
    [TSR_I16] = ROW_INTEGER(i16, 16),
    [TSR_I32] = ROW_INTEGER(i32, 32),
    [TSR_I64] = ROW_INTEGER(i64, 64),
    [TSR_U8] = ROW_INTEGER(u8, 8),
    [TSR_U16] = ROW_INTEGER(u16, 16),
    [TSR_U32] = ROW_INTEGER(u32, 32),
    [TSR_U64] = ROW_INTEGER(u64, 64),
    [TSR_F16] = ROW_FLOAT(f16),
    [TSR_BF16] = ROW_FLOAT(bf16),
    [TSR_F32] = ROW_FLOAT(f32),
    [TSR_F64] = ROW_FLOAT(f64),
};

bool reduce_supports(fold_op op, tsr_dtype dtype)
{
    return reductions[dtype][op].finish != NULL;
}

/* A reduction on its way. */
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

/* Elements on their way to the lanes, where they do not lie in a row. */
typedef struct reduce_block {
    _Alignas(64) char bytes[BLOCK * MOST_WIDE];
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

/* Rows of a strip that do not lie in a run of memory, one after another. */
static void gather_columns(const reduce_job *job, lanes *l, const char *src, int64_t stride,
                           const loop *rows, int64_t lane, int64_t width)
{
    char row[STRIP * MOST_WIDE];
    for (int64_t r = 0; r < rows->size; r++) {
        kernel_copy(row, &job->item, src + r * rows->strides[0], &stride, &width, 1,
                    (size_t)job->item, false);
        job->columns(l, row, 0, 1, (lane + r) % LANES, width);
    }
}

/* As many results side by side. */
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

/* Whether the results lie closer to each other in src than what goes into one of them. */
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

/* Lines along `dim`, as many side by side as a strip has. */
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
