#include <string.h>

#include "kernel/element_types.h"
#include "kernel/index.h"
#include "kernel/loops.h"

/*
 * A line is sorted by keys: unsigned integers in the order that is wanted, each with its index.
 * Radix sort from the lowest byte on is stable; bytes that are the same in all keys cost nothing.
 */
enum { RADIX = 256, FEW = 24, MAX_DIGITS = 8 };

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

static inline uint64_t load_8(const char *item)
{
    return (uint8_t)*item;
}

static inline uint64_t load_16(const char *item)
{
    uint16_t x;
    memcpy(&x, item, sizeof x);
    return x;
}

static inline uint64_t load_32(const char *item)
{
    uint32_t x;
    memcpy(&x, item, sizeof x);
    return x;
}

static inline uint64_t load_64(const char *item)
{
    uint64_t x;
    memcpy(&x, item, sizeof x);
    return x;
}

static uint64_t u8_key(const char *item)
{
    return load_8(item);
}

static uint64_t u16_key(const char *item)
{
    return load_16(item);
}

static uint64_t u32_key(const char *item)
{
    return load_32(item);
}

static uint64_t u64_key(const char *item)
{
    return load_64(item);
}

static uint64_t i8_key(const char *item)
{
    return load_8(item) ^ 0x80;
}

static uint64_t i16_key(const char *item)
{
    return load_16(item) ^ 0x8000;
}

static uint64_t i32_key(const char *item)
{
    return load_32(item) ^ 0x80000000;
}

static uint64_t i64_key(const char *item)
{
    return load_64(item) ^ UINT64_C(0x8000000000000000);
}

static uint64_t f16_key(const char *item)
{
    return float_key(load_16(item), 0x8000, 0x7c00);
}

static uint64_t bf16_key(const char *item)
{
    return float_key(load_16(item), 0x8000, 0x7f80);
}

static uint64_t f32_key(const char *item)
{
    return float_key(load_32(item), 0x80000000, 0x7f800000);
}

static uint64_t f64_key(const char *item)
{
    return float_key(load_64(item), UINT64_C(0x8000000000000000), UINT64_C(0x7ff0000000000000));
}

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

/* A key of at most 32 bits above its index. */
typedef uint64_t narrow;

static inline narrow narrow_entry(uint64_t key, uint64_t index)
{
    return key << 32 | index;
}

static inline uint64_t narrow_key(narrow x)
{
    return x >> 32;
}

static inline uint64_t narrow_index(narrow x)
{
    return x & UINT32_MAX;
}

/* A key of any width, and its index. */
typedef struct wide {
    uint64_t key;
    uint64_t index;
} wide;

static inline wide wide_entry(uint64_t key, uint64_t index)
{
    return (wide){key, index};
}

static inline uint64_t wide_key(wide x)
{
    return x.key;
}

static inline uint64_t wide_index(wide x)
{
    return x.index;
}

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

#define ENTRY narrow
#include "kernel/sort_entries.inc"
#define ENTRY wide
#include "kernel/sort_entries.inc"

/* The loops over the lines: src, values, indices; an array that is NULL does not move. */
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
