/* Single elements of any type, as numbers: for types that kernels do not compute with. */
#ifndef EXEC_NUMBER_H
#define EXEC_NUMBER_H

#include "exec/array.h"

typedef enum number_kind {
    NUMBER_SIGNED,
    NUMBER_UNSIGNED,
    NUMBER_FLOAT,
    NUMBER_COMPLEX
} number_kind;

typedef struct exec_number {
    number_kind kind;
    int64_t integer; /* as bits of an unsigned one */
    double re;
    double im;
} exec_number;

number_kind exec_number_kind(tsr_dtype dtype);
exec_number exec_number_load(tsr_dtype dtype, const void *element);
/* Floats are rounded to nearest even, to integers towards zero, saturating, NaN to 0; integers wrap
 * around; whatever is not 0 is true; a complex number becomes its real part. */
void exec_number_store(tsr_dtype dtype, exec_number number, void *element);

/* Converts packed elements of any type to any other. */
void exec_convert(tsr_dtype to, void *dst, tsr_dtype from, const void *src, int64_t count);

/* Whether a type is one of those that kernels compute with by way of a wider one, and that one. */
bool exec_is_narrow(tsr_dtype dtype, tsr_dtype *wider);

/* An integer element that indexes; saturated to int64. */
int64_t exec_index(tsr_dtype dtype, const void *element);

/* "1.5", "(1,2)", "-3", "true": as much as makes it exact. */
typedef struct number_text {
    char text[64];
} number_text;
number_text exec_number_text(tsr_dtype dtype, const void *element);

#endif
