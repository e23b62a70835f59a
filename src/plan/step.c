/* What kind a step is, what it moves and what it costs. */
#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "coll/cost.h"
#include "plan/busiest.h"

enum { MAX_AXES = 128 };

/* Adds an axis unless the list has some of it. */
static void add_axis(tsr_axis_list *list, tsr_axis_ref axis)
{
    if (list->count < list->capacity && !tsr_axes_overlap(&axis, 1, list->refs, list->count)) {
        list->refs[list->count++] = axis;
    }
}

/* Whether an axis overlaps one of a list in a way that no common digits express. */
static bool clashes(tsr_axis_ref axis, const tsr_axis_ref *with, size_t count)
{
    bool clash = false;
    for (size_t i = 0; i < count; i++) {
        clash = clash || (tsr_axis_overlaps(axis, with[i]) && !tsr_axis_can_coexist(axis, with[i]));
    }
    return clash;
}

/* Adds the axes of one list that another has not, each once; all of one that clashes. */
static void add_changed(const tsr_axis_ref *a, size_t count_a, const tsr_axis_ref *b,
                        size_t count_b, tsr_axis_list *changed)
{
    tsr_axis_ref refs[MAX_AXES];
    tsr_axis_list rest = {refs, 0, MAX_AXES};
    for (size_t i = 0; i < count_a; i++) {
        if (clashes(a[i], b, count_b)) {
            add_axis(changed, a[i]);
        }
    }
    if (tsr_axes_difference(a, count_a, b, count_b, &rest) < 0) {
        return;
    }
    for (size_t i = 0; i < rest.count; i++) {
        add_axis(changed, refs[i]);
    }
}

/* Adds the axes of the dimensions of one sharding that the same ones of another have not. */
static void add_changed_dims(const tsr_sharding *a, const tsr_sharding *b, tsr_axis_list *changed)
{
    for (size_t d = 0; d < a->rank && d < b->rank; d++) {
        add_changed(a->dims[d].axes, a->dims[d].num_axes, b->dims[d].axes, b->dims[d].num_axes,
                    changed);
    }
}

tsr_status plan_changed_axes(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *from,
                             const tsr_sharding *to, tsr_axis_list *out)
{
    tsr_axis_ref refs[MAX_AXES];
    tsr_axis_list changed = {refs, 0, MAX_AXES};
    if (tsr_mesh_equal(from->mesh, to->mesh)) {
        add_changed_dims(from, to, &changed);
        add_changed(from->unreduced, from->num_unreduced, to->unreduced, to->num_unreduced,
                    &changed);
        add_changed_dims(to, from, &changed);
        tsr_axes_sort_and_merge(from->mesh, &changed);
    }
    tsr_axis_ref *kept = arena_copy(arena, refs, changed.count, sizeof *refs);
    *out = (tsr_axis_list){kept, changed.count, changed.count};
    return kept != NULL ? TSR_OK : diag_nomem(ctx);
}

/* Whether a dimension is cut at the same rows before and after. */
static bool same_cuts(const dim_geometry *a, const dim_geometry *b)
{
    if (a->along.size != b->along.size) {
        return false;
    }
    if (dim_is_even(a) && dim_is_even(b)) {
        return true;
    }
    if (a->unbound != NULL || b->unbound != NULL) {
        return a->unbound != NULL && ragged_equal(a->unbound, b->unbound, a->along.size);
    }
    for (int64_t shard = 0; shard < a->along.size; shard++) {
        if (!dim_same_rows(a, shard, b, shard)) {
            return false;
        }
    }
    return true;
}

static bool same_cuts_everywhere(const step_facts *s)
{
    bool same = true;
    for (size_t i = 0; i < s->src->rank; i++) {
        same = same && same_cuts(&s->src->dims[i], &s->dst->dims[i]);
    }
    return same;
}

/* Whether two lists are the same axes; sorts both. */
static bool same_axes(const tsr_mesh *mesh, tsr_axis_list *a, tsr_axis_list *b)
{
    tsr_axes_sort_and_merge(mesh, a);
    tsr_axes_sort_and_merge(mesh, b);
    return tsr_axes_equal(a->refs, a->count, b->refs, b->count);
}

/* The kind of a step that folds: `lost` and `won` are the axes that dimensions lose and win. */
static tsr_step_kind kind_of_fold(const step_facts *s, const tsr_axis_list *lost,
                                  tsr_axis_list *won)
{
    const tsr_sharding *from = s->src->sharding;
    const tsr_sharding *to = s->dst->sharding;
    tsr_axis_ref refs[MAX_AXES];
    tsr_axis_list folded = {refs, 0, MAX_AXES};
    if (lost->count > 0 || !s->holds) {
        return TSR_STEP_DIRECT;
    }
    if (won->count == 0) {
        return same_cuts_everywhere(s) ? TSR_STEP_ALL_REDUCE : TSR_STEP_DIRECT;
    }
    add_changed(from->unreduced, from->num_unreduced, to->unreduced, to->num_unreduced, &folded);
    return same_axes(from->mesh, &folded, won) ? TSR_STEP_REDUCE_SCATTER : TSR_STEP_DIRECT;
}

tsr_step_kind step_kind_of(const step_facts *s)
{
    const tsr_sharding *from = s->src->sharding;
    const tsr_sharding *to = s->dst->sharding;
    tsr_axis_ref refs[2][MAX_AXES];
    tsr_axis_list lost = {refs[0], 0, MAX_AXES};
    tsr_axis_list won = {refs[1], 0, MAX_AXES};
    if (s->is_empty || (!s->folds && s->holds)) {
        return TSR_STEP_SLICE;
    }
    if (!s->folds && same_cuts_everywhere(s)) {
        return TSR_STEP_PERMUTE;
    }
    if (!tsr_mesh_equal(from->mesh, to->mesh)) {
        return TSR_STEP_DIRECT;
    }
    add_changed_dims(from, to, &lost);
    add_changed_dims(to, from, &won);
    if (s->folds) {
        return kind_of_fold(s, &lost, &won);
    }
    if (lost.count > 0 && won.count == 0) {
        return TSR_STEP_ALL_GATHER;
    }
    const bool moved = lost.count > 0 && same_axes(from->mesh, &lost, &won);
    return moved ? TSR_STEP_ALL_TO_ALL : TSR_STEP_DIRECT;
}

tsr_step_kind plan_kind(const plan_exchange *x)
{
    const step_facts facts = {.src = x->src.of,
                              .dst = x->dst.of,
                              .folds = exchange_parts(x) > 1,
                              .holds = x->all_held == x->all_after,
                              .is_empty = x->all_after == 0};
    return step_kind_of(&facts);
}

/* The bytes that some steps move; INT64_MAX when they are more. */
static int64_t bytes_moved(const tsr_plan *plan, size_t first, size_t end)
{
    int64_t bytes = 0;
    bool fits = true;
    for (size_t i = first; i < end; i++) {
        int64_t moved = exchange_moved(&plan->steps[i].exchange);
        fits = fits && checked_mul(moved, tsr_dtype_item_bytes(plan->dtype), &moved) &&
               checked_add(bytes, moved, &bytes);
    }
    return fits ? bytes : INT64_MAX;
}

int64_t plan_bytes_moved(const tsr_plan *plan)
{
    return bytes_moved(plan, 0, plan->num_steps);
}

/* The bytes that a device stores of a layout. */
static int64_t stored_bytes(const tsr_plan *plan, const tsr_geometry *g, int64_t device)
{
    const int64_t place = tsr_mesh_place_of(g->sharding->mesh, device);
    int64_t bytes = place >= 0 ? tsr_dtype_item_bytes(plan->dtype) : 0;
    for (size_t i = 0; i < g->rank && place >= 0; i++) {
        const int64_t shard = places_index(&g->dims[i].along, place);
        bytes *=
            g->dims[i].stored != NULL ? g->dims[i].stored[shard] : dim_box(&g->dims[i], shard).size;
    }
    return bytes;
}

int64_t tsr_plan_bytes_between(const tsr_plan *plan, int64_t device)
{
    GUARD(tsr_plan_bytes_between);
    int64_t most = 0;
    int64_t before = 0;
    for (size_t i = 0; i + 1 < plan->num_steps; i++) {
        const int64_t after = stored_bytes(plan, plan->steps[i].exchange.dst.of, device);
        most = max_i64(most, before + after);
        before = after;
    }
    return most;
}

/* What some steps of a plan move, in bytes. */
static tsr_status sum_steps(const plan_maker *m, const tsr_plan *plan, size_t first, size_t end,
                            tsr_plan_totals *out)
{
    const int64_t item = tsr_dtype_item_bytes(plan->dtype);
    int64_t received = 0;
    int64_t sent = 0;
    TSR_TRY(busiest_received(m, &plan->steps[first], end - first, &received));
    TSR_TRY(busiest_sent(m, &plan->steps[first], end - first, &sent));
    *out = (tsr_plan_totals){.moved = bytes_moved(plan, first, end),
                             .most_received = received * item,
                             .most_sent = sent * item};
    return TSR_OK;
}

tsr_status tsr_plan_total(tsr_context *ctx, const tsr_plan *plan, tsr_plan_totals *out)
{
    GUARD(tsr_plan_total);
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    const plan_maker m = {ctx, arena, arena};
    const tsr_status status = sum_steps(&m, plan, 0, plan->num_steps, out);
    tsr_arena_destroy(arena);
    return status;
}

/* What the busiest device does in a step; its bytes are known. */
static tsr_status work_of(const plan_maker *m, const tsr_plan *plan, const plan_step *step,
                          const tsr_plan_totals *bytes, coll_work *out)
{
    const plan_exchange *x = &step->exchange;
    const int64_t item = tsr_dtype_item_bytes(plan->dtype);
    const double kept = (double)(plan_largest_part(x->dst.of) * item);
    int64_t sources = 0;
    if (step->kind == TSR_STEP_SLICE) {
        *out = cost_slice(kept);
        return TSR_OK;
    }
    TSR_TRY(busiest_sources(m, x, &sources));
    *out = cost_exchange(sources, max_i64(bytes->most_received, bytes->most_sent),
                         (double)(exchange_parts(x) - 1) * kept);
    return TSR_OK;
}

tsr_status plan_price(const plan_maker *m, const tsr_plan *plan, const tsr_link *link,
                      double *seconds)
{
    double sum = 0;
    for (size_t i = 0; i < plan->num_steps; i++) {
        const plan_step *step = &plan->steps[i];
        tsr_plan_totals bytes = {0};
        coll_work work;
        if (step->kind != TSR_STEP_SLICE) {
            TSR_TRY(sum_steps(m, plan, i, i + 1, &bytes));
        }
        TSR_TRY(work_of(m, plan, step, &bytes, &work));
        sum += coll_seconds(link, &work);
    }
    *seconds = sum;
    return TSR_OK;
}

static tsr_status describe(const plan_maker *m, const tsr_plan *plan, size_t index,
                           const tsr_link *link, tsr_step *out)
{
    const plan_step *step = &plan->steps[index];
    *out = (tsr_step){.kind = step->kind,
                      .src = step->exchange.src.of,
                      .dst = step->exchange.dst.of,
                      .num_axes = step->num_axes,
                      .axes = step->axes};
    TSR_TRY(sum_steps(m, plan, index, index + 1, &out->bytes));
    coll_work work;
    TSR_TRY(work_of(m, plan, step, &out->bytes, &work));
    out->seconds = coll_seconds(link, &work);
    return TSR_OK;
}

tsr_status tsr_plan_step(tsr_context *ctx, const tsr_plan *plan, size_t index, const tsr_link *link,
                         tsr_step *out)
{
    GUARD(tsr_plan_step);
    const tsr_link usual = tsr_link_default(TSR_MEDIUM_SHARED);
    tsr_arena *arena = NULL;
    if (index >= plan->num_steps) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the plan has %zu steps; step %zu is out of range", plan->num_steps,
                          index);
    }
    TSR_TRY(tsr_arena_create(ctx, &arena));
    const plan_maker m = {ctx, arena, arena};
    const tsr_status status = describe(&m, plan, index, link != NULL ? link : &usual, out);
    tsr_arena_destroy(arena);
    return status;
}
