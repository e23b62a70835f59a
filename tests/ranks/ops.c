/*
 * Every op on tensors in random layouts against the same op on whole arrays. A second argument is
 * about how many calls to make in all. TSR_SEED, TSR_PROP_SCALE and TSR_OP=tsr_add choose.
 */
#include <stdlib.h>

#include "kinds.h"
#include "op_check.h"

static size_t sample;

static void sharded_equals_unsharded(void **state)
{
    enum { CALLS = 4000, COUNTS = 7 };
    const size_t rows = op_makers_count();
    const int64_t calls = prop_cases(sample > 0 ? (int64_t)sample : CALLS);
    const int64_t each = calls / (int64_t)(rows * COUNTS);
    op_counts *counts = op_counts_new();
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_ops(*state, ranks, kinds_chosen(), each > 0 ? each : 1, counts);
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
