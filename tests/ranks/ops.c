/*
 * Every op on tensors in random layouts against the same op on whole arrays. A second argument is
 * how many calls to make in all, at least one of each. TSR_SEED, TSR_PROP_SCALE and TSR_OP=tsr_add
 * choose.
 */
#include <stdlib.h>

#include "kinds.h"
#include "op_check.h"

static size_t sample;

static void sharded_equals_unsharded(void **state)
{
    enum { CALLS = 4000, COUNTS = 7 };
    const size_t rows = op_makers_count();
    size_t calls = (size_t)prop_cases(sample > 0 ? (int64_t)sample : CALLS);
    calls = calls > rows ? calls : rows;
    const size_t counts_of_ranks = kinds_chosen() == TSR_RANKS_MPI ? 1 : COUNTS;
    op_counts *counts = op_counts_new();
    op_round round = {.kind = kinds_chosen(), .count = calls / counts_of_ranks + 1};
    for (size_t at = 0; kinds_next_count(&at, 11, &round.ranks);) {
        check_ops(*state, &round, counts);
        round.first += round.count;
    }
    if (tsr_launcher_rank() <= 0) {
        expect_all_rows(counts);
    }
    op_counts_free(counts);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(sharded_equals_unsharded)};
    kinds_choose(argc, argv);
    sample = argc > 2 ? (size_t)atoll(argv[2]) : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
