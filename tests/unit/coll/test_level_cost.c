/* Costs by level: formulas by hand, rounding, where another algorithm is cheaper. */
#include <string.h>

#include "support.h"

#include "coll/level_cost.h"

/* Two hosts of eight; a byte takes 10 ps within a host and 100 ps between hosts. */
static const tsr_level hosts[] = {{"net", 2, 5000, INT64_C(10000000000)},
                                  {"host", 8, 1000, INT64_C(100000000000)}};
static const tsr_topology_spec two_hosts = {.num_levels = 2,
                                            .levels = hosts,
                                            .copy_bandwidth = INT64_C(1000000000000),
                                            .reduce_bandwidth = INT64_C(500000000000)};

static void peers_by_level(void **state)
{
    (void)state;
    const level_group g = {{2, 8}};
    const level_group three = {{3, 1, 5}};
    int64_t peers[TSR_MAX_LEVELS];
    assert_int_equal(level_peers(&g, 2, peers), 15);
    assert_int_equal(peers[0], 8);
    assert_int_equal(peers[1], 7);
    assert_int_equal(level_peers(&three, 3, peers), 14);
    assert_int_equal(peers[0], 10);
    assert_int_equal(peers[1], 0);
    assert_int_equal(peers[2], 4);
}

static void time_is_rounded_up(void **state)
{
    (void)state;
    level_work w = {.rounds = {1, 2}, .bytes = {10, 101}, .reduced = 3, .copied = 1};
    /* 5000 + 2000 + max(1000, 1010) + 6 + 1 ps */
    assert_int_equal(level_nanoseconds(&two_hosts, &w), 9);
    w.copied = 0;
    w.reduced = 0;
    w.bytes[1] = 100;
    assert_int_equal(level_nanoseconds(&two_hosts, &w), 8);
    w.bytes[0] = INT64_MAX;
    assert_int_equal(level_nanoseconds(&two_hosts, &w), INT64_C(922337203685477588));
    w.rounds[0] = INT64_MAX;
    assert_int_equal(level_nanoseconds(&two_hosts, &w), INT64_MAX);
}

static void a_quotient_is_rounded_up_to_picoseconds(void **state)
{
    (void)state;
    const tsr_level one = {"one", 2, 0, INT64_C(3000000000000)};
    const tsr_topology_spec t = {
        .num_levels = 1, .levels = &one, .copy_bandwidth = 1, .reduce_bandwidth = 1};
    level_work w = {.bytes = {3000}};
    assert_int_equal(level_nanoseconds(&t, &w), 1);
    w.bytes[0] = 3001;
    assert_int_equal(level_nanoseconds(&t, &w), 2);
}

static void in_pairs_over_levels(void **state)
{
    (void)state;
    level_work w;
    level_call call = {.kind = COLL_ALL_GATHER, .group = {{2, 8}}, .share = 100};
    assert_string_equal(level_cheapest(&two_hosts, &call, &w), "pairwise");
    assert_int_equal(w.bytes[0], 800);
    assert_int_equal(w.bytes[1], 700);
    assert_int_equal(w.rounds[0], 8);
    assert_int_equal(w.reduced, 0);
    call.kind = COLL_REDUCE_SCATTER;
    (void)level_cheapest(&two_hosts, &call, &w);
    assert_int_equal(w.bytes[0], 800);
    assert_int_equal(w.reduced, 1500);
    call.kind = COLL_ALL_REDUCE;
    (void)level_cheapest(&two_hosts, &call, &w);
    assert_int_equal(w.bytes[0], 1600);
    assert_int_equal(w.rounds[1], 14);
    assert_int_equal(w.reduced, 1500);
    call.kind = COLL_ALL_TO_ALL;
    (void)level_cheapest(&two_hosts, &call, &w);
    assert_int_equal(w.bytes[1], 700);
    assert_int_equal(w.reduced, 0);
}

static void fewer_rounds_at_one_level(void **state)
{
    (void)state;
    level_work w;
    level_call call = {.kind = COLL_ALL_GATHER, .group = {{1, 8}}, .share = 10};
    assert_string_equal(level_cheapest(&two_hosts, &call, &w), "bruck");
    assert_int_equal(w.rounds[1], 3);
    assert_int_equal(w.bytes[1], 70);
    assert_int_equal(w.copied, 80);
    call.share = 1 << 20;
    assert_string_equal(level_cheapest(&two_hosts, &call, &w), "pairwise");
    call.share = 10;
    const level_work known = {.rounds = {0, 7}, .bytes = {0, 61}};
    call.known = &known;
    call.copied = 5;
    assert_string_equal(level_cheapest(&two_hosts, &call, &w), "pairwise");
    assert_int_equal(w.bytes[1], 61);
    assert_int_equal(w.copied, 5);
}

static void an_algorithm_out_of_order_is_not_taken(void **state)
{
    (void)state;
    level_work w;
    const level_call call = {.kind = COLL_ALL_REDUCE, .group = {{1, 8}}, .share = 100000};
    assert_string_equal(level_cheapest(&two_hosts, &call, &w), "pairwise");
    const level_call small = {.kind = COLL_ALL_REDUCE, .group = {{1, 8}}, .share = 1};
    assert_string_equal(level_cheapest(&two_hosts, &small, &w), "gather");
    assert_int_equal(w.rounds[1], 3);
    assert_int_equal(w.bytes[1], 56);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_by_level),
        cmocka_unit_test(time_is_rounded_up),
        cmocka_unit_test(a_quotient_is_rounded_up_to_picoseconds),
        cmocka_unit_test(in_pairs_over_levels),
        cmocka_unit_test(fewer_rounds_at_one_level),
        cmocka_unit_test(an_algorithm_out_of_order_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
