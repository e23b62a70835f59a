/* Plans: what stays pending and what is folded, in one step or in two. */
#include "plan/plan.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "plan/exchange.h"

/* The unreduced axes of the destination as axes of the source's mesh. */
static tsr_status unreduced_there(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *src,
                                  const tsr_sharding *dst, const tsr_sharding **out)
{
    const tsr_sharding_spec only = {.mesh = dst->mesh,
                                    .num_unreduced = dst->num_unreduced,
                                    .unreduced = dst->unreduced,
                                    .reduction = dst->reduction};
    const tsr_sharding *bare = NULL;
    TSR_TRY(tsr_sharding_create(ctx, arena, &only, TSR_SHARDING_DEFAULT, &bare));
    return tsr_sharding_translate(ctx, arena, bare, src->mesh, out);
}

static tsr_status find_pending(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *src,
                               const tsr_sharding *dst, pending_axes *out)
{
    enum { SPLITS = 128 };
    const tsr_sharding *there = NULL;
    tsr_axis_list introduced = {0};
    TSR_TRY(plan_axis_list(ctx, arena, SPLITS, &out->kept));
    TSR_TRY(plan_axis_list(ctx, arena, SPLITS, &out->removed));
    TSR_TRY(plan_axis_list(ctx, arena, SPLITS, &introduced));
    if (dst->num_unreduced > 0) {
        TSR_TRY(unreduced_there(ctx, arena, src, dst, &there));
        for (size_t i = 0; i < there->num_unreduced; i++) {
            TSR_TRY(tsr_axes_add(src->mesh, &out->kept, there->unreduced[i]));
        }
    }
    TSR_TRY(tsr_axes_difference(out->kept.refs, out->kept.count, src->unreduced, src->num_unreduced,
                                &introduced));
    if (introduced.count > 0) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "a redistribution cannot make a reduction pending: axis \"%s\" is "
                          "unreduced in the destination only",
                          tsr_mesh_axis_name(src->mesh, (size_t)introduced.refs[0].axis));
    }
    if (out->kept.count > 0 && src->reduction != dst->reduction) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a pending %s cannot become a pending %s", reduction_name(src->reduction),
                          reduction_name(dst->reduction));
    }
    return tsr_axes_difference(src->unreduced, src->num_unreduced, out->kept.refs, out->kept.count,
                               &out->removed);
}

static int64_t received(const plan_step *step, int64_t device)
{
    int64_t elements = 0;
    for (size_t i = 0; i < step->num_moves; i++) {
        const plan_move *move = &step->moves[i];
        for (size_t q = 0; move->dst == device && q < step->sources_each; q++) {
            elements += step->sources[move->first_source + q] != device ? move->elements : 0;
        }
    }
    return elements;
}

static int64_t sent(const plan_step *step, int64_t device)
{
    int64_t elements = 0;
    for (size_t i = 0; i < step->num_moves; i++) {
        const plan_move *move = &step->moves[i];
        for (size_t q = 0; move->dst != device && q < step->sources_each; q++) {
            elements += step->sources[move->first_source + q] == device ? move->elements : 0;
        }
    }
    return elements;
}

/* The most elements any device receives in some steps; `counts` has room for each device. */
static int64_t worst(const plan_step *steps, size_t count, int64_t *counts, int64_t devices)
{
    int64_t most = 0;
    memset(counts, 0, (size_t)devices * sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < steps[i].num_moves; k++) {
            const plan_move *move = &steps[i].moves[k];
            for (size_t q = 0; q < steps[i].sources_each; q++) {
                const bool own = steps[i].sources[move->first_source + q] == move->dst;
                counts[move->dst] += own ? 0 : move->elements;
            }
        }
    }
    for (int64_t device = 0; device < devices; device++) {
        most = max_i64(most, counts[device]);
    }
    return most;
}

/* The dimension with the longest even chunk, along which shares of a fold are cut; rank if none. */
static size_t dim_to_share(const tsr_geometry *src)
{
    size_t best = src->rank;
    for (size_t i = 0; i < src->rank; i++) {
        const bool even = src->sharding->dims[i].ragged == NULL;
        if (even && (best == src->rank || src->dims[i].chunk > src->dims[best].chunk)) {
            best = i;
        }
    }
    return best;
}

/* The layout in which each device of a pending group has its share of the result. */
static tsr_status make_shares(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                              const pending_axes *pending, size_t dim, const tsr_geometry **out)
{
    const tsr_sharding *s = src->sharding;
    tsr_dim *dims = arena_copy(arena, s->dims, s->rank, sizeof *dims);
    tsr_axis_list axes = {0};
    const size_t count = s->dims[dim].num_axes;
    TSR_TRY(plan_axis_list(ctx, arena, count + pending->removed.count, &axes));
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(tsr_axes_add(s->mesh, &axes, s->dims[dim].axes[i]));
    }
    for (size_t i = 0; i < pending->removed.count; i++) {
        TSR_TRY(tsr_axes_add(s->mesh, &axes, pending->removed.refs[i]));
    }
    dims[dim] = tsr_dim_closed(axes.refs, axes.count);
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_unreduced = pending->kept.count,
                                    .unreduced = pending->kept.refs,
                                    .reduction = s->reduction};
    const tsr_sharding *shares = NULL;
    TSR_TRY(tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, &shares));
    return tsr_geometry_create(ctx, arena, shares, src->rank, src->shape, out);
}

/* Folds in shares first, then exchanges the shares, where the busiest device then receives less. */
static tsr_status consider_shares(const step_maker *m, const tsr_geometry *src,
                                  const tsr_geometry *dst, const pending_axes *pending,
                                  plan_step *steps, size_t *num_steps)
{
    const int64_t devices = tsr_mesh_num_devices(src->sharding->mesh);
    if (tsr_axes_size(pending->removed.refs, pending->removed.count) == 1) {
        return TSR_OK;
    }
    const size_t dim = dim_to_share(src);
    if (dim == src->rank) {
        return TSR_OK;
    }
    const tsr_geometry *shares = NULL;
    plan_step two[2];
    const pending_axes rest = {.kept = pending->kept};
    int64_t *counts = ARENA_ARRAY(m->scratch, int64_t, (size_t)devices);
    if (counts == NULL) {
        return diag_nomem(m->ctx);
    }
    TSR_TRY(make_shares(m->ctx, m->arena, src, pending, dim, &shares));
    TSR_TRY(plan_step_create(m, src, shares, pending, &two[0]));
    TSR_TRY(plan_step_create(m, shares, dst, &rest, &two[1]));
    if (worst(two, 2, counts, devices) < worst(steps, 1, counts, devices)) {
        steps[0] = two[0];
        steps[1] = two[1];
        *num_steps = 2;
    }
    return TSR_OK;
}

static tsr_status check_pair(tsr_context *ctx, const tsr_geometry *src, const tsr_geometry *dst)
{
    if (src->rank != dst->rank ||
        (src->rank > 0 && memcmp(src->shape, dst->shape, src->rank * sizeof *src->shape) != 0)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a redistribution keeps the shape: source and destination differ");
    }
    if (!tsr_mesh_same_devices(src->sharding->mesh, dst->sharding->mesh)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "source and destination are on different devices: meshes of %lld and "
                          "%lld",
                          (long long)tsr_mesh_num_devices(src->sharding->mesh),
                          (long long)tsr_mesh_num_devices(dst->sharding->mesh));
    }
    return TSR_OK;
}

static tsr_status make_plan(const step_maker *m, const tsr_geometry *src, const tsr_geometry *dst,
                            tsr_dtype dtype, const tsr_plan **out)
{
    pending_axes pending;
    TSR_TRY(find_pending(m->ctx, m->arena, src->sharding, dst->sharding, &pending));
    tsr_plan *plan = ARENA_NEW(m->arena, tsr_plan);
    plan_step *steps = ARENA_ARRAY(m->arena, plan_step, 2);
    if (plan == NULL || steps == NULL) {
        return diag_nomem(m->ctx);
    }
    size_t num_steps = 1;
    TSR_TRY(plan_step_create(m, src, dst, &pending, &steps[0]));
    TSR_TRY(consider_shares(m, src, dst, &pending, steps, &num_steps));
    *plan = (tsr_plan){.num_steps = num_steps,
                       .steps = steps,
                       .dtype = dtype,
                       .reduction = src->sharding->reduction};
    *out = plan;
    return TSR_OK;
}

tsr_status tsr_plan_create(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                           const tsr_geometry *dst, tsr_dtype dtype, const tsr_plan **out)
{
    step_maker m = {.ctx = ctx, .arena = arena};
    TSR_TRY(check_pair(ctx, src, dst));
    TSR_TRY(tsr_arena_create(ctx, &m.scratch));
    const tsr_status status = make_plan(&m, src, dst, dtype, out);
    tsr_arena_destroy(m.scratch);
    return status;
}

size_t tsr_plan_num_steps(const tsr_plan *plan)
{
    return plan->num_steps;
}

int64_t tsr_plan_bytes_received(const tsr_plan *plan, int64_t device)
{
    int64_t elements = 0;
    for (size_t i = 0; i < plan->num_steps; i++) {
        elements += received(&plan->steps[i], device);
    }
    return elements * tsr_dtype_item_bytes(plan->dtype);
}

int64_t tsr_plan_bytes_sent(const tsr_plan *plan, int64_t device)
{
    int64_t elements = 0;
    for (size_t i = 0; i < plan->num_steps; i++) {
        elements += sent(&plan->steps[i], device);
    }
    return elements * tsr_dtype_item_bytes(plan->dtype);
}
