/* Quantized element types: integers that stand for (integer - zero point) * scale. */
#ifndef CODE_QUANTIZATION_H
#define CODE_QUANTIZATION_H

#include "code/code.h"

struct code_quantization {
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
bool quantization_is_of(const tsr_program *p, uint32_t element);

/* Reads a quantized element type; TSR_NOT_APPLICABLE for kinds that are not known here. */
tsr_status quantization_read(program_code *code, uint32_t element,
                             const struct code_quantization **out);

#endif
