/* Which pending reductions of the operands may stay pending through an op. */
#ifndef OPS_PENDING_H
#define OPS_PENDING_H

#include "ops/op.h"

enum { MAX_PENDING = 64 };

/* Of one operand: the axes that stay pending. */
typedef struct kept_axes {
    tsr_axis_ref axes[MAX_PENDING];
    size_t count;
} kept_axes;

/*
 * Decides axis by axis, by the class of each argument (spmd/class.h). `kept` has one list for each
 * operand; what it leaves out has to be reduced before the op. What stays is of one kind, `kind`.
 */
void choose_pending(const op_request *r, const tsr_sharding *const *operands, kept_axes *kept,
                    tsr_reduction *kind);

/*
 * The element type in which ops keep what they leave pending of a type: f32 for sums and averages
 * of f16 and bf16, whose parts would show in the sum if they were rounded, or overflow.
 */
tsr_dtype pending_dtype(tsr_dtype dtype, tsr_reduction kind);

#endif
