/*
 * Text that grows in an arena. Appending never fails visibly: when memory runs out the buffer
 * remembers it and buffer_finish says so.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <tessera/context.h>

typedef struct buffer {
    tsr_arena *arena;
    char *data;
    size_t size;
    size_t capacity;
    bool failed;
} buffer;

buffer buffer_new(tsr_arena *arena);
void buffer_bytes(buffer *buf, const char *bytes, size_t count);
void buffer_string(buffer *buf, const char *string);
void buffer_char(buffer *buf, char c);
void buffer_int(buffer *buf, int64_t value);
void buffer_format(buffer *buf, const char *format, ...) TSR_PRINTF(2, 3);
/* In double quotes, escaped as programs are: `\` as `\\`, `"` and unprintables as `\XX`. */
void buffer_quoted(buffer *buf, const char *string);
void buffer_quoted_bytes(buffer *buf, const char *bytes, size_t count);
/* `1, 2, 3` */
void buffer_ints(buffer *buf, const int64_t *values, size_t count);

/* The zero-terminated text, allocated in the arena; a diagnostic and TSR_ERR_NOMEM if memory ran
 * out. */
tsr_status buffer_finish(tsr_context *ctx, buffer *buf, const char **out);

#endif
