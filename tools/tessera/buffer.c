#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Makes room for so many bytes and a terminating zero. */
static void reserve(struct buffer *buffer, size_t more)
{
    size_t wanted = buffer->size + more + 1;
    if (wanted <= buffer->capacity) {
        return;
    }
    size_t capacity = wanted < 64 ? 64 : 2 * wanted;
    char *data = session_alloc(buffer->session, capacity, 1);
    if (buffer->size > 0) {
        memcpy(data, buffer->data, buffer->size);
    }
    buffer->data = data;
    buffer->capacity = capacity;
}

void buffer_add(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    reserve(buffer, length < 0 ? 0 : (size_t)length);
    va_start(arguments, format);
    vsnprintf(buffer->data + buffer->size, buffer->capacity - buffer->size, format, arguments);
    va_end(arguments);
    buffer->size += length < 0 ? 0 : (size_t)length;
}
