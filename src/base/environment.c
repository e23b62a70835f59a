#include "base/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

/* What a variable says; NULL when that is nothing. */
static const char *value_of(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

tsr_status environment_flag(tsr_context *ctx, const char *name, bool *out)
{
    const char *value = value_of(name);
    *out = value != NULL && strcmp(value, "1") == 0;
    if (value == NULL || *out || strcmp(value, "0") == 0) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "the variable %s must be 0 or 1, got: %s",
                      name, value);
}

tsr_status environment_count(tsr_context *ctx, const char *name, int64_t *out)
{
    const char *value = value_of(name);
    char *end = NULL;
    *out = 0;
    if (value == NULL) {
        return TSR_OK;
    }
    errno = 0;
    const long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number <= 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the variable %s must be a number above 0, got: %s", name, value);
    }
    *out = number;
    return TSR_OK;
}

tsr_status environment_word(tsr_context *ctx, const char *name, const char *const *words, int *out)
{
    const char *value = value_of(name);
    char list[128] = "";
    size_t size = 0;
    *out = -1;
    for (int i = 0; value != NULL && words[i] != NULL; i++) {
        if (strcmp(value, words[i]) == 0) {
            *out = i;
            return TSR_OK;
        }
        size +=
            (size_t)snprintf(list + size, sizeof list - size, "%s%s", i > 0 ? ", " : "", words[i]);
        size = size < sizeof list ? size : sizeof list - 1;
    }
    return value == NULL
               ? TSR_OK
               : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "the variable %s must be one of %s, got: %s", name, list, value);
}
