/*
 * What loops over many elements share: how they are compiled for wider vectors, and which of the
 * forms runs.
 */
#ifndef KERNEL_VECTOR_H
#define KERNEL_VECTOR_H

#include <math.h>

#include "number/half.h"

#define INLINE static inline __attribute__((__always_inline__))

/*
 * Loops are compiled for several instruction sets, to the same results: wider vectors are about
 * twice as fast. Which form runs is chosen at run time. AVX-512 is for what arithmetic limits, not
 * memory.
 */
#ifdef __x86_64__
#define AVX2 __attribute__((__target__("avx2")))
#define AVX512 __attribute__((__target__("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define AVX2
#define AVX512
#endif

typedef enum vector_form { VECTOR_PORTABLE, VECTOR_AVX2, VECTOR_AVX512, VECTOR_COUNT } vector_form;

/* The last form that this processor has and vector_set_most allows. */
vector_form vector_best(void);

/* For tests: no form after this one in the list is used from now on. */
void vector_set_most(vector_form form);

/* Which of two NaNs an addition propagates is the compiler's choice, so a plain one is stored. */
INLINE float plain_float(float x)
{
    return float_of_bits((uint32_t)choose_bits(x != x, 0x7fc00000, (int32_t)bits_of_float(x)));
}

INLINE double plain_double(double x)
{
    return x != x ? (double)NAN : x;
}

#define PLAIN_NAN(x) _Generic((x), float : plain_float, double : plain_double)(x)

#endif
