#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"

buffer buffer_new(tsr_arena *arena)
{
    return (buffer){.arena = arena};
}

/* Makes room for `extra` bytes and a terminator. */
static bool reserve(buffer *buf, size_t extra)
{
    if (buf->failed) {
        return false;
    }
    if (buf->capacity - buf->size > extra) {
        return true;
    }
    if (extra > SIZE_MAX / 4 || buf->size > SIZE_MAX / 4) {
        buf->failed = true;
        return false;
    }
    const size_t doubled = buf->capacity < 128 ? 128 : buf->capacity * 2;
    const size_t needed = buf->size + extra + 1;
    const size_t capacity = doubled > needed ? doubled : needed;
    char *data = tsr_arena_alloc(buf->arena, capacity);
    if (data == NULL) {
        buf->failed = true;
        return false;
    }
    if (buf->size > 0) {
        memcpy(data, buf->data, buf->size);
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void buffer_bytes(buffer *buf, const char *bytes, size_t count)
{
    if (reserve(buf, count)) {
        memcpy(buf->data + buf->size, bytes, count);
        buf->size += count;
    }
}

void buffer_string(buffer *buf, const char *string)
{
    buffer_bytes(buf, string, strlen(string));
}

void buffer_char(buffer *buf, char c)
{
    buffer_bytes(buf, &c, 1);
}

void buffer_int(buffer *buf, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    buffer_bytes(buf, digits + at, sizeof digits - at);
}

void buffer_format(buffer *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(buf, (size_t)length)) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(buf->data + buf->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buf->size += (size_t)length;
}

void buffer_quoted_bytes(buffer *buf, const char *bytes, size_t count)
{
    static const char hex[] = "0123456789ABCDEF";
    buffer_char(buf, '"');
    for (const char *c = bytes; c < bytes + count; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '\\') {
            buffer_bytes(buf, "\\\\", 2);
        } else if (byte >= ' ' && byte < 0x7f && byte != '"') {
            buffer_char(buf, *c);
        } else {
            const char escape[] = {'\\', hex[byte >> 4], hex[byte & 15]};
            buffer_bytes(buf, escape, sizeof escape);
        }
    }
    buffer_char(buf, '"');
}

void buffer_quoted(buffer *buf, const char *string)
{
    buffer_quoted_bytes(buf, string, strlen(string));
}

void buffer_ints(buffer *buf, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_bytes(buf, ", ", 2);
        }
        buffer_int(buf, values[i]);
    }
}

tsr_status buffer_finish(tsr_context *ctx, buffer *buf, const char **out)
{
    if (!reserve(buf, 0)) {
        return diag_nomem(ctx);
    }
    buf->data[buf->size] = '\0';
    *out = buf->data;
    return TSR_OK;
}
