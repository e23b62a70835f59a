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

static void skip_spaces(const char **text)
{
    while (isspace((unsigned char)**text)) {
        *text += 1;
    }
}

/* Reads one extent, `8` or `?`. */
static bool read_extent(const char **text, int64_t *out)
{
    skip_spaces(text);
    if (**text == '?') {
        *text += 1;
        *out = TSR_UNKNOWN;
        return true;
    }
    return read_number(text, out);
}

/* Moves the text past an `x` or a comma. */
static bool skip_separator(const char **text)
{
    skip_spaces(text);
    if (**text != 'x' && **text != ',') {
        return false;
    }
    *text += 1;
    skip_spaces(text);
    return true;
}

/* The text without spaces around it and without `tensor<` .. `>`; the arena's. */
static const char *strip_shape(struct session *session, const char *argument)
{
    static const char prefix[] = "tensor<";
    skip_spaces(&argument);
    size_t length = strlen(argument);
    while (length > 0 && isspace((unsigned char)argument[length - 1])) {
        length--;
    }
    size_t skip = strlen(prefix);
    if (length > skip && strncmp(argument, prefix, skip) == 0 && argument[length - 1] == '>') {
        argument += skip;
        length -= skip + 1;
    }
    return session_format(session, "%.*s", (int)length, argument);
}

/* Reads an element type; the library's error, else NULL. */
static const char *read_dtype(struct session *session, const char *name, struct shape *out)
{
    if (tsr_dtype_parse(session->ctx, name, &out->dtype) == TSR_OK) {
        out->has_dtype = true;
        return NULL;
    }
    const tsr_diagnostic *diagnostic = tsr_context_diagnostics(session->ctx);
    const tsr_diagnostic *note = diagnostic->notes;
    return session_format(session, "%s%s%s", diagnostic->text, note != NULL ? "; " : "",
                          note != NULL ? note->text : "");
}

const char *shape_parse(struct session *session, const char *argument, struct shape *out)
{
    static const char problem[] =
        "this is no shape: write extents as 4x8, a type as 4x8xf32, or scalar";
    const char *text = strip_shape(session, argument);
    *out = (struct shape){.extents = session_alloc(session, strlen(text) + 1, sizeof(int64_t))};
    if (text[0] == '\0' || strcmp(text, "scalar") == 0) {
        return NULL;
    }
    while (isdigit((unsigned char)*text) || *text == '?') {
        if (!read_extent(&text, &out->extents[out->rank])) {
            return session_format(session, "extent %zu does not fit into 63 bits", out->rank);
        }
        out->rank++;
        if (*text == '\0') {
            return NULL;
        }
        if (!skip_separator(&text)) {
            return problem;
        }
    }
    bool is_name = isalpha((unsigned char)*text) && *text != 'x';
    return is_name ? read_dtype(session, text, out) : problem;
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
        return complain("--devices '%s' is no range: write A:B for the places A to B-1 of the mesh",
                        argument);
    }
    if (*first > *end || *end > limit) {
        return complain("--devices '%s' is not within the mesh, which has the places 0:%lld",
                        argument, (long long)limit);
    }
    return EXIT_FINE;
}
