#include "utf8.h"

#include <string.h>

#include <tessera/context.h>

static const uint32_t replacement = 0xFFFD;

static void write_json_character(FILE *out, const char *bytes, size_t length, uint32_t character)
{
    if (character == '"' || character == '\\') {
        fprintf(out, "\\%c", (int)character);
    } else if (character < 0x20 || character == 0x7F || character == replacement) {
        fprintf(out, "\\u%04x", (unsigned)character);
    } else {
        fwrite(bytes, 1, length, out);
    }
}

void write_json_string(FILE *out, const char *text)
{
    size_t size = strlen(text);
    uint32_t character = 0;
    fputc('"', out);
    for (size_t at = 0; at < size;) {
        size_t length = tsr_utf8_next(text + at, size - at, &character);
        write_json_character(out, text + at, length, character);
        at += length;
    }
    fputc('"', out);
}
