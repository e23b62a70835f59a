/* Collectives on ranks that are threads. */
#include "collectives.h"

static void everything(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 4, 7, 8, 11};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_collectives(*state, counts[i], TSR_RANKS_THREADS);
    }
}

static void faults(void **state)
{
    check_collective_faults(*state, TSR_RANKS_THREADS);
}

static void differences(void **state)
{
    check_collective_differences(*state, TSR_RANKS_THREADS);
}

static void traffic(void **state)
{
    check_collective_traffic(*state, TSR_RANKS_THREADS);
}

static void repeats(void **state)
{
    check_collective_repeats(*state, TSR_RANKS_THREADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(everything), TEST(faults), TEST(differences), TEST(traffic), TEST(repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
