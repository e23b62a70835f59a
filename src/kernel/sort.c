#include "kernel/half.h"
#include "kernel/index.h"
#include "kernel/loops.h"

/*
 * A line is sorted by keys: unsigned integers in the order that is wanted, each with where it was.
 * Radix sort from the lowest byte on is stable; bytes that are the same in all keys cost nothing.
 */
enum { RADIX = 256, FEW = 24, MOST_DIGITS = 8 };

typedef uint64_t (*key_function)(const char *item);

/* Both -0 and 0 are 0, all NaNs the highest key, and negative numbers in the opposite order. */
static inline uint64_t float_key(uint64_t bits, uint64_t sign, uint64_t infinity)
{
    const uint64_t all = sign | (sign - 1);
    const uint64_t magnitude = bits & (sign - 1);
    if (magnitude > infinity) {
        return all;
    }
    if (magnitude == 0) {
        return sign;
    }
    return (bits & sign) != 0 ? ~bits & all : bits | sign;
}

#define DEFINE_KEY(name, type, expression)                                                         \
    static uint64_t name(const char *item)                                                         \
    {                                                                                              \
        type bits;                                                                                 \
        memcpy(&bits, item, sizeof bits);                                                          \
        const uint64_t x = bits;                                                                   \
        return expression;                                                                         \
    }

DEFINE_KEY(u8_key, uint8_t, x)
DEFINE_KEY(u16_key, uint16_t, x)
DEFINE_KEY(u32_key, uint32_t, x)
DEFINE_KEY(u64_key, uint64_t, x)
DEFINE_KEY(i8_key, uint8_t, x ^ 0x80)
DEFINE_KEY(i16_key, uint16_t, x ^ 0x8000)
DEFINE_KEY(i32_key, uint32_t, x ^ 0x80000000)
DEFINE_KEY(i64_key, uint64_t, x ^ UINT64_C(0x8000000000000000))
DEFINE_KEY(f16_key, uint16_t, float_key(x, UINT64_C(0x8000), UINT64_C(0x7c00)))
DEFINE_KEY(bf16_key, uint16_t, float_key(x, UINT64_C(0x8000), UINT64_C(0x7f80)))
DEFINE_KEY(f32_key, uint32_t, float_key(x, UINT64_C(0x80000000), UINT64_C(0x7f800000)))
DEFINE_KEY(f64_key, uint64_t,
           float_key(x, UINT64_C(0x8000000000000000), UINT64_C(0x7ff0000000000000)))

static const key_function keys[] = {
    [TSR_I1] = u8_key,   [TSR_I8] = i8_key,   [TSR_I16] = i16_key,   [TSR_I32] = i32_key,
    [TSR_I64] = i64_key, [TSR_U8] = u8_key,   [TSR_U16] = u16_key,   [TSR_U32] = u32_key,
    [TSR_U64] = u64_key, [TSR_F16] = f16_key, [TSR_BF16] = bf16_key, [TSR_F32] = f32_key,
    [TSR_F64] = f64_key,
};

bool sort_supports(tsr_dtype dtype)
{
    return (size_t)dtype < sizeof keys / sizeof keys[0] && keys[dtype] != NULL;
}

/* A key of at most 32 bits above its index, or a pair. */
typedef uint64_t narrow;
typedef narrow *narrow_list;
typedef struct wide {
    uint64_t key;
    uint64_t index;
} wide;
typedef wide *wide_list;

#define NARROW_KEY(x) ((x) >> 32)
#define WIDE_KEY(x) ((x).key)

/* Sorts n entries in `a`, with as much room in `b`; returns which of the two has them. */
#define DEFINE_SORT(entry, key_of)                                                                 \
    static entry##_list entry##_sort_few(entry##_list a, size_t n)                                 \
    {                                                                                              \
        for (size_t i = 1; i < n; i++) {                                                           \
            const entry x = a[i];                                                                  \
            size_t at = i;                                                                         \
            for (; at > 0 && key_of(a[at - 1]) > key_of(x); at--) {                                \
                a[at] = a[at - 1];                                                                 \
            }                                                                                      \
            a[at] = x;                                                                             \
        }                                                                                          \
        return a;                                                                                  \
    }                                                                                              \
    static void entry##_count(const entry a[], size_t n, size_t digits, size_t counts[][RADIX])    \
    {                                                                                              \
        memset(counts, 0, digits * sizeof counts[0]);                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            uint64_t key = key_of(a[i]);                                                           \
            for (size_t d = 0; d < digits; d++, key >>= 8) {                                       \
                counts[d][key % RADIX]++;                                                          \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void entry##_pass(entry##_list to, const entry from[], size_t n, size_t digit,          \
                             size_t *counts)                                                       \
    {                                                                                              \
        size_t sum = 0;                                                                            \
        for (size_t i = 0; i < RADIX; i++) {                                                       \
            const size_t count = counts[i];                                                        \
            counts[i] = sum;                                                                       \
            sum += count;                                                                          \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            to[counts[key_of(from[i]) >> (8 * digit) & (RADIX - 1)]++] = from[i];                  \
        }                                                                                          \
    }                                                                                              \
    static entry##_list entry##_sort(entry##_list a, entry##_list b, size_t n, size_t digits)      \
    {                                                                                              \
        size_t counts[MOST_DIGITS][RADIX];                                                         \
        if (n <= FEW) {                                                                            \
            return entry##_sort_few(a, n);                                                         \
        }                                                                                          \
        entry##_count(a, n, digits, counts);                                                       \
        for (size_t d = 0; d < digits; d++) {                                                      \
            if (counts[d][key_of(a[0]) >> (8 * d) & (RADIX - 1)] == n) {                           \
                continue;                                                                          \
            }                                                                                      \
            entry##_pass(b, a, n, d, counts[d]);                                                   \
            const entry##_list sorted = b;                                                         \
            b = a;                                                                                 \
            a = sorted;                                                                            \
        }                                                                                          \
        return a;                                                                                  \
    }

DEFINE_SORT(narrow, NARROW_KEY)
DEFINE_SORT(wide, WIDE_KEY)

/* What is the same for all lines. */
typedef struct sort_job {
    key_function key;
    size_t item;
    size_t n;
    size_t kept; /* of each line */
    bool is_narrow;
    uint64_t flip; /* of every key, when the order is descending */
    int64_t src_stride;
    const tsr_view *values;
    const tsr_view *indices;
    size_t dim;
    void *scratch;
} sort_job;

static bool is_narrow(size_t item, int64_t n)
{
    return item <= sizeof(uint32_t) && n <= UINT32_MAX;
}

size_t kernel_sort_scratch(const tsr_view *src, size_t dim)
{
    const int64_t n = src->shape[dim];
    const size_t item = (size_t)tsr_dtype_item_bytes(src->dtype);
    return 2 * (size_t)n * (is_narrow(item, n) ? sizeof(narrow) : sizeof(wide));
}

/* The next sorted element, which was at `from`, goes to a place of the results. */
static void put(const sort_job *job, const char *src, uint64_t from, char *value, char *index)
{
    if (value != NULL) {
        memcpy(value, src + (int64_t)from * job->src_stride, job->item);
    }
    if (index != NULL) {
        const int32_t small = (int32_t)from;
        if (job->indices->dtype == TSR_I32) {
            memcpy(index, &small, sizeof small);
        } else {
            memcpy(index, &from, sizeof from);
        }
    }
}

#define DEFINE_LINE(entry, make, index_of)                                                         \
    static void entry##_line(const sort_job *job, const char *src, char *value, char *index)       \
    {                                                                                              \
        const entry##_list a = job->scratch;                                                       \
        for (size_t i = 0; i < job->n; i++) {                                                      \
            const uint64_t key = job->key(src + (int64_t)i * job->src_stride) ^ job->flip;         \
            a[i] = make(key, i);                                                                   \
        }                                                                                          \
        const entry##_list sorted = entry##_sort(a, a + job->n, job->n, job->item);                \
        for (size_t i = 0; i < job->kept; i++) {                                                   \
            put(job, src, index_of(sorted[i]), value, index);                                      \
            value = value != NULL ? value + job->values->strides[job->dim] : NULL;                 \
            index = index != NULL ? index + job->indices->strides[job->dim] : NULL;                \
        }                                                                                          \
    }

#define NARROW(key, index) ((key) << 32 | (index))
#define NARROW_INDEX(x) ((x)&UINT32_MAX)
#define WIDE(key, index) ((wide){(key), (index)})
#define WIDE_INDEX(x) ((x).index)

DEFINE_LINE(narrow, NARROW, NARROW_INDEX)
DEFINE_LINE(wide, WIDE, WIDE_INDEX)

/* The loops over the lines: src, values, indices; what is not there does not move. */
static bool init_lines(loops *nest, const tsr_view *src, const tsr_view *values,
                       const tsr_view *indices, size_t dim)
{
    int64_t shape[KERNEL_MAX_RANK];
    int64_t strides[3][KERNEL_MAX_RANK];
    const int64_t *const arrays[] = {strides[0], strides[1], strides[2]};
    size_t count = 0;
    for (size_t d = 0; d < src->rank; d++) {
        if (d != dim) {
            shape[count] = src->shape[d];
            strides[0][count] = src->strides[d];
            strides[1][count] = values != NULL ? values->strides[d] : 0;
            strides[2][count++] = indices != NULL ? indices->strides[d] : 0;
        }
    }
    return loops_init_sorted(nest, shape, count, arrays, 3, 0);
}

static char *place_in(const tsr_view *view, int64_t offset)
{
    return view != NULL ? (char *)view->data + offset : NULL;
}

void kernel_sort(const tsr_view *values, const tsr_view *indices, const tsr_view *src, size_t dim,
                 bool descending, void *scratch)
{
    const tsr_view *shown = values != NULL ? values : indices;
    if (shown == NULL) {
        return;
    }
    const size_t item = (size_t)tsr_dtype_item_bytes(src->dtype);
    const uint64_t all = UINT64_MAX >> (64 - 8 * item);
    const sort_job job = {.key = keys[src->dtype],
                          .item = item,
                          .n = (size_t)src->shape[dim],
                          .kept = (size_t)shown->shape[dim],
                          .is_narrow = is_narrow(item, src->shape[dim]),
                          .flip = descending ? all : 0,
                          .src_stride = src->strides[dim],
                          .values = values,
                          .indices = indices,
                          .dim = dim,
                          .scratch = scratch};
    loops nest;
    if (job.n == 0 || !init_lines(&nest, src, values, indices, dim)) {
        return;
    }
    do {
        const loop *inner = &nest.loops[nest.count - 1];
        for (int64_t i = 0; i < inner->size; i++) {
            const char *from = (const char *)src->data + nest.offsets[0] + i * inner->strides[0];
            char *value = place_in(values, nest.offsets[1] + i * inner->strides[1]);
            char *index = place_in(indices, nest.offsets[2] + i * inner->strides[2]);
            (job.is_narrow ? narrow_line : wide_line)(&job, from, value, index);
        }
    } while (loops_next(&nest));
}
