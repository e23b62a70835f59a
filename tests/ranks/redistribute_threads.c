/* Redistribution between layouts, on ranks that are threads. */
#include "catalogue.h"

static const int64_t counts[] = {1, 2, 3, 4, 7, 8, 11};

static void the_catalogue(void **state)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_catalogue(*state, counts[i], TSR_RANKS_THREADS, 0);
    }
}

static void a_sample(void **state)
{
    check_catalogue(*state, 8, TSR_RANKS_THREADS, 40);
}

static void random_layouts(void **state)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_pairs(*state, counts[i], TSR_RANKS_THREADS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(the_catalogue), TEST(a_sample), TEST(random_layouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
