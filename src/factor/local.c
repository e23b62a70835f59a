/* Whether an op can run on its operands in their layouts, without moving them. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "factor/project.h"

/* What shards each factor, over all operands. */
typedef struct local_op {
    projection p;
    axis_view *axes;           /* by factor */
    const tsr_ragged **ragged; /* by factor: explicit sizes, or NULL */
} local_op;

static int64_t shards_of(const local_op *l, size_t factor)
{
    return view_size(l->axes[factor]);
}

static bool is_plain(const tsr_sharding *s)
{
    return s->num_unreduced == 0;
}

/* The dimension of a tensor that is this factor and nothing else; NULL when there is none. */
static const tsr_rule_dim *dim_of_factor(const tsr_rule_tensor *t, size_t factor, size_t *dim)
{
    for (size_t d = 0; d < t->rank; d++) {
        if (t->dims[d].num_factors == 1 && t->dims[d].factors[0] == factor) {
            *dim = d;
            return &t->dims[d];
        }
    }
    return NULL;
}

/* The explicit sizes of a factor in an operand, without pad rows; NULL when there are none. */
static const tsr_ragged *ragged_of(const local_op *l, size_t tensor, size_t factor)
{
    size_t dim;
    if (dim_of_factor(&l->p.rule->tensors[tensor], factor, &dim) == NULL) {
        return NULL;
    }
    const tsr_ragged *ragged = l->p.tensors[tensor].sharding->dims[dim].ragged;
    return ragged != NULL && ragged->alignment <= 1 ? ragged : NULL;
}

/* What shards a factor in one operand, even or ragged; false when the operand is in the way. */
static bool axes_in(const local_op *l, size_t tensor, size_t factor, axis_view *axes,
                    const tsr_ragged **ragged)
{
    const factor_state *f = &l->p.tensors[tensor].factors[factor];
    *ragged = f->overflow.count > 0 ? ragged_of(l, tensor, factor) : NULL;
    *axes = *ragged != NULL ? f->overflow : f->axes;
    return f->overflow.count == 0 || *ragged != NULL;
}

static bool same_ragged(const tsr_ragged *a, const tsr_ragged *b, int64_t shards)
{
    return a == NULL || b == NULL ? a == b : ragged_equal(a, b, shards);
}

/* Whether every result has a factor; one with explicit sizes as a dimension by itself. */
static bool reaches_results(const local_op *l, size_t factor)
{
    const tsr_rule *rule = l->p.rule;
    for (size_t t = rule->num_operands; t < l->p.num_tensors; t++) {
        size_t dim;
        if (!l->p.tensors[t].factors[factor].present ||
            (l->ragged[factor] != NULL && dim_of_factor(&rule->tensors[t], factor, &dim) == NULL)) {
            return false;
        }
    }
    return true;
}

/* All operands with a factor shard it alike, and the op can do with that. */
static bool find_axes(local_op *l, size_t factor)
{
    bool first = true;
    l->axes[factor] = (axis_view){0};
    l->ragged[factor] = NULL;
    for (size_t t = 0; t < l->p.rule->num_operands; t++) {
        axis_view axes;
        const tsr_ragged *ragged;
        if (!l->p.tensors[t].factors[factor].present) {
            continue;
        }
        if (!axes_in(l, t, factor, &axes, &ragged)) {
            return false;
        }
        if (first) {
            l->axes[factor] = axes;
            l->ragged[factor] = ragged;
        } else if (!tsr_axes_equal(l->axes[factor].refs, l->axes[factor].count, axes.refs,
                                   axes.count) ||
                   !same_ragged(l->ragged[factor], ragged, shards_of(l, factor))) {
            return false;
        }
        first = false;
    }
    const tsr_factor_kind kind = l->p.rule->factors[factor].kind;
    return l->axes[factor].count == 0 || kind == TSR_FACTOR_REDUCTION ||
           (kind == TSR_FACTOR_PASS_THROUGH && reaches_results(l, factor));
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
    size_t room = 0;
    for (size_t f = 0; f < l->p.rule->num_factors; f++) {
        room += l->axes[f].count;
    }
    return (tsr_axis_list){ARENA_ARRAY(l->p.scratch, tsr_axis_ref, room), 0, room};
}

/*
 * The layout of a result. It is verified: parts of one axis that come from several operands need
 * not fit into one reshape of it.
 */
static tsr_status lay_out(const local_op *l, tsr_arena *arena, const tsr_rule_tensor *of,
                          tsr_reduction reduction, const tsr_sharding **out)
{
    tsr_dim *dims = ARENA_ARRAY(l->p.scratch, tsr_dim, of->rank);
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
        dims[d].ragged = of->dims[d].num_factors == 1 ? l->ragged[of->dims[d].factors[0]] : NULL;
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
    return tsr_sharding_create(l->p.ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

static tsr_status run_locally(tsr_context *ctx, tsr_arena *arena, tsr_arena *scratch,
                              const tsr_rule *rule, const tsr_mesh *mesh,
                              const tsr_sharding *const *operands, tsr_reduction reduction,
                              const tsr_sharding **results)
{
    const visit_op op = {.rule = rule};
    const size_t count = rule_num_tensors(rule);
    const tsr_sharding **all = ARENA_ARRAY(scratch, const tsr_sharding *, count);
    local_op l = {.axes = ARENA_ARRAY(scratch, axis_view, rule->num_factors),
                  .ragged = ARENA_ARRAY(scratch, const tsr_ragged *, rule->num_factors)};
    if (all == NULL || l.axes == NULL || l.ragged == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t t = 0; t < count; t++) {
        all[t] = t < rule->num_operands ? operands[t] : NULL;
    }
    TSR_TRY(check_meshes(ctx, rule, mesh, all));
    TSR_TRY(project(ctx, scratch, &op, mesh, all, &l.p));
    if (!can_run(&l)) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t r = 0; r < rule->num_results; r++) {
        TSR_TRY(lay_out(&l, arena, &rule->tensors[rule->num_operands + r], reduction, &results[r]));
    }
    return TSR_OK;
}

tsr_status tsr_propagate_local(tsr_context *ctx, tsr_arena *arena, const tsr_rule *rule,
                               const tsr_mesh *mesh, const tsr_sharding *const *operands,
                               tsr_reduction reduction, const tsr_sharding **results)
{
    GUARD(tsr_propagate_local);
    tsr_arena *scratch = NULL;
    TSR_TRY(tsr_arena_create(ctx, &scratch));
    const tsr_status status =
        run_locally(ctx, arena, scratch, rule, mesh, operands, reduction, results);
    tsr_arena_destroy(scratch);
    return status;
}
