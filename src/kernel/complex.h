/*
 * Elementwise compute on complex numbers, and functions of floats that are less common: plain
 * loops, in f64 whatever the type, rounded once. Views as in elementwise.h.
 */
#ifndef KERNEL_COMPLEX_H
#define KERNEL_COMPLEX_H

#include "kernel/elementwise.h"

/* The ops of unary.h and binary.h that are defined for complex numbers. The absolute value is real;
 * the greater of two is compared by real parts, then by imaginary ones. */
bool complex_unary_supports(unary_op op, tsr_dtype dtype);
void kernel_complex_unary(unary_op op, const tsr_view *dst, const tsr_view *src);
bool complex_binary_supports(binary_op op, tsr_dtype dtype);
void kernel_complex_binary(binary_op op, const tsr_view *dst, const tsr_view *a, const tsr_view *b);
/* Orders as the greater of two does. */
void kernel_complex_compare(compare_op op, const tsr_view *dst, const tsr_view *a,
                            const tsr_view *b);

/* Functions of one number: X(NAME, name, whether complex numbers have it). */
#define SPECIAL_OPS(X)                                                                             \
    X(ACOS, acos, YES)                                                                             \
    X(ACOSH, acosh, YES)                                                                           \
    X(ASIN, asin, YES)                                                                             \
    X(ATAN, atan, YES)                                                                             \
    X(ATANH, atanh, YES)                                                                           \
    X(COSH, cosh, YES)                                                                             \
    X(SINH, sinh, YES)                                                                             \
    X(TAN, tan, YES)                                                                               \
    X(BESSEL_I1E, bessel_i1e, NO)                                                                  \
    X(DIGAMMA, digamma, NO)                                                                        \
    X(ERF_INV, erf_inv, NO)                                                                        \
    X(LGAMMA, lgamma, NO)

typedef enum special_op {
#define SPECIAL_NAME(NAME, name, has_complex) SPECIAL_##NAME,
    SPECIAL_OPS(SPECIAL_NAME)
#undef SPECIAL_NAME
        SPECIAL_COUNT
} special_op;

/* f16, bf16, f32, f64, and complex numbers where the list says so. */
bool special_supports(special_op op, tsr_dtype dtype);
void kernel_special(special_op op, const tsr_view *dst, const tsr_view *src);

/* Functions of two real numbers. */
typedef enum special_pair { SPECIAL_ZETA, SPECIAL_POLYGAMMA, SPECIAL_PAIR_COUNT } special_pair;
bool special_pair_supports(tsr_dtype dtype);
void kernel_special_pair(special_pair op, const tsr_view *dst, const tsr_view *a,
                         const tsr_view *b);

/* The functions themselves, where C's library has none. */
double special_bessel_i1e(double x);
double special_digamma(double x);
double special_erf_inv(double x);
double special_zeta(double s, double q); /* Hurwitz's */
double special_polygamma(double n, double x);

#endif
