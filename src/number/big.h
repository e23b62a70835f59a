/* Natural numbers of a few thousand bits, for exact conversions between binary and decimal. */
#ifndef NUMBER_BIG_H
#define NUMBER_BIG_H

#include "base/base.h"

/* Enough for 800 digits, and for 10^1200. */
#define BIG_LIMBS 72

/* The sum of limb[i] * 2^(64 i); the last limb is not 0, and there is none for 0. */
typedef struct big {
    size_t count;
    uint64_t limb[BIG_LIMBS];
} big;

void big_set(big *number, uint64_t value);
/* number * factor + summand. */
void big_multiply_add(big *number, uint64_t factor, uint64_t summand);
void big_multiply_power_of_5(big *number, unsigned exponent);
/* number / 5^exponent, rounded down. */
void big_divide_power_of_5(big *number, unsigned exponent);
void big_shift_left(big *number, unsigned bits);
/* Bits from the highest one set down. */
unsigned big_bits(const big *number);
/* number / 2^bits, rounded down, modulo 2^64. */
uint64_t big_shifted(const big *number, unsigned bits);
/* Whether one of the lowest `bits` bits is set. */
bool big_has_low_bits(const big *number, unsigned bits);
int big_compare(const big *a, const big *b);
/* a - b, for a >= b. */
void big_subtract(big *a, const big *b);

/* 5^exponent, for exponents up to 27. */
#define POWER_OF_5_MAX 27
extern const uint64_t POWERS_OF_5[POWER_OF_5_MAX + 1];

#endif
