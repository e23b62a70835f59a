/* Text in UTF-8: its width, and how it is written into JSON and XML. */
#ifndef TOOL_UTF8_H
#define TOOL_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The character at the start of a text of `size` > 0 bytes; returns how many bytes it takes. A byte
 * that is not UTF-8 is U+FFFD and takes one.
 */
size_t utf8_next(const char *text, size_t size, uint32_t *character);

/* How many characters a text has. */
size_t utf8_length(const char *text);

/* How many bytes the first `count` characters take, or all of them when there are fewer. */
size_t utf8_prefix(const char *text, size_t count);

/* A quoted JSON string. */
void write_json_string(FILE *out, const char *text);

/* Text between tags or in an attribute; what XML cannot hold becomes U+FFFD. */
void write_xml_text(FILE *out, const char *text);

#endif
