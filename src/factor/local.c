/* Whether an op can run where its operands lie. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "factor/project.h"
#include "shard/sharding.h"

/* What shards each factor, over all operands. */
typedef struct local_op {
    projection p;
    tsr_axis_list *axes; /* by factor */
} local_op;

static int64_t shards_of(const local_op *l, size_t factor)
{
    return tsr_axes_size(l->axes[factor].refs, l->axes[factor].count);
}

static bool is_plain(const tsr_sharding *s)
{
    return s->num_unreduced == 0;
}

/* All operands with a factor shard it alike, and none of them has an overflow there. */
static bool find_axes(local_op *l, size_t factor)
{
    bool first = true;
    l->axes[factor].count = 0;
    for (size_t t = 0; t < l->p.rule->num_operands; t++) {
        const factor_state *f = &l->p.tensors[t].factors[factor];
        if (!f->present) {
            continue;
        }
        if (f->overflow.count > 0) {
            return false;
        }
        if (first) {
            copy_axes(&l->axes[factor], &f->axes);
        } else if (!tsr_axes_equal(l->axes[factor].refs, l->axes[factor].count, f->axes.refs,
                                   f->axes.count)) {
            return false;
        }
        first = false;
    }
    const tsr_factor_kind kind = l->p.rule->factors[factor].kind;
    return l->axes[factor].count == 0 || kind == TSR_FACTOR_PASS_THROUGH ||
           kind == TSR_FACTOR_REDUCTION;
}

/* No axis may stand for two factors: a device would see only the diagonal of their product. */
static bool are_apart(const local_op *l)
{
    for (size_t f = 0; f < l->p.rule->num_factors; f++) {
        for (size_t g = 0; g < f; g++) {
            if (tsr_axes_overlap(l->axes[f].refs, l->axes[f].count, l->axes[g].refs,
                                 l->axes[g].count)) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Whether even chunks of a dimension are chunks of its factors: of several, all that are sharded
 * divide, and all that are major to a sharded one are sharded in full.
 */
static bool chunks_fit(const local_op *l, const tsr_rule_dim *dim)
{
    bool minor_is_sharded = false;
    for (size_t i = dim->num_factors; dim->num_factors > 1 && i-- > 0;) {
        const int64_t size = rule_factor_size(l->p.rule, dim->factors[i]);
        const int64_t shards = shards_of(l, dim->factors[i]);
        if (size % shards != 0 || (minor_is_sharded && shards != size)) {
            return false;
        }
        minor_is_sharded = minor_is_sharded || shards > 1;
    }
    return true;
}

static bool all_chunks_fit(const local_op *l)
{
    for (size_t t = 0; t < l->p.num_tensors; t++) {
        for (size_t d = 0; d < l->p.rule->tensors[t].rank; d++) {
            if (!chunks_fit(l, &l->p.rule->tensors[t].dims[d])) {
                return false;
            }
        }
    }
    return true;
}

static bool can_run(local_op *l)
{
    for (size_t t = 0; t < l->p.rule->num_operands; t++) {
        if (!is_plain(l->p.tensors[t].sharding)) {
            return false;
        }
    }
    for (size_t f = 0; f < l->p.rule->num_factors; f++) {
        if (!find_axes(l, f)) {
            return false;
        }
    }
    return are_apart(l) && all_chunks_fit(l);
}

static tsr_status add_axes(const local_op *l, size_t factor, tsr_axis_list *list)
{
    for (size_t i = 0; i < l->axes[factor].count; i++) {
        TSR_TRY(tsr_axes_add(l->p.mesh, list, l->axes[factor].refs[i]));
    }
    return TSR_OK;
}

/* A list with room for the axes of all factors. */
static tsr_axis_list list_for_all(const local_op *l)
{
    const size_t room = (l->p.rule->num_factors + 1) * l->p.room;
    return (tsr_axis_list){ARENA_ARRAY(l->p.arena, tsr_axis_ref, room), 0, room};
}

static tsr_status lay_out(const local_op *l, const tsr_rule_tensor *of, tsr_reduction reduction,
                          const tsr_sharding **out)
{
    tsr_dim *dims = ARENA_ARRAY(l->p.arena, tsr_dim, of->rank);
    tsr_axis_list pending = list_for_all(l);
    if (dims == NULL || pending.refs == NULL) {
        return diag_nomem(l->p.ctx);
    }
    for (size_t d = 0; d < of->rank; d++) {
        tsr_axis_list axes = list_for_all(l);
        if (axes.refs == NULL) {
            return diag_nomem(l->p.ctx);
        }
        for (size_t i = 0; i < of->dims[d].num_factors; i++) {
            TSR_TRY(add_axes(l, of->dims[d].factors[i], &axes));
        }
        dims[d] = tsr_dim_closed(axes.refs, axes.count);
    }
    for (size_t f = 0; f < l->p.rule->num_factors; f++) {
        if (l->p.rule->factors[f].kind == TSR_FACTOR_REDUCTION) {
            TSR_TRY(add_axes(l, f, &pending));
        }
    }
    const tsr_sharding_spec spec = {.mesh = l->p.mesh,
                                    .rank = of->rank,
                                    .dims = dims,
                                    .num_unreduced = pending.count,
                                    .unreduced = pending.refs,
                                    .reduction = pending.count > 0 ? reduction : TSR_SUM};
    return tsr_sharding_create(l->p.ctx, l->p.arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

tsr_status tsr_propagate_local(tsr_context *ctx, tsr_arena *arena, const tsr_rule *rule,
                               const tsr_mesh *mesh, const tsr_sharding *const *operands,
                               tsr_reduction reduction, const tsr_sharding **results)
{
    const tsr_propagation op = {.rule = rule, .mesh = mesh};
    const size_t count = rule_num_tensors(rule);
    const tsr_sharding **all = ARENA_ARRAY(arena, const tsr_sharding *, count);
    local_op l = {.axes = ARENA_ARRAY(arena, tsr_axis_list, rule->num_factors)};
    if (all == NULL || l.axes == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t t = 0; t < count; t++) {
        all[t] = t < rule->num_operands ? operands[t] : NULL;
    }
    TSR_TRY(project(ctx, arena, &op, mesh, all, &l.p));
    for (size_t f = 0; f < rule->num_factors; f++) {
        l.axes[f] = new_axis_list(&l.p);
        if (l.axes[f].refs == NULL) {
            return diag_nomem(ctx);
        }
    }
    if (!can_run(&l)) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t r = 0; r < rule->num_results; r++) {
        TSR_TRY(lay_out(&l, &rule->tensors[rule->num_operands + r], reduction, &results[r]));
    }
    return TSR_OK;
}
