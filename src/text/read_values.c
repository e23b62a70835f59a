/* Names of values while a program is read. */
#include <string.h>

#include "ir/records.h"
#include "text/parser.h"

/* Names that are numbers have even keys, others odd ones. */
static bool is_number(slice name, size_t limit, uint32_t *out)
{
    enum { MAX_DIGITS = 9 };
    uint32_t value = 0;
    if (name.size > MAX_DIGITS || (name.data[0] == '0' && name.size > 1)) {
        return false;
    }
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9') {
            return false;
        }
        value = value * 10 + (uint32_t)(name.data[i] - '0');
    }
    *out = value;
    return value <= limit;
}

/* Room for the binding of an index; new ones are undefined. */
static tsr_status ensure(parser *ps, ir_array *array, uint32_t index)
{
    if (index < array->count) {
        return TSR_OK;
    }
    const uint32_t extra = index + 1 - array->count;
    TSR_TRY(ir_array_reserve(ps->ctx, array, sizeof(binding), extra));
    memset((binding *)array->items + array->count, 0, extra * sizeof(binding));
    array->count += extra;
    return TSR_OK;
}

tsr_status name_key(parser *ps, slice name, uint32_t *out)
{
    uint32_t number = 0;
    if (is_number(name, ps->text.size, &number)) {
        *out = number * 2;
        return ensure(ps, &ps->numbered, number);
    }
    TSR_TRY(intern_bytes(&ps->names, name.data, name.size, &number));
    *out = number * 2 + 1;
    return ensure(ps, &ps->bindings, number);
}

static binding *binding_at(const parser *ps, uint32_t name)
{
    const ir_array *array = (name & 1) != 0 ? &ps->bindings : &ps->numbered;
    return (binding *)array->items + name / 2;
}

static forward_use *forward_at(const parser *ps, uint32_t i)
{
    return (forward_use *)ps->forwards.items + i;
}

/* The name as written, from where it stands in the text. */
static slice name_at(const parser *ps, size_t at)
{
    size_t end = at + 1;
    while (end < ps->text.size && strchr(" \t\r\n#,:=()[]{}<>\"", ps->text.data[end]) == NULL) {
        end++;
    }
    return (slice){ps->text.data + at, end - at};
}

bool next_is_use(const parser *ps)
{
    return ps->lex.current.kind == TOKEN_PERCENT;
}

tsr_status read_use(parser *ps, ssa_use *out)
{
    if (ps->lex.current.kind != TOKEN_PERCENT) {
        return error_here(ps, "expected SSA operand");
    }
    const slice text = token_text(ps);
    ssa_use use = {.at = (uint32_t)ps->lex.current.at, .size = (uint32_t)text.size};
    TSR_TRY(name_key(ps, (slice){text.data + 1, text.size - 1}, &use.name));
    lex_next(&ps->lex);
    if (ps->lex.current.kind == TOKEN_HASH) {
        const slice number = token_text(ps);
        uint64_t value = 0;
        if (number.data[1] < '0' || number.data[1] > '9' ||
            !lex_digits((slice){number.data + 1, number.size - 1}, &value) || value > UINT32_MAX) {
            return error_here(ps, "invalid SSA value result number");
        }
        use.number = (uint32_t)value;
        lex_next(&ps->lex);
    }
    *out = use;
    return TSR_OK;
}

/* Whether a comma is followed by another use. */
static bool use_follows_comma(const parser *ps)
{
    return lex_char_after(&ps->lex, ps->lex.current.at + 1) == '%';
}

tsr_status read_uses(parser *ps, op_reader *op)
{
    if (!next_is_use(ps)) {
        return TSR_OK;
    }
    for (;;) {
        ssa_use use;
        TSR_TRY(read_use(ps, &use));
        TSR_TRY(PUSH(ps, op->uses, op->num_uses, op->use_room, use));
        if (!at_kind(ps, ',') || !use_follows_comma(ps)) {
            return TSR_OK;
        }
        lex_next(&ps->lex);
    }
}

/*
 * A placeholder for a value that is not defined yet: one of the last few of its name, or a new one.
 * All that stand for one value become it when it is defined.
 */
static tsr_status refer_forward(parser *ps, const ssa_use *use, uint32_t type, uint32_t *out)
{
    enum { MAX_STEPS = 16 };
    uint32_t i = binding_at(ps, use->name)->forward;
    for (int step = 0; i != 0 && step < MAX_STEPS; i = forward_at(ps, i)->next, step++) {
        if (forward_at(ps, i)->number == use->number) {
            *out = forward_at(ps, i)->value;
            return TSR_OK;
        }
    }
    const ir_value value = {.type = type};
    forward_use forward = {.name = use->name, .number = use->number, .at = use->at};
    TSR_TRY(program_new_values(ps->program, &value, 1, &forward.value));
    if (ps->forwards.count == 0) {
        TSR_TRY(ir_array_reserve(ps->ctx, &ps->forwards, sizeof forward, 1));
        ps->forwards.count = 1; /* number 0 is none */
    }
    TSR_TRY(ir_array_reserve(ps->ctx, &ps->forwards, sizeof forward, 1));
    binding *b = binding_at(ps, use->name);
    forward.next = b->forward;
    b->forward = ps->forwards.count++;
    *forward_at(ps, b->forward) = forward;
    *out = forward.value;
    return TSR_OK;
}

/* The error for a use with another type than before. */
static tsr_status other_type(parser *ps, const ssa_use *use, uint32_t type, uint32_t before,
                             size_t before_at)
{
    const char *now_text = "?";
    const char *before_text = "?";
    TSR_TRY(tsr_ir_type_to_text(ps->ctx, ps->scratch, ps->program, type, &now_text));
    TSR_TRY(tsr_ir_type_to_text(ps->ctx, ps->scratch, ps->program, before, &before_text));
    const slice name = name_at(ps, use->at);
    (void)diag_error(ps->ctx, TSR_ERR_SYNTAX, (location){&ps->text, use->at, use->size, true},
                     "use of value '%.*s' expects different type than prior uses: '%s' vs '%s'",
                     (int)name.size, name.data, now_text, before_text);
    return diag_note(ps->ctx, (location){&ps->text, before_at, 1, true}, "prior use here");
}

tsr_status resolve_use(parser *ps, const ssa_use *use, uint32_t type, uint32_t *out)
{
    const binding *b = binding_at(ps, use->name);
    uint32_t value = 0;
    size_t before_at = b->at;
    if (b->value != 0) {
        if (use->number >= b->count) {
            return error_at(ps, use->at, "reference to invalid result number");
        }
        value = b->value + use->number;
    } else {
        TSR_TRY(refer_forward(ps, use, type, &value));
        before_at = use->at;
    }
    if (value_type(ps->program, value) != type) {
        return other_type(ps, use, type, value_type(ps->program, value), before_at);
    }
    *out = value;
    return TSR_OK;
}

tsr_status resolve_uses(parser *ps, op_reader *op, const uint32_t *types, size_t count)
{
    if (count != op->num_uses) {
        return error_at(ps, op->at, "%zu operands present, but expected %zu", op->num_uses, count);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t value = 0;
        TSR_TRY(resolve_use(ps, &op->uses[i], types[i], &value));
        TSR_TRY(PUSH(ps, op->operands, op->num_operands, op->operand_room, value));
    }
    op->num_uses = 0;
    return TSR_OK;
}

tsr_status resolve_uses_alike(parser *ps, op_reader *op, uint32_t type)
{
    for (size_t i = 0; i < op->num_uses; i++) {
        uint32_t value = 0;
        TSR_TRY(resolve_use(ps, &op->uses[i], type, &value));
        TSR_TRY(PUSH(ps, op->operands, op->num_operands, op->operand_room, value));
    }
    op->num_uses = 0;
    return TSR_OK;
}

static tsr_status redefinition(parser *ps, size_t at, size_t before)
{
    const slice name = name_at(ps, at);
    (void)error_at(ps, at, "redefinition of SSA value '%.*s'", (int)name.size, name.data);
    return diag_note(ps->ctx, (location){&ps->text, before, 1, true}, "previously defined here");
}

/* A forward reference becomes what is defined now. */
static tsr_status settle(parser *ps, forward_use *forward, size_t at, uint32_t value,
                         uint32_t count)
{
    if (forward->real != 0) {
        return TSR_OK;
    }
    if (forward->number >= count) {
        return error_at(ps, forward->at, "reference to invalid result number");
    }
    const uint32_t real = value + forward->number;
    if (value_type(ps->program, real) != value_type(ps->program, forward->value)) {
        const char *defined = "?";
        const char *used = "?";
        TSR_TRY(tsr_ir_type_to_text(ps->ctx, ps->scratch, ps->program,
                                    value_type(ps->program, real), &defined));
        TSR_TRY(tsr_ir_type_to_text(ps->ctx, ps->scratch, ps->program,
                                    value_type(ps->program, forward->value), &used));
        const slice name = name_at(ps, at);
        (void)error_at(ps, at, "definition of SSA value '%.*s#%u' has type '%s'", (int)name.size,
                       name.data, forward->number, defined);
        return diag_note(ps->ctx, (location){&ps->text, forward->at, 1, true},
                         "previously used here with type '%s'", used);
    }
    forward->real = real;
    return TSR_OK;
}

tsr_status define_value(parser *ps, uint32_t name, size_t at, uint32_t value, uint32_t count)
{
    binding *b = binding_at(ps, name);
    if (b->value != 0) {
        return redefinition(ps, at, b->at);
    }
    for (uint32_t i = b->forward; i != 0; i = forward_at(ps, i)->next) {
        TSR_TRY(settle(ps, forward_at(ps, i), at, value, count));
    }
    *b = (binding){.value = value, .count = count, .at = (uint32_t)at};
    TSR_TRY(ir_array_reserve(ps->ctx, &ps->defined, sizeof name, 1));
    ((uint32_t *)ps->defined.items)[ps->defined.count++] = name;
    return TSR_OK;
}

name_scope open_scope(const parser *ps)
{
    return ps->defined.count;
}

void close_scope(parser *ps, name_scope scope)
{
    const uint32_t *defined = ps->defined.items;
    for (uint32_t i = scope; i < ps->defined.count; i++) {
        *binding_at(ps, defined[i]) = (binding){0};
    }
    ps->defined.count = scope;
}

void close_isolated(parser *ps, uint32_t first_forward)
{
    for (uint32_t i = first_forward; i < ps->forwards.count; i++) {
        if (i > 0 && forward_at(ps, i)->real == 0) {
            binding_at(ps, forward_at(ps, i)->name)->forward = 0;
        }
    }
}

/* Remembers operands that are placeholders: they are replaced at the end. */
tsr_status note_operands(parser *ps, uint32_t operands, size_t count)
{
    const uint32_t *pool = program_pool(ps->program, operands);
    if (ps->forwards.count == 0) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (program_value(ps->program, pool[i])->owner == 0) {
            TSR_TRY(ir_array_reserve(ps->ctx, &ps->forward_operands, sizeof(uint32_t), 1));
            ((uint32_t *)ps->forward_operands.items)[ps->forward_operands.count++] = operands + i;
        }
    }
    return TSR_OK;
}

/* The index of a placeholder holds what it became, for the replacement. */
tsr_status finish_names(parser *ps)
{
    tsr_status status = TSR_OK;
    for (uint32_t i = 1; i < ps->forwards.count; i++) {
        const forward_use *forward = forward_at(ps, i);
        if (forward->real == 0) {
            status = error_at(ps, forward->at, "use of undeclared SSA value name");
        } else {
            record_of_value(ps->program, forward->value)->index = forward->real;
        }
    }
    TSR_TRY(status);
    const uint32_t *operands = ps->forward_operands.items;
    for (uint32_t i = 0; i < ps->forward_operands.count; i++) {
        uint32_t *operand = record_of_list(ps->program, operands[i]);
        const ir_value *value = program_value(ps->program, *operand);
        if (value->owner == 0) {
            *operand = value->index;
        }
    }
    return TSR_OK;
}
