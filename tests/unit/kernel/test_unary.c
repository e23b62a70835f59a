/* Every function of one number: layouts, bits where they are defined, errors where they are not. */
#include "hard_numbers.h"

#include "kernel/elementwise.h"

static double relu(double x)
{
    return x > 0.0 || isnan(x) ? x : 0.0;
}

static double sign(double x)
{
    return isnan(x) || x == 0.0 ? x : copysign(1.0, x);
}

static long double logistic(long double x)
{
    return 1.0L / (1.0L + expl(-x));
}

/* In long double; infinities as the formula says. */
static long double exact(unary_op op, long double x)
{
    switch (op) {
    case UNARY_EXP:
        return expl(x);
    case UNARY_EXPM1:
        return expm1l(x);
    case UNARY_LOG:
        return logl(x);
    case UNARY_LOG1P:
        return log1pl(x);
    case UNARY_SQRT:
        return sqrtl(x);
    case UNARY_RSQRT:
        return 1.0L / sqrtl(x);
    case UNARY_TANH:
        return tanhl(x);
    case UNARY_ERF:
        return erfl(x);
    case UNARY_ERFC:
        return erfcl(x);
    case UNARY_ASINH:
        return asinhl(x);
    case UNARY_LOGISTIC:
        return logistic(x);
    case UNARY_SILU:
        return x * logistic(x);
    case UNARY_GELU:
        return x * erfcl(x * -0.707106781186547524400844362104849039L) / 2.0L;
    case UNARY_SIN:
        return sinl(x);
    case UNARY_COS:
        return cosl(x);
    case UNARY_FLOOR:
        return floorl(x);
    case UNARY_CEIL:
        return ceill(x);
    case UNARY_CBRT:
        return cbrtl(x);
    case UNARY_TAN:
        return tanl(x);
    case UNARY_ROUND_NEAREST_EVEN:
        return rintl(x);
    case UNARY_ROUND_NEAREST_AFZ:
        return roundl(x);
    case UNARY_RELU:
        return relu((double)x);
    default:
        return sign((double)x);
    }
}

/* By how many units in the last place a result may be off, in f32 and in f64. */
static const struct {
    double f32;
    double f64;
} most_units[UNARY_COUNT] = {
    [UNARY_EXP] = {2, 2},   [UNARY_EXPM1] = {1, 2},   [UNARY_LOG] = {2, 2},
    [UNARY_LOG1P] = {1, 2}, [UNARY_SQRT] = {.5, .51}, [UNARY_RSQRT] = {2, 2},
    [UNARY_TANH] = {4, 3},  [UNARY_ERF] = {4, 2},     [UNARY_LOGISTIC] = {2, 3},
    [UNARY_SILU] = {4, 4},  [UNARY_GELU] = {4, 8},    [UNARY_SIN] = {1, 1},
    [UNARY_ERFC] = {1, 5},  [UNARY_ASINH] = {1, 2},   [UNARY_COS] = {1, 1},
    [UNARY_CBRT] = {1, 4},  [UNARY_TAN] = {1, 2},
};

static int fraction_bits(tsr_dtype dtype)
{
    return dtype == TSR_F64 ? 52 : dtype == TSR_F32 ? 23 : dtype == TSR_F16 ? 10 : 7;
}

static int least_exponent(tsr_dtype dtype)
{
    return dtype == TSR_F64 ? -1022 : dtype == TSR_F16 ? -14 : -126;
}

/* Infinity counts as the power of 2 after the largest number. */
static long double units_off(tsr_dtype dtype, long double wanted, double got)
{
    const int top = 1 - least_exponent(dtype);
    const long double limit = ldexpl(1.0L, top + 1);
    const long double w = fabsl(wanted) > limit ? copysignl(limit, wanted) : wanted;
    const long double g = isinf(got) ? copysignl(limit, (long double)got) : (long double)got;
    const int exponent = w == 0.0L ? least_exponent(dtype) : ilogbl(w);
    const int at = exponent < least_exponent(dtype) ? least_exponent(dtype) : exponent;
    return fabsl(g - w) / ldexpl(1.0L, at - fraction_bits(dtype));
}

static double allowed_units(unary_op op, tsr_dtype dtype)
{
    if (dtype == TSR_F64) {
        return most_units[op].f64;
    }
    return dtype == TSR_F32 ? most_units[op].f32 : most_units[op].f32 > 0 ? 0.51 : 0.0;
}

static void expect_float(unary_op op, tsr_dtype dtype, uint64_t x, uint64_t got)
{
    const double from = float_value(dtype, x);
    const double to = float_value(dtype, got);
    const long double wanted = exact(op, (long double)from);
    if (wanted != wanted) {
        if (got != float_bits(dtype, NAN)) {
            fail_msg("op %d of %s %a: got %a, wanted a plain NaN", op, tsr_dtype_name(dtype), from,
                     to);
        }
        return;
    }
    const long double off = units_off(dtype, wanted, to);
    const bool signs = wanted != 0.0L || !signbit(wanted) == !signbit(to);
    if (!(off <= (long double)allowed_units(op, dtype)) || !signs) {
        fail_msg("op %d of %s %a: got %a, wanted %La, %Lg units off", op, tsr_dtype_name(dtype),
                 from, to, wanted, off);
    }
}

static uint64_t mask_of(tsr_dtype dtype)
{
    return UINT64_MAX >> (64 - 8 * item_of(dtype));
}

static uint64_t wanted_integer(unary_op op, tsr_dtype dtype, uint64_t x)
{
    const __int128 value = integer_value(dtype, x);
    switch (op) {
    case UNARY_NEGATE:
        return (uint64_t)-value & mask_of(dtype);
    case UNARY_ABS:
        return (uint64_t)(value < 0 ? -value : value) & mask_of(dtype);
    case UNARY_SIGN:
        return (uint64_t)((value > 0) - (value < 0)) & mask_of(dtype);
    case UNARY_RELU:
        return value < 0 ? 0 : x;
    case UNARY_POPCNT:
        return (uint64_t)__builtin_popcountll(x);
    case UNARY_COUNT_LEADING_ZEROS:
        return x == 0 ? 8 * item_of(dtype)
                      : (uint64_t)__builtin_clzll(x) - (64 - 8 * item_of(dtype));
    default:
        return dtype == TSR_I1 ? x ^ 1 : ~x & mask_of(dtype);
    }
}

/* Bits of a half NaN that was an f32 in between. */
static uint64_t quiet(tsr_dtype dtype, uint64_t bits)
{
    if (dtype == TSR_F16 && isnan(float_value(dtype, bits))) {
        return (bits & 0x8000) | 0x7e00;
    }
    return dtype == TSR_BF16 && isnan(float_value(dtype, bits)) ? bits | 0x40 : bits;
}

static void check_element(unary_op op, tsr_dtype dtype, uint64_t x, uint64_t got)
{
    const uint64_t top = UINT64_C(1) << (8 * item_of(dtype) - 1);
    if (is_float(dtype) && op != UNARY_NEGATE && op != UNARY_ABS) {
        expect_float(op, dtype, x, got);
    } else if (is_float(dtype)) {
        assert_int_equal(got, quiet(dtype, op == UNARY_ABS ? x & ~top : x ^ top));
    } else {
        assert_int_equal(got, wanted_integer(op, dtype, x));
    }
}

/* Every form, into a dst of its own or in place; every result, and every byte between them. */
static void check_unary(rng *r, unary_op op, tsr_dtype dtype)
{
    int64_t shape[STRIDED_MAX_DIMS] = {0};
    const size_t rank = random_extents(r, shape);
    const bool in_place = rng_chance(r, 25);
    strided src = strided_new(r, dtype, rank, shape, in_place ? ANY : REPEATING);
    strided dst = strided_new(r, dtype, rank, shape, rng_chance(r, 30) ? PACKED : ANY);
    strided *to = in_place ? &src : &dst;
    unsigned char *before = copy_of_room(&src);
    unsigned char *wanted = copy_of_room(to);
    kernel_unary(op, view_of(to), view_of(&src));
    for (int64_t i = 0; i < elements_of(to); i++) {
        uint64_t x = 0;
        memcpy(&x, before + place_of(&src, i), item_of(dtype));
        const uint64_t got = bits_at(to, i);
        check_element(op, dtype, x, got);
        memcpy(wanted + place_of(to, i), &got, item_of(dtype));
    }
    expect_room(to, wanted, "unary", (int)op);
    for (int form = VECTOR_PORTABLE; form < VECTOR_COUNT; form++) {
        memcpy(src.room, before, src.size);
        vector_set_most((vector_form)form);
        kernel_unary(op, view_of(to), view_of(&src));
        expect_room(to, wanted, "unary in another form", (int)op);
    }
    free(before);
    free(wanted);
    free(src.room);
    free(dst.room);
}

static void every_function_of_every_type(void **state)
{
    (void)state;
    const rng start = rng_start("every_function_of_every_type");
    for (int64_t i = 0; i < prop_cases(30) * UNARY_COUNT * NUM_COMPUTED; i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const unary_op op = (unary_op)(i % UNARY_COUNT);
        const tsr_dtype dtype = computed[i / UNARY_COUNT % NUM_COMPUTED];
        if (unary_supports(op, dtype)) {
            check_unary(&r, op, dtype);
        }
    }
}

static void support_is_as_documented(void **state)
{
    (void)state;
    for (int i = 0; i < tsr_dtype_count(); i++) {
        const tsr_dtype dtype = (tsr_dtype)i;
        bool known = false;
        for (size_t k = 0; k < NUM_COMPUTED; k++) {
            known = known || computed[k] == dtype;
        }
        for (int op = 0; op < UNARY_COUNT; op++) {
            const bool any = op <= UNARY_SIGN || op == UNARY_RELU;
            const bool bitwise = op >= UNARY_POPCNT;
            const bool wanted = known && (is_float(dtype)     ? !bitwise
                                          : is_integer(dtype) ? any || bitwise
                                                              : op == UNARY_NOT);
            assert_int_equal(unary_supports((unary_op)op, dtype), wanted);
        }
    }
}

enum { SAMPLES = 1 << 12 };

/* Bit patterns of f32 at even distances, so that every exponent and both signs have many. */
static void errors_in_f32_are_bounded(void **state)
{
    (void)state;
    const char *step_text = getenv("TSR_UNARY_STEP");
    const uint64_t step = step_text != NULL ? strtoull(step_text, NULL, 10) : 8009;
    static float from[SAMPLES];
    static float to[SAMPLES];
    const int64_t shape = SAMPLES;
    const int64_t stride = sizeof from[0];
    const tsr_view src = {from, TSR_F32, 1, &shape, &stride};
    const tsr_view dst = {to, TSR_F32, 1, &shape, &stride};
    for (int op = UNARY_EXP; op < UNARY_POPCNT; op++) {
        long double worst = 0.0L;
        float at = 0.0F;
        for (uint64_t bits = 0; bits <= UINT32_MAX;) {
            for (int64_t i = 0; i < SAMPLES; i++, bits += step) {
                from[i] = float_of_bits((uint32_t)bits);
            }
            kernel_unary((unary_op)op, &dst, &src);
            for (int64_t i = 0; i < SAMPLES; i++) {
                expect_float((unary_op)op, TSR_F32, bits_of_float(from[i]), bits_of_float(to[i]));
                const long double wanted = exact((unary_op)op, (long double)from[i]);
                const long double off =
                    wanted == wanted ? units_off(TSR_F32, wanted, (double)to[i]) : 0.0L;
                at = off > worst ? from[i] : at;
                worst = off > worst ? off : worst;
            }
        }
        print_message("op %d: at most %.3Lf units in the last place, at %a\n", op, worst,
                      (double)at);
    }
}

/* Halves between integers go to the even one, or away from zero; what follows a half does not. */
static void ties_are_rounded_as_named(void **state)
{
    (void)state;
    float x[] = {0.5F,  1.5F,  2.5F,           -0.5F,     -1.5F,      -2.5F,
                 -0.0F, -0.2F, 0x1.fffffep-2F, 0x1.8p22F, 8388607.5F, -8388606.5F};
    static const float even[] = {0.0F,  2.0F,  2.0F, -0.0F,     -2.0F,      -2.0F,
                                 -0.0F, -0.0F, 0.0F, 0x1.8p22F, 8388608.0F, -8388606.0F};
    static const float away[] = {1.0F,  2.0F,  3.0F, -1.0F,     -2.0F,      -3.0F,
                                 -0.0F, -0.0F, 0.0F, 0x1.8p22F, 8388608.0F, -8388607.0F};
    float y[sizeof x / sizeof x[0]];
    const int64_t shape = sizeof x / sizeof x[0];
    const int64_t stride = sizeof x[0];
    const tsr_view src = {x, TSR_F32, 1, &shape, &stride};
    const tsr_view dst = {y, TSR_F32, 1, &shape, &stride};
    kernel_unary(UNARY_ROUND_NEAREST_EVEN, &dst, &src);
    assert_memory_equal(y, even, sizeof even);
    kernel_unary(UNARY_ROUND_NEAREST_AFZ, &dst, &src);
    assert_memory_equal(y, away, sizeof away);
}

static void finite_is_neither_infinite_nor_nan(void **state)
{
    (void)state;
    const rng start = rng_start("finite_is_neither_infinite_nor_nan");
    for (int64_t i = 0; i < prop_cases(30) * NUM_COMPUTED; i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = computed[i % NUM_COMPUTED];
        assert_int_equal(is_finite_supports(dtype), is_float(dtype));
        if (!is_float(dtype)) {
            continue;
        }
        int64_t shape[STRIDED_MAX_DIMS] = {0};
        const size_t rank = random_extents(&r, shape);
        strided src = strided_new(&r, dtype, rank, shape, REPEATING);
        strided dst = strided_new(&r, TSR_I1, rank, shape, rng_chance(&r, 40) ? PACKED : ANY);
        unsigned char *wanted = copy_of_room(&dst);
        for (int64_t e = 0; e < elements_of(&dst); e++) {
            wanted[place_of(&dst, e)] = isfinite(float_value(dtype, bits_at(&src, e))) ? 1 : 0;
        }
        for (int form = VECTOR_PORTABLE; form < VECTOR_COUNT; form++) {
            vector_set_most((vector_form)form);
            kernel_is_finite(view_of(&dst), view_of(&src));
            expect_room(&dst, wanted, "is_finite", form);
        }
        free(wanted);
        free(src.room);
        free(dst.room);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(support_is_as_documented),
        cmocka_unit_test(every_function_of_every_type),
        cmocka_unit_test(errors_in_f32_are_bounded),
        cmocka_unit_test(ties_are_rounded_as_named),
        cmocka_unit_test(finite_is_neither_infinite_nor_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
