#include "program_input.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "progress.h"

/* All of standard input, in the arena. */
static int read_standard_input(struct session *session, tsr_text *out)
{
    size_t size = 0;
    size_t room = 1 << 16;
    char *data = malloc(room);
    while (data != NULL) {
        const size_t got = fread(data + size, 1, room - size, stdin);
        size += got;
        if (got == 0) {
            break;
        }
        if (size == room) {
            room *= 2;
            char *grown = realloc(data, room);
            if (grown == NULL) {
                free(data);
            }
            data = grown;
        }
    }
    if (data == NULL || ferror(stdin)) {
        free(data);
        return complain("cannot read standard input");
    }
    char *copy = session_alloc(session, size + 1, 1);
    memcpy(copy, data, size);
    free(data);
    *out = (tsr_text){.name = "<stdin>", .data = copy, .size = size};
    return EXIT_FINE;
}

int program_read(struct session *session, const char *file, tsr_program **out)
{
    tsr_text text;
    tsr_status status = TSR_OK;
    progress_stage(session_format(session, "reading %s", file));
    if (strcmp(file, "-") != 0) {
        status = tsr_program_load(session->ctx, file, TSR_PROGRAM_ALLOW_UNREGISTERED, out);
        return status < 0 ? session_fail(session, status) : EXIT_FINE;
    }
    const int code = read_standard_input(session, &text);
    if (code != EXIT_FINE) {
        return code;
    }
    status = tsr_program_read(session->ctx, &text, TSR_PROGRAM_ALLOW_UNREGISTERED, out);
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
}

void print_warnings(struct session *session)
{
    for (const tsr_diagnostic *d = tsr_context_diagnostics(session->ctx); d != NULL; d = d->next) {
        const char *text = NULL;
        if (d->severity == TSR_WARNING && tsr_diagnostic_format(session->ctx, session->arena, d,
                                                                session->colour, &text) == TSR_OK) {
            fputs(text, stderr);
        }
    }
}
