#include "elements.h"

#include <string.h>

int64_t element_limit(tsr_dtype dtype)
{
    return dtype == TSR_I8 || dtype == TSR_BF16 ? 127 : 1 << 20;
}

static void put_f32(float value, char *element)
{
    memcpy(element, &value, sizeof value);
}

/* The upper half of an f32: exact, because the limit has few bits. */
static void put_bf16(float value, char *element)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t upper = (uint16_t)(bits >> 16);
    memcpy(element, &upper, sizeof upper);
}

void element_put(tsr_dtype dtype, double value, void *element)
{
    const int32_t whole = (int32_t)value;
    const int8_t small = (int8_t)value;
    switch (dtype) {
    case TSR_F32:
        put_f32((float)value, element);
        break;
    case TSR_BF16:
        put_bf16((float)value, element);
        break;
    case TSR_I32:
        memcpy(element, &whole, sizeof whole);
        break;
    case TSR_I8:
        memcpy(element, &small, sizeof small);
        break;
    case TSR_C64:
        put_f32((float)value, element);
        put_f32(0.0F - (float)value, (char *)element + sizeof(float));
        break;
    default:
        memcpy(element, &value, sizeof value);
        break;
    }
}

bool element_is(tsr_dtype dtype, double value, const void *element)
{
    char wanted[16];
    element_put(dtype, value, wanted);
    return memcmp(wanted, element, (size_t)tsr_dtype_item_bytes(dtype)) == 0;
}
