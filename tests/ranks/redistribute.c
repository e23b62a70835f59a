/* Redistribution between layouts. A second argument takes a sample of that many pairs. */
#include <stdlib.h>

#include "catalogue.h"
#include "kinds.h"

static size_t sample;

static void the_catalogue(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_catalogue(*state, ranks, kinds_chosen(), sample);
    }
}

static void random_layouts(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_pairs(*state, ranks, kinds_chosen());
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(the_catalogue), TEST(random_layouts)};
    kinds_choose(argc, argv);
    sample = argc > 2 ? (size_t)atoll(argv[2]) : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
