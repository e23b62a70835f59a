/* Elements of a type from small numbers, and back, exactly. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "random.h"

/* The largest integer up to which the type has every one, and all halves up to it. */
int64_t element_limit(tsr_dtype dtype);

/* Writes and compares: f64, f32, bf16, i32, i8 and c64, whose imaginary part is the negative. */
void element_put(tsr_dtype dtype, double value, void *element);
bool element_is(tsr_dtype dtype, double value, const void *element);

#endif
