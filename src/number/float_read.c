/* Reading decimal numbers, correctly rounded. */
#include <string.h>

#include "number/big.h"
#include "number/float_format.h"

__extension__ typedef unsigned __int128 wide;

/* More digits than this only matter by not being zero: no double has a tie with as many. */
#define DIGITS_MAX 780
/* Values outside 10^-400 .. 10^400 are infinite or zero as doubles. */
#define DECADES_MAX 400

/* The top 64 bits of a number * 2^exponent. */
static binary_number normalize_wide(wide number, int exponent, bool inexact)
{
    const uint64_t high = (uint64_t)(number >> 64);
    const uint64_t low = (uint64_t)number;
    if (high == 0) {
        const int zeros = __builtin_clzll(low);
        return (binary_number){low << zeros, exponent - zeros, inexact};
    }
    const int shift = 64 - __builtin_clzll(high);
    const wide rest = number & (((wide)1 << shift) - 1);
    return (binary_number){(uint64_t)(number >> shift), exponent + shift, inexact || rest != 0};
}

/* digits / 10^power, for powers up to POWER_OF_5_MAX: one division of 128 bits. */
static binary_number divide_small(uint64_t digits, int power)
{
    const int zeros = __builtin_clzll(digits);
    const wide numerator = (wide)(digits << zeros) << 64;
    const uint64_t divisor = POWERS_OF_5[power];
    const wide quotient = numerator / divisor;
    return normalize_wide(quotient, -64 - zeros - power, numerator != quotient * divisor);
}

static binary_number normalize_big(const big *number, int exponent)
{
    const unsigned bits = big_bits(number);
    if (bits <= 64) {
        return (binary_number){number->limb[0] << (64 - bits), exponent + (int)bits - 64, false};
    }
    const unsigned shift = bits - 64;
    return (binary_number){big_shifted(number, shift), exponent + (int)shift,
                           big_has_low_bits(number, shift)};
}

/* numerator / denominator * 2^exponent by long division; the numbers are used up. */
static binary_number divide_big(big *numerator, big *denominator, int exponent)
{
    const unsigned above = big_bits(numerator);
    const unsigned below = big_bits(denominator);
    big_shift_left(above < below ? numerator : denominator,
                   above < below ? below - above : above - below);
    exponent += (int)above - (int)below;
    if (big_compare(numerator, denominator) < 0) {
        big_shift_left(numerator, 1);
        exponent--;
    }
    uint64_t quotient = 0;
    for (int i = 0; i < 64; i++) {
        const bool fits = big_compare(numerator, denominator) >= 0;
        if (fits) {
            big_subtract(numerator, denominator);
        }
        quotient = quotient << 1 | fits;
        big_shift_left(numerator, 1);
    }
    return (binary_number){quotient, exponent - 63, numerator->count > 0};
}

/* digits * 10^exponent; the digits are used up. */
static binary_number scale_big(big *digits, int exponent)
{
    if (exponent >= 0) {
        big_multiply_power_of_5(digits, (unsigned)exponent);
        return normalize_big(digits, exponent);
    }
    big denominator;
    big_set(&denominator, 1);
    big_multiply_power_of_5(&denominator, (unsigned)-exponent);
    return divide_big(digits, &denominator, exponent);
}

binary_number binary_from_decimal(uint64_t digits, int exponent)
{
    if (exponent >= 0 && exponent <= POWER_OF_5_MAX) {
        return normalize_wide((wide)digits * POWERS_OF_5[exponent], exponent, false);
    }
    if (exponent < 0 && exponent >= -POWER_OF_5_MAX) {
        return divide_small(digits, -exponent);
    }
    big number;
    big_set(&number, digits);
    return scale_big(&number, exponent);
}

/*
 * A literal taken apart: its digits from the first that is not zero, as a number while they fit,
 * and the power of ten of the last one counted. `first` is where they begin.
 */
typedef struct decimal_literal {
    const char *first;
    uint64_t digits;
    int64_t count;
    int64_t exponent;
} decimal_literal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes digits; those after the point lower the exponent. */
static const char *take_digits(const char *at, const char *end, bool fraction, decimal_literal *out)
{
    for (; at < end && is_digit(*at); at++) {
        out->exponent -= fraction;
        if (out->count == 0 && *at == '0') {
            continue;
        }
        out->first = out->count == 0 ? at : out->first;
        out->digits = out->count < 19 ? out->digits * 10 + (uint64_t)(*at - '0') : out->digits;
        out->count++;
    }
    return at;
}

/* Takes an exponent; huge ones are as good as DECADES_MAX and the length of the text. */
static const char *take_exponent(const char *at, const char *end, int64_t *out)
{
    const bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    int64_t value = 0;
    for (; at < end && is_digit(*at); at++) {
        value = value > INT64_MAX / 16 ? value : value * 10 + (*at - '0');
    }
    *out += negative ? -value : value;
    return at;
}

static bool take_apart(const char *text, size_t size, decimal_literal *out)
{
    const char *end = text + size;
    const char *at = take_digits(text, end, false, out);
    bool any = at > text;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = take_digits(fraction, end, true, out);
        any = any || at > fraction;
    }
    if (any && at + 1 < end && (*at == 'e' || *at == 'E') && is_digit(end[-1])) {
        at = take_exponent(at + 1, end, &out->exponent);
    }
    return any && at == end;
}

/* Whether a digit other than 0 stands among the next `count` ones. */
static bool any_digit_set(const char *at, int64_t count)
{
    for (; count > 0; at++) {
        if (*at > '0' && *at <= '9') {
            return true;
        }
        count -= is_digit(*at);
    }
    return false;
}

/* All the digits of a literal that count, and one more for those that are left out. */
static binary_number read_long(const decimal_literal *literal)
{
    big number;
    big_set(&number, 0);
    const char *at = literal->first;
    int64_t left = literal->count;
    for (int taken = 0; left > 0 && taken < DIGITS_MAX; at++) {
        if (is_digit(*at)) {
            big_multiply_add(&number, 10, (uint64_t)(*at - '0'));
            taken++;
            left--;
        }
    }
    if (left > 0) {
        big_multiply_add(&number, 10, any_digit_set(at, left));
        left--;
    }
    return scale_big(&number, (int)(literal->exponent + left));
}

/* The bits of a double, for the powers of ten that are exact ones and digits that are. */
static bool read_exact(const decimal_literal *literal, uint64_t *bits)
{
    static const double POWERS_OF_10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int64_t power = literal->exponent;
    if (literal->count > 19 || literal->digits >> 53 != 0 || power > 22 || power < -22) {
        return false;
    }
    const double digits = (double)literal->digits;
    const double value = power < 0 ? digits / POWERS_OF_10[-power] : digits * POWERS_OF_10[power];
    memcpy(bits, &value, sizeof value);
    return true;
}

/* The double nearest to a literal, as bits. */
static uint64_t read_double(const decimal_literal *literal)
{
    const uint64_t infinity = (uint64_t)0x7ff << 52;
    uint64_t bits;
    if (literal->count == 0 || literal->count + literal->exponent < -DECADES_MAX) {
        return 0;
    }
    if (literal->count + literal->exponent > DECADES_MAX) {
        return infinity;
    }
    if (read_exact(literal, &bits)) {
        return bits;
    }
    const binary_number number = literal->count <= 19
                                     ? binary_from_decimal(literal->digits, (int)literal->exponent)
                                     : read_long(literal);
    return float_from_binary(FLOAT_F64, false, number);
}

bool float_from_text(float_format f, const char *text, size_t size, bool negative, uint64_t *bits)
{
    decimal_literal literal = {0};
    if (!take_apart(text, size, &literal)) {
        return false;
    }
    const uint64_t sign = negative ? (uint64_t)1 << 63 : 0;
    *bits = read_double(&literal) | sign;
    if (f != FLOAT_F64) {
        double value;
        memcpy(&value, bits, sizeof value);
        *bits = float_from_double(f, value);
    }
    return true;
}
