/* Typing a call: the table of local rules, then the partition specs. */
#ifndef SPMD_INFER_H
#define SPMD_INFER_H

#include "spmd/type.h"

/* The state of an inference. A quiet one fails without a message. */
typedef struct inference {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_typed_call *call;
    bool quiet;
    size_t bad_axis;     /* where the local rules failed; SIZE_MAX when they did not */
    tsr_axis_type *axes; /* of the results */
    bool has_global;     /* some axis is global */
    size_t num_results;
} inference;

/* The result of the local rules along one axis. */
typedef struct verdict {
    bool fine;
    tsr_axis_type type;
    const char *why; /* unless fine */
} verdict;

/* The operands' types along one axis; a number is marked so. */
typedef struct axis_operand {
    bool number;
    tsr_axis_type type;
} axis_operand;

/* The rules for one axis; operands that are not `present` are skipped (NULL: all are present). */
verdict infer_axis(const tsr_typed_call *call, size_t axis, const axis_operand *operands,
                   const bool *present);

/* The operands along an axis. */
void operands_along(const tsr_typed_call *call, size_t axis, axis_operand *out);

/* A call with its operands on one mesh, which is the call's or cut out of it. */
tsr_status infer_meet(tsr_context *ctx, tsr_arena *arena, const tsr_typed_call *call,
                      tsr_typed_call *out);

/* The whole check, of operands on one mesh. */
tsr_status infer_call(inference *inf, const tsr_type **results);

/* The partition specs of the results; axes that become pending are set in inf->axes. */
tsr_status infer_specs(inference *inf, const tsr_type **results);

/* An error of this call: the op, the axis (SIZE_MAX: none), all operands, and why. */
tsr_status infer_error(inference *inf, size_t axis, const char *why);

/* Fixes along the axis that failed. */
tsr_status find_fixes(tsr_context *ctx, tsr_arena *arena, const tsr_typed_call *call, size_t axis,
                      const tsr_fix **fixes, size_t *num_fixes);

#endif
