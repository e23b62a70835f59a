/* The names that a text gives its values: found in the text, around where ops and arguments are. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "ir/program.h"

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("$._-", c) != NULL);
}

/* The name that starts at an offset, with its %; empty: there is none. */
static slice name_at(const tsr_text *text, size_t at, size_t end)
{
    size_t stop = at + 1;
    if (at >= end || text->data[at] != '%') {
        return (slice){0};
    }
    while (stop < end && is_name_char(text->data[stop])) {
        stop++;
    }
    return (slice){text->data + at, stop - at};
}

/*
 * Where the list of names in front of `=` begins; `at`: there is none. Most ops are where their
 * name begins; a reduction in its short form is where its name ends.
 */
static size_t names_start(const tsr_text *text, size_t at)
{
    size_t start = at;
    while (start > text->at && is_name_char(text->data[start - 1])) {
        start--;
    }
    while (start > text->at && isspace((unsigned char)text->data[start - 1])) {
        start--;
    }
    if (start == text->at || text->data[start - 1] != '=') {
        return at;
    }
    start--;
    while (start > text->at && (is_name_char(text->data[start - 1]) ||
                                strchr("%:, \t", text->data[start - 1]) != NULL)) {
        start--;
    }
    return start;
}

static tsr_status set_name(tsr_program *p, tsr_arena *arena, const char **names, uint32_t value,
                           slice name, int64_t number)
{
    buffer text = buffer_new(arena);
    buffer_bytes(&text, name.data, name.size);
    if (number >= 0) {
        buffer_format(&text, "#%lld", (long long)number);
    }
    return buffer_finish(p->ctx, &text, &names[value]);
}

/* `%a, %b:2 =`: a name for each result, or one for several. */
static tsr_status name_results(tsr_program *p, tsr_arena *arena, uint32_t op, const char **names)
{
    const ir_op *o = program_op(p, op);
    size_t at = o->at < p->text.size ? names_start(&p->text, o->at) : o->at;
    uint32_t result = 0;
    while (result < o->num_results && at < o->at && o->at < p->text.size) {
        const slice name = name_at(&p->text, at, o->at);
        if (name.size == 0) {
            at++;
            continue;
        }
        at += name.size;
        uint32_t several = 0;
        if (p->text.data[at] == ':') {
            several = (uint32_t)strtoul(p->text.data + at + 1, NULL, 10);
        }
        for (uint32_t i = 0; i < (several > 0 ? several : 1) && result < o->num_results; i++) {
            TSR_TRY(set_name(p, arena, names, o->results + result++, name,
                             several > 0 ? (int64_t)i : -1));
        }
    }
    return TSR_OK;
}

tsr_status tsr_program_written_names(tsr_context *ctx, tsr_arena *arena, tsr_program *program,
                                     const char *const **out)
{
    GUARD(tsr_program_written_names);
    const char *const *printed = NULL;
    TSR_TRY(tsr_program_value_names(ctx, arena, program, &printed));
    const char **names =
        arena_copy(arena, printed, tsr_program_num_values(program) + 1, sizeof *names);
    if (names == NULL) {
        return diag_nomem(ctx);
    }
    for (uint32_t op = 1; op < program->ops.count; op++) {
        TSR_TRY(name_results(program, arena, op, names));
    }
    for (uint32_t v = 1; v < program->values.count; v++) {
        const ir_value *value = program_value(program, v);
        if ((value->owner & IR_IS_ARGUMENT) != 0 && (value->location & IR_IS_GIVEN) == 0) {
            const slice name = name_at(&program->text, value->location, program->text.size);
            if (name.size > 0) {
                TSR_TRY(set_name(program, arena, names, v, name, -1));
            }
        }
    }
    *out = names;
    return TSR_OK;
}
