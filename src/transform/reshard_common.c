/*
 * What the tensors of an op are sharded by together: what they agree on, what the larger of two
 * has, or a greedy choice over all.
 */
#include <string.h>

#include "base/arena.h"
#include "transform/reshard.h"

/* Whether all tensors agree, so that nothing needs to move. */
static bool is_compatible(const op_tensors *t, const tsr_rule *rule, axis_view *common)
{
    for (size_t f = 0; f < rule->num_factors; f++) {
        bool seen = false;
        common[f] = (axis_view){0};
        for (size_t i = 0; i < t->count; i++) {
            if (!has_factor(t, i, f)) {
                continue;
            }
            if (t->x.tensors[i].factors[f].overflow.count > 0 ||
                (seen && !is_same_list(common[f], axes_of(t, i, f)))) {
                return false;
            }
            common[f] = axes_of(t, i, f);
            seen = true;
        }
        if (rule->factors[f].kind == TSR_FACTOR_NEED_REPLICATION && common[f].count > 0) {
            return false;
        }
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        for (size_t g = f + 1; g < rule->num_factors; g++) {
            if (views_overlap(common[f], common[g])) {
                return false;
            }
        }
    }
    return true;
}

int64_t reshard_num_elements(const tsr_program *p, uint32_t value)
{
    int64_t count = 0;
    return type_is_static(p, value_type(p, value)) &&
                   type_num_elements(p, value_type(p, value), &count)
               ? count
               : 0;
}

static uint32_t value_at(const tsr_program *p, uint32_t op, const op_tensors *t, size_t i)
{
    return i < t->num_operands ? op_operand(p, op, i) : op_result(p, op, i - t->num_operands);
}

/* ---- one tensor in, one out ---- */

static bool is_unary(const op_tensors *t, const tsr_rule *rule, size_t pair[2])
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        const tsr_rule_tensor *tensor = &rule->tensors[i];
        if (tensor->rank > 0) {
            if (count == 2) {
                return false;
            }
            pair[count++] = i;
        }
        for (size_t d = 0; d < tensor->rank; d++) {
            if (tensor->dims[d].num_factors > 1) {
                return false;
            }
        }
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (rule->factors[f].kind == TSR_FACTOR_NEED_REPLICATION) {
            return false;
        }
    }
    return count == 2;
}

static bool shards_permutation(const op_tensors *t, const tsr_rule *rule, size_t tensor)
{
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (rule->factors[f].kind == TSR_FACTOR_PERMUTATION && has_factor(t, tensor, f) &&
            axes_of(t, tensor, f).count > 0) {
            return true;
        }
    }
    return false;
}

static int64_t sharded_size(const op_tensors *t, const tsr_rule *rule, size_t tensor)
{
    int64_t size = 1;
    for (size_t f = 0; f < rule->num_factors; f++) {
        size *= has_factor(t, tensor, f) ? view_size(axes_of(t, tensor, f)) : 1;
    }
    return size;
}

/* A list cut at its first axis that overlaps another list, of which the prefix is kept. */
static tsr_status cut_at_overlap(workspace *w, axis_view list, axis_view other, axis_view *out)
{
    tsr_axis_list copy;
    TSR_TRY(reshard_new_list(w, list.count + 1, &copy));
    for (size_t i = 0; i < list.count; i++) {
        copy.refs[copy.count++] = list.refs[i];
    }
    tsr_axes_truncate(&copy, other.refs, other.count);
    *out = (axis_view){copy.refs, copy.count};
    return TSR_OK;
}

static tsr_status common_of_unary(workspace *w, uint32_t op, const op_tensors *t,
                                  const tsr_rule *rule, const size_t pair[2], axis_view *common)
{
    const tsr_program *p = w->p;
    bool better = false; /* the second */
    const bool permutes[2] = {shards_permutation(t, rule, pair[0]),
                              shards_permutation(t, rule, pair[1])};
    const int64_t elements[2] = {reshard_num_elements(p, value_at(p, op, t, pair[0])),
                                 reshard_num_elements(p, value_at(p, op, t, pair[1]))};
    const int64_t sizes[2] = {sharded_size(t, rule, pair[0]), sharded_size(t, rule, pair[1])};
    if (permutes[0] != permutes[1]) {
        better = permutes[0];
    } else if (elements[0] != elements[1]) {
        better = elements[1] > elements[0];
    } else {
        better = sizes[1] > sizes[0];
    }
    const size_t chosen = pair[better];
    const size_t other = pair[!better];
    for (size_t f = 0; f < rule->num_factors; f++) {
        common[f] = has_factor(t, chosen, f) ? axes_of(t, chosen, f) : (axis_view){0};
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (has_factor(t, chosen, f) || !has_factor(t, other, f)) {
            continue;
        }
        common[f] = axes_of(t, other, f);
        for (size_t g = 0; g < rule->num_factors; g++) {
            if (has_factor(t, chosen, g)) {
                TSR_TRY(cut_at_overlap(w, common[f], axes_of(t, chosen, g), &common[f]));
            }
        }
    }
    return TSR_OK;
}

/* ---- the greedy choice ---- */

typedef struct candidate {
    size_t factor;
    axis_view axes;
    int64_t weight;
    int64_t extra;
    bool dropped;
} candidate;

typedef struct greedy {
    workspace *w;
    const op_tensors *t;
    const tsr_rule *rule;
    candidate *list;
    size_t count;
    axis_view *common;
} greedy;

static void add_candidate(greedy *g, size_t factor, axis_view axes)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->list[i].factor == factor && is_same_list(g->list[i].axes, axes)) {
            return;
        }
    }
    g->list[g->count++] = (candidate){.factor = factor, .axes = axes, .extra = view_size(axes)};
}

static tsr_status list_candidates(greedy *g, uint32_t op)
{
    const op_tensors *t = g->t;
    size_t room = 1;
    for (size_t i = 0; i < t->count; i++) {
        for (size_t f = 0; f < g->rule->num_factors; f++) {
            room += has_factor(t, i, f) ? axes_of(t, i, f).count : 0;
        }
    }
    g->list = ARENA_ARRAY(g->w->scratch, candidate, room);
    if (g->list == NULL) {
        return diag_nomem(g->w->ctx);
    }
    for (size_t i = 0; i < t->count; i++) {
        for (size_t f = 0; f < g->rule->num_factors; f++) {
            const axis_view axes = has_factor(t, i, f) ? axes_of(t, i, f) : (axis_view){0};
            for (size_t n = axes.count; n > 0; n--) {
                add_candidate(g, f, (axis_view){axes.refs, n});
            }
        }
    }
    for (size_t c = 0; c < g->count; c++) {
        for (size_t i = 0; i < t->count; i++) {
            if (has_factor(t, i, g->list[c].factor) &&
                is_prefix_or_equal(g->list[c].axes, axes_of(t, i, g->list[c].factor))) {
                g->list[c].weight += reshard_num_elements(g->w->p, value_at(g->w->p, op, t, i));
            }
        }
    }
    return TSR_OK;
}

/* Whether the factor before this one in some dimension is not sharded in full yet. */
static bool is_blocked(const greedy *g, size_t factor)
{
    for (size_t i = 0; i < g->t->count; i++) {
        const tsr_rule_tensor *tensor = &g->rule->tensors[i];
        for (size_t d = 0; d < tensor->rank; d++) {
            for (size_t k = 1; k < tensor->dims[d].num_factors; k++) {
                const size_t before = tensor->dims[d].factors[k - 1];
                if (tensor->dims[d].factors[k] == factor &&
                    view_size(g->common[before]) != g->rule->factors[before].size) {
                    return true;
                }
            }
        }
    }
    return false;
}

static int kind_rank(tsr_factor_kind kind)
{
    static const int ranks[] = {[TSR_FACTOR_PASS_THROUGH] = 3,
                                [TSR_FACTOR_REDUCTION] = 2,
                                [TSR_FACTOR_PERMUTATION] = 1,
                                [TSR_FACTOR_NEED_REPLICATION] = 0};
    return ranks[kind];
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_candidates(const greedy *g, const candidate *a, const candidate *b)
{
    const tsr_factor *factors = g->rule->factors;
    int order = compare_numbers(a->weight, b->weight);
    if (order == 0) {
        order =
            compare_numbers(kind_rank(factors[a->factor].kind), kind_rank(factors[b->factor].kind));
    }
    if (order == 0) {
        order = compare_numbers(a->extra, b->extra);
    }
    if (order == 0) {
        order = compare_numbers((int64_t)a->factor, (int64_t)b->factor);
    }
    return order != 0 ? order
                      : tsr_axes_compare(g->t->mesh, a->axes.refs, a->axes.count, b->axes.refs,
                                         b->axes.count);
}

static tsr_status update_candidates(greedy *g, const candidate *best)
{
    for (size_t i = 0; i < g->count; i++) {
        candidate *c = &g->list[i];
        if (c->dropped) {
            continue;
        }
        if (c->factor == best->factor) {
            c->dropped = !is_strict_prefix(best->axes, c->axes);
            c->extra = view_size(c->axes) / view_size(best->axes);
            continue;
        }
        axis_view cut;
        TSR_TRY(cut_at_overlap(g->w, c->axes, best->axes, &cut));
        if (is_same_list(cut, c->axes)) {
            c->extra = view_size(c->axes);
            continue;
        }
        c->axes = cut;
        c->dropped = cut.count == 0 || is_same_list(cut, g->common[c->factor]);
        c->extra = view_size(cut) / view_size(g->common[c->factor]);
    }
    return TSR_OK;
}

static tsr_status choose_greedily(greedy *g)
{
    for (;;) {
        candidate *best = NULL;
        for (size_t i = 0; i < g->count; i++) {
            candidate *c = &g->list[i];
            if (!c->dropped && !is_blocked(g, c->factor) &&
                (best == NULL || compare_candidates(g, c, best) > 0)) {
                best = c;
            }
        }
        if (best == NULL) {
            return TSR_OK;
        }
        const candidate chosen = *best;
        g->common[chosen.factor] = chosen.axes;
        TSR_TRY(update_candidates(g, &chosen));
    }
}

/* Whether a factor is in all tensors that have dimensions. */
static bool is_everywhere(const op_tensors *t, const tsr_rule *rule, size_t factor)
{
    for (size_t i = 0; i < t->count; i++) {
        if (rule->tensors[i].rank > 0 && !has_factor(t, i, factor)) {
            return false;
        }
    }
    return true;
}

/* Gives the axes of a factor that must not be cut to batching factors, as far as they fit. */
static tsr_status move_replicated(workspace *w, const op_tensors *t, const tsr_rule *rule,
                                  size_t factor, axis_view *common)
{
    axis_view axes = common[factor];
    common[factor] = (axis_view){0};
    if (axes.count == 0 || !is_everywhere(t, rule, factor)) {
        return TSR_OK;
    }
    for (size_t f = 0; f < rule->num_factors && axes.count > 0; f++) {
        const int64_t size = rule->factors[f].size;
        const int64_t sharded = view_size(common[f]);
        if (rule->factors[f].kind != TSR_FACTOR_PASS_THROUGH || !is_everywhere(t, rule, f) ||
            size == 0 || size % sharded != 0) {
            continue;
        }
        tsr_axis_list list;
        int64_t room = size / sharded;
        TSR_TRY(reshard_new_list(w, common[f].count + axes.count, &list));
        for (size_t i = 0; i < common[f].count; i++) {
            list.refs[list.count++] = common[f].refs[i];
        }
        while (axes.count > 0 && room % axes.refs[0].size == 0) {
            room /= axes.refs[0].size;
            TSR_TRY(tsr_axes_add(t->mesh, &list, axes.refs[0]));
            axes.refs++;
            axes.count--;
        }
        common[f] = (axis_view){list.refs, list.count};
    }
    return TSR_OK;
}

/* What each factor is sharded by in all tensors. */
tsr_status reshard_find_common(resharding *r, uint32_t op, const op_tensors *t,
                               const tsr_rule *rule, axis_view *common, bool *moves)
{
    workspace *w = r->w;
    size_t pair[2];
    *moves = false;
    if (is_compatible(t, rule, common)) {
        return TSR_OK;
    }
    *moves = true;
    if (is_unary(t, rule, pair)) {
        return common_of_unary(w, op, t, rule, pair, common);
    }
    memset(common, 0, rule->num_factors * sizeof *common);
    greedy g = {.w = w, .t = t, .rule = rule, .common = common};
    TSR_TRY(list_candidates(&g, op));
    TSR_TRY(choose_greedily(&g));
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (rule->factors[f].kind == TSR_FACTOR_NEED_REPLICATION) {
            TSR_TRY(move_replicated(w, t, rule, f, common));
        }
    }
    return TSR_OK;
}
