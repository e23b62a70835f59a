/*
 * The operations of folds and reductions: functions that combine two numbers, their identities, and
 * the list of them, from which fold_op and the tables of fold.c and reduce.c are made.
 *
 * max and min are IEEE 754's maximum and minimum: -0 is less than +0, and a NaN propagates, the
 * second of two. So the order of operands does not matter but for the bits of NaNs. Sums and
 * products of floats propagate any NaN; the caller makes it plain before it stores it. Integers
 * wrap around. Truth values are 0 and 1.
 */
#ifndef KERNEL_COMBINE_H
#define KERNEL_COMBINE_H

#include <string.h>

#include "kernel/element_types.h"
#include "kernel/vector.h"

INLINE float sum_float(float a, float b)
{
    return a + b;
}

INLINE double sum_double(double a, double b)
{
    return a + b;
}

INLINE uint8_t sum_truth(uint8_t a, uint8_t b)
{
    return a | b;
}

INLINE float prod_float(float a, float b)
{
    return a * b;
}

INLINE double prod_double(double a, double b)
{
    return a * b;
}

INLINE uint8_t prod_truth(uint8_t a, uint8_t b)
{
    return a & b;
}

/* The bits that both of two equal numbers have, or one of them: those of zeros differ in the sign.
 */
INLINE float common_float(float a, float b, bool either)
{
    uint32_t x;
    uint32_t y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = either ? x | y : x & y;
    memcpy(&a, &x, sizeof x);
    return a;
}

INLINE double common_double(double a, double b, bool either)
{
    uint64_t x;
    uint64_t y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = either ? x | y : x & y;
    memcpy(&a, &x, sizeof x);
    return a;
}

INLINE float max_float(float a, float b)
{
    const float larger = ((b > a) | (b != b)) ? b : a;
    return a == b ? common_float(a, b, false) : larger;
}

INLINE double max_double(double a, double b)
{
    const double larger = ((b > a) | (b != b)) ? b : a;
    return a == b ? common_double(a, b, false) : larger;
}

INLINE uint8_t max_truth(uint8_t a, uint8_t b)
{
    return a | b;
}

INLINE float min_float(float a, float b)
{
    const float smaller = ((b < a) | (b != b)) ? b : a;
    return a == b ? common_float(a, b, true) : smaller;
}

INLINE double min_double(double a, double b)
{
    const double smaller = ((b < a) | (b != b)) ? b : a;
    return a == b ? common_double(a, b, true) : smaller;
}

INLINE uint8_t min_truth(uint8_t a, uint8_t b)
{
    return a & b;
}

INLINE uint8_t and_truth(uint8_t a, uint8_t b)
{
    return a & b;
}

INLINE uint8_t or_truth(uint8_t a, uint8_t b)
{
    return a | b;
}

/* Of averages of integers of 64 bits, which must not wrap around. */
INLINE __int128 sum_int128(__int128 a, __int128 b)
{
    return a + b;
}

/*
 * All operations: X(name in fold_op, name in texts, function that combines, identity, how a fold
 * ends, floats, integers, truth values, complex numbers). The identity changes no value; LEAST,
 * GREATEST and ONES are those of the type (element_types.inc). A fold KEEPS its result, CLEANS it
 * of NaNs that are not plain, or DIVIDES it by the number of sources, which a reduction cannot. The
 * last four say for which element types there is one.
 */
#define FOLD_OPS(X)                                                                                \
    X(SUM, sum, sum, ZERO, CLEANS, YES, YES, YES, YES)                                             \
    X(MAX, max, max, LEAST, KEEPS, YES, YES, YES, NO)                                              \
    X(MIN, min, min, GREATEST, KEEPS, YES, YES, YES, NO)                                           \
    X(AVG, avg, sum, ZERO, DIVIDES, YES, YES, NO, YES)                                             \
    X(PROD, prod, prod, ONE, CLEANS, YES, YES, YES, YES)                                           \
    X(AND, and, and, ONES, KEEPS, NO, YES, YES, NO)                                                \
    X(OR, or, or, ZERO, KEEPS, NO, YES, YES, NO)

#endif

/* The forms of integers: included by a template, once for each element type. */
#ifdef TYPE
#if IS_INTEGER

INLINE ITEM FORM(sum)(ITEM a, ITEM b)
{
    return (ITEM)((PATTERN)a + (PATTERN)b);
}

/* Narrow factors would be promoted to int, which overflows. */
INLINE ITEM FORM(prod)(ITEM a, ITEM b)
{
    return (ITEM)(1U * (PATTERN)a * (PATTERN)b);
}

INLINE ITEM FORM(max)(ITEM a, ITEM b)
{
    return b > a ? b : a;
}

INLINE ITEM FORM(min)(ITEM a, ITEM b)
{
    return b < a ? b : a;
}

INLINE ITEM FORM (and)(ITEM a, ITEM b)
{
    return a & b;
}

INLINE ITEM FORM(or)(ITEM a, ITEM b)
{
    return a | b;
}

#endif
#endif
