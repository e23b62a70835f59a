#include "mesh_name.h"

#include <string.h>

#include "buffer.h"

#define NAME_START "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static const char blanks[] = " \t\r\n";

/* How many bytes of a text are a bare id. */
static size_t bare_length(const char *text)
{
    return text[0] != '\0' && strchr(NAME_START, text[0]) != NULL
               ? strspn(text, NAME_START "0123456789$.")
               : 0;
}

/* How many bytes of a text that starts with a quote are a string; 0 when it is not closed. */
static size_t string_length(const char *text)
{
    size_t at = 1;
    while (text[at] != '\0' && text[at] != '"') {
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    }
    return text[at] == '"' ? at + 1 : 0;
}

const char *mesh_name_format(struct session *session, const char *name)
{
    struct buffer buffer = {.session = session};
    size_t bare = bare_length(name);
    if (bare > 0 && name[bare] == '\0') {
        return name;
    }
    buffer_add(&buffer, "\"");
    for (; *name != '\0'; name++) {
        unsigned char byte = (unsigned char)*name;
        if (byte == '\\') {
            buffer_add(&buffer, "\\\\");
        } else if (byte >= ' ' && byte < 0x7F && byte != '"') {
            buffer_add(&buffer, "%c", byte);
        } else {
            buffer_add(&buffer, "\\%02X", byte);
        }
    }
    buffer_add(&buffer, "\"");
    return buffer.data;
}

size_t mesh_name_end(const char *text)
{
    static const char word[] = "sdy.mesh";
    const char *at = text + strspn(text, blanks);
    if (strncmp(at, word, strlen(word)) == 0) {
        at += strlen(word);
        at += strspn(at, blanks);
    }
    if (*at++ != '@') {
        return 0;
    }
    size_t length = *at == '"' ? string_length(at) : bare_length(at);
    at += length;
    at += strspn(at, blanks);
    return length > 0 && *at == '=' ? (size_t)(at + 1 - text) : 0;
}
