#include "arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* Reads a decimal number >= 0 and moves the text past it; false when there is none that fits. */
static bool read_number(const char **text, int64_t *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**text)) {
        return false;
    }
    errno = 0;
    long long value = strtoll(*text, &end, 10);
    if (errno != 0) {
        return false;
    }
    *out = value;
    *text = end;
    return true;
}

bool number_parse(const char *text, int64_t *out)
{
    int64_t value = 0;
    const bool good = read_number(&text, &value) && *text == '\0';
    *out = good ? value : *out;
    return good;
}

bool bytes_parse(const char *text, int64_t *out)
{
    static const char suffixes[] = "KMG";
    int64_t value = 0;
    if (!read_number(&text, &value)) {
        return false;
    }
    const char *unit = *text != '\0' ? strchr(suffixes, *text) : NULL;
    for (const char *u = suffixes; unit != NULL && u <= unit; u++) {
        if (value > INT64_MAX / 1024) {
            return false;
        }
        value *= 1024;
    }
    const bool good = *(unit != NULL ? text + 1 : text) == '\0';
    *out = good ? value : *out;
    return good;
}

bool number_parse_unsigned(const char *text, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    const bool good = end != NULL && *end == '\0' && errno == 0;
    *out = good ? value : *out;
    return good;
}

const char *shape_parse(struct session *session, const char *argument, tsr_shape *out)
{
    if (tsr_shape_parse(session->ctx, session->arena, argument, out) == TSR_OK) {
        return NULL;
    }
    const tsr_diagnostic *diagnostic = tsr_context_diagnostics(session->ctx);
    const tsr_diagnostic *note = diagnostic->notes;
    const char *text = session_format(session, "%s%s%s", diagnostic->text, note != NULL ? "; " : "",
                                      note != NULL ? note->text : "");
    tsr_context_clear(session->ctx);
    return text;
}

int range_read(const char *argument, int64_t limit, int64_t *first, int64_t *end)
{
    const char *text = argument;
    *first = 0;
    *end = limit;
    bool good = *text == ':' || read_number(&text, first);
    good = good && *text++ == ':';
    good = good && (*text == '\0' || read_number(&text, end));
    if (!good || *text != '\0') {
        return complain(
            "--devices '%s' is not a range: write A:B for the places A to B-1 of the mesh",
            argument);
    }
    if (*first > *end || *end > limit) {
        return complain("--devices '%s' is out of range: the mesh has the places 0:%lld", argument,
                        (long long)limit);
    }
    return EXIT_FINE;
}
