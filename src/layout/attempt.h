/*
 * One attempt to run an op: the operands are given layouts, and the rule says whether it runs on
 * local parts so, what it leaves pending, and which layouts its results have.
 */
#ifndef LAYOUT_ATTEMPT_H
#define LAYOUT_ATTEMPT_H

#include "layout/inference.h"

/* Takes out of every operand what is pending; what of it is kept goes to the results. */
tsr_status attempt_strip(inference *x, bool keep);

/* Whether the kernel can run on the operands' parts, if the rule allows it. */
bool attempt_can_stay(const inference *x);

/* What factor/align.h needs to know to lay operands out. */
tsr_status attempt_alignment(const inference *x, tsr_alignment *out);

/* Sets `aligned` by the strategy. */
tsr_status attempt_align(inference *x);

/* Sets `locals` for the op as it runs on `aligned`; TSR_NOT_APPLICABLE where it does not. */
tsr_status attempt_run(inference *x);

/* Gathers everything: any op runs so. */
tsr_status attempt_gather(inference *x);

/*
 * Adds what is kept to what the op leaves pending: *fits is whether both are of one kind. Sets
 * `run` and `finals`; with `reshard` results get axes that propagation wants for dimensions that
 * had to be whole.
 */
tsr_status attempt_finish(inference *x, bool reshard, bool *fits);

/* A sharding of an operand or a result without what is pending. */
tsr_status attempt_completed(const inference *x, const tsr_sharding *s, const tsr_sharding **out);

#endif
