/* Floats rounded to fewer bits of exponent and mantissa than their type has. */
#ifndef KERNEL_PRECISION_H
#define KERNEL_PRECISION_H

#include <tessera/view.h>

/* f16, bf16, f32 and f64. */
bool precision_supports(tsr_dtype dtype);

/*
 * dst = src rounded to nearest even to that many bits; what is then too large is an infinity, what
 * is too small for a normal number a zero. Exponents of as many bits as the type has stay.
 */
void kernel_reduce_precision(const tsr_view *dst, const tsr_view *src, int64_t exponent_bits,
                             int64_t mantissa_bits);

/* The value of the type after x in the direction of y: as C's nextafter does. */
void kernel_next_after(const tsr_view *dst, const tsr_view *x, const tsr_view *y);

#endif
