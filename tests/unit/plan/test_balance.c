/* Sharing out boxes: nothing is lost, and the busiest sender sends as little as it can. */
#include <string.h>

#include "random.h"

#include "plan/balance.h"

enum { BOXES = 4, SENDERS = 3, ELEMENTS = 7 };

/* The least for the busiest, by giving each element to each sender. */
static int64_t least_by_trying(int64_t elements, const int64_t *loads, size_t senders)
{
    int64_t least = INT64_MAX;
    int64_t ways = 1;
    for (int64_t i = 0; i < elements; i++) {
        ways *= (int64_t)senders;
    }
    for (int64_t way = 0; way < ways; way++) {
        int64_t sent[SENDERS];
        int64_t rest = way;
        int64_t most = 0;
        memcpy(sent, loads, senders * sizeof *sent);
        for (int64_t i = 0; i < elements; i++) {
            sent[(size_t)rest % senders]++;
            rest /= (int64_t)senders;
        }
        for (size_t i = 0; i < senders; i++) {
            most = sent[i] > most ? sent[i] : most;
        }
        least = most < least ? most : least;
    }
    return least;
}

/* Every box is covered from its first element to its last, in order. Returns the busiest's load. */
static int64_t check_shares(const int64_t *boxes, size_t count, const int64_t *loads,
                            size_t senders, const balance_share *shares, size_t number)
{
    int64_t sent[SENDERS];
    int64_t most = 0;
    size_t at = 0;
    memcpy(sent, loads, senders * sizeof *sent);
    for (size_t i = 0; i < count; i++) {
        int64_t done = 0;
        for (; at < number && shares[at].box == i; at++) {
            assert_int_equal(shares[at].first, done);
            assert_true(shares[at].size > 0 && shares[at].sender < senders);
            sent[shares[at].sender] += shares[at].size;
            done += shares[at].size;
        }
        assert_int_equal(done, boxes[i]);
    }
    assert_int_equal(at, number);
    for (size_t i = 0; i < senders; i++) {
        most = sent[i] > most ? sent[i] : most;
    }
    return most;
}

static void the_busiest_sends_as_little_as_it_can(void **state)
{
    (void)state;
    const rng base = rng_start("the_busiest_sends_as_little_as_it_can");
    for (int64_t i = 0; i < prop_cases(3000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        int64_t boxes[BOXES];
        int64_t loads[SENDERS];
        int64_t room[SENDERS];
        balance_share shares[BOXES + SENDERS];
        const size_t senders = 1 + (size_t)rng_below(&r, SENDERS);
        const bool idle = rng_chance(&r, 50);
        int64_t elements = 0;
        size_t count = 0;
        while (count < BOXES && elements < ELEMENTS) {
            boxes[count] = 1 + rng_below(&r, ELEMENTS - elements);
            elements += boxes[count++];
        }
        for (size_t k = 0; k < senders; k++) {
            loads[k] = idle ? 0 : rng_below(&r, 5);
        }
        memcpy(room, loads, sizeof room);
        const size_t number = balance(boxes, count, room, senders, shares);
        assert_true(number <= count + senders);
        assert_int_equal(check_shares(boxes, count, loads, senders, shares, number),
                         least_by_trying(elements, loads, senders));
    }
}

/* Boxes stay whole where they fit, and go to the first sender that has room. */
static void boxes_stay_whole(void **state)
{
    (void)state;
    const int64_t boxes[] = {3, 3, 2, 2};
    int64_t loads[] = {0, 0};
    balance_share shares[6];
    assert_int_equal(balance(boxes, 4, loads, 2, shares), 4);
    const size_t senders[] = {0, 1, 0, 1};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(shares[i].sender, senders[i]);
        assert_int_equal(shares[i].size, boxes[i]);
    }
}

static void one_box_is_cut(void **state)
{
    (void)state;
    const int64_t boxes[] = {10};
    int64_t loads[] = {0, 0, 0};
    balance_share shares[4];
    assert_int_equal(balance(boxes, 1, loads, 3, shares), 3);
    const balance_share wanted[] = {{0, 0, 0, 4}, {0, 1, 4, 4}, {0, 2, 8, 2}};
    assert_memory_equal(shares, wanted, sizeof wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_busiest_sends_as_little_as_it_can),
        cmocka_unit_test(boxes_stay_whole),
        cmocka_unit_test(one_box_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
