/* f16 and bf16 to f32 and back, rounding to nearest even. */
#ifndef NUMBER_HALF_H
#define NUMBER_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of_bf16(uint16_t half)
{
    return float_of_bits((uint32_t)half << 16);
}

/* One of two by arithmetic, so that a loop over many has no branches. */
static inline int32_t choose_bits(bool condition, int32_t yes, int32_t no)
{
    const int32_t mask = -(int32_t)condition;
    return no ^ ((yes ^ no) & mask);
}

/* The bits but for the sign; signed, because vectors of signed numbers are compared faster. */
static inline int32_t magnitude_of_float(float value)
{
    return (int32_t)(bits_of_float(value) & 0x7fffffffU);
}

static inline float float_of_magnitude(int32_t magnitude)
{
    return float_of_bits((uint32_t)magnitude);
}

enum {
    FLOAT_INFINITY = 0x7f800000,   /* magnitudes above it are NaNs */
    F16_LEAST_NORMAL = 0x38800000, /* 2^-14 */
    F16_OVERFLOW = 0x477ff000      /* 65520: from here on the nearest f16 is infinity */
};

static inline uint16_t bf16_of_float(float value)
{
    const uint32_t bits = bits_of_float(value);
    const int32_t rounded = (int32_t)((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
    const int32_t nan = (int32_t)(bits >> 16) | 0x40;
    return (uint16_t)choose_bits(magnitude_of_float(value) > FLOAT_INFINITY, nan, rounded);
}

/*
 * Subnormals become the fraction of a number in [2^-14, 2^-13), from which 2^-14 is taken; so no
 * f32 subnormal is used, which some programs ask the processor to treat as zero.
 */
static inline float float_of_f16(uint16_t half)
{
    const int32_t magnitude = (half & 0x7fff) << 13;
    const int32_t bias = choose_bits(magnitude >= 0x0f800000, 0x70000000, 0x38000000);
    const float subnormal = float_of_magnitude(magnitude | F16_LEAST_NORMAL) - 0x1p-14F;
    const int32_t chosen =
        choose_bits(magnitude < 0x00800000, magnitude_of_float(subnormal), magnitude + bias);
    return float_of_bits((uint32_t)chosen | (uint32_t)(half & 0x8000) << 16);
}

/*
 * Adding one half moves the last place of a subnormal to the last place of the sum, which rounds
 * it; normal numbers are rounded as integers.
 */
static inline uint16_t f16_of_float(float value)
{
    const int32_t magnitude = magnitude_of_float(value);
    const bool is_small = magnitude < F16_LEAST_NORMAL;
    const float shifted = float_of_magnitude(choose_bits(is_small, magnitude, 0)) + 0.5F;
    const int32_t subnormal = magnitude_of_float(shifted) - 0x3f000000;
    const int32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    const int32_t special = choose_bits(magnitude > FLOAT_INFINITY, 0x7e00, 0x7c00);
    const int32_t finite = choose_bits(is_small, subnormal, normal);
    const uint32_t sign = (bits_of_float(value) >> 16) & 0x8000U;
    return (uint16_t)((uint32_t)choose_bits(magnitude >= F16_OVERFLOW, special, finite) | sign);
}

#endif
