/* Text in UTF-8 by characters; tsr_utf8_next reads one. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <tessera/context.h>

/* How many characters a text has. */
size_t utf8_length(const char *text);

/* How many bytes the first `count` characters take, or all of them when there are fewer. */
size_t utf8_prefix(const char *text, size_t count);

#endif
