#include "ir/op_facts.h"

bool op_has_effects(const tsr_program *p, uint32_t op)
{
    const ir_row *row = program_row(p, op);
    if (row == NULL || (row->traits & (IR_EFFECTS | IR_TERMINATOR | IR_SYMBOL)) != 0) {
        return true;
    }
    if ((row->traits & IR_EFFECTS_ASKED) != 0) {
        int64_t effect = 0;
        return attr_as_integer(p, op_property(p, op, "has_side_effect"), &effect) && effect != 0;
    }
    if ((row->traits & IR_EFFECTS_INSIDE) == 0) {
        return false;
    }
    for (uint32_t inside = op_walk_next(p, op, op); inside != 0;
         inside = op_walk_skip(p, op, inside)) {
        if (!op_has_trait(p, inside, IR_TERMINATOR) && op_has_effects(p, inside)) {
            return true;
        }
    }
    return false;
}

bool op_is_unused(const tsr_program *p, uint32_t op)
{
    const ir_op *o = program_op(p, op);
    for (uint32_t i = 0; i < o->num_results; i++) {
        if (value_has_uses(p, o->results + i)) {
            return false;
        }
    }
    return !op_has_effects(p, op);
}

uint32_t op_terminator(const tsr_program *p, uint32_t op, size_t region)
{
    const uint32_t block = program_region(p, op_region_at(p, op, region))->last_block;
    return block != 0 ? program_block(p, block)->last_op : 0;
}
