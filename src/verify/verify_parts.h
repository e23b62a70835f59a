/* The parts of verification: of one op, of the uses of values, with symbols; and what changed. */
#ifndef VERIFY_VERIFY_PARTS_H
#define VERIFY_VERIFY_PARTS_H

#include "verify/verify.h"

/* The checks of an op before those of what is in its regions, and after them. */
tsr_status verify_entrance(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *types);
tsr_status verify_exit(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *types);
/* How a block in a region of an op ends. */
tsr_status verify_terminator(tsr_context *ctx, const tsr_program *p, uint32_t op, uint32_t block);

/* Whether an op uses values from outside `around`, which allows none. */
tsr_status verify_isolation(tsr_context *ctx, const tsr_program *p, uint32_t around, uint32_t op);
/*
 * Whether the operands of an op are defined before it. `order` has a place for each op, 0 at first:
 * blocks are numbered when an op of theirs is asked for.
 */
tsr_status verify_dominance(tsr_context *ctx, const tsr_program *p, uint32_t *order, uint32_t op);

/* The checks of one op that need the symbols of its module. */
tsr_status verify_op_symbols(tsr_context *ctx, tsr_program *p, uint32_t op);

/* Verifies all of a program. */
tsr_status verify_all(tsr_context *ctx, tsr_program *p);
/*
 * Verifies what changed since the program was verified (changes.h), and what that has a bearing on.
 * TSR_ERR_INVALID, without a message, when something is wrong: verify_all then says what.
 */
tsr_status verify_changed(tsr_context *ctx, tsr_program *p);

#endif
