/*
 * The records of a program as they are written. program.c stores them, the reader makes a program
 * of them, edit.c, clone.c and uses.c change it: no other file includes this
 * (tests/checks/programs.sh). All other code reads records as const (program.h) and changes
 * programs through edit.h, which notes what changed.
 */
#ifndef IR_RECORDS_H
#define IR_RECORDS_H

#include "ir/program.h"

static inline ir_op *record_of_op(tsr_program *p, uint32_t op)
{
    return (ir_op *)p->ops.items + op;
}

static inline ir_value *record_of_value(tsr_program *p, uint32_t value)
{
    return (ir_value *)p->values.items + value;
}

static inline ir_block *record_of_block(tsr_program *p, uint32_t block)
{
    return (ir_block *)p->blocks.items + block;
}

static inline ir_region *record_of_region(tsr_program *p, uint32_t region)
{
    return (ir_region *)p->regions.items + region;
}

static inline uint32_t *record_of_list(tsr_program *p, uint32_t at)
{
    return (uint32_t *)p->pool.items + at;
}

/* New records. Numbers of a list go to the pool. */
tsr_status program_new_op(tsr_program *p, const ir_op *op, uint32_t *out);
tsr_status program_new_values(tsr_program *p, const ir_value *values, size_t count, uint32_t *out);
tsr_status program_new_block(tsr_program *p, const ir_block *block, uint32_t *out);
tsr_status program_new_region(tsr_program *p, uint32_t *out);
tsr_status program_new_list(tsr_program *p, const uint32_t *numbers, size_t count, uint32_t *out);

/* Puts an op at the end of a block, a block at the end of a region. */
void record_append_op(tsr_program *p, uint32_t block, uint32_t op);
void record_append_block(tsr_program *p, uint32_t region, uint32_t block);

/* Gives an op empty regions. */
tsr_status record_new_regions(tsr_program *p, uint32_t op, size_t count);

/* Makes room for uses of all values, and by all operands. */
tsr_status uses_reserve(tsr_program *p);
/* Adds the uses by an op's operands; takes them away, with the operands. */
void uses_add(tsr_program *p, uint32_t op);
void uses_drop(tsr_program *p, uint32_t op);

#endif
