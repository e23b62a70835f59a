#include "number/element.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number/dtype.h"
#include "number/float_format.h"

number_kind element_kind(tsr_dtype dtype)
{
    if (dtype_is_complex(dtype)) {
        return NUMBER_COMPLEX;
    }
    if (dtype_is_float(dtype)) {
        return NUMBER_FLOAT;
    }
    return dtype == TSR_I1 || (dtype >= TSR_U2 && dtype <= TSR_U64) ? NUMBER_UNSIGNED
                                                                    : NUMBER_SIGNED;
}

/* The format of a float type as programs write it. */
static float_format format_of(tsr_dtype dtype)
{
    static const uint8_t rows[TSR_C128 + 1] = {
        [TSR_F4E2M1FN] = FLOAT_F4E2M1FN,
        [TSR_F6E2M3FN] = FLOAT_F6E2M3FN,
        [TSR_F6E3M2FN] = FLOAT_F6E3M2FN,
        [TSR_F8E3M4] = FLOAT_F8E3M4,
        [TSR_F8E4M3] = FLOAT_F8E4M3,
        [TSR_F8E4M3FN] = FLOAT_F8E4M3FN,
        [TSR_F8E4M3FNUZ] = FLOAT_F8E4M3FNUZ,
        [TSR_F8E4M3B11FNUZ] = FLOAT_F8E4M3B11FNUZ,
        [TSR_F8E5M2] = FLOAT_F8E5M2,
        [TSR_F8E5M2FNUZ] = FLOAT_F8E5M2FNUZ,
        [TSR_F8E8M0FNU] = FLOAT_F8E8M0FNU,
        [TSR_F16] = FLOAT_F16,
        [TSR_BF16] = FLOAT_BF16,
        [TSR_F32] = FLOAT_F32,
        [TSR_F64] = FLOAT_F64,
    };
    return (float_format)rows[dtype];
}

/* The bytes of an element as an unsigned number, little-endian. */
static uint64_t load_bits(const void *element, size_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, element, bytes);
    return bits;
}

static int64_t sign_extend(uint64_t bits, int width)
{
    return width == 64 ? (int64_t)bits : (int64_t)(bits << (64 - width)) >> (64 - width);
}

static double load_float(tsr_dtype dtype, const void *element)
{
    if (dtype == TSR_F64) {
        double value;
        memcpy(&value, element, sizeof value);
        return value;
    }
    if (dtype == TSR_F32) {
        float value;
        memcpy(&value, element, sizeof value);
        return (double)value;
    }
    return float_to_double(format_of(dtype),
                           load_bits(element, (size_t)tsr_dtype_item_bytes(dtype)));
}

element_number element_load(tsr_dtype dtype, const void *element)
{
    element_number n = {.kind = element_kind(dtype)};
    const int bits = tsr_dtype_bits(dtype);
    const size_t bytes = (size_t)tsr_dtype_item_bytes(dtype);
    if (n.kind == NUMBER_COMPLEX) {
        const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
        n.re = load_float(part, element);
        n.im = load_float(part, (const char *)element + bytes / 2);
    } else if (n.kind == NUMBER_FLOAT) {
        n.re = load_float(dtype, element);
    } else if (n.kind == NUMBER_SIGNED) {
        n.integer = sign_extend(load_bits(element, bytes), bits);
        n.re = (double)n.integer;
    } else {
        const uint64_t value =
            load_bits(element, bytes) & (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
        n.integer = (int64_t)value;
        n.re = (double)value;
    }
    return n;
}

static void store_float(tsr_dtype dtype, double value, void *element)
{
    const float single = (float)value;
    if (dtype == TSR_F64) {
        memcpy(element, &value, sizeof value);
    } else if (dtype == TSR_F32) {
        memcpy(element, &single, sizeof single);
    } else {
        const uint64_t bits = float_from_double(format_of(dtype), value);
        memcpy(element, &bits, (size_t)tsr_dtype_item_bytes(dtype));
    }
}

/* A float as an integer of a width: towards zero, saturating, NaN to 0. */
static int64_t integer_of_float(double value, int width, bool is_signed)
{
    const double top = ldexp(1, is_signed ? width - 1 : width);
    if (isnan(value)) {
        return 0;
    }
    if (value >= top) {
        return is_signed ? (int64_t)((UINT64_C(1) << (width - 1)) - 1)
                         : (int64_t)(UINT64_MAX >> (64 - width));
    }
    if (is_signed) {
        return value < -top ? -(int64_t)((UINT64_C(1) << (width - 1)) - 1) - 1 : (int64_t)value;
    }
    return value <= 0 ? 0 : (int64_t)(uint64_t)value;
}

static void store_integer(tsr_dtype dtype, element_number n, void *element)
{
    const int bits = tsr_dtype_bits(dtype);
    const bool is_signed = element_kind(dtype) == NUMBER_SIGNED;
    const bool from_float = n.kind == NUMBER_FLOAT || n.kind == NUMBER_COMPLEX;
    int64_t value = from_float ? integer_of_float(n.re, bits, is_signed) : n.integer;
    if (is_signed) {
        value = sign_extend((uint64_t)value, bits);
    } else if (bits < 64) {
        value &= (int64_t)((UINT64_C(1) << bits) - 1);
    }
    memcpy(element, &value, (size_t)tsr_dtype_item_bytes(dtype));
}

void element_store(tsr_dtype dtype, element_number n, void *element)
{
    const size_t bytes = (size_t)tsr_dtype_item_bytes(dtype);
    if (dtype == TSR_I1) {
        const bool from_float = n.kind == NUMBER_FLOAT || n.kind == NUMBER_COMPLEX;
        *(uint8_t *)element = from_float ? n.re != 0 : n.integer != 0;
    } else if (dtype_is_complex(dtype)) {
        const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
        store_float(part, n.re, element);
        store_float(part, n.im, (char *)element + bytes / 2);
    } else if (dtype_is_float(dtype)) {
        store_float(dtype, n.re, element);
    } else {
        store_integer(dtype, n, element);
    }
}

int64_t element_index(tsr_dtype dtype, const void *element)
{
    const element_number n = element_load(dtype, element);
    return n.kind == NUMBER_UNSIGNED && n.integer < 0 ? INT64_MAX : n.integer;
}

number_text element_text(tsr_dtype dtype, const void *element)
{
    const element_number n = element_load(dtype, element);
    const int digits = dtype == TSR_F64 || dtype == TSR_C128 ? 17 : 9;
    number_text out;
    if (dtype == TSR_I1) {
        (void)snprintf(out.text, sizeof out.text, "%s", n.integer != 0 ? "true" : "false");
    } else if (n.kind == NUMBER_SIGNED) {
        (void)snprintf(out.text, sizeof out.text, "%" PRId64, n.integer);
    } else if (n.kind == NUMBER_UNSIGNED) {
        (void)snprintf(out.text, sizeof out.text, "%" PRIu64, (uint64_t)n.integer);
    } else if (n.kind == NUMBER_FLOAT) {
        (void)snprintf(out.text, sizeof out.text, "%.*g", digits, n.re);
    } else {
        (void)snprintf(out.text, sizeof out.text, "(%.*g, %.*g)", digits, n.re, digits, n.im);
    }
    return out;
}
