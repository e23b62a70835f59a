/* Redistribution between layouts, on ranks that are threads. */
#include "pairs.h"

static void all_pairs(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 4, 7, 8, 11};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_pairs(*state, counts[i], TSR_RANKS_THREADS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(all_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
