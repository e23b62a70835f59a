/* Plans: what stays pending and what is folded, in one step or in two. */
#include "plan/plan.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "plan/busiest.h"

static tsr_status axis_list(tsr_context *ctx, tsr_arena *arena, size_t capacity, tsr_axis_list *out)
{
    *out =
        (tsr_axis_list){.refs = ARENA_ARRAY(arena, tsr_axis_ref, capacity), .capacity = capacity};
    return out->refs != NULL ? TSR_OK : diag_nomem(ctx);
}

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

/* The axes along which a reduction would become pending: those that are not so before. */
static tsr_status find_introduced(const tsr_sharding *src, const tsr_axis_list *kept,
                                  tsr_axis_list *out)
{
    for (size_t i = 0; i < kept->count; i++) {
        for (size_t k = 0; k < src->num_unreduced; k++) {
            const tsr_axis_ref before = src->unreduced[k];
            if (tsr_axis_overlaps(kept->refs[i], before) &&
                !tsr_axis_can_coexist(kept->refs[i], before)) {
                out->refs[out->count++] = kept->refs[i];
                return TSR_OK;
            }
        }
    }
    return tsr_axes_difference(kept->refs, kept->count, src->unreduced, src->num_unreduced, out);
}

static tsr_status find_pending(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *src,
                               const tsr_sharding *dst, pending_axes *out)
{
    enum { SPLITS = 128 };
    const tsr_sharding *there = NULL;
    tsr_axis_list introduced = {0};
    TSR_TRY(axis_list(ctx, arena, SPLITS, &out->kept));
    TSR_TRY(axis_list(ctx, arena, SPLITS, &out->removed));
    TSR_TRY(axis_list(ctx, arena, SPLITS, &introduced));
    if (dst->num_unreduced > 0) {
        TSR_TRY(unreduced_there(ctx, arena, src, dst, &there));
        for (size_t i = 0; i < there->num_unreduced; i++) {
            TSR_TRY(tsr_axes_add(src->mesh, &out->kept, there->unreduced[i]));
        }
    }
    TSR_TRY(find_introduced(src, &out->kept, &introduced));
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

/* Whether an axis overlaps one of a list, or cannot be in one sharding with it. */
static bool meets(const tsr_axis_ref *list, size_t count, tsr_axis_ref axis)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        any = any || tsr_axis_overlaps(list[i], axis) || !tsr_axis_can_coexist(list[i], axis);
    }
    return any;
}

/* Whether a sharding can have an axis, along which all devices hold the same. */
static bool is_free_axis(const tsr_sharding *s, tsr_axis_ref axis)
{
    bool used = meets(s->unreduced, s->num_unreduced, axis);
    for (size_t i = 0; i < s->rank; i++) {
        used = used || meets(s->dims[i].axes, s->dims[i].num_axes, axis);
    }
    return !used;
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
    TSR_TRY(axis_list(ctx, arena, count + pending->removed.count, &axes));
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

int64_t plan_largest_part(const tsr_geometry *g)
{
    int64_t elements = 1;
    for (size_t i = 0; i < g->rank; i++) {
        elements *= g->dims[i].chunk;
    }
    return elements;
}

/*
 * Appends to a dimension's axes those that the destination has after them, up to one along which
 * devices do not hold the same.
 */
static tsr_status append_free_axes(const tsr_sharding *src, const tsr_dim *from, const tsr_dim *to,
                                   tsr_axis_list *axes)
{
    size_t same = 0;
    while (same < from->num_axes && same < to->num_axes &&
           tsr_axis_equal(from->axes[same], to->axes[same])) {
        same++;
    }
    for (size_t i = 0; i < from->num_axes; i++) {
        TSR_TRY(tsr_axes_add(src->mesh, axes, from->axes[i]));
    }
    for (size_t i = same; same == from->num_axes && i < to->num_axes; i++) {
        if (!is_free_axis(src, to->axes[i])) {
            break;
        }
        TSR_TRY(tsr_axes_add(src->mesh, axes, to->axes[i]));
    }
    return TSR_OK;
}

/*
 * The layout that a device reaches from the source by keeping only some of what it holds, as the
 * destination wants it: no device folds an element that none of them needs. The source where that
 * is all.
 */
static tsr_status cut_first(const plan_maker *m, const tsr_geometry *src, const tsr_geometry *dst,
                            const tsr_geometry **out)
{
    const tsr_sharding *s = src->sharding;
    const tsr_sharding *d = dst->sharding;
    *out = src;
    if (s->mesh != d->mesh && !tsr_mesh_equal(s->mesh, d->mesh)) {
        return TSR_OK;
    }
    tsr_dim *dims = arena_copy(m->arena, s->dims, s->rank, sizeof *dims);
    bool any = false;
    if (dims == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < s->rank; i++) {
        tsr_axis_list axes = {0};
        if (s->dims[i].ragged != NULL || d->dims[i].ragged != NULL) {
            continue;
        }
        TSR_TRY(axis_list(m->ctx, m->arena, s->dims[i].num_axes + d->dims[i].num_axes, &axes));
        TSR_TRY(append_free_axes(s, &s->dims[i], &d->dims[i], &axes));
        any = any || axes.count > s->dims[i].num_axes;
        dims[i] = tsr_dim_closed(axes.refs, axes.count);
    }
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_unreduced = s->num_unreduced,
                                    .unreduced = s->unreduced,
                                    .reduction = s->reduction};
    const tsr_sharding *cut = NULL;
    if (any) {
        TSR_TRY(tsr_sharding_create(m->ctx, m->arena, &spec, TSR_SHARDING_CANONICALIZE, &cut));
        TSR_TRY(tsr_geometry_create(m->ctx, m->arena, cut, src->rank, src->shape, out));
    }
    return TSR_OK;
}

/* Whether the busiest device receives less in some steps than in others; not if there are too many.
 */
static tsr_status receives_less(const plan_maker *m, const plan_step *a, size_t count_a,
                                const plan_step *b, size_t count_b, bool *out)
{
    int64_t most_a = 0;
    int64_t most_b = 0;
    *out = false;
    if (a[0].exchange.devices > PLAN_MAX_ENUMERATED) {
        return TSR_OK;
    }
    TSR_TRY(busiest_received(m, a, count_a, &most_a));
    TSR_TRY(busiest_received(m, b, count_b, &most_b));
    *out = most_a < most_b;
    return TSR_OK;
}

/*
 * Whether the busiest device receives less in two steps than in one. Of p parts, a device that gets
 * the largest part of the result receives at least p - 1 of them in one step; in two, none
 * receives more than p - 1 of the largest share and the largest part. Only where that does not
 * decide it is the busiest device looked for.
 */
static tsr_status two_are_better(const plan_maker *m, const plan_step *one, const plan_step *two,
                                 bool *out)
{
    const int64_t parts = exchange_parts(&one->exchange);
    const int64_t whole = plan_largest_part(one->exchange.dst.of);
    const int64_t share = plan_largest_part(two[0].exchange.dst.of);
    if ((parts - 1) * share + whole < (parts - 1) * whole) {
        *out = true;
        return TSR_OK;
    }
    if (whole == share &&
        tsr_sharding_equal(one->exchange.dst.of->sharding, two[0].exchange.dst.of->sharding)) {
        *out = false;
        return TSR_OK;
    }
    return receives_less(m, two, 2, one, 1, out);
}

/* The two steps that fold what `from` holds in shares and exchange these. */
static tsr_status make_two(const plan_maker *m, const tsr_geometry *from,
                           const pending_axes *pending, const plan_step *one, plan_step *two)
{
    const tsr_geometry *shares = NULL;
    const pending_axes rest = {.kept = pending->kept};
    TSR_TRY(make_shares(m->ctx, m->arena, from, pending, dim_to_share(from), &shares));
    TSR_TRY(plan_exchange_create(m, one->exchange.src.of, shares, pending, &two[0].exchange));
    return plan_exchange_create(m, shares, one->exchange.dst.of, &rest, &two[1].exchange);
}

/* Whether every dimension has chunks of one size, so that chunks of chunks lie inside of these. */
static bool is_even(const tsr_geometry *g)
{
    for (size_t i = 0; i < g->rank; i++) {
        if (g->shape[i] % tsr_sharding_num_shards(g->sharding, i) != 0) {
            return false;
        }
    }
    return true;
}

/*
 * Folds in shares first, then exchanges the shares, where the busiest device then receives less.
 * Shares of what is cut first are smaller; where chunks are uneven, the busiest devices decide.
 */
static tsr_status consider_shares(const plan_maker *m, const pending_axes *pending,
                                  plan_step *steps, size_t *num_steps)
{
    const tsr_geometry *src = steps[0].exchange.src.of;
    const tsr_geometry *cut = NULL;
    plan_step two[2];
    plan_step cut_two[2];
    if (exchange_parts(&steps[0].exchange) == 1 || dim_to_share(src) == src->rank) {
        return TSR_OK;
    }
    TSR_TRY(make_two(m, src, pending, steps, two));
    TSR_TRY(cut_first(m, src, steps[0].exchange.dst.of, &cut));
    if (cut != src) {
        TSR_TRY(make_two(m, cut, pending, steps, cut_two));
        bool better = is_even(cut_two[0].exchange.dst.of);
        if (!better) {
            TSR_TRY(receives_less(m, cut_two, 2, two, 2, &better));
        }
        if (better) {
            memcpy(two, cut_two, sizeof two);
        }
    }
    bool better = false;
    TSR_TRY(two_are_better(m, steps, two, &better));
    if (better) {
        steps[0] = two[0];
        steps[1] = two[1];
        *num_steps = 2;
    }
    return TSR_OK;
}

tsr_status plan_check_pair(tsr_context *ctx, const tsr_geometry *src, const tsr_geometry *dst)
{
    if (src->rank != dst->rank ||
        (src->rank > 0 && memcmp(src->shape, dst->shape, src->rank * sizeof *src->shape) != 0)) {
        return diag_error(
            ctx, TSR_ERR_INVALID, NO_LOCATION,
            "a redistribution keeps the shape, but those of source and destination differ");
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

/* The exchange of one step, its kind and its axes. */
static tsr_status make_step(const plan_maker *m, const tsr_geometry *src, const tsr_geometry *dst,
                            pending_axes *pending, plan_step *out)
{
    TSR_TRY(plan_check_pair(m->ctx, src, dst));
    TSR_TRY(geometry_check_bound(m->ctx, src));
    TSR_TRY(geometry_check_bound(m->ctx, dst));
    TSR_TRY(find_pending(m->ctx, m->arena, src->sharding, dst->sharding, pending));
    return plan_exchange_create(m, src, dst, pending, &out->exchange);
}

/* Names the steps. */
static tsr_status finish_plan(const plan_maker *m, plan_step *steps, size_t num_steps, tsr_plan of,
                              const tsr_plan **out)
{
    tsr_plan *plan = ARENA_NEW(m->arena, tsr_plan);
    if (plan == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < num_steps; i++) {
        const plan_exchange *x = &steps[i].exchange;
        tsr_axis_list axes = {0};
        TSR_TRY(
            plan_changed_axes(m->ctx, m->arena, x->src.of->sharding, x->dst.of->sharding, &axes));
        steps[i].kind = plan_kind(x);
        steps[i].axes = axes.refs;
        steps[i].num_axes = axes.count;
    }
    of.steps = steps;
    of.num_steps = num_steps;
    of.reduction = steps[0].exchange.src.of->sharding->reduction;
    *plan = of;
    *out = plan;
    return TSR_OK;
}

static tsr_status make_plan(const plan_maker *m, const tsr_geometry *src, const tsr_geometry *dst,
                            tsr_dtype dtype, const tsr_plan **out)
{
    pending_axes pending;
    size_t num_steps = 1;
    plan_step *steps = ARENA_ARRAY(m->arena, plan_step, 2);
    if (steps == NULL) {
        return diag_nomem(m->ctx);
    }
    TSR_TRY(make_step(m, src, dst, &pending, &steps[0]));
    const tsr_plan of = {.kind = plan_kind(&steps[0].exchange), .dtype = dtype};
    TSR_TRY(consider_shares(m, &pending, steps, &num_steps));
    return finish_plan(m, steps, num_steps, of, out);
}

tsr_status tsr_plan_create(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                           const tsr_geometry *dst, tsr_dtype dtype, const tsr_plan **out)
{
    GUARD(tsr_plan_create);
    plan_maker m = {.ctx = ctx, .arena = arena};
    TSR_TRY(tsr_arena_create(ctx, &m.scratch));
    const tsr_status status = make_plan(&m, src, dst, dtype, out);
    tsr_arena_destroy(m.scratch);
    return status;
}

/*
 * Whether every device has the rows of a dimension that it gets: it has all of them, the cut stays,
 * or even chunks are cut further.
 */
static bool holds_rows(const tsr_geometry *src, const tsr_geometry *dst, size_t dim)
{
    const dim_geometry *a = &src->dims[dim];
    const dim_geometry *b = &dst->dims[dim];
    const tsr_dim *from = &src->sharding->dims[dim];
    const tsr_dim *to = &dst->sharding->dims[dim];
    if (a->along.size == 1) {
        return true;
    }
    if (!tsr_mesh_equal(src->sharding->mesh, dst->sharding->mesh) ||
        from->num_axes > to->num_axes ||
        !tsr_axes_equal(from->axes, from->num_axes, to->axes, from->num_axes)) {
        return false;
    }
    if (from->num_axes == to->num_axes && from->ragged != NULL && to->ragged != NULL) {
        return ragged_equal(from->ragged, to->ragged, a->along.size);
    }
    return dim_is_even(a) && dim_is_even(b) &&
           (from->num_axes == to->num_axes || a->extent % b->along.size == 0);
}

static bool has_no_elements(const tsr_geometry *g)
{
    bool none = false;
    for (size_t i = 0; i < g->rank; i++) {
        none = none || g->shape[i] == 0;
    }
    return none;
}

tsr_status plan_sketch_create(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                              const tsr_geometry *dst, plan_sketch *out)
{
    pending_axes pending;
    TSR_TRY(plan_check_pair(ctx, src, dst));
    TSR_TRY(find_pending(ctx, arena, src->sharding, dst->sharding, &pending));
    step_facts facts = {.src = src,
                        .dst = dst,
                        .folds = tsr_axes_size(pending.removed.refs, pending.removed.count) > 1,
                        .holds = true,
                        .is_empty = has_no_elements(src)};
    for (size_t i = 0; i < src->rank; i++) {
        facts.holds = facts.holds && holds_rows(src, dst, i);
    }
    out->kind = step_kind_of(&facts);
    out->may_move = !facts.is_empty && (facts.folds || !facts.holds);
    return plan_changed_axes(ctx, arena, src->sharding, dst->sharding, &out->axes);
}

/* Refuses a step that is not what its spec says. */
static tsr_status check_kind(tsr_context *ctx, const plan_step *step, const tsr_step_spec *spec,
                             size_t number)
{
    const tsr_step_kind kind = plan_kind(&step->exchange);
    if (spec->kind == TSR_STEP_DIRECT || spec->kind == kind) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "step %zu of the plan has kind %s, but its layouts need kind %s", number,
                      tsr_step_kind_name(spec->kind), tsr_step_kind_name(kind));
}

static tsr_status follow_steps(const plan_maker *m, const tsr_geometry *src, size_t num_steps,
                               const tsr_step_spec *specs, tsr_dtype dtype, const tsr_plan **out)
{
    plan_step *steps = ARENA_ARRAY(m->arena, plan_step, num_steps);
    if (steps == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < num_steps; i++) {
        pending_axes pending;
        TSR_TRY(make_step(m, i > 0 ? specs[i - 1].dst : src, specs[i].dst, &pending, &steps[i]));
        TSR_TRY(check_kind(m->ctx, &steps[i], &specs[i], i));
    }
    const tsr_plan of = {.kind = num_steps == 1 ? plan_kind(&steps[0].exchange) : TSR_STEP_DIRECT,
                         .dtype = dtype};
    return finish_plan(m, steps, num_steps, of, out);
}

tsr_status tsr_plan_from_steps(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                               size_t num_steps, const tsr_step_spec *steps, tsr_dtype dtype,
                               const tsr_plan **out)
{
    GUARD(tsr_plan_from_steps);
    plan_maker m = {.ctx = ctx, .arena = arena};
    if (num_steps == 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "a plan must have at least 1 step");
    }
    TSR_TRY(tsr_arena_create(ctx, &m.scratch));
    const tsr_status status = follow_steps(&m, src, num_steps, steps, dtype, out);
    tsr_arena_destroy(m.scratch);
    return status;
}

size_t tsr_plan_num_steps(const tsr_plan *plan)
{
    GUARD(tsr_plan_num_steps);
    return plan->num_steps;
}

int64_t tsr_plan_bytes_received(const tsr_plan *plan, int64_t device)
{
    GUARD(tsr_plan_bytes_received);
    int64_t elements = 0;
    for (size_t i = 0; i < plan->num_steps; i++) {
        elements += exchange_received(&plan->steps[i].exchange, device);
    }
    return elements * tsr_dtype_item_bytes(plan->dtype);
}

int64_t tsr_plan_bytes_sent(const tsr_plan *plan, int64_t device)
{
    GUARD(tsr_plan_bytes_sent);
    int64_t elements = 0;
    for (size_t i = 0; i < plan->num_steps; i++) {
        elements += exchange_sent(&plan->steps[i].exchange, device);
    }
    return elements * tsr_dtype_item_bytes(plan->dtype);
}
