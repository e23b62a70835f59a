/* Quantized tensors: integers that stand for (integer - zero point) * scale. */
#ifndef INTERP_QUANTIZED_H
#define INTERP_QUANTIZED_H

#include "code/quantization.h"
#include "interp/array.h"

/* The numbers that a quantized array stands for, in a float type; and the integers for numbers,
 * rounded to nearest even and saturated. Both arrays have one shape. */
void interp_dequantize(const code_type *type, const interp_array *from, const interp_array *to);
void interp_quantize(const code_type *type, const interp_array *from, const interp_array *to);

#endif
