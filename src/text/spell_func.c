/* Modules and functions. */
#include <string.h>

#include "base/arena.h"
#include "ir/message.h"
#include "text/spell.h"

/* `public`, `private` or `nested`, if it is next. */
static tsr_status read_visibility(parser *ps, op_reader *op)
{
    static const char *const words[] = {"public", "private", "nested"};
    uint32_t attr = 0;
    for (size_t i = 0; i < 3; i++) {
        if (at_kind(ps, TOKEN_WORD) && slice_is(token_text(ps), words[i])) {
            lex_next(&ps->lex);
            TSR_TRY(attr_string(ps->program, words[i], strlen(words[i]), 0, &attr));
            return set_property(ps, op, "sym_visibility", attr);
        }
    }
    return TSR_OK;
}

static tsr_status read_symbol_property(parser *ps, op_reader *op)
{
    uint32_t attr = 0;
    TSR_TRY(read_symbol_name(ps, &attr));
    return set_property(ps, op, "sym_name", attr);
}

/* ---- module ---- */

tsr_status module_read(parser *ps, op_reader *op)
{
    TSR_TRY(read_visibility(ps, op));
    if (at_kind(ps, TOKEN_AT)) {
        TSR_TRY(read_symbol_property(ps, op));
    }
    TSR_TRY(read_dict_with_keyword(ps, op));
    TSR_TRY(read_region(ps, op, NULL, 0));
    const uint32_t region = op->regions[0];
    uint32_t block = 0;
    return program_region(ps->program, region)->first_block != 0
               ? TSR_OK
               : new_block(ps, region, NULL, 0, &block);
}

static void print_visibility(printer *pr, uint32_t op)
{
    slice word;
    if (attr_as_string(pr->program, op_property(pr->program, op, "sym_visibility"), &word)) {
        put_char(pr, ' ');
        put_slice(pr, word);
    }
}

static void print_symbol_name(printer *pr, uint32_t op)
{
    slice name;
    if (attr_as_string(pr->program, op_property(pr->program, op, "sym_name"), &name)) {
        put_char(pr, ' ');
        put_symbol(pr, name);
    }
}

void module_print(printer *pr, uint32_t op)
{
    print_visibility(pr, op);
    print_symbol_name(pr, op);
    print_dict(pr, op, "attributes ");
    put_char(pr, ' ');
    print_region(pr, op_region_at(pr->program, op, 0), false);
}

/* ---- functions ---- */

/* Arguments or results: types and dictionaries. */
typedef struct signature {
    ssa_argument *arguments;
    size_t num_arguments;
    size_t argument_room;
    uint32_t *types;
    size_t count;
    size_t type_room;
    uint32_t *dicts; /* an attribute each */
    size_t num_dicts;
    size_t dict_room;
    bool has_dicts;
} signature;

/* The dictionary after a type, perhaps empty. */
static tsr_status read_value_dict(parser *ps, signature *s)
{
    attr_entry *entries = NULL;
    size_t count = 0;
    size_t room = 0;
    uint32_t dict = 0;
    TSR_TRY(read_optional_dict(ps, &entries, &count, &room));
    s->has_dicts = s->has_dicts || count > 0;
    TSR_TRY(count == 0 ? attr_of_text(ps->program, ATTR_DICT, 0, 0, "", 0, &dict)
                       : attr_dict(ps->program, entries, count, &dict));
    return PUSH(ps, s->dicts, s->num_dicts, s->dict_room, dict);
}

/* `%a: T {..} loc(..)`, or `T {..}` in a declaration. */
static tsr_status read_parameter(parser *ps, signature *s)
{
    ssa_argument argument = {.at = (uint32_t)ps->lex.current.at,
                             .location = (uint32_t)ps->lex.current.at};
    if (next_is_use(ps)) {
        if (s->count > s->num_arguments) {
            return error_here(ps, "expected type instead of SSA identifier");
        }
        const slice name = token_text(ps);
        TSR_TRY(name_key(ps, (slice){name.data + 1, name.size - 1}, &argument.name));
        argument.name++;
        lex_next(&ps->lex);
        TSR_TRY(expect(ps, ':', "expected ':'"));
    } else if (s->num_arguments > 0) {
        return error_here(ps, "expected SSA identifier");
    }
    TSR_TRY(read_type(ps, &argument.type));
    TSR_TRY(read_value_dict(ps, s));
    TSR_TRY(read_optional_location(ps, &argument.location));
    if (argument.name != 0) {
        TSR_TRY(PUSH(ps, s->arguments, s->num_arguments, s->argument_room, argument));
    }
    return PUSH(ps, s->types, s->count, s->type_room, argument.type);
}

static tsr_status read_parameters(parser *ps, signature *s)
{
    TSR_TRY(expect(ps, '(', "expected '('"));
    if (accept(ps, ')')) {
        return TSR_OK;
    }
    do {
        TSR_TRY(read_parameter(ps, s));
    } while (accept(ps, ','));
    return expect(ps, ')', "expected ')'");
}

/* `-> T` or `-> (T {..}, T)`, if it is next. */
static tsr_status read_results(parser *ps, signature *s)
{
    if (!accept(ps, TOKEN_ARROW)) {
        return TSR_OK;
    }
    const bool is_list = accept(ps, '(');
    if (is_list && accept(ps, ')')) {
        return TSR_OK;
    }
    do {
        uint32_t type = 0;
        TSR_TRY(read_type(ps, &type));
        TSR_TRY(PUSH(ps, s->types, s->count, s->type_room, type));
        if (is_list) {
            TSR_TRY(read_value_dict(ps, s));
        }
    } while (is_list && accept(ps, ','));
    return is_list ? expect(ps, ')', "expected ')'") : TSR_OK;
}

static tsr_status set_dicts(parser *ps, op_reader *op, const char *name, const signature *s)
{
    uint32_t attr = 0;
    if (!s->has_dicts) {
        return TSR_OK;
    }
    TSR_TRY(attr_array(ps->program, s->dicts, s->num_dicts, &attr));
    return set_property(ps, op, name, attr);
}

tsr_status func_read(parser *ps, op_reader *op)
{
    signature inputs = {0};
    signature results = {0};
    uint32_t type = 0;
    uint32_t attr = 0;
    TSR_TRY(read_visibility(ps, op));
    TSR_TRY(read_symbol_property(ps, op));
    TSR_TRY(read_parameters(ps, &inputs));
    TSR_TRY(read_results(ps, &results));
    TSR_TRY(type_function(ps->program, inputs.types, inputs.count, results.types, results.count,
                          &type));
    TSR_TRY(attr_type(ps->program, type, &attr));
    TSR_TRY(set_property(ps, op, "function_type", attr));
    TSR_TRY(set_dicts(ps, op, "arg_attrs", &inputs));
    TSR_TRY(set_dicts(ps, op, "res_attrs", &results));
    TSR_TRY(read_dict_with_keyword(ps, op));
    if (!at_kind(ps, '{')) {
        return add_empty_region(ps, op);
    }
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_region(ps, op, inputs.arguments, inputs.num_arguments));
    if (program_region(ps->program, op->regions[0])->first_block == 0) {
        return error_at(ps, at, "expected non-empty function body");
    }
    return TSR_OK;
}

static uint32_t value_dict(const tsr_program *p, uint32_t op, const char *name, uint32_t index)
{
    const uint32_t list = op_property(p, op, name);
    if (!attr_is(p, list, ATTR_ARRAY) || index >= program_attr(p, list)->count) {
        return 0;
    }
    const uint32_t dict = attr_list(program_attr(p, list))[index];
    return dict_size(p, dict) > 0 ? dict : 0;
}

static void print_value_dict(printer *pr, uint32_t dict)
{
    if (dict != 0) {
        put_char(pr, ' ');
        print_attr(pr, dict);
    }
}

static void print_parameters(printer *pr, uint32_t op, const type_head *type)
{
    const tsr_program *p = pr->program;
    const uint32_t body = op_entry_block(p, op, 0);
    put_char(pr, '(');
    for (uint32_t i = 0; i < type->inputs; i++) {
        put(pr, i > 0 ? ", " : "");
        if (body == 0) {
            print_type(pr, type_list(type)[i]);
            print_value_dict(pr, value_dict(p, op, "arg_attrs", i));
            continue;
        }
        const uint32_t value = program_pool(p, program_block(p, body)->arguments)[i];
        print_value(pr, value);
        put(pr, ": ");
        print_type(pr, value_type(p, value));
        print_value_dict(pr, value_dict(p, op, "arg_attrs", i));
        if (pr->locations != NULL) {
            put(pr, " loc(");
            print_location(pr, program_value(p, value)->location);
            put_char(pr, ')');
        }
    }
    put_char(pr, ')');
}

static void print_results_of(printer *pr, uint32_t op, const type_head *type)
{
    const tsr_program *p = pr->program;
    const uint32_t count = type->count - type->inputs;
    const uint32_t *types = type_list(type) + type->inputs;
    if (count == 0) {
        return;
    }
    put(pr, " -> ");
    const bool is_list =
        count > 1 || value_dict(p, op, "res_attrs", 0) != 0 || type_is(p, types[0], TYPE_FUNCTION);
    put(pr, is_list ? "(" : "");
    for (uint32_t i = 0; i < count; i++) {
        put(pr, i > 0 ? ", " : "");
        print_type(pr, types[i]);
        print_value_dict(pr, value_dict(p, op, "res_attrs", i));
    }
    put(pr, is_list ? ")" : "");
}

bool func_fits(const printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const uint32_t attr = op_property(p, op, "function_type");
    const uint32_t body = op_entry_block(p, op, 0);
    return attr_is(p, attr, ATTR_TYPE) && type_is(p, program_attr(p, attr)->type, TYPE_FUNCTION) &&
           (body == 0 || program_block(p, body)->num_arguments ==
                             program_type(p, program_attr(p, attr)->type)->inputs);
}

void func_print(printer *pr, uint32_t op)
{
    const attr_head *attr =
        program_attr(pr->program, op_property(pr->program, op, "function_type"));
    const type_head *type = program_type(pr->program, attr->type);
    print_visibility(pr, op);
    print_symbol_name(pr, op);
    print_parameters(pr, op, type);
    print_results_of(pr, op, type);
    print_dict(pr, op, "attributes ");
    if (op_entry_block(pr->program, op, 0) != 0) {
        put_char(pr, ' ');
        print_region(pr, op_region_at(pr->program, op, 0), false);
    }
}
