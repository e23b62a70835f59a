/*
 * The operations of folds and reductions: functions that combine two numbers, their identities, and
 * the list of them, from which fold_op and the tables of fold.c and reduce.c are made.
 *
 * max and min keep the first of equals and hand on a NaN, the second of two. Sums and products of
 * floats hand on any NaN; who stores one makes it plain. Integers wrap around. Truth values are 0
 * and 1.
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

/* How a fold ends: results as they are, with plain NaNs, or divided by the number of sources. */
typedef enum fold_ending { FOLD_KEEPS, FOLD_CLEANS, FOLD_DIVIDES } fold_ending;

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
