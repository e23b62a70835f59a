#include "base/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

/* ---- inside structs ---- */

/* Puts a text before the place. What does not fit is cut: places are short. */
static void put_before(guard_report *report, const char *text)
{
    char place[sizeof report->place];
    const int length = snprintf(place, sizeof place, "%s%s", text, report->place);
    if (length > 0) {
        memcpy(report->place, place, sizeof place);
    }
}

static bool note(guard_report *report, const char *field, const char *kind, int64_t value)
{
    if (report != NULL) {
        *report = (guard_report){.kind = kind, .value = value};
        put_before(report, field);
    }
    return false;
}

bool guard_field_null(guard_report *report, const char *field)
{
    return note(report, field, NULL, 0);
}

bool guard_field_enum(guard_report *report, const char *field, const char *kind, int64_t value)
{
    return note(report, field, kind, value);
}

bool guard_element_null(guard_report *report, const char *field, size_t index)
{
    char place[64];
    (void)snprintf(place, sizeof place, "%s[%zu]", field, index);
    return note(report, place, NULL, 0);
}

bool guard_within(guard_report *report, const char *outer)
{
    if (report != NULL) {
        put_before(report, outer);
    }
    return false;
}

bool guard_within_element(guard_report *report, const char *outer, size_t index)
{
    char place[64];
    (void)snprintf(place, sizeof place, "%s[%zu].", outer, index);
    return guard_within(report, place);
}

/* ---- messages ---- */

tsr_status guard_null(tsr_context *ctx, const char *function, const char *argument)
{
    return ctx == NULL ? TSR_ERR_INVALID
                       : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                    "%s: '%s' is NULL, which its prototype does not allow",
                                    function, argument);
}

tsr_status guard_array(tsr_context *ctx, const char *function, const char *argument, uint64_t count)
{
    return ctx == NULL ? TSR_ERR_INVALID
                       : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                    "%s: '%s' is NULL where %" PRIu64 " elements are to be",
                                    function, argument, count);
}

tsr_status guard_enum(tsr_context *ctx, const char *function, const char *argument,
                      const char *kind, int64_t value)
{
    return ctx == NULL ? TSR_ERR_INVALID
                       : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                    "%s: '%s' is %" PRId64 ", which is not a value of %s", function,
                                    argument, value, kind);
}

tsr_status guard_element(tsr_context *ctx, const char *function, const char *argument,
                         tsr_tensor *const *list, size_t count)
{
    size_t at = 0;
    while (at < count && list[at] != NULL) {
        at++;
    }
    char place[64];
    (void)snprintf(place, sizeof place, "%s[%zu]", argument, at);
    return guard_null(ctx, function, place);
}

tsr_status guard_rank(tsr_context *ctx, const char *function, size_t rank)
{
    return ctx == NULL
               ? TSR_ERR_INVALID
               : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "%s: 'rank' is %zu; the maximum is %d", function, rank, GUARD_MAX_RANK);
}

static tsr_status refuse(tsr_context *ctx, const char *function, const guard_report *report)
{
    return report->kind != NULL
               ? guard_enum(ctx, function, report->place, report->kind, report->value)
               : guard_null(ctx, function, report->place);
}

tsr_status guard_struct(tsr_context *ctx, const char *function, const char *argument,
                        guard_check check, const void *value)
{
    guard_report report = {0};
    (void)check(&report, value);
    put_before(&report, argument);
    return refuse(ctx, function, &report);
}

tsr_status guard_structs(tsr_context *ctx, const char *function, const char *argument,
                         guard_check check, const void *list, size_t stride, size_t count)
{
    guard_report report = {0};
    const char *element = list;
    for (size_t i = 0; i < count; i++) {
        if (!check(&report, element + i * stride)) {
            (void)guard_within_element(&report, argument, i);
            break;
        }
    }
    return refuse(ctx, function, &report);
}

bool guard_has_null(tsr_tensor *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == NULL) {
            return true;
        }
    }
    return false;
}

tsr_context *guard_either(tsr_context *a, tsr_context *b)
{
    return a != NULL ? a : b;
}
