/* Messages to a stream: what a program does with them most often. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/guard.h"

static bool wants_colour(FILE *stream)
{
    const char *refused = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return (refused == NULL || refused[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0) && isatty(fileno(stream)) == 1;
}

static void write_text(FILE *stream, const char *text)
{
    const size_t length = strlen(text);
    (void)!fwrite(text, 1, length, stream);
    if (length == 0 || text[length - 1] != '\n') {
        (void)!fwrite("\n", 1, 1, stream);
    }
}

/* Without memory for the whole message, its text alone. */
void tsr_context_print(tsr_context *ctx, FILE *stream)
{
    GUARD(tsr_context_print);
    const bool colour = wants_colour(stream);
    tsr_arena *arena = NULL;
    const tsr_diagnostic *first = tsr_context_diagnostics(ctx);
    const bool has_arena = first != NULL && tsr_arena_create(ctx, &arena) == TSR_OK;
    if (tsr_context_dropped(ctx) > 0) {
        char dropped[64];
        (void)snprintf(dropped, sizeof dropped, "%" PRIu64 " earlier messages were dropped",
                       tsr_context_dropped(ctx));
        write_text(stream, dropped);
    }
    for (const tsr_diagnostic *d = first; d != NULL; d = d->next) {
        const char *text = d->text;
        if (d->follow_up || d->elsewhere) {
            continue;
        }
        if (has_arena && tsr_diagnostic_format(ctx, arena, d, colour, &text) < 0) {
            text = d->text;
        }
        write_text(stream, text);
    }
    if (has_arena) {
        tsr_arena_destroy(arena);
    }
    (void)fflush(stream);
}
