/* A text that grows in the arena. */
#ifndef TOOL_BUFFER_H
#define TOOL_BUFFER_H

#include "session.h"

/* Starts as {.session = session}. `data` is the text, zero-terminated; NULL before anything is
 * added. */
struct buffer {
    struct session *session;
    char *data;
    size_t size;
    size_t capacity;
};

/* Appends to a buffer. */
void buffer_add(struct buffer *buffer, const char *format, ...) TSR_PRINTF(2, 3);

#endif
