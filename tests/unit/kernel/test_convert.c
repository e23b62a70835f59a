/* Every type to every other, one element at a time. */
#include "hard_numbers.h"

#include "kernel/elementwise.h"

/* How a float type rounds: its bits of fraction, and its least normal exponent. */
static int fraction_bits(tsr_dtype dtype)
{
    return dtype == TSR_F64 ? 52 : dtype == TSR_F32 ? 23 : dtype == TSR_F16 ? 10 : 7;
}

static int least_exponent(tsr_dtype dtype)
{
    return dtype == TSR_F64 ? -1022 : dtype == TSR_F16 ? -14 : -126;
}

/* Rounded to nearest even at the last place that the type has there; a long double holds all. */
static double rounded(tsr_dtype dtype, long double x)
{
    if (x == 0.0L || !isfinite(x)) {
        return (double)x;
    }
    const int exponent = ilogbl(x) < least_exponent(dtype) ? least_exponent(dtype) : ilogbl(x);
    const int place = exponent - fraction_bits(dtype);
    const long double result = ldexpl(nearbyintl(ldexpl(x, -place)), place);
    const long double limit = ldexpl(1.0L, 2 - least_exponent(dtype));
    return (double)(fabsl(result) >= limit ? copysignl(INFINITY, x) : result);
}

static uint64_t wanted_integer(tsr_dtype to, long double x)
{
    const int bits = (int)(8 * item_of(to));
    const long double past = ldexpl(1.0L, is_signed(to) ? bits - 1 : bits);
    const long double least = is_signed(to) ? -past : 0.0L;
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    if (isnan(x)) {
        return 0;
    }
    const uint64_t top = is_signed(to) ? mask >> 1 : mask;
    const __int128 inside = x < past && x > least ? (__int128)truncl(x) : 0;
    const __int128 low = is_signed(to) ? -(__int128)top - 1 : 0;
    return (uint64_t)(x >= past ? (__int128)top : x <= least ? low : inside) & mask;
}

/* NaNs are any; what a type cannot hold is as the header says. */
static void expect_element(tsr_dtype from, tsr_dtype to, uint64_t x, uint64_t got)
{
    const long double value =
        is_float(from) ? (long double)float_value(from, x) : (long double)integer_value(from, x);
    uint64_t wanted = 0;
    if (to == TSR_I1) {
        wanted = value != 0.0L ? 1 : 0;
    } else if (is_float(to)) {
        if (isnan(value)) {
            assert_true(isnan(float_value(to, got)));
            return;
        }
        wanted = float_bits(to, rounded(to, value));
    } else if (is_float(from)) {
        wanted = wanted_integer(to, value);
    } else {
        wanted = (uint64_t)integer_value(from, x) & (UINT64_MAX >> (64 - 8 * item_of(to)));
    }
    if (got != wanted) {
        fail_msg("%s 0x%llx to %s: got 0x%llx, wanted 0x%llx", tsr_dtype_name(from),
                 (unsigned long long)x, tsr_dtype_name(to), (unsigned long long)got,
                 (unsigned long long)wanted);
    }
}

/* Numbers near where integers and halves end, as well as any. */
static void make_hard(rng *r, strided *a)
{
    for (int64_t i = 0; i < elements_of(a); i++) {
        if (is_float(a->view.dtype) && rng_chance(r, 40)) {
            const int exponent = (int)rng_below(r, 70) - 3;
            const double delta = (double)rng_below(r, 5) - 2.0;
            const double value = ldexp(1.0, exponent) + delta * (rng_chance(r, 50) ? 0.5 : 1.0);
            const uint64_t bits = float_bits(a->view.dtype, rng_chance(r, 50) ? -value : value);
            memcpy(a->room + place_of(a, i), &bits, item_of(a->view.dtype));
        } else if (is_integer(a->view.dtype) && rng_chance(r, 50)) {
            const uint64_t bits =
                bits_at(a, i) >> rng_below(r, (int64_t)(8 * item_of(a->view.dtype)));
            memcpy(a->room + place_of(a, i), &bits, item_of(a->view.dtype));
        }
    }
}

static void check_convert(rng *r, tsr_dtype from, tsr_dtype to)
{
    int64_t shape[STRIDED_MAX_DIMS] = {0};
    const size_t rank = random_extents(r, shape);
    strided src = strided_new(r, from, rank, shape, REPEATING);
    strided dst = strided_new(r, to, rank, shape, rng_chance(r, 40) ? PACKED : ANY);
    make_hard(r, &src);
    unsigned char *wanted = copy_of_room(&dst);
    kernel_convert(view_of(&dst), view_of(&src));
    for (int64_t i = 0; i < elements_of(&dst); i++) {
        const uint64_t got = bits_at(&dst, i);
        expect_element(from, to, bits_at(&src, i), got);
        memcpy(wanted + place_of(&dst, i), &got, item_of(to));
    }
    expect_room(&dst, wanted, "convert", 0);
    for (int form = VECTOR_PORTABLE; form < VECTOR_COUNT; form++) {
        vector_set_most((vector_form)form);
        kernel_convert(view_of(&dst), view_of(&src));
        expect_room(&dst, wanted, "convert in another form", 0);
    }
    free(wanted);
    free(src.room);
    free(dst.room);
}

static void every_type_to_every_other(void **state)
{
    (void)state;
    const rng start = rng_start("every_type_to_every_other");
    for (int64_t i = 0; i < prop_cases(30) * NUM_COMPUTED * NUM_COMPUTED; i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype from = computed[i % NUM_COMPUTED];
        const tsr_dtype to = computed[i / NUM_COMPUTED % NUM_COMPUTED];
        assert_true(convert_supports(from, to));
        check_convert(&r, from, to);
    }
    assert_false(convert_supports(TSR_C64, TSR_F32));
    assert_false(convert_supports(TSR_F32, TSR_F8E4M3));
}

static void numbers_become_elements(void **state)
{
    (void)state;
    int8_t narrow = 0;
    uint16_t half = 0;
    float single = 0.0F;
    element_of_number(TSR_I8, -300.0, &narrow);
    element_of_number(TSR_BF16, 1.0, &half);
    element_of_number(TSR_F32, -0.1, &single);
    assert_int_equal(narrow, INT8_MIN);
    assert_int_equal(half, 0x3f80);
    assert_true(single == -0.1F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_to_every_other),
        cmocka_unit_test(numbers_become_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
