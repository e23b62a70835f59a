/* The options of passes, by name. */
#include <stdlib.h>
#include <string.h>

#include <tessera/pass.h>

#include "base/guard.h"

static const tsr_option_value none = {.is_given = true, .text = ""};

/* The default value of an option, which its row has as text. */
static tsr_option_value default_value(const tsr_pass_option *row)
{
    tsr_option_value value = {.is_given = true, .text = row->default_value};
    if (row->kind == TSR_OPTION_BOOL) {
        value.number = strcmp(row->default_value, "true") == 0;
    } else if (row->kind == TSR_OPTION_INTEGER) {
        value.number = strtoll(row->default_value, NULL, 10);
    }
    return value;
}

static tsr_option_value value_of(const tsr_pass_options *options, const char *name)
{
    for (size_t i = 0; i < options->count; i++) {
        if (strcmp(options->rows[i].name, name) == 0) {
            const bool is_given = options->values != NULL && options->values[i].is_given;
            return is_given ? options->values[i] : default_value(&options->rows[i]);
        }
    }
    return none;
}

bool tsr_option_bool(const tsr_pass_options *options, const char *name)
{
    GUARD(tsr_option_bool);
    return value_of(options, name).number != 0;
}

int64_t tsr_option_integer(const tsr_pass_options *options, const char *name)
{
    GUARD(tsr_option_integer);
    return value_of(options, name).number;
}

const char *tsr_option_text(const tsr_pass_options *options, const char *name)
{
    GUARD(tsr_option_text);
    const char *text = value_of(options, name).text;
    return text != NULL ? text : "";
}
