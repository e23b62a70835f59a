/* f16 and bf16: every value there and back, rounding against arithmetic in double. */
#include <math.h>

#include "random.h"

#include "number/half.h"

/* What the two formats are made of. */
typedef struct format {
    const char *name;
    int fraction_bits;
    int least_exponent; /* of normal numbers */
    int most_exponent;
    float (*to_float)(uint16_t half);
    uint16_t (*of_float)(float value);
} format;

static const format formats[] = {
    {"f16", 10, -14, 15, float_of_f16, f16_of_float},
    {"bf16", 7, -126, 127, float_of_bf16, bf16_of_float},
};
enum { NUM_FORMATS = sizeof formats / sizeof formats[0] };

static uint16_t fraction_mask(const format *f)
{
    return (uint16_t)((1 << f->fraction_bits) - 1);
}

static uint16_t exponent_mask(const format *f)
{
    return (uint16_t)(0x7fff & ~fraction_mask(f));
}

static bool is_nan(const format *f, uint16_t half)
{
    return (half & 0x7fff) > exponent_mask(f);
}

/* The value of a number that is no NaN, from the definition of the format. */
static double value_of(const format *f, uint16_t half)
{
    const int exponent = (half & exponent_mask(f)) >> f->fraction_bits;
    const double fraction = (double)(half & fraction_mask(f));
    const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
    if ((half & 0x7fff) == exponent_mask(f)) {
        return sign * (double)INFINITY;
    }
    const double one = ldexp(1.0, f->fraction_bits);
    return exponent == 0
               ? sign * ldexp(fraction, f->least_exponent - f->fraction_bits)
               : sign * ldexp(fraction + one, exponent - 1 + f->least_exponent - f->fraction_bits);
}

/* The nearest, ties to even, as a multiple of the distance between neighbours. */
static double nearest(const format *f, double x)
{
    int exponent = 0;
    if (isinf(x) || x == 0) {
        return x;
    }
    (void)frexp(x, &exponent);
    exponent = exponent - 1 < f->least_exponent ? f->least_exponent : exponent - 1;
    const double unit = ldexp(1.0, exponent - f->fraction_bits);
    const double rounded = nearbyint(x / unit) * unit;
    return fabs(rounded) >= ldexp(1.0, f->most_exponent + 1) ? copysign((double)INFINITY, x)
                                                             : copysign(rounded, x);
}

static void check_rounding(const format *f, float x)
{
    const uint16_t got = f->of_float(x);
    if (isnan(x)) {
        assert_true(is_nan(f, got));
        return;
    }
    const double wanted = nearest(f, (double)x);
    if (is_nan(f, got) || value_of(f, got) != wanted ||
        signbit(value_of(f, got)) != signbit(wanted)) {
        fail_msg("%s of %a: got 0x%04x, wanted %a", f->name, (double)x, got, wanted);
    }
}

static void every_value_there_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_FORMATS; i++) {
        const format *f = &formats[i];
        for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
            const uint16_t half = (uint16_t)bits;
            const float value = f->to_float(half);
            if (is_nan(f, half)) {
                assert_true(isnan(value));
                assert_true(is_nan(f, f->of_float(value)));
                assert_int_equal(f->of_float(value) & 0x8000, half & 0x8000);
            } else {
                const double wanted = value_of(f, half);
                assert_true((double)value == wanted && signbit((double)value) == signbit(wanted));
                assert_int_equal(f->of_float(value), half);
            }
        }
    }
}

/* Around every value and every middle between neighbours. */
static void neighbours_and_middles_are_rounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_FORMATS; i++) {
        const format *f = &formats[i];
        for (uint16_t half = 0; half < exponent_mask(f); half++) {
            const double low = value_of(f, half);
            const bool last = half + 1 == exponent_mask(f);
            const double high =
                last ? ldexp(1.0, f->most_exponent + 1) : value_of(f, (uint16_t)(half + 1));
            const float middle = (float)((low + high) / 2);
            const float around[] = {(float)low, nextafterf((float)low, INFINITY),
                                    nextafterf(middle, 0.0F), middle, nextafterf(middle, INFINITY)};
            for (size_t k = 0; k < sizeof around / sizeof around[0]; k++) {
                check_rounding(f, around[k]);
                check_rounding(f, -around[k]);
            }
        }
    }
}

static void special_values_are_rounded(void **state)
{
    (void)state;
    static const float values[] = {
        0.0F,        -0.0F,          INFINITY, -INFINITY,   NAN,         0x1p-149F,       0x1p-126F,
        0x1p-25F,    0x1.8p-25F,     0x1p-24F, 0x1.8p-24F,  0x1p-14F,    0x1.ffcp-15F,    65504.0F,
        65519.996F,  65520.0F,       65536.0F, 0x1.fep127F, 0x1.ffp127F, 0x1.fefffep127F, 0x1p-133F,
        0x1.8p-133F, 0x1.fffffep127F};
    for (size_t i = 0; i < NUM_FORMATS; i++) {
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            check_rounding(&formats[i], values[k]);
            check_rounding(&formats[i], -values[k]);
        }
    }
    assert_int_equal(f16_of_float(65519.996F), 0x7bff);
    assert_int_equal(f16_of_float(65520.0F), 0x7c00);
    assert_int_equal(f16_of_float(0x1p-25F), 0);
    assert_int_equal(f16_of_float(nextafterf(0x1p-25F, 1.0F)), 1);
    assert_int_equal(bf16_of_float(0x1.ffp127F), 0x7f80);
    assert_int_equal(bf16_of_float(1.00390625F), 0x3f80);
    assert_int_equal(bf16_of_float(1.01171875F), 0x3f82);
}

static void random_values_are_rounded(void **state)
{
    (void)state;
    rng r = rng_start("random_values_are_rounded");
    for (int64_t i = 0; i < prop_cases(500000); i++) {
        const uint32_t bits = (uint32_t)rng_below(&r, INT64_C(1) << 32);
        check_rounding(&formats[0], float_of_bits(bits));
        check_rounding(&formats[1], float_of_bits(bits));
        const uint32_t exponent = (uint32_t)(100 + rng_below(&r, 45)) << 23;
        check_rounding(&formats[0], float_of_bits((bits & 0x807fffffU) | exponent));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_there_and_back),
        cmocka_unit_test(neighbours_and_middles_are_rounded),
        cmocka_unit_test(special_values_are_rounded),
        cmocka_unit_test(random_values_are_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
