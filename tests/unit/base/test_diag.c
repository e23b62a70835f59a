/* Diagnostics: places, carets, notes, follow-ups, the log callback, exhausted memory. */
#include <string.h>

#include "support.h"

#include "base/diag.h"
#include "base/lex.h"

static const char source[] = "first line\n\tsecond \"x\" line\nthird";

static void locations_have_line_and_column(void **state)
{
    fixture *f = *state;
    const tsr_text text = {.name = "file.mlir", .data = source, .size = strlen(source)};
    const size_t at = (size_t)(strstr(source, "\"x\"") - source);
    assert_int_equal(diag_error(f->ctx, TSR_ERR_INVALID, (location){&text, at, 3, false},
                                "axis %s is wrong", "\"x\""),
                     TSR_ERR_INVALID);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_string_equal(d->text, "axis \"x\" is wrong");
    assert_string_equal(d->file, "file.mlir");
    assert_int_equal(d->line, 2);
    assert_int_equal(d->column, 9);
    assert_string_equal(d->source_line, "\tsecond \"x\" line");
    const char *shown;
    assert_int_equal(tsr_diagnostic_format(f->ctx, f->arena, d, false, &shown), TSR_OK);
    assert_string_equal(shown, "file.mlir:2:9: error: axis \"x\" is wrong\n"
                               "\tsecond \"x\" line\n"
                               "\t       ^~~\n");
}

static void several_are_collected_with_their_notes(void **state)
{
    fixture *f = *state;
    const tsr_text text = tsr_text_of("t", "abc");
    (void)diag_error(f->ctx, TSR_ERR_SYNTAX, NO_LOCATION, "first");
    (void)diag_note(f->ctx, NO_LOCATION, "why");
    (void)diag_note(f->ctx, (location){&text, 3, 1, false}, "what to do");
    assert_int_equal(diag_follow_up(f->ctx, NO_LOCATION, "so the list failed"), TSR_ERR_SYNTAX);
    (void)diag_error(f->ctx, TSR_ERR_INVALID, NO_LOCATION, "second");
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_string_equal(d->notes->text, "why");
    assert_int_equal(d->notes->severity, TSR_NOTE);
    assert_string_equal(d->notes->next->text, "what to do");
    assert_false(d->follow_up);
    assert_true(d->next->follow_up);
    assert_string_equal(d->next->next->text, "second");
    assert_null(d->next->next->notes);
    assert_null(d->next->next->next);
    const char *shown;
    assert_int_equal(tsr_diagnostic_format(f->ctx, f->arena, d, false, &shown), TSR_OK);
    assert_string_equal(shown, "error: first\nnote: why\nt:1:4: note: what to do\nabc\n   ^\n");
    tsr_context_clear(f->ctx);
    assert_null(tsr_context_diagnostics(f->ctx));
}

static void colours_only_when_asked(void **state)
{
    fixture *f = *state;
    const char *shown;
    (void)diag_error(f->ctx, TSR_ERR_INVALID, NO_LOCATION, "x");
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_int_equal(tsr_diagnostic_format(f->ctx, f->arena, d, true, &shown), TSR_OK);
    assert_non_null(strstr(shown, "\033["));
    assert_int_equal(tsr_diagnostic_format(f->ctx, f->arena, d, false, &shown), TSR_OK);
    assert_null(strstr(shown, "\033["));
}

static void long_lines_are_cut_around_the_caret(void **state)
{
    fixture *f = *state;
    char line[1001];
    memset(line, 'a', 1000);
    line[1000] = '\0';
    line[700] = 'B';
    const tsr_text text = tsr_text_of("t", line);
    (void)diag_error(f->ctx, TSR_ERR_INVALID, (location){&text, 700, 1, false}, "here");
    const char *shown;
    assert_int_equal(
        tsr_diagnostic_format(f->ctx, f->arena, tsr_context_diagnostics(f->ctx), false, &shown),
        TSR_OK);
    const char *code = strchr(shown, '\n') + 1;
    const char *carets = strchr(code, '\n') + 1;
    assert_true(carets - code <= 101);
    assert_int_equal(code[strcspn(carets, "^")], 'B');
}

static void prefix_stands_before_attribute_errors_only(void **state)
{
    fixture *f = *state;
    tsr_text text = tsr_text_of("t", "<[\"a\"=2], device_ids=[0]>");
    text.prefix = "custom op 'sdy.mesh' ";
    const tsr_mesh *mesh;
    assert_int_equal(tsr_mesh_read(f->ctx, f->arena, &text, TSR_READ_PROGRAM, &mesh),
                     TSR_ERR_INVALID);
    expect_error(f, "custom op 'sdy.mesh' total product of axis sizes must match total number of "
                    "device ids, got: 2 != 1");
    text = tsr_text_of("t", "<[\"a\"=2");
    text.prefix = "custom op 'sdy.mesh' ";
    assert_int_equal(tsr_mesh_read(f->ctx, f->arena, &text, TSR_READ_PROGRAM, &mesh),
                     TSR_ERR_SYNTAX);
    expect_error(f, "expected ']'");
}

/* A program that goes on after errors keeps the last ones, and is told how many are gone. */
static void the_oldest_messages_are_dropped(void **state)
{
    fixture *f = *state;
    enum { ERRORS = 5000 };
    char text[32];
    for (int i = 0; i < ERRORS; i++) {
        (void)diag_error(f->ctx, TSR_ERR_INVALID, NO_LOCATION, "error %d", i);
        if (i % 3 == 0) {
            (void)diag_note(f->ctx, NO_LOCATION, "note %d", i);
        }
        if (i == 10 || i == ERRORS - 2) {
            (void)diag_nomem(f->ctx);
        }
    }
    const uint64_t dropped = tsr_context_dropped(f->ctx);
    int64_t next = (int64_t)dropped - 1; /* one of those that are gone was about memory */
    size_t kept = 0;
    for (const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx); d != NULL; d = d->next) {
        kept++;
        if (d->status == TSR_ERR_NOMEM) {
            assert_int_equal(next, ERRORS - 1);
            continue;
        }
        (void)snprintf(text, sizeof text, "error %d", (int)next);
        assert_string_equal(d->text, text);
        assert_int_equal(d->notes != NULL, next % 3 == 0);
        next++;
    }
    assert_int_equal(next, ERRORS);
    assert_int_equal(kept + dropped, ERRORS + 2);
    assert_true(kept >= 1024 && kept <= 2048);
    FILE *stream = tmpfile();
    assert_non_null(stream);
    tsr_context_print(f->ctx, stream);
    rewind(stream);
    char line[80];
    assert_non_null(fgets(line, sizeof line, stream));
    (void)fclose(stream);
    (void)snprintf(text, sizeof text, "%d earlier messages", (int)dropped);
    assert_memory_equal(line, text, strlen(text));
    tsr_context_clear(f->ctx);
    assert_int_equal(tsr_context_dropped(f->ctx), 0);
    assert_null(tsr_context_diagnostics(f->ctx));
}

static void follow_ups_outlive_their_error(void **state)
{
    fixture *f = *state;
    (void)diag_error(f->ctx, TSR_ERR_INVALID, NO_LOCATION, "first");
    for (int i = 0; i < 4000; i++) {
        (void)diag_follow_up(f->ctx, NO_LOCATION, "and %d", i);
        assert_int_equal(diag_note(f->ctx, NO_LOCATION, "note"),
                         i < 2047 ? TSR_ERR_INVALID : TSR_ERR_NOMEM);
    }
}

static void count_message(void *state, const tsr_diagnostic *diagnostic)
{
    (void)diagnostic;
    ++*(int *)state;
}

static void log_hears_every_message(void **state)
{
    fixture *f = *state;
    int heard = 0;
    tsr_context_set_log(f->ctx, count_message, &heard);
    (void)diag_error(f->ctx, TSR_ERR_INVALID, NO_LOCATION, "one");
    (void)diag_note(f->ctx, NO_LOCATION, "two");
    (void)diag_nomem(f->ctx);
    assert_int_equal(heard, 3);
    assert_int_equal(diag_nomem(f->ctx), TSR_ERR_NOMEM);
    assert_int_equal(heard, 3);
}

static void programs_add_errors_of_their_own(void **state)
{
    fixture *f = *state;
    assert_int_equal(tsr_context_error(f->ctx, TSR_ERR_LIMIT, "100% of it"), TSR_ERR_LIMIT);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_string_equal(d->text, "100% of it");
    assert_int_equal(d->severity, TSR_ERROR);
    assert_int_equal(d->line, 0);
    tsr_context_clear(f->ctx);
    assert_int_equal(tsr_context_error(f->ctx, TSR_OK, "fine"), TSR_ERR_INVALID);
    expect_error(f, "tsr_context_error: the status of an error is negative, got: 0 (fine)");
    assert_int_equal(tsr_context_error(f->ctx, TSR_ERR_LIMIT, NULL), TSR_ERR_INVALID);
}

static void missing_marks_are_reported_after_the_last_token(void **state)
{
    fixture *f = *state;
    tsr_text text = tsr_text_of("t", "<[\"a\"=2   // comment\n  , ;");
    const tsr_mesh *mesh;
    assert_int_equal(tsr_mesh_read(f->ctx, f->arena, &text, TSR_READ_PROGRAM, &mesh),
                     TSR_ERR_SYNTAX);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_string_equal(d->text, "unexpected character");
    assert_int_equal(d->line, 2);
    assert_null(d->next);
    tsr_context_clear(f->ctx);
    text = tsr_text_of("t", "<[\"a\"=2   // comment\n  >");
    assert_int_equal(tsr_mesh_read(f->ctx, f->arena, &text, TSR_READ_PROGRAM, &mesh),
                     TSR_ERR_SYNTAX);
    d = tsr_context_diagnostics(f->ctx);
    assert_string_equal(d->text, "expected ']'");
    assert_int_equal(d->line, 1);
    assert_int_equal(d->column, 8);
}

static void strings_are_unescaped(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"a\\22b\\\\\\n\"=2]>");
    assert_string_equal(tsr_mesh_axis_name(mesh, 0), "a\"b\\\n");
    assert_string_equal(mesh_text(f, mesh), "<[\"a\\22b\\\\\\0A\"=2]>");
    const tsr_mesh *none;
    assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, "<[\"a\\q\"=2]>", &none), TSR_ERR_SYNTAX);
    expect_error(f, "unknown escape in string literal");
    assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, "<[\"a\\00b\"=2]>", &none), TSR_ERR_SYNTAX);
    expect_error(f, "a name cannot contain a zero byte");
    assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, "<[\"a=2]>", &none), TSR_ERR_SYNTAX);
    expect_error(f, "expected '\"' in string literal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(locations_have_line_and_column),
        TEST(several_are_collected_with_their_notes),
        TEST(colours_only_when_asked),
        TEST(long_lines_are_cut_around_the_caret),
        TEST(prefix_stands_before_attribute_errors_only),
        TEST(the_oldest_messages_are_dropped),
        TEST(follow_ups_outlive_their_error),
        TEST(log_hears_every_message),
        TEST(programs_add_errors_of_their_own),
        TEST(missing_marks_are_reported_after_the_last_token),
        TEST(strings_are_unescaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
