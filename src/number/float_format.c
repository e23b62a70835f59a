/* The table of float formats, and rounding to a format. */
#include "number/float_format.h"

#include <math.h>
#include <string.h>

#include "base/lex.h"

/* Which bit patterns are not finite numbers. */
typedef enum specials {
    SPECIALS_IEEE,          /* the largest exponent: infinities and NaN */
    SPECIALS_ALL_ONES,      /* NaN only: all bits but the sign set */
    SPECIALS_NEGATIVE_ZERO, /* NaN only, in place of negative zero */
    SPECIALS_UNSIGNED,      /* no sign, no zero; NaN: all bits set */
    SPECIALS_NONE
} specials;

typedef struct format_row {
    const char *name;
    unsigned bits;
    unsigned exponent_bits;
    unsigned mantissa_bits;
    int bias;
    specials specials;
} format_row;

static const format_row FORMATS[FLOAT_FORMAT_COUNT] = {
    [FLOAT_F4E2M1FN] = {"f4E2M1FN", 4, 2, 1, 1, SPECIALS_NONE},
    [FLOAT_F6E2M3FN] = {"f6E2M3FN", 6, 2, 3, 1, SPECIALS_NONE},
    [FLOAT_F6E3M2FN] = {"f6E3M2FN", 6, 3, 2, 3, SPECIALS_NONE},
    [FLOAT_F8E3M4] = {"f8E3M4", 8, 3, 4, 3, SPECIALS_IEEE},
    [FLOAT_F8E4M3] = {"f8E4M3", 8, 4, 3, 7, SPECIALS_IEEE},
    [FLOAT_F8E4M3FN] = {"f8E4M3FN", 8, 4, 3, 7, SPECIALS_ALL_ONES},
    [FLOAT_F8E4M3FNUZ] = {"f8E4M3FNUZ", 8, 4, 3, 8, SPECIALS_NEGATIVE_ZERO},
    [FLOAT_F8E4M3B11FNUZ] = {"f8E4M3B11FNUZ", 8, 4, 3, 11, SPECIALS_NEGATIVE_ZERO},
    [FLOAT_F8E5M2] = {"f8E5M2", 8, 5, 2, 15, SPECIALS_IEEE},
    [FLOAT_F8E5M2FNUZ] = {"f8E5M2FNUZ", 8, 5, 2, 16, SPECIALS_NEGATIVE_ZERO},
    [FLOAT_F8E8M0FNU] = {"f8E8M0FNU", 8, 8, 0, 127, SPECIALS_UNSIGNED},
    [FLOAT_F16] = {"f16", 16, 5, 10, 15, SPECIALS_IEEE},
    [FLOAT_BF16] = {"bf16", 16, 8, 7, 127, SPECIALS_IEEE},
    [FLOAT_TF32] = {"tf32", 19, 8, 10, 127, SPECIALS_IEEE},
    [FLOAT_F32] = {"f32", 32, 8, 23, 127, SPECIALS_IEEE},
    [FLOAT_F64] = {"f64", 64, 11, 52, 1023, SPECIALS_IEEE},
};

const char *float_format_name(float_format f)
{
    return FORMATS[f].name;
}

bool float_format_find(const char *name, size_t size, float_format *out)
{
    for (int i = 0; i < FLOAT_FORMAT_COUNT; i++) {
        if (slice_is((slice){name, size}, FORMATS[i].name)) {
            *out = (float_format)i;
            return true;
        }
    }
    return false;
}

unsigned float_format_bits(float_format f)
{
    return FORMATS[f].bits;
}

unsigned float_format_precision(float_format f)
{
    return FORMATS[f].mantissa_bits + 1;
}

static uint64_t ones(unsigned count)
{
    return ((uint64_t)1 << count) - 1;
}

static uint64_t top_bit(const format_row *row)
{
    return (uint64_t)1 << (row->bits - 1);
}

/* The sign bit; 0 when the format has no sign. */
static uint64_t sign_bit(const format_row *row)
{
    return row->specials == SPECIALS_UNSIGNED ? 0 : top_bit(row);
}

/* All bits but the sign. */
static uint64_t magnitude_mask(const format_row *row)
{
    return ones(row->exponent_bits + row->mantissa_bits);
}

/* The bits of infinity, or of the first NaN, of a format whose largest exponent is special. */
static uint64_t infinity_bits(const format_row *row)
{
    return ones(row->exponent_bits) << row->mantissa_bits;
}

/* The bits of the largest finite value. */
static uint64_t largest_bits(const format_row *row)
{
    switch (row->specials) {
    case SPECIALS_IEEE:
        return infinity_bits(row) - 1;
    case SPECIALS_ALL_ONES:
    case SPECIALS_UNSIGNED:
        return magnitude_mask(row) - 1;
    default:
        return magnitude_mask(row);
    }
}

/* The reference sets the top bit for a negative value of a format without sign, too. */
static uint64_t signed_bits(const format_row *row, bool negative, uint64_t magnitude)
{
    return magnitude | (negative ? top_bit(row) : 0);
}

/* What a value above the largest one becomes. */
static uint64_t overflow_bits(const format_row *row, bool negative)
{
    switch (row->specials) {
    case SPECIALS_IEEE:
        return signed_bits(row, negative, infinity_bits(row));
    case SPECIALS_ALL_ONES:
        return signed_bits(row, negative, magnitude_mask(row));
    case SPECIALS_NEGATIVE_ZERO:
        return sign_bit(row);
    case SPECIALS_UNSIGNED:
        return magnitude_mask(row);
    default:
        return signed_bits(row, negative, magnitude_mask(row));
    }
}

static uint64_t nan_bits(const format_row *row, bool negative)
{
    if (row->specials == SPECIALS_IEEE) {
        const uint64_t quiet = (uint64_t)1 << (row->mantissa_bits - 1);
        return signed_bits(row, negative, infinity_bits(row) | quiet);
    }
    return row->specials == SPECIALS_NONE ? 0 : overflow_bits(row, negative);
}

static uint64_t zero_bits(const format_row *row, bool negative)
{
    return negative && row->specials != SPECIALS_NEGATIVE_ZERO ? sign_bit(row) : 0;
}

/* mantissa / 2^shift to nearest even, where the mantissa stands for a little more if `inexact`. */
static uint64_t round_shift(uint64_t mantissa, int shift, bool inexact)
{
    if (shift > 64) {
        return 0;
    }
    const uint64_t half = (uint64_t)1 << (shift - 1);
    const uint64_t kept = shift == 64 ? 0 : mantissa >> shift;
    const uint64_t rest = mantissa & (half | (half - 1));
    const bool above = rest > half || (rest == half && (inexact || (kept & 1) != 0));
    return kept + (above ? 1 : 0);
}

/* The field of the exponent of the smallest normal values. */
static int first_normal(const format_row *row)
{
    return row->specials == SPECIALS_UNSIGNED ? 0 : 1;
}

/*
 * Rounds without a limit upwards. The hidden bit of the rounded significand, added to the field of
 * the exponent less one, makes the field right, also when rounding carries into the next binade.
 */
static uint64_t round_magnitude(const format_row *row, binary_number number)
{
    const int field = number.exponent + 63 + row->bias;
    const int lowest = first_normal(row);
    const int subnormal = field < lowest ? lowest - field : 0;
    const int shift = 63 - (int)row->mantissa_bits + subnormal;
    const uint64_t kept = round_shift(number.mantissa, shift, number.inexact);
    if (lowest == 0) {
        return subnormal > 0 ? 0 : (uint64_t)field + kept - 1;
    }
    const uint64_t below = (uint64_t)(field > 1 ? field - 1 : 0);
    return (below << row->mantissa_bits) + kept;
}

uint64_t float_from_binary(float_format f, bool negative, binary_number number)
{
    const format_row *row = &FORMATS[f];
    if (number.exponent + 63 > row->bias + 1) {
        return overflow_bits(row, negative);
    }
    const uint64_t magnitude = round_magnitude(row, number);
    if (magnitude > largest_bits(row)) {
        return overflow_bits(row, negative);
    }
    return magnitude == 0 ? zero_bits(row, negative) : signed_bits(row, negative, magnitude);
}

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t float_from_double(float_format f, double value)
{
    const format_row *row = &FORMATS[f];
    const float_parts parts = float_take_apart(FLOAT_F64, bits_of_double(value));
    if (f == FLOAT_F64) {
        return bits_of_double(value);
    }
    if (!parts.finite) {
        return isnan(value) ? nan_bits(row, parts.negative) : overflow_bits(row, parts.negative);
    }
    if (parts.significand == 0) {
        return zero_bits(row, parts.negative);
    }
    const int zeros = __builtin_clzll(parts.significand);
    return float_from_binary(
        f, parts.negative,
        (binary_number){parts.significand << zeros, parts.exponent - zeros, false});
}

static bool is_finite(const format_row *row, uint64_t bits)
{
    if (row->specials == SPECIALS_NEGATIVE_ZERO) {
        return bits != sign_bit(row);
    }
    return (bits & magnitude_mask(row)) <= largest_bits(row);
}

float_parts float_take_apart(float_format f, uint64_t bits)
{
    const format_row *row = &FORMATS[f];
    float_parts parts = {.negative = (bits & sign_bit(row)) != 0, .finite = is_finite(row, bits)};
    const uint64_t mantissa = bits & ones(row->mantissa_bits);
    const int field = (int)((bits & magnitude_mask(row)) >> row->mantissa_bits);
    const bool normal = field >= first_normal(row);
    parts.significand = mantissa | (normal ? (uint64_t)1 << row->mantissa_bits : 0);
    parts.exponent = (normal ? field : 1) - row->bias - (int)row->mantissa_bits;
    return parts;
}

double float_to_double(float_format f, uint64_t bits)
{
    const format_row *row = &FORMATS[f];
    const float_parts parts = float_take_apart(f, bits);
    double value = ldexp((double)parts.significand, parts.exponent);
    if (!parts.finite) {
        const bool infinite =
            row->specials == SPECIALS_IEEE && (bits & magnitude_mask(row)) == infinity_bits(row);
        value = infinite ? (double)INFINITY : (double)NAN;
    }
    return parts.negative ? -value : value;
}
