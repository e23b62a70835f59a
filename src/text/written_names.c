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

/* What the text may say where an op is that passes have made of another. */
static const struct {
    const char *written; /* in the text */
    op_kind op;
} remade[] = {
    {"stablehlo.constant", OP_SDY_CONSTANT},     {"sdy.constant", OP_STABLEHLO_CONSTANT},
    {"sdy.sharding_constraint", OP_SDY_RESHARD}, {"call", OP_FUNC_CALL},
    {"call", OP_SDY_NAMED_COMPUTATION},          {"func.call", OP_SDY_NAMED_COMPUTATION},
    {"stablehlo.composite", OP_FUNC_CALL},       {"stablehlo.composite", OP_SDY_NAMED_COMPUTATION},
    {"sdy.named_computation", OP_FUNC_CALL},
};

/* The word around or before an offset: the name of an op, whichever end of it is in the text. */
static slice word_at(const tsr_text *text, size_t at)
{
    size_t start = at < text->size && text->data[at] == '"' ? at + 1 : at;
    size_t end = start;
    while (start > text->at && is_name_char(text->data[start - 1])) {
        start--;
    }
    while (end < text->size && is_name_char(text->data[end])) {
        end++;
    }
    return (slice){text->data + start, end - start};
}

/* Whether the text has an op at its place: passes give ops that they add the place of another. */
static bool is_written(const tsr_program *p, uint32_t op)
{
    const ir_op *o = program_op(p, op);
    const char *name = op_name(p, op);
    if (o->at >= p->text.size) {
        return false;
    }
    const slice word = word_at(&p->text, o->at);
    if (slice_is(word, name)) {
        return true;
    }
    for (size_t i = 0; i < sizeof remade / sizeof remade[0]; i++) {
        if (slice_is(word, remade[i].written) && op_is(p, op, remade[i].op)) {
            return true;
        }
    }
    return false;
}

/* Whether an op is one that the short form of an op around it stands for. */
static bool is_implied(const tsr_program *p, uint32_t op)
{
    for (uint32_t around = op_parent(p, op); around != 0; around = op_parent(p, around)) {
        if (program_op(p, around)->at == program_op(p, op)->at) {
            return true;
        }
    }
    return false;
}

/* Whether passes made an op, which the text does not have. */
static bool is_new(const tsr_program *p, uint32_t op)
{
    return program_op(p, op)->num_results > 0 && !is_written(p, op) && !is_implied(p, op);
}

/* `reshard of %a`: results of what passes made, by the nearest operand that the text has. */
static tsr_status name_new(tsr_program *p, tsr_arena *arena, uint32_t op, const char **names)
{
    const ir_op *o = program_op(p, op);
    const char *dot = strchr(op_name(p, op), '.');
    uint32_t from = op;
    uint32_t operand = 0;
    do {
        operand = program_op(p, from)->num_operands > 0 ? op_operand(p, from, 0) : 0;
        const bool by_op = operand != 0 && (program_value(p, operand)->owner & IR_IS_ARGUMENT) == 0;
        from = by_op ? program_value(p, operand)->owner : 0;
    } while (from != 0 && is_new(p, from));
    const char *mnemonic = dot != NULL ? dot + 1 : op_name(p, op);
    buffer text = buffer_new(arena);
    if (operand != 0) {
        buffer_format(&text, "%s of %s", mnemonic, names[operand]);
    } else {
        buffer_format(&text, "new %s", mnemonic);
    }
    for (uint32_t i = 0; i < o->num_results; i++) {
        TSR_TRY(buffer_finish(p->ctx, &text, &names[o->results + i]));
    }
    return TSR_OK;
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
        if (!is_new(program, op)) {
            TSR_TRY(name_results(program, arena, op, names));
        }
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
    for (uint32_t op = 1; op < program->ops.count; op++) {
        if (is_new(program, op)) {
            TSR_TRY(name_new(program, arena, op, names));
        }
    }
    *out = names;
    return TSR_OK;
}
