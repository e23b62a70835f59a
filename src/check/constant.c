/* What is known of numbers: zeros, constants, values that were divided by the number of devices. */
#include <math.h>

#include "check/check.h"
#include "ir/edit.h"
#include "ir/elements.h"
#include "ir/message.h"
#include "number/float_format.h"

static bool is_constant_op(const tsr_program *p, uint32_t op)
{
    return op_is(p, op, OP_STABLEHLO_CONSTANT) || op_is(p, op, OP_SDY_CONSTANT);
}

/* ---- zeros ---- */

/* Larger constants are not looked at. */
enum { MAX_BYTES = 1 << 20 };

/* Zeros of either sign: -0.0 is where sums of floats start, too. */
static bool is_all_zero(const tsr_program *p, uint32_t attr)
{
    if (!attr_is(p, attr, ATTR_ELEMENTS) || program_attr(p, attr)->count > MAX_BYTES) {
        return false;
    }
    const attr_head *head = program_attr(p, attr);
    const uint32_t element = type_element(p, head->type);
    const size_t size = element_bytes(p, element);
    const bool has_sign = type_is(p, element, TYPE_FLOAT);
    for (uint32_t i = 0; i < head->count; i++) {
        const bool is_last = has_sign && size > 0 && i % size == size - 1;
        if ((attr_text(head)[i] & (is_last ? 0x7f : 0xff)) != 0) {
            return false;
        }
    }
    return true;
}

tsr_status visit_constant(checker *c, uint32_t op)
{
    cell *cells = cells_of(c, program_op(c->p, op)->results);
    if (cells == NULL) {
        return diag_nomem(c->ctx);
    }
    const bool is_zero = is_all_zero(c->p, op_property(c->p, op, "value"));
    for (size_t a = 0; a < c->s->count; a++) {
        cells[a] = cell_same();
        cells[a].kind = is_zero && is_manual(c, a) ? CELL_ZERO : CELL_SAME;
    }
    return TSR_OK;
}

/* ---- constants ---- */

/* The number of the first element of a constant; false for types that are not looked at. */
static bool first_number(const tsr_program *p, uint32_t attr, double *out)
{
    const attr_head *head = program_attr(p, attr);
    const type_head *element = program_type(p, type_element(p, head->type));
    const char *bytes = attr_text(head);
    if (element->kind == TYPE_INTEGER && element->width <= 64 && element->width >= 8) {
        int64_t value = 0;
        memcpy(&value, bytes, element->width / 8);
        *out = (double)value;
        return true;
    }
    if (element->kind == TYPE_FLOAT &&
        (element->width == FLOAT_F32 || element->width == FLOAT_BF16)) {
        const bool is_half = element->width == FLOAT_BF16;
        uint32_t bits = 0;
        float value = 0;
        memcpy((char *)&bits + (is_half ? 2 : 0), bytes, is_half ? 2 : 4);
        memcpy(&value, &bits, sizeof value);
        *out = (double)value;
        return true;
    }
    if (element->kind == TYPE_FLOAT && element->width == FLOAT_F64) {
        memcpy(out, bytes, sizeof *out);
        return true;
    }
    return false;
}

uint32_t source_op(const tsr_program *p, uint32_t value)
{
    uint32_t op = value_op(p, value);
    for (int steps = 0; steps < 16 && op != 0; steps++) {
        if (program_op(p, op)->num_operands != 1 || program_op(p, op)->num_regions != 0) {
            return op;
        }
        op = value_op(p, op_operand(p, op, 0));
    }
    return op;
}

bool constant_number(checker *c, uint32_t value, double *out)
{
    const uint32_t op = source_op(c->p, value);
    const uint32_t attr = op != 0 && is_constant_op(c->p, op) ? op_property(c->p, op, "value") : 0;
    if (!attr_is(c->p, attr, ATTR_ELEMENTS)) {
        return false;
    }
    const attr_head *head = program_attr(c->p, attr);
    int64_t count = 0;
    return (head->is_splat || (type_num_elements(c->p, head->type, &count) && count == 1)) &&
           head->count > 0 && first_number(c->p, attr, out);
}

static bool depends_on_nothing(const tsr_program *p, uint32_t value, int *budget)
{
    const uint32_t op = value_op(p, value);
    if (op == 0 || program_op(p, op)->num_regions != 0 || --*budget < 0) {
        return false;
    }
    for (size_t i = 0; i < program_op(p, op)->num_operands; i++) {
        if (!depends_on_nothing(p, op_operand(p, op, i), budget)) {
            return false;
        }
    }
    return program_op(p, op)->num_operands > 0 || is_constant_op(p, op) ||
           op_is(p, op, OP_STABLEHLO_IOTA);
}

bool is_constant_value(checker *c, uint32_t value)
{
    int budget = 64;
    return depends_on_nothing(c->p, value, &budget);
}

/* ---- shares ---- */

/* The operand that an op scales by a constant, and the factor; false for other ops. */
static bool scaled_operand(checker *c, uint32_t op, uint32_t *operand, double *factor)
{
    double number = 0;
    if (op_is(c->p, op, OP_STABLEHLO_DIVIDE) &&
        constant_number(c, op_operand(c->p, op, 1), &number)) {
        *operand = op_operand(c->p, op, 0);
        *factor = 1 / number;
        return true;
    }
    for (size_t i = 0; op_is(c->p, op, OP_STABLEHLO_MULTIPLY) && i < 2; i++) {
        if (constant_number(c, op_operand(c->p, op, i), &number)) {
            *operand = op_operand(c->p, op, 1 - i);
            *factor = number;
            return true;
        }
    }
    return false;
}

/* What a value is made of, one step back: 0 where that is not one value. */
static uint32_t step_back(checker *c, uint32_t value, double *factor)
{
    const ir_value *v = program_value(c->p, value);
    uint32_t operand = 0;
    *factor = 1;
    if ((v->owner & IR_IS_ARGUMENT) != 0) {
        const uint32_t around = block_parent(c->p, v->owner & ~IR_IS_ARGUMENT);
        return op_is(c->p, around, OP_SDY_MANUAL_COMPUTATION) ? op_operand(c->p, around, v->index)
                                                              : 0;
    }
    const ir_op *record = program_op(c->p, v->owner);
    if (scaled_operand(c, v->owner, &operand, factor)) {
        return operand;
    }
    return record->num_operands == 1 && record->num_regions == 0 ? op_operand(c->p, v->owner, 0)
                                                                 : 0;
}

/* The same forward: the result of the only user. */
static tsr_status step_forward(checker *c, uint32_t value, uint32_t *next, double *factor)
{
    uint32_t count = 0;
    uint32_t user = 0;
    uint32_t operand = 0;
    *next = 0;
    *factor = 1;
    TSR_TRY(value_uses(c->ctx, c->p, value, &count, &user));
    if (count != 1 || program_op(c->p, user)->num_results != 1) {
        return TSR_OK;
    }
    const bool is_scaled = scaled_operand(c, user, &operand, factor) && operand == value;
    if (is_scaled ||
        (program_op(c->p, user)->num_operands == 1 && program_op(c->p, user)->num_regions == 0)) {
        *next = program_op(c->p, user)->results;
    }
    return TSR_OK;
}

enum { MAX_STEPS = 32 };

/* Rounding of 1 / size is allowed for. */
static bool is_share(double factor, int64_t size)
{
    return fabs(factor) * (double)size <= 1.01;
}

tsr_status is_scaled_down(checker *c, uint32_t value, uint32_t result, int64_t size, bool *out)
{
    double factor = 1;
    *out = false;
    for (int i = 0; i < MAX_STEPS && value != 0 && !*out; i++) {
        *out = is_constant_value(c, value);
        value = step_back(c, value, &factor);
        *out = *out || (value != 0 && is_share(factor, size));
    }
    for (int i = 0; i < MAX_STEPS && result != 0 && !*out; i++) {
        TSR_TRY(step_forward(c, result, &result, &factor));
        *out = result != 0 && is_share(factor, size);
    }
    return TSR_OK;
}
