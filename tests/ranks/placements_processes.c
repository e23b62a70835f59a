/* Ragged placements, on ranks that are processes. */
#include "placements.h"

static void conversions(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 4, 7, 8, 11};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_conversions(*state, counts[i], TSR_RANKS_PROCESSES);
    }
}

static void worked_example(void **state)
{
    check_worked_example(*state, TSR_RANKS_PROCESSES);
}

static void binding(void **state)
{
    check_binding(*state, TSR_RANKS_PROCESSES);
}

static void faults(void **state)
{
    check_placement_faults(*state, TSR_RANKS_PROCESSES);
}

static void dlpack(void **state)
{
    check_dlpack(*state, TSR_RANKS_PROCESSES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(conversions), TEST(worked_example), TEST(binding), TEST(faults), TEST(dlpack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
