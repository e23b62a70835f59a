#include "strided.h"

#include <stdlib.h>
#include <string.h>

#include "number/half.h"

enum { GUARD = 0xa5, MARGIN = 64 };

int64_t strided_count(const strided *s)
{
    int64_t count = 1;
    for (size_t d = 0; d < s->view.rank; d++) {
        count *= s->shape[d];
    }
    return count;
}

static void shuffle(rng *r, size_t *order, size_t rank, bool shuffled)
{
    for (size_t i = 0; i < rank; i++) {
        const size_t j = shuffled ? (size_t)rng_below(r, (int64_t)i + 1) : i;
        order[i] = order[j];
        order[j] = rank - 1 - i;
    }
}

/* One dimension outside those before it, whose elements take `extent` bytes. */
static int64_t lay_out(strided *s, rng *r, size_t d, int64_t extent, strided_kind kind)
{
    const int64_t size = s->shape[d] > 0 ? s->shape[d] : 1;
    const bool any = kind != STRIDED_PLAIN;
    const int64_t gap = !any || !rng_chance(r, 30) ? 0
                        : rng_chance(r, 70)        ? (int64_t)s->item * (1 + rng_below(r, 3))
                                                   : 1 + rng_below(r, 20);
    const int64_t stride = extent + gap;
    if (kind == STRIDED_SRC && rng_chance(r, 8)) {
        s->strides[d] = 0;
        return extent;
    }
    const bool backwards = any && rng_chance(r, 15);
    s->strides[d] = backwards ? -stride : stride;
    s->start += backwards ? (size - 1) * stride : 0;
    if (size == 1 && any) {
        s->strides[d] = rng_below(r, 1000) - 500;
    }
    return (size - 1) * stride + extent;
}

void strided_init(strided *s, rng *r, tsr_dtype dtype, const int64_t *shape, size_t rank,
                  strided_kind kind)
{
    size_t order[STRIDED_MAX_RANK] = {0};
    *s = (strided){.item = (size_t)tsr_dtype_item_bytes(dtype), .start = MARGIN};
    assert_true(rank <= STRIDED_MAX_RANK);
    s->view = (tsr_view){NULL, dtype, rank, s->shape, s->strides};
    s->start += kind != STRIDED_PLAIN && rng_chance(r, 20) ? rng_below(r, MARGIN / 2) : 0;
    shuffle(r, order, rank, kind != STRIDED_PLAIN && rng_chance(r, 40));
    int64_t extent = (int64_t)s->item;
    for (size_t i = 0; i < rank; i++) {
        s->shape[order[i]] = shape[order[i]];
        extent = lay_out(s, r, order[i], extent, kind);
    }
    s->bytes = (size_t)extent + 3 * (size_t)MARGIN;
    s->memory = malloc(s->bytes);
    assert_non_null(s->memory);
    memset(s->memory, GUARD, s->bytes);
    s->view.data = s->memory + s->start;
}

void strided_free(strided *s)
{
    free(s->memory);
}

unsigned char *strided_at(const strided *s, const int64_t *index)
{
    int64_t offset = s->start;
    for (size_t d = 0; d < s->view.rank; d++) {
        offset += index[d] * s->strides[d];
    }
    return s->memory + offset;
}

void strided_index(const int64_t *shape, size_t rank, int64_t place, int64_t *index)
{
    for (size_t d = rank; d-- > 0;) {
        index[d] = place % shape[d];
        place /= shape[d];
    }
}

unsigned char *strided_element(const strided *s, int64_t place)
{
    int64_t index[STRIDED_MAX_RANK];
    strided_index(s->shape, s->view.rank, place, index);
    return strided_at(s, index);
}

void strided_check_guards(const strided *s)
{
    unsigned char *inside = calloc(s->bytes, 1);
    assert_non_null(inside);
    for (int64_t i = 0; i < strided_count(s); i++) {
        memset(inside + (strided_element(s, i) - s->memory), 1, s->item);
    }
    size_t at = 0;
    while (at < s->bytes && (inside[at] != 0 || s->memory[at] == GUARD)) {
        at++;
    }
    free(inside);
    if (at < s->bytes) {
        fail_msg("byte %zu of %zu, which is of no element, was written", at, s->bytes);
    }
}

static void store_bits(void *element, uint64_t bits, size_t size)
{
    memcpy(element, &bits, size);
}

void number_store(tsr_dtype dtype, double number, void *element)
{
    const float single = (float)number;
    const float complex_single[2] = {single, 0};
    const double complex_double[2] = {number, 0};
    switch (dtype) {
    case TSR_F16:
        store_bits(element, f16_of_float(single), 2);
        break;
    case TSR_BF16:
        store_bits(element, bf16_of_float(single), 2);
        break;
    case TSR_F32:
    case TSR_C64:
        memcpy(element, complex_single, (size_t)tsr_dtype_item_bytes(dtype));
        break;
    case TSR_F64:
    case TSR_C128:
        memcpy(element, complex_double, (size_t)tsr_dtype_item_bytes(dtype));
        break;
    case TSR_I1:
        store_bits(element, number != 0 ? 1 : 0, 1);
        break;
    default:
        store_bits(element, (uint64_t)(int64_t)number, (size_t)tsr_dtype_item_bytes(dtype));
    }
}

static bool is_signed(tsr_dtype dtype)
{
    return dtype == TSR_I8 || dtype == TSR_I16 || dtype == TSR_I32 || dtype == TSR_I64;
}

double number_load(tsr_dtype dtype, const void *element)
{
    const size_t item = (size_t)tsr_dtype_item_bytes(dtype);
    uint16_t half;
    float single;
    double number;
    uint64_t bits = 0;
    switch (dtype) {
    case TSR_F16:
        memcpy(&half, element, sizeof half);
        return (double)float_of_f16(half);
    case TSR_BF16:
        memcpy(&half, element, sizeof half);
        return (double)float_of_bf16(half);
    case TSR_F32:
    case TSR_C64:
        memcpy(&single, element, sizeof single);
        return (double)single;
    case TSR_F64:
    case TSR_C128:
        memcpy(&number, element, sizeof number);
        return number;
    default:
        memcpy(&bits, element, item);
        bits <<= 64 - 8 * item;
        return is_signed(dtype) ? (double)((int64_t)bits >> (64 - 8 * item))
                                : (double)(bits >> (64 - 8 * item));
    }
}
