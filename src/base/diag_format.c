#include <stdio.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/guard.h"

/* The widest source line shown whole; of a longer one, a window around the caret. */
enum { WINDOW = 100 };

typedef struct palette {
    const char *location;
    const char *severity[3]; /* by tsr_severity */
    const char *caret;
    const char *end;
} palette;

static const palette plain = {"", {"", "", ""}, "", ""};
static const palette bright = {
    "\033[1m", {"\033[1;36m", "\033[1;35m", "\033[1;31m"}, "\033[1;32m", "\033[0m"};

/* The part of a source line that is shown: from `start`, `length` bytes. */
typedef struct window {
    size_t start;
    size_t length;
} window;

static window window_of(const char *line, size_t caret)
{
    const size_t length = strlen(line);
    if (length <= WINDOW || caret > length) {
        return (window){0, length};
    }
    size_t start = caret > WINDOW / 2 ? caret - WINDOW / 2 : 0;
    if (start > length - WINDOW) {
        start = length - WINDOW;
    }
    return (window){start, WINDOW};
}

/* Tabs stay tabs in the caret line and other control bytes become blanks, so that columns agree. */
static void source_and_caret(buffer *buf, const tsr_diagnostic *diag, const palette *colours)
{
    const window shown = window_of(diag->source_line, diag->caret);
    for (size_t i = 0; i < shown.length; i++) {
        const char c = diag->source_line[shown.start + i];
        buffer_char(buf, (unsigned char)c < ' ' && c != '\t' ? ' ' : c);
    }
    buffer_char(buf, '\n');
    const size_t caret =
        diag->caret < shown.start + shown.length ? diag->caret : shown.start + shown.length;
    for (size_t i = shown.start; i < caret; i++) {
        const unsigned char c = (unsigned char)diag->source_line[i];
        const bool inside_character = c >= 0x80 && c < 0xC0;
        if (!inside_character) {
            buffer_char(buf, c == '\t' ? '\t' : ' ');
        }
    }
    buffer_string(buf, colours->caret);
    buffer_char(buf, '^');
    for (size_t i = 1; i < diag->width && diag->caret + i < shown.start + shown.length; i++) {
        buffer_char(buf, '~');
    }
    buffer_string(buf, colours->end);
    buffer_char(buf, '\n');
}

static void one_message(buffer *buf, const tsr_diagnostic *diag, const palette *colours)
{
    static const char *const words[] = {"note: ", "warning: ", "error: "};
    buffer_string(buf, colours->location);
    if (diag->line > 0) {
        buffer_format(buf, "%s:%lld:%lld: ", diag->file != NULL ? diag->file : "<text>",
                      (long long)diag->line, (long long)diag->column);
    }
    buffer_string(buf, colours->end);
    buffer_string(buf, colours->severity[diag->severity]);
    buffer_string(buf, words[diag->severity]);
    buffer_string(buf, colours->end);
    buffer_string(buf, diag->text);
    buffer_char(buf, '\n');
    if (diag->line > 0 && diag->source_line != NULL) {
        source_and_caret(buf, diag, colours);
    }
}

tsr_status tsr_diagnostic_format(tsr_context *ctx, tsr_arena *arena,
                                 const tsr_diagnostic *diagnostic, bool colour, const char **out)
{
    GUARD(tsr_diagnostic_format);
    const palette *colours = colour ? &bright : &plain;
    buffer buf = buffer_new(arena);
    one_message(&buf, diagnostic, colours);
    for (const tsr_diagnostic *note = diagnostic->notes; note != NULL; note = note->next) {
        one_message(&buf, note, colours);
    }
    return buffer_finish(ctx, &buf, out);
}
