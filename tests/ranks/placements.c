/* Ragged placements, and DLPack, on every kind of ranks. */
#include "placements.h"
#include "kinds.h"

static void conversions(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_conversions(*state, ranks, kinds_chosen());
    }
}

/* Runs a check of a fixed number of ranks, where the launcher has not started another number. */
static void run_on(fixture *f, int64_t ranks, void (*check)(fixture *f, tsr_ranks kind))
{
    int64_t count;
    for (size_t at = 0; kinds_next_count(&at, 11, &count);) {
        if (count == ranks) {
            check(f, kinds_chosen());
            return;
        }
    }
    skip();
}

static void worked_example(void **state)
{
    run_on(*state, 2, check_worked_example);
}

static void binding(void **state)
{
    run_on(*state, 3, check_binding);
}

static void faults(void **state)
{
    run_on(*state, 3, check_placement_faults);
}

static void dlpack(void **state)
{
    run_on(*state, 3, check_dlpack);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(conversions), TEST(worked_example), TEST(binding), TEST(faults), TEST(dlpack),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
