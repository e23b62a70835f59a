/* Single elements: loaded, stored and printed; two implementations of f16 and bf16 agree. */
#include <math.h>
#include <string.h>

#include "number/element.h"
#include "number/float_format.h"
#include "number/half.h"
#include "support.h"

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void halves_agree_with_their_formats(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        const uint16_t half = (uint16_t)bits;
        const float f16 = float_of_f16(half);
        const float bf16 = float_of_bf16(half);
        assert_true(same((double)f16, float_to_double(FLOAT_F16, half)));
        assert_true(same((double)bf16, float_to_double(FLOAT_BF16, half)));
        /* Halfway to the next value and around it, where rounding decides. */
        for (int step = -1; step <= 1; step++) {
            const float near = float_of_bits(bits_of_float(f16) + 0x1000U + (uint32_t)step);
            const float far = float_of_bits(bits_of_float(bf16) + 0x8000U + (uint32_t)step);
            if (!isnan(near)) {
                assert_int_equal(f16_of_float(near), float_from_double(FLOAT_F16, (double)near));
            }
            if (!isnan(far)) {
                assert_int_equal(bf16_of_float(far), float_from_double(FLOAT_BF16, (double)far));
            }
        }
    }
}

/* Every element of a type of at most 16 bits becomes a number and that element again. */
static void small_types_round_trip(void **state)
{
    (void)state;
    for (int d = 0; d < tsr_dtype_count(); d++) {
        const tsr_dtype dtype = (tsr_dtype)d;
        const int bits = tsr_dtype_bits(dtype);
        for (uint32_t value = 0; bits <= 16 && value < (uint32_t)1 << bits; value++) {
            uint32_t element = value;
            uint32_t back = 0;
            if (element_kind(dtype) == NUMBER_SIGNED) { /* kept with the sign of its value */
                element = (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
            }
            const element_number n = element_load(dtype, &element);
            element_store(dtype, n, &back);
            const uint32_t mask = tsr_dtype_item_bytes(dtype) == 1 ? 0xffU : 0xffffU;
            if (n.kind == NUMBER_FLOAT && isnan(n.re)) {
                assert_true(isnan(element_load(dtype, &back).re));
            } else {
                assert_int_equal(back, element & mask);
            }
        }
    }
}

typedef struct conversion {
    tsr_dtype from;
    double value;
    tsr_dtype to;
    int64_t wanted;
} conversion;

static void conversions_saturate_and_wrap(void **state)
{
    static const conversion cases[] = {
        {TSR_F64, 300, TSR_I8, 127},
        {TSR_F64, -300, TSR_I8, -128},
        {TSR_F64, -1, TSR_U8, 0},
        {TSR_F64, NAN, TSR_I32, 0},
        {TSR_F64, 2.9, TSR_I32, 2},
        {TSR_F64, -2.9, TSR_I32, -2},
        {TSR_F64, 1e30, TSR_I64, INT64_MAX},
        {TSR_F64, 9, TSR_I4, 7},
        {TSR_F64, 0.5, TSR_I1, 1},
        {TSR_I64, 300, TSR_U8, 44},
        {TSR_I64, 9, TSR_I4, -7},
        {TSR_I64, 256, TSR_I1, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const conversion *c = &cases[i];
        int64_t element = (int64_t)(c->from == TSR_I64 ? c->value : 0);
        int64_t stored = 0;
        if (c->from == TSR_F64) {
            memcpy(&element, &c->value, sizeof element);
        }
        element_store(c->to, element_load(c->from, &element), &stored);
        assert_int_equal(element_load(c->to, &stored).integer, c->wanted);
    }
}

static void elements_print(void **state)
{
    const bool yes = true;
    const int8_t small = -3;
    const uint64_t large = UINT64_MAX;
    const float third = 1.0F / 3;
    const float pair[] = {1, -2.5F};
    (void)state;
    assert_string_equal(element_text(TSR_I1, &yes).text, "true");
    assert_string_equal(element_text(TSR_I8, &small).text, "-3");
    assert_string_equal(element_text(TSR_U64, &large).text, "18446744073709551615");
    assert_string_equal(element_text(TSR_F32, &third).text, "0.333333343");
    assert_string_equal(element_text(TSR_C64, pair).text, "(1, -2.5)");
    assert_int_equal(element_index(TSR_U64, &large), INT64_MAX);
    assert_int_equal(element_index(TSR_I8, &small), -3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_agree_with_their_formats), cmocka_unit_test(small_types_round_trip),
        cmocka_unit_test(conversions_saturate_and_wrap), cmocka_unit_test(elements_print)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
