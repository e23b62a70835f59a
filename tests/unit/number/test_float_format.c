/* Float formats: values by hand, every pattern of the small formats, random ones against libc. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number/float_format.h"
#include "support.h"

/* Splitmix64: all 64 bits are random. */
static uint64_t random_next(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15;
    uint64_t x = *seed;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static uint64_t double_bits(double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t float_bits(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float_format format_named(const char *name)
{
    float_format f = FLOAT_FORMAT_COUNT;
    assert_true(float_format_find(name, strlen(name), &f));
    return f;
}

/* The bits of a text with an optional sign, or of hex digits after 0x. */
static uint64_t bits_of(float_format f, const char *text)
{
    if (strncmp(text, "0x", 2) == 0) {
        return strtoull(text, NULL, 16);
    }
    const bool negative = text[0] == '-';
    uint64_t bits = 0;
    assert_true(
        float_from_text(f, text + negative, strlen(text) - (size_t)negative, negative, &bits));
    return bits;
}

static const char *text_of(float_format f, uint64_t bits)
{
    static char text[FLOAT_TEXT_MAX + 1];
    const size_t size = float_to_text(f, bits, text);
    assert_true(size <= FLOAT_TEXT_MAX);
    text[size] = '\0';
    return text;
}

static void formats_have_names_and_widths(void **state)
{
    (void)state;
    for (int i = 0; i < FLOAT_FORMAT_COUNT; i++) {
        assert_int_equal(format_named(float_format_name((float_format)i)), i);
    }
    float_format f;
    assert_false(float_format_find("f33", 3, &f));
    assert_false(float_format_find("f3", 2, &f));
    assert_int_equal(float_format_bits(FLOAT_TF32), 19);
    assert_int_equal(float_format_bits(FLOAT_F6E3M2FN), 6);
    assert_int_equal(float_format_bits(FLOAT_F64), 64);
}

/* What a format makes of a text, as bits and printed. */
static void values_are_rounded_and_printed(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        const char *given;
        uint64_t bits;
        const char *printed;
    } cases[] = {
        {"f32", "2.0", 0x40000000, "2.000000e+00"},
        {"f32", "-0.0", 0x80000000, "-0.000000e+00"},
        {"f32", "0.2", 0x3e4ccccd, "2.000000e-01"},
        {"f32", "7", 0x40e00000, "7.000000e+00"},
        {"f32", "5.", 0x40a00000, "5.000000e+00"},
        {"f32", "0.3333333433", 0x3eaaaaab, "0.333333343"},
        {"f32", "1.0e+39", 0x7f800000, "0x7F800000"},
        {"f32", "-9.9e99999999999999999999", 0xff800000, "0xFF800000"},
        {"f32", "1.0e-46", 0, "0.000000e+00"},
        {"f32", "0x1", 1, "1.401300e-45"},
        {"f32", "16777216.0", 0x4b800000, "0x4B800000"},
        {"f32", "0.00048828125", 0x3a000000, "4.8828125E-4"},
        {"f32", "100.75", 0x42c98000, "1.007500e+02"},
        {"f64", "0.6666666666666666", 0x3fe5555555555555, "0.66666666666666663"},
        {"f64", "1234567.0", 0x4132d68700000000, "0x4132D68700000000"},
        {"f64", "1234567.5", 0x4132d68780000000, "1234567.5"},
        {"f64", "1.0E400", 0x7ff0000000000000, "0x7FF0000000000000"},
        {"f64", "0.581823", 0x3fe29e4b44a1f080, "0.58182299999999998"},
        {"f64", "0x1", 1, "4.940660e-324"},
        {"f64", "2.0e-324", 0, "0.000000e+00"},
        {"f64", "9007199254740993.0", 0x4340000000000000, "0x4340000000000000"},
        {"f16", "65519.0", 0x7bff, "6.550400e+04"},
        {"f16", "65520.0", 0x7c00, "0x7C00"},
        {"f16", "0.1", 0x2e66, "9.997550e-02"},
        {"bf16", "3.14159", 0x4049, "3.140630e+00"},
        {"bf16", "0xFFC0", 0xffc0, "0xFFC0"},
        {"tf32", "1.0009765625", 0x1fc01, "1.000980e+00"},
        {"tf32", "-1.0e60", 0x7fc00, "0x7FC00"},
        {"f8E5M2", "61440.0", 0x7c, "0x7C"},
        {"f8E5M2", "61439.0", 0x7b, "5.734400e+04"},
        {"f8E4M3", "250.0", 0x78, "0x78"},
        {"f8E4M3FN", "464.0", 0x7e, "4.480000e+02"},
        {"f8E4M3FN", "-465.0", 0xff, "0xFF"},
        {"f8E4M3FNUZ", "240.0", 0x7f, "2.400000e+02"},
        {"f8E4M3FNUZ", "-300.0", 0x80, "0x80"},
        {"f8E4M3FNUZ", "-0.0", 0, "0.000000e+00"},
        {"f8E4M3B11FNUZ", "30.0", 0x7f, "3.000000e+01"},
        {"f8E5M2FNUZ", "-1.0", 0xc0, "-1.000000e+00"},
        {"f8E3M4", "15.5", 0x6f, "1.550000e+01"},
        {"f8E3M4", "16.0", 0x70, "0x70"},
        {"f8E8M0FNU", "0.0", 0, "5.877470e-39"},
        {"f8E8M0FNU", "3.0", 0x81, "4.000000e+00"},
        {"f8E8M0FNU", "1.0e39", 0xff, "0xFF"},
        {"f6E2M3FN", "99.0", 0x1f, "7.500000e+00"},
        {"f6E3M2FN", "-99.0", 0x3f, "-2.800000e+01"},
        {"f4E2M1FN", "0.25", 0, "0.000000e+00"},
        {"f4E2M1FN", "0.75", 2, "1.000000e+00"},
        {"f4E2M1FN", "-7.0", 0xf, "-6.000000e+00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float_format f = format_named(cases[i].format);
        const uint64_t bits = bits_of(f, cases[i].given);
        if (bits != cases[i].bits || strcmp(text_of(f, bits), cases[i].printed) != 0) {
            fail_msg("%s %s: %#llx, %s", cases[i].format, cases[i].given, (unsigned long long)bits,
                     text_of(f, bits));
        }
    }
}

static void texts_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    ".",   "e5",   "-1.0", "1.0e",  "1.0e+",
                                        "1 0", "1.x", "0x10", "inf",  "1.0.0", "1.0e5.0"};
    uint64_t bits;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(float_from_text(FLOAT_F32, texts[i], strlen(texts[i]), false, &bits));
    }
}

/* Every pattern of up to 19 bits: the text and the double lead back to it. */
static void small_formats_round_trip(void **state)
{
    (void)state;
    for (int i = 0; i < FLOAT_FORMAT_COUNT; i++) {
        const float_format f = (float_format)i;
        if (float_format_bits(f) > 19) {
            continue;
        }
        for (uint64_t bits = 0; bits < (uint64_t)1 << float_format_bits(f); bits++) {
            const double value = float_to_double(f, bits);
            const char *text = text_of(f, bits);
            if (isfinite(value)) {
                assert_true(bits_of(f, text) == bits);
                assert_true(float_from_double(f, value) == bits);
            } else {
                assert_true(strncmp(text, "0x", 2) == 0 && strtoull(text, NULL, 16) == bits);
            }
        }
    }
}

static void nan_and_infinity_convert(void **state)
{
    (void)state;
    assert_int_equal(float_from_double(FLOAT_F16, NAN), 0x7e00);
    assert_int_equal(float_from_double(FLOAT_F8E4M3FN, (double)-INFINITY), 0xff);
    assert_int_equal(float_from_double(FLOAT_F8E5M2FNUZ, (double)NAN), 0x80);
    assert_int_equal(float_from_double(FLOAT_F4E2M1FN, (double)NAN), 0);
    assert_int_equal(float_from_double(FLOAT_F4E2M1FN, (double)INFINITY), 7);
    assert_true(isinf(float_to_double(FLOAT_BF16, 0xff80)));
    assert_true(isnan(float_to_double(FLOAT_F8E8M0FNU, 0xff)));
}

/* What prints as decimal reads back as the value, by libc as well. */
static void large_formats_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (int i = 0; i < 200000; i++) {
        const uint64_t bits = random_next(&seed) >> (random_next(&seed) % 3);
        const char *text = text_of(FLOAT_F64, bits);
        if (text[1] != 'x') {
            assert_true(double_bits(strtod(text, NULL)) == bits);
            assert_true(bits_of(FLOAT_F64, text) == bits);
        }
        const uint32_t half = (uint32_t)bits;
        text = text_of(FLOAT_F32, half);
        if (text[1] != 'x') {
            assert_true(float_bits(strtof(text, NULL)) == half);
        }
    }
}

/* A random literal: digits, a point, more digits, an exponent. */
static void random_literal(uint64_t *seed, char *out)
{
    const size_t before = 1 + random_next(seed) % 4;
    const size_t after = random_next(seed) % (random_next(seed) % 50 == 0 ? 900 : 24);
    for (size_t i = 0; i < before + after + 1; i++) {
        *out++ = i == before ? '.' : (char)('0' + random_next(seed) % 10);
    }
    const int range = random_next(seed) % 2 == 0 ? 20 : 340;
    (void)sprintf(out, "e%d", (int)(random_next(seed) % (uint64_t)(2 * range)) - range);
}

static void literals_are_read_as_libc_reads_them(void **state)
{
    (void)state;
    uint64_t seed = 7;
    char text[1024];
    for (int i = 0; i < 100000; i++) {
        random_literal(&seed, text);
        const uint64_t bits = bits_of(FLOAT_F64, text);
        if (double_bits(strtod(text, NULL)) != bits) {
            fail_msg("%s: %#llx", text, (unsigned long long)bits);
        }
    }
}

/* Halfway between two doubles, and a little more in the 900th digit. */
static void ties_are_seen_to_the_last_digit(void **state)
{
    (void)state;
    char text[1000];
    memset(text, '0', sizeof text);
    memcpy(text, "9007199254740993.", 17);
    text[998] = '\0';
    assert_true(bits_of(FLOAT_F64, text) == 0x4340000000000000);
    text[997] = '1';
    assert_true(bits_of(FLOAT_F64, text) == 0x4340000000000001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_have_names_and_widths),
        cmocka_unit_test(values_are_rounded_and_printed),
        cmocka_unit_test(texts_that_are_no_numbers_are_refused),
        cmocka_unit_test(small_formats_round_trip),
        cmocka_unit_test(nan_and_infinity_convert),
        cmocka_unit_test(large_formats_round_trip),
        cmocka_unit_test(literals_are_read_as_libc_reads_them),
        cmocka_unit_test(ties_are_seen_to_the_last_digit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
