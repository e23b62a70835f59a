/*
 * Float formats of programs: values as bits, read from decimal text and printed as MLIR prints
 * them.
 */
#ifndef NUMBER_FLOAT_FORMAT_H
#define NUMBER_FLOAT_FORMAT_H

#include "base/base.h"

typedef enum float_format {
    FLOAT_F4E2M1FN,
    FLOAT_F6E2M3FN,
    FLOAT_F6E3M2FN,
    FLOAT_F8E3M4,
    FLOAT_F8E4M3,
    FLOAT_F8E4M3FN,
    FLOAT_F8E4M3FNUZ,
    FLOAT_F8E4M3B11FNUZ,
    FLOAT_F8E5M2,
    FLOAT_F8E5M2FNUZ,
    FLOAT_F8E8M0FNU,
    FLOAT_F16,
    FLOAT_BF16,
    FLOAT_TF32,
    FLOAT_F32,
    FLOAT_F64,
    FLOAT_FORMAT_COUNT
} float_format;

/* Room for any printed value; no zero byte is added. */
#define FLOAT_TEXT_MAX 32

/* "f32". */
const char *float_format_name(float_format f);
bool float_format_find(const char *name, size_t size, float_format *out);
/* Bits of a value: 19 for tf32. */
unsigned float_format_bits(float_format f);

/*
 * The bits of a decimal literal: digits, a point and an exponent, each but the first optional; no
 * sign, which is `negative`. As in the reference, the literal is rounded to a double first, and
 * that to the format, both to nearest even; what is too large becomes what the format has for it:
 * an infinity, else NaN, else its largest value. False when the text is not such a literal.
 */
bool float_from_text(float_format f, const char *text, size_t size, bool negative, uint64_t *bits);

/*
 * The nearest value of the format, ties to even. Formats without negative zero make it zero,
 * formats without zero make it their smallest value, formats without NaN make NaN zero. A negative
 * value in a format without sign is what the reference makes of it: the top bit is set.
 */
uint64_t float_from_double(float_format f, double value);

/* Exact: a double holds every value of every format. */
double float_to_double(float_format f, uint64_t bits);

/* The text MLIR prints, into at least FLOAT_TEXT_MAX bytes; returns its length. */
size_t float_to_text(float_format f, uint64_t bits, char *out);

/* A positive number mantissa * 2^exponent and a little more if `inexact`; the mantissa's top bit is
 * set. */
typedef struct binary_number {
    uint64_t mantissa;
    int exponent;
    bool inexact;
} binary_number;

/* digits * 10^exponent, for digits > 0. */
binary_number binary_from_decimal(uint64_t digits, int exponent);

/* Rounds to nearest even. */
uint64_t float_from_binary(float_format f, bool negative, binary_number number);

/* A value taken apart: significand * 2^exponent, or not finite. */
typedef struct float_parts {
    bool negative;
    bool finite;
    uint64_t significand;
    int exponent;
} float_parts;

float_parts float_take_apart(float_format f, uint64_t bits);

/* Significant bits: 24 for f32. */
unsigned float_format_precision(float_format f);

#endif
