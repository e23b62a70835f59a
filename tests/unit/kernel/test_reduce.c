/* Reductions and running folds in the order that is written down, one element at a time. */
#include "hard_numbers.h"

#include "kernel/reduce.h"

enum { LANES = 32 };

/* A partial result: floats are rounded to f32 wherever the type is not f64. */
typedef struct partial {
    double real;
    __int128 integer;
} partial;

static double rounded(tsr_dtype dtype, double x)
{
    return dtype == TSR_F64 ? x : (double)(float)x;
}

static double combine_float(fold_op op, tsr_dtype dtype, double a, double b)
{
    switch (op) {
    case FOLD_SUM:
        return rounded(dtype, a + b);
    case FOLD_PROD:
        return rounded(dtype, a * b);
    case FOLD_MAX:
        return isnan(b) || b > a || (b == a && signbit(a)) ? b : a;
    default:
        return isnan(b) || b < a || (b == a && signbit(b)) ? b : a;
    }
}

static __int128 combine_integer(fold_op op, __int128 a, __int128 b)
{
    switch (op) {
    case FOLD_SUM:
        return a + b;
    case FOLD_PROD:
        return (__int128)(uint64_t)((unsigned __int128)a * (unsigned __int128)b);
    case FOLD_MAX:
        return a > b ? a : b;
    case FOLD_MIN:
        return a < b ? a : b;
    case FOLD_AND:
        return a & b;
    default:
        return a | b;
    }
}

/* Truth values have two operations. */
static fold_op op_of(fold_op op, tsr_dtype dtype)
{
    const bool all = op == FOLD_MIN || op == FOLD_PROD || op == FOLD_AND;
    return dtype != TSR_I1 ? op : all ? FOLD_AND : FOLD_OR;
}

static partial combine(fold_op op, tsr_dtype dtype, partial a, partial b)
{
    return (partial){combine_float(op, dtype, a.real, b.real),
                     is_float(dtype) ? 0 : combine_integer(op_of(op, dtype), a.integer, b.integer)};
}

static partial identity(fold_op op, tsr_dtype dtype)
{
    const int bits = dtype == TSR_I1 ? 1 : (int)(8 * item_of(dtype));
    const __int128 past = (__int128)1 << (is_signed(dtype) ? bits - 1 : bits);
    const __int128 least = is_signed(dtype) ? -past : 0;
    switch (op) {
    case FOLD_MAX:
        return (partial){-INFINITY, least};
    case FOLD_MIN:
        return (partial){INFINITY, past - 1};
    case FOLD_PROD:
        return (partial){1.0, 1};
    case FOLD_AND:
        return (partial){0.0, is_signed(dtype) ? -1 : past - 1};
    default:
        return (partial){0.0, 0};
    }
}

static partial load(tsr_dtype dtype, uint64_t bits)
{
    return is_float(dtype) ? (partial){float_value(dtype, bits), 0}
                           : (partial){0.0, integer_value(dtype, bits)};
}

static uint64_t store(tsr_dtype dtype, partial x, double scale)
{
    if (!is_float(dtype)) {
        return (uint64_t)x.integer;
    }
    const double factor = rounded(dtype, scale);
    return float_bits(dtype, scale == 1.0 ? x.real : rounded(dtype, x.real * factor));
}

/* The result that an element of src goes into. */
static int64_t result_of(const strided *src, const bool *reduced, int64_t index)
{
    int64_t result = 0;
    int64_t step = 1;
    for (size_t d = src->view.rank; d-- > 0;) {
        result += reduced[d] ? 0 : index % src->view.shape[d] * step;
        step *= reduced[d] ? 1 : src->view.shape[d];
        index /= src->view.shape[d];
    }
    return result;
}

/* The lanes of one result, and how many elements have come. */
typedef struct lane_set {
    partial lanes[LANES];
    int64_t next;
} lane_set;

static partial folded(fold_op op, tsr_dtype dtype, lane_set *set)
{
    for (size_t half = LANES / 2; half > 0; half /= 2) {
        for (size_t l = 0; l < half; l++) {
            set->lanes[l] = combine(op, dtype, set->lanes[l], set->lanes[l + half]);
        }
    }
    return set->lanes[0];
}

/* Puts all results where they belong. */
static void expect_results(fold_op op, const strided *src, const bool *reduced, double scale,
                           const strided *dst, unsigned char *wanted)
{
    const tsr_dtype dtype = src->view.dtype;
    const int64_t results = elements_of(dst);
    lane_set *sets = calloc((size_t)results + 1, sizeof *sets);
    assert_non_null(sets);
    for (int64_t i = 0; i < results * LANES; i++) {
        sets[i / LANES].lanes[i % LANES] = identity(op, dtype);
    }
    for (int64_t i = 0; i < elements_of(src); i++) {
        lane_set *set = &sets[result_of(src, reduced, i)];
        partial *lane = &set->lanes[set->next++ % LANES];
        *lane = combine(op, dtype, *lane, load(dtype, bits_at(src, i)));
    }
    for (int64_t i = 0; i < results; i++) {
        const uint64_t bits = store(dtype, folded(op, dtype, &sets[i]), scale);
        memcpy(wanted + place_of(dst, i), &bits, item_of(dtype));
    }
    free(sets);
}

static void check_reduce(rng *r, fold_op op, tsr_dtype dtype)
{
    int64_t shape[STRIDED_MAX_DIMS] = {0};
    int64_t kept[STRIDED_MAX_DIMS] = {0};
    bool reduced[STRIDED_MAX_DIMS] = {false};
    const size_t rank = random_extents(r, shape);
    size_t num_kept = 0;
    for (size_t d = 0; d < rank; d++) {
        reduced[d] = rng_chance(r, 50);
        kept[num_kept] = shape[d];
        num_kept += reduced[d] ? 0 : 1;
    }
    strided src = strided_new(r, dtype, rank, shape, rng_chance(r, 30) ? PACKED : REPEATING);
    strided dst = strided_new(r, dtype, num_kept, kept, rng_chance(r, 30) ? PACKED : ANY);
    const double scale = is_float(dtype) && rng_chance(r, 50) ? 1.0 / 3.0 : 1.0;
    unsigned char *before = copy_of_room(&dst);
    unsigned char *wanted = copy_of_room(&dst);
    expect_results(op, &src, reduced, scale, &dst, wanted);
    for (int form = VECTOR_PORTABLE; form < VECTOR_COUNT; form++) {
        memcpy(dst.room, before, dst.size);
        vector_set_most((vector_form)form);
        kernel_reduce(op, view_of(&dst), view_of(&src), reduced, scale);
        expect_room(&dst, wanted, "reduce", (int)op);
    }
    free(before);
    free(wanted);
    free(src.room);
    free(dst.room);
}

static void every_reduction_of_every_type(void **state)
{
    (void)state;
    const rng start = rng_start("every_reduction_of_every_type");
    for (int64_t i = 0; i < prop_heavy_cases(60) * FOLD_COUNT * NUM_COMPUTED; i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const fold_op op = (fold_op)(i % FOLD_COUNT);
        const tsr_dtype dtype = computed[i / FOLD_COUNT % NUM_COMPUTED];
        if (reduce_supports(op, dtype)) {
            check_reduce(&r, op, dtype);
        }
    }
}

static void check_cumulative(rng *r, fold_op op, tsr_dtype dtype)
{
    int64_t shape[STRIDED_MAX_DIMS] = {3};
    const size_t drawn = random_extents(r, shape);
    const size_t rank = drawn > 0 ? drawn : 1;
    const size_t dim = (size_t)rng_below(r, (int64_t)rank);
    strided src = strided_new(r, dtype, rank, shape, REPEATING);
    strided dst = strided_new(r, dtype, rank, shape, ANY);
    unsigned char *wanted = copy_of_room(&dst);
    int64_t inside = 1;
    for (size_t d = dim + 1; d < rank; d++) {
        inside *= shape[d];
    }
    for (int64_t i = 0; inside > 0 && shape[dim] > 0 && i < elements_of(&dst); i++) {
        const int64_t place = i / inside % shape[dim];
        partial sum = load(dtype, bits_at(&src, i - place * inside));
        for (int64_t k = 1; k <= place; k++) {
            sum = combine(op, dtype, sum, load(dtype, bits_at(&src, i - (place - k) * inside)));
        }
        const uint64_t bits = store(dtype, sum, 1.0);
        memcpy(wanted + place_of(&dst, i), &bits, item_of(dtype));
    }
    kernel_cumulative(op, view_of(&dst), view_of(&src), dim);
    expect_room(&dst, wanted, "cumulative", (int)op);
    free(wanted);
    free(src.room);
    free(dst.room);
}

static void every_running_fold_of_every_type(void **state)
{
    (void)state;
    static const fold_op ops[] = {FOLD_SUM, FOLD_PROD, FOLD_MAX, FOLD_MIN};
    const rng start = rng_start("every_running_fold_of_every_type");
    for (int64_t i = 0; i < prop_heavy_cases(30) * 4 * NUM_COMPUTED; i++) {
        rng r = rng_case(&start, (uint64_t)i);
        check_cumulative(&r, ops[i % 4], computed[i / 4 % NUM_COMPUTED]);
    }
}

static void support_is_as_documented(void **state)
{
    (void)state;
    for (int i = 0; i < NUM_COMPUTED; i++) {
        for (int op = 0; op < FOLD_COUNT; op++) {
            const bool bitwise = op == FOLD_AND || op == FOLD_OR;
            const bool wanted = op != FOLD_AVG && !(bitwise && is_float(computed[i]));
            assert_int_equal(reduce_supports((fold_op)op, computed[i]), wanted);
        }
    }
    assert_false(reduce_supports(FOLD_SUM, TSR_C64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(support_is_as_documented),
        cmocka_unit_test(every_reduction_of_every_type),
        cmocka_unit_test(every_running_fold_of_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
