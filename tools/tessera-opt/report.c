#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("tessera-opt: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

const char *severity_name(tsr_severity severity)
{
    static const char *const names[] = {
        [TSR_NOTE] = "note", [TSR_WARNING] = "warning", [TSR_ERROR] = "error"};
    return names[severity];
}

/* Whether stderr is a terminal that shows colours; an empty NO_COLOR does not refuse them. */
static bool has_colours(void)
{
    const char *terminal = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    const bool refused = no_color != NULL && no_color[0] != '\0';
    const bool dumb = terminal != NULL && strcmp(terminal, "dumb") == 0;
    return !refused && !dumb && isatty(STDERR_FILENO) == 1;
}

/* One message with its source line and caret. */
static void print_with_source(tsr_context *ctx, const tsr_diagnostic *diagnostic)
{
    tsr_diagnostic alone = *diagnostic;
    tsr_arena *arena = NULL;
    const char *text = NULL;
    alone.notes = NULL;
    if (tsr_arena_create(ctx, &arena) == TSR_OK &&
        tsr_diagnostic_format(ctx, arena, &alone, has_colours(), &text) == TSR_OK) {
        fputs(text, stderr);
    } else {
        fprintf(stderr, "%s:%lld:%lld: %s: %s\n", diagnostic->file, (long long)diagnostic->line,
                (long long)diagnostic->column, severity_name(diagnostic->severity),
                diagnostic->text);
    }
    if (arena != NULL) {
        tsr_arena_destroy(arena);
    }
}

static bool same_place(const tsr_diagnostic *a, const tsr_diagnostic *b)
{
    return a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0;
}

/* A note without a place is advice; one at the place of its error has no source line again. */
static void print_note(tsr_context *ctx, const tsr_diagnostic *note, const tsr_diagnostic *of)
{
    if (note->line == 0) {
        fprintf(stderr, "note: %s\n", note->text);
    } else if (of->line > 0 && same_place(note, of)) {
        fprintf(stderr, "%s:%lld:%lld: note: %s\n", note->file, (long long)note->line,
                (long long)note->column, note->text);
    } else {
        print_with_source(ctx, note);
    }
}

void report_print(tsr_context *ctx, const tsr_diagnostic *diagnostic)
{
    fflush(stdout);
    if (diagnostic->line == 0) {
        fprintf(stderr, "<unknown>:0: %s: %s\n", severity_name(diagnostic->severity),
                diagnostic->text);
    } else {
        print_with_source(ctx, diagnostic);
    }
    for (const tsr_diagnostic *note = diagnostic->notes; note != NULL; note = note->next) {
        print_note(ctx, note, diagnostic);
    }
}

void report_print_all(tsr_context *ctx)
{
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        report_print(ctx, d);
    }
}
