/* Natural numbers of a few thousand bits. */
#include "number/big.h"

__extension__ typedef unsigned __int128 wide;

const uint64_t POWERS_OF_5[POWER_OF_5_MAX + 1] = {
    1ULL,
    5ULL,
    25ULL,
    125ULL,
    625ULL,
    3125ULL,
    15625ULL,
    78125ULL,
    390625ULL,
    1953125ULL,
    9765625ULL,
    48828125ULL,
    244140625ULL,
    1220703125ULL,
    6103515625ULL,
    30517578125ULL,
    152587890625ULL,
    762939453125ULL,
    3814697265625ULL,
    19073486328125ULL,
    95367431640625ULL,
    476837158203125ULL,
    2384185791015625ULL,
    11920928955078125ULL,
    59604644775390625ULL,
    298023223876953125ULL,
    1490116119384765625ULL,
    7450580596923828125ULL,
};

void big_set(big *number, uint64_t value)
{
    number->limb[0] = value;
    number->count = value != 0;
}

void big_multiply_add(big *number, uint64_t factor, uint64_t summand)
{
    uint64_t carry = summand;
    for (size_t i = 0; i < number->count; i++) {
        const wide product = (wide)number->limb[i] * factor + carry;
        number->limb[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry != 0) {
        number->limb[number->count++] = carry;
    }
}

static void drop_zero_limbs(big *number)
{
    while (number->count > 0 && number->limb[number->count - 1] == 0) {
        number->count--;
    }
}

static void divide(big *number, uint64_t divisor)
{
    uint64_t rest = 0;
    for (size_t i = number->count; i-- > 0;) {
        const wide part = (wide)rest << 64 | number->limb[i];
        number->limb[i] = (uint64_t)(part / divisor);
        rest = (uint64_t)(part % divisor);
    }
    drop_zero_limbs(number);
}

void big_multiply_power_of_5(big *number, unsigned exponent)
{
    for (; exponent > POWER_OF_5_MAX; exponent -= POWER_OF_5_MAX) {
        big_multiply_add(number, POWERS_OF_5[POWER_OF_5_MAX], 0);
    }
    big_multiply_add(number, POWERS_OF_5[exponent], 0);
}

void big_divide_power_of_5(big *number, unsigned exponent)
{
    for (; exponent > POWER_OF_5_MAX; exponent -= POWER_OF_5_MAX) {
        divide(number, POWERS_OF_5[POWER_OF_5_MAX]);
    }
    divide(number, POWERS_OF_5[exponent]);
}

/* Limb i of number * 2^bits, for bits below 64. */
static uint64_t shifted_limb(const big *number, size_t i, unsigned bits)
{
    const uint64_t high = i < number->count ? number->limb[i] : 0;
    if (bits == 0) {
        return high;
    }
    return high << bits | (i > 0 ? number->limb[i - 1] >> (64 - bits) : 0);
}

void big_shift_left(big *number, unsigned bits)
{
    const size_t limbs = bits / 64;
    for (size_t i = number->count + 1; i-- > 0;) {
        const uint64_t value = shifted_limb(number, i, bits % 64);
        if (i + limbs < BIG_LIMBS) {
            number->limb[i + limbs] = value;
        }
    }
    for (size_t i = 0; i < limbs; i++) {
        number->limb[i] = 0;
    }
    number->count += limbs + 1;
    drop_zero_limbs(number);
}

unsigned big_bits(const big *number)
{
    if (number->count == 0) {
        return 0;
    }
    const uint64_t top = number->limb[number->count - 1];
    return (unsigned)(64 * number->count) - (unsigned)__builtin_clzll(top);
}

uint64_t big_shifted(const big *number, unsigned bits)
{
    const size_t i = bits / 64;
    const unsigned rest = bits % 64;
    const uint64_t low = i < number->count ? number->limb[i] >> rest : 0;
    const bool has_high = rest != 0 && i + 1 < number->count;
    return low | (has_high ? number->limb[i + 1] << (64 - rest) : 0);
}

bool big_has_low_bits(const big *number, unsigned bits)
{
    for (size_t i = 0; i < number->count && 64 * i < bits; i++) {
        const unsigned rest = bits - (unsigned)(64 * i);
        const uint64_t mask = rest >= 64 ? UINT64_MAX : ((uint64_t)1 << rest) - 1;
        if ((number->limb[i] & mask) != 0) {
            return true;
        }
    }
    return false;
}

int big_compare(const big *a, const big *b)
{
    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    for (size_t i = a->count; i-- > 0;) {
        if (a->limb[i] != b->limb[i]) {
            return a->limb[i] < b->limb[i] ? -1 : 1;
        }
    }
    return 0;
}

void big_subtract(big *a, const big *b)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < a->count; i++) {
        const wide taken = (wide)(i < b->count ? b->limb[i] : 0) + borrow;
        borrow = taken > a->limb[i] ? 1 : 0;
        a->limb[i] -= (uint64_t)taken;
    }
    drop_zero_limbs(a);
}
