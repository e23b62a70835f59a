#include "kernel/precision.h"

#include <math.h>
#include <string.h>

#include "kernel/loops.h"

/* Float types by their bits. */
typedef struct float_bits {
    int bits;
    int mantissa;
} float_bits;

static const float_bits *bits_of(tsr_dtype dtype)
{
    static const float_bits rows[] = {{16, 10}, {16, 7}, {32, 23}, {64, 52}};
    switch (dtype) {
    case TSR_F16:
        return &rows[0];
    case TSR_BF16:
        return &rows[1];
    case TSR_F32:
        return &rows[2];
    case TSR_F64:
        return &rows[3];
    default:
        return NULL;
    }
}

bool precision_supports(tsr_dtype dtype)
{
    return bits_of(dtype) != NULL;
}

static uint64_t low_bits(int count)
{
    if (count <= 0) {
        return 0;
    }
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* On the pattern of a number: rounding up carries into the exponent as it should. */
static uint64_t reduce(const float_bits *f, uint64_t pattern, int64_t exponent_bits,
                       int64_t mantissa_bits)
{
    const uint64_t sign_bit = UINT64_C(1) << (f->bits - 1);
    const uint64_t infinity = low_bits(f->bits - 1) & ~low_bits(f->mantissa);
    const uint64_t sign = pattern & sign_bit;
    uint64_t size = pattern & ~sign_bit;
    const int own_exponent = f->bits - 1 - f->mantissa;
    if (size > infinity) {
        return pattern;
    }
    if (mantissa_bits < f->mantissa) {
        const int dropped = f->mantissa - (int)mantissa_bits;
        const uint64_t last = (size >> dropped) & 1;
        size += low_bits(dropped - 1) + last;
        size &= ~low_bits(dropped);
    }
    if (exponent_bits < own_exponent) {
        const int64_t bias = (INT64_C(1) << (own_exponent - 1)) - 1;
        const int64_t reach = (INT64_C(1) << (exponent_bits - 1)) - 1;
        const int64_t exponent = (int64_t)(size >> f->mantissa);
        if (exponent > bias + reach) {
            size = infinity;
        } else if (exponent <= bias - reach) {
            size = 0;
        }
    }
    return sign | size;
}

void kernel_reduce_precision(const tsr_view *dst, const tsr_view *src, int64_t exponent_bits,
                             int64_t mantissa_bits)
{
    const float_bits *f = bits_of(dst->dtype);
    const size_t item = (size_t)f->bits / 8;
    const int64_t *strides[] = {dst->strides, src->strides};
    loops nest;
    if (!loops_init_sorted(&nest, dst->shape, dst->rank, strides, 2, (int64_t)item)) {
        return;
    }
    const loop *inner = &nest.loops[nest.count - 1];
    do {
        for (int64_t i = 0; i < inner->size; i++) {
            uint64_t pattern = 0;
            memcpy(&pattern, (const char *)src->data + nest.offsets[1] + i * inner->strides[1],
                   item);
            pattern = reduce(f, pattern, exponent_bits, mantissa_bits);
            memcpy((char *)dst->data + nest.offsets[0] + i * inner->strides[0], &pattern, item);
        }
    } while (loops_next(&nest));
}

static bool is_nan(const float_bits *f, uint64_t pattern)
{
    return (pattern & low_bits(f->bits - 1)) > (low_bits(f->bits - 1) & ~low_bits(f->mantissa));
}

/* A number that orders patterns as their floats; both zeros are 0. */
static int64_t order_of(const float_bits *f, uint64_t pattern)
{
    const int64_t size = (int64_t)(pattern & low_bits(f->bits - 1));
    return (pattern >> (f->bits - 1) & 1) != 0 ? -size : size;
}

static uint64_t next_after(const float_bits *f, uint64_t x, uint64_t y)
{
    const uint64_t sign_bit = UINT64_C(1) << (f->bits - 1);
    if (is_nan(f, x) || is_nan(f, y)) {
        return (low_bits(f->bits - 1) & ~low_bits(f->mantissa)) | UINT64_C(1) << (f->mantissa - 1);
    }
    const int64_t from = order_of(f, x);
    const int64_t to = order_of(f, y);
    if (from == to) {
        return y;
    }
    const int64_t next = from + (to > from ? 1 : -1);
    if (next == 0) {
        return x & sign_bit;
    }
    return next < 0 ? sign_bit | (uint64_t)-next : (uint64_t)next;
}

void kernel_next_after(const tsr_view *dst, const tsr_view *x, const tsr_view *y)
{
    const float_bits *f = bits_of(dst->dtype);
    const size_t item = (size_t)f->bits / 8;
    const int64_t *strides[] = {dst->strides, x->strides, y->strides};
    loops nest;
    if (!loops_init_sorted(&nest, dst->shape, dst->rank, strides, 3, (int64_t)item)) {
        return;
    }
    const loop *inner = &nest.loops[nest.count - 1];
    do {
        for (int64_t i = 0; i < inner->size; i++) {
            uint64_t a = 0;
            uint64_t b = 0;
            memcpy(&a, (const char *)x->data + nest.offsets[1] + i * inner->strides[1], item);
            memcpy(&b, (const char *)y->data + nest.offsets[2] + i * inner->strides[2], item);
            a = next_after(f, a, b);
            memcpy((char *)dst->data + nest.offsets[0] + i * inner->strides[0], &a, item);
        }
    } while (loops_next(&nest));
}
