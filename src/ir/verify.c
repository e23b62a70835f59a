/*
 * Verification of programs, in the order of MLIR's verifier: an op, then what is inside it; ops
 * that use nothing from outside after all others of their body; then dominance; then symbols.
 */
#include "ir/verify.h"
#include "base/guard.h"
#include "ir/shardings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "ir/shardings.h"

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

bool op_is(const tsr_program *p, uint32_t op, const char *name)
{
    return op != 0 && strcmp(op_name(p, op), name) == 0;
}

uint32_t enclosing(const tsr_program *p, uint32_t op, const char *name)
{
    const uint32_t number = intern_find_bytes(&p->op_names, name, strlen(name));
    if (number == 0) {
        return 0;
    }
    do {
        op = op_parent(p, op);
    } while (op != 0 && program_op(p, op)->name != number);
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
    for (uint32_t i = 0; row->terminator != NULL && i < program_op(p, op)->num_regions; i++) {
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

static tsr_status verify_terminator(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                    const ir_row *row, uint32_t block)
{
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
    if (row->terminator == NULL) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < program_op(p, op)->num_regions; i++) {
        for (uint32_t b = op_entry_block(p, op, i); b != 0; b = program_block(p, b)->next) {
            const uint32_t last = program_block(p, b)->last_op;
            if (last != 0 && !op_is(p, last, row->terminator)) {
                (void)op_error(ctx, p, op, "expects regions to end with '%s', found '%s'",
                               row->terminator, op_name(p, last));
                return diag_note(ctx, op_location(p, op),
                                 "in custom textual format, the absence of terminator implies '%s'",
                                 row->terminator);
            }
        }
    }
    return TSR_OK;
}

/* The block that a value is defined in. */
static uint32_t value_home(const tsr_program *p, uint32_t value)
{
    const uint32_t owner = program_value(p, value)->owner;
    return (owner & IR_IS_ARGUMENT) != 0 ? owner & ~IR_IS_ARGUMENT : program_op(p, owner)->block;
}

/* ---- dominance ---- */

/* The op of a block that an op is, or is inside; 0 when it is outside. */
static uint32_t op_within(const tsr_program *p, uint32_t block, uint32_t op)
{
    while (op != 0 && program_op(p, op)->block != block) {
        op = op_parent(p, op);
    }
    return op;
}

static bool is_graph(const tsr_program *p, uint32_t block)
{
    const ir_row *row = program_row(p, block_parent(p, block));
    return row == NULL || (row->traits & IR_GRAPH) != 0;
}

/* `order` numbers the ops of each block. A definition dominates its uses in one block by order;
 * across blocks only the entry is known. */
static bool dominates(const tsr_program *p, const uint32_t *order, uint32_t value, uint32_t user)
{
    const uint32_t home = value_home(p, value);
    const uint32_t owner = program_value(p, value)->owner;
    const uint32_t within = op_within(p, home, user);
    if (within == 0) {
        return program_block(p, home)->next != 0 || program_block(p, home)->prev != 0;
    }
    if ((owner & IR_IS_ARGUMENT) != 0) {
        return true;
    }
    if (within == owner) {
        return false;
    }
    return is_graph(p, home) || order[owner] < order[within];
}

static tsr_status report_dominance(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                   uint32_t operand)
{
    const uint32_t value = op_operand(p, op, operand);
    const uint32_t owner = program_value(p, value)->owner;
    (void)op_error(ctx, p, op, "operand #%u does not dominate this use", operand);
    if ((owner & IR_IS_ARGUMENT) != 0) {
        return TSR_ERR_INVALID;
    }
    return note_at_op(ctx, p, owner, "operand defined here (op in %s)",
                      program_op(p, owner)->block == program_op(p, op)->block
                          ? "the same block"
                          : "a different block");
}

/* ---- the walk ---- */

typedef struct verifier {
    tsr_context *ctx;
    tsr_program *p;
    uint32_t *order; /* of each op in its block */
    type_checker *types;
    ir_array deferred; /* ops that use nothing from outside, of the bodies that are open */
} verifier;

static tsr_status verify_isolated(verifier *v, uint32_t op);

static tsr_status verify_entrance(verifier *v, uint32_t op)
{
    const ir_row *row = program_row(v->p, op);
    if (program_op(v->p, op)->num_successors > 0 && program_op(v->p, op)->next != 0) {
        return error_at_op(v->ctx, v->p, op,
                           "operation with block successors must terminate its parent block");
    }
    TSR_TRY(verify_sdy_attributes(v->ctx, v->p, op));
    if (row == NULL) {
        return TSR_OK;
    }
    TSR_TRY(verify_region_count(v->ctx, v->p, op, row));
    TSR_TRY(verify_result_count(v->ctx, v->p, op, row));
    TSR_TRY(verify_operand_count(v->ctx, v->p, op, row));
    TSR_TRY(verify_properties(v->ctx, v->p, op, row));
    TSR_TRY(verify_block_counts(v->ctx, v->p, op, row));
    TSR_TRY(verify_traits(v->ctx, v->p, op, row));
    TSR_TRY(verify_op_types(v->ctx, v->p, op, v->types));
    return row->verify != NULL ? row->verify(v->ctx, v->p, op) : TSR_OK;
}

static tsr_status verify_op(verifier *v, uint32_t op);

static tsr_status verify_block(verifier *v, uint32_t op, const ir_row *row, uint32_t block)
{
    uint32_t number = 0;
    for (uint32_t inner = program_block(v->p, block)->first_op; inner != 0;
         inner = program_op(v->p, inner)->next) {
        v->order[inner] = number++;
        const ir_row *its = program_row(v->p, inner);
        if (its != NULL && (its->traits & IR_ISOLATED) != 0 &&
            program_op(v->p, inner)->num_regions > 0) {
            TSR_TRY(ir_array_reserve(v->ctx, &v->deferred, sizeof inner, 1));
            ((uint32_t *)v->deferred.items)[v->deferred.count++] = inner;
        } else {
            TSR_TRY(verify_op(v, inner));
        }
    }
    return verify_terminator(v->ctx, v->p, op, row, block);
}

static tsr_status verify_op(verifier *v, uint32_t op)
{
    const uint32_t first = v->deferred.count;
    const ir_row *row = program_row(v->p, op);
    const tsr_arena_mark mark = tsr_arena_get_mark(v->p->scratch);
    TSR_TRY(verify_entrance(v, op));
    tsr_arena_reset(v->p->scratch, mark);
    for (uint32_t i = 0; i < program_op(v->p, op)->num_regions; i++) {
        for (uint32_t b = op_entry_block(v->p, op, i); b != 0; b = program_block(v->p, b)->next) {
            TSR_TRY(verify_block(v, op, row, b));
        }
    }
    const bool is_isolated = row != NULL && (row->traits & IR_ISOLATED) != 0;
    const uint32_t last = v->deferred.count;
    for (uint32_t i = first; is_isolated && i < last; i++) {
        TSR_TRY(verify_isolated(v, ((const uint32_t *)v->deferred.items)[i]));
    }
    if (is_isolated) {
        v->deferred.count = first;
    }
    if (row == NULL) {
        return TSR_OK;
    }
    TSR_TRY(verify_ends(v->ctx, v->p, op, row));
    if (row->verify_regions != NULL) {
        TSR_TRY(row->verify_regions(v->ctx, v->p, op));
        tsr_arena_reset(v->p->scratch, mark);
    }
    TSR_TRY(verify_op_inference(v->ctx, v->p, op, v->types));
    tsr_arena_reset(v->p->scratch, mark);
    return TSR_OK;
}

/* Uses of values from outside an op that allows none. */
static tsr_status verify_isolation(verifier *v, uint32_t op, uint32_t inner)
{
    const tsr_program *p = v->p;
    for (uint32_t i = 0; i < program_op(p, inner)->num_operands; i++) {
        const uint32_t home = value_home(p, op_operand(p, inner, i));
        uint32_t around = block_parent(p, home);
        while (around != 0 && around != op) {
            around = op_parent(p, around);
        }
        if (around == 0) {
            (void)op_error(v->ctx, p, inner, "using value defined outside the region");
            return note_at_op(v->ctx, p, op, "required by region isolation constraints");
        }
    }
    return TSR_OK;
}

/* Isolation and dominance of everything in an isolated op, but for what isolated ops in it have. */
static tsr_status verify_uses(verifier *v, uint32_t op, uint32_t around, bool isolation)
{
    const tsr_program *p = v->p;
    for (uint32_t r = 0; r < program_op(p, op)->num_regions; r++) {
        for (uint32_t b = op_entry_block(p, op, r); b != 0; b = program_block(p, b)->next) {
            for (uint32_t inner = program_block(p, b)->first_op; inner != 0;
                 inner = program_op(p, inner)->next) {
                if (isolation) {
                    TSR_TRY(verify_isolation(v, around, inner));
                }
                for (uint32_t i = 0; !isolation && i < program_op(p, inner)->num_operands; i++) {
                    if (!dominates(p, v->order, op_operand(p, inner, i), inner)) {
                        return report_dominance(v->ctx, p, inner, i);
                    }
                }
                const ir_row *row = program_row(p, inner);
                if (program_op(p, inner)->num_regions > 0 &&
                    (row == NULL || (row->traits & IR_ISOLATED) == 0)) {
                    TSR_TRY(verify_uses(v, inner, around, isolation));
                }
            }
        }
    }
    return TSR_OK;
}

static tsr_status verify_isolated(verifier *v, uint32_t op)
{
    TSR_TRY(verify_op(v, op));
    TSR_TRY(verify_uses(v, op, op, true));
    return verify_uses(v, op, op, false);
}

/* ---- symbols ---- */

static tsr_status verify_names(tsr_context *ctx, tsr_program *p, uint32_t module)
{
    intern_table names;
    uint32_t *first = NULL;
    uint32_t count = 0;
    tsr_status status = intern_table_init(&names, ctx, p->scratch);
    for (uint32_t op = program_block(p, op_entry_block(p, module, 0))->first_op; op != 0;
         op = program_op(p, op)->next) {
        count++;
    }
    first = tsr_arena_alloc(p->scratch, (count + 2) * sizeof *first);
    if (first == NULL) {
        status = diag_nomem(ctx);
    }
    for (uint32_t op = program_block(p, op_entry_block(p, module, 0))->first_op;
         op != 0 && status >= 0; op = program_op(p, op)->next) {
        const ir_row *row = program_row(p, op);
        slice name;
        uint32_t id = 0;
        if (row == NULL || (row->traits & IR_SYMBOL) == 0 ||
            !attr_as_string(p, op_property(p, op, "sym_name"), &name)) {
            continue;
        }
        const uint32_t before = names.count;
        status = intern_bytes(&names, name.data, name.size, &id);
        if (status >= 0 && names.count == before) {
            (void)error_at_op(ctx, p, op, "redefinition of symbol named '%.*s'", (int)name.size,
                              name.data);
            status = note_at_op(ctx, p, first[id], "see existing symbol definition here");
        } else if (status >= 0) {
            first[id] = op;
        }
    }
    intern_table_free(&names);
    return status;
}

/* Replica groups along axes of a mesh: the mesh that they name exists. */
static tsr_status verify_group_meshes(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t dict)
{
    for (size_t i = 0; i < dict_size(p, dict); i++) {
        const uint32_t attr = attr_entries(program_attr(p, dict))[i].value;
        const tsr_mesh *mesh = NULL;
        if (!attr_is(p, attr, ATTR_STRUCT) ||
            program_attr(p, attr)->row != STRUCT_REPLICA_MESH_AXES ||
            !attr_is(p, attr_list(program_attr(p, attr))[0], ATTR_SYMBOL)) {
            continue;
        }
        const attr_head *symbol = program_attr(p, attr_list(program_attr(p, attr))[0]);
        const slice name = string_at(p, attr_list(symbol)[0]);
        TSR_TRY(program_mesh(ctx, p, op, name, &mesh));
        if (mesh == NULL) {
            return op_error(ctx, p, op, "replica_groups: mesh symbol '%.*s' not found",
                            (int)name.size, name.data);
        }
    }
    return TSR_OK;
}

/* The checks of one op that need the symbols of its module. */
static tsr_status verify_op_symbols(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    const ir_row *row = program_row(p, op);
    if (row != NULL && (row->traits & IR_SYMBOL_TABLE) != 0 && op_entry_block(p, op, 0) != 0) {
        TSR_TRY(verify_names(ctx, p, op));
    }
    TSR_TRY(verify_group_meshes(ctx, p, op, program_op(p, op)->properties));
    TSR_TRY(verify_group_meshes(ctx, p, op, program_op(p, op)->attributes));
    return row != NULL && row->verify_symbols != NULL ? row->verify_symbols(ctx, p, op) : TSR_OK;
}

/* Ops of a region in order, then the regions inside it, the last one first. */
static tsr_status verify_symbols(tsr_context *ctx, tsr_program *p, ir_array *stack)
{
    while (stack->count > 0) {
        const uint32_t region = ((const uint32_t *)stack->items)[--stack->count];
        for (uint32_t b = program_region(p, region)->first_block; b != 0;
             b = program_block(p, b)->next) {
            for (uint32_t op = program_block(p, b)->first_op; op != 0;
                 op = program_op(p, op)->next) {
                const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
                TSR_TRY(verify_op_symbols(ctx, p, op));
                tsr_arena_reset(p->scratch, mark);
                for (uint32_t i = 0; i < program_op(p, op)->num_regions; i++) {
                    TSR_TRY(ir_array_reserve(ctx, stack, sizeof(uint32_t), 1));
                    ((uint32_t *)stack->items)[stack->count++] = op_region_at(p, op, i);
                }
            }
        }
    }
    return TSR_OK;
}

static tsr_status verify_all_symbols(tsr_context *ctx, tsr_program *p)
{
    ir_array stack = {0};
    TSR_TRY(verify_op_symbols(ctx, p, p->module));
    TSR_TRY(ir_array_reserve(ctx, &stack, sizeof(uint32_t), 1));
    ((uint32_t *)stack.items)[stack.count++] = op_region_at(p, p->module, 0);
    const tsr_status status = verify_symbols(ctx, p, &stack);
    ir_array_free(ctx, &stack, sizeof(uint32_t));
    return status;
}

static tsr_status verify_module(verifier *v)
{
    const size_t bytes = v->p->ops.count * sizeof *v->order;
    v->order = context_resize(v->ctx, NULL, 0, bytes);
    if (v->order == NULL) {
        return diag_nomem(v->ctx);
    }
    tsr_status status = type_checker_create(v->ctx, v->p, &v->types);
    if (status >= 0) {
        status = verify_isolated(v, v->p->module);
    }
    type_checker_destroy(v->types);
    context_resize(v->ctx, v->order, bytes, 0);
    ir_array_free(v->ctx, &v->deferred, sizeof(uint32_t));
    return status < 0 ? status : verify_all_symbols(v->ctx, v->p);
}

tsr_status tsr_program_verify(tsr_context *ctx, tsr_program *program)
{
    GUARD(tsr_program_verify);
    verifier v = {.ctx = ctx, .p = program};
    ir_shardings_reset(program);
    if (!op_is(program, program->module, "builtin.module")) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "the program has no module");
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(program->scratch);
    const tsr_status status = verify_module(&v);
    tsr_arena_reset(program->scratch, mark);
    return status;
}
