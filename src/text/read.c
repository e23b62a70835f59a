/* Reading programs: the file, ops, blocks and regions. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "ir/records.h"
#include "text/parser.h"
#include "text/read.h"
#include "text/resources.h"
#include "text/spelling.h"

/* ---- errors ---- */

static tsr_status report(parser *ps, location where, const char *format, va_list arguments)
{
    enum { MOST = 1024 };
    char text[MOST];
    if (ps->lex.current.kind == TOKEN_BAD) {
        return lex_error(&ps->lex, where, "");
    }
    vsnprintf(text, sizeof text, format, arguments);
    return diag_error(ps->ctx, TSR_ERR_SYNTAX, where, "%s", text);
}

tsr_status error_here(parser *ps, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const tsr_status status = report(ps, lex_here(&ps->lex), format, arguments);
    va_end(arguments);
    return status;
}

tsr_status error_after(parser *ps, const char *format, ...)
{
    va_list arguments;
    location where = lex_after(&ps->lex);
    where.bare = true;
    va_start(arguments, format);
    const tsr_status status = report(ps, where, format, arguments);
    va_end(arguments);
    return status;
}

tsr_status error_at(parser *ps, size_t at, const char *format, ...)
{
    enum { MOST = 1024 };
    char text[MOST];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_error(ps->ctx, TSR_ERR_SYNTAX, (location){&ps->text, at, 1, true}, "%s", text);
}

tsr_status expect(parser *ps, int mark, const char *message)
{
    return accept(ps, mark) ? TSR_OK : error_after(ps, "%s", message);
}

tsr_status expect_arrow(parser *ps, const char *message)
{
    return expect(ps, TOKEN_ARROW, message);
}

tsr_status parser_reach(parser *ps, int levels)
{
    if (levels > PARSER_MAX_DEPTH - ps->depth) {
        return diag_error(ps->ctx, TSR_ERR_LIMIT, lex_here(&ps->lex),
                          "nested more than %d levels deep: regions, types and attributes deeper "
                          "than that are not supported",
                          PARSER_MAX_DEPTH);
    }
    ps->deepest = ps->depth + levels > ps->deepest ? ps->depth + levels : ps->deepest;
    return TSR_OK;
}

tsr_status parser_enter(parser *ps)
{
    TSR_TRY(parser_reach(ps, 1));
    ps->depth++;
    return TSR_OK;
}

/* ---- what an op has ---- */

tsr_status set_property(parser *ps, op_reader *op, const char *name, uint32_t attr)
{
    attr_entry entry = {.value = attr};
    TSR_TRY(program_string(ps->program, name, strlen(name), &entry.name));
    for (size_t i = 0; i < op->num_properties; i++) {
        if (op->properties[i].name == entry.name) {
            op->properties[i] = entry;
            return TSR_OK;
        }
    }
    return PUSH(ps, op->properties, op->num_properties, op->property_room, entry);
}

tsr_status add_type(parser *ps, op_reader *op, uint32_t type)
{
    return PUSH(ps, op->results, op->num_results, op->result_room, type);
}

/* Entries of a trailing dictionary: those whose names are inherent become properties. */
static tsr_status sort_out(parser *ps, op_reader *op, const attr_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ir_prop *prop =
            op->row != NULL ? row_prop(op->row, string_at(ps->program, entries[i].name)) : NULL;
        if (prop != NULL) {
            TSR_TRY(set_property(ps, op, prop->name, entries[i].value));
        } else {
            TSR_TRY(PUSH(ps, op->attributes, op->num_attributes, op->attribute_room, entries[i]));
        }
    }
    return TSR_OK;
}

tsr_status read_dict(parser *ps, op_reader *op)
{
    attr_entry *entries = NULL;
    size_t count = 0;
    size_t room = 0;
    if (!at_kind(ps, '{')) {
        return TSR_OK;
    }
    const char *prefix = ps->text.prefix;
    ps->text.prefix = NULL;
    const tsr_status status = read_dict_entries(ps, &entries, &count, &room);
    ps->text.prefix = prefix;
    TSR_TRY(status);
    return sort_out(ps, op, entries, count);
}

tsr_status read_dict_with_keyword(parser *ps, op_reader *op)
{
    if (!at_kind(ps, TOKEN_WORD) || !slice_is(token_text(ps), "attributes")) {
        return TSR_OK;
    }
    lex_next(&ps->lex);
    return at_kind(ps, '{') ? read_dict(ps, op)
                            : expect(ps, '{', "expected '{' in attribute dictionary");
}

tsr_status read_function_types(parser *ps, op_reader *op)
{
    uint32_t *types = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(read_type_or_list(ps, &types, &count, &room));
    TSR_TRY(expect_arrow(ps, "expected '->' in function type"));
    TSR_TRY(read_type_or_list(ps, &op->results, &op->num_results, &op->result_room));
    return resolve_uses(ps, op, types, count);
}

/* ---- blocks and regions ---- */

/* A label of a block in a region that is open. */
typedef struct block_label {
    uint32_t name;
    uint32_t block;
    uint32_t at;
    uint32_t outer; /* place after the label of this name in a region around, or 0 */
    bool is_defined;
} block_label;

static block_label *label_at(const parser *ps, uint32_t i)
{
    return (block_label *)ps->block_labels.items + i;
}

static uint32_t *label_place(const parser *ps, uint32_t name)
{
    return (uint32_t *)ps->label_places.items + name;
}

static tsr_status ensure_place(parser *ps, uint32_t name)
{
    ir_array *places = &ps->label_places;
    if (name >= places->count) {
        const uint32_t extra = name + 1 - places->count;
        TSR_TRY(ir_array_reserve(ps->ctx, places, sizeof(uint32_t), extra));
        memset(label_place(ps, places->count), 0, extra * sizeof(uint32_t));
        places->count += extra;
    }
    return TSR_OK;
}

/* The label of a name in the innermost region, new or old. */
static tsr_status find_label(parser *ps, slice name, size_t at, uint32_t *out)
{
    block_label label = {.at = (uint32_t)at};
    TSR_TRY(program_string(ps->program, name.data, name.size, &label.name));
    TSR_TRY(ensure_place(ps, label.name));
    label.outer = *label_place(ps, label.name);
    if (label.outer > ps->region_labels) {
        *out = label.outer - 1;
        return TSR_OK;
    }
    TSR_TRY(program_new_block(ps->program, &(ir_block){.location = (uint32_t)at}, &label.block));
    TSR_TRY(ir_array_reserve(ps->ctx, &ps->block_labels, sizeof label, 1));
    *out = ps->block_labels.count++;
    *label_at(ps, *out) = label;
    *label_place(ps, label.name) = ps->block_labels.count;
    return TSR_OK;
}

/* Forgets the labels of the innermost region. */
static void close_labels(parser *ps)
{
    while (ps->block_labels.count > ps->region_labels) {
        const block_label *label = label_at(ps, --ps->block_labels.count);
        *label_place(ps, label->name) = label->outer;
    }
}

static tsr_status add_arguments(parser *ps, uint32_t block, const ssa_argument *arguments,
                                size_t count)
{
    uint32_t *numbers = ARENA_ARRAY(ps->scratch, uint32_t, count + 1);
    uint32_t list = 0;
    if (numbers == NULL) {
        return diag_nomem(ps->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const ir_value value = {.type = arguments[i].type,
                                .owner = block | IR_IS_ARGUMENT,
                                .index = (uint32_t)i,
                                .location = arguments[i].location};
        TSR_TRY(program_new_values(ps->program, &value, 1, &numbers[i]));
        if (arguments[i].name != 0) {
            TSR_TRY(define_value(ps, arguments[i].name - 1, arguments[i].at, numbers[i], 1));
        }
    }
    TSR_TRY(program_new_list(ps->program, numbers, count, &list));
    record_of_block(ps->program, block)->arguments = list;
    record_of_block(ps->program, block)->num_arguments = (uint32_t)count;
    return TSR_OK;
}

tsr_status new_region(parser *ps, uint32_t *out)
{
    return program_new_region(ps->program, out);
}

tsr_status new_block(parser *ps, uint32_t region, const ssa_argument *arguments, size_t count,
                     uint32_t *out)
{
    const ir_block block = {.location = (uint32_t)ps->lex.current.at};
    TSR_TRY(program_new_block(ps->program, &block, out));
    record_append_block(ps->program, region, *out);
    return add_arguments(ps, *out, arguments, count);
}

/*
 * `#0` after the name of an argument, which only labels of blocks allow; with another number it is
 * not found by its name.
 */
static tsr_status read_argument_number(parser *ps, bool in_label, ssa_argument *argument)
{
    uint64_t number = 0;
    if (!at_kind(ps, TOKEN_HASH)) {
        return TSR_OK;
    }
    const slice text = token_text(ps);
    if (!lex_digits((slice){text.data + 1, text.size - 1}, &number)) {
        return error_here(ps, "invalid SSA value result number");
    }
    if (!in_label) {
        return error_here(ps, "result number not allowed in argument list");
    }
    argument->name = number == 0 ? argument->name : 0;
    lex_next(&ps->lex);
    return TSR_OK;
}

/* `%a: T`, with a location if there is one. */
tsr_status read_argument(parser *ps, bool in_label, ssa_argument *out)
{
    if (!at_kind(ps, TOKEN_PERCENT)) {
        return error_here(ps, "expected SSA operand");
    }
    const slice text = token_text(ps);
    ssa_argument argument = {.at = (uint32_t)ps->lex.current.at};
    argument.location = argument.at;
    TSR_TRY(name_key(ps, (slice){text.data + 1, text.size - 1}, &argument.name));
    argument.name++;
    lex_next(&ps->lex);
    TSR_TRY(read_argument_number(ps, in_label, &argument));
    TSR_TRY(expect(ps, ':', "expected ':'"));
    TSR_TRY(read_type(ps, &argument.type));
    TSR_TRY(read_optional_location(ps, &argument.location));
    *out = argument;
    return TSR_OK;
}

tsr_status read_arguments(parser *ps, bool in_label, ssa_argument **out, size_t *count,
                          size_t *room)
{
    TSR_TRY(expect(ps, '(', "expected '('"));
    if (accept(ps, ')')) {
        return TSR_OK;
    }
    do {
        ssa_argument argument = {0};
        TSR_TRY(read_argument(ps, in_label, &argument));
        TSR_TRY(PUSH(ps, *out, *count, *room, argument));
    } while (accept(ps, ','));
    return expect(ps, ')', "expected ')'");
}

static tsr_status read_ops(parser *ps, uint32_t block)
{
    while (!at_kind(ps, TOKEN_CARET) && !at_kind(ps, '}')) {
        TSR_TRY(read_op(ps, block));
    }
    return TSR_OK;
}

/* `^name(%a: T):` and what follows it. */
static tsr_status read_block(parser *ps, uint32_t region)
{
    ssa_argument *arguments = NULL;
    size_t count = 0;
    size_t room = 0;
    uint32_t label = 0;
    const size_t at = ps->lex.current.at;
    const slice name = token_text(ps);
    TSR_TRY(find_label(ps, name, at, &label));
    if (label_at(ps, label)->is_defined) {
        return error_here(ps, "redefinition of block '%.*s'", (int)name.size, name.data);
    }
    label_at(ps, label)->is_defined = true;
    const uint32_t block = label_at(ps, label)->block;
    record_append_block(ps->program, region, block);
    lex_next(&ps->lex);
    if (at_kind(ps, '(')) {
        TSR_TRY(read_arguments(ps, true, &arguments, &count, &room));
    }
    TSR_TRY(add_arguments(ps, block, arguments, count));
    TSR_TRY(expect(ps, ':', "expected ':' after block name"));
    return read_ops(ps, block);
}

/* What is between the braces. */
static tsr_status read_blocks(parser *ps, uint32_t region, const ssa_argument *arguments,
                              size_t count)
{
    uint32_t block = 0;
    if (!at_kind(ps, TOKEN_CARET) && (!at_kind(ps, '}') || count > 0)) {
        TSR_TRY(new_block(ps, region, arguments, count, &block));
        TSR_TRY(read_ops(ps, block));
    } else if (at_kind(ps, TOKEN_CARET) && count > 0) {
        return error_here(ps, "invalid block name in region with named arguments");
    }
    while (!at_kind(ps, '}')) {
        TSR_TRY(read_block(ps, region));
    }
    for (uint32_t i = ps->region_labels; i < ps->block_labels.count; i++) {
        if (!label_at(ps, i)->is_defined) {
            return error_at(ps, label_at(ps, i)->at, "reference to an undefined block");
        }
    }
    return TSR_OK;
}

tsr_status read_region(parser *ps, op_reader *op, const ssa_argument *arguments, size_t count)
{
    uint32_t region = 0;
    TSR_TRY(expect(ps, '{', "expected '{' to begin a region"));
    TSR_TRY(parser_enter(ps));
    TSR_TRY(new_region(ps, &region));
    TSR_TRY(PUSH(ps, op->regions, op->num_regions, op->region_room, region));
    const int traits = op->row != NULL ? op->row->traits : 0;
    const name_scope scope = open_scope(ps);
    const uint32_t forwards = ps->forwards.count;
    const uint32_t labels = ps->region_labels;
    const char *dialect = ps->dialect;
    const char *prefix = ps->text.prefix;
    ps->text.prefix = NULL;
    ps->region_labels = ps->block_labels.count;
    ps->dialect = (traits & IR_NAMES_FUNC) != 0 ? "func" : "";
    TSR_TRY(read_blocks(ps, region, arguments, count));
    close_labels(ps);
    ps->region_labels = labels;
    ps->dialect = dialect;
    ps->text.prefix = prefix;
    close_scope(ps, scope);
    if ((traits & IR_FRESH_NAMES) != 0) {
        close_isolated(ps, forwards);
    }
    parser_leave(ps);
    return expect(ps, '}', "expected '}'");
}

tsr_status add_empty_region(parser *ps, op_reader *op)
{
    uint32_t region = 0;
    TSR_TRY(new_region(ps, &region));
    return PUSH(ps, op->regions, op->num_regions, op->region_room, region);
}

/* ---- ops ---- */

/* Sets properties that have a value when they are not written. */
static tsr_status fill_properties(parser *ps, op_reader *op)
{
    const ir_prop *props = op->row != NULL ? op->row->props : NULL;
    for (size_t i = 0; props != NULL && props[i].name != NULL; i++) {
        uint32_t attr = 0;
        bool is_there = !props[i].empty_if_missing;
        for (size_t k = 0; !is_there && k < op->num_properties; k++) {
            is_there = slice_is(string_at(ps->program, op->properties[k].name), props[i].name);
        }
        if (!is_there) {
            TSR_TRY(attr_string(ps->program, "", 0, 0, &attr));
            TSR_TRY(set_property(ps, op, props[i].name, attr));
        }
    }
    return TSR_OK;
}

tsr_status finish_op(parser *ps, op_reader *op, uint32_t block, uint32_t *out)
{
    tsr_program *p = ps->program;
    ir_op record = {.name = op->name_id,
                    .location = op->location != 0 ? op->location : (uint32_t)op->at,
                    .at = (uint32_t)op->at,
                    .num_operands = (uint32_t)op->num_operands,
                    .num_results = (uint32_t)op->num_results,
                    .num_regions = (uint32_t)op->num_regions,
                    .num_successors = (uint32_t)op->num_successors};
    TSR_TRY(program_new_list(p, op->operands, op->num_operands, &record.operands));
    TSR_TRY(note_operands(ps, record.operands, op->num_operands));
    TSR_TRY(program_new_list(p, op->regions, op->num_regions, &record.regions));
    for (size_t i = 0; i < op->num_successors; i++) {
        op->successors[i] = label_at(ps, op->successors[i])->block;
    }
    TSR_TRY(program_new_list(p, op->successors, op->num_successors, &record.successors));
    TSR_TRY(fill_properties(ps, op));
    TSR_TRY(attr_dict(p, op->properties, op->num_properties, &record.properties));
    TSR_TRY(attr_dict(p, op->attributes, op->num_attributes, &record.attributes));
    TSR_TRY(program_new_op(p, &record, out));
    for (size_t i = 0; i < op->num_regions; i++) {
        record_of_region(p, op->regions[i])->op = *out;
    }
    for (size_t i = 0; i < op->num_results; i++) {
        const ir_value value = {.type = op->results[i], .owner = *out, .index = (uint32_t)i};
        uint32_t number = 0;
        TSR_TRY(program_new_values(p, &value, 1, &number));
        if (i == 0) {
            record_of_op(p, *out)->results = number;
        }
    }
    if (block != 0) {
        record_append_op(p, block, *out);
    }
    return TSR_OK;
}

/* A name before `=`. */
typedef struct result_name {
    uint32_t name;
    uint32_t count;
    size_t at;
} result_name;

typedef struct result_names {
    result_name *items;
    size_t count;
    size_t room;
    size_t total;
    size_t at;
} result_names;

static tsr_status read_result_names(parser *ps, result_names *out)
{
    out->at = ps->lex.current.at;
    do {
        const slice text = token_text(ps);
        result_name name = {.count = 1, .at = ps->lex.current.at};
        if (!at_kind(ps, TOKEN_PERCENT)) {
            return error_here(ps, "expected valid ssa identifier");
        }
        TSR_TRY(name_key(ps, (slice){text.data + 1, text.size - 1}, &name.name));
        lex_next(&ps->lex);
        if (accept(ps, ':')) {
            uint64_t count = 0;
            if (!at_kind(ps, TOKEN_INTEGER)) {
                return error_here(ps, "expected integer number of results");
            }
            if (!lex_digits(token_text(ps), &count) || count < 1 || count > INT32_MAX) {
                return error_here(ps, "expected named operation to have at least 1 result");
            }
            name.count = (uint32_t)count;
            lex_next(&ps->lex);
        }
        out->total += name.count;
        TSR_TRY(PUSH(ps, out->items, out->count, out->room, name));
    } while (accept(ps, ','));
    return expect(ps, '=', "expected '=' after SSA name");
}

static tsr_status bind_results(parser *ps, const result_names *names, uint32_t op)
{
    const ir_op *record = program_op(ps->program, op);
    uint32_t value = record->results;
    if (names->count == 0) {
        return TSR_OK;
    }
    if (record->num_results == 0) {
        return error_at(ps, names->at, "cannot name an operation with no results");
    }
    if (names->total != record->num_results) {
        return error_at(ps, names->at, "operation defines %u results but was provided %zu to bind",
                        record->num_results, names->total);
    }
    for (size_t i = 0; i < names->count; i++) {
        TSR_TRY(define_value(ps, names->items[i].name, names->items[i].at, value,
                             names->items[i].count));
        value += names->items[i].count;
    }
    return TSR_OK;
}

/* ---- the generic form ---- */

static tsr_status read_successors(parser *ps, op_reader *op)
{
    if (!accept(ps, '[')) {
        return TSR_OK;
    }
    do {
        uint32_t label = 0;
        if (!at_kind(ps, TOKEN_CARET)) {
            return error_here(ps, "expected block name");
        }
        TSR_TRY(find_label(ps, token_text(ps), ps->lex.current.at, &label));
        lex_next(&ps->lex);
        TSR_TRY(PUSH(ps, op->successors, op->num_successors, op->successor_room, label));
    } while (accept(ps, ','));
    return expect(ps, ']', "expected ']'");
}

static tsr_status refuse_properties(parser *ps, const op_reader *op, attr_entry *entries,
                                    size_t count)
{
    uint32_t dict = 0;
    const char *text = "{}";
    TSR_TRY(attr_dict(ps->program, entries, count, &dict));
    if (count > 0) {
        TSR_TRY(tsr_ir_attr_to_text(ps->ctx, ps->scratch, ps->program, dict, &text));
    }
    return error_at(ps, op->at,
                    "invalid properties %s for op %s: this operation has empty properties", text,
                    op_kind_name(op->row->kind));
}

/* Names that are not of properties are passed over. */
static tsr_status read_generic_properties(parser *ps, op_reader *op)
{
    if (!accept(ps, '<')) {
        return TSR_OK;
    }
    attr_entry *entries = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(read_dict_entries(ps, &entries, &count, &room));
    for (size_t i = 0; i < count; i++) {
        const slice name = string_at(ps->program, entries[i].name);
        if (op->row != NULL && row_prop(op->row, name) == NULL) {
            continue;
        }
        TSR_TRY(PUSH(ps, op->properties, op->num_properties, op->property_room, entries[i]));
    }
    if (op->row != NULL && op->row->props == NULL) {
        return refuse_properties(ps, op, entries, count);
    }
    return expect(ps, '>', "expected '>'");
}

static tsr_status read_generic_regions(parser *ps, op_reader *op)
{
    if (!accept(ps, '(')) {
        return TSR_OK;
    }
    do {
        TSR_TRY(read_region(ps, op, NULL, 0));
    } while (accept(ps, ','));
    return expect(ps, ')', "expected ')'");
}

static tsr_status read_generic_types(parser *ps, op_reader *op)
{
    uint32_t *types = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(expect(ps, ':', "expected ':' followed by operation type"));
    const size_t at = ps->lex.current.at;
    if (!at_kind(ps, '(')) {
        uint32_t type = 0;
        TSR_TRY(read_type(ps, &type));
        return error_at(ps, at, "expected function type");
    }
    TSR_TRY(read_type_or_list(ps, &types, &count, &room));
    TSR_TRY(expect_arrow(ps, "expected '->' in function type"));
    TSR_TRY(read_type_or_list(ps, &op->results, &op->num_results, &op->result_room));
    if (count != op->num_uses) {
        return error_at(ps, at, "expected %zu operand type%s but had %zu", op->num_uses,
                        op->num_uses == 1 ? "" : "s", count);
    }
    return resolve_uses(ps, op, types, count);
}

static tsr_status check_registered(parser *ps, const op_reader *op)
{
    const char *dot = memchr(op->name.data, '.', op->name.size);
    const size_t dialect = dot != NULL ? (size_t)(dot - op->name.data) : 0;
    if (op->row != NULL || (ps->program->flags & TSR_PROGRAM_ALLOW_UNREGISTERED) != 0) {
        return TSR_OK;
    }
    if (dot != NULL && ir_dialect_known(op->name.data, dialect)) {
        return error_at(ps, op->at,
                        "'%.*s' op created with unregistered op name. If this is intended, use "
                        "-allow-unregistered-dialect: unregistered operation '%.*s' found in "
                        "dialect ('%.*s') that does not allow unknown operations",
                        (int)op->name.size, op->name.data, (int)op->name.size, op->name.data,
                        (int)dialect, op->name.data);
    }
    return error_here(ps, "operation being parsed with an unregistered dialect. If this is "
                          "intended, please use -allow-unregistered-dialect with the MLIR tool "
                          "used");
}

static tsr_status read_generic(parser *ps, op_reader *op)
{
    TSR_TRY(lex_unquote(&ps->lex, token_text(ps), &op->name));
    if (op->name.size == 0) {
        return error_here(ps, "empty operation name is invalid");
    }
    if (memchr(op->name.data, '\0', op->name.size) != NULL) {
        return error_here(ps, "null character not allowed in operation name");
    }
    TSR_TRY(program_op_name(ps->program, op->name.data, op->name.size, &op->name_id));
    op->row = ((const ir_name *)ps->program->names.items)[op->name_id].row;
    lex_next(&ps->lex);
    TSR_TRY(check_registered(ps, op));
    TSR_TRY(expect(ps, '(', "expected '(' to start operand list"));
    TSR_TRY(read_uses(ps, op));
    TSR_TRY(expect(ps, ')', "expected ')' to end operand list"));
    TSR_TRY(read_successors(ps, op));
    const bool has_properties = at_kind(ps, '<');
    TSR_TRY(read_generic_properties(ps, op));
    TSR_TRY(read_generic_regions(ps, op));
    if (has_properties) {
        TSR_TRY(read_optional_dict(ps, &op->attributes, &op->num_attributes, &op->attribute_room));
    } else {
        TSR_TRY(read_dict(ps, op));
    }
    return read_generic_types(ps, op);
}

/* ---- the forms of their own ---- */

static tsr_status unknown_custom(parser *ps, slice name)
{
    const char *dot = memchr(name.data, '.', name.size);
    if (dot == NULL) {
        return error_here(
            ps, "custom op '%.*s' is unknown (tried '%s.%.*s' as well)", (int)name.size, name.data,
            ps->dialect[0] != '\0' ? ps->dialect : "builtin", (int)name.size, name.data);
    }
    const size_t size = (size_t)(dot - name.data);
    if (!ir_dialect_known(name.data, size)) {
        (void)error_here(ps, "Dialect `%.*s' not found for custom op '%.*s' ", (int)size, name.data,
                         (int)name.size, name.data);
        return diag_note(ps->ctx, NO_LOCATION,
                         "ops of unknown dialects are read in generic form only, with "
                         "-allow-unregistered-dialect");
    }
    return error_here(ps, "custom op '%.*s' is unknown", (int)name.size, name.data);
}

/* The name of an op, with the dialect that the region implies where it has none. */
static tsr_status find_custom(parser *ps, op_reader *op)
{
    enum { MOST = 128 };
    char full[MOST];
    slice name = token_text(ps);
    if (memchr(name.data, '.', name.size) == NULL && name.size < MOST / 2) {
        const char *dialect =
            slice_is(name, "module") || ps->dialect[0] == '\0' ? "builtin" : ps->dialect;
        const int size = snprintf(full, MOST, "%s.%.*s", dialect, (int)name.size, name.data);
        name = (slice){full, (size_t)size};
    }
    TSR_TRY(program_op_name(ps->program, name.data, name.size, &op->name_id));
    op->row = ((const ir_name *)ps->program->names.items)[op->name_id].row;
    op->name = (slice){intern_get(&ps->program->op_names, op->name_id), name.size};
    if (op->row == NULL || (op->row->form == NULL && op_spellings[op->row->kind].read == NULL)) {
        return unknown_custom(ps, token_text(ps));
    }
    return TSR_OK;
}

/* `custom op 'name' `: made once for each name. */
static tsr_status find_prefix(parser *ps, const op_reader *op, const char **out)
{
    enum { MOST = 128 };
    char text[MOST];
    if (op->name_id >= ps->prefixes.count) {
        const uint32_t extra = op->name_id + 1 - ps->prefixes.count;
        TSR_TRY(ir_array_reserve(ps->ctx, &ps->prefixes, sizeof *out, extra));
        memset((const char **)ps->prefixes.items + ps->prefixes.count, 0, extra * sizeof *out);
        ps->prefixes.count += extra;
    }
    const char **prefix = (const char **)ps->prefixes.items + op->name_id;
    if (*prefix == NULL) {
        const int size =
            snprintf(text, sizeof text, "custom op '%s' ", op_kind_name(op->row->kind));
        *prefix = arena_string(ps->program->arena, text, (size_t)size);
    }
    *out = *prefix;
    return *prefix != NULL ? TSR_OK : diag_nomem(ps->ctx);
}

static tsr_status read_custom(parser *ps, op_reader *op)
{
    const char *prefix = NULL;
    const char *before = ps->text.prefix;
    TSR_TRY(find_custom(ps, op));
    TSR_TRY(find_prefix(ps, op, &prefix));
    const op_spelling *own = &op_spellings[op->row->kind];
    lex_next(&ps->lex);
    ps->text.prefix = prefix;
    const tsr_status status =
        own->read != NULL ? own->read(ps, op) : form_read(ps, op, op->row->form);
    ps->text.prefix = before;
    return status;
}

static tsr_status read_body(parser *ps, op_reader *op)
{
    op->at = ps->lex.current.at;
    if (at_kind(ps, TOKEN_STRING)) {
        return read_generic(ps, op);
    }
    if (at_kind(ps, TOKEN_WORD)) {
        return read_custom(ps, op);
    }
    return error_after(ps, "expected operation name in quotes");
}

tsr_status read_op(parser *ps, uint32_t block)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(ps->scratch);
    op_reader op = {0};
    result_name name;
    result_names names = {.items = &name, .room = 1};
    uint32_t number = 0;
    op.operands = op.few_operands;
    op.results = op.few_results;
    op.uses = op.few_uses;
    op.operand_room = op.result_room = op.use_room = FEW;
    if (at_kind(ps, TOKEN_PERCENT)) {
        TSR_TRY(read_result_names(ps, &names));
    }
    TSR_TRY(read_body(ps, &op));
    TSR_TRY(read_optional_location(ps, &op.location));
    TSR_TRY(finish_op(ps, &op, block, &number));
    TSR_TRY(bind_results(ps, &names, number));
    tsr_arena_reset(ps->scratch, mark);
    return TSR_OK;
}

/* ---- the file ---- */

const alias *find_alias(const parser *ps, slice name)
{
    const uint32_t id = intern_find_bytes(&ps->alias_names, name.data, name.size);
    return id != 0 ? (const alias *)ps->aliases.items + id : NULL;
}

static tsr_status define_alias(parser *ps)
{
    const slice name = token_text(ps);
    const bool is_type = at_kind(ps, TOKEN_BANG);
    uint32_t id = 0;
    alias defined = {0};
    if (memchr(name.data, '.', name.size) != NULL) {
        return error_here(ps, "%s names with a '.' are reserved for dialect-defined names",
                          is_type ? "type" : "attribute");
    }
    if (find_alias(ps, name) != NULL) {
        return error_here(ps, "redefinition of %s alias id '%.*s'", is_type ? "type" : "attribute",
                          (int)name.size - 1, name.data + 1);
    }
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '=',
                   is_type ? "expected '=' in type alias definition"
                           : "expected '=' in attribute alias definition"));
    ps->deepest = ps->depth;
    TSR_TRY(is_type ? read_type(ps, &defined.value) : read_attr(ps, &defined.value));
    defined.depth = ps->deepest - ps->depth - 1;
    TSR_TRY(ir_array_reserve(ps->ctx, &ps->aliases, sizeof defined, 1));
    TSR_TRY(intern_bytes(&ps->alias_names, name.data, name.size, &id));
    ((alias *)ps->aliases.items)[ps->aliases.count++] = defined;
    return TSR_OK;
}

static tsr_status read_top_level(parser *ps, uint32_t block)
{
    while (!at_kind(ps, TOKEN_END)) {
        if (at_kind(ps, TOKEN_HASH) || at_kind(ps, TOKEN_BANG)) {
            const tsr_arena_mark mark = tsr_arena_get_mark(ps->scratch);
            TSR_TRY(define_alias(ps));
            tsr_arena_reset(ps->scratch, mark);
        } else if (at_kind(ps, TOKEN_METADATA_BEGIN)) {
            TSR_TRY(read_metadata(ps));
        } else {
            TSR_TRY(read_op(ps, block));
        }
    }
    return TSR_OK;
}

/* One module op is the module; anything else is put into one. */
static tsr_status settle_module(parser *ps, uint32_t region, uint32_t block)
{
    tsr_program *p = ps->program;
    const uint32_t only = program_block(p, block)->first_op;
    if (only != 0 && program_op(p, only)->next == 0 && op_is(p, only, OP_BUILTIN_MODULE)) {
        record_of_op(p, only)->block = 0;
        p->module = only;
        return TSR_OK;
    }
    op_reader op = {.at = IR_NOWHERE, .regions = &region, .num_regions = 1};
    TSR_TRY(program_kind_name(p, OP_BUILTIN_MODULE, &op.name_id));
    return finish_op(ps, &op, 0, &p->module);
}

tsr_status read_file(parser *ps)
{
    uint32_t region = 0;
    uint32_t block = 0;
    TSR_TRY(new_region(ps, &region));
    TSR_TRY(new_block(ps, region, NULL, 0, &block));
    TSR_TRY(read_top_level(ps, block));
    TSR_TRY(finish_names(ps));
    TSR_TRY(settle_module(ps, region, block));
    TSR_TRY(finish_metadata(ps));
    return settle_locations(ps);
}

/* ---- from outside ---- */

static tsr_status parser_init(parser *ps, tsr_context *ctx, tsr_program *p)
{
    *ps = (parser){.ctx = ctx, .program = p, .dialect = ""};
    TSR_TRY(tsr_arena_create(ctx, &ps->scratch));
    intern_table *tables[] = {&ps->names, &ps->alias_names, &ps->type_texts};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        TSR_TRY(intern_table_init(tables[i], ctx, p->arena));
    }
    TSR_TRY(ir_array_reserve(ctx, &ps->aliases, sizeof(alias), 1));
    TSR_TRY(ir_array_reserve(ctx, &ps->type_ids, sizeof(uint32_t), 1));
    ps->aliases.count = ps->type_ids.count = 1; /* number 0 is none */
    ps->text = p->text;
    ps->lex = lex_start_program(ctx, ps->scratch, &ps->text);
    return TSR_OK;
}

static void parser_free(parser *ps)
{
    intern_table *tables[] = {&ps->names, &ps->alias_names, &ps->type_texts};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        intern_table_free(tables[i]);
    }
    ir_array_free(ps->ctx, &ps->bindings, sizeof(binding));
    ir_array_free(ps->ctx, &ps->numbered, sizeof(binding));
    ir_array_free(ps->ctx, &ps->defined, sizeof(uint32_t));
    ir_array_free(ps->ctx, &ps->forwards, sizeof(forward_use));
    ir_array_free(ps->ctx, &ps->forward_operands, sizeof(uint32_t));
    ir_array_free(ps->ctx, &ps->aliases, sizeof(alias));
    ir_array_free(ps->ctx, &ps->type_ids, sizeof(uint32_t));
    ir_array_free(ps->ctx, &ps->prefixes, sizeof(const char *));
    ir_array_free(ps->ctx, &ps->block_labels, sizeof(block_label));
    ir_array_free(ps->ctx, &ps->label_places, sizeof(uint32_t));
    ir_array_free(ps->ctx, &ps->fused_parts, sizeof(uint32_t));
    ir_array_free(ps->ctx, &ps->resources, sizeof(attr_entry));
    tsr_arena_destroy(ps->scratch);
}

static tsr_status read_into(tsr_context *ctx, tsr_program *p)
{
    parser ps;
    tsr_status status = parser_init(&ps, ctx, p);
    if (status >= 0) {
        status = read_file(&ps);
    }
    parser_free(&ps);
    return status;
}

tsr_status program_read_text(tsr_context *ctx, const tsr_text *text, int flags, tsr_program **out)
{
    tsr_program *p = NULL;
    if (text->size >= IR_NOWHERE) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the program has %zu bytes: at most 2 GiB are supported", text->size);
    }
    TSR_TRY(program_create(ctx, &p));
    p->text = *text;
    p->flags = flags;
    const tsr_status status = read_into(ctx, p);
    if (status < 0) {
        tsr_program_destroy(p);
        return status;
    }
    *out = p;
    return TSR_OK;
}
