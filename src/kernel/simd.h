/* Loops that are compiled for AVX2 as well, and chosen at run time: README.md says why. */
#ifndef KERNEL_SIMD_H
#define KERNEL_SIMD_H

#include <stdbool.h>

#define INLINE static inline __attribute__((__always_inline__))

#ifdef __x86_64__
#define AVX2 __attribute__((__target__("avx2")))
static inline bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define AVX2
static inline bool has_avx2(void)
{
    return false;
}
#endif

#endif
