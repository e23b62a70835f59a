/* The table of algorithms, the choice among them, and the settings of a world. */
#include <math.h>
#include <string.h>

#include "support.h"

#include "coll/algorithm.h"

static void rows_are_whole(void **state)
{
    (void)state;
    size_t count;
    const coll_algorithm *all = coll_algorithms(&count);
    bool shared[COLL_CALLS] = {false};
    bool messages[COLL_CALLS] = {false};
    assert_int_equal(tsr_algorithm_count(), count);
    assert_null(tsr_algorithm_at(count));
    for (size_t i = 0; i < count; i++) {
        const coll_algorithm *a = &all[i];
        const coll_row *row = coll_row_of(a->kind);
        assert_ptr_equal(tsr_algorithm_at(i), &a->shown);
        assert_int_equal(coll_algorithm_index(a), i);
        assert_string_equal(a->shown.collective, row->name);
        assert_int_equal(a->shown.reduces, coll_has(row, COLL_HAS_OP));
        assert_true(a->shown.shared || a->shown.messages);
        assert_true(a->shown.reduces || a->shown.ordered);
        assert_non_null(a->shown.formula);
        assert_true(i == 0 || a->kind >= all[i - 1].kind);
        for (size_t k = 0; k < i; k++) {
            assert_false(all[k].kind == a->kind && strcmp(all[k].shown.name, a->shown.name) == 0);
        }
        shared[a->kind] = shared[a->kind] || (a->shown.shared && a->shown.ordered);
        messages[a->kind] = messages[a->kind] || (a->shown.messages && a->shown.ordered);
    }
    for (int kind = 0; kind < COLL_CALLS; kind++) {
        assert_true(shared[kind] && messages[kind]);
    }
}

/* The least of all that may be used, whatever the size; never one out of order unless allowed. */
static void the_cheapest_is_taken(void **state)
{
    (void)state;
    size_t count;
    const coll_algorithm *all = coll_algorithms(&count);
    for (int mode = 0; mode < 4; mode++) {
        coll_choices c =
            coll_choices_default(mode % 2 == 0 ? TSR_MEDIUM_SHARED : TSR_MEDIUM_MESSAGES);
        c.unordered = mode >= 2;
        for (size_t i = 0; i < count; i++) {
            const bool here = mode % 2 == 0 ? all[i].shown.shared : all[i].shown.messages;
            for (int64_t bytes = 1; bytes < INT64_C(10000000000); bytes *= 7) {
                const double n = (double)bytes;
                const coll_algorithm *best = coll_choose(&c, all[i].kind, false, n, 8);
                assert_true(best->shown.ordered || c.unordered);
                assert_true(mode % 2 == 0 ? best->shown.shared : best->shown.messages);
                assert_true(!here || (!all[i].shown.ordered && !c.unordered) ||
                            coll_price(best, &c.link, n, 8) <= coll_price(&all[i], &c.link, n, 8));
            }
        }
    }
}

static const char *chosen(const coll_choices *c, coll_kind kind, double n, int64_t p)
{
    return coll_choose(c, kind, false, n, p)->shown.name;
}

/* Where one takes over from the other, with the default link of messages. */
static void crossovers(void **state)
{
    (void)state;
    coll_choices c = coll_choices_default(TSR_MEDIUM_MESSAGES);
    assert_string_equal(chosen(&c, COLL_BROADCAST, 100, 2), "linear");
    assert_string_equal(chosen(&c, COLL_BROADCAST, 100, 3), "linear");
    assert_string_equal(chosen(&c, COLL_BROADCAST, 100, 8), "tree");
    /* (p-1) - lg p = 4 messages, 40 microseconds, against 0.1 ns a byte: 400,000 bytes. */
    assert_string_equal(chosen(&c, COLL_ALL_GATHER, 399999, 8), "bruck");
    assert_string_equal(chosen(&c, COLL_ALL_GATHER, 400001, 8), "direct");
    assert_string_equal(chosen(&c, COLL_ALL_TO_ALL, 1000, 8), "bruck");
    assert_string_equal(chosen(&c, COLL_ALL_TO_ALL, 1e6, 8), "pairwise");
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1000, 2), "direct");
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1000, 8), "gather");
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1e6, 8), "shares");
    assert_string_equal(chosen(&c, COLL_REDUCE_SCATTER, 1000, 8), "pairwise");
    c.unordered = true;
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1000, 8), "doubling");
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1e5, 8), "rabenseifner");
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1e6, 8), "shares");
    assert_string_equal(chosen(&c, COLL_REDUCE_SCATTER, 1000, 8), "halving");
    assert_string_equal(coll_choose(&c, COLL_ALL_REDUCE, true, 1000, 8)->shown.name, "gather");
    /* Of equals the first. */
    c.link = (tsr_link){0};
    assert_string_equal(chosen(&c, COLL_ALL_GATHER, 1000, 8), "direct");
    /* Dear messages, dear copies. */
    c.link = (tsr_link){.alpha = 1};
    assert_string_equal(chosen(&c, COLL_ALL_GATHER, 1e9, 8), "bruck");
    c.link = (tsr_link){.alpha = 1e-9, .delta = 1};
    assert_string_equal(chosen(&c, COLL_ALL_GATHER, 1, 8), "direct");
}

static void overrides(void **state)
{
    fixture *f = *state;
    coll_choices c = coll_choices_default(TSR_MEDIUM_MESSAGES);
    assert_int_equal(coll_choices_read(f->ctx, &c, " all-reduce = shares ,broadcast=linear,"), 0);
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1, 8), "shares");
    assert_string_equal(chosen(&c, COLL_BROADCAST, 1, 8), "linear");
    assert_int_equal(coll_choices_set(f->ctx, &c, "all-reduce", "auto"), 0);
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1, 8), "gather");
    assert_int_equal(coll_choices_read(f->ctx, &c, ""), 0);
    assert_int_equal(coll_choices_allow(f->ctx, &c, true), 0);
    assert_int_equal(coll_choices_set(f->ctx, &c, "all-reduce", "doubling"), 0);
    assert_string_equal(chosen(&c, COLL_ALL_REDUCE, 1e9, 8), "doubling");
    assert_string_equal(coll_choose(&c, COLL_ALL_REDUCE, true, 1e9, 8)->shown.name, "shares");
    assert_true(coll_choices_allow(f->ctx, &c, false) == TSR_ERR_INVALID);
    expect_error(f, "all-reduce is set to doubling, which does not reduce in group order; set it "
                    "to auto first");
    assert_true(c.unordered);
}

static void refuse(fixture *f, tsr_medium medium, const char *text, tsr_status status,
                   const char *message)
{
    coll_choices c = coll_choices_default(medium);
    const coll_choices before = c;
    assert_int_equal(coll_choices_read(f->ctx, &c, text), status);
    expect_error(f, message);
    assert_memory_equal(&c, &before, sizeof c);
}

static void refusals(void **state)
{
    fixture *f = *state;
    refuse(f, TSR_MEDIUM_MESSAGES, "broadcast=linear,all_reduce=shares", TSR_ERR_INVALID,
           "unknown collective 'all_reduce'; write the name of a tsr_comm_ call with dashes, such "
           "as all-reduce");
    refuse(f, TSR_MEDIUM_MESSAGES, "broadcast=linear,all-reduce=share", TSR_ERR_INVALID,
           "unknown algorithm 'share' for all-reduce by messages; the algorithms are shares, "
           "direct, gather, doubling, rabenseifner and auto");
    refuse(f, TSR_MEDIUM_SHARED, "all-reduce=gather", TSR_ERR_INVALID,
           "unknown algorithm 'gather' for all-reduce in shared memory; the algorithms are shares "
           "and auto");
    refuse(f, TSR_MEDIUM_MESSAGES, "all-reduce", TSR_ERR_SYNTAX,
           "'all-reduce' is not a choice; write one as in all-reduce=shares");
    refuse(f, TSR_MEDIUM_MESSAGES, "all-reduce=", TSR_ERR_INVALID,
           "unknown algorithm '' for all-reduce by messages; the algorithms are shares, direct, "
           "gather, doubling, rabenseifner and auto");
    refuse(f, TSR_MEDIUM_MESSAGES, "all-to-all-v=bruck", TSR_ERR_INVALID,
           "unknown algorithm 'bruck' for all-to-all-v by messages; the algorithms are pairwise "
           "and auto");
    refuse(f, TSR_MEDIUM_MESSAGES, "reduce-scatter=halving", TSR_ERR_INVALID,
           "reduce-scatter by halving does not reduce in group order; allow that first with "
           "tsr_comm_allow_unordered or TSR_UNORDERED=1");
}

static void links(void **state)
{
    fixture *f = *state;
    coll_choices c = coll_choices_default(TSR_MEDIUM_SHARED);
    const tsr_link bad[] = {{.alpha = -1}, {.beta = NAN}, {.gamma = INFINITY}, {.delta = -1e-9}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_true(coll_choices_set_link(f->ctx, &c, &bad[i]) == TSR_ERR_INVALID);
        expect_message(f, "of a link must be finite and not negative, got: ");
    }
    assert_true(c.link.alpha == tsr_link_default(TSR_MEDIUM_SHARED).alpha);
    assert_int_equal(coll_choices_set_link(f->ctx, &c, &(tsr_link){.alpha = 3}), 0);
    assert_true(c.link.alpha == 3);
}

static void the_public_choice(void **state)
{
    fixture *f = *state;
    const tsr_algorithm *a = NULL;
    tsr_algorithm_settings s = {.medium = TSR_MEDIUM_MESSAGES};
    assert_int_equal(tsr_algorithm_choose(f->ctx, &s, "all-gather", 1000, 8, &a), 0);
    assert_string_equal(a->name, "bruck");
    assert_true(tsr_algorithm_cost(a, &(tsr_link){.alpha = 1}, 1000, 8) == 3);
    s.algorithms = "all-gather=ring";
    assert_int_equal(tsr_algorithm_choose(f->ctx, &s, "all-gather", 1000, 8, &a), 0);
    assert_string_equal(a->name, "ring");
    s.algorithms = "all-gather=circle";
    assert_true(tsr_algorithm_choose(f->ctx, &s, "all-gather", 1000, 8, &a) < 0);
    expect_message(f, "unknown algorithm 'circle'");
    assert_string_equal(a->name, "ring");
    s = (tsr_algorithm_settings){.unordered = true, .link = &(tsr_link){.beta = 1}};
    assert_int_equal(tsr_algorithm_choose(f->ctx, &s, "all-reduce", 1000, 8, &a), 0);
    assert_string_equal(a->name, "shares");
    assert_true(tsr_algorithm_choose(f->ctx, &s, "all-reduce", 1000, 0, &a) < 0);
    expect_message(f, "the number of ranks must be at least 1");
    assert_true(tsr_algorithm_choose(f->ctx, &s, "reduce", 1000, 8, &a) < 0);
    expect_message(f, "unknown collective 'reduce'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_are_whole),    TEST(the_cheapest_is_taken),
        TEST(crossovers),        TEST(overrides),
        TEST(refusals),          TEST(links),
        TEST(the_public_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
