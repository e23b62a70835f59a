#include "factor/project.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "shard/sharding.h"

tsr_axis_list new_axis_list(const projection *p)
{
    return (tsr_axis_list){ARENA_ARRAY(p->arena, tsr_axis_ref, p->room), 0, p->room};
}

void copy_axes(tsr_axis_list *to, const tsr_axis_list *from)
{
    memcpy(to->refs, from->refs, from->count * sizeof *from->refs);
    to->count = from->count;
}

bool is_strict_prefix(const tsr_axis_list *a, const tsr_axis_list *b)
{
    return tsr_axes_is_strict_prefix(a->refs, a->count, b->refs, b->count);
}

bool is_prefix_or_equal(const tsr_axis_list *a, const tsr_axis_list *b)
{
    return is_strict_prefix(a, b) || tsr_axes_equal(a->refs, a->count, b->refs, b->count);
}

/* Room for every axis of every tensor, each cut once at most at every factor. */
static size_t room_for_axes(const tsr_rule *rule, const tsr_sharding *const *shardings)
{
    size_t room = rule->num_factors + 8;
    for (size_t t = 0; t < rule_num_tensors(rule); t++) {
        for (size_t d = 0; shardings[t] != NULL && d < shardings[t]->rank; d++) {
            room += shardings[t]->dims[d].num_axes;
        }
    }
    return room;
}

/* A queue of the axes of a dimension, of which the first may be cut. */
typedef struct axis_queue {
    const tsr_axis_ref *refs;
    size_t count;
    tsr_axis_ref head;
} axis_queue;

static void drop_head(axis_queue *q)
{
    q->refs++;
    q->count--;
    if (q->count > 0) {
        q->head = q->refs[0];
    }
}

/* Everything that is left, neighbours merged. The lists have room for all. */
static void take_rest(const projection *p, axis_queue *q, tsr_axis_list *list)
{
    while (q->count > 0) {
        (void)!tsr_axes_add(p->mesh, list, q->head);
        drop_head(q);
    }
}

/* What divides a factor; returns what is left of its size. */
static int64_t take_divisors(axis_queue *q, int64_t size, tsr_axis_list *list)
{
    while (q->count > 0) {
        const int64_t common = gcd_i64(size, q->head.size);
        if (q->head.size != 1 && common <= 1) {
            break;
        }
        if (q->head.size > common) {
            const tsr_axis_ref head = q->head;
            list->refs[list->count++] = tsr_axis_sub((size_t)head.axis, head.pre, common);
            q->head = tsr_axis_sub((size_t)head.axis, head.pre * common, head.size / common);
            size /= common;
        } else {
            list->refs[list->count++] = q->head;
            size /= q->head.size;
            drop_head(q);
        }
    }
    return size;
}

/* Explicit sizes are no product of anything: their axes block the dimension, and only veto. */
static bool is_ragged(const tsr_dim *dim)
{
    return dim != NULL && dim->ragged != NULL;
}

static void project_dim(const projection *p, tensor_state *t, const tsr_rule_dim *factors,
                        const tsr_dim *dim)
{
    axis_queue q = {.refs = dim != NULL ? dim->axes : NULL,
                    .count = dim != NULL ? dim->num_axes : 0};
    bool over = false;
    if (q.count > 0) {
        q.head = q.refs[0];
    }
    for (size_t i = 0; i < factors->num_factors; i++) {
        factor_state *f = &t->factors[factors->factors[i]];
        f->present = true;
        f->minor_most = i + 1 == factors->num_factors;
        f->closed = over || (dim != NULL && !dim->open);
        if (over) {
            return;
        }
        if (is_ragged(dim)) {
            take_rest(p, &q, &f->overflow);
            over = true;
            continue;
        }
        if (f->minor_most) {
            take_rest(p, &q, &f->axes);
            return;
        }
        const int64_t size = p->rule->factors[factors->factors[i]].size;
        if (take_divisors(&q, size, &f->axes) > 1 && q.count > 0) {
            take_rest(p, &q, &f->overflow);
            over = true;
        }
    }
}

static tsr_status check_tensor(const projection *p, size_t t, const tsr_sharding *s)
{
    const bool operand = t < p->rule->num_operands;
    const size_t index = operand ? t : t - p->rule->num_operands;
    const char *what = operand ? "operand" : "result";
    if (s->rank != p->rule->tensors[t].rank) {
        return diag_error(p->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the sharding of %s %zu has rank %zu, the rule %zu", what, index, s->rank,
                          p->rule->tensors[t].rank);
    }
    if (!tsr_mesh_equal(s->mesh, p->mesh)) {
        return diag_error(p->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the sharding of %s %zu is on another mesh: reshard it first", what,
                          index);
    }
    return TSR_OK;
}

static tsr_status project_tensor(projection *p, size_t t, const tsr_sharding *sharding)
{
    tensor_state *state = &p->tensors[t];
    *state = (tensor_state){.sharding = sharding,
                            .factors = ARENA_ARRAY(p->arena, factor_state, p->rule->num_factors)};
    if (state->factors == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t f = 0; f < p->rule->num_factors; f++) {
        state->factors[f] = (factor_state){.axes = new_axis_list(p), .overflow = new_axis_list(p)};
        if (state->factors[f].axes.refs == NULL || state->factors[f].overflow.refs == NULL) {
            return diag_nomem(p->ctx);
        }
    }
    if (sharding != NULL) {
        TSR_TRY(check_tensor(p, t, sharding));
    }
    for (size_t d = 0; d < p->rule->tensors[t].rank; d++) {
        project_dim(p, state, &p->rule->tensors[t].dims[d],
                    sharding != NULL ? &sharding->dims[d] : NULL);
    }
    return TSR_OK;
}

tsr_status project(tsr_context *ctx, tsr_arena *arena, const tsr_propagation *op,
                   const tsr_mesh *mesh, const tsr_sharding *const *shardings, projection *out)
{
    const tsr_rule *rule = op->rule;
    *out = (projection){.ctx = ctx,
                        .arena = arena,
                        .op = op,
                        .rule = rule,
                        .mesh = mesh,
                        .num_tensors = rule_num_tensors(rule),
                        .room = room_for_axes(rule, shardings)};
    out->tensors = ARENA_ARRAY(arena, tensor_state, out->num_tensors);
    if (out->tensors == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t t = 0; t < out->num_tensors; t++) {
        TSR_TRY(project_tensor(out, t, shardings[t]));
    }
    return TSR_OK;
}

/* Appends axes to those of a dimension; the first may continue the last. */
static void append(const projection *p, tsr_axis_list *dim, const tsr_axis_list *more)
{
    for (size_t i = 0; i < more->count; i++) {
        if (i == 0) {
            (void)!tsr_axes_add(p->mesh, dim, more->refs[i]);
        } else {
            dim->refs[dim->count++] = more->refs[i];
        }
    }
}

/* The axes of a dimension from those of its factors; whether it is closed. */
static bool join_factors(const projection *p, const tensor_state *t, const tsr_rule_dim *factors,
                         tsr_axis_list *dim)
{
    bool closed = false;
    for (size_t i = 0; i < factors->num_factors; i++) {
        const factor_state *f = &t->factors[factors->factors[i]];
        const int64_t size = rule_factor_size(p->rule, factors->factors[i]);
        closed = closed || f->closed;
        append(p, dim, &f->axes);
        if (f->overflow.count > 0) {
            append(p, dim, &f->overflow);
            break;
        }
        if (tsr_axes_size(f->axes.refs, f->axes.count) < size) {
            break;
        }
    }
    return closed;
}

tsr_status project_back(const projection *p, size_t tensor, const tsr_sharding **out)
{
    const tensor_state *t = &p->tensors[tensor];
    const tsr_rule_tensor *of = &p->rule->tensors[tensor];
    *out = t->sharding;
    if (!t->changed) {
        return TSR_OK;
    }
    tsr_dim *dims = ARENA_ARRAY(p->arena, tsr_dim, of->rank);
    if (dims == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t d = 0; d < of->rank; d++) {
        tsr_axis_list axes = new_axis_list(p);
        if (axes.refs == NULL) {
            return diag_nomem(p->ctx);
        }
        const bool closed = join_factors(p, t, &of->dims[d], &axes);
        dims[d] = tsr_dim_closed(axes.refs, axes.count);
        dims[d].open = !closed;
        dims[d].ragged = t->sharding != NULL ? t->sharding->dims[d].ragged : NULL;
    }
    tsr_sharding_spec spec = {.mesh = p->mesh, .rank = of->rank, .dims = dims};
    if (t->sharding != NULL) {
        spec.num_replicated = t->sharding->num_replicated;
        spec.replicated = t->sharding->replicated;
        spec.num_unreduced = t->sharding->num_unreduced;
        spec.unreduced = t->sharding->unreduced;
        spec.reduction = t->sharding->reduction;
    }
    return tsr_sharding_create(p->ctx, p->arena, &spec, TSR_SHARDING_DEFAULT, out);
}

void record(projection *p, tsr_decision decision, const tsr_axis_ref *axes, size_t num_axes)
{
    tsr_decisions *all = p->op->decisions;
    if (all == NULL || p->failed) {
        return;
    }
    if (all->count == all->room) {
        const size_t room = all->room > 0 ? 2 * all->room : 16;
        tsr_decision *grown = ARENA_ARRAY(p->arena, tsr_decision, room);
        if (grown == NULL) {
            p->failed = true;
            return;
        }
        if (all->count > 0) {
            memcpy(grown, all->list, all->count * sizeof *grown);
        }
        all->list = grown;
        all->room = room;
    }
    decision.axes = arena_copy(p->arena, axes, num_axes, sizeof *axes);
    decision.num_axes = num_axes;
    p->failed = decision.axes == NULL;
    all->list[all->count++] = decision;
}

/* The first tensor that had these axes for a factor before. */
static int64_t source_of(const projection *p, size_t factor, const tsr_axis_list *axes)
{
    for (size_t t = 0; t < p->num_tensors; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (f->present && !f->grown && is_prefix_or_equal(axes, &f->axes)) {
            return (int64_t)t;
        }
    }
    return -1;
}

void expand(projection *p, size_t tensor, size_t factor, const tsr_axis_list *axes)
{
    factor_state *f = &p->tensors[tensor].factors[factor];
    if (!f->present || !is_strict_prefix(&f->axes, axes)) {
        return;
    }
    const tsr_decision given = {.kind = TSR_DECISION_GIVEN,
                                .factor = factor,
                                .tensor = (int64_t)tensor,
                                .other = source_of(p, factor, axes),
                                .other_factor = -1};
    record(p, given, axes->refs, axes->count);
    copy_axes(&f->axes, axes);
    f->grown = true;
    p->tensors[tensor].changed = true;
}
