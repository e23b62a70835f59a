/* Single elements of any type, as numbers and as text. */
#ifndef NUMBER_ELEMENT_H
#define NUMBER_ELEMENT_H

#include <tessera/dtype.h>

#include "base/base.h"

typedef enum number_kind {
    NUMBER_SIGNED,
    NUMBER_UNSIGNED,
    NUMBER_FLOAT,
    NUMBER_COMPLEX
} number_kind;

typedef struct element_number {
    number_kind kind;
    int64_t integer; /* as bits of an unsigned one */
    double re;
    double im;
} element_number;

number_kind element_kind(tsr_dtype dtype);
element_number element_load(tsr_dtype dtype, const void *element);
/* Floats are rounded to nearest even, to integers towards zero, saturating, NaN to 0; integers wrap
 * around; whatever is not 0 is true; a complex number becomes its real part. */
void element_store(tsr_dtype dtype, element_number number, void *element);

/* An integer element that indexes; saturated to int64. */
int64_t element_index(tsr_dtype dtype, const void *element);

/* "1.5", "(1,2)", "-3", "true": as much as makes it exact. */
typedef struct number_text {
    char text[64];
} number_text;
number_text element_text(tsr_dtype dtype, const void *element);

#endif
