#include "base/utf8.h"

#include <string.h>

#include "base/guard.h"

static const uint32_t replacement = 0xFFFD;

/* How many bytes a character takes by its first one, and the bits that byte gives; 0 for none. */
static size_t sequence_length(unsigned char first, uint32_t *bits)
{
    static const struct {
        unsigned char mask, value;
        size_t length;
    } rows[] = {{0x80, 0x00, 1}, {0xE0, 0xC0, 2}, {0xF0, 0xE0, 3}, {0xF8, 0xF0, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((first & rows[i].mask) == rows[i].value) {
            *bits = first & (unsigned char)~rows[i].mask;
            return rows[i].length;
        }
    }
    return 0;
}

/* Whether a character is one, and needs that many bytes. */
static bool is_canonical(uint32_t character, size_t length)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    return character >= smallest[length] && character <= 0x10FFFF &&
           (character < 0xD800 || character > 0xDFFF);
}

size_t tsr_utf8_next(const char *text, size_t size, uint32_t *character)
{
    GUARD(tsr_utf8_next);
    if (size == 0) {
        return 0;
    }
    uint32_t value = 0;
    const size_t length = sequence_length((unsigned char)text[0], &value);
    *character = replacement;
    if (length == 0 || length > size) {
        return 1;
    }
    for (size_t i = 1; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xC0) != 0x80) {
            return 1;
        }
        value = value << 6 | (byte & 0x3F);
    }
    if (!is_canonical(value, length)) {
        return 1;
    }
    *character = value;
    return length;
}

size_t utf8_length(const char *text)
{
    const size_t size = strlen(text);
    size_t count = 0;
    uint32_t character = 0;
    for (size_t at = 0; at < size; count++) {
        at += tsr_utf8_next(text + at, size - at, &character);
    }
    return count;
}

size_t utf8_prefix(const char *text, size_t count)
{
    const size_t size = strlen(text);
    size_t at = 0;
    uint32_t character = 0;
    while (at < size && count-- > 0) {
        at += tsr_utf8_next(text + at, size - at, &character);
    }
    return at;
}
