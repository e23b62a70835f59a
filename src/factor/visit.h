/* A visit: one op's shardings, propagated through its rule once, without regard to priorities. */
#ifndef FACTOR_VISIT_H
#define FACTOR_VISIT_H

#include "factor/project.h"

/*
 * Visits an op on the mesh that its shardings have in common, or on `mesh` unless that is NULL, on
 * which they are then known to be. `out->changed` says whether something changed, `project_back`
 * what a tensor that did has now. Without a common mesh, and on a maximal one, nothing does.
 */
tsr_status visit(tsr_context *ctx, tsr_arena *scratch, const visit_op *op, const tsr_mesh *mesh,
                 const tsr_sharding *const *shardings, projection *out);

/* The new sharding of a tensor; false when that is not an update: it had none and got no axes. */
bool is_update(const tsr_sharding *before, const tsr_sharding *after);

#endif
