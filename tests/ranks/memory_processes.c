/* The caller's memory and full arrays, on ranks that are processes. */
#include "memory.h"

static void users_memory_and_full_arrays(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_memory(*state, counts[i], TSR_RANKS_PROCESSES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(users_memory_and_full_arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
