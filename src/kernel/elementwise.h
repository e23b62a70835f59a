/*
 * Elementwise compute on strided arrays.
 *
 * All views have strides, and the shape of dst; a stride of 0 repeats an element. dst may be one of
 * the sources, with the same strides and item size, and overlaps none otherwise. f16 and bf16 are
 * computed in f32 and rounded once. The bits that come out depend on the bits that go in and on
 * nothing else (README.md). Callers have asked whether an op supports a type.
 */
#ifndef KERNEL_ELEMENTWISE_H
#define KERNEL_ELEMENTWISE_H

#include <tessera/view.h>

typedef enum unary_op {
    UNARY_NEGATE,
    UNARY_ABS,
    UNARY_SIGN,
    UNARY_EXP,
    UNARY_EXPM1,
    UNARY_LOG,
    UNARY_LOG1P,
    UNARY_SQRT,
    UNARY_RSQRT,
    UNARY_TANH,
    UNARY_ERF,
    UNARY_LOGISTIC, /* 1 / (1 + e^-x) */
    UNARY_SILU,     /* x * logistic(x) */
    UNARY_GELU,     /* x * (1 + erf(x / sqrt 2)) / 2 */
    UNARY_RELU,     /* max(x, 0); hands on a NaN */
    UNARY_SIN,
    UNARY_COS,
    UNARY_FLOOR,
    UNARY_CEIL,
    UNARY_NOT, /* of bits; of truth values, logical */
    UNARY_COUNT
} unary_op;

bool unary_supports(unary_op op, tsr_dtype dtype);
void kernel_unary(unary_op op, const tsr_view *dst, const tsr_view *src);

/*
 * As StableHLO has them: integers wrap around; their division rounds towards zero, by zero it is -1
 * (all ones), and the least by -1 is the least; a remainder has the dividend's sign, by zero it is
 * the dividend. MAX and MIN hand on a NaN. POW of integers with a negative exponent is 0 but for
 * bases 1 and -1. ADD and MAX of truth values are OR; MUL and MIN are AND.
 */
typedef enum binary_op {
    BINARY_ADD,
    BINARY_SUBTRACT,
    BINARY_MULTIPLY,
    BINARY_DIVIDE,
    BINARY_MAX,
    BINARY_MIN,
    BINARY_POWER,
    BINARY_REMAINDER,
    BINARY_AND,
    BINARY_OR,
    BINARY_XOR,
    BINARY_COUNT
} binary_op;

bool binary_supports(binary_op op, tsr_dtype dtype);
void kernel_binary(binary_op op, const tsr_view *dst, const tsr_view *a, const tsr_view *b);

typedef enum compare_op {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_COUNT
} compare_op;

/* dst is i1; a and b have one type. A NaN is unequal to everything and in no order. */
bool compare_supports(tsr_dtype dtype);
void kernel_compare(compare_op op, const tsr_view *dst, const tsr_view *a, const tsr_view *b);

/* `yes` where the truth value is set, `no` elsewhere; any type, by its bytes. */
void kernel_select(const tsr_view *dst, const tsr_view *predicate, const tsr_view *yes,
                   const tsr_view *no);

/*
 * The number in another type: floats rounded to nearest even, to integers towards zero, saturating,
 * NaN to 0; integers wrap around; truth values are 0 and 1, and whatever is not 0 is true.
 */
bool convert_supports(tsr_dtype from, tsr_dtype to);
void kernel_convert(const tsr_view *dst, const tsr_view *src);

/* Every element of dst is the one at `element`. */
void kernel_fill(const tsr_view *dst, const void *element);

/* Writes a number as an element, rounded or wrapped as kernel_convert does from f64. */
void element_of_number(tsr_dtype dtype, double number, void *element);

#endif
