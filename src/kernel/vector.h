/*
 * What loops over many elements share: how they are compiled for wider vectors, and which of the
 * two forms runs.
 */
#ifndef KERNEL_VECTOR_H
#define KERNEL_VECTOR_H

#include <math.h>

#include "kernel/half.h"

#define INLINE static inline __attribute__((__always_inline__))

/* Loops are compiled twice, to the same results: wider vectors are about twice as fast. */
#ifdef __x86_64__
#define AVX2 __attribute__((__target__("avx2")))
#else
#define AVX2
#endif

/* The two forms of a loop, of any type of function. */
#define FORMS(name)                                                                                \
    {                                                                                              \
        name, name##_avx2                                                                          \
    }

/* Whether this processor has AVX2 and nobody has asked for the portable form. */
bool vector_has_avx2(void);

/* For tests: from now on everything takes the portable form, or the best again. */
void vector_set_portable(bool portable);

/* Which of two NaNs an addition hands on is the compiler's choice, so none of them is. */
INLINE float plain_float(float x)
{
    return float_of_bits((uint32_t)choose(x != x, 0x7fc00000, (int32_t)bits_of_float(x)));
}

INLINE double plain_double(double x)
{
    return x != x ? (double)NAN : x;
}

#define PLAIN_NAN(x) _Generic((x), float : plain_float, double : plain_double)(x)

#endif
