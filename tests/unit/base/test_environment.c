/* Variables of the environment: what they may say, and errors that name them. */
#include <stdlib.h>

#include "base/environment.h"
#include "support.h"

static void flags(void **state)
{
    fixture *f = *state;
    bool on = true;
    assert_int_equal(unsetenv("TSR_TEST"), 0);
    assert_int_equal(environment_flag(f->ctx, "TSR_TEST", &on), TSR_OK);
    assert_false(on);
    assert_int_equal(setenv("TSR_TEST", "1", 1), 0);
    assert_int_equal(environment_flag(f->ctx, "TSR_TEST", &on), TSR_OK);
    assert_true(on);
    assert_int_equal(setenv("TSR_TEST", "", 1), 0);
    assert_int_equal(environment_flag(f->ctx, "TSR_TEST", &on), TSR_OK);
    assert_false(on);
    assert_int_equal(setenv("TSR_TEST", "xyz", 1), 0);
    assert_int_equal(environment_flag(f->ctx, "TSR_TEST", &on), TSR_ERR_INVALID);
    expect_error(f, "the variable TSR_TEST must be 0 or 1, got: xyz");
}

static void counts(void **state)
{
    fixture *f = *state;
    static const char *const wrong[] = {"0", "-1", "12x", "x", "9223372036854775808"};
    int64_t count = 7;
    assert_int_equal(unsetenv("TSR_TEST"), 0);
    assert_int_equal(environment_count(f->ctx, "TSR_TEST", &count), TSR_OK);
    assert_int_equal(count, 0);
    assert_int_equal(setenv("TSR_TEST", "4096", 1), 0);
    assert_int_equal(environment_count(f->ctx, "TSR_TEST", &count), TSR_OK);
    assert_int_equal(count, 4096);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(setenv("TSR_TEST", wrong[i], 1), 0);
        assert_int_equal(environment_count(f->ctx, "TSR_TEST", &count), TSR_ERR_INVALID);
        expect_message(f, "TSR_TEST must be a number above 0");
    }
}

static void words(void **state)
{
    fixture *f = *state;
    static const char *const list[] = {"red", "green", NULL};
    int word = 7;
    assert_int_equal(unsetenv("TSR_TEST"), 0);
    assert_int_equal(environment_word(f->ctx, "TSR_TEST", list, &word), TSR_OK);
    assert_int_equal(word, -1);
    assert_int_equal(setenv("TSR_TEST", "green", 1), 0);
    assert_int_equal(environment_word(f->ctx, "TSR_TEST", list, &word), TSR_OK);
    assert_int_equal(word, 1);
    assert_int_equal(setenv("TSR_TEST", "blue", 1), 0);
    assert_int_equal(environment_word(f->ctx, "TSR_TEST", list, &word), TSR_ERR_INVALID);
    expect_error(f, "the variable TSR_TEST must be one of red, green, got: blue");
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(flags), TEST(counts), TEST(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
