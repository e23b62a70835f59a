/* The caller's memory and full arrays. */
#include "memory.h"
#include "kinds.h"

static void users_memory_and_full_arrays(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 8, &ranks);) {
        check_memory(*state, ranks, kinds_chosen());
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(users_memory_and_full_arrays)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
