/* Reading and printing ops by the forms of their rows. */
#include <string.h>

#include "base/arena.h"
#include "number/float_format.h"
#include "text/attr_struct.h"
#include "text/parser.h"
#include "text/printer.h"

/* The end of `(..)` that starts at `open`: the closing parenthesis. */
static const char *closing_parenthesis(const char *open)
{
    int depth = 0;
    for (const char *c = open;; c++) {
        depth += *c == '(';
        depth -= *c == ')';
        if (depth == 0) {
            return c;
        }
    }
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t word_length(const char *form)
{
    size_t size = 0;
    while (is_word_char(form[size])) {
        size++;
    }
    return size;
}

/* ---- properties in forms ---- */

static tsr_status read_int_of(parser *ps, unsigned width, uint32_t *out)
{
    uint32_t type = 0;
    TSR_TRY(type_integer(ps->program, width, SIGNLESS, &type));
    if (!at_kind(ps, TOKEN_INTEGER) && !at_kind(ps, '-')) {
        return error_here(ps, "expected attribute value");
    }
    return read_attr_typed(ps, type, out);
}

static tsr_status read_enums(parser *ps, int row, uint32_t *out)
{
    uint32_t *items = NULL;
    size_t count = 0;
    TSR_TRY(read_bracketed(ps, read_enum_value, row, &items, &count));
    return attr_array(ps->program, items, count, out);
}

/* Takes a word of an enum that is an integer in the program; TSR_NOT_APPLICABLE if none is next. */
static tsr_status read_integer_enum(parser *ps, int row, uint32_t *out)
{
    const char *const *names = ir_enums[row].values;
    uint32_t type = 0;
    for (int i = 0; names[i] != NULL; i++) {
        if (at_kind(ps, TOKEN_WORD) && slice_is(token_text(ps), names[i])) {
            lex_next(&ps->lex);
            TSR_TRY(type_integer(ps->program, 32, SIGNLESS, &type));
            return attr_integer(ps->program, type, (uint64_t)i, out);
        }
    }
    return TSR_NOT_APPLICABLE;
}

static tsr_status read_direction(parser *ps, uint32_t *out)
{
    const tsr_status status = read_integer_enum(ps, ENUM_DIRECTION, out);
    if (status != TSR_NOT_APPLICABLE) {
        return status;
    }
    return error_here(ps, "expected string or keyword containing one of the following enum values "
                          "for attribute 'allowed_direction' [NONE, FORWARD, BACKWARD, BOTH]");
}

static tsr_status read_elements_attr(parser *ps, uint32_t *out)
{
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_attr(ps, out));
    return attr_is_elements(ps->program, *out)
               ? TSR_OK
               : error_at(ps, at, "%sinvalid kind of attribute specified", ps->text.prefix);
}

static tsr_status read_prop(parser *ps, const ir_prop *prop, uint32_t *out)
{
    slice text;
    uint32_t type = 0;
    switch (prop->kind) {
    case PROP_INT:
        return read_int_of(ps, 64, out);
    case PROP_INT32:
        return read_int_of(ps, 32, out);
    case PROP_INTS:
        return read_ints(ps, out);
    case PROP_BOOL:
        return read_bool_word(ps, "expected attribute value", out);
    case PROP_STRING:
        TSR_TRY(read_string(ps, &text));
        return attr_string(ps->program, text.data, text.size, 0, out);
    case PROP_SYMBOL:
        return read_symbol(ps, out);
    case PROP_SYMBOL_NAME:
        return read_symbol_name(ps, out);
    case PROP_ENUM:
        return prop->row == ENUM_DIRECTION ? read_direction(ps, out)
                                           : read_enum_value(ps, prop->row, out);
    case PROP_ENUMS:
        return read_enums(ps, prop->row, out);
    case PROP_FLOAT:
        TSR_TRY(type_float(ps->program, FLOAT_F64, &type));
        return read_attr_typed(ps, type, out);
    case PROP_ELEMENTS:
        return read_elements_attr(ps, out);
    case PROP_STRUCT:
        return read_stripped_struct(ps, prop->row, out);
    case PROP_SDY:
        return read_stripped_sdy(ps, (sdy_attr)prop->row, out);
    default:
        return read_attr(ps, out);
    }
}

static void print_enum_value(printer *pr, const ir_prop *prop, uint32_t attr)
{
    const attr_head *head = program_attr(pr->program, attr);
    const char *const *names = ir_enums[prop->row].values;
    put(pr, names[head->bits]);
}

static void print_enums(printer *pr, const ir_prop *prop, const attr_head *list)
{
    put_char(pr, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        put(pr, i > 0 ? ", " : "");
        print_enum_value(pr, prop, attr_list(list)[i]);
    }
    put_char(pr, ']');
}

static void print_prop(printer *pr, const ir_prop *prop, uint32_t attr)
{
    const attr_head *head = program_attr(pr->program, attr);
    switch (prop->kind) {
    case PROP_INTS:
        print_ints(pr, head);
        break;
    case PROP_INT:
    case PROP_INT32:
        put_int(pr, (int64_t)head->bits);
        break;
    case PROP_ENUM:
        print_enum_value(pr, prop, attr);
        break;
    case PROP_ENUMS:
        print_enums(pr, prop, head);
        break;
    case PROP_STRUCT:
        print_struct_body(pr, head);
        break;
    case PROP_SDY:
        print_sdy_body(pr, head);
        break;
    case PROP_SYMBOL_NAME:
        put_symbol(pr, (slice){attr_text(head), head->count});
        break;
    default:
        print_attr_bare(pr, attr);
        break;
    }
}

/* ---- reading ---- */

static const ir_prop *named_prop(const ir_row *row, const char *name, size_t size)
{
    return row_prop(row, (slice){name, size});
}

/* Takes the literal text at the start of a form; false, with nothing taken, if it is not there. */
static bool accept_literal(parser *ps, const char *form, const char *end)
{
    const lexer saved = ps->lex;
    const size_t at = ps->text.at;
    while (form < end && *form != '$') {
        if (*form == ' ') {
            form++;
            continue;
        }
        const size_t size = word_length(form);
        const bool fits =
            size > 0 ? at_kind(ps, TOKEN_WORD) && slice_equal(token_text(ps), (slice){form, size})
                     : at_kind(ps, *form);
        if (!fits) {
            ps->lex = saved;
            ps->text.at = at;
            return false;
        }
        lex_next(&ps->lex);
        form += size > 0 ? size : 1;
    }
    return true;
}

static tsr_status read_same_types(parser *ps, op_reader *op)
{
    uint32_t type = 0;
    if (at_kind(ps, '(')) {
        return read_function_types(ps, op);
    }
    TSR_TRY(read_type(ps, &type));
    TSR_TRY(resolve_uses_alike(ps, op, type));
    return add_type(ps, op, type);
}

/* One type for the operands, and for the result if there is one. */
static tsr_status read_one_type(parser *ps, op_reader *op)
{
    uint32_t type = 0;
    TSR_TRY(read_type(ps, &type));
    TSR_TRY(resolve_uses_alike(ps, op, type));
    return op->row->num_results == 1 ? add_type(ps, op, type) : TSR_OK;
}

static tsr_status read_operand_types(parser *ps, op_reader *op, bool are_results)
{
    uint32_t *types = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(read_types(ps, &types, &count, &room));
    if (count != op->num_uses) {
        return error_at(ps, op->at,
                        "custom op '%s' number of operands and types do not match: got %zu "
                        "operands and %zu types",
                        op_kind_name(op->row->kind), op->num_uses, count);
    }
    TSR_TRY(resolve_uses(ps, op, types, count));
    for (size_t i = 0; are_results && i < count; i++) {
        TSR_TRY(add_type(ps, op, types[i]));
    }
    return TSR_OK;
}

static bool is_shaped(const parser *ps, uint32_t type)
{
    return type_is(ps->program, type, TYPE_TENSOR) || type_is(ps->program, type, TYPE_UNRANKED);
}

static tsr_status read_arrow_types(parser *ps, op_reader *op)
{
    TSR_TRY(read_operand_types(ps, op, false));
    TSR_TRY(expect_arrow(ps, "expected '->'"));
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_type_or_list(ps, &op->results, &op->num_results, &op->result_room));
    return op->num_results != 1 || is_shaped(ps, op->results[0])
               ? TSR_OK
               : error_at(ps, at, "%sinvalid kind of type specified", ps->text.prefix);
}

/* A complex result stands for operands of its real type. */
static tsr_status read_complex_types(parser *ps, op_reader *op)
{
    uint32_t type = 0;
    uint32_t part = 0;
    if (at_kind(ps, '(')) {
        return read_function_types(ps, op);
    }
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_type(ps, &type));
    const uint32_t element = type_element(ps->program, type);
    if (!type_is(ps->program, element, TYPE_COMPLEX)) {
        return error_at(ps, at, "custom op '%s' expected tensor with complex element type",
                        op_kind_name(op->row->kind));
    }
    const type_head *head = program_type(ps->program, type);
    TSR_TRY(type_tensor(ps->program, type_extents(head), head->count,
                        program_type(ps->program, element)->element, head->encoding, &part));
    TSR_TRY(resolve_uses_alike(ps, op, part));
    return add_type(ps, op, type);
}

/* `pred, type`, the latter of the other operands and the result. */
static tsr_status read_select_types(parser *ps, op_reader *op)
{
    uint32_t types[3] = {0};
    if (at_kind(ps, '(')) {
        return read_function_types(ps, op);
    }
    TSR_TRY(read_type(ps, &types[0]));
    if (!accept(ps, ',')) {
        return error_here(ps, "expected functional type or list of two types");
    }
    TSR_TRY(read_type(ps, &types[1]));
    if (accept(ps, ',')) {
        return error_here(ps, "expected functional type or list of two types");
    }
    types[2] = types[1];
    TSR_TRY(add_type(ps, op, types[1]));
    return resolve_uses(ps, op, types, 3);
}

static tsr_status read_tuple_type(parser *ps, op_reader *op)
{
    uint32_t type = 0;
    if (at_kind(ps, '(')) {
        return read_function_types(ps, op);
    }
    TSR_TRY(read_type(ps, &type));
    const type_head *head = program_type(ps->program, type);
    if (head->kind != TYPE_TUPLE) {
        return error_here(ps, "expected tuple type");
    }
    TSR_TRY(add_type(ps, op, type));
    return resolve_uses(ps, op, type_list(head), head->count);
}

static tsr_status read_one_use(parser *ps, op_reader *op)
{
    ssa_use use;
    TSR_TRY(read_use(ps, &use));
    return PUSH(ps, op->uses, op->num_uses, op->use_room, use);
}

static tsr_status read_result_type(parser *ps, op_reader *op)
{
    uint32_t type = 0;
    TSR_TRY(read_type(ps, &type));
    return add_type(ps, op, type);
}

/* The kind of a reduction; none is written, and none kept, for a sum. */
static tsr_status read_reduction(parser *ps, op_reader *op)
{
    uint32_t kind = 0;
    const tsr_status status = read_integer_enum(ps, ENUM_REDUCTION, &kind);
    TSR_TRY(status);
    return status == TSR_NOT_APPLICABLE || program_attr(ps->program, kind)->bits == 0
               ? TSR_OK
               : set_property(ps, op, "reduction_op", kind);
}

/* The operands have the type of the property `value`. */
static tsr_status use_value_type(parser *ps, op_reader *op)
{
    const attr_head *value =
        program_attr(ps->program, op->properties[op->num_properties - 1].value);
    return resolve_uses_alike(ps, op, value->type);
}

static tsr_status read_cast_types(parser *ps, op_reader *op)
{
    uint32_t type = 0;
    TSR_TRY(read_type(ps, &type));
    TSR_TRY(resolve_uses_alike(ps, op, type));
    TSR_TRY(lex_expect_word(&ps->lex, "to"));
    return read_result_type(ps, op);
}

static tsr_status read_directive(parser *ps, op_reader *op, char directive)
{
    switch (directive) {
    case 'K':
        return read_reduction(ps, op);
    case 'Q':
        return use_value_type(ps, op);
    case 'X':
        return read_cast_types(ps, op);
    case 'o':
        return read_one_use(ps, op);
    case 'v':
    case 'W':
        return read_uses(ps, op);
    case 'D':
        return read_dict(ps, op);
    case 'A':
        return read_dict_with_keyword(ps, op);
    case 'S':
        return read_same_types(ps, op);
    case 'F':
        return read_function_types(ps, op);
    case 'R':
        return read_result_type(ps, op);
    case 'N':
        return read_types(ps, &op->results, &op->num_results, &op->result_room);
    case 'O':
        return read_operand_types(ps, op, false);
    case 'T':
        return read_operand_types(ps, op, true);
    case 'E':
        return read_one_type(ps, op);
    case 'P':
        return read_arrow_types(ps, op);
    case 'C':
        return read_complex_types(ps, op);
    case 'L':
        return read_select_types(ps, op);
    default:
        return read_tuple_type(ps, op);
    }
}

static tsr_status read_part(parser *ps, op_reader *op, const char *form, const char *end);

/* `$(name)` */
static tsr_status read_named(parser *ps, op_reader *op, const char *name, size_t size)
{
    uint32_t attr = 0;
    const ir_prop *prop = named_prop(op->row, name, size);
    TSR_TRY(read_prop(ps, prop, &attr));
    return set_property(ps, op, prop->name, attr);
}

/* `$?(..)`: taken if its first literal text is next. */
static tsr_status read_optional(parser *ps, op_reader *op, const char *form, const char *end)
{
    if (!accept_literal(ps, form, end)) {
        return TSR_OK;
    }
    while (*form != '$') {
        form++;
    }
    return read_part(ps, op, form, end);
}

/* `$V(..)`: taken if it can start here. */
static tsr_status read_operand_part(parser *ps, op_reader *op, const char *form, const char *end)
{
    const char *first = form;
    while (*first == ' ') {
        first++;
    }
    const bool is_there = *first == '$' ? next_is_use(ps) : at_kind(ps, *first);
    if (!is_there && op->num_uses > 0) {
        return error_at(ps, op->at,
                        "custom op '%s' number of operands and types do not match: got %zu "
                        "operands and 0 types",
                        op_kind_name(op->row->kind), op->num_uses);
    }
    return is_there ? read_part(ps, op, form, end) : TSR_OK;
}

static tsr_status read_literal(parser *ps, const char **form)
{
    const size_t size = word_length(*form);
    if (strncmp(*form, "->", 2) == 0) {
        *form += 2;
        return expect_arrow(ps, "expected '->'");
    }
    if (size == 0) {
        return lex_expect(&ps->lex, *(*form)++);
    }
    char word[64];
    memcpy(word, *form, size);
    word[size] = '\0';
    *form += size;
    return lex_expect_word(&ps->lex, word);
}

static tsr_status read_part(parser *ps, op_reader *op, const char *form, const char *end)
{
    while (form < end) {
        if (*form == ' ') {
            form++;
            continue;
        }
        if (*form != '$') {
            TSR_TRY(read_literal(ps, &form));
            continue;
        }
        const char *open = form[1] == '(' ? form + 1 : form + 2;
        if (form[1] != '(' && form[1] != '?' && form[1] != 'V') {
            TSR_TRY(read_directive(ps, op, form[1]));
            form += 2;
            continue;
        }
        const char *close = closing_parenthesis(open);
        if (form[1] == '(') {
            TSR_TRY(read_named(ps, op, open + 1, (size_t)(close - open) - 1));
        } else if (form[1] == '?') {
            TSR_TRY(read_optional(ps, op, open + 1, close));
        } else {
            TSR_TRY(read_operand_part(ps, op, open + 1, close));
        }
        form = close + 1;
    }
    return TSR_OK;
}

tsr_status form_read(parser *ps, op_reader *op, const char *form)
{
    return read_part(ps, op, form, form + strlen(form));
}

/* ---- printing ---- */

static bool types_are(const printer *pr, uint32_t op, uint32_t type)
{
    const ir_op *record = program_op(pr->program, op);
    for (uint32_t i = 0; i < record->num_operands; i++) {
        if (value_type(pr->program, op_operand(pr->program, op, i)) != type) {
            return false;
        }
    }
    return true;
}

static uint32_t result_type(const printer *pr, uint32_t op)
{
    return value_type(pr->program, program_op(pr->program, op)->results);
}

static void print_same_types(printer *pr, uint32_t op)
{
    if (program_op(pr->program, op)->num_results == 1 && types_are(pr, op, result_type(pr, op))) {
        print_type(pr, result_type(pr, op));
    } else {
        print_op_types(pr, op);
    }
}

static bool is_complex_of_parts(const printer *pr, uint32_t op)
{
    const uint32_t result = result_type(pr, op);
    const type_head *whole = program_type(pr->program, result);
    const uint32_t first = value_type(pr->program, op_operand(pr->program, op, 0));
    const type_head *part = program_type(pr->program, first);
    if (whole->kind != TYPE_TENSOR || part->kind != TYPE_TENSOR || !types_are(pr, op, first) ||
        !type_is(pr->program, whole->element, TYPE_COMPLEX) || whole->count != part->count ||
        whole->encoding != part->encoding) {
        return false;
    }
    return program_type(pr->program, whole->element)->element == part->element &&
           memcmp(type_extents(whole), type_extents(part), whole->count * sizeof(int64_t)) == 0;
}

static void print_select_types(printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const uint32_t result = result_type(pr, op);
    if (program_op(p, op)->num_operands != 3 || value_type(p, op_operand(p, op, 1)) != result ||
        value_type(p, op_operand(p, op, 2)) != result) {
        print_op_types(pr, op);
        return;
    }
    print_type(pr, value_type(p, op_operand(p, op, 0)));
    put(pr, ", ");
    print_type(pr, result);
}

static void print_arrow_types(printer *pr, uint32_t op)
{
    const ir_op *record = program_op(pr->program, op);
    print_operand_types(pr, op);
    put(pr, " -> ");
    if (record->num_results == 1) {
        print_type(pr, result_type(pr, op));
        return;
    }
    put_char(pr, '(');
    print_result_types(pr, op);
    put_char(pr, ')');
}

/* ` max`; nothing for a sum. */
static void print_reduction(printer *pr, uint32_t op)
{
    int64_t kind = 0;
    if (attr_as_integer(pr->program, op_property(pr->program, op, "reduction_op"), &kind) &&
        kind > 0) {
        put_char(pr, ' ');
        put(pr, ir_enums[ENUM_REDUCTION].values[kind]);
    }
}

static void print_directive(printer *pr, uint32_t op, char directive, size_t *operand)
{
    const size_t count = program_op(pr->program, op)->num_operands;
    switch (directive) {
    case 'K':
        print_reduction(pr, op);
        break;
    case 'Q':
        break;
    case 'X':
        print_operand_types(pr, op);
        put(pr, " to ");
        print_result_types(pr, op);
        break;
    case 'o':
        print_operands(pr, op, *operand, *operand + 1);
        (*operand)++;
        break;
    case 'v':
        print_operands(pr, op, *operand, count);
        *operand = count;
        break;
    case 'W':
        print_operands(pr, op, 0, count);
        put(pr, count == 1 ? ", " : "");
        break;
    case 'N':
        print_result_types(pr, op);
        break;
    case 'D':
        print_dict(pr, op, NULL);
        break;
    case 'A':
        print_dict(pr, op, "attributes ");
        break;
    case 'S':
        print_same_types(pr, op);
        break;
    case 'F':
        print_op_types(pr, op);
        break;
    case 'R':
    case 'U':
        print_type(pr, result_type(pr, op));
        break;
    case 'O':
    case 'T':
        print_operand_types(pr, op);
        break;
    case 'E':
        print_type(pr, value_type(pr->program, op_operand(pr->program, op, 0)));
        break;
    case 'P':
        print_arrow_types(pr, op);
        break;
    case 'C':
        if (is_complex_of_parts(pr, op)) {
            print_type(pr, result_type(pr, op));
        } else {
            print_op_types(pr, op);
        }
        break;
    default:
        print_select_types(pr, op);
        break;
    }
}

static void print_part(printer *pr, uint32_t op, const char *form, const char *end,
                       size_t *operand);

/* Whether the property of an optional part is set. */
static bool has_optional(printer *pr, uint32_t op, const char *form)
{
    const char *name = strstr(form, "$(") + 2;
    const ir_prop *prop =
        named_prop(program_row(pr->program, op), name, (size_t)(strchr(name, ')') - name));
    const uint32_t attr = op_property(pr->program, op, prop->name);
    if (attr == 0 || prop->unless == NULL) {
        return attr != 0;
    }
    return !is_default(pr, prop, attr);
}

static void print_part(printer *pr, uint32_t op, const char *form, const char *end, size_t *operand)
{
    while (form < end) {
        const char *dollar = memchr(form, '$', (size_t)(end - form));
        if (dollar == NULL) {
            put_bytes(pr, form, (size_t)(end - form));
            return;
        }
        put_bytes(pr, form, (size_t)(dollar - form));
        const char *open = dollar[1] == '(' ? dollar + 1 : dollar + 2;
        if (dollar[1] != '(' && dollar[1] != '?' && dollar[1] != 'V') {
            print_directive(pr, op, dollar[1], operand);
            form = dollar + 2;
            continue;
        }
        const char *close = closing_parenthesis(open);
        if (dollar[1] == '(') {
            const ir_prop *prop =
                named_prop(program_row(pr->program, op), open + 1, (size_t)(close - open) - 1);
            print_prop(pr, prop, op_property(pr->program, op, prop->name));
        } else if (dollar[1] == '?' ? has_optional(pr, op, open)
                                    : program_op(pr->program, op)->num_operands > 0) {
            print_part(pr, op, open + 1, close, operand);
        }
        form = close + 1;
    }
}

void form_print(printer *pr, uint32_t op, const char *form)
{
    size_t operand = 0;
    print_part(pr, op, form, form + strlen(form), &operand);
}
