/*
 * Gradients: of every op against differences, of sharded tensors against whole ones, and what tapes
 * do. A second argument is how many sharded calls to make in all, at least one of each.
 */
#include <stdlib.h>

#include "gradient_check.h"
#include "kinds.h"
#include "tape_check.h"

static size_t sample;

static void gradients_are_right(void **state)
{
    enum { CALLS = 1500, COUNTS = 6, DIFFERENCES = 12 };
    const size_t rows = op_makers_count();
    size_t calls = (size_t)prop_cases(sample > 0 ? (int64_t)sample : CALLS);
    calls = calls > rows ? calls : rows;
    const size_t counts_of_ranks = kinds_chosen() == TSR_RANKS_MPI ? 1 : COUNTS;
    gradient_counts *counts = gradient_counts_new();
    op_round round = {.kind = kinds_chosen(), .count = calls / counts_of_ranks + 1};
    check_differences(*state, (size_t)prop_cases(DIFFERENCES), counts);
    for (size_t at = 0; kinds_next_count(&at, 8, &round.ranks);) {
        check_sharded_gradients(*state, &round, counts);
        round.first += round.count;
    }
    if (tsr_launcher_rank() <= 0) {
        expect_all_gradients(counts);
    }
    gradient_counts_free(counts);
}

static void tapes_do_as_they_say(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        check_tapes(*state, ranks, kinds_chosen());
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(tapes_do_as_they_say), TEST(gradients_are_right)};
    kinds_choose(argc, argv);
    sample = argc > 2 ? (size_t)atoll(argv[2]) : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
