/* The (size, stride) algebra, with brute force beside it. */
#include <stdio.h>
#include <string.h>

#include "random.h"

static void coalescing(void **state)
{
    (void)state;
    tsr_stride two[] = {{2, 2}, {2, 1}};
    assert_int_equal(tsr_strides_coalesce(two, 2), 1);
    assert_int_equal(two[0].size, 4);
    assert_int_equal(two[0].stride, 1);
    tsr_stride ones[] = {{1, 5}, {4, 2}, {1, 7}};
    assert_int_equal(tsr_strides_coalesce(ones, 3), 1);
    assert_int_equal(ones[0].size, 4);
    tsr_stride apart[] = {{2, 1}, {2, 2}};
    assert_int_equal(tsr_strides_coalesce(apart, 2), 2);
    assert_int_equal(tsr_strides_coalesce(NULL, 0), 0);
    const tsr_stride a[] = {{1, 5}, {4, 2}};
    const tsr_stride b[] = {{2, 4}, {2, 2}};
    const tsr_stride c[] = {{4, 1}};
    assert_true(tsr_strides_equal(a, 2, b, 2));
    assert_false(tsr_strides_equal(a, 2, c, 1));
    assert_true(tsr_strides_equal(a, 1, NULL, 0));
    assert_int_equal(tsr_strides_size(b, 2), 4);
}

static void orthogonality(void **state)
{
    (void)state;
    static const struct {
        tsr_stride pairs[3];
        size_t count;
        bool yes;
    } cases[] = {
        {{{4, 1}, {2, 4}}, 2, true},         {{{4, 1}, {4, 1}}, 2, false},
        {{{2, 5}, {2, 6}}, 2, true},         {{{2, 6}, {2, 7}}, 2, true},
        {{{2, 5}, {2, 7}}, 2, true},         {{{2, 5}, {2, 6}, {2, 7}}, 3, false},
        {{{3, 1}, {3, 2}}, 2, false},        {{{2, 8}, {4, 4}}, 2, false},
        {{{2, 4}, {4, 2}}, 2, false},        {{{8, 1}, {2, 4}}, 2, false},
        {{{1, 1}, {1, 1}, {2, 1}}, 3, true}, {{{2, 1}, {2, 2}, {2, 4}}, 3, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(tsr_strides_orthogonal(cases[i].pairs, cases[i].count), cases[i].yes);
    }
}

static void flattening(void **state)
{
    fixture *f = *state;
    tsr_stride pairs[] = {{2, 4}, {2, 8}};
    size_t count;
    assert_int_equal(tsr_strides_flatten(f->ctx, pairs, 2, &count), TSR_OK);
    assert_int_equal(count, 1);
    assert_int_equal(pairs[0].size, 4);
    assert_int_equal(pairs[0].stride, 4);
    tsr_stride three[] = {{2, 8}, {4, 1}, {2, 4}};
    assert_int_equal(tsr_strides_flatten(f->ctx, three, 3, &count), TSR_OK);
    assert_int_equal(count, 1);
    assert_int_equal(three[0].size, 16);
    tsr_stride gap[] = {{2, 1}, {2, 8}};
    assert_int_equal(tsr_strides_flatten(f->ctx, gap, 2, &count), TSR_OK);
    assert_int_equal(count, 2);
    assert_int_equal(gap[0].stride, 8);
}

static void overlap_is_an_error_that_names_the_ranks(void **state)
{
    fixture *f = *state;
    size_t count = 99;
    tsr_stride same[] = {{4, 1}, {4, 1}};
    assert_int_equal(tsr_strides_flatten(f->ctx, same, 2, &count), TSR_ERR_INVALID);
    expect_error(f, "axes 4:1 and 4:1 overlap: both reach ranks 1 and its multiples");
    tsr_stride once[] = {{3, 2}, {2, 4}};
    assert_int_equal(tsr_strides_flatten(f->ctx, once, 2, &count), TSR_ERR_INVALID);
    expect_error(f, "axes 3:2 and 2:4 overlap: both reach rank 4");
    tsr_stride together[] = {{2, 5}, {2, 6}, {2, 7}};
    assert_int_equal(tsr_strides_flatten(f->ctx, together, 3, &count), TSR_ERR_INVALID);
    expect_error(f, "axes are not orthogonal: stride 7 of 2:7 does not exceed 11, the span of the "
                    "smaller strides");
    assert_int_equal(together[0].stride, 5);
    tsr_stride wrong[] = {{0, 1}};
    assert_int_equal(tsr_strides_flatten(f->ctx, wrong, 1, &count), TSR_ERR_INVALID);
    assert_int_equal(tsr_strides_flatten(f->ctx, wrong, 0, &count), TSR_ERR_INVALID);
    expect_error(f, "axis 0:1: size and stride must be at least 1");
    assert_int_equal(count, 99);
    int64_t ids[4];
    const tsr_stride a[] = {{4, 1}};
    const tsr_stride b[] = {{3, 2}};
    assert_int_equal(tsr_strides_overlap(f->ctx, a, 1, b, 1, 4, ids, &count), TSR_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ids[0], 2);
    const tsr_stride huge[] = {{INT64_C(1) << 30, 1}};
    const tsr_stride far[] = {{INT64_C(1) << 30, INT64_C(1) << 31}};
    assert_int_equal(tsr_strides_overlap(f->ctx, huge, 1, far, 1, 4, ids, &count), TSR_ERR_LIMIT);
    tsr_context_clear(f->ctx);
}

static bool within(fixture *f, const tsr_stride *a, size_t count_a, const tsr_stride *b,
                   size_t count_b)
{
    bool answer = false;
    assert_int_equal(tsr_strides_within(f->ctx, a, count_a, b, count_b, &answer), TSR_OK);
    return answer;
}

static void containment(void **state)
{
    fixture *f = *state;
    static const struct {
        tsr_stride a;
        tsr_stride b;
        bool yes;
    } cases[] = {
        {{2, 1}, {4, 1}, true}, {{2, 1}, {2, 2}, false}, {{4, 1}, {2, 1}, false},
        {{2, 8}, {4, 4}, true}, {{2, 4}, {4, 4}, true},  {{4, 1}, {4, 4}, false},
        {{3, 1}, {4, 1}, true}, {{4, 1}, {4, 1}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(within(f, &cases[i].a, 1, &cases[i].b, 1), cases[i].yes);
    }
    const tsr_stride part[] = {{INT64_C(1) << 20, INT64_C(1) << 20}};
    const tsr_stride whole[] = {{INT64_C(1) << 40, 1}};
    assert_true(within(f, part, 1, whole, 1));
}

/* Whether pairs reach an id, by trying every tuple. */
static bool reaches(const tsr_stride *pairs, size_t count, int64_t id)
{
    if (count == 0) {
        return id == 0;
    }
    for (int64_t i = 0; i < pairs[0].size; i++) {
        if (reaches(pairs + 1, count - 1, id - i * pairs[0].stride)) {
            return true;
        }
    }
    return false;
}

static void containment_and_overlap_by_brute_force(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("containment_and_overlap_by_brute_force");
    int64_t compared = 0;
    int64_t contained = 0;
    for (int64_t i = 0; i < prop_cases(20000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        tsr_stride lists[2][3];
        for (size_t j = 0; j < 6; j++) {
            lists[j / 3][j % 3] = (tsr_stride){1 + rng_below(&r, 4), 1 + rng_below(&r, 12)};
        }
        const size_t na = 1 + (size_t)rng_below(&r, 3);
        const size_t nb = 1 + (size_t)rng_below(&r, 3);
        if (!tsr_strides_orthogonal(lists[0], na) || !tsr_strides_orthogonal(lists[1], nb)) {
            continue;
        }
        bool wanted = true;
        size_t shared = 0;
        for (int64_t id = 0; id < 200; id++) {
            const bool in_a = reaches(lists[0], na, id);
            const bool in_b = reaches(lists[1], nb, id);
            wanted = wanted && (!in_a || in_b);
            shared += id > 0 && in_a && in_b;
        }
        int64_t ids[200];
        size_t count;
        assert_int_equal(within(f, lists[0], na, lists[1], nb), wanted);
        assert_int_equal(tsr_strides_overlap(f->ctx, lists[0], na, lists[1], nb, 200, ids, &count),
                         TSR_OK);
        assert_int_equal(count, shared);
        for (size_t j = 1; j < count; j++) {
            assert_true(ids[j - 1] < ids[j]);
        }
        compared++;
        contained += wanted;
    }
    printf("compared %lld, contained %lld\n", (long long)compared, (long long)contained);
    assert_true(compared > prop_cases(1000) && contained > prop_cases(100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(coalescing),  TEST(orthogonality),
        TEST(flattening),  TEST(overlap_is_an_error_that_names_the_ranks),
        TEST(containment), TEST(containment_and_overlap_by_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
