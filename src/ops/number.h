/* Numbers that composites and gradients use: exact, until they become an element of a type. */
#ifndef OPS_NUMBER_H
#define OPS_NUMBER_H

#include <tessera/dtype.h>

#include "base/base.h"

typedef enum op_number_kind {
    OP_NUMBER_INTEGER,
    OP_NUMBER_FLOAT,
    OP_NUMBER_COMPLEX
} op_number_kind;

typedef struct op_number {
    op_number_kind kind;
    int64_t integer;
    double real;
    double imaginary;
} op_number;

static inline op_number number_integer(int64_t value)
{
    return (op_number){.kind = OP_NUMBER_INTEGER, .integer = value};
}

static inline op_number number_float(double value)
{
    return (op_number){.kind = OP_NUMBER_FLOAT, .real = value};
}

static inline op_number number_complex(double real, double imaginary)
{
    return (op_number){.kind = OP_NUMBER_COMPLEX, .real = real, .imaginary = imaginary};
}

/*
 * Writes a number as an element of a type: integers wrap around, floats are rounded to nearest even
 * and saturate as integers. False when the type cannot hold it: a complex number in a real type, or
 * an element type without conversions.
 */
bool op_number_store(op_number number, tsr_dtype dtype, void *element);

#endif
