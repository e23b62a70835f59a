/* Products of every element type and layout against three loops. */
#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "strided.h"

#include "kernel/dot.h"
#include "kernel/product.h"
#include "number/half.h"

static bool is_complex(tsr_dtype dtype)
{
    return dtype == TSR_C64 || dtype == TSR_C128;
}

static void support_is_as_documented(void **state)
{
    (void)state;
    static const tsr_dtype types[] = {TSR_I1,   TSR_I8,  TSR_I16, TSR_I32, TSR_I64,
                                      TSR_U8,   TSR_U16, TSR_U32, TSR_U64, TSR_F16,
                                      TSR_BF16, TSR_F32, TSR_F64, TSR_C64, TSR_C128};
    for (int i = 0; i < tsr_dtype_count(); i++) {
        bool wanted = false;
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            wanted = wanted || types[t] == (tsr_dtype)i;
        }
        assert_int_equal(dot_supports((tsr_dtype)i), wanted);
    }
}

/* The dimensions of a product. */
typedef struct extents {
    int64_t batch[2];
    int64_t m[2];
    int64_t n[2];
    int64_t k[2];
    size_t num_batch;
    size_t num_m;
    size_t num_n;
    size_t num_k;
} extents;

typedef struct arrays {
    strided dst;
    strided a;
    strided b;
} arrays;

static size_t append(int64_t *shape, size_t rank, const int64_t *sizes, size_t count)
{
    memcpy(shape + rank, sizes, count * sizeof *sizes);
    return rank + count;
}

static void init(arrays *s, rng *r, const extents *e, tsr_dtype dtype, strided_kind src,
                 strided_kind dst)
{
    int64_t shape[STRIDED_MAX_RANK];
    size_t rank = append(shape, 0, e->batch, e->num_batch);
    rank = append(shape, rank, e->m, e->num_m);
    strided_init(&s->a, r, dtype, shape, append(shape, rank, e->k, e->num_k), src);
    strided_init(&s->dst, r, dtype, shape, append(shape, rank, e->n, e->num_n), dst);
    rank = append(shape, 0, e->batch, e->num_batch);
    rank = append(shape, rank, e->k, e->num_k);
    strided_init(&s->b, r, dtype, shape, append(shape, rank, e->n, e->num_n), src);
}

static void done(arrays *s)
{
    strided_free(&s->dst);
    strided_free(&s->a);
    strided_free(&s->b);
}

/* Small integers, so that sums are exact in f32; integers have all their bits. */
static void fill(rng *r, strided *s)
{
    const tsr_dtype dtype = s->view.dtype;
    for (int64_t i = 0; i < strided_count(s); i++) {
        unsigned char *at = strided_element(s, i);
        const uint64_t bits = (uint64_t)rng_below(r, INT64_MAX) * 2 + (r->state & 1);
        if (dtype == TSR_I1) {
            number_store(dtype, rng_chance(r, 30) ? 1 : 0, at);
        } else if (dtype < TSR_F16) {
            memcpy(at, &bits, s->item);
        } else {
            number_store(dtype, (double)(rng_below(r, 9) - 4), at);
        }
        if (is_complex(dtype)) {
            const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
            number_store(part, (double)(rng_below(r, 9) - 4), at + s->item / 2);
        }
    }
}

static int64_t product_of(const int64_t *sizes, size_t count)
{
    int64_t total = 1;
    for (size_t i = 0; i < count; i++) {
        total *= sizes[i];
    }
    return total;
}

/* One element in the plainest way; integers modulo 2^64 have the right low bits. */
static void multiply_and_add(tsr_dtype dtype, const unsigned char *a, const unsigned char *b,
                             double *sum, uint64_t *bits)
{
    const size_t item = (size_t)tsr_dtype_item_bytes(dtype);
    uint64_t x = 0;
    uint64_t y = 0;
    if (is_complex(dtype)) {
        const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
        const double re[2] = {number_load(part, a), number_load(part, b)};
        const double im[2] = {number_load(part, a + item / 2), number_load(part, b + item / 2)};
        sum[0] += re[0] * re[1] - im[0] * im[1];
        sum[1] += re[0] * im[1] + im[0] * re[1];
    } else if (dtype >= TSR_F16) {
        sum[0] += number_load(dtype, a) * number_load(dtype, b);
    } else {
        memcpy(&x, a, item);
        memcpy(&y, b, item);
        *bits = dtype == TSR_I1 ? *bits | (x & y) : *bits + x * y;
    }
}

static void wanted_element(const arrays *s, const extents *e, int64_t batch, int64_t i, int64_t j,
                           unsigned char *out)
{
    const tsr_dtype dtype = s->dst.view.dtype;
    const int64_t m = product_of(e->m, e->num_m);
    const int64_t n = product_of(e->n, e->num_n);
    const int64_t k = product_of(e->k, e->num_k);
    double sum[2] = {0, 0};
    uint64_t bits = 0;
    for (int64_t p = 0; p < k; p++) {
        multiply_and_add(dtype, strided_element(&s->a, (batch * m + i) * k + p),
                         strided_element(&s->b, (batch * k + p) * n + j), sum, &bits);
    }
    if (dtype < TSR_F16) {
        memcpy(out, &bits, s->dst.item);
        return;
    }
    number_store(dtype, sum[0] + 0.0, out);
    if (is_complex(dtype)) {
        number_store(dtype == TSR_C64 ? TSR_F32 : TSR_F64, sum[1] + 0.0, out + s->dst.item / 2);
    }
}

/* Zeros may have either sign. */
static void check_number(tsr_dtype dtype, const unsigned char *got, const unsigned char *wanted)
{
    const size_t half = (size_t)tsr_dtype_item_bytes(dtype) / 2;
    assert_true(number_load(dtype, got) == number_load(dtype, wanted));
    if (is_complex(dtype)) {
        const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
        assert_true(number_load(part, got + half) == number_load(part, wanted + half));
    }
}

static void check_product(const arrays *s, const extents *e)
{
    const int64_t m = product_of(e->m, e->num_m);
    const int64_t n = product_of(e->n, e->num_n);
    for (int64_t place = 0; place < strided_count(&s->dst); place++) {
        unsigned char wanted[16];
        wanted_element(s, e, place / (m * n), place / n % m, place % n, wanted);
        const unsigned char *got = strided_element(&s->dst, place);
        if (s->dst.view.dtype >= TSR_F16) {
            check_number(s->dst.view.dtype, got, wanted);
            continue;
        }
        assert_memory_equal(got, wanted, s->dst.item);
    }
    strided_check_guards(&s->dst);
}

static dot_job job_of(const arrays *s, const extents *e)
{
    return (dot_job){&s->dst.view, &s->a.view, &s->b.view, e->num_batch, e->num_k};
}

/* Runs with exactly the scratch that is asked for, full of NaNs, as dst is. */
static void run(const arrays *s, const extents *e)
{
    const dot_job job = job_of(s, e);
    const size_t size = kernel_dot_scratch(&job);
    unsigned char *scratch = malloc(size + 1);
    assert_non_null(scratch);
    memset(scratch, 0xff, size + 1);
    for (int64_t i = 0; i < strided_count(&s->dst); i++) {
        memset(strided_element(&s->dst, i), 0xff, s->dst.item);
    }
    kernel_dot(&job, scratch);
    assert_int_equal(scratch[size], 0xff);
    free(scratch);
}

static size_t random_sizes(rng *r, int64_t *sizes, size_t most_dims)
{
    static const int64_t choices[] = {0, 1, 1, 2, 3, 4, 5, 7, 11, 13};
    const size_t count = (size_t)rng_below(r, (int64_t)most_dims + 1);
    for (size_t i = 0; i < count; i++) {
        sizes[i] = choices[rng_chance(r, 2) ? 0 : 1 + rng_below(r, 9)];
    }
    return count;
}

static void every_product_is_that_of_three_loops(void **state)
{
    (void)state;
    const rng start = rng_start("every_product_is_that_of_three_loops");
    for (int64_t i = 0; i < prop_heavy_cases(6000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = (tsr_dtype)(i % tsr_dtype_count());
        if (!dot_supports(dtype)) {
            continue;
        }
        extents e = {0};
        e.num_batch = random_sizes(&r, e.batch, 2);
        e.num_m = random_sizes(&r, e.m, 2);
        e.num_n = random_sizes(&r, e.n, 2);
        e.num_k = random_sizes(&r, e.k, 2);
        arrays s;
        init(&s, &r, &e, dtype, STRIDED_SRC, STRIDED_DST);
        fill(&r, &s.a);
        fill(&r, &s.b);
        run(&s, &e);
        check_product(&s, &e);
        done(&s);
    }
}

/* Larger than the blocks of the types that are multiplied by blocks. */
static void products_are_cut_into_blocks(void **state)
{
    (void)state;
    static const tsr_dtype types[] = {TSR_I8, TSR_U16, TSR_I32, TSR_U64, TSR_BF16, TSR_F32};
    static const extents sizes[] = {
        {.num_m = 1, .num_n = 1, .num_k = 1, .m = {9}, .n = {67}, .k = {1031}},
        {.num_m = 1, .num_n = 1, .num_k = 1, .m = {3}, .n = {1031}, .k = {5}},
        {.num_m = 1, .num_n = 1, .num_k = 1, .m = {1031}, .n = {1}, .k = {7}},
        {.num_batch = 1,
         .num_m = 1,
         .num_n = 1,
         .num_k = 1,
         .batch = {2},
         .m = {1},
         .n = {5},
         .k = {2051}},
    };
    const rng start = rng_start("products_are_cut_into_blocks");
    for (size_t i = 0; i < 24; i++) {
        rng r = rng_case(&start, i);
        arrays s;
        init(&s, &r, &sizes[i % 4], types[i / 4], STRIDED_SRC, STRIDED_DST);
        fill(&r, &s.a);
        fill(&r, &s.b);
        run(&s, &sizes[i % 4]);
        check_product(&s, &sizes[i % 4]);
        done(&s);
    }
}

/* Exchanges the last two dimensions: a transposed array that is row-major. */
static void transpose(strided *s)
{
    const size_t d = s->view.rank - 2;
    s->strides[d] = (int64_t)s->item;
    s->strides[d + 1] = s->shape[d] * (int64_t)s->item;
}

static void no_transposition_needs_scratch(void **state)
{
    (void)state;
    static const tsr_dtype types[] = {TSR_F32, TSR_F64, TSR_C64, TSR_C128};
    const rng start = rng_start("no_transposition_needs_scratch");
    for (size_t i = 0; i < 4 * 8 * 4; i++) {
        rng r = rng_case(&start, i);
        const size_t which = i / 4 % 8;
        const bool row = i / 32 % 4 == 1;
        const bool column = i / 32 % 4 == 2;
        const extents e = {.num_batch = 1,
                           .num_m = 1,
                           .num_n = 1,
                           .num_k = 1,
                           .batch = {3},
                           .m = {row ? 1 : 7},
                           .n = {column ? 1 : 5},
                           .k = {11}};
        arrays s;
        init(&s, &r, &e, types[i % 4], STRIDED_PLAIN, STRIDED_PLAIN);
        strided *const all[] = {&s.a, &s.b, &s.dst};
        for (size_t t = 0; t < 3; t++) {
            if ((which >> t & 1) != 0) {
                transpose(all[t]);
            }
        }
        fill(&r, &s.a);
        fill(&r, &s.b);
        const dot_job job = job_of(&s, &e);
        assert_int_equal(kernel_dot_scratch(&job), 0);
        run(&s, &e);
        check_product(&s, &e);
        done(&s);
    }
}

/* Several dimensions of each kind, row-major: they join. Integers never need any. */
static void joined_dimensions_need_no_scratch(void **state)
{
    (void)state;
    static const tsr_dtype types[] = {TSR_F32, TSR_F64, TSR_C64, TSR_C128, TSR_I32};
    const extents e = {.num_batch = 2,
                       .num_m = 2,
                       .num_n = 2,
                       .num_k = 2,
                       .batch = {2, 3},
                       .m = {3, 5},
                       .n = {2, 7},
                       .k = {4, 3}};
    const rng start = rng_start("joined_dimensions_need_no_scratch");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        rng r = rng_case(&start, i);
        arrays s;
        init(&s, &r, &e, types[i], STRIDED_PLAIN, STRIDED_PLAIN);
        fill(&r, &s.a);
        fill(&r, &s.b);
        const dot_job job = job_of(&s, &e);
        assert_int_equal(kernel_dot_scratch(&job), 0);
        run(&s, &e);
        check_product(&s, &e);
        done(&s);
    }
}

/* Leading dimensions are ints; strides of single rows and columns are never used. */
static void cblas_takes_what_fits_its_ints(void **state)
{
    (void)state;
    static const struct {
        int64_t rows, cols, row_stride, col_stride;
        bool wanted;
    } rows[] = {
        {3, 5, 20, 4, true},
        {3, 5, 4, 12, true},
        {3, 5, 16, 4, false},
        {3, 5, 4, 8, false},
        {3, 5, 22, 4, false},
        {3, 5, 40, 8, false},
        {3, 5, -20, 4, false},
        {3, 5, 20, -4, false},
        {3, 5, 0, 4, false},
        {3, 5, 4, 0, false},
        {3, 5, INT64_C(1) << 33, 4, false},
        {1, 5, -1, 4, true},
        {3, 1, 4, 7, true},
        {3, 1, 8, 7, true},
        {1, 1, 0, 0, true},
        {3, 5, 4 * INT64_C(2147483647), 4, true},
        {1, 5, 0, 0, false},
        {1, 5, 0, 12, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const matrix x = {NULL, rows[i].row_stride, rows[i].col_stride};
        assert_int_equal(can_blas_take(&x, rows[i].rows, rows[i].cols, 4), rows[i].wanted);
    }
}

/* 4096 + 1 + .. + 1 in f16 steps of 4 would stay; rounded once it does not. */
static void halves_are_rounded_once(void **state)
{
    (void)state;
    enum { K = 1500 };
    uint16_t a[K];
    uint16_t b[K];
    uint16_t dst = 0;
    for (size_t i = 0; i < K; i++) {
        a[i] = f16_of_float(i == 0 ? 4096.0F : 1.0F);
        b[i] = f16_of_float(1.0F);
    }
    const int64_t shape[] = {1, K, 1};
    const int64_t strides[] = {2, 2, 2};
    const tsr_view views[] = {{&dst, TSR_F16, 0, shape, strides},
                              {a, TSR_F16, 1, shape + 1, strides},
                              {b, TSR_F16, 1, shape + 1, strides}};
    const dot_job job = {&views[0], &views[1], &views[2], 0, 1};
    void *scratch = malloc(kernel_dot_scratch(&job));
    assert_non_null(scratch);
    kernel_dot(&job, scratch);
    assert_int_equal(dst, f16_of_float(4096.0F + (float)(K - 1)));
    free(scratch);
}

enum { SIDE = 96, THREADS = 4 };

static void *multiply_often(void *state)
{
    static float a[SIDE * SIDE];
    static const int64_t shape[] = {SIDE, SIDE};
    static const int64_t strides[] = {SIDE * 4, 4};
    float *dst = state;
    const tsr_view views[] = {{dst, TSR_F32, 2, shape, strides}, {a, TSR_F32, 2, shape, strides}};
    const dot_job job = {&views[0], &views[1], &views[1], 0, 1};
    for (int i = 0; i < 50; i++) {
        kernel_dot(&job, NULL);
    }
    return NULL;
}

#pragma weak openblas_get_num_threads

/* Of worlds that are open at once the one that asks for the fewest threads decides. */
static void shares_of_threads(void **state)
{
    (void)state;
    if (openblas_get_num_threads == NULL) {
        skip();
    }
    const int before = openblas_get_num_threads();
    blas_share a;
    blas_share b;
    blas_share_take(&a, 2);
    blas_share_take(&b, 1);
    assert_int_equal(openblas_get_num_threads(), 1);
    blas_share_release(&a);
    assert_int_equal(openblas_get_num_threads(), 1);
    blas_share_take(&a, 2);
    blas_share_release(&b);
    assert_int_equal(openblas_get_num_threads(), 2);
    blas_share_release(&a);
    assert_int_equal(openblas_get_num_threads(), before);
    blas_share_release(&a); /* not taken */
    assert_int_equal(openblas_get_num_threads(), before);
}

static void threads_may_multiply_at_once(void **state)
{
    (void)state;
    blas_share share;
    blas_share_take(&share, 1);
    static float dst[THREADS][SIDE * SIDE];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        dst[i][0] = NAN;
        assert_int_equal(pthread_create(&threads[i], NULL, multiply_often, dst[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(dst[i][0] == 0.0F);
    }
    blas_share_release(&share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(support_is_as_documented),
        cmocka_unit_test(every_product_is_that_of_three_loops),
        cmocka_unit_test(products_are_cut_into_blocks),
        cmocka_unit_test(no_transposition_needs_scratch),
        cmocka_unit_test(joined_dimensions_need_no_scratch),
        cmocka_unit_test(cblas_takes_what_fits_its_ints),
        cmocka_unit_test(halves_are_rounded_once),
        cmocka_unit_test(threads_may_multiply_at_once),
        cmocka_unit_test(shares_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
