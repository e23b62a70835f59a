/* What the kind of a property asks of an attribute. */
#include "ir/row.h"

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

const char *property_problem(const tsr_program *p, const ir_prop *prop, uint32_t attr)
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
