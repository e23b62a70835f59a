/* Facts of ops that follow from their rows: traits, effects, whether anything needs them. */
#ifndef IR_OP_FACTS_H
#define IR_OP_FACTS_H

#include "ir/edit.h"
#include "ir/row.h"

/* Whether the row of an op has one of these traits; an op without a row has none. */
static inline bool op_has_trait(const tsr_program *p, uint32_t op, int traits)
{
    const ir_row *row = program_row(p, op);
    return row != NULL && (row->traits & traits) != 0;
}

/* Whether an op does more than give results. */
bool op_has_effects(const tsr_program *p, uint32_t op);
/* Whether nothing uses the results of an op, and it does no more than give them. */
bool op_is_unused(const tsr_program *p, uint32_t op);
/* The last op of a region; 0: the region is empty. */
uint32_t op_terminator(const tsr_program *p, uint32_t op, size_t region);

#endif
