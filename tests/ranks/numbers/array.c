/* Arrays, element types and their bytes. */
#include <math.h>
#include <string.h>

#include "reference.h"
#include "support.h"

ref_array ref_new(tsr_arena *arena, tsr_dtype dtype, size_t rank, const int64_t *shape)
{
    ref_array x = {.dtype = dtype, .rank = rank, .count = 1};
    for (size_t d = 0; d < rank; d++) {
        x.shape[d] = shape[d];
        x.count *= shape[d];
    }
    const size_t bytes = ((size_t)x.count + 1) * sizeof *x.at;
    x.at = tsr_arena_alloc(arena, bytes);
    assert_non_null(x.at);
    memset(x.at, 0, bytes);
    return x;
}

void ref_index(const ref_array *x, int64_t place, int64_t *index)
{
    for (size_t d = x->rank; d > 0; d--) {
        index[d - 1] = place % x->shape[d - 1];
        place /= x->shape[d - 1];
    }
}

int64_t ref_place(const ref_array *x, const int64_t *index)
{
    int64_t place = 0;
    for (size_t d = 0; d < x->rank; d++) {
        place = place * x->shape[d] + index[d];
    }
    return place;
}

/* ---- element types ---- */

/* Significant bits, the exponent of the least normal number, and that of the greatest. */
typedef struct format {
    int bits;
    int least;
    int greatest;
} format;

static format format_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F16:
        return (format){11, -14, 15};
    case TSR_BF16:
        return (format){8, -126, 127};
    case TSR_F32:
        return (format){24, -126, 127};
    default:
        return (format){53, -1022, 1023};
    }
}

bool ref_is_float(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 || dtype == TSR_F32 || dtype == TSR_F64;
}

bool ref_is_unsigned(tsr_dtype dtype)
{
    return dtype == TSR_U8 || dtype == TSR_I1;
}

int ref_bits(tsr_dtype dtype)
{
    return dtype == TSR_I1 ? 1 : dtype == TSR_U8 ? 8 : dtype == TSR_I32 ? 32 : 64;
}

int64_t ref_wrap(tsr_dtype dtype, uint64_t bits)
{
    const int size = ref_bits(dtype);
    if (size == 64) {
        return (int64_t)bits;
    }
    const uint64_t low = bits & ((UINT64_C(1) << size) - 1);
    const bool negative = !ref_is_unsigned(dtype) && (low >> (size - 1)) != 0;
    return negative ? (int64_t)low - ((int64_t)1 << size) : (int64_t)low;
}

int64_t ref_least(tsr_dtype dtype)
{
    return ref_is_unsigned(dtype) ? 0 : dtype == TSR_I32 ? INT32_MIN : INT64_MIN;
}

int64_t ref_greatest(tsr_dtype dtype)
{
    return dtype == TSR_I1   ? 1
           : dtype == TSR_U8 ? UINT8_MAX
                             : (dtype == TSR_I32 ? INT32_MAX : INT64_MAX);
}

double ref_round(tsr_dtype dtype, long double value)
{
    const format f = format_of(dtype);
    int exponent = 0;
    if (isnan(value) || isinf(value) || value == 0) {
        return (double)value;
    }
    (void)frexpl(value, &exponent);
    exponent = exponent - 1 < f.least ? f.least + 1 : exponent;
    const long double unit = ldexpl(1, exponent - f.bits);
    const long double rounded = nearbyintl(value / unit) * unit;
    const bool overflows = fabsl(rounded) >= ldexpl(1, f.greatest + 1);
    return overflows ? copysign(INFINITY, (double)value) : (double)rounded;
}

double ref_unit(tsr_dtype dtype)
{
    return ldexp(1, -format_of(dtype).bits);
}

double ref_tiny(tsr_dtype dtype)
{
    const format f = format_of(dtype);
    return ldexp(1, f.least - f.bits + 1);
}

/* The 16 bits of a number of f16 or bf16. */
static uint16_t bits_of_half(tsr_dtype dtype, double value)
{
    const format f = format_of(dtype);
    const int fraction_bits = f.bits - 1;
    const unsigned sign = signbit(value) ? 0x8000U : 0;
    const unsigned infinite = (unsigned)(f.greatest * 2 + 1) << fraction_bits;
    int exponent = 0;
    if (isnan(value)) {
        return (uint16_t)(infinite | 1U << (fraction_bits - 1));
    }
    if (isinf(value)) {
        return (uint16_t)(sign | infinite);
    }
    (void)frexp(value, &exponent);
    if (value == 0 || exponent - 1 < f.least) {
        return (uint16_t)(sign | (unsigned)ldexp(fabs(value), fraction_bits - f.least));
    }
    const unsigned whole = (unsigned)ldexp(fabs(value), fraction_bits - (exponent - 1));
    const unsigned biased = (unsigned)(exponent - 1 + f.greatest);
    return (uint16_t)(sign | biased << fraction_bits | (whole & ((1U << fraction_bits) - 1)));
}

static double half_of_bits(tsr_dtype dtype, uint16_t bits)
{
    const format f = format_of(dtype);
    const int fraction_bits = f.bits - 1;
    const unsigned fraction = bits & ((1U << fraction_bits) - 1);
    const int biased = (bits & 0x7fff) >> fraction_bits;
    double value =
        biased == 0 ? ldexp(fraction, f.least - fraction_bits)
                    : ldexp(fraction + (1U << fraction_bits), biased - f.greatest - fraction_bits);
    if (biased == f.greatest * 2 + 1) {
        value = fraction != 0 ? (double)NAN : (double)INFINITY;
    }
    return (bits & 0x8000) != 0 ? -value : value;
}

void ref_write(tsr_dtype dtype, ref_number number, void *element)
{
    const float f32 = (float)number.f;
    const int32_t i32 = (int32_t)number.i;
    const uint8_t u8 = (uint8_t)number.i;
    uint16_t half;
    switch (dtype) {
    case TSR_F64:
        memcpy(element, &number.f, sizeof number.f);
        break;
    case TSR_F32:
        memcpy(element, &f32, sizeof f32);
        break;
    case TSR_F16:
    case TSR_BF16:
        half = bits_of_half(dtype, number.f);
        memcpy(element, &half, sizeof half);
        break;
    case TSR_I64:
        memcpy(element, &number.i, sizeof number.i);
        break;
    case TSR_I32:
        memcpy(element, &i32, sizeof i32);
        break;
    default:
        memcpy(element, &u8, sizeof u8);
    }
}

ref_number ref_read(tsr_dtype dtype, const void *element)
{
    ref_number number = {0};
    float f32;
    int32_t i32;
    uint16_t half;
    switch (dtype) {
    case TSR_F64:
        memcpy(&number.f, element, sizeof number.f);
        break;
    case TSR_F32:
        memcpy(&f32, element, sizeof f32);
        number.f = (double)f32;
        break;
    case TSR_F16:
    case TSR_BF16:
        memcpy(&half, element, sizeof half);
        number.f = half_of_bits(dtype, half);
        break;
    case TSR_I64:
        memcpy(&number.i, element, sizeof number.i);
        break;
    case TSR_I32:
        memcpy(&i32, element, sizeof i32);
        number.i = i32;
        break;
    default:
        number.i = *(const uint8_t *)element;
    }
    return number;
}
