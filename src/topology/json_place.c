#include "topology/json_place.h"

#include <stdbool.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t json_place_start(const char *text, size_t size, size_t at)
{
    while (at < size && is_space(text[at])) {
        at++;
    }
    return at;
}

/* The end of the string whose opening quote is at an offset. */
static size_t string_end(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++) {
        at += text[at] == '\\';
    }
    return at < size ? at + 1 : size;
}

/* The end of the value at an offset; brackets are counted, not followed. */
static size_t value_end(const char *text, size_t size, size_t at)
{
    size_t depth = 0;
    while (at < size) {
        const char c = text[at];
        const bool closes = c == '}' || c == ']';
        if (depth == 0 && (closes || c == ',' || c == ':' || is_space(c))) {
            return at;
        }
        at = c == '"' ? string_end(text, size, at) : at + 1;
        depth += c == '{' || c == '[';
        depth -= closes;
        if (depth == 0 && (closes || c == '"')) {
            return at;
        }
    }
    return size;
}

size_t json_place_width(const char *text, size_t size, size_t at)
{
    return value_end(text, size, at) - at;
}

/* The start of the next value, past the comma or colon after one that ends at an offset. */
static size_t next_start(const char *text, size_t size, size_t end)
{
    const size_t mark = json_place_start(text, size, end);
    return json_place_start(text, size, mark < size ? mark + 1 : size);
}

void json_place_member(const char *text, size_t size, size_t at, size_t index, size_t *key,
                       size_t *value)
{
    size_t start = json_place_start(text, size, at + 1);
    for (size_t i = 0;; i++) {
        *key = start;
        *value = next_start(text, size, value_end(text, size, start));
        if (i == index) {
            return;
        }
        start = next_start(text, size, value_end(text, size, *value));
    }
}

size_t json_place_element(const char *text, size_t size, size_t at, size_t index)
{
    size_t start = json_place_start(text, size, at + 1);
    for (size_t i = 0; i < index; i++) {
        start = next_start(text, size, value_end(text, size, start));
    }
    return start;
}
