#include "layout/inference.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "factor/rule.h"
#include "layout/attempt.h"
#include "layout/cheapest.h"
#include "layout/unbound.h"
#include "mesh/mesh.h"
#include "shard/sharding.h"

/* Operands on another view of the devices, in terms of the first one's mesh. */
static tsr_status to_common_mesh(inference *x)
{
    x->mesh = x->given[0]->mesh;
    for (size_t i = 0; i < x->r->num_operands; i++) {
        const tsr_sharding *s = x->given[i];
        x->on_mesh[i] = s;
        if (i == 0 || tsr_mesh_equal(s->mesh, x->mesh)) {
            continue;
        }
        if (!tsr_mesh_same_devices(s->mesh, x->mesh)) {
            return OP_ERROR(x->r,
                            "operand 0, %s, and operand %zu, %s, are on different sets of devices; "
                            "redistribute one of them first",
                            op_type_text(&x->r->operands[0]).text, i,
                            op_type_text(&x->r->operands[i]).text);
        }
        tsr_context *quiet = NULL;
        TSR_TRY(tsr_context_create(NULL, &quiet));
        const tsr_status status =
            tsr_sharding_translate(quiet, x->arena, s, x->mesh, &x->on_mesh[i]);
        tsr_context_destroy(quiet);
        if (status != TSR_OK) {
            TSR_TRY(tsr_sharding_replicated_over(x->r->ctx, x->arena, x->mesh, s->rank, false,
                                                 &x->on_mesh[i]));
        }
    }
    return TSR_OK;
}

/* Finds layouts in which the op can run, with or without what might stay pending. */
static tsr_status lay_out(inference *x, bool keep, bool *fits)
{
    const size_t n = x->r->num_operands;
    x->fallback = false;
    TSR_TRY(attempt_strip(x, keep));
    bool aligned = false;
    tsr_status status = x->rule == NULL ? attempt_gather(x) : TSR_NOT_APPLICABLE;
    if (x->rule != NULL && attempt_can_stay(x)) {
        memcpy(x->aligned, x->stripped, n * sizeof(const tsr_sharding *));
        status = attempt_run(x);
    }
    if (status == TSR_NOT_APPLICABLE) {
        TSR_TRY(attempt_align(x));
        status = attempt_run(x);
        aligned = true;
    }
    if (status == TSR_NOT_APPLICABLE) {
        status = attempt_gather(x);
    }
    TSR_TRY(status);
    return attempt_finish(x, aligned, fits);
}

tsr_status inference_solve_by(inference *x, tsr_strategy strategy)
{
    bool fits = false;
    x->strategy = strategy;
    TSR_TRY(lay_out(x, true, &fits));
    return fits ? TSR_OK : lay_out(x, false, &fits);
}

static tsr_status find_rule(inference *x)
{
    const tsr_status status = op_find_rule(x->r, x->results, x->arena, &x->rule);
    if (status == TSR_NOT_APPLICABLE) {
        x->rule = NULL;
        return TSR_OK;
    }
    TSR_TRY(status);
    return op_local_rule(x->r, x->results, x->rule, x->arena, &x->local_rule);
}

tsr_status inference_begin(inference *x)
{
    const size_t n = x->r->num_operands;
    const size_t m = x->num_results;
    const tsr_sharding **lists = ARENA_ARRAY(x->arena, const tsr_sharding *, 4 * n + 2 * m);
    x->kept = ARENA_ARRAY(x->arena, kept_axes, n);
    if (lists == NULL || x->kept == NULL) {
        return diag_nomem(x->r->ctx);
    }
    for (size_t i = 0; i < n; i++) {
        x->kept[i].count = 0;
    }
    x->on_mesh = lists;
    x->stripped = lists + n;
    x->aligned = lists + 2 * n;
    x->run = lists + 3 * n;
    x->locals = lists + 4 * n;
    x->finals = lists + 4 * n + m;
    memset((void *)x->locals, 0, 2 * m * sizeof *x->locals);
    TSR_TRY(to_common_mesh(x));
    return find_rule(x);
}

tsr_status inference_solve(inference *x)
{
    TSR_TRY(unbound_check(x));
    return x->strategy == TSR_STRATEGY_CHEAPEST && x->prices != NULL
               ? cheapest_solve(x)
               : inference_solve_by(x, x->strategy);
}

/* Adds the price of a move of elements of a type, unless there is none. */
static tsr_status add_price(const inference *x, const op_type *type, tsr_dtype pending,
                            const tsr_sharding *from, const tsr_sharding *to, double *sum)
{
    op_type moved = *type;
    double seconds = 0;
    if (from->num_unreduced > 0) {
        moved.dtype = pending;
    }
    if (from != to) {
        TSR_TRY(x->prices->move(x->prices->state, &moved, from, to, &seconds));
    }
    *sum += seconds;
    return TSR_OK;
}

enum { MAX_AXES = 128 };

/*
 * Adds what the list lacks of the axes that cut a tensor: along those of operands and results
 * devices compute different points. One tensor may be cut by an axis, another by a part of it.
 */
static tsr_status add_axes(const inference *x, const tsr_sharding *s, tsr_axis_list *to)
{
    for (size_t d = 0; d < s->rank; d++) {
        tsr_axis_ref refs[MAX_AXES];
        tsr_axis_list rest = {refs, 0, MAX_AXES};
        TSR_TRY(
            tsr_axes_difference(s->dims[d].axes, s->dims[d].num_axes, to->refs, to->count, &rest));
        for (size_t i = 0; i < rest.count; i++) {
            TSR_TRY(tsr_axes_add(x->mesh, to, rest.refs[i]));
        }
    }
    return TSR_OK;
}

/* How many points of the op's loops one device computes, if shards are even. */
static tsr_status points_of(const inference *x, double *out)
{
    tsr_axis_ref refs[MAX_AXES];
    tsr_axis_list axes = {refs, 0, MAX_AXES};
    double points = 1;
    for (size_t i = 0; i < x->r->num_operands; i++) {
        TSR_TRY(add_axes(x, x->aligned[i], &axes));
    }
    for (size_t k = 0; k < x->num_results; k++) {
        TSR_TRY(add_axes(x, x->locals[k], &axes));
    }
    for (size_t f = 0; f < x->rule->num_factors; f++) {
        points *= (double)rule_factor_size(x->rule, f);
    }
    *out = points / (double)tsr_axes_size(refs, axes.count);
    return TSR_OK;
}

tsr_status inference_price(const inference *x, double *out)
{
    double sum = 0;
    double points = 0;
    if (x->rule != NULL && x->num_results > 0) {
        TSR_TRY(points_of(x, &points));
        sum = x->prices->compute(x->prices->state, &x->results[0], points);
    }
    for (size_t i = 0; i < x->r->num_operands; i++) {
        const op_type *type = &x->r->operands[i];
        TSR_TRY(add_price(x, type, x->pending != NULL ? x->pending[i] : type->dtype, x->given[i],
                          x->run[i], &sum));
    }
    for (size_t k = 0; k < x->num_results; k++) {
        const tsr_sharding *completed = NULL;
        const op_type *type = &x->results[k];
        const tsr_dtype pending = pending_dtype(type->dtype, x->finals[k]->reduction);
        TSR_TRY(attempt_completed(x, x->finals[k], &completed));
        TSR_TRY(add_price(x, type, pending, x->locals[k], x->finals[k], &sum));
        TSR_TRY(add_price(x, type, pending, x->finals[k], completed, &sum));
    }
    *out = sum;
    return TSR_OK;
}

size_t inference_own_pending(const inference *x, tsr_axis_ref *axes)
{
    const tsr_sharding *s = x->locals[0];
    size_t count = 0;
    for (size_t i = 0; i < s->num_unreduced && count < MAX_PENDING; i++) {
        bool kept = false;
        for (size_t k = 0; k < x->r->num_operands; k++) {
            kept = kept || tsr_axes_overlap(&s->unreduced[i], 1, x->kept[k].axes, x->kept[k].count);
        }
        if (!kept) {
            axes[count++] = s->unreduced[i];
        }
    }
    return count;
}
