/* Making diagnostics. Every function returns a status, so that a failure is one `return`. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <tessera/context.h>

/*
 * Where a message points: `width` bytes of a text from `at`. A NULL text is no place. `bare` leaves
 * out the text's prefix, as messages about punctuation do.
 */
typedef struct location {
    const tsr_text *text;
    size_t at;
    size_t width;
    bool bare;
} location;

#define NO_PLACE ((location){0})

/* Adds an error and returns `status`, or TSR_ERR_NOMEM when there was no memory for it. */
tsr_status diag_error(tsr_context *ctx, tsr_status status, location where, const char *format, ...)
    TSR_PRINTF(4, 5);

/* Adds an error that says what the last one led to; returns that one's status. */
tsr_status diag_follow_up(tsr_context *ctx, location where, const char *format, ...)
    TSR_PRINTF(3, 4);

/* Adds a note to the last error that is no follow-up; returns that one's status. */
tsr_status diag_note(tsr_context *ctx, location where, const char *format, ...) TSR_PRINTF(3, 4);

/* Adds the message for exhausted memory, which needs none, and returns TSR_ERR_NOMEM. */
tsr_status diag_nomem(tsr_context *ctx);

#endif
