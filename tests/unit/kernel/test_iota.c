/* Counting, and random numbers by counter: published vectors, boxes, statistics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strided.h"

#include "kernel/index.h"
#include "kernel/normal.h"
#include "number/half.h"

static size_t random_shape_here(rng *r, int64_t *shape, size_t least)
{
    static const int64_t choices[] = {0, 1, 2, 3, 5, 7, 13, 300};
    const size_t rank = least + (size_t)rng_below(r, 4);
    for (size_t d = 0; d < rank; d++) {
        shape[d] = choices[rng_chance(r, 3) ? 0 : 1 + rng_below(r, d == 0 ? 7 : 5)];
    }
    return rank;
}

static void iota_counts_along_a_dimension(void **state)
{
    (void)state;
    const rng start = rng_start("iota_counts_along_a_dimension");
    for (int64_t i = 0; i < prop_cases(3000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = (tsr_dtype)(i % tsr_dtype_count());
        if (!fold_supports(dtype, FOLD_SUM)) {
            continue;
        }
        int64_t shape[STRIDED_MAX_RANK];
        const size_t rank = random_shape_here(&r, shape, 1);
        const size_t dim = (size_t)rng_below(&r, (int64_t)rank);
        const int64_t from = rng_below(&r, 1000) - 500;
        strided dst;
        strided_init(&dst, &r, dtype, shape, rank, STRIDED_DST);
        kernel_iota(&dst.view, dim, from);
        for (int64_t place = 0; place < strided_count(&dst); place++) {
            int64_t index[STRIDED_MAX_RANK];
            unsigned char wanted[16];
            strided_index(shape, rank, place, index);
            number_store(dtype, (double)(from + index[dim]), wanted);
            assert_memory_equal(strided_at(&dst, index), wanted, dst.item);
        }
        strided_check_guards(&dst);
        strided_free(&dst);
    }
}

static uint64_t one_iota(tsr_dtype dtype, int64_t number)
{
    const int64_t shape = 1;
    const int64_t stride = 8;
    uint64_t bits = 0;
    kernel_iota(&(tsr_view){&bits, dtype, 1, &shape, &stride}, 0, number);
    return bits;
}

/* 2^24 + 2^16 + 1 is above the middle of two bf16 numbers, its f32 is the middle. */
static void iota_rounds_once(void **state)
{
    (void)state;
    assert_int_equal(one_iota(TSR_BF16, (1 << 24) + (1 << 16)), bf16_of_float(0x1p24F));
    assert_int_equal(one_iota(TSR_BF16, (1 << 24) + (1 << 16) + 1), bf16_of_float(0x1.02p24F));
    assert_int_equal(one_iota(TSR_BF16, -(1 << 24) - (1 << 16) - 1), bf16_of_float(-0x1.02p24F));
    assert_int_equal(one_iota(TSR_BF16, INT64_MIN), bf16_of_float(-0x1p63F));
    assert_int_equal(one_iota(TSR_F16, 65519), f16_of_float(65504.0F));
    assert_int_equal(one_iota(TSR_F16, 65520), 0x7c00);
    assert_int_equal(one_iota(TSR_F16, 2049), f16_of_float(2048.0F));
    assert_int_equal(one_iota(TSR_U8, 257), 1);
}

static void philox_gives_the_published_words(void **state)
{
    (void)state;
    static const struct {
        uint64_t key, low, high;
        uint32_t words[4];
    } rows[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {UINT64_C(0x299f31d0a4093822),
         UINT64_C(0x85a308d3243f6a88),
         UINT64_C(0x0370734413198a2e),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t words[4];
        philox_block(rows[i].key, rows[i].low, rows[i].high, words);
        assert_memory_equal(words, rows[i].words, sizeof words);
    }
}

/* Which words an element takes, as the header says. */
static void words_go_to_elements_as_documented(void **state)
{
    (void)state;
    enum { N = 11 };
    const int64_t shape = N;
    const int64_t start = 0;
    const int64_t strides[] = {4, 8};
    uint32_t narrow[N];
    uint64_t wide[N];
    float uniform[N];
    kernel_random(RANDOM_BITS, &(tsr_view){narrow, TSR_U32, 1, &shape, &strides[0]}, 5, 9, &start,
                  &shape);
    kernel_random(RANDOM_BITS, &(tsr_view){wide, TSR_I64, 1, &shape, &strides[1]}, 5, 9, &start,
                  &shape);
    kernel_random(RANDOM_UNIFORM, &(tsr_view){uniform, TSR_F32, 1, &shape, &strides[0]}, 5, 9,
                  &start, &shape);
    for (size_t e = 0; e < N; e++) {
        uint32_t words[4];
        philox_block(5, e / 4, 9, words);
        assert_int_equal(narrow[e], words[e % 4]);
        assert_true(uniform[e] == (float)(words[e % 4] >> 8) * 0x1p-24F);
        philox_block(5, e / 2, 9, words);
        assert_true(wide[e] == (words[2 * (e % 2)] | (uint64_t)words[2 * (e % 2) + 1] << 32));
    }
}

static void support_is_as_documented(void **state)
{
    (void)state;
    for (int i = 0; i < tsr_dtype_count(); i++) {
        const tsr_dtype dtype = (tsr_dtype)i;
        const bool number = fold_supports(dtype, FOLD_SUM);
        const bool complex = number && !fold_supports(dtype, FOLD_MAX);
        const bool integer = number && fold_supports(dtype, FOLD_AND);
        assert_int_equal(random_supports(RANDOM_BITS, dtype), integer);
        assert_int_equal(random_supports(RANDOM_UNIFORM, dtype), number && !integer && !complex);
        assert_int_equal(random_supports(RANDOM_NORMAL, dtype), number && !integer && !complex);
    }
}

/* A random box of an array, with any strides, has the numbers that the array has there. */
static void check_box(rng *r, random_kind kind, tsr_dtype dtype)
{
    int64_t full[STRIDED_MAX_RANK];
    int64_t start[STRIDED_MAX_RANK];
    int64_t shape[STRIDED_MAX_RANK];
    static const int64_t zeros[STRIDED_MAX_RANK];
    const size_t rank = random_shape_here(r, full, 0);
    for (size_t d = 0; d < rank; d++) {
        start[d] = rng_chance(r, 50) ? 0 : rng_below(r, full[d] + 1);
        shape[d] = rng_chance(r, 50) ? full[d] - start[d] : rng_below(r, full[d] - start[d] + 1);
    }
    strided whole;
    strided box;
    strided_init(&whole, r, dtype, full, rank, STRIDED_PLAIN);
    strided_init(&box, r, dtype, shape, rank, STRIDED_DST);
    const uint64_t key = (uint64_t)rng_below(r, INT64_MAX);
    kernel_random(kind, &whole.view, key, 3, zeros, full);
    kernel_random(kind, &box.view, key, 3, start, full);
    for (int64_t place = 0; place < strided_count(&box); place++) {
        int64_t index[STRIDED_MAX_RANK];
        strided_index(shape, rank, place, index);
        const unsigned char *got = strided_at(&box, index);
        for (size_t d = 0; d < rank; d++) {
            index[d] += start[d];
        }
        assert_memory_equal(got, strided_at(&whole, index), box.item);
    }
    strided_check_guards(&box);
    strided_free(&whole);
    strided_free(&box);
}

static void any_box_has_the_numbers_of_the_whole(void **state)
{
    (void)state;
    const rng start = rng_start("any_box_has_the_numbers_of_the_whole");
    for (int64_t i = 0; i < prop_cases(6000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = (tsr_dtype)(i % tsr_dtype_count());
        const random_kind kind = (random_kind)rng_below(&r, 3);
        if (random_supports(kind, dtype)) {
            check_box(&r, kind, dtype);
        }
    }
}

enum { MANY = 1 << 18 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *draw(random_kind kind, tsr_dtype dtype)
{
    const int64_t shape = MANY;
    const int64_t start = 0;
    const int64_t item = tsr_dtype_item_bytes(dtype);
    char *items = malloc((size_t)(MANY * item));
    double *numbers = malloc(MANY * sizeof *numbers);
    assert_non_null(items);
    assert_non_null(numbers);
    kernel_random(kind, &(tsr_view){items, dtype, 1, &shape, &item}, 42, 7, &start, &shape);
    for (int64_t i = 0; i < MANY; i++) {
        numbers[i] = number_load(dtype, items + i * item);
    }
    free(items);
    return numbers;
}

static double cumulative(random_kind kind, double x)
{
    return kind == RANDOM_UNIFORM ? x : 0.5 * erfc(-x / sqrt(2.0));
}

/*
 * Mean and variance within five of their deviations, and the largest distance of the two
 * distribution functions within 2 / sqrt(n) and what rounding to the type does.
 */
static void check_statistics(random_kind kind, tsr_dtype dtype, double rounding)
{
    double *x = draw(kind, dtype);
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < MANY; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        assert_true(kind != RANDOM_UNIFORM || (x[i] >= 0 && x[i] < 1));
    }
    const double mean = kind == RANDOM_UNIFORM ? 0.5 : 0;
    const double variance = kind == RANDOM_UNIFORM ? 1.0 / 12 : 1;
    const double fourth = kind == RANDOM_UNIFORM ? 1.0 / 80 : 3;
    const double got = sum / (double)MANY;
    assert_true(fabs(got - mean) < 5 * sqrt(variance / (double)MANY) + rounding);
    assert_true(fabs(squares / (double)MANY - got * got - variance) <
                5 * sqrt((fourth - variance * variance) / (double)MANY) + rounding);
    qsort(x, MANY, sizeof *x, by_value);
    for (size_t i = 0; i < MANY; i++) {
        const double distance = fabs(cumulative(kind, x[i]) - ((double)i + 0.5) / (double)MANY);
        assert_true(distance < 2 / sqrt((double)MANY) + rounding);
    }
    free(x);
}

static void random_numbers_have_their_distribution(void **state)
{
    (void)state;
    static const struct {
        tsr_dtype dtype;
        double rounding;
    } rows[] = {{TSR_F32, 0}, {TSR_F64, 0}, {TSR_F16, 0x1p-10}, {TSR_BF16, 0x1p-7}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_statistics(RANDOM_UNIFORM, rows[i].dtype, rows[i].rounding);
        check_statistics(RANDOM_NORMAL, rows[i].dtype, rows[i].rounding);
    }
}

/* The share of normal numbers below the quantile is what was asked for, in all three regions. */
static void quantiles_are_inverse(void **state)
{
    (void)state;
    double p = 0.5;
    for (int i = 0; i < 630; i++, p *= 0.93) {
        const double x = normal_quantile(p);
        assert_true(fabs(0.5 * erfc(-x / sqrt(2.0)) / p - 1) < 1e-13);
        assert_true(fabs(normal_minus_log(p) + log(p)) <= 4e-16 * (1 - log(p)));
    }
    assert_true(normal_quantile(0.5) == 0);
}

/* These bits are the same on every machine. */
static void normal_numbers_have_fixed_bits(void **state)
{
    (void)state;
    enum { N = 4096 };
    static float singles[N];
    static double doubles[N];
    const int64_t shape = N;
    const int64_t start = 0;
    const int64_t strides[] = {4, 8};
    kernel_random(RANDOM_NORMAL, &(tsr_view){singles, TSR_F32, 1, &shape, &strides[0]}, 1, 2,
                  &start, &shape);
    kernel_random(RANDOM_NORMAL, &(tsr_view){doubles, TSR_F64, 1, &shape, &strides[1]}, 1, 2,
                  &start, &shape);
    uint64_t hash[2] = {0, 0};
    for (size_t i = 0; i < N; i++) {
        uint64_t bits;
        memcpy(&bits, &doubles[i], sizeof bits);
        hash[0] = hash[0] * UINT64_C(0x9e3779b97f4a7c15) + bits_of_float(singles[i]);
        hash[1] = hash[1] * UINT64_C(0x9e3779b97f4a7c15) + bits;
    }
    assert_int_equal(hash[0], UINT64_C(0xe546849556ded405));
    assert_int_equal(hash[1], UINT64_C(0xe5fefa3b52c0da1f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iota_counts_along_a_dimension),
        cmocka_unit_test(iota_rounds_once),
        cmocka_unit_test(philox_gives_the_published_words),
        cmocka_unit_test(words_go_to_elements_as_documented),
        cmocka_unit_test(support_is_as_documented),
        cmocka_unit_test(any_box_has_the_numbers_of_the_whole),
        cmocka_unit_test(random_numbers_have_their_distribution),
        cmocka_unit_test(quantiles_are_inverse),
        cmocka_unit_test(normal_numbers_have_fixed_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
