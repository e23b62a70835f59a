#include "factor/project.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

/* The axes of a dimension that its factors have not taken yet; the first may be cut. */
typedef struct axis_queue {
    const tsr_axis_ref *refs;
    size_t count;
    tsr_axis_ref head; /* the first, or what is left of it */
    bool cut;
    tsr_axis_ref *room; /* where lists with parts of axes go */
} axis_queue;

static void drop_head(axis_queue *q)
{
    q->refs++;
    q->count--;
    q->cut = false;
    if (q->count > 0) {
        q->head = q->refs[0];
    }
}

/* Everything that is left. No two neighbours can be merged: the sharding has none that can. */
static axis_view take_rest(axis_queue *q)
{
    axis_view rest = {q->refs, q->count};
    if (q->cut) {
        memcpy(q->room, q->refs, q->count * sizeof *q->room);
        q->room[0] = q->head;
        rest.refs = q->room;
    }
    q->count = 0;
    return rest;
}

/* What divides a factor; *size becomes what is left of it. */
static axis_view take_divisors(axis_queue *q, int64_t *size)
{
    axis_view taken = {q->room, 0};
    while (q->count > 0) {
        const int64_t common = gcd_i64(*size, q->head.size);
        if (q->head.size != 1 && common <= 1) {
            break;
        }
        if (q->head.size > common) {
            const tsr_axis_ref head = q->head;
            *q->room++ = tsr_axis_sub((size_t)head.axis, head.pre, common);
            q->head = tsr_axis_sub((size_t)head.axis, head.pre * common, head.size / common);
            q->cut = true;
            *size /= common;
        } else {
            *q->room++ = q->head;
            *size /= q->head.size;
            drop_head(q);
        }
        taken.count++;
    }
    return taken;
}

/* A dimension of several factors, with axes: major factors take what divides them. */
static void share_out(projection *p, factor_state *factors, const tsr_rule_dim *of,
                      const tsr_dim *dim)
{
    axis_queue q = {.refs = dim->axes,
                    .count = dim->num_axes,
                    .head = dim->axes[0],
                    .room = ARENA_ARRAY(p->scratch, tsr_axis_ref, dim->num_axes + of->num_factors)};
    if (q.room == NULL) {
        p->failed = true;
        return;
    }
    bool over = false;
    for (size_t i = 0; i < of->num_factors; i++) {
        factor_state *f = &factors[of->factors[i]];
        int64_t size = p->rule->factors[of->factors[i]].size;
        *f = (factor_state){
            .present = true, .minor_most = i + 1 == of->num_factors, .closed = over || !dim->open};
        if (over) {
            return;
        }
        if (f->minor_most) {
            f->axes = take_rest(&q);
            return;
        }
        f->axes = take_divisors(&q, &size);
        if (size > 1 && q.count > 0) {
            f->overflow = take_rest(&q);
            over = true;
        }
    }
}

/* Explicit sizes are not a product of factors: their axes block the dimension, and only veto. */
static void block_ragged(factor_state *factors, const tsr_rule_dim *of, const tsr_dim *dim)
{
    for (size_t i = 0; i < of->num_factors && i < 2; i++) {
        factors[of->factors[i]] = (factor_state){
            .present = true, .minor_most = i + 1 == of->num_factors, .closed = i > 0 || !dim->open};
    }
    factors[of->factors[0]].overflow = (axis_view){dim->axes, dim->num_axes};
}

/* Dimensions of one factor, or without axes: each factor has all of them. */
static inline void look_at(factor_state *f, const tsr_dim *dim, bool minor_most)
{
    f->axes = (axis_view){dim->axes, dim->num_axes};
    f->overflow = (axis_view){0};
    f->present = true;
    f->closed = !dim->open;
    f->minor_most = minor_most;
    f->grown = false;
}

static void project_dim(projection *p, factor_state *factors, const tsr_rule_dim *of,
                        const tsr_dim *dim)
{
    if (dim->ragged != NULL) {
        block_ragged(factors, of, dim);
    } else if (of->num_factors > 1 && dim->num_axes > 0) {
        share_out(p, factors, of, dim);
    } else {
        for (size_t i = 0; i < of->num_factors; i++) {
            look_at(&factors[of->factors[i]], dim, i + 1 == of->num_factors);
        }
    }
}

static void project_tensor(projection *p, tensor_state *t, const tsr_rule_tensor *of)
{
    static const tsr_dim none = {.open = true};
    const tsr_dim *dim = t->sharding != NULL ? t->sharding->dims : &none;
    const size_t step = t->sharding != NULL ? 1 : 0;
    for (size_t d = 0; d < of->rank; d++, dim += step) {
        if (of->dims[d].num_factors == 1 && dim->ragged == NULL) {
            look_at(&t->factors[of->dims[d].factors[0]], dim, true);
        } else {
            project_dim(p, t->factors, &of->dims[d], dim);
        }
    }
}

/* What an error calls a tensor. */
static const char *word_for(const tsr_rule *rule, size_t t, size_t *index)
{
    const bool operand = t < rule->num_operands;
    *index = operand ? t : t - rule->num_operands;
    return operand ? "operand" : "result";
}

static tsr_status refuse_rank(const projection *p, size_t t, const tsr_sharding *s)
{
    size_t index;
    const char *what = word_for(p->rule, t, &index);
    return diag_error(p->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "the sharding of %s %zu has rank %zu, the rule %zu", what, index, s->rank,
                      p->rule->tensors[t].rank);
}

tsr_status check_meshes(tsr_context *ctx, const tsr_rule *rule, const tsr_mesh *mesh,
                        const tsr_sharding *const *shardings)
{
    for (size_t t = 0; t < rule_num_tensors(rule); t++) {
        const tsr_mesh *own = shardings[t] != NULL ? shardings[t]->mesh : mesh;
        if (!tsr_mesh_equal(own, mesh) && !tsr_mesh_is_empty(own)) {
            size_t index;
            const char *what = word_for(rule, t, &index);
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "the sharding of %s %zu is on another mesh: reshard it first", what,
                              index);
        }
    }
    return TSR_OK;
}

tsr_status project(tsr_context *ctx, tsr_arena *scratch, const visit_op *op, const tsr_mesh *mesh,
                   const tsr_sharding *const *shardings, projection *out)
{
    const tsr_rule *rule = op->rule;
    const size_t count = rule_num_tensors(rule);
    const size_t num_states = count * rule->num_factors;
    factor_state *states = ARENA_ARRAY(scratch, factor_state, num_states);
    *out = (projection){.ctx = ctx,
                        .scratch = scratch,
                        .op = op,
                        .rule = rule,
                        .mesh = mesh,
                        .num_tensors = count,
                        .tensors = ARENA_ARRAY(scratch, tensor_state, count)};
    if (states == NULL || out->tensors == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_states; i++) {
        states[i].present = false;
    }
    for (size_t t = 0; t < count; t++) {
        tensor_state *state = &out->tensors[t];
        *state =
            (tensor_state){.sharding = shardings[t], .factors = states + t * rule->num_factors};
        if (shardings[t] != NULL && shardings[t]->rank != rule->tensors[t].rank) {
            return refuse_rank(out, t, shardings[t]);
        }
        project_tensor(out, state, &rule->tensors[t]);
    }
    return out->failed ? diag_nomem(ctx) : TSR_OK;
}

/* Appends axes to those of a dimension; the first may continue the last. */
static void append(const projection *p, tsr_axis_list *dim, axis_view more)
{
    for (size_t i = 0; i < more.count; i++) {
        if (i == 0) {
            (void)!tsr_axes_add(p->mesh, dim, more.refs[i]);
        } else {
            dim->refs[dim->count++] = more.refs[i];
        }
    }
}

/* The axes of a dimension from those of its factors. */
static void join_factors(const projection *p, const factor_state *factors, const tsr_rule_dim *of,
                         tsr_axis_list *axes, tsr_dim *dim)
{
    dim->open = true;
    for (size_t i = 0; i < of->num_factors; i++) {
        const factor_state *f = &factors[of->factors[i]];
        dim->open = dim->open && !f->closed;
        append(p, axes, f->axes);
        append(p, axes, f->overflow);
        if (f->overflow.count > 0 ||
            view_size(f->axes) < rule_factor_size(p->rule, of->factors[i])) {
            break;
        }
    }
    dim->axes = axes->refs;
    dim->num_axes = axes->count;
}

/* How many axes the factors of a dimension have, and whether one got some. */
static size_t count_axes(const factor_state *factors, const tsr_rule_dim *of, bool *grown)
{
    size_t count = 0;
    *grown = false;
    for (size_t i = 0; i < of->num_factors; i++) {
        const factor_state *f = &factors[of->factors[i]];
        if (f->present) {
            count += f->axes.count + f->overflow.count;
            *grown = *grown || f->grown;
        }
    }
    return count;
}

/* A dimension afterwards. What got no axes is as it was, but has no priority. */
static bool join_dim(projection *p, const factor_state *factors, const tsr_rule_dim *of,
                     tsr_dim *dim)
{
    bool grown;
    const size_t room = count_axes(factors, of, &grown);
    dim->priority = TSR_NO_PRIORITY;
    if (grown && of->num_factors == 1) {
        dim->axes = factors[of->factors[0]].axes.refs;
        dim->num_axes = factors[of->factors[0]].axes.count;
    } else if (grown) {
        tsr_axis_list axes = {ARENA_ARRAY(p->scratch, tsr_axis_ref, room), 0, room};
        if (axes.refs == NULL) {
            return false;
        }
        join_factors(p, factors, of, &axes, dim);
    }
    return true;
}

/* Whether two parts of one axis fit into one reshape of it; neighbours do, without divisions. */
static bool fit_together(const tsr_axis_ref *a, const tsr_axis_ref *b)
{
    return a == b || a->pre * a->size == b->pre || b->pre * b->size == a->pre ||
           tsr_axis_can_coexist(*a, *b);
}

/* Whether a part of an axis fits with the parts of it in a list. */
static bool fits(const tsr_axis_ref *part, axis_view list)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.refs[i].axis == part->axis && !fit_together(part, &list.refs[i])) {
            return false;
        }
    }
    return true;
}

/* Whether all parts of axes in a dimension fit with those in the whole sharding. */
static bool parts_fit(const tsr_sharding *s, const tsr_dim *dim)
{
    bool fit = true;
    for (size_t i = 0; fit && i < dim->num_axes; i++) {
        const tsr_axis_ref *part = &dim->axes[i];
        for (size_t d = 0; fit && part->is_sub != 0 && d < s->rank; d++) {
            fit = fits(part, (axis_view){s->dims[d].axes, s->dims[d].num_axes});
        }
        fit = fit &&
              (part->is_sub == 0 || (fits(part, (axis_view){s->replicated, s->num_replicated}) &&
                                     fits(part, (axis_view){s->unreduced, s->num_unreduced})));
    }
    return fit;
}

/*
 * The one rule that propagation does not keep: "x":(1)2 starts "x":(1)3, so it may be left of that
 * where "x":(3)2 is. The reference takes parts that no reshape of an axis has together; here they
 * are refused, in the words of verification.
 */
static tsr_status check_parts(const projection *p, const tsr_sharding *s)
{
    for (size_t d = 0; d < s->rank; d++) {
        if (!parts_fit(s, &s->dims[d])) {
            const tsr_sharding_spec spec = {.mesh = s->mesh,
                                            .rank = s->rank,
                                            .dims = s->dims,
                                            .num_replicated = s->num_replicated,
                                            .replicated = s->replicated,
                                            .num_unreduced = s->num_unreduced,
                                            .unreduced = s->unreduced,
                                            .reduction = s->reduction};
            const tsr_sharding *refused;
            return tsr_sharding_create(p->ctx, p->scratch, &spec, TSR_SHARDING_DEFAULT, &refused);
        }
    }
    return TSR_OK;
}

tsr_status project_back(projection *p, size_t tensor, tsr_sharding *out)
{
    const tensor_state *t = &p->tensors[tensor];
    const tsr_rule_tensor *of = &p->rule->tensors[tensor];
    tsr_dim *dims = ARENA_ARRAY(p->scratch, tsr_dim, of->rank);
    if (dims == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t d = 0; d < of->rank; d++) {
        dims[d] = t->sharding != NULL ? t->sharding->dims[d] : (tsr_dim){.open = true};
        if (!join_dim(p, t->factors, &of->dims[d], &dims[d])) {
            return diag_nomem(p->ctx);
        }
    }
    *out = t->sharding != NULL ? *t->sharding : (tsr_sharding){.rank = of->rank};
    out->mesh = p->mesh;
    out->dims = dims;
    return check_parts(p, out);
}

/* Room for one more decision. */
static bool grow_decisions(const projection *p, tsr_decisions *all)
{
    if (all->count < all->room) {
        return true;
    }
    const size_t room = all->room > 0 ? 2 * all->room : 16;
    tsr_decision *grown = ARENA_ARRAY(p->op->record, tsr_decision, room);
    if (grown == NULL) {
        return false;
    }
    if (all->count > 0) {
        memcpy(grown, all->list, all->count * sizeof *grown);
    }
    all->list = grown;
    all->room = room;
    return true;
}

void record(projection *p, tsr_decision decision, const tsr_axis_ref *axes, size_t num_axes)
{
    tsr_decisions *all = p->op->decisions;
    if (all == NULL || p->failed) {
        return;
    }
    decision.axes = arena_copy(p->op->record, axes, num_axes, sizeof *axes);
    decision.num_axes = num_axes;
    p->failed = decision.axes == NULL || !grow_decisions(p, all);
    if (!p->failed) {
        all->list[all->count++] = decision;
    }
}

/* The first tensor that had these axes for a factor before. */
static int64_t source_of(const projection *p, size_t factor, axis_view axes)
{
    for (size_t t = 0; t < p->num_tensors; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (f->present && !f->grown && is_prefix_or_equal(axes, f->axes)) {
            return (int64_t)t;
        }
    }
    return -1;
}

void expand(projection *p, size_t tensor, size_t factor, axis_view axes)
{
    factor_state *f = &p->tensors[tensor].factors[factor];
    if (!f->present || !is_strict_prefix(f->axes, axes)) {
        return;
    }
    if (is_recording(p)) {
        const tsr_decision given = {.kind = TSR_DECISION_GIVEN,
                                    .factor = factor,
                                    .tensor = (int64_t)tensor,
                                    .other = source_of(p, factor, axes),
                                    .other_factor = -1};
        record(p, given, axes.refs, axes.count);
    }
    f->axes = axes;
    f->grown = true;
    p->tensors[tensor].changed = true;
    p->changed = true;
}
