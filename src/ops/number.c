#include "ops/number.h"

#include <string.h>

#include "kernel/elementwise.h"

/* One element of one type as one of another. */
static bool convert_element(tsr_dtype from, const void *value, tsr_dtype to, void *element)
{
    char copy[sizeof(int64_t)];
    if (!convert_supports(from, to)) {
        return false;
    }
    memcpy(copy, value, sizeof copy);
    kernel_convert(&(tsr_view){.data = element, .dtype = to},
                   &(tsr_view){.data = copy, .dtype = from});
    return true;
}

/* The real and the imaginary part, one after the other. */
static bool store_complex(op_number number, tsr_dtype dtype, void *element)
{
    const double real = number.kind == OP_NUMBER_INTEGER ? (double)number.integer : number.real;
    const double imaginary = number.kind == OP_NUMBER_COMPLEX ? number.imaginary : 0;
    if (dtype == TSR_C128) {
        const double parts[] = {real, imaginary};
        memcpy(element, parts, sizeof parts);
    } else {
        const float parts[] = {(float)real, (float)imaginary};
        memcpy(element, parts, sizeof parts);
    }
    return true;
}

bool op_number_store(op_number number, tsr_dtype dtype, void *element)
{
    if (dtype == TSR_C64 || dtype == TSR_C128) {
        return store_complex(number, dtype, element);
    }
    switch (number.kind) {
    case OP_NUMBER_INTEGER:
        return convert_element(TSR_I64, &number.integer, dtype, element);
    case OP_NUMBER_FLOAT:
        return convert_element(TSR_F64, &number.real, dtype, element);
    default:
        return false;
    }
}
