/* Ranks that do something wrong, alike on all kinds of ranks. */
#include "kinds.h"
#include "rank_faults.h"

static void refusal(void **state)
{
    check_refusal(*state, kinds_chosen());
}

static void difference(void **state)
{
    check_difference(*state, kinds_chosen());
}

static void absence(void **state)
{
    check_absence(*state, kinds_chosen());
}

static void slowness(void **state)
{
    check_slowness(*state, kinds_chosen());
}

static void early_end(void **state)
{
    check_early_end(*state, kinds_chosen());
}

static void no_room(void **state)
{
    check_no_room(*state, kinds_chosen());
}

static void bad_memory(void **state)
{
    check_bad_memory(*state, kinds_chosen());
}

static void uncountable(void **state)
{
    check_uncountable(*state, kinds_chosen());
}

static void group_for_world(void **state)
{
    check_group_for_world(*state, kinds_chosen());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(refusal), TEST(difference), TEST(absence),     TEST(slowness),        TEST(early_end),
        TEST(no_room), TEST(bad_memory), TEST(uncountable), TEST(group_for_world),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
