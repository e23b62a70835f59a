/* Functions of two numbers, comparisons, selections and fills, one element at a time. */
#include "hard_numbers.h"

#include "kernel/copy.h"
#include "kernel/elementwise.h"

static uint64_t mask_of(tsr_dtype dtype)
{
    return UINT64_MAX >> (64 - 8 * item_of(dtype));
}

/* By multiplying as often as it takes, but for exponents too large for that. */
static __int128 power(__int128 base, __int128 exponent, tsr_dtype dtype)
{
    if (exponent < 0) {
        return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0;
    }
    unsigned __int128 result = 1;
    unsigned __int128 square = (unsigned __int128)base;
    for (; exponent > 0; exponent /= 2) {
        result = (exponent % 2 != 0 ? result * square : result) & mask_of(dtype);
        square *= square;
    }
    return (__int128)result;
}

/* One bit at a time, as often as there are bits: from then on nothing changes. */
static __int128 shifted(binary_op op, tsr_dtype dtype, uint64_t x, uint64_t amount)
{
    const uint64_t bits = 8 * item_of(dtype);
    const uint64_t top = UINT64_C(1) << (bits - 1);
    const uint64_t sign = op == BINARY_SHIFT_RIGHT_ARITHMETIC ? x & top : 0;
    for (uint64_t i = 0; i < bits && i < amount; i++) {
        x = op == BINARY_SHIFT_LEFT ? x * 2 : x / 2 + sign;
        x &= mask_of(dtype);
    }
    return (__int128)x;
}

static __int128 wanted_integer(binary_op op, tsr_dtype dtype, __int128 a, __int128 b)
{
    switch (op) {
    case BINARY_ADD:
        return a + b;
    case BINARY_SUBTRACT:
        return a - b;
    case BINARY_MULTIPLY:
        return (__int128)((unsigned __int128)a * (unsigned __int128)b);
    case BINARY_DIVIDE:
        return b == 0 ? -1 : a / b;
    case BINARY_MAX:
        return a > b ? a : b;
    case BINARY_MIN:
        return a < b ? a : b;
    case BINARY_POWER:
        return power(a, b, dtype);
    case BINARY_REMAINDER:
        return b == 0 ? a : a % b;
    case BINARY_AND:
        return a & b;
    case BINARY_OR:
        return a | b;
    case BINARY_XOR:
        return a ^ b;
    default:
        return shifted(op, dtype, (uint64_t)a & mask_of(dtype), (uint64_t)b & mask_of(dtype));
    }
}

/* 53 bits are more than twice 24 and two: what double makes of two f32, rounded, is f32's own. */
static double wanted_float(binary_op op, double a, double b)
{
    switch (op) {
    case BINARY_ADD:
        return a + b;
    case BINARY_SUBTRACT:
        return a - b;
    case BINARY_MULTIPLY:
        return a * b;
    case BINARY_DIVIDE:
        return a / b;
    case BINARY_POWER:
        return pow(a, b);
    case BINARY_REMAINDER:
        return fmod(a, b);
    case BINARY_ATAN2:
        return atan2(a, b);
    case BINARY_MAX:
        return isnan(b) || b > a ? b : a;
    default:
        return isnan(b) || b < a ? b : a;
    }
}

static bool wanted_truth(binary_op op, bool a, bool b)
{
    switch (op) {
    case BINARY_ADD:
    case BINARY_MAX:
    case BINARY_OR:
        return a || b;
    case BINARY_XOR:
        return a != b;
    default:
        return a && b;
    }
}

/* The extremes hand on the bits of a NaN, quiet where it was an f32 in between. */
static uint64_t handed_on(tsr_dtype dtype, uint64_t bits)
{
    if (dtype == TSR_F16 && isnan(float_value(dtype, bits))) {
        return (bits & 0x8000) | 0x7e00;
    }
    return dtype == TSR_BF16 && isnan(float_value(dtype, bits)) ? bits | 0x40 : bits;
}

static uint64_t wanted_bits(binary_op op, tsr_dtype dtype, uint64_t a, uint64_t b)
{
    if (dtype == TSR_I1) {
        return wanted_truth(op, a != 0, b != 0) ? 1 : 0;
    }
    if (!is_float(dtype)) {
        const __int128 x = integer_value(dtype, a);
        return (uint64_t)wanted_integer(op, dtype, x, integer_value(dtype, b)) & mask_of(dtype);
    }
    const double x = float_value(dtype, a);
    const double y = float_value(dtype, b);
    if (op == BINARY_MAX || op == BINARY_MIN) {
        const bool larger = y > x || (y == x && signbit(x) && !signbit(y));
        const bool smaller = y < x || (y == x && signbit(y) && !signbit(x));
        const bool second = isnan(y) || (op == BINARY_MAX ? larger : smaller);
        return handed_on(dtype, second ? b : a);
    }
    return float_bits(dtype, wanted_float(op, x, y));
}

/* What every byte of dst should be: `wanted` starts as a copy of its room. */
typedef void (*run_function)(int op, const tsr_view *dst, strided *const *src);

static void expect_every_form(run_function run, int op, strided *dst, strided *const *src,
                              const unsigned char *before, const unsigned char *wanted,
                              const char *what)
{
    for (int form = VECTOR_PORTABLE; form < VECTOR_COUNT; form++) {
        memcpy(dst->room, before, dst->size);
        vector_set_most((vector_form)form);
        run(op, view_of(dst), src);
        expect_room(dst, wanted, what, op);
    }
}

static void run_binary(int op, const tsr_view *dst, strided *const *src)
{
    kernel_binary((binary_op)op, dst, view_of(src[0]), view_of(src[1]));
}

static void check_binary(rng *r, binary_op op, tsr_dtype dtype)
{
    int64_t shape[STRIDED_MAX_DIMS] = {0};
    const size_t rank = random_extents(r, shape);
    const int64_t in_place = rng_below(r, 4); /* the first or the second source, or none */
    strided a = strided_new(r, dtype, rank, shape, in_place == 0 ? ANY : REPEATING);
    strided b = strided_new(r, dtype, rank, shape, in_place == 1 ? ANY : REPEATING);
    strided own = strided_new(r, dtype, rank, shape, rng_chance(r, 40) ? PACKED : ANY);
    strided *dst = in_place == 0 ? &a : in_place == 1 ? &b : &own;
    strided *const src[] = {&a, &b};
    unsigned char *before = copy_of_room(dst);
    unsigned char *wanted = copy_of_room(dst);
    for (int64_t i = 0; i < elements_of(dst); i++) {
        const uint64_t bits = wanted_bits(op, dtype, bits_at(&a, i), bits_at(&b, i));
        memcpy(wanted + place_of(dst, i), &bits, item_of(dtype));
    }
    expect_every_form(run_binary, (int)op, dst, src, before, wanted, "binary");
    free(before);
    free(wanted);
    free(a.room);
    free(b.room);
    free(own.room);
}

static void every_function_of_every_type(void **state)
{
    (void)state;
    const rng start = rng_start("every_function_of_every_type");
    for (int64_t i = 0; i < prop_cases(40) * BINARY_COUNT * NUM_COMPUTED; i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const binary_op op = (binary_op)(i % BINARY_COUNT);
        const tsr_dtype dtype = computed[i / BINARY_COUNT % NUM_COMPUTED];
        if (binary_supports(op, dtype)) {
            check_binary(&r, op, dtype);
        }
    }
}

static void support_is_as_documented(void **state)
{
    (void)state;
    for (int i = 0; i < NUM_COMPUTED; i++) {
        for (int op = 0; op < BINARY_COUNT; op++) {
            const tsr_dtype dtype = computed[i];
            const bool logical = op >= BINARY_AND && op <= BINARY_XOR;
            const bool bitwise = logical || op >= BINARY_SHIFT_LEFT;
            const bool truth = logical || op == BINARY_ADD || op == BINARY_MULTIPLY ||
                               op == BINARY_MAX || op == BINARY_MIN;
            const bool wanted = dtype == TSR_I1   ? truth
                                : is_float(dtype) ? !bitwise
                                                  : op != BINARY_ATAN2;
            assert_int_equal(binary_supports((binary_op)op, dtype), wanted);
        }
        assert_true(compare_supports(computed[i]));
        assert_true(clamp_supports(computed[i]));
    }
    assert_false(binary_supports(BINARY_ADD, TSR_C64));
    assert_false(compare_supports(TSR_F8E4M3));
    assert_false(clamp_supports(TSR_C64));
}

static bool compared(compare_op op, bool less, bool equal, bool greater)
{
    const bool results[] = {
        [COMPARE_EQ] = equal,         [COMPARE_NE] = !equal,  [COMPARE_LT] = less,
        [COMPARE_LE] = less || equal, [COMPARE_GT] = greater, [COMPARE_GE] = greater || equal};
    return results[op];
}

static bool wanted_compare(compare_op op, tsr_dtype dtype, uint64_t a, uint64_t b)
{
    if (is_float(dtype)) {
        const double x = float_value(dtype, a);
        const double y = float_value(dtype, b);
        return compared(op, x<y, x == y, x> y);
    }
    const __int128 x = integer_value(dtype, a);
    const __int128 y = integer_value(dtype, b);
    return compared(op, x<y, x == y, x> y);
}

static void run_compare(int op, const tsr_view *dst, strided *const *src)
{
    kernel_compare((compare_op)op, dst, view_of(src[0]), view_of(src[1]));
}

static void check_compare(rng *r, compare_op op, tsr_dtype dtype)
{
    int64_t shape[STRIDED_MAX_DIMS] = {0};
    const size_t rank = random_extents(r, shape);
    strided a = strided_new(r, dtype, rank, shape, REPEATING);
    strided b = strided_new(r, dtype, rank, shape, REPEATING);
    strided dst = strided_new(r, TSR_I1, rank, shape, rng_chance(r, 40) ? PACKED : ANY);
    strided *const src[] = {&a, &b};
    for (int64_t i = 0; i < elements_of(&a); i += 3) {
        memcpy(b.room + place_of(&b, i), a.room + place_of(&a, i), item_of(dtype));
    }
    unsigned char *before = copy_of_room(&dst);
    unsigned char *wanted = copy_of_room(&dst);
    for (int64_t i = 0; i < elements_of(&dst); i++) {
        wanted[place_of(&dst, i)] =
            wanted_compare(op, dtype, bits_at(&a, i), bits_at(&b, i)) ? 1 : 0;
    }
    expect_every_form(run_compare, (int)op, &dst, src, before, wanted, "compare");
    free(before);
    free(wanted);
    free(a.room);
    free(b.room);
    free(dst.room);
}

static void every_comparison_of_every_type(void **state)
{
    (void)state;
    const rng start = rng_start("every_comparison_of_every_type");
    for (int64_t i = 0; i < prop_cases(30) * COMPARE_COUNT * NUM_COMPUTED; i++) {
        rng r = rng_case(&start, (uint64_t)i);
        check_compare(&r, (compare_op)(i % COMPARE_COUNT),
                      computed[i / COMPARE_COUNT % NUM_COMPUTED]);
    }
}

static void run_select(int op, const tsr_view *dst, strided *const *src)
{
    (void)op;
    kernel_select(dst, view_of(src[0]), view_of(src[1]), view_of(src[2]));
}

static void check_select(rng *r, tsr_dtype dtype)
{
    int64_t shape[STRIDED_MAX_DIMS] = {0};
    const size_t rank = random_extents(r, shape);
    strided predicate = strided_new(r, TSR_I1, rank, shape, REPEATING);
    strided yes = strided_new(r, dtype, rank, shape, REPEATING);
    strided no = strided_new(r, dtype, rank, shape, ANY);
    strided own = strided_new(r, dtype, rank, shape, rng_chance(r, 40) ? PACKED : ANY);
    strided *dst = rng_chance(r, 25) ? &no : &own;
    strided *const src[] = {&predicate, &yes, &no};
    unsigned char *before = copy_of_room(dst);
    unsigned char *wanted = copy_of_room(dst);
    for (int64_t i = 0; i < elements_of(dst); i++) {
        strided *chosen = bits_at(&predicate, i) != 0 ? &yes : &no;
        memcpy(wanted + place_of(dst, i), chosen->room + place_of(chosen, i), item_of(dtype));
    }
    expect_every_form(run_select, 0, dst, src, before, wanted, "select");
    free(before);
    free(wanted);
    free(predicate.room);
    free(yes.room);
    free(no.room);
    free(own.room);
}

/* Small amounts of both signs, and those around the width. */
static void shifts_beyond_the_width(void **state)
{
    (void)state;
    static const int64_t amounts[] = {0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 127, -1, -8};
    for (size_t t = 0; t < NUM_COMPUTED; t++) {
        const tsr_dtype dtype = computed[t];
        for (int op = BINARY_SHIFT_LEFT; is_integer(dtype) && op < BINARY_COUNT; op++) {
            for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
                uint64_t x = UINT64_C(0x9ac3e7b580d1f6a9);
                uint64_t got = 0;
                uint64_t amount = (uint64_t)amounts[i] & mask_of(dtype);
                kernel_binary((binary_op)op, &(tsr_view){.data = &got, .dtype = dtype},
                              &(tsr_view){.data = &x, .dtype = dtype},
                              &(tsr_view){.data = &amount, .dtype = dtype});
                assert_int_equal(got,
                                 wanted_bits((binary_op)op, dtype, x & mask_of(dtype), amount));
            }
        }
    }
}

static void run_clamp(int op, const tsr_view *dst, strided *const *src)
{
    (void)op;
    kernel_clamp(dst, view_of(src[0]), view_of(src[1]), view_of(src[2]));
}

static void check_clamp(rng *r, tsr_dtype dtype)
{
    int64_t shape[STRIDED_MAX_DIMS] = {0};
    const size_t rank = random_extents(r, shape);
    strided min = strided_new(r, dtype, rank, shape, REPEATING);
    strided x = strided_new(r, dtype, rank, shape, ANY);
    strided max = strided_new(r, dtype, rank, shape, REPEATING);
    strided own = strided_new(r, dtype, rank, shape, rng_chance(r, 40) ? PACKED : ANY);
    strided *dst = rng_chance(r, 25) ? &x : &own;
    strided *const src[] = {&min, &x, &max};
    unsigned char *before = copy_of_room(dst);
    unsigned char *wanted = copy_of_room(dst);
    for (int64_t i = 0; i < elements_of(dst); i++) {
        const uint64_t raised = wanted_bits(BINARY_MAX, dtype, bits_at(&x, i), bits_at(&min, i));
        const uint64_t bits = wanted_bits(BINARY_MIN, dtype, raised, bits_at(&max, i));
        memcpy(wanted + place_of(dst, i), &bits, item_of(dtype));
    }
    expect_every_form(run_clamp, 0, dst, src, before, wanted, "clamp");
    free(before);
    free(wanted);
    free(min.room);
    free(x.room);
    free(max.room);
    free(own.room);
}

static void clamping_is_maximum_then_minimum(void **state)
{
    (void)state;
    const rng start = rng_start("clamping_is_maximum_then_minimum");
    for (int64_t i = 0; i < prop_cases(30) * NUM_COMPUTED; i++) {
        rng r = rng_case(&start, (uint64_t)i);
        check_clamp(&r, computed[i % NUM_COMPUTED]);
    }
}

static void selection_is_by_bytes(void **state)
{
    (void)state;
    const rng start = rng_start("selection_is_by_bytes");
    for (int64_t i = 0; i < prop_cases(30) * tsr_dtype_count(); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        check_select(&r, (tsr_dtype)(i % tsr_dtype_count()));
    }
}

static void filling_reaches_every_element(void **state)
{
    (void)state;
    const rng start = rng_start("filling_reaches_every_element");
    for (int64_t i = 0; i < prop_cases(20) * tsr_dtype_count(); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        int64_t shape[STRIDED_MAX_DIMS] = {0};
        const tsr_dtype dtype = (tsr_dtype)(i % tsr_dtype_count());
        const size_t rank = random_extents(&r, shape);
        strided dst = strided_new(&r, dtype, rank, shape, ANY);
        unsigned char *wanted = copy_of_room(&dst);
        unsigned char element[16];
        for (size_t b = 0; b < sizeof element; b++) {
            element[b] = (unsigned char)rng_below(&r, 256);
        }
        for (int64_t e = 0; e < elements_of(&dst); e++) {
            memcpy(wanted + place_of(&dst, e), element, item_of(dtype));
        }
        kernel_fill(view_of(&dst), element);
        expect_room(&dst, wanted, "fill", 0);
        free(wanted);
        free(dst.room);
    }
}

/* Arrays so large that results go around the cache, at every distance from a line. */
static void large_arrays_are_written_whole(void **state)
{
    (void)state;
    enum { LARGE = KERNEL_STREAM_BYTES / 8, ROOM = LARGE + 64 };
    float *a = malloc(ROOM * sizeof *a);
    float *b = malloc(ROOM * sizeof *b);
    assert_non_null(a);
    assert_non_null(b);
    for (int64_t shift = 1; shift < 20; shift += 3) {
        const int64_t shape = LARGE + shift;
        const int64_t stride = sizeof *a;
        for (int64_t i = 0; i < ROOM; i++) {
            a[i] = (float)(i % 1009);
            b[i] = -1.0F;
        }
        const tsr_view src = {a, TSR_F32, 1, &shape, &stride};
        const tsr_view dst = {b + shift, TSR_F32, 1, &shape, &stride};
        kernel_binary(BINARY_ADD, &dst, &src, &src);
        for (int64_t i = 0; i < ROOM; i++) {
            const bool inside = i >= shift && i < shift + shape;
            const float wanted = inside ? 2.0F * (float)((i - shift) % 1009) : -1.0F;
            assert_true(b[i] == wanted);
        }
    }
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(support_is_as_documented),
        cmocka_unit_test(every_function_of_every_type),
        cmocka_unit_test(every_comparison_of_every_type),
        cmocka_unit_test(shifts_beyond_the_width),
        cmocka_unit_test(clamping_is_maximum_then_minimum),
        cmocka_unit_test(selection_is_by_bytes),
        cmocka_unit_test(filling_reaches_every_element),
        cmocka_unit_test(large_arrays_are_written_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
