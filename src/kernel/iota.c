#include "kernel/copy.h"
#include "kernel/index.h"
#include "number/half.h"

/* How many numbers are made at a time. */
enum { CHUNK = 256, MAX_ITEM = 16, FLOAT_BITS = 24 };

/*
 * An integer as a float that rounds to the same bf16 and f16: cut to 24 bits, the last of them set
 * if any of those cut off was.
 */
static float float_for_half(int64_t number)
{
    uint64_t magnitude = number < 0 ? -(uint64_t)number : (uint64_t)number;
    float scale = 1.0F;
    while (magnitude >> FLOAT_BITS != 0) {
        magnitude = magnitude >> 1 | (magnitude & 1);
        scale *= 2.0F;
    }
    return (number < 0 ? -scale : scale) * (float)magnitude;
}

static void store_number(tsr_dtype dtype, int64_t number, char *item, size_t size)
{
    const float singles[2] = {(float)number, 0.0F};
    const double doubles[2] = {(double)number, 0.0};
    const uint8_t truth = number != 0;
    uint16_t half;
    switch (dtype) {
    case TSR_I1:
        memcpy(item, &truth, size);
        break;
    case TSR_F16:
        half = f16_of_float(float_for_half(number));
        memcpy(item, &half, size);
        break;
    case TSR_BF16:
        half = bf16_of_float(float_for_half(number));
        memcpy(item, &half, size);
        break;
    case TSR_F32:
    case TSR_C64:
        memcpy(item, singles, size);
        break;
    case TSR_F64:
    case TSR_C128:
        memcpy(item, doubles, size);
        break;
    default: /* little-endian: the low bits of an integer */
        memcpy(item, &number, size);
    }
}

void kernel_iota(const tsr_view *dst, size_t dim, int64_t start)
{
    _Alignas(MAX_ITEM) char numbers[CHUNK * MAX_ITEM];
    int64_t strides[KERNEL_MAX_RANK] = {0};
    int64_t shape[KERNEL_MAX_RANK];
    const size_t item = (size_t)tsr_dtype_item_bytes(dst->dtype);
    strides[dim] = (int64_t)item;
    memcpy(shape, dst->shape, dst->rank * sizeof *shape);
    for (int64_t from = 0; from < dst->shape[dim]; from += CHUNK) {
        shape[dim] = dst->shape[dim] - from < CHUNK ? dst->shape[dim] - from : CHUNK;
        for (int64_t i = 0; i < shape[dim]; i++) {
            const int64_t number = (int64_t)((uint64_t)start + (uint64_t)(from + i));
            store_number(dst->dtype, number, numbers + i * (int64_t)item, item);
        }
        kernel_copy((char *)dst->data + from * dst->strides[dim], dst->strides, numbers, strides,
                    shape, dst->rank, item, false);
    }
}
