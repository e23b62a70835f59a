/*
 * One run of a sub-command: its context, its arena, and how it fails.
 *
 * Functions that can fail return an exit code, EXIT_FINE on success; the function that fails first
 * has printed the error to stderr.
 */
#ifndef TOOL_SESSION_H
#define TOOL_SESSION_H

#include <tessera/tessera.h>

#include "terminal.h"

struct session {
    tsr_context *ctx;
    tsr_arena *arena;
    bool colour; /* of stderr */
};

int session_open(struct session *session, enum colour_mode colour);
void session_close(struct session *session);

/* Zeroed memory of the arena for `count` objects of `size`. Does not return without memory. */
void *session_alloc(struct session *session, size_t count, size_t size);

/* A text of the arena. */
const char *session_format(struct session *session, const char *format, ...) TSR_PRINTF(2, 3);

/* Prints the messages of the library to stderr and gives the exit code for its status. */
int session_fail(struct session *session, tsr_status status);

/* An error at a location of a text, printed as the library prints its own. EXIT_BAD_INPUT. */
int session_fail_at(struct session *session, const tsr_text *text, size_t at, size_t width,
                    const char *message);

/* `tessera: ` and a message on stderr. EXIT_BAD_INPUT. */
int complain(const char *format, ...) TSR_PRINTF(1, 2);

#endif
