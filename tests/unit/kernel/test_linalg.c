/* Decompositions multiplied out, transforms by their definition, random bits by published words. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strided.h"

#include "kernel/bits.h"
#include "kernel/fft.h"
#include "kernel/linalg.h"

static double complex load(const strided *s, const int64_t *index)
{
    const unsigned char *at = strided_at(s, index);
    double parts[2] = {0, 0};
    if (s->view.dtype == TSR_C128) {
        memcpy(parts, at, sizeof parts);
    } else {
        memcpy(parts, at, sizeof parts[0]);
    }
    double complex z;
    memcpy(&z, parts, sizeof z);
    return z;
}

static void fill(strided *s, rng *r)
{
    for (int64_t i = 0; i < strided_count(s); i++) {
        const double parts[2] = {(double)rng_below(r, 2001) / 1000 - 1,
                                 (double)rng_below(r, 2001) / 1000 - 1};
        memcpy(strided_element(s, i), parts, s->item);
    }
}

/* An element of op(a), a triangle. */
static double complex triangle(const solve_job *job, const strided *a, int64_t batch, int64_t i,
                               int64_t k)
{
    const int64_t index[] = {batch, job->transposed ? k : i, job->transposed ? i : k};
    if (index[1] == index[2]) {
        return job->unit_diagonal ? 1 : job->conjugated ? conj(load(a, index)) : load(a, index);
    }
    if ((index[1] > index[2]) != job->lower) {
        return 0;
    }
    return job->conjugated ? conj(load(a, index)) : load(a, index);
}

static void check_solution(const solve_job *job, const strided *a, const strided *b,
                           const strided *x)
{
    const int64_t n = a->shape[1];
    for (int64_t place = 0; place < strided_count(b); place++) {
        int64_t at[3];
        double complex sum = 0;
        strided_index(b->shape, 3, place, at);
        for (int64_t k = 0; k < n; k++) {
            const int64_t index[] = {at[0], job->left_side ? k : at[1], job->left_side ? at[2] : k};
            sum += load(x, index) * (job->left_side ? triangle(job, a, at[0], at[1], k)
                                                    : triangle(job, a, at[0], k, at[2]));
        }
        assert_true(cabs(sum - load(b, at)) < 1e-10);
    }
}

static void triangular_systems_are_solved(void **state)
{
    (void)state;
    const rng start = rng_start("triangular_systems_are_solved");
    for (int64_t i = 0; i < prop_cases(1000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = rng_chance(&r, 2) ? TSR_C128 : TSR_F64;
        const int64_t n = 1 + rng_below(&r, 5);
        const int64_t columns = rng_below(&r, 4);
        const solve_job job = {.left_side = rng_chance(&r, 2),
                               .lower = rng_chance(&r, 2),
                               .unit_diagonal = rng_chance(&r, 2),
                               .transposed = i % 3 > 0,
                               .conjugated = i % 3 > 1};
        const int64_t square[] = {2, n, n};
        const int64_t shape[] = {2, job.left_side ? n : columns, job.left_side ? columns : n};
        strided a;
        strided b;
        strided x;
        strided_init(&a, &r, dtype, square, 3, STRIDED_DST);
        strided_init(&b, &r, dtype, shape, 3, STRIDED_DST);
        strided_init(&x, &r, dtype, shape, 3, STRIDED_DST);
        fill(&a, &r);
        fill(&b, &r);
        for (int64_t k = 0; k < 2 * n; k++) {
            const int64_t index[] = {k / n, k % n, k % n};
            const double parts[2] = {2 + (double)k, 1};
            memcpy(strided_at(&a, index), parts, a.item);
        }
        void *scratch = malloc(kernel_solve_scratch(&a.view, &b.view) + 1);
        assert_non_null(scratch);
        kernel_triangular_solve(&job, &x.view, &a.view, &b.view, scratch);
        check_solution(&job, &a, &b, &x);
        strided_check_guards(&x);
        free(scratch);
        strided_free(&a);
        strided_free(&b);
        strided_free(&x);
    }
}

static void factors_multiply_to_the_matrix(void **state)
{
    enum { N = 4 };
    static const double a[N * N] = {10, 1, 2, 3, 1, 11, 4, 5, 2, 4, 12, 6, 3, 5, 6, 13};
    static const double not_positive[] = {1, 2, 2, 1};
    const int64_t shape[] = {N, N};
    const int64_t strides[] = {N * 8, 8};
    double scratch[2 * N * N];
    double l[N * N];
    (void)state;
    const tsr_view from = {(void *)(uintptr_t)a, TSR_F64, 2, shape, strides};
    const tsr_view to = {l, TSR_F64, 2, shape, strides};
    for (int lower = 0; lower < 2; lower++) {
        kernel_cholesky(&to, &from, lower != 0, scratch);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < N; k++) {
                    sum += lower ? l[i * N + k] * l[j * N + k] : l[k * N + i] * l[k * N + j];
                }
                assert_true(fabs(sum - a[i * N + j]) < 1e-13);
                assert_true((lower ? j <= i : j >= i) || l[i * N + j] == 0);
            }
        }
    }
    const int64_t two[] = {2, 2};
    const int64_t packed[] = {16, 8};
    const tsr_view bad = {(void *)(uintptr_t)not_positive, TSR_F64, 2, two, packed};
    const tsr_view out = {l, TSR_F64, 2, two, packed};
    kernel_cholesky(&out, &bad, true, scratch);
    assert_true(isnan(l[0]) && isnan(l[3]));
}

/* A line of complex numbers against the definition, and back. */
static void check_length(int64_t n)
{
    const size_t bytes = (size_t)n * 16;
    double complex *x = malloc(3 * bytes);
    const int64_t stride = 16;
    assert_non_null(x);
    double complex *y = x + n;
    double complex *z = y + n;
    for (int64_t k = 0; k < n; k++) {
        x[k] = sin((double)(k * k)) + 0.25 * (double)(k % 5);
    }
    const tsr_view views[] = {{x, TSR_C128, 1, &n, &stride},
                              {y, TSR_C128, 1, &n, &stride},
                              {z, TSR_C128, 1, &n, &stride}};
    const fft_job job = {FFT_FORWARD, 1, &n, &views[1], &views[0]};
    const fft_job back = {FFT_INVERSE, 1, &n, &views[2], &views[1]};
    void *scratch = malloc(kernel_fft_scratch(&job));
    assert_non_null(scratch);
    kernel_fft(&job, scratch);
    kernel_fft(&back, scratch);
    for (int64_t k = 0; k < n; k++) {
        double complex sum = 0;
        for (int64_t j = 0; j < n; j++) {
            const double angle = -2 * M_PI * (double)(j * k % n) / (double)n;
            sum += x[j] * (cos(angle) + I * sin(angle));
        }
        assert_true(cabs(y[k] - sum) < 1e-11 * (double)n);
        assert_true(cabs(z[k] - x[k]) < 1e-12);
    }
    free(scratch);
    free(x);
}

static void transforms_follow_the_definition(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 140; n++) {
        check_length(n);
    }
    check_length(17 * 19);
    check_length(2 * 257);
    check_length(1024);
    check_length(3 * 512);
    check_length(5 * 7 * 11 * 13);
}

/* The published words of Threefry-2x32 with 20 rounds, and the counters that states become. */
static void bits_are_the_published_ones(void **state)
{
    const uint64_t zero[2] = {0, 0};
    const uint64_t ones[2] = {UINT64_MAX, UINT64_MAX};
    const int64_t two = 2;
    const int64_t three = 3;
    const int64_t wide = 8;
    const int64_t narrow = 4;
    uint64_t after[2];
    uint32_t words[3];
    (void)state;
    const tsr_view out = {words, TSR_U32, 1, &two, &narrow};
    const tsr_view next = {after, TSR_U64, 1, &two, &wide};
    tsr_view from = {(void *)(uintptr_t)zero, TSR_U64, 1, &two, &wide};
    kernel_bits(BITS_THREE_FRY, &out, &next, &from);
    assert_int_equal(words[0], 0x6b200159);
    assert_int_equal(words[1], 0x99ba4efe);
    assert_int_equal(after[1], 1);
    from.data = (void *)(uintptr_t)ones;
    kernel_bits(BITS_THREE_FRY, &out, &next, &from);
    assert_int_equal(words[0], 0x1cb996fc);
    assert_int_equal(words[1], 0xbb002be7);
    const tsr_view odd = {words, TSR_U32, 1, &three, &narrow};
    from.data = (void *)(uintptr_t)zero;
    kernel_bits(BITS_PHILOX, &odd, &next, &from);
    assert_int_equal(words[0], 0x6627e8d5);
    assert_int_equal(words[1], 0xe169c58d);
    assert_int_equal(words[2], 0xbc57ac4c);
    assert_int_equal(after[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangular_systems_are_solved),
        cmocka_unit_test(factors_multiply_to_the_matrix),
        cmocka_unit_test(transforms_follow_the_definition),
        cmocka_unit_test(bits_are_the_published_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
