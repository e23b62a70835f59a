/* Sorting against insertion by a comparison, in every type, order and layout. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strided.h"

#include "kernel/index.h"

enum { MOST = 700 };

static bool is_float(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 || dtype == TSR_F32 || dtype == TSR_F64;
}

static void support_is_as_documented(void **state)
{
    (void)state;
    for (int i = 0; i < tsr_dtype_count(); i++) {
        assert_int_equal(sort_supports((tsr_dtype)i), fold_supports((tsr_dtype)i, FOLD_MAX));
    }
}

/* Whether b must come before a: integers of 64 bits do not fit a double. */
static bool is_less(tsr_dtype dtype, const unsigned char *a, const unsigned char *b)
{
    int64_t x;
    int64_t y;
    uint64_t u;
    uint64_t v;
    if (dtype == TSR_I64) {
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return x < y;
    }
    if (dtype == TSR_U64) {
        memcpy(&u, a, sizeof u);
        memcpy(&v, b, sizeof v);
        return u < v;
    }
    const double p = number_load(dtype, a);
    const double q = number_load(dtype, b);
    return p < q || (isnan(q) && !isnan(p));
}

/* Any bits, and often the same ones; of floats zeros, infinities and NaNs too. */
static void fill(rng *r, strided *s)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, 1.0, -1.0, 1.5};
    const tsr_dtype dtype = s->view.dtype;
    const bool few = rng_chance(r, 50);
    for (int64_t i = 0; i < strided_count(s); i++) {
        unsigned char *at = strided_element(s, i);
        const uint64_t any = (uint64_t)rng_below(r, INT64_MAX) * 2 + (r->state & 1);
        const uint64_t bits = dtype == TSR_I1 ? any & 1 : few ? any % 5 : any;
        memcpy(at, &bits, s->item);
        if (is_float(dtype) && rng_chance(r, 30)) {
            number_store(dtype, special[rng_below(r, 7)], at);
        } else if (is_float(dtype) && rng_chance(r, 5)) {
            memset(at, 0xff, s->item);
            at[0] = (unsigned char)rng_below(r, 256);
        }
    }
}

/* Where the elements of a line are taken from, by insertion. */
static void wanted_order(const strided *src, int64_t *index, size_t dim, bool descending,
                         int64_t *order)
{
    const unsigned char *elements[MOST];
    for (int64_t i = 0; i < src->shape[dim]; i++) {
        index[dim] = i;
        elements[i] = strided_at(src, index);
        int64_t at = i;
        for (; at > 0; at--) {
            const unsigned char *before = elements[order[at - 1]];
            const bool wrong = descending ? is_less(src->view.dtype, before, elements[i])
                                          : is_less(src->view.dtype, elements[i], before);
            if (!wrong) {
                break;
            }
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

static void check_lines(const strided *src, const strided *values, const strided *indices,
                        size_t dim, bool descending)
{
    int64_t lines[STRIDED_MAX_RANK];
    int64_t index[STRIDED_MAX_RANK];
    int64_t order[MOST] = {0};
    int64_t count = 1;
    for (size_t d = 0; d < src->view.rank; d++) {
        lines[d] = d == dim ? 1 : src->shape[d];
        count *= lines[d];
    }
    for (int64_t line = 0; line < count; line++) {
        strided_index(lines, src->view.rank, line, index);
        wanted_order(src, index, dim, descending, order);
        for (int64_t i = 0; i < values->shape[dim]; i++) {
            index[dim] = order[i];
            const unsigned char *wanted = strided_at(src, index);
            index[dim] = i;
            if (values->view.data != NULL) {
                assert_memory_equal(strided_at(values, index), wanted, src->item);
            }
            assert_true(number_load(indices->view.dtype, strided_at(indices, index)) ==
                        (double)order[i]);
        }
    }
}

static void check_case(rng *r, tsr_dtype dtype)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 23, 24, 25, 31, 300, MOST};
    int64_t shape[STRIDED_MAX_RANK];
    const size_t rank = 1 + (size_t)rng_below(r, 3);
    const size_t dim = (size_t)rng_below(r, (int64_t)rank);
    const bool descending = rng_chance(r, 50);
    for (size_t d = 0; d < rank; d++) {
        shape[d] = rng_below(r, 5);
    }
    shape[dim] = sizes[rng_below(r, 11)];
    strided src;
    strided values;
    strided indices;
    strided_init(&src, r, dtype, shape, rank, STRIDED_SRC);
    shape[dim] = rng_chance(r, 60) ? shape[dim] : rng_below(r, shape[dim] + 1);
    strided_init(&values, r, dtype, shape, rank, STRIDED_DST);
    strided_init(&indices, r, rng_chance(r, 50) ? TSR_I32 : TSR_I64, shape, rank, STRIDED_DST);
    fill(r, &src);
    unsigned char *scratch = malloc(kernel_sort_scratch(&src.view, dim) + 1);
    assert_non_null(scratch);
    kernel_sort(&values.view, &indices.view, &src.view, dim, descending, scratch);
    check_lines(&src, &values, &indices, dim, descending);
    kernel_sort(NULL, &indices.view, &src.view, dim, !descending, scratch);
    check_lines(&src, &(strided){.shape = {values.shape[0], values.shape[1], values.shape[2]}},
                &indices, dim, !descending);
    kernel_sort(&values.view, NULL, &src.view, dim, !descending, scratch);
    check_lines(&src, &values, &indices, dim, !descending);
    strided_check_guards(&values);
    strided_check_guards(&indices);
    free(scratch);
    strided_free(&src);
    strided_free(&values);
    strided_free(&indices);
}

static void every_line_is_sorted_stably(void **state)
{
    (void)state;
    const rng start = rng_start("every_line_is_sorted_stably");
    for (int64_t i = 0; i < prop_cases(1500); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = (tsr_dtype)(i % tsr_dtype_count());
        if (sort_supports(dtype)) {
            check_case(&r, dtype);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(support_is_as_documented),
        cmocka_unit_test(every_line_is_sorted_stably),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
