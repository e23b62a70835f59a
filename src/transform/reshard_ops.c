/* Ops with a rule: their tensors are moved, and reductions over cut factors done. */
#include <string.h>

#include "base/arena.h"
#include "transform/reshard.h"

/* ---- other ops ---- */

static uint32_t through_barriers(const tsr_program *p, uint32_t value)
{
    uint32_t op = value_op(p, value);
    while (op != 0 && op_is(p, op, OP_SDY_PROPAGATION_BARRIER)) {
        value = op_operand(p, op, 0);
        op = value_op(p, value);
    }
    return value;
}

static tsr_status list_tensors(resharding *r, uint32_t op, op_tensors *t)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const ir_op *o = program_op(p, op);
    t->num_operands = o->num_operands;
    t->count = (size_t)o->num_operands + o->num_results;
    t->shardings = ARENA_ARRAY(w->scratch, const tsr_sharding *, t->count + 1);
    if (t->shardings == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < t->count; i++) {
        const uint32_t value = i < t->num_operands ? through_barriers(p, op_operand(p, op, i))
                                                   : op_result(p, op, i - t->num_operands);
        TSR_TRY(reshard_sharding_of(w, value, &t->shardings[i]));
    }
    return TSR_OK;
}

/* The mesh that most sharded tensors are on. */
static const tsr_mesh *frequent_mesh(const op_tensors *t, const tsr_mesh *common)
{
    const tsr_mesh *best = common;
    size_t most = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t count = 0;
        for (size_t k = 0; k <= i && !reshard_is_replicated(t->shardings[i]); k++) {
            count += !reshard_is_replicated(t->shardings[k]) &&
                     t->shardings[k]->mesh == t->shardings[i]->mesh;
        }
        if (count > most) {
            most = count;
            best = t->shardings[i]->mesh;
        }
    }
    return best;
}

/* ---- moving the tensors ---- */

/* The sharding of a tensor when its factors are sharded as all agree; *changed: it is another. */
static tsr_status sharding_by_factors(workspace *w, op_tensors *t, const tsr_rule *rule, size_t i,
                                      const axis_view *common, bool *changed,
                                      const tsr_sharding **out)
{
    tsr_sharding now;
    *changed = t->shardings[i] != NULL && !reshard_is_replicated(t->shardings[i]) &&
               !tsr_mesh_equal(t->shardings[i]->mesh, t->mesh);
    for (size_t f = 0; f < rule->num_factors; f++) {
        factor_state *state = &t->x.tensors[i].factors[f];
        if (state->present) {
            *changed =
                *changed || state->overflow.count > 0 || !is_same_list(state->axes, common[f]);
            state->axes = common[f];
            state->grown = true;
            state->overflow = (axis_view){0};
        }
    }
    if (!*changed) {
        *out = t->shardings[i];
        return TSR_OK;
    }
    TSR_TRY(project_back(&t->x, i, &now));
    tsr_dim *dims = arena_copy(w->scratch, now.dims, now.rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t d = 0; d < now.rank; d++) {
        dims[d].open = false;
        dims[d].priority = TSR_NO_PRIORITY;
    }
    now.dims = dims;
    now.mesh = t->mesh;
    return engine_intern(w->engine, &now, out);
}

static tsr_status move_operand(resharding *r, uint32_t op, size_t i, const tsr_sharding *to)
{
    tsr_program *p = r->w->p;
    uint32_t reshard = 0;
    TSR_TRY(reshard_make(r->w, op_operand(p, op, i), to, op, &reshard));
    op_insert_before(p, reshard, op);
    op_set_operand(p, op, i, op_result(p, reshard, 0));
    return TSR_OK;
}

/* The result comes out in another sharding; a reshard after the op gives the one it had. */
static tsr_status move_result(resharding *r, uint32_t op, size_t i, const tsr_sharding *to,
                              const tsr_sharding *had, const tsr_mesh *mesh, uint32_t *after)
{
    workspace *w = r->w;
    tsr_program *p = w->p;
    const uint32_t value = op_result(p, op, i);
    uint32_t attr = 0;
    uint32_t reshard = 0;
    if (had == NULL) {
        TSR_TRY(closed_sharding(w, mesh, value_type(p, value), &had));
    }
    TSR_TRY(sharding_attr(w, to, &attr));
    TSR_TRY(value_set_sharding(w, value, attr));
    TSR_TRY(reshard_make(w, value, had, op, &reshard));
    value_replace_uses(p, value, op_result(p, reshard, 0), reshard);
    op_insert_after(p, reshard, *after);
    *after = reshard;
    return TSR_OK;
}

static tsr_status move_tensors(resharding *r, uint32_t op, op_tensors *t, const tsr_rule *rule,
                               const axis_view *common)
{
    uint32_t after = op;
    for (size_t i = 0; i < t->count; i++) {
        bool changed = false;
        const tsr_sharding *had = t->shardings[i];
        const tsr_sharding *to = NULL;
        TSR_TRY(sharding_by_factors(r->w, t, rule, i, common, &changed, &to));
        if (!changed) {
            continue;
        }
        TSR_TRY(i < t->num_operands
                    ? move_operand(r, op, i, to)
                    : move_result(r, op, i - t->num_operands, to, had, t->mesh, &after));
    }
    return TSR_OK;
}

/* ---- reductions over cut factors ---- */

static tsr_status all_reduce_results(resharding *r, uint32_t op, const op_tensors *t,
                                     const tsr_rule *rule, const axis_view *common)
{
    workspace *w = r->w;
    tsr_program *p = w->p;
    tsr_axis_list axes;
    tsr_axis_list rest;
    size_t room = 16;
    const tsr_sharding *first = NULL;
    for (size_t f = 0; f < rule->num_factors; f++) {
        room += 4 * common[f].count;
    }
    TSR_TRY(reshard_sharding_of(w, op_result(p, op, 0), &first));
    TSR_TRY(reshard_new_list(w, room, &axes));
    for (size_t f = 0; f < rule->num_factors; f++) {
        for (size_t i = 0; rule->factors[f].kind == TSR_FACTOR_REDUCTION && i < common[f].count;
             i++) {
            axes.refs[axes.count++] = common[f].refs[i];
        }
    }
    TSR_TRY(reshard_new_list(w, room + (first != NULL ? reshard_list_room(first) : 0), &rest));
    TSR_TRY(tsr_axes_difference(axes.refs, axes.count, first != NULL ? first->unreduced : NULL,
                                first != NULL ? first->num_unreduced : 0, &rest));
    if (rest.count == 0) {
        return TSR_OK;
    }
    tsr_axes_sort_and_merge(t->mesh, &rest);
    uint32_t after = op;
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        const uint32_t value = op_result(p, op, i);
        const tsr_sharding *sharding = NULL;
        uint32_t attr = 0;
        uint32_t reduced = 0;
        TSR_TRY(reshard_sharding_of(w, value, &sharding));
        if (sharding == NULL) {
            TSR_TRY(closed_sharding(w, t->mesh, value_type(p, value), &sharding));
        }
        TSR_TRY(reshard_axes_attr(w, t->mesh, &rest, 1, false, &attr));
        TSR_TRY(reshard_make_collective(
            w, OP_SDY_ALL_REDUCE, "reduction_axes", attr, value, sharding,
            sharding->num_unreduced > 0 ? sharding->reduction : TSR_SUM, op, &reduced));
        value_replace_uses(p, value, op_result(p, reduced, 0), reduced);
        op_insert_after(p, reduced, after);
        after = reduced;
    }
    return TSR_OK;
}

/* ---- ops with a rule ---- */

/* Whether the tensors of an op may be moved: without the full version those of few kinds are. */
static bool may_move(const resharding *r, uint32_t op)
{
    const tsr_program *p = r->w->p;
    return r->full || op_is(p, op, OP_MHLO_RAGGED_DOT) || op_is(p, op, OP_STABLEHLO_CONCATENATE);
}

static bool is_full(const resharding *r, uint32_t op, const op_tensors *t)
{
    if (r->full || !op_is(r->w->p, op, OP_STABLEHLO_CONCATENATE)) {
        return may_move(r, op);
    }
    for (size_t i = 0; i < t->num_operands; i++) {
        if (t->shardings[i] != t->shardings[t->num_operands]) {
            return true;
        }
    }
    return false;
}

/* Without the full version: pending sums of reduction factors whose tensors agree. */
static tsr_status reduce_only(resharding *r, uint32_t op, const op_tensors *t, const tsr_rule *rule,
                              axis_view *common)
{
    const tsr_sharding *first = t->shardings[t->num_operands];
    if (first == NULL || first->num_unreduced == 0) {
        return TSR_OK;
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        bool seen = false;
        common[f] = (axis_view){0};
        for (size_t i = 0; i < t->count && rule->factors[f].kind == TSR_FACTOR_REDUCTION; i++) {
            if (has_factor(t, i, f)) {
                if (seen && !is_same_list(common[f], axes_of(t, i, f))) {
                    return TSR_OK;
                }
                common[f] = axes_of(t, i, f);
                seen = true;
            }
        }
    }
    return all_reduce_results(r, op, t, rule, common);
}

/* ---- products, without the full version ---- */

/* The axes of the contracting factors, one after the other. */
static tsr_status contracting_axes(workspace *w, const op_tensors *t, const tsr_rule *rule,
                                   axis_view *out)
{
    tsr_axis_list list;
    size_t room = 1;
    for (size_t f = 0; f < rule->num_factors; f++) {
        room += has_factor(t, 0, f) ? axes_of(t, 0, f).count : 0;
    }
    TSR_TRY(reshard_new_list(w, room, &list));
    for (size_t f = 0; f < rule->num_factors; f++) {
        const bool reduces = rule->factors[f].kind == TSR_FACTOR_REDUCTION;
        for (size_t i = 0; reduces && i < axes_of(t, 0, f).count; i++) {
            list.refs[list.count++] = axes_of(t, 0, f).refs[i];
        }
    }
    *out = (axis_view){list.refs, list.count};
    return TSR_OK;
}

/* Whether the operands of a product agree where they share factors, and nowhere else overlap. */
static bool operands_agree(const op_tensors *t, const tsr_rule *rule)
{
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (!has_factor(t, 0, f)) {
            continue;
        }
        if (has_factor(t, 1, f) && !is_same_list(axes_of(t, 0, f), axes_of(t, 1, f))) {
            return false;
        }
        for (size_t g = 0; g < rule->num_factors; g++) {
            if (!has_factor(t, 1, f) && has_factor(t, 1, g) && !has_factor(t, 0, g) &&
                views_overlap(axes_of(t, 0, f), axes_of(t, 1, g))) {
                return false;
            }
        }
    }
    return true;
}

/*
 * A product whose result is sharded, in one factor, by the contracting axes instead of by those
 * of its operand: it comes out as its operand is, and is resharded, which becomes a
 * reduce-scatter.
 */
static tsr_status reshard_product(resharding *r, uint32_t op, op_tensors *t, const tsr_rule *rule)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    axis_view contracting;
    size_t found = SIZE_MAX;
    axis_view wanted = {0};
    if (t->shardings[2] == NULL || !operands_agree(t, rule)) {
        return TSR_OK;
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (!has_factor(t, 2, f)) {
            continue;
        }
        const size_t operand = has_factor(t, 0, f) ? 0 : 1;
        if (!is_same_list(axes_of(t, operand, f), axes_of(t, 2, f))) {
            if (found != SIZE_MAX) {
                return TSR_OK;
            }
            found = f;
            wanted = axes_of(t, operand, f);
        }
    }
    if (found == SIZE_MAX || wanted.count == 0 || axes_of(t, 2, found).count == 0) {
        return TSR_OK;
    }
    int64_t operand_size = 0;
    for (size_t i = 0; i < 2; i++) {
        const int64_t size =
            has_factor(t, i, found) ? reshard_num_elements(p, op_operand(p, op, i)) : 0;
        operand_size = size > operand_size ? size : operand_size;
    }
    TSR_TRY(contracting_axes(w, t, rule, &contracting));
    if (reshard_num_elements(p, op_result(p, op, 0)) > operand_size ||
        !is_same_list(contracting, axes_of(t, 2, found))) {
        return TSR_OK;
    }
    tsr_sharding now;
    const tsr_sharding *to = NULL;
    uint32_t after = op;
    t->x.tensors[2].factors[found].axes = wanted;
    t->x.tensors[2].factors[found].grown = true;
    TSR_TRY(project_back(&t->x, 2, &now));
    TSR_TRY(engine_intern(w->engine, &now, &to));
    return move_result(r, op, 0, to, t->shardings[2], t->mesh, &after);
}

/* Fills `t` with the projection of an op's shardings; *rule NULL: there is nothing to do. */
static tsr_status project_op(resharding *r, uint32_t op, op_tensors *t, const tsr_rule **rule)
{
    workspace *w = r->w;
    TSR_TRY(list_tensors(r, op, t));
    TSR_TRY(rule_of_op(r->s, op, rule));
    if (*rule == NULL || (*rule)->custom) {
        *rule = NULL;
        return TSR_OK;
    }
    t->mesh = tsr_sharding_common_mesh(t->shardings, t->count, true);
    if (t->mesh == NULL || tsr_mesh_is_maximal(t->mesh)) {
        *rule = NULL;
        return TSR_OK;
    }
    t->mesh = frequent_mesh(t, t->mesh);
    const visit_op *how = ARENA_NEW(w->scratch, visit_op);
    if (how == NULL) {
        return diag_nomem(w->ctx);
    }
    memcpy((visit_op *)(uintptr_t)how, &(visit_op){.rule = *rule}, sizeof *how);
    return project(w->ctx, w->scratch, how, t->mesh, t->shardings, &t->x);
}

/* Fails when a tensor of an op is not sharded as all of them can be together. A rule that depends
 * on the ops before it may be another one since those are reshards. */
static tsr_status check_agreement(resharding *r, uint32_t op, op_tensors *t, const tsr_rule *rule,
                                  axis_view *common)
{
    bool moves = false;
    bool was_other = false;
    TSR_TRY(reshard_find_common(r, op, t, rule, common, &moves));
    TSR_TRY(rule_asks_operands(r->s, op, &was_other));
    return moves && !was_other
               ? op_error(r->w->ctx, r->w->p, op,
                          "needs reshards: its operands and results are cut along other axes")
               : TSR_OK;
}

tsr_status reshard_op(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    const tsr_rule *rule = NULL;
    op_tensors t = {0};
    bool moves = false;
    if (r->only_checks && !may_move(r, op)) {
        return TSR_OK;
    }
    TSR_TRY(reshard_reduce_operands(r, op));
    TSR_TRY(project_op(r, op, &t, &rule));
    if (rule == NULL || t.count == t.num_operands) {
        return TSR_OK;
    }
    axis_view *common = ARENA_ARRAY(w->scratch, axis_view, rule->num_factors + 1);
    if (common == NULL) {
        return diag_nomem(w->ctx);
    }
    if (r->only_checks) {
        return is_full(r, op, &t) ? check_agreement(r, op, &t, rule, common) : TSR_OK;
    }
    if (!is_full(r, op, &t)) {
        if (op_is(w->p, op, OP_STABLEHLO_DOT) || op_is(w->p, op, OP_STABLEHLO_DOT_GENERAL)) {
            TSR_TRY(reshard_product(r, op, &t, rule));
        }
        return reduce_only(r, op, &t, rule, common);
    }
    TSR_TRY(reshard_find_common(r, op, &t, rule, common, &moves));
    if (moves) {
        TSR_TRY(move_tensors(r, op, &t, rule, common));
    }
    return all_reduce_results(r, op, &t, rule, common);
}
