#include "kernel/elementwise.h"
#include "kernel/functions.h"
#include "kernel/map.h"

/* The operators promote what is narrower than int, to unsigned here: signed products overflow. */
#define ADD_BITS(a, b) (0U + (a) + (b))
#define SUBTRACT_BITS(a, b) (0U + (a) - (b))
#define MULTIPLY_BITS(a, b) (1U * (a) * (b))
#define AND_BITS(a, b) ((a) & (b))
#define OR_BITS(a, b) ((a) | (b))
#define XOR_BITS(a, b) ((a) ^ (b))
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESSER(a, b) ((b) < (a) ? (b) : (a))

#define ADD(a, b) PLAIN_NAN((a) + (b))
#define SUBTRACT(a, b) PLAIN_NAN((a) - (b))
#define MULTIPLY(a, b) PLAIN_NAN((a) * (b))
#define DIVIDE(a, b) PLAIN_NAN((a) / (b))
#define MAX(a, b) ((((b) > (a)) | ((b) != (b))) ? (b) : (a))
#define MIN(a, b) ((((b) < (a)) | ((b) != (b))) ? (b) : (a))

/* f32 by way of f64: its power is exact enough for the f32 not to depend on the library. */
INLINE float power_float(float a, float b)
{
    return plain_float((float)pow((double)a, (double)b));
}

INLINE double power_double(double a, double b)
{
    return plain_double(pow(a, b));
}

INLINE float remainder_float(float a, float b)
{
    return plain_float(fmodf(a, b));
}

INLINE double remainder_double(double a, double b)
{
    return plain_double(fmod(a, b));
}

/* By squaring. */
static uint64_t power_bits(uint64_t base, uint64_t exponent)
{
    uint64_t power = 1;
    for (; exponent > 0; exponent >>= 1) {
        power *= (exponent & 1) != 0 ? base : 1;
        base *= base;
    }
    return power;
}

static int64_t power_signed(int64_t base, int64_t exponent)
{
    if (exponent >= 0) {
        return (int64_t)power_bits((uint64_t)base, (uint64_t)exponent);
    }
    if (base == -1) {
        return exponent % 2 == 0 ? 1 : -1;
    }
    return base == 1 ? 1 : 0;
}

/* A divisor of 0, or of -1, whose quotient may not exist, is taken apart. */
INLINE int64_t divide_signed(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) {
        return b == 0 ? -1 : (int64_t)(0 - (uint64_t)a);
    }
    return a / b;
}

INLINE int64_t remainder_signed(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) {
        return b == 0 ? a : 0;
    }
    return a % b;
}

#define DIVIDE_SIGNED(a, b) divide_signed((a), (b))
#define REMAINDER_SIGNED(a, b) remainder_signed((a), (b))
#define POWER_SIGNED(a, b) power_signed((a), (b))
#define DIVIDE_UNSIGNED(a, b) ((b) == 0 ? UINT64_MAX : (uint64_t)((a) / ((b) == 0 ? 1U : (b))))
#define REMAINDER_UNSIGNED(a, b) ((b) == 0 ? (a) : ((a) % ((b) == 0 ? 1U : (b))))
#define POWER_UNSIGNED(a, b) power_bits((a), (b))

#define DEFINE_FLOAT(type, item, wide, load, store, power, remainder)                              \
    DEFINE_MAP2(type##_add, item, wide, item, load, ADD, store)                                    \
    DEFINE_MAP2(type##_subtract, item, wide, item, load, SUBTRACT, store)                          \
    DEFINE_MAP2(type##_multiply, item, wide, item, load, MULTIPLY, store)                          \
    DEFINE_MAP2(type##_divide, item, wide, item, load, DIVIDE, store)                              \
    DEFINE_MAP2(type##_max, item, wide, item, load, MAX, store)                                    \
    DEFINE_MAP2(type##_min, item, wide, item, load, MIN, store)                                    \
    DEFINE_MAP2(type##_power, item, wide, item, load, power, store)                                \
    DEFINE_MAP2(type##_remainder, item, wide, item, load, remainder, store)
DEFINE_FLOAT(f32, float, float, AS_IS, AS_IS, power_float, remainder_float)
DEFINE_FLOAT(f64, double, double, AS_IS, AS_IS, power_double, remainder_double)
DEFINE_FLOAT(f16, uint16_t, float, float_of_f16, f16_of_float, power_float, remainder_float)
DEFINE_FLOAT(bf16, uint16_t, float, float_of_bf16, bf16_of_float, power_float, remainder_float)

#define DEFINE_BITS(type, item)                                                                    \
    DEFINE_MAP2(type##_add, item, item, item, AS_IS, ADD_BITS, AS_IS)                              \
    DEFINE_MAP2(type##_subtract, item, item, item, AS_IS, SUBTRACT_BITS, AS_IS)                    \
    DEFINE_MAP2(type##_multiply, item, item, item, AS_IS, MULTIPLY_BITS, AS_IS)                    \
    DEFINE_MAP2(type##_and, item, item, item, AS_IS, AND_BITS, AS_IS)                              \
    DEFINE_MAP2(type##_or, item, item, item, AS_IS, OR_BITS, AS_IS)                                \
    DEFINE_MAP2(type##_xor, item, item, item, AS_IS, XOR_BITS, AS_IS)

/* What depends on the sign. */
#define DEFINE_ORDERED(type, item, SIGN)                                                           \
    DEFINE_MAP2(type##_divide, item, item, item, AS_IS, DIVIDE_##SIGN, AS_IS)                      \
    DEFINE_MAP2(type##_max, item, item, item, AS_IS, GREATER, AS_IS)                               \
    DEFINE_MAP2(type##_min, item, item, item, AS_IS, LESSER, AS_IS)                                \
    DEFINE_MAP2(type##_power, item, item, item, AS_IS, POWER_##SIGN, AS_IS)                        \
    DEFINE_MAP2(type##_remainder, item, item, item, AS_IS, REMAINDER_##SIGN, AS_IS)

#define DEFINE_INTEGER(bits)                                                                       \
    DEFINE_BITS(u##bits, uint##bits##_t)                                                           \
    DEFINE_ORDERED(u##bits, uint##bits##_t, UNSIGNED)                                              \
    DEFINE_ORDERED(i##bits, int##bits##_t, SIGNED)
DEFINE_INTEGER(8)
DEFINE_INTEGER(16)
DEFINE_INTEGER(32)
DEFINE_INTEGER(64)

#define ROW_FLOAT(type)                                                                            \
    {                                                                                              \
        [BINARY_ADD] = FORMS(type##_add), [BINARY_SUBTRACT] = FORMS(type##_subtract),              \
        [BINARY_MULTIPLY] = FORMS(type##_multiply), [BINARY_DIVIDE] = FORMS(type##_divide),        \
        [BINARY_MAX] = FORMS(type##_max), [BINARY_MIN] = FORMS(type##_min),                        \
        [BINARY_POWER] = FORMS(type##_power), [BINARY_REMAINDER] = FORMS(type##_remainder),        \
    }
#define ROW_INTEGER(type, bits)                                                                    \
    {                                                                                              \
        [BINARY_ADD] = FORMS(u##bits##_add), [BINARY_SUBTRACT] = FORMS(u##bits##_subtract),        \
        [BINARY_MULTIPLY] = FORMS(u##bits##_multiply), [BINARY_DIVIDE] = FORMS(type##_divide),     \
        [BINARY_MAX] = FORMS(type##_max), [BINARY_MIN] = FORMS(type##_min),                        \
        [BINARY_POWER] = FORMS(type##_power), [BINARY_REMAINDER] = FORMS(type##_remainder),        \
        [BINARY_AND] = FORMS(u##bits##_and), [BINARY_OR] = FORMS(u##bits##_or),                    \
        [BINARY_XOR] = FORMS(u##bits##_xor),                                                       \
    }
#define ROW_TRUTH                                                                                  \
    {                                                                                              \
        [BINARY_ADD] = FORMS(u8_or), [BINARY_MULTIPLY] = FORMS(u8_and),                            \
        [BINARY_MAX] = FORMS(u8_or), [BINARY_MIN] = FORMS(u8_and), [BINARY_AND] = FORMS(u8_and),   \
        [BINARY_OR] = FORMS(u8_or), [BINARY_XOR] = FORMS(u8_xor),                                  \
    }

static const map_forms rows[TSR_C128 + 1][BINARY_COUNT] = {
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

bool binary_supports(binary_op op, tsr_dtype dtype)
{
    return rows[dtype][op].run[0] != NULL;
}

void kernel_binary(binary_op op, const tsr_view *dst, const tsr_view *a, const tsr_view *b)
{
    const tsr_view *const sources[] = {a, b};
    kernel_map(&rows[dst->dtype][op], dst, sources, 2);
}
