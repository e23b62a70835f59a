/*
 * The engine: visits by the million, for propagation over whole programs.
 *
 * Shardings are interned, so that a value's sharding is a pointer and equality is a comparison of
 * pointers. Scratch belongs to the engine and is used again by every visit: a visit that changes
 * nothing allocates nothing, and one that gives a tensor a sharding that was seen before neither.
 * Rules are interned where rows are known, by ops/rules.h.
 *
 * Who drives it keeps a worklist: it gathers the shardings of an op's tensors, visits, writes what
 * changed and puts the ops on the list that use those values.
 */
#ifndef FACTOR_ENGINE_H
#define FACTOR_ENGINE_H

#include "factor/project.h"

typedef struct engine engine;

tsr_status engine_create(tsr_context *ctx, engine **out);

/* Lets it report errors to another context than the one it was made with, whose memory it uses. */
void engine_report_to(engine *e, tsr_context *ctx);

/* Frees it with every sharding that it made. NULL is fine. */
void engine_destroy(engine *e);

/* The engine's sharding that is equal to any sharding. */
tsr_status engine_intern(engine *e, const tsr_sharding *sharding, const tsr_sharding **out);

/* A tensor that changed; `before` is NULL when it had no sharding. */
typedef struct engine_change {
    size_t tensor;
    const tsr_sharding *before;
    const tsr_sharding *after;
} engine_change;

/* What a visit changed: operands in order, then results. Valid until the next visit. */
typedef struct engine_changes {
    const engine_change *list;
    size_t count;
} engine_changes;

/*
 * Visits an op whose tensors, operands first, have these shardings of the engine, or NULL for none.
 * Tensors on several meshes, on none or on a maximal one change nothing; one on the empty mesh is
 * rewritten onto that of the others when it changes. Priorities do not count, and a sharding that
 * changes loses them. An error when a sharding has another rank than the rule says, or would get
 * parts of one axis that no reshape of the axis has together.
 */
tsr_status engine_visit(engine *e, const visit_op *op, const tsr_sharding *const *shardings,
                        engine_changes *changes);

/* The last visit by factors, if it changed something. Valid until the next one. */
const projection *engine_last_visit(const engine *e);

#endif
