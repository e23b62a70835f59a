#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "progress.h"

int complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    progress_stage(NULL);
    fflush(stdout);
    fputs("tessera: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return EXIT_BAD_INPUT;
}

int session_open(struct session *session, enum colour_mode colour)
{
    *session = (struct session){.colour = terminal_colour(colour, stderr)};
    if (tsr_context_create(NULL, &session->ctx) != TSR_OK) {
        return complain("out of memory");
    }
    if (tsr_arena_create(session->ctx, &session->arena) != TSR_OK) {
        session_close(session);
        return complain("out of memory");
    }
    return EXIT_FINE;
}

void session_close(struct session *session)
{
    progress_stage(NULL);
    if (session->arena != NULL) {
        tsr_arena_destroy(session->arena);
    }
    tsr_context_destroy(session->ctx);
    *session = (struct session){0};
}

/* Ends the run; frees what it holds first. */
static _Noreturn void end_without_memory(struct session *session)
{
    session_close(session);
    exit(complain("out of memory"));
}

void *session_alloc(struct session *session, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        end_without_memory(session);
    }
    void *memory = tsr_arena_alloc(session->arena, bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        end_without_memory(session);
    }
    return memset(memory, 0, bytes);
}

const char *session_format(struct session *session, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    size_t size = length < 0 ? 1 : (size_t)length + 1;
    char *text = session_alloc(session, size, 1);
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return text;
}

static void print_diagnostic(struct session *session, const tsr_diagnostic *diagnostic)
{
    const char *text = NULL;
    if (tsr_diagnostic_format(session->ctx, session->arena, diagnostic, session->colour, &text) !=
        TSR_OK) {
        text = diagnostic->text;
    }
    fputs(text, stderr);
    size_t length = strlen(text);
    if (length == 0 || text[length - 1] != '\n') {
        fputc('\n', stderr);
    }
}

int session_fail(struct session *session, tsr_status status)
{
    bool said = false;
    progress_stage(NULL);
    fflush(stdout);
    for (const tsr_diagnostic *diagnostic = tsr_context_diagnostics(session->ctx);
         diagnostic != NULL; diagnostic = diagnostic->next) {
        if (!diagnostic->follow_up) {
            print_diagnostic(session, diagnostic);
            said = true;
        }
    }
    if (!said) {
        complain("%s", status == TSR_ERR_NOMEM ? "out of memory" : tsr_status_name(status));
    }
    return status == TSR_ERR_UNSUPPORTED ? EXIT_NOT_SUPPORTED : EXIT_BAD_INPUT;
}

/* Where the line around an offset starts, and which line and column the offset is at. */
static size_t line_around(const tsr_text *text, size_t at, int64_t *line, int64_t *column)
{
    size_t start = 0;
    *line = 1;
    for (size_t i = 0; i < at; i++) {
        if (text->data[i] == '\n') {
            start = i + 1;
            *line += 1;
        }
    }
    *column = (int64_t)(at - start) + 1;
    return start;
}

int session_fail_at(struct session *session, const tsr_text *text, size_t at, size_t width,
                    const char *message)
{
    tsr_diagnostic diagnostic = {.severity = TSR_ERROR,
                                 .status = TSR_ERR_SYNTAX,
                                 .text = message,
                                 .file = text->name,
                                 .width = width};
    size_t start = line_around(text, at, &diagnostic.line, &diagnostic.column);
    size_t end = start;
    while (end < text->size && text->data[end] != '\n') {
        end++;
    }
    diagnostic.source_line =
        session_format(session, "%.*s", (int)(end - start), text->data + start);
    diagnostic.caret = at - start;
    fflush(stdout);
    print_diagnostic(session, &diagnostic);
    return EXIT_BAD_INPUT;
}
