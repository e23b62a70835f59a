#include "kernel/fold.h"

#include "kernel/loops.h"
#include "kernel/vector.h"

/* As many bytes of an array are folded at a time; they stay in the first cache. */
enum { CHUNK = 512 };

/* As many bytes of results wait to be copied to where they belong. */
enum { BLOCK = 2048 };

/*
 * Folds n items. They lie `stride` bytes apart, from `at` bytes behind the start of each source;
 * dst is contiguous.
 */
typedef void (*fold_items)(char *dst, const void *const *src, size_t count, int64_t at,
                           int64_t stride, int64_t n);

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
#define KEEP(x, n) (x)
#define DIVIDE(x, n) ((x) / (n))

#define PLAIN(x, n) PLAIN_NAN(x)
#define PLAIN_QUOTIENT(x, n) PLAIN((x) / (n), n)

/*
 * One fold of one element type: items of `item` are folded as `wide`. Whole chunks of contiguous
 * items have a constant length and stride, which is what it takes for compilers to use vectors at
 * -O2.
 */
#define DEFINE_FOLD(name, item, wide, load, store, combine, finish)                                \
    INLINE void name##_chunk(char *dst, const void *const *src, size_t count, int64_t at,          \
                             int64_t stride, int64_t n)                                            \
    {                                                                                              \
        wide folded[CHUNK / sizeof(item)];                                                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            item x;                                                                                \
            memcpy(&x, (const char *)src[0] + at + i * stride, sizeof x);                          \
            folded[i] = (wide)load(x);                                                             \
        }                                                                                          \
        for (size_t s = 1; s < count; s++) {                                                       \
            for (int64_t i = 0; i < n; i++) {                                                      \
                item x;                                                                            \
                memcpy(&x, (const char *)src[s] + at + i * stride, sizeof x);                      \
                const wide y = (wide)load(x);                                                      \
                folded[i] = (wide)combine(folded[i], y);                                           \
            }                                                                                      \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const wide y = (wide)finish(folded[i], (wide)count);                                   \
            const item x = (item)store(y);                                                         \
            memcpy(dst + i * (int64_t)sizeof x, &x, sizeof x);                                     \
        }                                                                                          \
    }                                                                                              \
    DEFINE_WALK(name, item)

/*
 * A row by its chunks: whole ones of contiguous items with either kind of vectors, the others with
 * the portable ones. The wide vectors come last: compilers clear them before a return, which older
 * instructions need to be fast, but not before a call in the place of a return.
 */
#define DEFINE_WALK(name, item)                                                                    \
    INLINE void name##_whole(char *dst, const void *const *src, size_t count, int64_t at,          \
                             int64_t n)                                                            \
    {                                                                                              \
        const int64_t size = sizeof(item);                                                         \
        const int64_t most = CHUNK / size;                                                         \
        for (; n >= most; n -= most, dst += CHUNK, at += CHUNK) {                                  \
            name##_chunk(dst, src, count, at, size, most);                                         \
        }                                                                                          \
    }                                                                                              \
    static void name(char *dst, const void *const *src, size_t count, int64_t at, int64_t stride,  \
                     int64_t n)                                                                    \
    {                                                                                              \
        const int64_t size = sizeof(item);                                                         \
        const int64_t most = CHUNK / size;                                                         \
        const int64_t whole = stride == size ? n - n % most : 0;                                   \
        name##_whole(dst, src, count, at, whole);                                                  \
        for (int64_t i = whole; i < n; i += most) {                                                \
            name##_chunk(dst + i * size, src, count, at + i * stride, stride,                      \
                         n - i < most ? n - i : most);                                             \
        }                                                                                          \
    }                                                                                              \
    AVX2 static void name##_avx2(char *dst, const void *const *src, size_t count, int64_t at,      \
                                 int64_t stride, int64_t n)                                        \
    {                                                                                              \
        const int64_t size = sizeof(item);                                                         \
        const int64_t whole = stride == size ? n - n % (CHUNK / size) : 0;                         \
        if (whole < n) {                                                                           \
            name(dst + whole * size, src, count, at + whole * stride, stride, n - whole);          \
        }                                                                                          \
        name##_whole(dst, src, count, at, whole);                                                  \
    }

#define DEFINE_FLOAT(type, item, wide, load, store)                                                \
    DEFINE_FOLD(type##_sum, item, wide, load, store, SUM, PLAIN)                                   \
    DEFINE_FOLD(type##_max, item, wide, load, store, MAX, KEEP)                                    \
    DEFINE_FOLD(type##_min, item, wide, load, store, MIN, KEEP)                                    \
    DEFINE_FOLD(type##_avg, item, wide, load, store, SUM, PLAIN_QUOTIENT)                          \
    DEFINE_FOLD(type##_prod, item, wide, load, store, PROD, PLAIN)

/*
 * Sums and products wrap around, so they are folded unsigned; an average must not wrap. Doubles
 * hold the sum of 2^21 numbers of 32 bits, and no quotient of such a sum is rounded up to an
 * integer.
 */
#define DEFINE_INTEGER(type, item, wrapping, average)                                              \
    DEFINE_FOLD(type##_sum, item, wrapping, SAME, SAME, SUM, KEEP)                                 \
    DEFINE_FOLD(type##_max, item, item, SAME, SAME, GREATER, KEEP)                                 \
    DEFINE_FOLD(type##_min, item, item, SAME, SAME, LESSER, KEEP)                                  \
    DEFINE_FOLD(type##_avg, item, average, SAME, SAME, SUM, DIVIDE)                                \
    DEFINE_FOLD(type##_prod, item, wrapping, SAME, SAME, PROD_UNSIGNED, KEEP)                      \
    DEFINE_FOLD(type##_and, item, item, SAME, SAME, AND, KEEP)                                     \
    DEFINE_FOLD(type##_or, item, item, SAME, SAME, OR, KEEP)

DEFINE_FLOAT(f32, float, float, SAME, SAME)
DEFINE_FLOAT(f64, double, double, SAME, SAME)
DEFINE_FLOAT(f16, uint16_t, float, float_of_f16, f16_of_float)
DEFINE_FLOAT(bf16, uint16_t, float, float_of_bf16, bf16_of_float)
DEFINE_INTEGER(i8, int8_t, uint8_t, double)
DEFINE_INTEGER(i16, int16_t, uint16_t, double)
DEFINE_INTEGER(i32, int32_t, uint32_t, double)
DEFINE_INTEGER(i64, int64_t, uint64_t, __int128)
DEFINE_INTEGER(u8, uint8_t, uint8_t, double)
DEFINE_INTEGER(u16, uint16_t, uint16_t, double)
DEFINE_INTEGER(u32, uint32_t, uint32_t, double)
DEFINE_INTEGER(u64, uint64_t, uint64_t, __int128)

#define RE_SUM(a, b, c, d) ((a) + (c))
#define IM_SUM(a, b, c, d) ((b) + (d))
#define RE_PROD(a, b, c, d) ((a) * (c) - (b) * (d))
#define IM_PROD(a, b, c, d) ((a) * (d) + (b) * (c))

/*
 * Complex numbers, folded as two arrays of parts. C's own product and quotient would recover
 * infinities, by library functions that differ between compilers.
 */
#define DEFINE_COMPLEX_FOLD(name, part, real, imaginary, finish)                                   \
    INLINE void name##_chunk(char *dst, const void *const *src, size_t count, int64_t at,          \
                             int64_t stride, int64_t n)                                            \
    {                                                                                              \
        part re[CHUNK / (2 * sizeof(part))];                                                       \
        part im[CHUNK / (2 * sizeof(part))];                                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const char *from = (const char *)src[0] + at + i * stride;                             \
            memcpy(&re[i], from, sizeof(part));                                                    \
            memcpy(&im[i], from + sizeof(part), sizeof(part));                                     \
        }                                                                                          \
        for (size_t s = 1; s < count; s++) {                                                       \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const char *from = (const char *)src[s] + at + i * stride;                         \
                const part a = re[i];                                                              \
                const part b = im[i];                                                              \
                part c;                                                                            \
                part d;                                                                            \
                memcpy(&c, from, sizeof c);                                                        \
                memcpy(&d, from + sizeof c, sizeof d);                                             \
                re[i] = real(a, b, c, d);                                                          \
                im[i] = imaginary(a, b, c, d);                                                     \
            }                                                                                      \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            char *to = dst + i * 2 * (int64_t)sizeof(part);                                        \
            const part x = (part)finish(re[i], (part)count);                                       \
            const part y = (part)finish(im[i], (part)count);                                       \
            memcpy(to, &x, sizeof x);                                                              \
            memcpy(to + sizeof x, &y, sizeof y);                                                   \
        }                                                                                          \
    }                                                                                              \
    typedef part name##_pair[2];                                                                   \
    DEFINE_WALK(name, name##_pair)

#define DEFINE_COMPLEX(type, part)                                                                 \
    DEFINE_COMPLEX_FOLD(type##_sum, part, RE_SUM, IM_SUM, PLAIN)                                   \
    DEFINE_COMPLEX_FOLD(type##_avg, part, RE_SUM, IM_SUM, PLAIN_QUOTIENT)                          \
    DEFINE_COMPLEX_FOLD(type##_prod, part, RE_PROD, IM_PROD, PLAIN)

DEFINE_COMPLEX(c64, float)
DEFINE_COMPLEX(c128, double)

/* The two forms of a fold. */
typedef struct fold_forms {
    fold_items portable;
    fold_items avx2;
} fold_forms;

#define FORMS(name)                                                                                \
    {                                                                                              \
        name, name##_avx2                                                                          \
    }
#define ROW_COMPLEX(type)                                                                          \
    {                                                                                              \
        [FOLD_SUM] = FORMS(type##_sum), [FOLD_AVG] = FORMS(type##_avg),                            \
        [FOLD_PROD] = FORMS(type##_prod),                                                          \
    }
#define ROW_FLOAT(type)                                                                            \
    {                                                                                              \
        [FOLD_SUM] = FORMS(type##_sum), [FOLD_MAX] = FORMS(type##_max),                            \
        [FOLD_MIN] = FORMS(type##_min), [FOLD_AVG] = FORMS(type##_avg),                            \
        [FOLD_PROD] = FORMS(type##_prod),                                                          \
    }
#define ROW_INTEGER(type)                                                                          \
    {                                                                                              \
        [FOLD_SUM] = FORMS(type##_sum), [FOLD_MAX] = FORMS(type##_max),                            \
        [FOLD_MIN] = FORMS(type##_min), [FOLD_AVG] = FORMS(type##_avg),                            \
        [FOLD_PROD] = FORMS(type##_prod), [FOLD_AND] = FORMS(type##_and),                          \
        [FOLD_OR] = FORMS(type##_or),                                                              \
    }
#define ROW_TRUTH                                                                                  \
    {                                                                                              \
        [FOLD_SUM] = FORMS(u8_or), [FOLD_MAX] = FORMS(u8_or), [FOLD_MIN] = FORMS(u8_and),          \
        [FOLD_PROD] = FORMS(u8_and), [FOLD_AND] = FORMS(u8_and), [FOLD_OR] = FORMS(u8_or),         \
    }

static const fold_forms folds[][FOLD_COUNT] = {
    [TSR_I1] = ROW_TRUTH,         [TSR_I8] = ROW_INTEGER(i8),   [TSR_I16] = ROW_INTEGER(i16),
    [TSR_I32] = ROW_INTEGER(i32), [TSR_I64] = ROW_INTEGER(i64), [TSR_U8] = ROW_INTEGER(u8),
    [TSR_U16] = ROW_INTEGER(u16), [TSR_U32] = ROW_INTEGER(u32), [TSR_U64] = ROW_INTEGER(u64),
    [TSR_F16] = ROW_FLOAT(f16),   [TSR_BF16] = ROW_FLOAT(bf16), [TSR_F32] = ROW_FLOAT(f32),
    [TSR_F64] = ROW_FLOAT(f64),   [TSR_C64] = ROW_COMPLEX(c64), [TSR_C128] = ROW_COMPLEX(c128),
};

const char *fold_name(fold_op op)
{
    static const char *const names[] = {"sum", "max", "min", "avg", "prod", "and", "or"};
    return names[op];
}

bool fold_supports(tsr_dtype dtype, fold_op op)
{
    return (size_t)dtype < sizeof folds / sizeof folds[0] && folds[dtype][op].portable != NULL;
}

/* A fold on its way: what is the same for all rows. */
typedef struct fold_job {
    fold_items fold;
    char *dst;
    const void *const *src;
    size_t count;
    size_t item;
    bool stream;
} fold_job;

/* One row in blocks, each folded in the cache and then copied to where it belongs. */
static void fold_by_blocks(const fold_job *job, const loop *inner, char *dst, int64_t at)
{
    _Alignas(64) char block[BLOCK];
    const int64_t most = BLOCK / (int64_t)job->item;
    const int64_t packed = (int64_t)job->item;
    for (int64_t from = 0; from < inner->size; from += most) {
        const int64_t n = inner->size - from < most ? inner->size - from : most;
        job->fold(block, job->src, job->count, at + from * inner->strides[1], inner->strides[1], n);
        if (inner->strides[0] == packed) {
            kernel_copy_run(dst + from * packed, block, (size_t)(n * packed), job->stream);
        } else {
            kernel_copy(dst + from * inner->strides[0], inner->strides, block, &packed, &n, 1,
                        job->item, false);
        }
    }
}

static void fold_row(const fold_job *job, const loop *inner, const int64_t *offsets)
{
    char *dst = job->dst + offsets[0];
    if (inner->strides[0] == (int64_t)job->item && !job->stream) {
        job->fold(dst, job->src, job->count, offsets[1], inner->strides[1], inner->size);
    } else {
        fold_by_blocks(job, inner, dst, offsets[1]);
    }
}

/* All rows of a job. */
static void fold_rows(const fold_job *job, const int64_t *dst_strides, const int64_t *src_strides,
                      const int64_t *shape, size_t rank)
{
    const int64_t *strides[] = {dst_strides, src_strides};
    loops nest;
    if (!loops_init_sorted(&nest, shape, rank, strides, 2, (int64_t)job->item)) {
        return;
    }
    do {
        fold_row(job, &nest.loops[nest.count - 1], nest.offsets);
    } while (loops_next(&nest));
}

void kernel_fold(void *dst, const int64_t *dst_strides, const void *const *src, size_t count,
                 const int64_t *src_strides, const int64_t *shape, size_t rank, tsr_dtype dtype,
                 fold_op op, bool stream)
{
    const fold_forms *forms = &folds[dtype][op];
    const fold_job job = {.fold = vector_best() >= VECTOR_AVX2 ? forms->avx2 : forms->portable,
                          .dst = dst,
                          .src = src,
                          .count = count,
                          .item = (size_t)tsr_dtype_bytes(dtype, 1),
                          .stream = stream};
    fold_rows(&job, dst_strides, src_strides, shape, rank);
}

void kernel_fold_portable(void *dst, const int64_t *dst_strides, const void *const *src,
                          size_t count, const int64_t *src_strides, const int64_t *shape,
                          size_t rank, tsr_dtype dtype, fold_op op, bool stream)
{
    const fold_job job = {.fold = folds[dtype][op].portable,
                          .dst = dst,
                          .src = src,
                          .count = count,
                          .item = (size_t)tsr_dtype_bytes(dtype, 1),
                          .stream = stream};
    fold_rows(&job, dst_strides, src_strides, shape, rank);
}
