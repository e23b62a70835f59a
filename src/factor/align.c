/* Which layouts of its operands an op can run in, near to those that they have. */
#include "factor/align.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "factor/project.h"

/* What a factor might be sharded by, and how much speaks for it. */
typedef struct candidate {
    tsr_axis_list axes;
    int64_t priority; /* 0 before 1, before 2 .. */
    int64_t bytes;    /* of the operands that have just this, without what a pending sum costs */
    int64_t shards;
} candidate;

typedef struct aligning {
    projection p;
    size_t room; /* of every axis list */
    const tsr_alignment *op;
    candidate *best; /* by factor */
    bool *settled;   /* by factor */
} aligning;

/* Room for every axis of every operand, each cut once at most at every factor. */
static size_t room_for_axes(const tsr_rule *rule, const tsr_sharding *const *operands)
{
    size_t room = rule->num_factors + 8;
    for (size_t t = 0; t < rule->num_operands; t++) {
        for (size_t d = 0; d < operands[t]->rank; d++) {
            room += operands[t]->dims[d].num_axes;
        }
    }
    return room;
}

/* A list of axes to change; NULL refs when there is no memory. */
static tsr_axis_list new_axis_list(const aligning *a)
{
    return (tsr_axis_list){ARENA_ARRAY(a->p.scratch, tsr_axis_ref, a->room), 0, a->room};
}

static int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;
    return checked_add(a, b, &sum) ? sum : INT64_MAX;
}

/* The strongest priority of the dimensions of an operand that have a factor. */
static int64_t priority_of(const aligning *a, size_t tensor, size_t factor)
{
    const tsr_rule_tensor *t = &a->p.rule->tensors[tensor];
    int64_t priority = INT64_MAX;
    for (size_t d = 0; d < t->rank; d++) {
        for (size_t i = 0; i < t->dims[d].num_factors; i++) {
            if (t->dims[d].factors[i] == factor) {
                const int64_t own = a->p.tensors[tensor].sharding->dims[d].priority;
                priority = min_i64(priority, max_i64(own, 0));
            }
        }
    }
    return priority;
}

/* Whether the op can run with a factor sharded at all. */
static bool can_be_sharded(const aligning *a, size_t factor)
{
    const tsr_factor_kind kind = a->p.rule->factors[factor].kind;
    for (size_t t = a->p.rule->num_operands; t < a->p.num_tensors; t++) {
        if (kind == TSR_FACTOR_PASS_THROUGH && !a->p.tensors[t].factors[factor].present) {
            return false;
        }
    }
    return kind == TSR_FACTOR_PASS_THROUGH || kind == TSR_FACTOR_REDUCTION;
}

/* Cuts a list before what an operand with the factor says is replicated. */
static void respect_replication(const aligning *a, size_t factor, tsr_axis_list *axes)
{
    for (size_t t = 0; t < a->p.rule->num_operands; t++) {
        const tsr_sharding *s = a->p.tensors[t].sharding;
        if (a->p.tensors[t].factors[factor].present) {
            tsr_axes_truncate(axes, s->replicated, s->num_replicated);
        }
    }
}

/* How many bytes have just these axes for a factor; less those of sums that would be pending. */
static int64_t bytes_for(const aligning *a, size_t factor, const tsr_axis_list *axes)
{
    int64_t bytes = 0;
    for (size_t t = 0; t < a->p.rule->num_operands; t++) {
        const factor_state *f = &a->p.tensors[t].factors[factor];
        if (f->present && f->overflow.count == 0 &&
            tsr_axes_equal(f->axes.refs, f->axes.count, axes->refs, axes->count)) {
            bytes = add_bytes(bytes, a->op->bytes[t]);
        }
    }
    for (size_t t = a->p.rule->num_operands; t < a->p.num_tensors; t++) {
        if (a->p.rule->factors[factor].kind == TSR_FACTOR_REDUCTION) {
            bytes -= min_i64(a->op->bytes[t], INT64_MAX / 8) * 2;
        }
    }
    return bytes;
}

/* Whether one candidate is to be preferred to another, which came first. */
static bool is_better(tsr_strategy strategy, const candidate *a, const candidate *b)
{
    if ((a->axes.count == 0) != (b->axes.count == 0)) {
        return a->axes.count > 0;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    if (strategy == TSR_STRATEGY_MOST_PARALLEL && a->shards != b->shards) {
        return a->shards > b->shards;
    }
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->shards > b->shards;
}

/* What one operand has for a factor, as a candidate. */
static tsr_status candidate_of(const aligning *a, size_t tensor, size_t factor, candidate *out)
{
    const factor_state *f = &a->p.tensors[tensor].factors[factor];
    *out = (candidate){.axes = new_axis_list(a), .priority = priority_of(a, tensor, factor)};
    if (out->axes.refs == NULL) {
        return diag_nomem(a->p.ctx);
    }
    for (size_t i = 0; i < f->axes.count; i++) {
        out->axes.refs[out->axes.count++] = f->axes.refs[i];
    }
    respect_replication(a, factor, &out->axes);
    out->bytes = bytes_for(a, factor, &out->axes);
    out->shards = tsr_axes_size(out->axes.refs, out->axes.count);
    return TSR_OK;
}

/* What two candidates have in common; one that has nothing agrees with everything. */
static tsr_status agree(const aligning *a, size_t factor, candidate *best, const candidate *other)
{
    if (other->axes.count == 0 || best->axes.count == 0) {
        *best = best->axes.count == 0 ? *other : *best;
        return TSR_OK;
    }
    tsr_axis_list common = new_axis_list(a);
    if (common.refs == NULL) {
        return diag_nomem(a->p.ctx);
    }
    TSR_TRY(tsr_axes_common_prefix(best->axes.refs, best->axes.count, other->axes.refs,
                                   other->axes.count, &common));
    best->axes = common;
    best->priority = min_i64(best->priority, other->priority);
    best->bytes = bytes_for(a, factor, &common);
    best->shards = tsr_axes_size(common.refs, common.count);
    return TSR_OK;
}

static tsr_status choose_for(aligning *a, size_t factor)
{
    candidate *best = &a->best[factor];
    bool first = true;
    *best = (candidate){.axes = new_axis_list(a), .shards = 1};
    if (best->axes.refs == NULL) {
        return diag_nomem(a->p.ctx);
    }
    for (size_t t = 0; can_be_sharded(a, factor) && t < a->p.rule->num_operands; t++) {
        candidate other;
        if (!a->p.tensors[t].factors[factor].present) {
            continue;
        }
        TSR_TRY(candidate_of(a, t, factor, &other));
        if (!first && a->op->strategy == TSR_STRATEGY_BASIC) {
            TSR_TRY(agree(a, factor, best, &other));
        } else if (first || is_better(a->op->strategy, &other, best)) {
            *best = other;
        }
        first = false;
    }
    return TSR_OK;
}

/* Gives axes that several factors want to the best of them. */
static void settle(aligning *a)
{
    const size_t count = a->p.rule->num_factors;
    for (size_t n = 0; n < count; n++) {
        size_t next = count;
        for (size_t f = 0; f < count; f++) {
            if (!a->settled[f] &&
                (next == count || is_better(a->op->strategy, &a->best[f], &a->best[next]))) {
                next = f;
            }
        }
        a->settled[next] = true;
        for (size_t f = 0; f < count; f++) {
            if (!a->settled[f]) {
                tsr_axes_truncate(&a->best[f].axes, a->best[next].axes.refs,
                                  a->best[next].axes.count);
            }
        }
    }
}

/* Cuts the axes of a factor to those whose product divides its size. */
static bool cut_to_divisor(const aligning *a, size_t factor)
{
    tsr_axis_list *axes = &a->best[factor].axes;
    const size_t before = axes->count;
    const int64_t size = rule_factor_size(a->p.rule, factor);
    while (axes->count > 0 && size % tsr_axes_size(axes->refs, axes->count) != 0) {
        axes->count--;
    }
    return axes->count != before;
}

/* Makes chunks of a dimension chunks of its factors; whether something changed. */
static bool fit_dim(const aligning *a, const tsr_rule_dim *dim)
{
    bool changed = false;
    bool full = true;
    for (size_t i = 0; dim->num_factors > 1 && i < dim->num_factors; i++) {
        tsr_axis_list *axes = &a->best[dim->factors[i]].axes;
        if (!full && axes->count > 0) {
            axes->count = 0;
            changed = true;
        }
        changed = cut_to_divisor(a, dim->factors[i]) || changed;
        full = full && tsr_axes_size(axes->refs, axes->count) ==
                           rule_factor_size(a->p.rule, dim->factors[i]);
    }
    return changed;
}

static void fit(aligning *a)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t t = 0; t < a->p.num_tensors; t++) {
            for (size_t d = 0; d < a->p.rule->tensors[t].rank; d++) {
                changed = fit_dim(a, &a->p.rule->tensors[t].dims[d]) || changed;
            }
        }
    }
}

/* The sharding of an operand by its factors. */
static tsr_status lay_out(const aligning *a, tsr_arena *arena, size_t tensor,
                          const tsr_sharding **out)
{
    const tsr_rule_tensor *of = &a->p.rule->tensors[tensor];
    const tsr_sharding *given = a->p.tensors[tensor].sharding;
    bool same = given->num_unreduced == 0;
    tsr_dim *dims = ARENA_ARRAY(a->p.scratch, tsr_dim, of->rank);
    if (dims == NULL) {
        return diag_nomem(a->p.ctx);
    }
    for (size_t d = 0; d < of->rank; d++) {
        tsr_axis_list axes = new_axis_list(a);
        if (axes.refs == NULL) {
            return diag_nomem(a->p.ctx);
        }
        for (size_t i = 0; i < of->dims[d].num_factors; i++) {
            const tsr_axis_list *more = &a->best[of->dims[d].factors[i]].axes;
            for (size_t k = 0; k < more->count; k++) {
                TSR_TRY(tsr_axes_add(a->p.mesh, &axes, more->refs[k]));
            }
        }
        dims[d] = tsr_dim_closed(axes.refs, axes.count);
        same = same && given->dims[d].ragged == NULL &&
               tsr_axes_equal(axes.refs, axes.count, given->dims[d].axes, given->dims[d].num_axes);
    }
    if (same) {
        *out = given;
        return TSR_OK;
    }
    const tsr_sharding_spec spec = {.mesh = a->p.mesh, .rank = of->rank, .dims = dims};
    return tsr_sharding_create(a->p.ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

/* Projects the op's operands; results have no sharding yet. */
static tsr_status begin(tsr_context *ctx, tsr_arena *scratch, const tsr_alignment *op, aligning *a)
{
    const tsr_rule *rule = op->rule;
    const visit_op projected = {.rule = rule};
    const size_t count = rule_num_tensors(rule);
    const tsr_sharding **all = ARENA_ARRAY(scratch, const tsr_sharding *, count);
    *a = (aligning){.op = op,
                    .room = room_for_axes(rule, op->operands),
                    .best = ARENA_ARRAY(scratch, candidate, rule->num_factors),
                    .settled = ARENA_ARRAY(scratch, bool, rule->num_factors)};
    if (all == NULL || a->best == NULL || a->settled == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t t = 0; t < count; t++) {
        all[t] = t < rule->num_operands ? op->operands[t] : NULL;
    }
    TSR_TRY(check_meshes(ctx, rule, op->mesh, all));
    return project(ctx, scratch, &projected, op->mesh, all, &a->p);
}

/* Lays operands out by what is best for each factor. */
static tsr_status finish(aligning *a, tsr_arena *arena, const tsr_sharding **aligned)
{
    const tsr_rule *rule = a->op->rule;
    for (size_t f = 0; f < rule->num_factors; f++) {
        a->settled[f] = false;
    }
    settle(a);
    fit(a);
    for (size_t t = 0; t < rule->num_operands; t++) {
        TSR_TRY(lay_out(a, arena, t, &aligned[t]));
    }
    return TSR_OK;
}

static tsr_status align(tsr_context *ctx, tsr_arena *arena, tsr_arena *scratch,
                        const tsr_alignment *op, const tsr_sharding **aligned)
{
    aligning a;
    TSR_TRY(begin(ctx, scratch, op, &a));
    for (size_t f = 0; f < op->rule->num_factors; f++) {
        TSR_TRY(choose_for(&a, f));
    }
    return finish(&a, arena, aligned);
}

tsr_status tsr_propagate_align(tsr_context *ctx, tsr_arena *arena, const tsr_alignment *op,
                               const tsr_sharding **aligned)
{
    GUARD(tsr_propagate_align);
    tsr_arena *scratch = NULL;
    TSR_TRY(tsr_arena_create(ctx, &scratch));
    const tsr_status status = align(ctx, arena, scratch, op, aligned);
    tsr_arena_destroy(scratch);
    return status;
}

/* ---- every way ---- */

/* What the operands have for a factor, each list once, and nothing last. */
typedef struct ways {
    candidate *list;
    size_t count;
    size_t next; /* the one taken now */
} ways;

static bool has_way(const ways *w, const candidate *c)
{
    bool has = false;
    for (size_t i = 0; i < w->count; i++) {
        const tsr_axis_list *axes = &w->list[i].axes;
        has = has || tsr_axes_equal(axes->refs, axes->count, c->axes.refs, c->axes.count);
    }
    return has;
}

static tsr_status find_ways(const aligning *a, size_t factor, ways *out)
{
    const size_t operands = a->p.rule->num_operands;
    *out = (ways){.list = ARENA_ARRAY(a->p.scratch, candidate, operands + 1)};
    if (out->list == NULL) {
        return diag_nomem(a->p.ctx);
    }
    for (size_t t = 0; can_be_sharded(a, factor) && t < operands; t++) {
        candidate c;
        if (a->p.tensors[t].factors[factor].present) {
            TSR_TRY(candidate_of(a, t, factor, &c));
            if (c.axes.count > 0 && !has_way(out, &c)) {
                out->list[out->count++] = c;
            }
        }
    }
    out->list[out->count++] = (candidate){.axes = new_axis_list(a), .shards = 1};
    return out->list[out->count - 1].axes.refs != NULL ? TSR_OK : diag_nomem(a->p.ctx);
}

/* Takes the present way of each factor; its lists are changed. */
static tsr_status take_ways(aligning *a, const ways *all)
{
    for (size_t f = 0; f < a->p.rule->num_factors; f++) {
        const candidate *from = &all[f].list[all[f].next];
        a->best[f] = *from;
        a->best[f].axes = new_axis_list(a);
        if (a->best[f].axes.refs == NULL) {
            return diag_nomem(a->p.ctx);
        }
        memcpy(a->best[f].axes.refs, from->axes.refs, from->axes.count * sizeof *from->axes.refs);
        a->best[f].axes.count = from->axes.count;
    }
    return TSR_OK;
}

/* Goes on to the next way; false after the last. */
static bool next_way(const aligning *a, ways *all)
{
    size_t f = a->p.rule->num_factors;
    while (f > 0 && ++all[f - 1].next == all[f - 1].count) {
        all[--f].next = 0;
    }
    return f > 0;
}

/* Parts of an axis that no reshape of it has together make a way impossible; it is passed over. */
static tsr_status each(aligning *a, tsr_arena *arena, int64_t most, align_use *use, void *state)
{
    const tsr_rule *rule = a->p.rule;
    ways *all = ARENA_ARRAY(a->p.scratch, ways, rule->num_factors);
    const tsr_sharding **aligned =
        ARENA_ARRAY(a->p.scratch, const tsr_sharding *, rule->num_operands);
    if (all == NULL || aligned == NULL) {
        return diag_nomem(a->p.ctx);
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        TSR_TRY(find_ways(a, f, &all[f]));
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(a->p.scratch);
    bool more = most > 0;
    for (int64_t i = 1; more; i++) {
        TSR_TRY(take_ways(a, all));
        const tsr_status status = finish(a, arena, aligned);
        TSR_TRY(status == TSR_ERR_NOMEM ? status : TSR_OK);
        TSR_TRY(status == TSR_OK ? use(state, aligned) : TSR_OK);
        tsr_arena_reset(a->p.scratch, mark);
        more = i < most && next_way(a, all);
    }
    return TSR_OK;
}

tsr_status align_each(tsr_context *ctx, tsr_arena *arena, const tsr_alignment *op, int64_t most,
                      align_use *use, void *state)
{
    aligning a;
    tsr_context *quiet = NULL;
    tsr_arena *scratch = NULL;
    TSR_TRY(tsr_arena_create(ctx, &scratch));
    tsr_status status = begin(ctx, scratch, op, &a);
    if (status == TSR_OK) {
        status = context_create_like(ctx, &quiet);
    }
    if (status == TSR_OK) {
        a.p.ctx = quiet;
        status = each(&a, arena, most, use, state);
    }
    tsr_context_destroy(quiet);
    tsr_arena_destroy(scratch);
    return status == TSR_ERR_NOMEM ? diag_nomem(ctx) : status;
}
