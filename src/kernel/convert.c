#include "kernel/elementwise.h"
#include "kernel/map.h"

/*
 * To integers: towards zero, saturating, NaN to 0. The bounds are those of the integer as floats:
 * the least is exact, and the upper one is the first power of 2 that is too large. What is narrower
 * than 32 bits goes by way of int32_t, for which there are vector instructions.
 */
#define DEFINE_TO_INTEGER(type, item, middle, least, past, MIN, MAX)                               \
    INLINE item type##_of_float(float x)                                                           \
    {                                                                                              \
        const bool low = x < (float)(least);                                                       \
        const bool high = x >= (float)(past);                                                      \
        const middle inside = (middle)((low | high | (x != x)) ? 0.0F : x);                        \
        const middle above = high ? (middle)(MAX) : inside;                                        \
        return (item)(low ? (middle)(MIN) : above);                                                \
    }                                                                                              \
    INLINE item type##_of_double(double x)                                                         \
    {                                                                                              \
        const bool low = x < (double)(least);                                                      \
        const bool high = x >= (double)(past);                                                     \
        const middle inside = (middle)((low | high | (x != x)) ? 0.0 : x);                         \
        const middle above = high ? (middle)(MAX) : inside;                                        \
        return (item)(low ? (middle)(MIN) : above);                                                \
    }
DEFINE_TO_INTEGER(i8, int8_t, int32_t, -0x1p7, 0x1p7, INT8_MIN, INT8_MAX)
DEFINE_TO_INTEGER(i16, int16_t, int32_t, -0x1p15, 0x1p15, INT16_MIN, INT16_MAX)
DEFINE_TO_INTEGER(i32, int32_t, int32_t, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX)
DEFINE_TO_INTEGER(i64, int64_t, int64_t, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)
DEFINE_TO_INTEGER(u8, uint8_t, int32_t, 0, 0x1p8, 0, UINT8_MAX)
DEFINE_TO_INTEGER(u16, uint16_t, int32_t, 0, 0x1p16, 0, UINT16_MAX)
DEFINE_TO_INTEGER(u32, uint32_t, uint32_t, 0, 0x1p32, 0, UINT32_MAX)
DEFINE_TO_INTEGER(u64, uint64_t, uint64_t, 0, 0x1p64, 0, UINT64_MAX)

/*
 * To the halves from what has more bits than an f32: an f32 rounded to odd, which keeps that there
 * was more, so that the second rounding is as if it were the only one.
 */
INLINE float odd_of_double(double x)
{
    const float nearest = (float)x;
    const double back = (double)nearest;
    const bool away = fabs(back) > fabs(x);
    const bool inexact = (back != x) & (x == x);
    const uint32_t cut = bits_of_float(nearest) - (away ? 1U : 0U);
    return float_of_bits(cut | (inexact ? 1U : 0U));
}

/* A u64 as a double of which the last bit says that there was more. */
INLINE double odd_of_u64(uint64_t x)
{
    const uint64_t low = x & 0x7ff;
    const uint64_t kept = (x >> 11) | (low != 0 ? 1U : 0U);
    return x >> 53 != 0 ? (double)(int64_t)kept * 0x1p11 : (double)(int64_t)x;
}

INLINE double odd_of_i64(int64_t x)
{
    const double magnitude = odd_of_u64(x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
    return x < 0 ? -magnitude : magnitude;
}

INLINE uint16_t bf16_of_double(double x)
{
    return bf16_of_float(odd_of_double(x));
}

INLINE uint16_t f16_of_double(double x)
{
    return f16_of_float(odd_of_double(x));
}

#define TRUTH(x) ((x) != 0)
#define TO_FLOAT(x) ((float)(x))
#define TO_DOUBLE(x) ((double)(x))

/* From an integer: bits are cut or extended, whatever the sign of the target. */
#define DEFINE_FROM_INTEGER(type, item, half, to_half)                                             \
    DEFINE_MAP(type##_to_i1, uint8_t, item, item, AS_IS, AS_IS, TRUTH)                             \
    DEFINE_MAP(type##_to_8, uint8_t, item, item, AS_IS, AS_IS, AS_IS)                              \
    DEFINE_MAP(type##_to_16, uint16_t, item, item, AS_IS, AS_IS, AS_IS)                            \
    DEFINE_MAP(type##_to_32, uint32_t, item, item, AS_IS, AS_IS, AS_IS)                            \
    DEFINE_MAP(type##_to_64, uint64_t, item, item, AS_IS, AS_IS, AS_IS)                            \
    DEFINE_MAP(type##_to_f32, float, item, item, AS_IS, AS_IS, TO_FLOAT)                           \
    DEFINE_MAP(type##_to_f64, double, item, item, AS_IS, AS_IS, TO_DOUBLE)                         \
    DEFINE_MAP(type##_to_f16, uint16_t, half, item, to_half, AS_IS, f16_of_##half)                 \
    DEFINE_MAP(type##_to_bf16, uint16_t, half, item, to_half, AS_IS, bf16_of_##half)
DEFINE_FROM_INTEGER(i8, int8_t, float, AS_IS)
DEFINE_FROM_INTEGER(i16, int16_t, float, AS_IS)
DEFINE_FROM_INTEGER(i32, int32_t, double, AS_IS)
DEFINE_FROM_INTEGER(i64, int64_t, double, odd_of_i64)
DEFINE_FROM_INTEGER(u8, uint8_t, float, AS_IS)
DEFINE_FROM_INTEGER(u16, uint16_t, float, AS_IS)
DEFINE_FROM_INTEGER(u32, uint32_t, double, AS_IS)
DEFINE_FROM_INTEGER(u64, uint64_t, double, odd_of_u64)

#define DEFINE_FROM_FLOAT(type, item, wide, load)                                                  \
    DEFINE_MAP(type##_to_i1, uint8_t, wide, item, load, AS_IS, TRUTH)                              \
    DEFINE_MAP(type##_to_i8, int8_t, wide, item, load, AS_IS, i8_of_##wide)                        \
    DEFINE_MAP(type##_to_i16, int16_t, wide, item, load, AS_IS, i16_of_##wide)                     \
    DEFINE_MAP(type##_to_i32, int32_t, wide, item, load, AS_IS, i32_of_##wide)                     \
    DEFINE_MAP(type##_to_i64, int64_t, wide, item, load, AS_IS, i64_of_##wide)                     \
    DEFINE_MAP(type##_to_u8, uint8_t, wide, item, load, AS_IS, u8_of_##wide)                       \
    DEFINE_MAP(type##_to_u16, uint16_t, wide, item, load, AS_IS, u16_of_##wide)                    \
    DEFINE_MAP(type##_to_u32, uint32_t, wide, item, load, AS_IS, u32_of_##wide)                    \
    DEFINE_MAP(type##_to_u64, uint64_t, wide, item, load, AS_IS, u64_of_##wide)                    \
    DEFINE_MAP(type##_to_f16, uint16_t, wide, item, load, AS_IS, f16_of_##wide)                    \
    DEFINE_MAP(type##_to_bf16, uint16_t, wide, item, load, AS_IS, bf16_of_##wide)                  \
    DEFINE_MAP(type##_to_f32, float, wide, item, load, AS_IS, TO_FLOAT)                            \
    DEFINE_MAP(type##_to_f64, double, wide, item, load, AS_IS, TO_DOUBLE)
DEFINE_FROM_FLOAT(f16, uint16_t, float, float_of_f16)
DEFINE_FROM_FLOAT(bf16, uint16_t, float, float_of_bf16)
DEFINE_FROM_FLOAT(f32, float, float, AS_IS)
DEFINE_FROM_FLOAT(f64, double, double, AS_IS)

#define ROW_INTEGER(type)                                                                          \
    {                                                                                              \
        [TSR_I1] = FORMS(type##_to_i1), [TSR_I8] = FORMS(type##_to_8),                             \
        [TSR_I16] = FORMS(type##_to_16), [TSR_I32] = FORMS(type##_to_32),                          \
        [TSR_I64] = FORMS(type##_to_64), [TSR_U8] = FORMS(type##_to_8),                            \
        [TSR_U16] = FORMS(type##_to_16), [TSR_U32] = FORMS(type##_to_32),                          \
        [TSR_U64] = FORMS(type##_to_64), [TSR_F16] = FORMS(type##_to_f16),                         \
        [TSR_BF16] = FORMS(type##_to_bf16), [TSR_F32] = FORMS(type##_to_f32),                      \
        [TSR_F64] = FORMS(type##_to_f64),                                                          \
    }
#define ROW_FLOAT(type)                                                                            \
    {                                                                                              \
        [TSR_I1] = FORMS(type##_to_i1), [TSR_I8] = FORMS(type##_to_i8),                            \
        [TSR_I16] = FORMS(type##_to_i16), [TSR_I32] = FORMS(type##_to_i32),                        \
        [TSR_I64] = FORMS(type##_to_i64), [TSR_U8] = FORMS(type##_to_u8),                          \
        [TSR_U16] = FORMS(type##_to_u16), [TSR_U32] = FORMS(type##_to_u32),                        \
        [TSR_U64] = FORMS(type##_to_u64), [TSR_F16] = FORMS(type##_to_f16),                        \
        [TSR_BF16] = FORMS(type##_to_bf16), [TSR_F32] = FORMS(type##_to_f32),                      \
        [TSR_F64] = FORMS(type##_to_f64),                                                          \
    }

enum { NUM_TYPES = TSR_C128 + 1 };

/* By the type that is converted, then by the one that comes out. */
static const map_forms rows[NUM_TYPES][NUM_TYPES] = {
    [TSR_I1] = ROW_INTEGER(u8),   [TSR_I8] = ROW_INTEGER(i8),   [TSR_I16] = ROW_INTEGER(i16),
    [TSR_I32] = ROW_INTEGER(i32), [TSR_I64] = ROW_INTEGER(i64), [TSR_U8] = ROW_INTEGER(u8),
    [TSR_U16] = ROW_INTEGER(u16), [TSR_U32] = ROW_INTEGER(u32), [TSR_U64] = ROW_INTEGER(u64),
    [TSR_F16] = ROW_FLOAT(f16),   [TSR_BF16] = ROW_FLOAT(bf16), [TSR_F32] = ROW_FLOAT(f32),
    [TSR_F64] = ROW_FLOAT(f64),
};

bool convert_supports(tsr_dtype from, tsr_dtype to)
{
    return rows[from][to].run[0] != NULL;
}

void kernel_convert(const tsr_view *dst, const tsr_view *src)
{
    kernel_map(&rows[src->dtype][dst->dtype], dst, &src, 1);
}

/* All views have no dimensions, and so need no shape and no strides. */
void element_of_number(tsr_dtype dtype, double number, void *element)
{
    kernel_convert(&(tsr_view){.data = element, .dtype = dtype},
                   &(tsr_view){.data = &number, .dtype = TSR_F64});
}
