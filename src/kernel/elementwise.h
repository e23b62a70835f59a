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

#include "kernel/binary.h"
#include "kernel/unary.h"

/* UNARY_NEGATE and so on: the list is in unary.h, with what each computes. */
typedef enum unary_op {
#define UNARY_NAME(NAME, op, floats, integers, truth) UNARY_##NAME,
    UNARY_OPS(UNARY_NAME)
#undef UNARY_NAME
        UNARY_COUNT
} unary_op;

bool unary_supports(unary_op op, tsr_dtype dtype);
void kernel_unary(unary_op op, const tsr_view *dst, const tsr_view *src);

/* BINARY_ADD and so on: the list is in binary.h, with what each computes. */
typedef enum binary_op {
#define BINARY_NAME(NAME, op, floats, integers, truth) BINARY_##NAME,
    BINARY_OPS(BINARY_NAME)
#undef BINARY_NAME
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

/* dst is i1, src a float: whether it is neither an infinity nor a NaN. */
bool is_finite_supports(tsr_dtype dtype);
void kernel_is_finite(const tsr_view *dst, const tsr_view *src);

/*
 * dst = minimum(maximum(x, min), max), of types that BINARY_MAX supports: max where min exceeds it.
 * A NaN of any of the three is propagated.
 */
bool clamp_supports(tsr_dtype dtype);
void kernel_clamp(const tsr_view *dst, const tsr_view *min, const tsr_view *x, const tsr_view *max);

/* `yes` where the truth value is set, `no` elsewhere; any type, by its bytes. */
void kernel_select(const tsr_view *dst, const tsr_view *predicate, const tsr_view *yes,
                   const tsr_view *no);

/*
 * The number in another type: floats rounded to nearest even, to integers towards zero, saturating,
 * NaN to 0; integers wrap around; truth values are 0 and 1, and whatever is not 0 is true.
 */
bool convert_supports(tsr_dtype from, tsr_dtype to);
void kernel_convert(const tsr_view *dst, const tsr_view *src);
/* Converts packed elements of any type to any other, one by one where no kernel does. */
void kernel_convert_any(tsr_dtype to, void *dst, tsr_dtype from, const void *src, int64_t count);
/* Whether a type is one of those that kernels compute with by way of a wider one, and that one. */
bool kernel_is_narrow(tsr_dtype dtype, tsr_dtype *wider);

/* Every element of dst is the one at `element`. */
void kernel_fill(const tsr_view *dst, const void *element);

/* Writes a number as an element, rounded or wrapped as kernel_convert does from f64. */
void element_of_number(tsr_dtype dtype, double number, void *element);

#endif
