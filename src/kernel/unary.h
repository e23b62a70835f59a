/*
 * Functions of one number, and at the end the list of them. They are for loops over many numbers:
 * those of f32 are free of branches and calls, so that compilers vectorise the loop, but for expm1,
 * log1p, sin, cos, tan, asinh, cbrt and erfc.
 *
 * Their results are IEEE arithmetic in an order that is written down, so they are the same on every
 * processor. Errors in f32 against the exact value, in units in the last place, as
 * tests/unit/kernel/test_unary.c holds them: sqrt half; exp, log, rsqrt and logistic at most 2;
 * tanh, erf, silu and gelu at most 4, in the subnormals too. What goes by way of f64 is rounded
 * from the library's result, which is nearly exact: at most 1. Those of f64 are the C library's,
 * which promises less: it may differ between machines in the last place.
 *
 * A NaN that comes out is the positive quiet one, except of negate and abs, which change the sign
 * and nothing else. silu and gelu of minus infinity are NaN, as the product is.
 */
#ifndef KERNEL_UNARY_H
#define KERNEL_UNARY_H

#include <float.h>
#include <math.h>

#include "kernel/vector.h"

/* Adding it rounds a small number to an integer, which is in the low bits of the sum. */
#define ROUNDER 0x1.8p23F

/* e^x = (1 + s) * 2^n */
typedef struct exp_parts {
    float s;
    int32_t n;
} exp_parts;

/* x - n ln 2, in two parts, the first of so few bits that the product is exact. */
INLINE float exp_rest(float x, float n)
{
    return (x - n * 0.693359375F) + n * 2.12194440e-4F;
}

/* The parts for n = rounded - ROUNDER and the rest r, within +-0.42: r + r^2 p(r). */
INLINE exp_parts exp_of_rest(float rounded, float r)
{
    float p = 1.392692661e-3F;
    p = p * r + 8.363773874e-3F;
    p = p * r + 4.166655011e-2F;
    p = p * r + 1.666657338e-1F;
    p = p * r + 0.5F;
    return (exp_parts){r + r * r * p, (int32_t)(bits_of_float(rounded) - bits_of_float(ROUNDER))};
}

/* For x within +-200, or a NaN. */
INLINE exp_parts exp_split(float x)
{
    const float rounded = x * 1.44269504F + ROUNDER;
    return exp_of_rest(rounded, exp_rest(x, rounded - ROUNDER));
}

INLINE float power_of_2(int32_t n)
{
    return float_of_bits((uint32_t)(n + 127) << 23);
}

/* y * 2^n for n within +-252, rounded once: by halves, because 2^n may be no f32. */
INLINE float scaled(float y, int32_t n)
{
    const int32_t half = n >> 1;
    return y * power_of_2(half) * power_of_2(n - half);
}

/*
 * |x|, at most some number, which a NaN becomes. Bits are compared: gcc would take a minimum of
 * floats apart, and choose between results.
 */
INLINE float bounded(float x, float most)
{
    const int32_t magnitude = magnitude_of_float(x);
    const int32_t limit = magnitude_of_float(most);
    return float_of_magnitude(magnitude < limit ? magnitude : limit);
}

/* y, or the plain NaN. */
INLINE float nan_if(bool is_nan, float y)
{
    return float_of_bits((uint32_t)choose_bits(is_nan, 0x7fc00000, (int32_t)bits_of_float(y)));
}

/* |x|, or a number, with the sign of another. */
INLINE float magnitude_of(float x)
{
    return float_of_magnitude(magnitude_of_float(x));
}

INLINE float with_sign(float x, float sign)
{
    return float_of_bits((bits_of_float(x) & 0x7fffffffU) | (bits_of_float(sign) & 0x80000000U));
}

/* Beyond the bounds it is infinity, or less than half of the least subnormal. */
INLINE float exp_float(float x)
{
    const exp_parts e = exp_split(with_sign(bounded(x, 104.0F), x));
    return nan_if(x != x, scaled(1.0F + e.s, e.n));
}

/* 1 / (1 + e^-|x|), or the same times e^-|x|; what rounding took from both is put back. */
INLINE float logistic_float(float x)
{
    const exp_parts parts = exp_split(-bounded(x, 104.0F));
    const float y = 1.0F + parts.s;
    const float low = parts.s - (y - 1.0F);
    const float e = scaled(y, parts.n);
    const float divisor = 1.0F + e;
    const float lost = e - (divisor - 1.0F);
    const float quotient = (x < 0.0F ? e : 1.0F) / divisor;
    return nan_if(x != x, quotient + quotient * ((x < 0.0F ? low : 0.0F) - lost));
}

/* The power of 2 comes last: what it makes subnormal is rounded once. */
INLINE float silu_float(float x)
{
    const float a = bounded(x, 120.0F);
    const exp_parts parts = exp_split(-a);
    const float e = scaled(1.0F + parts.s, parts.n);
    const float quotient = (x < 0.0F ? -a - a * parts.s : x) / (1.0F + e);
    const float y = scaled(quotient, x < 0.0F ? parts.n : 0);
    return nan_if(!(x >= -FLT_MAX), y);
}

/* x + x^3 p(x^2) near 0, 1 - 2 / (e^2|x| + 1) elsewhere; from 10 on that is 1. */
INLINE float tanh_float(float x)
{
    const float a = bounded(x, 10.0F);
    const exp_parts e = exp_split(2.0F * a);
    const float large = 1.0F - 2.0F / ((1.0F + e.s) * power_of_2(e.n) + 1.0F);
    const float z = a * a;
    float p = -6.610227831e-3F;
    p = p * z + 2.130938866e-2F;
    p = p * z - 5.390942883e-2F;
    p = p * z + 1.333311373e-1F;
    p = p * z - 3.333333201e-1F;
    const float small = a + a * (z * p);
    return nan_if(x != x, with_sign(a < 0.55F ? small : large, x));
}

/* x + x p(x^2) near 0, 1 - e^q(|x|) elsewhere; from 4 on that is 1. */
INLINE float erf_float(float x)
{
    const float t = bounded(x, 4.0F);
    const float s = t * t;
    float q = (-1.72853470e-5F * t + 3.83197126e-4F) * s + (-3.88396438e-3F * t + 2.42546219e-2F);
    q = q * t - 1.06777877e-1F;
    q = q * t - 6.34846687e-1F;
    q = q * t - 1.28717512e-1F;
    q = q * t - t;
    const exp_parts e = exp_split(q);
    const float large = 1.0F - (1.0F + e.s) * power_of_2(e.n);
    float p = -5.96761703e-4F;
    p = p * s + 4.99119423e-3F;
    p = p * s - 2.67681349e-2F;
    p = p * s + 1.12819925e-1F;
    p = p * s - 3.76125336e-1F;
    p = p * s + 1.28379166e-1F;
    return nan_if(x != x, with_sign(t > 0.927734375F ? large : t + t * p, x));
}

/*
 * x times the normal distribution, which at -a is e^(-a^2/2) q, where (a + 2.5) q is a polynomial
 * in 2 a / (a + 2.5). The square is taken in two parts: its rounding would be e^'s error.
 * What rounding takes from a + 2.5 is put back.
 */
INLINE float gelu_float(float x)
{
    const float a = bounded(x, 15.0F);
    const float sum = a + 2.5F;
    const float inverse = 1.0F / sum;
    const float lost = 2.5F * (a - (sum - 2.5F)) * (inverse * inverse);
    const float top = float_of_bits(bits_of_float(a) & 0xfffff000U);
    const float square = -0.5F * (top * top);
    const float rounded = square * 1.44269504F + ROUNDER;
    const float rest = exp_rest(square, rounded - ROUNDER);
    const exp_parts e = exp_of_rest(rounded, rest - (0.5F * ((a - top) * (a + top)) + lost));
    const float part = a * inverse;
    const float u = part + part;
    float p = -2.612839489e-05F;
    p = p * u + 6.870319339e-05F;
    p = p * u + 2.718564647e-04F;
    p = p * u - 7.861630293e-04F;
    p = p * u + 1.227435278e-04F;
    p = p * u - 3.141295398e-03F;
    p = p * u + 2.796228509e-03F;
    p = p * u + 3.666775301e-02F;
    p = p * u + 4.237800464e-02F;
    p = p * u - 6.216950417e-01F;
    p = p * u + 1.25F;
    const float q = p * (x < 0.0F ? -part : inverse);
    const float tail = q + q * e.s;
    const float below = scaled(tail, e.n);
    const float y = x < 0.0F ? below : x * (1.0F - below);
    return nan_if(!(x >= -FLT_MAX), y);
}

/* log(m 2^e) = e ln 2 + f - f^2/2 + f^3 p(f), where f = m - 1 and m is from sqrt(1/2) to sqrt 2. */
INLINE float log_float(float x)
{
    const bool subnormal = x < FLT_MIN;
    const float normal = subnormal ? x * 0x1p23F : x;
    const uint32_t bits = bits_of_float(normal) - 0x3f3504f3U;
    const int32_t exponent = ((int32_t)bits >> 23) - choose_bits(subnormal, 23, 0);
    const float e = (float)exponent;
    const float f = float_of_bits((bits & 0x7fffffU) + 0x3f3504f3U) - 1.0F;
    float p = 7.0376836292e-2F;
    p = p * f - 1.1514610310e-1F;
    p = p * f + 1.1676998740e-1F;
    p = p * f - 1.2420140846e-1F;
    p = p * f + 1.4249322787e-1F;
    p = p * f - 1.6668057665e-1F;
    p = p * f + 2.0000714765e-1F;
    p = p * f - 2.4999993993e-1F;
    p = p * f + 3.3333331174e-1F;
    const float z = f * f;
    const float low = (f * z * p - e * 2.12194440e-4F) - 0.5F * z;
    const float y = (f + low) + e * 0.693359375F;
    const float finite = x > FLT_MAX ? x : y;
    const float above = x == 0.0F ? -INFINITY : finite;
    return nan_if(!(x >= 0.0F), above);
}

INLINE float sqrt_float(float x)
{
    return plain_float(sqrtf(x));
}

INLINE float rsqrt_float(float x)
{
    return plain_float(1.0F / sqrtf(x));
}

INLINE float negate_float(float x)
{
    return float_of_bits(bits_of_float(x) ^ 0x80000000U);
}

INLINE float abs_float(float x)
{
    return magnitude_of(x);
}

/* Zeros keep their sign. */
INLINE float sign_float(float x)
{
    const float y = x == 0.0F ? 0.0F : 1.0F;
    return plain_float(x != x ? x : with_sign(y, x));
}

INLINE float relu_float(float x)
{
    return plain_float(((x > 0.0F) | (x != x)) ? x : 0.0F);
}

/* Numbers from 2^23 on are integers; adding as much to others rounds them to the nearest. */
INLINE float floor_float(float x)
{
    const float a = magnitude_of(x);
    const float nearest = with_sign((a + 0x1p23F) - 0x1p23F, x);
    const float below = nearest - (nearest > x ? 1.0F : 0.0F);
    return plain_float(a < 0x1p23F ? with_sign(below, x) : x);
}

INLINE float ceil_float(float x)
{
    return plain_float(negate_float(floor_float(negate_float(x))));
}

INLINE float round_nearest_even_float(float x)
{
    const float a = magnitude_of(x);
    const float nearest = with_sign((a + 0x1p23F) - 0x1p23F, x);
    return plain_float(a < 0x1p23F ? nearest : x);
}

INLINE float round_nearest_afz_float(float x)
{
    const float a = magnitude_of(x);
    const float below = floor_float(a);
    return plain_float(with_sign(below + (a - below >= 0.5F ? 1.0F : 0.0F), x));
}

/* |x| less its integer part is exact; adding 1/2 to |x| would not be. */
INLINE float expm1_float(float x)
{
    return plain_float((float)expm1((double)x));
}

INLINE float log1p_float(float x)
{
    return plain_float((float)log1p((double)x));
}

INLINE float sin_float(float x)
{
    return plain_float((float)sin((double)x));
}

INLINE float cos_float(float x)
{
    return plain_float((float)cos((double)x));
}

INLINE float tan_float(float x)
{
    return plain_float((float)tan((double)x));
}

INLINE float erfc_float(float x)
{
    return plain_float((float)erfc((double)x));
}

INLINE float asinh_float(float x)
{
    return plain_float((float)asinh((double)x));
}

INLINE float cbrt_float(float x)
{
    return plain_float((float)cbrt((double)x));
}

INLINE double exp_double(double x)
{
    return plain_double(exp(x));
}

INLINE double expm1_double(double x)
{
    return plain_double(expm1(x));
}

INLINE double log_double(double x)
{
    return plain_double(log(x));
}

INLINE double log1p_double(double x)
{
    return plain_double(log1p(x));
}

INLINE double sqrt_double(double x)
{
    return plain_double(sqrt(x));
}

INLINE double tanh_double(double x)
{
    return plain_double(tanh(x));
}

INLINE double erf_double(double x)
{
    return plain_double(erf(x));
}

INLINE double erfc_double(double x)
{
    return plain_double(erfc(x));
}

INLINE double asinh_double(double x)
{
    return plain_double(asinh(x));
}

INLINE double sin_double(double x)
{
    return plain_double(sin(x));
}

INLINE double cos_double(double x)
{
    return plain_double(cos(x));
}

INLINE double tan_double(double x)
{
    return plain_double(tan(x));
}

INLINE double cbrt_double(double x)
{
    return plain_double(cbrt(x));
}

INLINE double floor_double(double x)
{
    return plain_double(floor(x));
}

INLINE double ceil_double(double x)
{
    return plain_double(ceil(x));
}

/* Numbers from 2^52 on are integers; adding as much to others rounds them to the nearest. */
INLINE double round_nearest_even_double(double x)
{
    const double a = fabs(x);
    const double nearest = copysign((a + 0x1p52) - 0x1p52, x);
    return plain_double(a < 0x1p52 ? nearest : x);
}

INLINE double round_nearest_afz_double(double x)
{
    return plain_double(round(x));
}

INLINE double rsqrt_double(double x)
{
    return plain_double(1.0 / sqrt(x));
}

INLINE double logistic_double(double x)
{
    const double e = exp(-fabs(x));
    return plain_double((x < 0.0 ? e : 1.0) / (1.0 + e));
}

INLINE double silu_double(double x)
{
    const double e = exp(-fabs(x));
    return plain_double((x < 0.0 ? x * e : x) / (1.0 + e));
}

/* What rounding took from x / sqrt 2 would be many units in erfc's last place; it is put back. */
INLINE double gelu_double(double x)
{
    const double z = x * -0x1.6a09e667f3bcdp-1;
    const double lost = fma(x, -0x1.6a09e667f3bcdp-1, -z) + x * 0x1.bdd3413b26456p-55;
    const double slope = -0x1.20dd750429b6dp+0 * exp(-z * z);
    const double tail = erfc(z) + (fabs(x) < 40.0 ? slope * lost : 0.0);
    return plain_double(0.5 * x * tail);
}

INLINE double negate_double(double x)
{
    return -x;
}

INLINE double abs_double(double x)
{
    return fabs(x);
}

INLINE double sign_double(double x)
{
    const double y = x == 0.0 ? 0.0 : 1.0;
    return plain_double(x != x ? x : copysign(y, x));
}

INLINE double relu_double(double x)
{
    return plain_double(((x > 0.0) | (x != x)) ? x : 0.0);
}

/* The bits that are set: sums of neighbouring groups of bits, twice as wide each time. */
INLINE uint64_t count_of_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x += x >> 8;
    x += x >> 16;
    x += x >> 32;
    return x & 0x7f;
}

/* Sets every bit below the highest one that is set. */
INLINE uint64_t filled_downwards(uint64_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return x | x >> 32;
}

INLINE uint8_t not_truth(uint8_t x)
{
    return x ^ 1;
}

/*
 * All functions of one number: X(name in unary_op, function, floats, integers, truth values). The
 * last three say for which element types there is one.
 *
 * SIGN of a float zero is that zero. LOGISTIC is 1 / (1 + e^-x), SILU x * logistic(x), GELU
 * x * (1 + erf(x / sqrt 2)) / 2, RELU max(x, 0), which propagates a NaN. ROUND_NEAREST_EVEN and
 * ROUND_NEAREST_AFZ (away from zero) differ for halves between integers. NOT is of bits, and of
 * truth values logical.
 */
#define UNARY_OPS(X)                                                                               \
    X(NEGATE, negate, YES, YES, NO)                                                                \
    X(ABS, abs, YES, YES, NO)                                                                      \
    X(SIGN, sign, YES, YES, NO)                                                                    \
    X(EXP, exp, YES, NO, NO)                                                                       \
    X(EXPM1, expm1, YES, NO, NO)                                                                   \
    X(LOG, log, YES, NO, NO)                                                                       \
    X(LOG1P, log1p, YES, NO, NO)                                                                   \
    X(SQRT, sqrt, YES, NO, NO)                                                                     \
    X(RSQRT, rsqrt, YES, NO, NO)                                                                   \
    X(TANH, tanh, YES, NO, NO)                                                                     \
    X(ERF, erf, YES, NO, NO)                                                                       \
    X(ERFC, erfc, YES, NO, NO)                                                                     \
    X(ASINH, asinh, YES, NO, NO)                                                                   \
    X(LOGISTIC, logistic, YES, NO, NO)                                                             \
    X(SILU, silu, YES, NO, NO)                                                                     \
    X(GELU, gelu, YES, NO, NO)                                                                     \
    X(RELU, relu, YES, YES, NO)                                                                    \
    X(SIN, sin, YES, NO, NO)                                                                       \
    X(COS, cos, YES, NO, NO)                                                                       \
    X(FLOOR, floor, YES, NO, NO)                                                                   \
    X(CEIL, ceil, YES, NO, NO)                                                                     \
    X(CBRT, cbrt, YES, NO, NO)                                                                     \
    X(TAN, tan, YES, NO, NO)                                                                       \
    X(ROUND_NEAREST_EVEN, round_nearest_even, YES, NO, NO)                                         \
    X(ROUND_NEAREST_AFZ, round_nearest_afz, YES, NO, NO)                                           \
    X(POPCNT, popcnt, NO, YES, NO)                                                                 \
    X(COUNT_LEADING_ZEROS, count_leading_zeros, NO, YES, NO)                                       \
    X(NOT, not, NO, YES, YES)

#endif

/*
 * The forms of integers: this part is included by a template, once for each element type
 * (element_types.inc has the macros). None overflows: what is negative goes by way of PATTERN.
 */
#ifdef TYPE
#if IS_INTEGER

INLINE ITEM FORM(negate)(ITEM x)
{
    return (ITEM)(0U - (PATTERN)x);
}

INLINE ITEM FORM(relu)(ITEM x)
{
    return x > 0 ? x : 0;
}

INLINE ITEM FORM(popcnt)(ITEM x)
{
    return (ITEM)count_of_bits((PATTERN)x);
}

INLINE ITEM FORM(count_leading_zeros)(ITEM x)
{
    return (ITEM)(BITS - count_of_bits(filled_downwards((PATTERN)x)));
}

INLINE ITEM FORM(not )(ITEM x)
{
    return (ITEM)~x;
}

#if IS_SIGNED

INLINE ITEM FORM(abs)(ITEM x)
{
    return x < 0 ? FORM(negate)(x) : x;
}

INLINE ITEM FORM(sign)(ITEM x)
{
    return (ITEM)((x > 0) - (x < 0));
}

#else

INLINE ITEM FORM(abs)(ITEM x)
{
    return x;
}

INLINE ITEM FORM(sign)(ITEM x)
{
    return x > 0;
}

#endif
#endif
#endif
