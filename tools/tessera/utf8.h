/* Text in UTF-8, as it is written into JSON. */
#ifndef TOOL_UTF8_H
#define TOOL_UTF8_H

#include <stdio.h>

/* A quoted JSON string; a byte that is not UTF-8 becomes U+FFFD. */
void write_json_string(FILE *out, const char *text);

#endif
