/* The rows of collectives and the cost formulas. */
#include <math.h>
#include <string.h>

#include "support.h"

#include "coll/algorithm.h"

/* Every row has names of its own, and no trait without what it builds on. */
static void rows_are_whole(void **state)
{
    (void)state;
    for (int i = 0; i < COLL_COUNT; i++) {
        const coll_row *row = coll_row_of((coll_kind)i);
        assert_non_null(row->name);
        assert_int_equal(row->call != NULL, i < COLL_CALLS);
        assert_true(row->call != NULL || row->step_name != NULL);
        assert_true(row->call == NULL || strncmp(row->call, "tsr_", 4) == 0);
        for (int j = 0; j < i; j++) {
            assert_true(row->call == NULL ||
                        strcmp(row->call, coll_row_of((coll_kind)j)->call) != 0);
            assert_string_not_equal(row->name, coll_row_of((coll_kind)j)->name);
        }
        if (coll_has(row, COLL_HAS_COUNTS)) {
            assert_true(coll_has(row, COLL_CUTS_SRC | COLL_CUTS_DST));
        }
        if (coll_has(row, COLL_COUNTS_DIFFER)) {
            assert_true(coll_has(row, COLL_HAS_COUNTS));
        }
        assert_false(coll_has(row, COLL_ROOT_SENDS) && coll_has(row, COLL_ROOT_RECEIVES));
    }
}

/* Every kind of step is a row, which says so. */
static void steps_are_rows(void **state)
{
    (void)state;
    for (int step = 0; step <= TSR_STEP_DIRECT; step++) {
        const coll_row *row = coll_row_of(coll_of_step((tsr_step_kind)step));
        assert_int_equal(row->step, step);
        assert_string_equal(row->step_name, tsr_step_kind_name((tsr_step_kind)step));
    }
}

static double seconds(coll_cost cost, const tsr_link *link, double n, int64_t p)
{
    const coll_work work = cost(n, p);
    return coll_seconds(link, &work);
}

/* alpha 1000, beta 10, gamma 1, delta 0.001, n = 840 bytes: the terms can be told apart. */
static void formulas_by_hand(void **state)
{
    (void)state;
    static const struct {
        coll_cost cost;
        int64_t p;
        double wanted;
    } cases[] = {
        {cost_all_gather_ring, 4, 3000 + 6300},
        {cost_all_gather_ring, 7, 6000 + 7200},
        {cost_all_gather_bruck, 4, 2000 + 6300 + 0.84},
        {cost_all_gather_bruck, 7, 3000 + 7200 + 0.84},
        {cost_reduce_scatter_halving, 8, 3000 + 7350 + 735 + 0.84},
        {cost_reduce_scatter_pairwise, 8, 7000 + 7350 + 735},
        {cost_all_reduce_rabenseifner, 8, 6000 + 14700 + 735 + 1.68},
        {cost_all_reduce_rabenseifner, 7, 6000 + 14400 + 720 + 1.68},
        {cost_all_reduce_doubling, 8, 3000 + 25200 + 2520 + 0.84},
        {cost_all_reduce_doubling, 7, 4000 + 33600 + 2520 + 0.84},
        {cost_all_reduce_gather, 7, 3000 + 50400 + 5040 + 0.84},
        {cost_all_reduce_shares, 8, 14000 + 14700 + 735},
        {cost_all_reduce_direct, 3, 2000 + 16800 + 1680},
        {cost_all_to_all_pairwise, 2, 1000 + 4200},
        {cost_all_to_all_bruck, 5, 3000 + 8400 + 1.68 + 1.68},
        {cost_all_to_all_bruck, 8, 3000 + 12600 + 1.68 + 2.52},
        {cost_scatter_linear, 3, 2000 + 5600},
        {cost_broadcast_linear, 3, 2000 + 16800},
        {cost_broadcast_tree, 5, 3000 + 25200},
        {cost_broadcast_pull, 3, 1000 + 8400},
        {cost_permute, 3, 1000 + 8400},
    };
    const tsr_link link = {.alpha = 1000, .beta = 10, .gamma = 1, .delta = 0.001};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_float_equal(seconds(cases[i].cost, &link, 840, cases[i].p), cases[i].wanted, 1e-6);
    }
}

static void formulas_grow(void **state)
{
    (void)state;
    size_t count;
    const coll_algorithm *all = coll_algorithms(&count);
    const tsr_link link = {.alpha = 1e-6, .beta = 1e-10, .gamma = 3e-11};
    for (size_t i = 0; i < count; i++) {
        assert_float_equal(coll_price(&all[i], &link, 1e6, 1), 0, 0);
        for (int64_t p = 2; p <= 64; p++) {
            assert_true(coll_price(&all[i], &link, 1e6, 2 * p) >=
                        coll_price(&all[i], &link, 1e6, p));
            assert_true(coll_price(&all[i], &link, 2e6, p) > coll_price(&all[i], &link, 1e6, p));
        }
    }
}

/* What the algorithms are there for: fewer messages for small arrays, fewer bytes for large ones.
 */
static void each_has_its_use(void **state)
{
    (void)state;
    const tsr_link link = {.alpha = 1e-6, .beta = 1e-10, .gamma = 3e-11};
    assert_true(seconds(cost_all_to_all_bruck, &link, 64, 64) <
                seconds(cost_all_to_all_pairwise, &link, 64, 64));
    assert_true(seconds(cost_all_to_all_bruck, &link, 1e9, 64) >
                seconds(cost_all_to_all_pairwise, &link, 1e9, 64));
    assert_true(seconds(cost_all_reduce_direct, &link, 64, 8) <
                seconds(cost_all_reduce_shares, &link, 64, 8));
    assert_true(seconds(cost_all_reduce_direct, &link, 1e9, 8) >
                seconds(cost_all_reduce_shares, &link, 1e9, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_are_whole), TEST(steps_are_rows),   TEST(formulas_by_hand),
        TEST(formulas_grow),  TEST(each_has_its_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
