/* The checks of functions, calls, returns and composites. */
#include <string.h>

#include "base/arena.h"
#include "ir/function.h"
#include "verify/verify.h"

/* Names of attributes of arguments and results have a dialect: a dot. */
static tsr_status verify_dicts(tsr_context *ctx, const tsr_program *p, uint32_t op,
                               const char *property, const char *word, uint32_t count)
{
    const uint32_t list = op_property(p, op, property);
    if (!attr_is(p, list, ATTR_ARRAY)) {
        return TSR_OK;
    }
    const attr_head *dicts = program_attr(p, list);
    if (dicts->count != count) {
        return op_error(ctx, p, op,
                        "expects %.*s attribute array to have the same number of elements as the "
                        "number of function %s, got %u, but expected %u",
                        (int)strlen(word) - 1, word, word, dicts->count, count);
    }
    for (uint32_t i = 0; i < dicts->count; i++) {
        const uint32_t dict = attr_list(dicts)[i];
        if (!attr_is(p, dict, ATTR_DICT)) {
            return op_error(ctx, p, op, "expects the attributes of %s to be dictionaries", word);
        }
        for (size_t k = 0; k < dict_size(p, dict); k++) {
            const slice name = string_at(p, attr_entries(program_attr(p, dict))[k].name);
            if (memchr(name.data, '.', name.size) == NULL) {
                return op_error(ctx, p, op, "%s may only have dialect attributes", word);
            }
        }
    }
    return TSR_OK;
}

static bool is_visibility(slice word)
{
    static const char *const known[] = {"public", "private", "nested"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (slice_is(word, known[i])) {
            return true;
        }
    }
    return false;
}

static tsr_status verify_visibility(tsr_context *ctx, const tsr_program *p, uint32_t op)
{
    slice word = {"", 0};
    const uint32_t attr = op_property(p, op, "sym_visibility");
    if (!attr_as_string(p, attr, &word) || is_visibility(word)) {
        return TSR_OK;
    }
    const char *text = "";
    TSR_TRY(tsr_ir_attr_to_text(ctx, p->scratch, p, attr, &text));
    return op_error(ctx, p, op,
                    "visibility expected to be one of [\"public\", \"private\", \"nested\"], "
                    "but got %s",
                    text);
}

tsr_status verify_symbol(tsr_context *ctx, const tsr_program *p, uint32_t op)
{
    const uint32_t parent = op_parent(p, op);
    TSR_TRY(verify_visibility(ctx, p, op));
    return parent == 0 || program_row(p, parent) == NULL ||
                   (program_row(p, parent)->traits & IR_SYMBOL_TABLE) != 0
               ? TSR_OK
               : op_error(ctx, p, op, "symbol's parent must have the SymbolTable trait");
}

/* Attributes of a module have a dialect: a dot. */
tsr_status verify_module_op(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    const uint32_t dict = program_op(p, op)->attributes;
    for (size_t i = 0; i < dict_size(p, dict); i++) {
        const slice name = string_at(p, attr_entries(program_attr(p, dict))[i].name);
        if (memchr(name.data, '.', name.size) == NULL) {
            return op_error(ctx, p, op,
                            "can only contain attributes with dialect-prefixed names, found: '%s'",
                            name.data);
        }
    }
    return verify_symbol(ctx, p, op);
}

tsr_status verify_func(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    const type_head *type = function_type(p, op);
    const uint32_t body = op_entry_block(p, op, 0);
    slice visibility = {"", 0};
    if (type == NULL) {
        return op_error(ctx, p, op,
                        "attribute 'function_type' failed to satisfy constraint: type "
                        "attribute of function type");
    }
    TSR_TRY(verify_dicts(ctx, p, op, "arg_attrs", "arguments", type->inputs));
    TSR_TRY(verify_dicts(ctx, p, op, "res_attrs", "results", type->count - type->inputs));
    TSR_TRY(verify_symbol(ctx, p, op));
    (void)attr_as_string(p, op_property(p, op, "sym_visibility"), &visibility);
    if (body == 0) {
        return visibility.size == 0 || visibility.data[1] == 'u'
                   ? op_error(ctx, p, op, "symbol declaration cannot have public visibility")
                   : TSR_OK;
    }
    const ir_block *block = program_block(p, body);
    if (block->num_arguments != type->inputs) {
        return op_error(ctx, p, op,
                        "entry block must have %u arguments to match function "
                        "signature",
                        type->inputs);
    }
    for (uint32_t i = 0; i < type->inputs; i++) {
        const uint32_t actual = value_type(p, program_pool(p, block->arguments)[i]);
        if (actual != type_list(type)[i]) {
            return op_error(ctx, p, op,
                            "type of entry block argument #%u('%s') must match the type of the "
                            "corresponding argument in function signature('%s')",
                            i, type_string(ctx, p, actual),
                            type_string(ctx, p, type_list(type)[i]));
        }
    }
    return TSR_OK;
}

tsr_status verify_return(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    const uint32_t func = op_parent(p, op);
    const ir_op *record = program_op(p, op);
    slice name = {"", 0};
    if (!op_is(p, func, OP_FUNC_FUNC)) {
        return op_error(ctx, p, op, "expects parent op 'func.func'");
    }
    const type_head *type = function_type(p, func);
    if (type == NULL) {
        return TSR_OK;
    }
    const uint32_t count = type->count - type->inputs;
    (void)attr_as_string(p, op_property(p, func, "sym_name"), &name);
    if (record->num_operands != count) {
        return op_error(ctx, p, op, "has %u operands, but enclosing function (@%.*s) returns %u",
                        record->num_operands, (int)name.size, name.data, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t actual = value_type(p, op_operand(p, op, i));
        const uint32_t wanted = type_list(type)[type->inputs + i];
        if (actual != wanted) {
            return error_at_op(ctx, p, op,
                               "type of return operand %u ('%s') doesn't match function result "
                               "type ('%s') in function @%.*s",
                               i, type_string(ctx, p, actual), type_string(ctx, p, wanted),
                               (int)name.size, name.data);
        }
    }
    return TSR_OK;
}

/* The function that a property of an op names, or 0. */
static tsr_status find_function(tsr_context *ctx, tsr_program *p, uint32_t op, const char *property,
                                slice *name, uint32_t *out)
{
    uint32_t found = 0;
    *name = (slice){"", 0};
    if (attr_as_symbol(p, op_property(p, op, property), name)) {
        TSR_TRY(program_symbol(ctx, p, op, *name, &found));
    }
    *out = op_is(p, found, OP_FUNC_FUNC) ? found : 0;
    return TSR_OK;
}

tsr_status verify_call(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    slice name;
    const ir_op *record = program_op(p, op);
    uint32_t func = 0;
    TSR_TRY(find_function(ctx, p, op, "callee", &name, &func));
    if (func == 0) {
        return op_error(ctx, p, op, "'%.*s' does not reference a valid function", (int)name.size,
                        name.data);
    }
    const type_head *type = function_type(p, func);
    if (type->inputs != record->num_operands) {
        return op_error(ctx, p, op, "incorrect number of operands for callee");
    }
    for (uint32_t i = 0; i < type->inputs; i++) {
        const uint32_t actual = value_type(p, op_operand(p, op, i));
        if (actual != type_list(type)[i]) {
            return op_error(ctx, p, op,
                            "operand type mismatch: expected operand type '%s', but provided '%s' "
                            "for operand number %u",
                            type_string(ctx, p, type_list(type)[i]), type_string(ctx, p, actual),
                            i);
        }
    }
    if (type->count - type->inputs != record->num_results) {
        return op_error(ctx, p, op, "incorrect number of results for callee");
    }
    for (uint32_t i = 0; i < record->num_results; i++) {
        const uint32_t actual = value_type(p, record->results + i);
        const uint32_t wanted = type_list(type)[type->inputs + i];
        if (actual != wanted) {
            (void)op_error(ctx, p, op, "result type mismatch at index %u", i);
            return note_at_op(ctx, p, op, "op result types: '%s', function result types: '%s'",
                              type_string(ctx, p, actual), type_string(ctx, p, wanted));
        }
    }
    return TSR_OK;
}

/* `ns.name`: alphanumerics and some signs, with a dot that is neither first nor last. */
static bool is_namespaced(slice name)
{
    const char *dot = memchr(name.data, '.', name.size);
    if (dot == NULL || dot == name.data || dot == name.data + name.size - 1) {
        return false;
    }
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        const bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool other = (c >= '0' && c <= '9') || c == '.' || c == '$' || c == '-';
        if (!alpha && (!other || i == 0)) {
            return false;
        }
    }
    return true;
}

tsr_status verify_composite(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    slice name;
    const ir_op *record = program_op(p, op);
    if (attr_as_string(p, op_property(p, op, "name"), &name) && !is_namespaced(name)) {
        return op_error(ctx, p, op,
                        "name must be a valid namespaced op name with at least one dot: '%.*s'",
                        (int)name.size, name.data);
    }
    uint32_t func = 0;
    TSR_TRY(find_function(ctx, p, op, "decomposition", &name, &func));
    if (func == 0) {
        return op_error(ctx, p, op, "'%.*s' does not reference a valid function", (int)name.size,
                        name.data);
    }
    const type_head *type = function_type(p, func);
    const uint32_t num_results = type->count - type->inputs;
    if (type->inputs != record->num_operands) {
        return op_error(ctx, p, op, "has %u operand(s), but decomposition has %u",
                        record->num_operands, type->inputs);
    }
    for (uint32_t i = 0; i < type->inputs; i++) {
        const uint32_t actual = value_type(p, op_operand(p, op, i));
        if (actual != type_list(type)[i]) {
            return op_error(ctx, p, op,
                            "operand at index %u has type '%s', but decomposition has type '%s'", i,
                            type_string(ctx, p, actual), type_string(ctx, p, type_list(type)[i]));
        }
    }
    if (num_results != record->num_results) {
        return op_error(ctx, p, op, "has %u result(s), but decomposition has %u",
                        record->num_results, num_results);
    }
    for (uint32_t i = 0; i < num_results; i++) {
        const uint32_t actual = value_type(p, record->results + i);
        const uint32_t wanted = type_list(type)[type->inputs + i];
        if (actual != wanted) {
            return op_error(ctx, p, op,
                            "result at index %u has type '%s', but decomposition has type '%s'", i,
                            type_string(ctx, p, actual), type_string(ctx, p, wanted));
        }
    }
    return TSR_OK;
}
