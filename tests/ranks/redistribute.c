/* Redistribution between layouts, by plans and by lists of steps. A second argument takes a sample
 * of that many pairs. */
#include <stdio.h>
#include <stdlib.h>

#include "catalogue.h"
#include "kinds.h"
#include "routes.h"
#include "steps.h"

static size_t sample;

static void the_catalogue(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_catalogue(*state, ranks, kinds_chosen(), sample);
    }
}

static void random_layouts(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_pairs(*state, ranks, kinds_chosen(), sample);
    }
}

/* Every kind of step is there, unless mpirun chose the number of ranks. */
static void lists_of_steps(void **state)
{
    int64_t ranks;
    step_counts counts = {0};
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_steps(*state, ranks, kinds_chosen(), &counts);
    }
    print_step_counts(&counts);
    for (int kind = 0; kind <= TSR_STEP_DIRECT; kind++) {
        assert_true(kinds_chosen() == TSR_RANKS_MPI || counts.kinds[kind] >= 5);
    }
    assert_true(kinds_chosen() == TSR_RANKS_MPI || (counts.exact > 0 && counts.long_lists > 0));
}

static void routes_on_machines(void **state)
{
    enum { PAIRS = 150 };
    int64_t ranks;
    route_counts counts = {0};
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_routes(*state, ranks, kinds_chosen(), sample > 0 ? sample : PAIRS, &counts);
    }
    printf("%lld routes, %lld of several steps, %lld steps counted, %lld on several levels, %lld "
           "listed; %lld "
           "out of order, %lld refused\n",
           (long long)counts.routes, (long long)counts.long_routes, (long long)counts.counted,
           (long long)counts.apart, (long long)counts.listed, (long long)counts.held,
           (long long)counts.refused);
    assert_true(kinds_chosen() == TSR_RANKS_MPI || tests_are_sampled() ||
                (counts.long_routes > 20 && counts.apart > 50));
}

static void steps_that_are_refused(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_refused_steps(*state, ranks, kinds_chosen());
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(the_catalogue), TEST(random_layouts),
                                       TEST(lists_of_steps), TEST(routes_on_machines),
                                       TEST(steps_that_are_refused)};
    kinds_choose(argc, argv);
    sample = argc > 2 ? (size_t)atoll(argv[2]) : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
