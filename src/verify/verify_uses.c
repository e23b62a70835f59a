/* Where values may be used: inside what isolates, after their definition. */
#include "ir/edit.h"
#include "verify/verify_parts.h"

/* The block that a value is defined in. */
static uint32_t value_home(const tsr_program *p, uint32_t value)
{
    const uint32_t owner = program_value(p, value)->owner;
    return (owner & IR_IS_ARGUMENT) != 0 ? owner & ~IR_IS_ARGUMENT : program_op(p, owner)->block;
}

/* ---- isolation ---- */

tsr_status verify_isolation(tsr_context *ctx, const tsr_program *p, uint32_t around, uint32_t op)
{
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const uint32_t home = value_home(p, op_operand(p, op, i));
        uint32_t at = block_parent(p, home);
        while (at != 0 && at != around) {
            at = op_parent(p, at);
        }
        if (at == 0) {
            (void)op_error(ctx, p, op, "using value defined outside the region");
            return note_at_op(ctx, p, around, "required by region isolation constraints");
        }
    }
    return TSR_OK;
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

/* Numbers the ops of a block from 1, unless that was done. */
static void number_ops(const tsr_program *p, uint32_t *order, uint32_t block)
{
    uint32_t number = 0;
    uint32_t op = program_block(p, block)->first_op;
    if (op == 0 || order[op] != 0) {
        return;
    }
    for (; op != 0; op = program_op(p, op)->next) {
        order[op] = ++number;
    }
}

/* A definition dominates its uses in one block by order;
 * across blocks only the entry is known. */
static bool dominates(const tsr_program *p, uint32_t *order, uint32_t value, uint32_t user)
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
    if (is_graph(p, home)) {
        return true;
    }
    number_ops(p, order, home);
    return order[owner] < order[within];
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

tsr_status verify_dominance(tsr_context *ctx, const tsr_program *p, uint32_t *order, uint32_t op)
{
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        if (!dominates(p, order, op_operand(p, op, i), op)) {
            return report_dominance(ctx, p, op, i);
        }
    }
    return TSR_OK;
}
