#include <string.h>

#include "kernel/element_types.h"
#include "kernel/product.h"
#include "kernel/vector.h"

/*
 * A strip is STRIP bytes of a row of dst, two vectors; ROWS_AT_ONCE rows are computed at a time, in
 * registers. The strip of b that they take is copied first, so that it is in the first cache
 * whatever the strides were, filled up with zeros.
 */
enum { VECTOR = 32, STRIP = 2 * VECTOR, ROWS_AT_ONCE = 4 };

typedef void (*multiply_function)(const product *p);

/* Signed integers are multiplied as unsigned ones, which wrap around to the same bits. */
#define TIMES * /* NOLINT(bugprone-macro-parentheses) */
#define PLUS +  /* NOLINT(bugprone-macro-parentheses) */
#define TYPE bits8
#define ITEM uint8_t
#include "kernel/dot_integer_type.inc"
#define TYPE bits16
#define ITEM uint16_t
#include "kernel/dot_integer_type.inc"
#define TYPE bits32
#define ITEM uint32_t
#include "kernel/dot_integer_type.inc"
#define TYPE bits64
#define ITEM uint64_t
#include "kernel/dot_integer_type.inc"
#undef TIMES
#undef PLUS

#define TIMES &/* NOLINT(bugprone-macro-parentheses) */
#define PLUS | /* NOLINT(bugprone-macro-parentheses) */
#define TYPE truth
#define ITEM uint8_t
#include "kernel/dot_integer_type.inc"
#undef TIMES
#undef PLUS

static const multiply_function functions[][2] = {
    [TSR_I1] = {truth, truth_avx2},    [TSR_I8] = {bits8, bits8_avx2},
    [TSR_I16] = {bits16, bits16_avx2}, [TSR_I32] = {bits32, bits32_avx2},
    [TSR_I64] = {bits64, bits64_avx2}, [TSR_U8] = {bits8, bits8_avx2},
    [TSR_U16] = {bits16, bits16_avx2}, [TSR_U32] = {bits32, bits32_avx2},
    [TSR_U64] = {bits64, bits64_avx2},
};

void integer_multiply(tsr_dtype dtype, const product *p)
{
    functions[dtype][(vector_best() >= VECTOR_AVX2) ? 1 : 0](p);
}
