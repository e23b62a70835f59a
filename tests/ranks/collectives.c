/* Collectives: their results on many layouts, their errors, what they move. */
#include "collectives.h"
#include "kinds.h"

static void everything(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_collectives(*state, ranks, kinds_chosen());
    }
}

static void faults(void **state)
{
    check_collective_faults(*state, kinds_chosen());
}

static void differences(void **state)
{
    check_collective_differences(*state, kinds_chosen());
}

static void traffic(void **state)
{
    check_collective_traffic(*state, kinds_chosen());
}

static void repeats(void **state)
{
    check_collective_repeats(*state, kinds_chosen());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(everything), TEST(faults), TEST(differences), TEST(traffic), TEST(repeats),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
