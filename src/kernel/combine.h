/*
 * The operations of folds and reductions: functions that combine two numbers, their identities, and
 * the list of them, from which fold_op and the tables of fold.c and reduce.c are made.
 *
 * max and min keep the first of equals and propagate a NaN, the second of two. Sums and products of
 * floats propagate any NaN; the caller makes it plain before it stores it. Integers wrap around.
 * Truth values are 0 and 1.
 */
#ifndef KERNEL_COMBINE_H
#define KERNEL_COMBINE_H

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

INLINE float max_float(float a, float b)
{
    return ((b > a) | (b != b)) ? b : a;
}

INLINE double max_double(double a, double b)
{
    return ((b > a) | (b != b)) ? b : a;
}

INLINE uint8_t max_truth(uint8_t a, uint8_t b)
{
    return a | b;
}

INLINE float min_float(float a, float b)
{
    return ((b < a) | (b != b)) ? b : a;
}

INLINE double min_double(double a, double b)
{
    return ((b < a) | (b != b)) ? b : a;
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
