/*
 * What a launch says of ranks that failed: whole messages with their notes, equal ones merged, and
 * ranks that failed without one named; printed by tsr_context_print.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "kinds.h"

enum { RANKS = 4, LONG = 3000, TOO_LONG = 20000 };

static tsr_status launch(fixture *f, tsr_rank_function function, void *state)
{
    const tsr_launch_spec spec = {
        .num_ranks = RANKS, .ranks = kinds_chosen(), .timeout = 20, .segment_bytes = 1 << 20};
    return launch_ranks(f->ctx, &spec, function, state);
}

/* A text of so many letters that starts and ends with a word. */
static char *long_text(size_t length)
{
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, 'x', length);
    memcpy(text, "start ", 6);
    memcpy(text + length - 4, " end", 5);
    return text;
}

/* Every rank fails in the same way, with a long message and two notes. */
static tsr_status fail_alike(tsr_comm *world, void *state)
{
    tsr_context *ctx = tsr_comm_context(world);
    (void)state;
    char *text = long_text(LONG);
    (void)diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION, "%s", text);
    (void)diag_note(ctx, NO_LOCATION, "the fix: %s", text);
    (void)diag_note(ctx, NO_LOCATION, "another");
    free(text);
    return TSR_ERR_LIMIT;
}

static void equal_messages_are_one(void **state)
{
    fixture *f = *state;
    char *text = long_text(LONG);
    assert_int_equal(launch(f, fail_alike, NULL), TSR_ERR_LIMIT);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_non_null(d);
    assert_null(d->next);
    assert_int_equal(d->status, TSR_ERR_LIMIT);
    assert_int_equal(strncmp(d->text, "ranks 0-3 failed: ", 18), 0);
    assert_string_equal(d->text + 18, text);
    assert_non_null(d->notes);
    assert_int_equal(strncmp(d->notes->text, "the fix: ", 9), 0);
    assert_string_equal(d->notes->text + 9, text);
    assert_non_null(d->notes->next);
    assert_string_equal(d->notes->next->text, "another");
    assert_null(d->notes->next->next);
    free(text);
}

/* Rank 1 fails without a message, 2 with one, 0 and 3 meet it. */
static tsr_status fail_apart(tsr_comm *world, void *state)
{
    (void)state;
    switch (tsr_comm_rank(world)) {
    case 1:
        return TSR_ERR_INVALID;
    case 2:
        return diag_error(tsr_comm_context(world), TSR_ERR_LIMIT, NO_LOCATION, "too much");
    default:
        return TSR_OK;
    }
}

static void failures_without_a_message_are_named(void **state)
{
    fixture *f = *state;
    assert_int_equal(launch(f, fail_apart, NULL), TSR_ERR_INVALID);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_string_equal(d->text, "rank 1 returned TSR_ERR_INVALID without a message");
    assert_non_null(d->notes);
    assert_string_equal(d->next->text, "rank 2 failed: too much");
    assert_null(d->next->next);
}

/* One rank fails at a place of a text, the others wait for it. */
static tsr_status fail_one(tsr_comm *world, void *state)
{
    const tsr_mesh *mesh = NULL;
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    (void)state;
    if (tsr_comm_rank(world) != 2) {
        return tsr_barrier(world);
    }
    tsr_status status = tsr_arena_create(ctx, &arena);
    if (status == TSR_OK) {
        status = tsr_mesh_parse(ctx, arena, "<[\"x\"=0]>", &mesh);
        tsr_arena_destroy(arena);
    }
    return status;
}

static void the_cause_comes_first(void **state)
{
    fixture *f = *state;
    assert_true(launch(f, fail_one, NULL) < 0);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_non_null(strstr(d->text, "rank 2 failed: <mesh>:1:3: axis size must be at least 1"));
    assert_non_null(d->next);
    assert_non_null(strstr(d->next->text, "ranks 0-1, 3 failed: tsr_barrier: rank 2 failed: "));
    assert_null(d->next->next);
}

static tsr_status fail_at_length(tsr_comm *world, void *state)
{
    char *text = long_text(TOO_LONG);
    (void)state;
    (void)diag_error(tsr_comm_context(world), TSR_ERR_LIMIT, NO_LOCATION, "%s", text);
    (void)diag_note(tsr_comm_context(world), NO_LOCATION, "lost");
    free(text);
    return TSR_ERR_LIMIT;
}

static void what_is_cut_says_so(void **state)
{
    fixture *f = *state;
    assert_int_equal(launch(f, fail_at_length, NULL), TSR_ERR_LIMIT);
    const char *text = tsr_context_diagnostics(f->ctx)->text;
    assert_true(strlen(text) > 2 * LONG);
    assert_string_equal(text + strlen(text) - 5, "x ...");
}

/* What tsr_context_print writes. */
static char *printed(tsr_context *ctx)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    tsr_context_print(ctx, stream);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void messages_are_printed_with_notes(void **state)
{
    fixture *f = *state;
    assert_true(launch(f, fail_apart, NULL) < 0);
    char *text = printed(f->ctx);
    if (tsr_launcher_rank() <= 0) {
        assert_int_equal(strncmp(text,
                                 "error: rank 1 returned TSR_ERR_INVALID without a message\n"
                                 "note: ",
                                 63),
                         0);
        assert_non_null(strstr(text, "\nerror: rank 2 failed: too much\n"));
    } else {
        assert_string_equal(text, ""); /* the first process prints them */
    }
    free(text);
    tsr_context_clear(f->ctx);
    text = printed(f->ctx);
    assert_string_equal(text, "");
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_messages_are_one),          TEST(failures_without_a_message_are_named),
        TEST(the_cause_comes_first),           TEST(what_is_cut_says_so),
        TEST(messages_are_printed_with_notes),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
