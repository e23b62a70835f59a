/* Single floats and complex numbers of any type, in f64. */
#ifndef KERNEL_ELEMENT_COMPLEX_H
#define KERNEL_ELEMENT_COMPLEX_H

#include <complex.h>
#include <string.h>

#include <tessera/dtype.h>

#include "number/half.h"

typedef double complex number;

/* CMPLX, which not every compiler has with every C library. */
static inline number make_number(double re, double im)
{
    const double parts[2] = {re, im};
    number made;
    memcpy(&made, parts, sizeof made);
    return made;
}

static inline double load_float(tsr_dtype dtype, const char *element)
{
    uint16_t half;
    float single;
    double wide;
    switch (dtype) {
    case TSR_F16:
    case TSR_BF16:
        memcpy(&half, element, sizeof half);
        return (double)(dtype == TSR_F16 ? float_of_f16(half) : float_of_bf16(half));
    case TSR_F32:
        memcpy(&single, element, sizeof single);
        return (double)single;
    default:
        memcpy(&wide, element, sizeof wide);
        return wide;
    }
}

static inline void store_float(tsr_dtype dtype, double value, char *element)
{
    const float single = (float)value;
    if (dtype == TSR_F64) {
        memcpy(element, &value, sizeof value);
    } else if (dtype == TSR_F32) {
        memcpy(element, &single, sizeof single);
    } else {
        const uint16_t half = dtype == TSR_F16 ? f16_of_float(single) : bf16_of_float(single);
        memcpy(element, &half, sizeof half);
    }
}

static inline bool is_complex(tsr_dtype dtype)
{
    return dtype == TSR_C64 || dtype == TSR_C128;
}

static inline bool is_float(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 || dtype == TSR_F32 || dtype == TSR_F64;
}

static inline tsr_dtype part_of(tsr_dtype dtype)
{
    return dtype == TSR_C64 ? TSR_F32 : TSR_F64;
}

/* A complex number, or a float as one. */
static inline number load_number(tsr_dtype dtype, const char *element)
{
    if (!is_complex(dtype)) {
        return make_number(load_float(dtype, element), 0);
    }
    const tsr_dtype part = part_of(dtype);
    return make_number(load_float(part, element),
                       load_float(part, element + tsr_dtype_item_bytes(part)));
}

/* A float gets the real part. */
static inline void store_number(tsr_dtype dtype, number value, char *element)
{
    if (!is_complex(dtype)) {
        store_float(dtype, creal(value), element);
        return;
    }
    const tsr_dtype part = part_of(dtype);
    store_float(part, creal(value), element);
    store_float(part, cimag(value), element + tsr_dtype_item_bytes(part));
}

#endif
