/* What the terminal can show: colours and characters beyond ASCII. */
#ifndef TOOL_TERMINAL_H
#define TOOL_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum colour_mode { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* No line of a table or picture is longer than this. */
enum { TERMINAL_WIDTH = 80 };

/* Takes the character set from the environment. Call it once, first. */
void terminal_init(void);

/* Reads "auto", "always" or "never"; false for anything else. */
bool colour_mode_parse(const char *name, enum colour_mode *out);

/* Whether to colour what goes to a stream: a terminal, unless NO_COLOR or the mode says otherwise.
 */
bool terminal_colour(enum colour_mode mode, FILE *stream);

/* Whether box characters can be shown: a UTF-8 locale and no dumb terminal. */
bool terminal_unicode(void);

#endif
