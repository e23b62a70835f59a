/* Statements about numbers and known mistakes, each on ranks; the public facts name some of them.
 */
#include "statements.h"

#include <stdio.h>

#include "kinds.h"

static void every_statement(void **state)
{
    for (size_t i = 0; i < num_statements; i++) {
        const tsr_launch_spec spec = {.num_ranks = statements[i].ranks, .ranks = kinds_chosen()};
        int64_t ranks = 0;
        size_t at = 0;
        while (kinds_next_count(&at, 11, &ranks) && ranks != statements[i].ranks) {
        }
        if (ranks == statements[i].ranks) {
            printf("%s\n", statements[i].name);
            expect_ranks(*state, &spec, statements[i].check, NULL);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(every_statement)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
