/*
 * Functions of two numbers, and at the end the list of them.
 *
 * As StableHLO has them: integers wrap around; their division rounds towards zero, by zero it is -1
 * (all ones), and the least by -1 is the least; a remainder has the dividend's sign, by zero it is
 * the dividend. A power of integers with a negative exponent is 0 but for bases 1 and -1. An amount
 * of a shift is unsigned, and may exceed the width. atan2 of f32 goes by way of f64, as in unary.h.
 *
 * A NaN that comes out of arithmetic is the positive quiet one. MAX, MIN, AND and OR are in
 * combine.h.
 */
#ifndef KERNEL_BINARY_H
#define KERNEL_BINARY_H

#include "kernel/combine.h"

INLINE float add_float(float a, float b)
{
    return plain_float(a + b);
}

INLINE double add_double(double a, double b)
{
    return plain_double(a + b);
}

INLINE uint8_t add_truth(uint8_t a, uint8_t b)
{
    return a | b;
}

INLINE float subtract_float(float a, float b)
{
    return plain_float(a - b);
}

INLINE double subtract_double(double a, double b)
{
    return plain_double(a - b);
}

INLINE float multiply_float(float a, float b)
{
    return plain_float(a * b);
}

INLINE double multiply_double(double a, double b)
{
    return plain_double(a * b);
}

INLINE uint8_t multiply_truth(uint8_t a, uint8_t b)
{
    return a & b;
}

INLINE float divide_float(float a, float b)
{
    return plain_float(a / b);
}

INLINE double divide_double(double a, double b)
{
    return plain_double(a / b);
}

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

INLINE float atan2_float(float a, float b)
{
    return plain_float((float)atan2((double)a, (double)b));
}

INLINE double atan2_double(double a, double b)
{
    return plain_double(atan2(a, b));
}

INLINE uint8_t xor_truth(uint8_t a, uint8_t b)
{
    return a ^ b;
}

/* By squaring, modulo 2^64. */
static inline uint64_t power_of_integer(uint64_t base, uint64_t exponent)
{
    uint64_t power = 1;
    for (; exponent > 0; exponent >>= 1) {
        power *= (exponent & 1) != 0 ? base : 1;
        base *= base;
    }
    return power;
}

/*
 * All functions of two numbers: X(name in binary_op, function, floats, integers, truth values), as
 * in UNARY_OPS.
 */
#define BINARY_OPS(X)                                                                              \
    X(ADD, add, YES, YES, YES)                                                                     \
    X(SUBTRACT, subtract, YES, YES, NO)                                                            \
    X(MULTIPLY, multiply, YES, YES, YES)                                                           \
    X(DIVIDE, divide, YES, YES, NO)                                                                \
    X(MAX, max, YES, YES, YES)                                                                     \
    X(MIN, min, YES, YES, YES)                                                                     \
    X(POWER, power, YES, YES, NO)                                                                  \
    X(REMAINDER, remainder, YES, YES, NO)                                                          \
    X(AND, and, NO, YES, YES)                                                                      \
    X(OR, or, NO, YES, YES)                                                                        \
    X(XOR, xor, NO, YES, YES)                                                                      \
    X(ATAN2, atan2, YES, NO, NO)                                                                   \
    X(SHIFT_LEFT, shift_left, NO, YES, NO)                                                         \
    X(SHIFT_RIGHT_ARITHMETIC, shift_right_arithmetic, NO, YES, NO)                                 \
    X(SHIFT_RIGHT_LOGICAL, shift_right_logical, NO, YES, NO)

#endif

/* The forms of integers: included by a template, once for each element type, as those of unary.h.
 */
#ifdef TYPE
#include "kernel/combine.h"
#if IS_INTEGER

INLINE ITEM FORM(add)(ITEM a, ITEM b)
{
    return FORM(sum)(a, b);
}

INLINE ITEM FORM(subtract)(ITEM a, ITEM b)
{
    return (ITEM)((PATTERN)a - (PATTERN)b);
}

INLINE ITEM FORM(multiply)(ITEM a, ITEM b)
{
    return FORM(prod)(a, b);
}

INLINE ITEM FORM (xor)(ITEM a, ITEM b)
{
    return (ITEM)(a ^ b);
}

/* The amount of a shift is unsigned; from BITS on nothing of x is left. */
INLINE ITEM FORM(shift_left)(ITEM x, ITEM amount)
{
    const PATTERN shift = (PATTERN)amount;
    return (ITEM)(shift < BITS ? (PATTERN)((uint64_t)(PATTERN)x << (shift % BITS)) : 0);
}

INLINE ITEM FORM(shift_right_logical)(ITEM x, ITEM amount)
{
    const PATTERN shift = (PATTERN)amount;
    return (ITEM)(shift < BITS ? (PATTERN)((PATTERN)x >> (shift % BITS)) : 0);
}

/* The highest bit is the sign, in unsigned types too; from BITS on only the sign is left. */
INLINE ITEM FORM(shift_right_arithmetic)(ITEM x, ITEM amount)
{
    const PATTERN shift = (PATTERN)amount;
    const JOIN3(int, BITS, _t) value = (JOIN3(int, BITS, _t))x;
    return (ITEM)(value >> (shift < BITS ? shift : BITS - 1));
}

#if IS_SIGNED

/* A divisor of 0, or of -1, whose quotient may not exist, is taken apart. */
INLINE ITEM FORM(divide)(ITEM a, ITEM b)
{
    if (b == 0 || b == -1) {
        return b == 0 ? -1 : (ITEM)(0U - (PATTERN)a);
    }
    return (ITEM)(a / b);
}

INLINE ITEM FORM(remainder)(ITEM a, ITEM b)
{
    if (b == 0 || b == -1) {
        return b == 0 ? a : 0;
    }
    return (ITEM)(a % b);
}

INLINE ITEM FORM(power)(ITEM base, ITEM exponent)
{
    if (exponent >= 0) {
        return (ITEM)power_of_integer((uint64_t)base, (uint64_t)exponent);
    }
    if (base == -1) {
        return exponent % 2 == 0 ? 1 : -1;
    }
    return base == 1 ? 1 : 0;
}

#else

INLINE ITEM FORM(divide)(ITEM a, ITEM b)
{
    return b == 0 ? ONES : (ITEM)(a / (b == 0 ? 1 : b));
}

INLINE ITEM FORM(remainder)(ITEM a, ITEM b)
{
    return b == 0 ? a : (ITEM)(a % (b == 0 ? 1 : b));
}

INLINE ITEM FORM(power)(ITEM base, ITEM exponent)
{
    return (ITEM)power_of_integer(base, exponent);
}

#endif
#endif
#endif
