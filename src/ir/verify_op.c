/* The checks of one op: counts, properties and traits by its row; messages. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "ir/verify_parts.h"

/* ---- messages ---- */

static void format_text(char *text, size_t size, const char *format, va_list arguments)
{
    const int length = vsnprintf(text, size, format, arguments);
    if (length >= (int)size) {
        memcpy(text + size - 4, "...", 4);
    }
}

enum { MAX_TEXT = 2048 };

tsr_status op_error(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
{
    char text[MAX_TEXT];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_error(ctx, TSR_ERR_INVALID, op_location(p, op), "'%s' op %s", op_name(p, op), text);
}

tsr_status error_at_op(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
{
    char text[MAX_TEXT];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_error(ctx, TSR_ERR_INVALID, op_location(p, op), "%s", text);
}

tsr_status note_at_op(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
{
    char text[MAX_TEXT];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_note(ctx, op_location(p, op), "%s", text);
}

location op_location(const tsr_program *p, uint32_t op)
{
    return program_location(p, program_op(p, op)->at);
}

const char *type_string(tsr_context *ctx, const tsr_program *p, uint32_t type)
{
    const char *text = "?";
    return tsr_ir_type_to_text(ctx, p->scratch, p, type, &text) < 0 ? "?" : text;
}

const char *attr_string_of(tsr_context *ctx, const tsr_program *p, uint32_t attr)
{
    const char *text = "?";
    return tsr_ir_attr_to_text(ctx, p->scratch, p, attr, &text) < 0 ? "?" : text;
}

uint32_t enclosing(const tsr_program *p, uint32_t op, op_kind kind)
{
    do {
        op = op_parent(p, op);
    } while (op != 0 && !op_is(p, op, kind));
    return op;
}

/* ---- counts ---- */

static tsr_status verify_operand_count(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                       const ir_row *row)
{
    const int count = (int)program_op(p, op)->num_operands;
    if (row->num_operands == MANY) {
        return count >= row->min_operands
                   ? TSR_OK
                   : op_error(ctx, p, op, "expected %d or more operands, but found %d",
                              row->min_operands, count);
    }
    if (count == row->num_operands) {
        return TSR_OK;
    }
    if (row->num_operands == 0) {
        return op_error(ctx, p, op, "requires zero operands");
    }
    if (row->num_operands == 1) {
        return op_error(ctx, p, op, "requires a single operand");
    }
    return op_error(ctx, p, op, "expected %d operands, but found %d", row->num_operands, count);
}

static tsr_status verify_result_count(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                      const ir_row *row)
{
    const int count = (int)program_op(p, op)->num_results;
    if (row->num_results == MANY || count == row->num_results) {
        return TSR_OK;
    }
    if (row->num_results == 0) {
        return op_error(ctx, p, op, "requires zero results");
    }
    if (row->num_results == 1) {
        return op_error(ctx, p, op, "requires one result");
    }
    return op_error(ctx, p, op, "expected %d results", row->num_results);
}

static tsr_status verify_region_count(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                      const ir_row *row)
{
    const int count = (int)program_op(p, op)->num_regions;
    if (row->num_regions == MANY || count == row->num_regions) {
        return TSR_OK;
    }
    if (row->num_regions == 0) {
        return op_error(ctx, p, op, "requires zero regions");
    }
    if (row->num_regions == 1) {
        return op_error(ctx, p, op, "requires one region");
    }
    return op_error(ctx, p, op, "expected %d regions", row->num_regions);
}

/* Regions that have a terminator of their own are one block. */
static tsr_status verify_block_counts(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                      const ir_row *row)
{
    const char *first = row->region_names[0] != NULL ? row->region_names[0] : "body";
    const char *other = row->region_names[1] != NULL ? row->region_names[1] : first;
    for (uint32_t i = 0; row->terminator != OP_UNKNOWN && i < program_op(p, op)->num_regions; i++) {
        const uint32_t block = op_entry_block(p, op, i);
        if (block == 0 || program_block(p, block)->next != 0) {
            return op_error(ctx, p, op,
                            "region #%u ('%s') failed to verify constraint: region with 1 blocks",
                            i, i == 0 ? first : other);
        }
    }
    return TSR_OK;
}

/* ---- properties ---- */

/* What a kind of property asks of an attribute; NULL: it is fine. */
static const char *integer_problem(const tsr_program *p, const ir_prop *prop, uint32_t attr)
{
    static const char *const texts[2][3] = {
        {"64-bit signless integer attribute",
         "64-bit signless integer attribute whose value is non-negative",
         "64-bit signless integer attribute whose value is positive"},
        {"32-bit signless integer attribute",
         "32-bit signless integer attribute whose value is non-negative",
         "32-bit signless integer attribute whose value is positive"}};
    const bool is_32 = prop->kind == PROP_INT32;
    const char *text = texts[is_32][prop->limit];
    if (!attr_is(p, attr, ATTR_INTEGER)) {
        return text;
    }
    const attr_head *head = program_attr(p, attr);
    const type_head *type = program_type(p, head->type);
    const int64_t value = (int64_t)head->bits;
    if (type->kind != TYPE_INTEGER || type->sign != SIGNLESS || type->width != (is_32 ? 32 : 64)) {
        return text;
    }
    return (prop->limit == NON_NEGATIVE && value < 0) || (prop->limit == POSITIVE && value <= 0)
               ? text
               : NULL;
}

static bool is_ints(const tsr_program *p, uint32_t attr, unsigned width)
{
    if (!attr_is(p, attr, ATTR_DENSE_ARRAY)) {
        return false;
    }
    const type_head *type = program_type(p, program_attr(p, attr)->type);
    return type->kind == TYPE_INTEGER && type->width == width;
}

static bool is_bool(const tsr_program *p, uint32_t attr)
{
    return attr_is(p, attr, ATTR_INTEGER) &&
           program_type(p, program_attr(p, attr)->type)->width == 1;
}

static bool is_enums(const tsr_program *p, uint32_t attr, int row)
{
    if (!attr_is(p, attr, ATTR_ARRAY)) {
        return false;
    }
    const attr_head *list = program_attr(p, attr);
    for (uint32_t i = 0; i < list->count; i++) {
        if (!attr_is(p, attr_list(list)[i], ATTR_ENUM) ||
            program_attr(p, attr_list(list)[i])->row != row) {
            return false;
        }
    }
    return true;
}

/* A value of an enum, which for some is an integer of 32 bits. */
static bool is_enum(const tsr_program *p, uint32_t attr, int row)
{
    const attr_head *head = program_attr(p, attr);
    if (ir_enums[row].dialect != NULL) {
        return head->kind == ATTR_ENUM && head->row == row;
    }
    uint64_t count = 0;
    while (ir_enums[row].values[count] != NULL) {
        count++;
    }
    return head->kind == ATTR_INTEGER && program_type(p, head->type)->width == 32 &&
           head->bits < count;
}

static bool is_i64_elements(const tsr_program *p, uint32_t attr)
{
    if (!attr_is_elements(p, attr)) {
        return false;
    }
    const type_head *element = program_type(p, type_element(p, program_attr(p, attr)->type));
    return element->kind == TYPE_INTEGER && element->width == 64 && element->sign == SIGNLESS;
}

static const char *enum_words(int row)
{
    switch (row) {
    case ENUM_COMPARISON_DIRECTION:
    case ENUM_CHLO_COMPARISON_DIRECTION:
        return "Which comparison operation to perform.";
    case ENUM_COMPARISON_TYPE:
    case ENUM_CHLO_COMPARISON_TYPE:
        return "Which comparison type to use.";
    default:
        return "enum attribute";
    }
}

static const char *struct_words(int row)
{
    return row == STRUCT_ACCURACY ? "The requested accuracy for transcendental unary ops."
                                  : "attribute of the op";
}

static const char *property_problem(const tsr_program *p, const ir_prop *prop, uint32_t attr)
{
    const attr_head *head = program_attr(p, attr);
    switch (prop->kind) {
    case PROP_INT:
    case PROP_INT32:
        return integer_problem(p, prop, attr);
    case PROP_INTS:
        return is_ints(p, attr, 64) ? NULL : "i64 dense array attribute";
    case PROP_BOOLS:
        return is_ints(p, attr, 1) ? NULL : "i1 dense array attribute";
    case PROP_BOOL:
        return is_bool(p, attr) ? NULL : "bool attribute";
    case PROP_UNIT:
        return head->kind == ATTR_UNIT ? NULL : "unit attribute";
    case PROP_STRING:
    case PROP_SYMBOL_NAME:
        return head->kind == ATTR_STRING ? NULL : "string attribute";
    case PROP_SYMBOL:
        return head->kind == ATTR_SYMBOL && head->count == 1 ? NULL
                                                             : "flat symbol reference attribute";
    case PROP_ENUM:
        return is_enum(p, attr, prop->row) ? NULL : enum_words(prop->row);
    case PROP_ENUMS:
        return is_enums(p, attr, prop->row) ? NULL : "Precision Config attribute";
    case PROP_FLOAT:
        return head->kind == ATTR_FLOAT ? NULL : "64-bit float attribute";
    case PROP_ELEMENTS:
        return attr_is_elements(p, attr) ? NULL : "constant vector/tensor attribute";
    case PROP_STRUCT:
        return head->kind == ATTR_STRUCT && head->row == prop->row ? NULL : struct_words(prop->row);
    case PROP_I64_ELEMENTS:
        return is_i64_elements(p, attr) ? NULL : "64-bit signless integer elements attribute";
    case PROP_GROUPS:
        return is_i64_elements(p, attr) ||
                       (head->kind == ATTR_STRUCT && head->row == STRUCT_REPLICA_MESH_AXES)
                   ? NULL
                   : "64-bit signless integer elements attribute or mesh and axes based replica "
                     "groups representation.";
    case PROP_DICT:
        return head->kind == ATTR_DICT ? NULL : "dictionary of named attribute values";
    case PROP_ARRAY:
        return head->kind == ATTR_ARRAY ? NULL : "array attribute";
    case PROP_SDY:
        return head->kind == ATTR_SDY && head->row == prop->row ? NULL : "attribute of the op";
    case PROP_ANY:
        return NULL;
    }
    return NULL;
}

bool properties_fit(const tsr_program *p, uint32_t op)
{
    const ir_row *row = program_row(p, op);
    for (const ir_prop *prop = row->props; prop != NULL && prop->name != NULL; prop++) {
        const uint32_t attr = op_property(p, op, prop->name);
        if (attr == 0 ? !prop->optional : property_problem(p, prop, attr) != NULL) {
            return false;
        }
    }
    return true;
}

static tsr_status verify_properties(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                    const ir_row *row)
{
    for (const ir_prop *prop = row->props; prop != NULL && prop->name != NULL; prop++) {
        const uint32_t attr = op_property(p, op, prop->name);
        if (attr == 0 && !prop->optional) {
            return op_error(ctx, p, op, "requires attribute '%s'", prop->name);
        }
        const char *problem = attr != 0 ? property_problem(p, prop, attr) : NULL;
        if (problem != NULL) {
            return op_error(ctx, p, op, "attribute '%s' failed to satisfy constraint: %s",
                            prop->name, problem);
        }
    }
    return TSR_OK;
}

/* ---- traits ---- */

static tsr_status verify_same_type(tsr_context *ctx, const tsr_program *p, uint32_t op)
{
    const ir_op *record = program_op(p, op);
    const uint32_t type = value_type(p, record->results);
    for (uint32_t i = 0; i < record->num_operands; i++) {
        if (value_type(p, op_operand(p, op, i)) != type) {
            return op_error(ctx, p, op, "requires the same type for all operands and results");
        }
    }
    return TSR_OK;
}

static tsr_status verify_traits(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                const ir_row *row)
{
    if ((row->traits & IR_SAME_TYPE) != 0) {
        TSR_TRY(verify_same_type(ctx, p, op));
    }
    if ((row->traits & IR_TERMINATOR) != 0 && program_op(p, op)->next != 0) {
        return op_error(ctx, p, op, "must be the last operation in the parent block");
    }
    return TSR_OK;
}

/* ---- regions ---- */

tsr_status verify_terminator(tsr_context *ctx, const tsr_program *p, uint32_t op, uint32_t block)
{
    const ir_row *row = program_row(p, op);
    const uint32_t last = program_block(p, block)->last_op;
    const ir_block *record = program_block(p, block);
    const bool is_alone = record->next == 0 && record->prev == 0;
    if (is_alone && (row == NULL || (row->traits & IR_NO_TERMINATOR) != 0)) {
        return TSR_OK;
    }
    if (last == 0) {
        return error_at_op(ctx, p, op, "empty block: expect at least a terminator");
    }
    const ir_row *its = program_row(p, last);
    if (its != NULL && (its->traits & IR_TERMINATOR) == 0) {
        return error_at_op(ctx, p, last, "block with no terminator, has %s", op_name(p, last));
    }
    return TSR_OK;
}

/* Regions of an op end in what the op says. */
static tsr_status verify_ends(tsr_context *ctx, const tsr_program *p, uint32_t op,
                              const ir_row *row)
{
    if (row->terminator == OP_UNKNOWN) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < program_op(p, op)->num_regions; i++) {
        for (uint32_t b = op_entry_block(p, op, i); b != 0; b = program_block(p, b)->next) {
            const uint32_t last = program_block(p, b)->last_op;
            if (last != 0 && !op_is(p, last, row->terminator)) {
                (void)op_error(ctx, p, op, "expects regions to end with '%s', found '%s'",
                               op_kind_name(row->terminator), op_name(p, last));
                return diag_note(ctx, op_location(p, op),
                                 "in custom textual format, the absence of terminator implies '%s'",
                                 op_kind_name(row->terminator));
            }
        }
    }
    return TSR_OK;
}

tsr_status verify_entrance(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *types)
{
    const ir_row *row = program_row(p, op);
    if (program_op(p, op)->num_successors > 0 && program_op(p, op)->next != 0) {
        return error_at_op(ctx, p, op,
                           "operation with block successors must terminate its parent block");
    }
    TSR_TRY(verify_sdy_attributes(ctx, p, op));
    if (row == NULL) {
        return TSR_OK;
    }
    TSR_TRY(verify_region_count(ctx, p, op, row));
    TSR_TRY(verify_result_count(ctx, p, op, row));
    TSR_TRY(verify_operand_count(ctx, p, op, row));
    TSR_TRY(verify_properties(ctx, p, op, row));
    TSR_TRY(verify_block_counts(ctx, p, op, row));
    TSR_TRY(verify_traits(ctx, p, op, row));
    TSR_TRY(verify_op_types(ctx, p, op, types));
    return row->verify != NULL ? row->verify(ctx, p, op) : TSR_OK;
}

tsr_status verify_exit(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *types)
{
    const ir_row *row = program_row(p, op);
    if (row == NULL) {
        return TSR_OK;
    }
    TSR_TRY(verify_ends(ctx, p, op, row));
    if (row->verify_regions != NULL) {
        TSR_TRY(row->verify_regions(ctx, p, op));
    }
    return verify_op_inference(ctx, p, op, types);
}
