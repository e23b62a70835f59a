/* Printing floats as MLIR does: six digits if they read back as the value, else more, else hex. */
#include <string.h>

#include "number/big.h"
#include "number/float_format.h"

#define SHORT_DIGITS 6
/* Zeros that may stand before or after the digits of the long form without an exponent. */
#define PADDING_MAX 3

/* digits * 10^exponent; the last digit is not 0. */
typedef struct decimal {
    uint64_t digits;
    int count;
    int exponent;
} decimal;

/* How many decimal digits can go from a number of `bits` bits when `wanted` must stay. */
static int removable_digits(unsigned bits, int wanted)
{
    const int kept = (wanted * 196 + 58) / 59;
    return (int)bits <= kept ? 0 : ((int)bits - kept) * 59 / 196;
}

/* significand * 2^exponent, an integer, over 10^*removed, rounded down. */
static uint64_t scale_integer(uint64_t significand, int exponent, int wanted, int *removed)
{
    const unsigned width = 64 - (unsigned)__builtin_clzll(significand);
    const int drop = removable_digits(width + (unsigned)exponent, wanted);
    *removed = drop;
    if (drop == 0) {
        return significand << exponent;
    }
    big number;
    big_set(&number, exponent < drop ? significand >> (drop - exponent) : significand);
    big_shift_left(&number, exponent < drop ? 0 : (unsigned)(exponent - drop));
    big_divide_power_of_5(&number, (unsigned)drop);
    return big_shifted(&number, 0);
}

/* significand * 5^power over 10^*removed, rounded down. */
static uint64_t scale_fraction(uint64_t significand, int power, int wanted, int *removed)
{
    big number;
    big_set(&number, significand);
    big_multiply_power_of_5(&number, (unsigned)power);
    const int drop = removable_digits(big_bits(&number), wanted);
    *removed = drop;
    if (drop == 0) {
        return number.limb[0];
    }
    if (drop > power) {
        return (significand >> drop) / POWERS_OF_5[drop - power];
    }
    big_set(&number, significand);
    big_multiply_power_of_5(&number, (unsigned)(power - drop));
    return big_shifted(&number, (unsigned)drop);
}

static int count_digits(uint64_t number)
{
    int count = 1;
    for (; number >= 10; number /= 10) {
        count++;
    }
    return count;
}

/* Rounds to `wanted` digits, halves up, and drops zeros at the end. */
static decimal round_decimal(uint64_t digits, int exponent, int wanted)
{
    uint64_t last = 0;
    for (int count = count_digits(digits); count > wanted; count--) {
        last = digits % 10;
        digits /= 10;
        exponent++;
    }
    digits += last >= 5 ? 1 : 0;
    for (; digits % 10 == 0; digits /= 10) {
        exponent++;
    }
    return (decimal){digits, count_digits(digits), exponent};
}

/*
 * About `wanted` digits of a value, as the reference takes them: it first removes digits by an
 * estimate of their number from the number of bits, which may leave exactly `wanted` digits, cut
 * and not rounded.
 */
static decimal decimal_of(const float_parts *value, int wanted)
{
    const int zeros = __builtin_ctzll(value->significand);
    const uint64_t significand = value->significand >> zeros;
    const int exponent = value->exponent + zeros;
    int removed;
    if (exponent >= 0) {
        const uint64_t digits = scale_integer(significand, exponent, wanted, &removed);
        return round_decimal(digits, removed, wanted);
    }
    const uint64_t digits = scale_fraction(significand, -exponent, wanted, &removed);
    return round_decimal(digits, exponent + removed, wanted);
}

/* Formats of fewer bits than a 24-bit significand are always told apart by six digits. */
static bool reads_back(float_format f, uint64_t bits, bool negative, const decimal *number)
{
    if (float_format_precision(f) < 24) {
        return true;
    }
    const binary_number binary = binary_from_decimal(number->digits, number->exponent);
    return float_from_binary(f, negative, binary) == bits;
}

/* Writes the digits of a number from the left; returns the place after them. */
static char *put_digits(char *at, uint64_t number, int count)
{
    for (int i = count; i-- > 0; number /= 10) {
        at[i] = (char)('0' + number % 10);
    }
    return at + count;
}

static char *put_zeros(char *at, int count)
{
    memset(at, '0', (size_t)count);
    return at + count;
}

static char *put_exponent(char *at, char mark, int exponent, int least_digits)
{
    const unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    const int count = count_digits(magnitude);
    *at++ = mark;
    *at++ = exponent < 0 ? '-' : '+';
    return put_digits(at, magnitude, count < least_digits ? least_digits : count);
}

/* The power of ten of the first digit. */
static int leading_power(const decimal *number)
{
    return number->exponent + number->count - 1;
}

/* The first digit, a point, the others. */
static char *put_scientific(char *at, const decimal *number)
{
    char *end = put_digits(at + 1, number->digits, number->count);
    at[0] = at[1];
    at[1] = '.';
    return end;
}

/* d.dddddde+XX, with SHORT_DIGITS digits after the point. */
static char *put_short(char *at, const decimal *number)
{
    at = put_scientific(at, number);
    at = put_zeros(at, SHORT_DIGITS + 1 - number->count);
    return put_exponent(at, 'e', leading_power(number), 2);
}

/* d.dddE-7 */
static char *put_long_scientific(char *at, const decimal *number)
{
    at = put_scientific(at, number);
    if (number->count == 1) {
        *at++ = '0';
    }
    return put_exponent(at, 'E', leading_power(number), 1);
}

/* A number with a fraction, without exponent. */
static char *put_plain(char *at, const decimal *number)
{
    const int whole = number->count + number->exponent;
    if (whole <= 0) {
        *at++ = '0';
        *at++ = '.';
        at = put_zeros(at, -whole);
        return put_digits(at, number->digits, number->count);
    }
    put_digits(at, number->digits, number->count);
    memmove(at + whole + 1, at + whole, (size_t)-number->exponent);
    at[whole] = '.';
    return at + number->count + 1;
}

static bool is_long_scientific(const decimal *number, int wanted)
{
    if (number->exponent >= 0) {
        return number->exponent > PADDING_MAX || number->count + number->exponent > wanted;
    }
    return leading_power(number) < -PADDING_MAX;
}

/* The bits, for what has no text that reads as a float. */
static char *put_hex(char *at, uint64_t bits)
{
    int count = 1;
    while (count < 16 && bits >> (4 * count) != 0) {
        count++;
    }
    *at++ = '0';
    *at++ = 'x';
    for (int i = count; i-- > 0;) {
        *at++ = "0123456789ABCDEF"[bits >> (4 * i) & 0xf];
    }
    return at;
}

/* The long form; a number that would have no point prints as its bits. */
static char *put_long(char *at, float_format f, const float_parts *value, uint64_t bits)
{
    const int wanted = 2 + (int)float_format_precision(f) * 59 / 196;
    const decimal number = decimal_of(value, wanted);
    const bool scientific = is_long_scientific(&number, wanted);
    if (!scientific && number.exponent >= 0) {
        return put_hex(at, bits);
    }
    if (value->negative) {
        *at++ = '-';
    }
    return scientific ? put_long_scientific(at, &number) : put_plain(at, &number);
}

static char *put_value(char *at, float_format f, uint64_t bits)
{
    const float_parts value = float_take_apart(f, bits);
    if (!value.finite) {
        return put_hex(at, bits);
    }
    decimal number = {0, 1, 0};
    if (value.significand != 0) {
        number = decimal_of(&value, SHORT_DIGITS);
        if (!reads_back(f, bits, value.negative, &number)) {
            return put_long(at, f, &value, bits);
        }
    }
    if (value.negative) {
        *at++ = '-';
    }
    return put_short(at, &number);
}

size_t float_to_text(float_format f, uint64_t bits, char *out)
{
    return (size_t)(put_value(out, f, bits) - out);
}
