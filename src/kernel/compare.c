/* Comparing, selecting, filling. */
#include "kernel/copy.h"
#include "kernel/elementwise.h"
#include "kernel/map.h"

#define EQ(a, b) ((a) == (b))
#define NE(a, b) ((a) != (b))
#define LT(a, b) ((a) < (b))
#define LE(a, b) ((a) <= (b))

/* The other two have the operands swapped. */
#define DEFINE_COMPARE(type, item, wide, load)                                                     \
    DEFINE_MAP2(type##_eq, uint8_t, wide, item, load, EQ, AS_IS)                                   \
    DEFINE_MAP2(type##_ne, uint8_t, wide, item, load, NE, AS_IS)                                   \
    DEFINE_MAP2(type##_lt, uint8_t, wide, item, load, LT, AS_IS)                                   \
    DEFINE_MAP2(type##_le, uint8_t, wide, item, load, LE, AS_IS)
DEFINE_COMPARE(i8, int8_t, int8_t, AS_IS)
DEFINE_COMPARE(i16, int16_t, int16_t, AS_IS)
DEFINE_COMPARE(i32, int32_t, int32_t, AS_IS)
DEFINE_COMPARE(i64, int64_t, int64_t, AS_IS)
DEFINE_COMPARE(u8, uint8_t, uint8_t, AS_IS)
DEFINE_COMPARE(u16, uint16_t, uint16_t, AS_IS)
DEFINE_COMPARE(u32, uint32_t, uint32_t, AS_IS)
DEFINE_COMPARE(u64, uint64_t, uint64_t, AS_IS)
DEFINE_COMPARE(f16, uint16_t, float, float_of_f16)
DEFINE_COMPARE(bf16, uint16_t, float, float_of_bf16)
DEFINE_COMPARE(f32, float, float, AS_IS)
DEFINE_COMPARE(f64, double, double, AS_IS)

#define ROW(type)                                                                                  \
    {                                                                                              \
        [COMPARE_EQ] = FORMS(type##_eq), [COMPARE_NE] = FORMS(type##_ne),                          \
        [COMPARE_LT] = FORMS(type##_lt), [COMPARE_LE] = FORMS(type##_le),                          \
        [COMPARE_GT] = FORMS(type##_lt), [COMPARE_GE] = FORMS(type##_le),                          \
    }

static const map_forms compares[TSR_C128 + 1][COMPARE_COUNT] = {
    [TSR_I1] = ROW(u8),   [TSR_I8] = ROW(i8),   [TSR_I16] = ROW(i16),   [TSR_I32] = ROW(i32),
    [TSR_I64] = ROW(i64), [TSR_U8] = ROW(u8),   [TSR_U16] = ROW(u16),   [TSR_U32] = ROW(u32),
    [TSR_U64] = ROW(u64), [TSR_F16] = ROW(f16), [TSR_BF16] = ROW(bf16), [TSR_F32] = ROW(f32),
    [TSR_F64] = ROW(f64),
};

bool compare_supports(tsr_dtype dtype)
{
    return compares[dtype][COMPARE_EQ].run[0] != NULL;
}

void kernel_compare(compare_op op, const tsr_view *dst, const tsr_view *a, const tsr_view *b)
{
    const bool swapped = op == COMPARE_GT || op == COMPARE_GE;
    const tsr_view *const sources[] = {swapped ? b : a, swapped ? a : b};
    kernel_map(&compares[a->dtype][op], dst, sources, 2);
}

#define DEFINE_SELECT(bits)                                                                        \
    INLINE void select_##bits##_chunk(char *dst, const char *const *src, int64_t at)               \
    {                                                                                              \
        uint##bits##_t z[MAP_CHUNK];                                                               \
        const int64_t size = (bits) / 8;                                                           \
        for (int64_t i = 0; i < MAP_CHUNK; i++) {                                                  \
            uint##bits##_t yes;                                                                    \
            uint##bits##_t no;                                                                     \
            memcpy(&yes, src[1] + (at + i) * size, sizeof yes);                                    \
            memcpy(&no, src[2] + (at + i) * size, sizeof no);                                      \
            z[i] = src[0][at + i] != 0 ? yes : no;                                                 \
        }                                                                                          \
        memcpy(dst + at * size, z, sizeof z);                                                      \
    }                                                                                              \
    DEFINE_RUN(select_##bits)
DEFINE_SELECT(8)
DEFINE_SELECT(16)
DEFINE_SELECT(32)
DEFINE_SELECT(64)

INLINE void select_128_chunk(char *dst, const char *const *src, int64_t at)
{
    enum { SIZE = 16 };
    for (int64_t i = at; i < at + MAP_CHUNK; i++) {
        char chosen[SIZE];
        memcpy(chosen, (src[0][i] != 0 ? src[1] : src[2]) + i * SIZE, SIZE);
        memcpy(dst + i * SIZE, chosen, SIZE);
    }
}
DEFINE_RUN(select_128)

enum { MOST_ITEM = 16 };

static const map_forms selects[MOST_ITEM + 1] = {
    [1] = FORMS(select_8),  [2] = FORMS(select_16),   [4] = FORMS(select_32),
    [8] = FORMS(select_64), [16] = FORMS(select_128),
};

void kernel_select(const tsr_view *dst, const tsr_view *predicate, const tsr_view *yes,
                   const tsr_view *no)
{
    const tsr_view *const sources[] = {predicate, yes, no};
    kernel_map(&selects[tsr_dtype_item_bytes(dst->dtype)], dst, sources, 3);
}

/* Copies, of a source that repeats an element. */
#define DEFINE_FILL(bits)                                                                          \
    DEFINE_MAP(fill_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, AS_IS, AS_IS, AS_IS)
DEFINE_FILL(8)
DEFINE_FILL(16)
DEFINE_FILL(32)
DEFINE_FILL(64)

INLINE void fill_128_chunk(char *dst, const char *const *src, int64_t at)
{
    enum { SIZE = 16 };
    memcpy(dst + at * SIZE, src[0] + at * SIZE, (size_t)MAP_CHUNK * SIZE);
}
DEFINE_RUN(fill_128)

static const map_forms fills[MOST_ITEM + 1] = {
    [1] = FORMS(fill_8),  [2] = FORMS(fill_16),   [4] = FORMS(fill_32),
    [8] = FORMS(fill_64), [16] = FORMS(fill_128),
};

void kernel_fill(const tsr_view *dst, const void *element)
{
    static const int64_t repeated[KERNEL_MAX_RANK];
    char copy[MOST_ITEM];
    const int64_t item = tsr_dtype_item_bytes(dst->dtype);
    memcpy(copy, element, (size_t)item);
    const tsr_view src = {copy, dst->dtype, dst->rank, dst->shape, repeated};
    const tsr_view *const sources[] = {&src};
    kernel_map(&fills[item], dst, sources, 1);
}
