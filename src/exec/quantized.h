/* Quantized tensors: integers that stand for (integer - zero point) * scale. */
#ifndef EXEC_QUANTIZED_H
#define EXEC_QUANTIZED_H

#include "exec/code.h"

struct exec_quantization {
    tsr_dtype storage;
    tsr_dtype expressed;
    int64_t least; /* of what is stored */
    int64_t greatest;
    int64_t axis; /* along which scales differ; -1: one for all */
    size_t count;
    const double *scales;
    const int64_t *zeros;
};

/* Whether an element type of a program is quantized. */
bool exec_is_quantized(const tsr_program *p, uint32_t element);

/* Reads a quantized element type; TSR_NOT_APPLICABLE for kinds that are not known here. */
tsr_status exec_read_quantization(exec_code *code, uint32_t element,
                                  const struct exec_quantization **out);

/* The numbers that a quantized array stands for, in a float type; and the integers for numbers,
 * rounded to nearest even and saturated. Both arrays have one shape. */
void exec_dequantize(const exec_type *type, const exec_array *from, const exec_array *to);
void exec_quantize(const exec_type *type, const exec_array *from, const exec_array *to);

#endif
