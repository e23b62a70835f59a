#include "kernel/elementwise.h"
#include "kernel/map.h"

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

#define TEMPLATE "kernel/convert_to_integer.inc"
#include "kernel/element_types.inc"

#define TEMPLATE "kernel/convert_type.inc"
#include "kernel/element_types.inc"

/* By the type that is converted, then by the one that comes out. */
#define ROW(NAME, type) [TSR_##NAME] = type##_conversions,
static const map_forms *const rows[NUM_ELEMENT_TYPES] = {ELEMENT_TYPES(ROW)};

bool convert_supports(tsr_dtype from, tsr_dtype to)
{
    return rows[from] != NULL && rows[from][to].run[0] != NULL;
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
