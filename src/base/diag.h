/* Making diagnostics. Every function returns a status, so that a failure is one `return`. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <tessera/context.h>

/*
 * Where a message points: `width` bytes of a text from `at`. A NULL text is not a location. `bare`
 * leaves out the text's prefix, as messages about punctuation do.
 */
typedef struct location {
    const tsr_text *text;
    size_t at;
    size_t width;
    bool bare;
} location;

#define NO_LOCATION ((location){0})

/* Adds an error and returns `status`, or TSR_ERR_NOMEM when there was no memory for it. */
tsr_status diag_error(tsr_context *ctx, tsr_status status, location where, const char *format, ...)
    TSR_PRINTF(4, 5);

/* Adds an error that says what the last one led to; returns that one's status. */
tsr_status diag_follow_up(tsr_context *ctx, location where, const char *format, ...)
    TSR_PRINTF(3, 4);

/* Adds a warning; returns TSR_OK, or TSR_ERR_NOMEM when there was no memory for it. */
tsr_status diag_warning(tsr_context *ctx, location where, const char *format, ...) TSR_PRINTF(3, 4);

/* Adds a note to the last error that is not a follow-up; returns that one's status. */
tsr_status diag_note(tsr_context *ctx, location where, const char *format, ...) TSR_PRINTF(3, 4);

/* How many messages there were since the last clear, those that were dropped too. */
uint64_t diag_count(const tsr_context *ctx);

/* Marks all messages but the first `before` as printed by another process. */
void diag_mark_elsewhere(tsr_context *ctx, uint64_t before);

/* Adds the message for exhausted memory, which needs none, and returns TSR_ERR_NOMEM. */
tsr_status diag_nomem(tsr_context *ctx);

/* The static analyzer cannot see that these return failures, and would follow impossible paths. */
#ifdef __clang_analyzer__
#define diag_error(...) ((void)diag_error(__VA_ARGS__), TSR_ERR_INVALID)
#define diag_follow_up(...) ((void)diag_follow_up(__VA_ARGS__), TSR_ERR_INVALID)
#define diag_note(...) ((void)diag_note(__VA_ARGS__), TSR_ERR_INVALID)
#define diag_nomem(...) ((void)diag_nomem(__VA_ARGS__), TSR_ERR_NOMEM)
#endif

#endif
