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

static void put_integer(int32_t value, size_t size, char *element)
{
    const int8_t small = (int8_t)value;
    memcpy(element, size == 1 ? (const void *)&small : &value, size);
}

void element_put(tsr_dtype dtype, double value, void *element)
{
    switch (dtype) {
    case TSR_F32:
        put_f32((float)value, element);
        break;
    case TSR_BF16:
        put_bf16((float)value, element);
        break;
    case TSR_I32:
    case TSR_I8:
        put_integer((int32_t)value, (size_t)tsr_dtype_item_bytes(dtype), element);
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
