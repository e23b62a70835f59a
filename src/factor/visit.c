#include "factor/visit.h"

#include "base/base.h"
#include "mesh/mesh.h"

/* The strategies by number. Nothing has a price here: the cheapest is decided by who aligns. */
static tsr_status (*const strategies[])(projection *) = {
    [TSR_STRATEGY_BASIC] = propagate_basic,
    [TSR_STRATEGY_AGGRESSIVE] = propagate_aggressive,
    [TSR_STRATEGY_MOST_PARALLEL] = propagate_most_parallel,
    [TSR_STRATEGY_CHEAPEST] = propagate_aggressive,
};

/* The mesh of all shardings where it is one object, which it nearly always is; NULL otherwise. */
static const tsr_mesh *single_mesh(const tsr_sharding *const *shardings, size_t count)
{
    const tsr_mesh *mesh = NULL;
    for (size_t i = 0; i < count; i++) {
        if (shardings[i] != NULL) {
            if (mesh != NULL && shardings[i]->mesh != mesh) {
                return NULL;
            }
            mesh = shardings[i]->mesh;
        }
    }
    return mesh;
}

static const tsr_mesh *common_mesh(const tsr_sharding *const *shardings, size_t count)
{
    const tsr_mesh *single = single_mesh(shardings, count);
    return single != NULL ? single : tsr_sharding_common_mesh(shardings, count, false);
}

tsr_status visit(tsr_context *ctx, tsr_arena *scratch, const visit_op *op, const tsr_mesh *mesh,
                 const tsr_sharding *const *shardings, projection *out)
{
    const tsr_mesh *common =
        mesh != NULL ? mesh : common_mesh(shardings, rule_num_tensors(op->rule));
    out->changed = false;
    if (common == NULL || common->maximal) {
        return TSR_OK;
    }
    TSR_TRY(project(ctx, scratch, op, common, shardings, out));
    return strategies[op->strategy](out);
}

bool is_update(const tsr_sharding *before, const tsr_sharding *after)
{
    bool axes = before != NULL;
    for (size_t d = 0; !axes && d < after->rank; d++) {
        axes = after->dims[d].num_axes > 0;
    }
    return axes;
}
