/* Small things that every layer uses: checked arithmetic, early return. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <tessera/base.h>

/* Returns from the calling function when `call` fails. */
#define TSR_TRY(call)                                                                              \
    do {                                                                                           \
        const tsr_status try_status = (call);                                                      \
        if (try_status < 0) {                                                                      \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

/* A pointer through which the caller may write: it knows that the object is not const. */
static inline void *without_const(const void *pointer)
{
    void *same;
    __builtin_memcpy(&same, &pointer, sizeof same);
    return same;
}

/* a * b and a + b for extents; false, and *out untouched, when the result exceeds int64. */
static inline bool checked_mul(int64_t a, int64_t b, int64_t *out)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *out = product;
    return true;
}

static inline bool checked_add(int64_t a, int64_t b, int64_t *out)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        return false;
    }
    *out = sum;
    return true;
}

/* ceil(a / b) for a >= 0, b >= 1, without overflow. */
static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/*
 * How many numbers of an ascending list are below a value. The numbers are `stride` bytes apart, as
 * a field of structs is.
 */
static inline size_t lower_bound(const int64_t *first, size_t stride, size_t count, int64_t value)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int64_t *number = (const void *)((const char *)first + middle * stride);
        if (*number < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The greatest common divisor of two numbers that are not negative; gcd(a, 0) is a. */
static inline int64_t gcd_i64(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
