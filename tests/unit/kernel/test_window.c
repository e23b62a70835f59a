/* Windows and convolutions against the plainest loops. */
#include <stdlib.h>
#include <string.h>

#include "strided.h"

#include "kernel/convolution.h"
#include "kernel/window.h"

/* A random window over an input of a few elements. */
static bool random_window(rng *r, size_t rank, window_shape *w)
{
    w->rank = rank;
    for (size_t d = 0; d < rank; d++) {
        w->input[d] = rng_below(r, 6);
        w->size[d] = 1 + rng_below(r, 3);
        w->stride[d] = 1 + rng_below(r, 3);
        w->input_dilation[d] = 1 + rng_below(r, 3);
        w->dilation[d] = 1 + rng_below(r, 3);
        w->before[d] = rng_below(r, 5) - 2;
        w->after[d] = rng_below(r, 5) - 2;
    }
    return window_fit(w);
}

/* The element of a line, padded and with holes, that is at a place; -1 for none. */
static int64_t plain_source(const window_shape *w, size_t d, int64_t place)
{
    for (int64_t i = 0; i < w->input[d]; i++) {
        if (w->before[d] + i * w->input_dilation[d] == place) {
            return i;
        }
    }
    return -1;
}

static bool plain_index(const window_shape *w, const int64_t *window, const int64_t *at,
                        int64_t *index)
{
    bool inside = true;
    for (size_t d = 0; d < w->rank; d++) {
        index[d] = plain_source(w, d, window[d] * w->stride[d] + at[d] * w->dilation[d]);
        inside = inside && index[d] >= 0;
    }
    return inside;
}

static void fill(strided *s, rng *r)
{
    for (int64_t i = 0; i < strided_count(s); i++) {
        number_store(s->view.dtype, (double)(rng_below(r, 19) - 9), strided_element(s, i));
    }
}

static int64_t product(const int64_t *sizes, size_t rank)
{
    int64_t count = 1;
    for (size_t d = 0; d < rank; d++) {
        count *= sizes[d];
    }
    return count;
}

static void subtract_twice(void *state, const void *const *arguments, void *const *results)
{
    int32_t a;
    int32_t b;
    (void)state;
    memcpy(&a, arguments[0], sizeof a);
    memcpy(&b, arguments[1], sizeof b);
    a = 2 * a - b;
    memcpy(results[0], &a, sizeof a);
}

static void check_window(const window_shape *w, const strided *x, const strided *y, bool called)
{
    for (int64_t o = 0; o < strided_count(y); o++) {
        int64_t window[STRIDED_MAX_RANK];
        int32_t sum = 7;
        strided_index(w->output, w->rank, o, window);
        for (int64_t p = 0; p < product(w->size, w->rank); p++) {
            int64_t at[STRIDED_MAX_RANK];
            int64_t index[STRIDED_MAX_RANK];
            strided_index(w->size, w->rank, p, at);
            if (plain_index(w, window, at, index)) {
                const int32_t next = (int32_t)number_load(TSR_I32, strided_at(x, index));
                sum = called ? 2 * sum - next : sum + next;
            }
        }
        assert_int_equal((int32_t)number_load(TSR_I32, strided_element(y, o)), sum);
    }
}

static void windows_are_folded(void **state)
{
    (void)state;
    const rng start = rng_start("windows_are_folded");
    for (int64_t i = 0; i < prop_cases(3000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const int32_t initial = 7;
        const void *initials[] = {&initial};
        window_shape w;
        strided x;
        strided y;
        if (!random_window(&r, (size_t)rng_below(&r, 4), &w)) {
            continue;
        }
        strided_init(&x, &r, TSR_I32, w.input, w.rank, STRIDED_SRC);
        strided_init(&y, &r, TSR_I32, w.output, w.rank, STRIDED_DST);
        fill(&x, &r);
        kernel_reduce_window(BINARY_ADD, &w, &y.view, &x.view, &initial);
        check_window(&w, &x, &y, false);
        kernel_reduce_window_call(subtract_twice, NULL, &w, &y.view, &x.view, initials, 1);
        check_window(&w, &x, &y, true);
        strided_check_guards(&y);
        strided_free(&x);
        strided_free(&y);
    }
}

/* Dimensions in the order batch, features, spatial ones. */
static void check_convolution(const convolution_job *job, const strided *x, const strided *k,
                              const strided *y)
{
    const window_shape *w = &job->window;
    const int64_t groups = job->feature_groups * job->batch_groups;
    const int64_t made = k->shape[0] / groups;
    for (int64_t o = 0; o < strided_count(y); o++) {
        int64_t out[STRIDED_MAX_RANK];
        double sum = 0;
        strided_index(y->shape, w->rank + 2, o, out);
        const int64_t group = out[1] / made;
        for (int64_t p = 0; p < k->shape[1] * product(w->size, w->rank); p++) {
            int64_t in[STRIDED_MAX_RANK];
            int64_t of[STRIDED_MAX_RANK];
            int64_t at[STRIDED_MAX_RANK];
            strided_index(w->size, w->rank, p / k->shape[1], at);
            if (!plain_index(w, out + 2, at, in + 2)) {
                continue;
            }
            in[0] = out[0] + (job->batch_groups > 1 ? group * y->shape[0] : 0);
            in[1] = p % k->shape[1] + (job->feature_groups > 1 ? group * k->shape[1] : 0);
            of[0] = out[1];
            of[1] = p % k->shape[1];
            for (size_t d = 0; d < w->rank; d++) {
                of[2 + d] = job->reversed[d] ? w->size[d] - 1 - at[d] : at[d];
            }
            sum += number_load(x->view.dtype, strided_at(x, in)) *
                   number_load(k->view.dtype, strided_at(k, of));
        }
        assert_true(number_load(y->view.dtype, strided_element(y, o)) == sum);
    }
}

static void shape_of(const int64_t *spatial, size_t rank, int64_t first, int64_t second,
                     int64_t *shape)
{
    shape[0] = first;
    shape[1] = second;
    for (size_t d = 0; d < rank; d++) {
        shape[2 + d] = spatial[d];
    }
}

static void convolutions_are_sums_of_products(void **state)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_I16, TSR_F64, TSR_I64};
    (void)state;
    const rng start = rng_start("convolutions_are_sums_of_products");
    for (int64_t i = 0; i < prop_cases(2000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = dtypes[i % 4];
        const int64_t groups = 1 + rng_below(&r, 3);
        const bool by_batch = rng_chance(&r, 2);
        const int64_t features = 1 + rng_below(&r, 3);
        const int64_t made = groups * (1 + rng_below(&r, 3));
        const int64_t batch = rng_below(&r, 3);
        convolution_job job = {.input_feature = 1, .kernel_input = 1, .output_feature = 1};
        int64_t shapes[3][STRIDED_MAX_RANK];
        strided x;
        strided k;
        strided y;
        if (!random_window(&r, (size_t)rng_below(&r, 3), &job.window)) {
            continue;
        }
        const size_t rank = job.window.rank;
        job.feature_groups = by_batch ? 1 : groups;
        job.batch_groups = by_batch ? groups : 1;
        for (size_t d = 0; d < rank; d++) {
            job.input_spatial[d] = job.kernel_spatial[d] = job.output_spatial[d] = 2 + d;
            job.reversed[d] = rng_chance(&r, 2);
        }
        shape_of(job.window.input, rank, batch * job.batch_groups, features * job.feature_groups,
                 shapes[0]);
        shape_of(job.window.size, rank, made, features, shapes[1]);
        shape_of(job.window.output, rank, batch, made, shapes[2]);
        strided_init(&x, &r, dtype, shapes[0], rank + 2, STRIDED_SRC);
        strided_init(&k, &r, dtype, shapes[1], rank + 2, STRIDED_SRC);
        strided_init(&y, &r, dtype, shapes[2], rank + 2, STRIDED_DST);
        fill(&x, &r);
        fill(&k, &r);
        job.input = &x.view;
        job.kernel = &k.view;
        job.dst = &y.view;
        void *scratch = malloc(kernel_convolution_scratch(&job) + 1);
        assert_non_null(scratch);
        kernel_convolution(&job, scratch);
        check_convolution(&job, &x, &k, &y);
        strided_check_guards(&y);
        free(scratch);
        strided_free(&x);
        strided_free(&k);
        strided_free(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_folded),
        cmocka_unit_test(convolutions_are_sums_of_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
