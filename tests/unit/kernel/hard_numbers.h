/* Arrays of any layout between guards, filled with numbers that are hard on arithmetic. */
#ifndef HARD_NUMBERS_H
#define HARD_NUMBERS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#include "kernel/vector.h"
#include "number/half.h"

enum { STRIDED_MAX_DIMS = 4, STRIDED_MARGIN = 64 };

typedef struct strided {
    unsigned char *room;
    size_t size;
    int64_t strides[STRIDED_MAX_DIMS];
    tsr_view view;
} strided;

static const tsr_dtype computed[] = {TSR_I1,  TSR_I8,  TSR_I16, TSR_I32,  TSR_I64, TSR_U8, TSR_U16,
                                     TSR_U32, TSR_U64, TSR_F16, TSR_BF16, TSR_F32, TSR_F64};
enum { NUM_COMPUTED = sizeof computed / sizeof computed[0] };

static inline bool is_float(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 || dtype == TSR_F32 || dtype == TSR_F64;
}

static inline bool is_signed(tsr_dtype dtype)
{
    return dtype == TSR_I8 || dtype == TSR_I16 || dtype == TSR_I32 || dtype == TSR_I64;
}

static inline bool is_integer(tsr_dtype dtype)
{
    return !is_float(dtype) && dtype != TSR_I1 && dtype != TSR_C64 && dtype != TSR_C128;
}

static inline size_t item_of(tsr_dtype dtype)
{
    return (size_t)tsr_dtype_item_bytes(dtype);
}

/* Numbers of like size, and one in eight special: zeros, subnormals, infinities, NaNs, any. */
static inline uint64_t random_float(rng *r, int exponent_bits, int fraction_bits)
{
    const uint64_t fraction =
        (uint64_t)rng_below(r, INT64_MAX) & ((UINT64_C(1) << fraction_bits) - 1);
    const uint64_t top = (UINT64_C(1) << exponent_bits) - 1;
    const uint64_t sign = (uint64_t)rng_below(r, 2) << (exponent_bits + fraction_bits);
    const uint64_t like = top / 2 - 2 + (uint64_t)rng_below(r, 5);
    const uint64_t exponents[] = {0, top, top - 1, (uint64_t)rng_below(r, (int64_t)top)};
    const bool special = rng_chance(r, 12);
    const uint64_t exponent = special ? exponents[rng_below(r, 4)] : like;
    return sign | exponent << fraction_bits | (special && rng_chance(r, 40) ? 0 : fraction);
}

static inline uint64_t random_bits(rng *r, tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_I1:
        return (uint64_t)rng_below(r, 2);
    case TSR_F16:
        return random_float(r, 5, 10);
    case TSR_BF16:
        return random_float(r, 8, 7);
    case TSR_F32:
        return random_float(r, 8, 23);
    case TSR_F64:
        return random_float(r, 11, 52);
    default:
        return rng_chance(r, 20) ? (uint64_t)rng_below(r, 5) - 2
                                 : (uint64_t)rng_below(r, INT64_MAX) * 2 + (r->state & 1);
    }
}

/* Extents with 0, 1 and primes among them, and the last one sometimes long; returns the rank. */
static inline size_t random_extents(rng *r, int64_t *shape)
{
    static const int64_t extents[] = {1, 2, 3, 5, 7, 13};
    const size_t rank = (size_t)rng_below(r, STRIDED_MAX_DIMS);
    for (size_t d = 0; d < rank; d++) {
        shape[d] = rng_chance(r, 3) ? 0 : extents[rng_below(r, 6)];
    }
    if (rank > 0 && rng_chance(r, 60)) {
        shape[rng_below(r, (int64_t)rank)] = rng_below(r, rank == 1 ? 1400 : 150);
    }
    return rank;
}

/* Which layouts an array may have. */
typedef enum layout_kind { PACKED, ANY, REPEATING } layout_kind;

/* Dimensions in any order, gaps, either sign; REPEATING has strides of 0 as well. */
static inline strided strided_new(rng *r, tsr_dtype dtype, size_t rank, const int64_t *shape,
                                  layout_kind kind)
{
    strided a = {.view = {.dtype = dtype, .rank = rank, .shape = shape}};
    size_t order[STRIDED_MAX_DIMS];
    for (size_t d = 0; d < rank; d++) {
        const size_t at = kind == PACKED ? 0 : (size_t)rng_below(r, (int64_t)d + 1);
        memmove(order + at + 1, order + at, (d - at) * sizeof order[0]);
        order[at] = d;
    }
    int64_t step = (int64_t)item_of(dtype);
    int64_t start = 0;
    for (size_t i = 0; i < rank; i++) {
        const size_t d = order[i];
        const int64_t extent = shape[d] > 0 ? shape[d] : 1;
        step *= kind != PACKED && rng_chance(r, 25) ? 1 + rng_below(r, 3) : 1;
        const bool repeated = kind == REPEATING && rng_chance(r, 30);
        const bool backwards = kind != PACKED && rng_chance(r, 20);
        a.strides[d] = repeated ? 0 : backwards ? -step : step;
        start += backwards && !repeated ? (extent - 1) * step : 0;
        step *= extent;
    }
    const size_t margin = STRIDED_MARGIN + (size_t)rng_below(r, STRIDED_MARGIN);
    a.size = (size_t)step + 2 * margin;
    a.room = malloc(a.size);
    assert_non_null(a.room);
    a.view.data = a.room + margin + start;
    const size_t item = item_of(dtype);
    const size_t part = dtype == TSR_C64 ? 4 : dtype == TSR_C128 ? 8 : item;
    for (size_t at = margin % item; at + part <= a.size; at += part) {
        const uint64_t bits = random_bits(r, dtype);
        memcpy(a.room + at, &bits, part);
    }
    return a;
}

/* Strides are set when the array has come to rest; structs are handed over by value. */
static inline const tsr_view *view_of(strided *a)
{
    a->view.strides = a->strides;
    return &a->view;
}

static inline unsigned char *copy_of_room(const strided *a)
{
    unsigned char *copy = malloc(a->size);
    assert_non_null(copy);
    memcpy(copy, a->room, a->size);
    return copy;
}

static inline int64_t elements_of(const strided *a)
{
    int64_t count = 1;
    for (size_t d = 0; d < a->view.rank; d++) {
        count *= a->view.shape[d];
    }
    return count;
}

/* Where the index-th element is in the room, row-major. */
static inline size_t place_of(const strided *a, int64_t index)
{
    int64_t place = (const unsigned char *)a->view.data - a->room;
    for (size_t d = a->view.rank; d-- > 0;) {
        place += index % a->view.shape[d] * a->strides[d];
        index /= a->view.shape[d];
    }
    return (size_t)place;
}

static inline uint64_t bits_at(const strided *a, int64_t index)
{
    uint64_t bits = 0;
    memcpy(&bits, a->room + place_of(a, index), item_of(a->view.dtype));
    return bits;
}

/* What bits of a type stand for: a float as a double, an integer as it is. */
static inline double float_value(tsr_dtype dtype, uint64_t bits)
{
    double value;
    switch (dtype) {
    case TSR_F16:
        return (double)float_of_f16((uint16_t)bits);
    case TSR_BF16:
        return (double)float_of_bf16((uint16_t)bits);
    case TSR_F32:
        return (double)float_of_bits((uint32_t)bits);
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

static inline __int128 integer_value(tsr_dtype dtype, uint64_t bits)
{
    const uint64_t sign = UINT64_C(1) << (8 * item_of(dtype) - 1);
    const bool negative = is_signed(dtype) && (bits & sign) != 0;
    return (__int128)bits - (negative ? (__int128)sign * 2 : 0);
}

/* The bits of an f32 or f64 number in a type; a NaN is the plain one. */
static inline uint64_t float_bits(tsr_dtype dtype, double value)
{
    uint64_t bits;
    switch (dtype) {
    case TSR_F16:
        return isnan(value) ? 0x7e00 : f16_of_float((float)value);
    case TSR_BF16:
        return isnan(value) ? 0x7fc0 : bf16_of_float((float)value);
    case TSR_F32:
        return isnan(value) ? 0x7fc00000 : bits_of_float((float)value);
    default:
        memcpy(&bits, &value, sizeof bits);
        return isnan(value) ? UINT64_C(0x7ff8000000000000) : bits;
    }
}

/* Insists that a room holds what is wanted, guards and all. */
static inline void expect_room(const strided *a, const unsigned char *wanted, const char *what,
                               int op)
{
    size_t at = 0;
    for (; at < a->size && a->room[at] == wanted[at]; at++) {
    }
    if (at < a->size) {
        fail_msg("%s %d of %s: byte %zd after the start is 0x%02x, wanted 0x%02x", what, op,
                 tsr_dtype_name(a->view.dtype),
                 (ptrdiff_t)at - ((const unsigned char *)a->view.data - a->room), a->room[at],
                 wanted[at]);
    }
}

#endif
