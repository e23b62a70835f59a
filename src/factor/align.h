/* Every way to give the factors of an op axes that its operands have. */
#ifndef FACTOR_ALIGN_H
#define FACTOR_ALIGN_H

#include <tessera/propagate.h>

/* Called with one way: shardings of the operands, of the arena. */
typedef tsr_status align_use(void *state, const tsr_sharding *const *aligned);

/*
 * Calls `use` for each way, as tsr_propagate_align lays operands out, to give each factor the axes
 * of one operand or none, at most `most` ways: the first operands, and axes before none, come
 * first. Of factors that take the same axis the strategy decides. Stops at the first failure.
 */
tsr_status align_each(tsr_context *ctx, tsr_arena *arena, const tsr_alignment *op, int64_t most,
                      align_use *use, void *state);

#endif
