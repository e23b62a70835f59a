#include "terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void terminal_init(void)
{
    setlocale(LC_CTYPE, "");
}

bool colour_mode_parse(const char *name, enum colour_mode *out)
{
    static const char *const names[] = {
        [COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};
    for (int mode = COLOUR_AUTO; mode <= COLOUR_NEVER; mode++) {
        if (strcmp(names[mode], name) == 0) {
            *out = (enum colour_mode)mode;
            return true;
        }
    }
    return false;
}

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return term != NULL && strcmp(term, "dumb") == 0;
}

bool terminal_colour(enum colour_mode mode, FILE *stream)
{
    if (mode != COLOUR_AUTO) {
        return mode == COLOUR_ALWAYS;
    }
    const char *no_color = getenv("NO_COLOR");
    bool refused = no_color != NULL && no_color[0] != '\0';
    return !refused && !is_dumb() && isatty(fileno(stream)) == 1;
}

bool terminal_unicode(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 && !is_dumb();
}
