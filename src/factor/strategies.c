/*
 * The ways to decide which tensor gets which axes.
 *
 * What a factor wants is only ever cut before a tensor gets it, and a tensor gets only a list that
 * its own is a strict prefix of. So where no tensor's own list is a strict prefix of what the
 * factor wants, no conflict has to be looked for; at the fixed point that is everywhere. Decisions
 * tell conflicts too: while they are recorded nothing is left out.
 */
#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "factor/project.h"

static tsr_status finished(const projection *p)
{
    return p->failed ? diag_nomem(p->ctx) : TSR_OK;
}

/* Whether some tensor could get axes of a list for a factor, or conflicts are to be recorded. */
static bool is_worth_looking(const projection *p, size_t factor, axis_view axes)
{
    if (axes.count == 0 || is_recording(p)) {
        return axes.count > 0;
    }
    for (size_t t = 0; t < p->num_tensors; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (f->present && is_strict_prefix(f->axes, axes)) {
            return true;
        }
    }
    return false;
}

/* Whether all tensors that have a factor have the same axes for it: none can get any. */
static bool is_unanimous(const projection *p, size_t factor)
{
    const factor_state *first = NULL;
    for (size_t t = 0; t < p->num_tensors; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (!f->present) {
            continue;
        }
        if (first != NULL && !is_same_list(f->axes, first->axes)) {
            return false;
        }
        first = f;
    }
    return true;
}

/* What tensors agree on along a factor; nothing, when none of them can get any of it. */
static axis_view wanted_axes(projection *p, size_t factor)
{
    if (!is_recording(p) && is_unanimous(p, factor)) {
        return (axis_view){0};
    }
    const axis_view axes = compatible_axes(p, factor);
    return is_worth_looking(p, factor, axes) ? axes : (axis_view){0};
}

tsr_status propagate_basic(projection *p)
{
    for (size_t f = 0; f < p->rule->num_factors; f++) {
        axis_view axes = wanted_axes(p, f);
        if (axes.count == 0) {
            continue;
        }
        axes = remove_conflicts(p, 0, p->num_tensors, f, CONFLICTS_ACROSS | CONFLICTS_WITHIN, axes);
        for (size_t t = 0; axes.count > 0 && t < p->num_tensors; t++) {
            expand(p, t, f, axes);
        }
    }
    return finished(p);
}

/* A factor in the order of preference, with the axes that it wants. */
typedef struct ranked {
    size_t factor;
    axis_view axes;
    int64_t source; /* the tensor that it comes from; -1 for none */
    double size;    /* of that tensor, in elements */
    int64_t shards;
} ranked;

/* Whether one comes before another; by_shards: shards break ties. */
static bool is_preferred(const ranked *x, const ranked *y, bool by_shards)
{
    if (x->size != y->size) {
        return x->size > y->size;
    }
    if (by_shards && x->shards != y->shards) {
        return x->shards > y->shards;
    }
    return x->source != y->source ? x->source < y->source : x->factor < y->factor;
}

/* Moves the last of several factors to where it belongs among those before it. */
static void sort_last(ranked *ranks, size_t count, bool by_shards)
{
    for (size_t at = count - 1; at > 0 && is_preferred(&ranks[at], &ranks[at - 1], by_shards);
         at--) {
        const ranked r = ranks[at];
        ranks[at] = ranks[at - 1];
        ranks[at - 1] = r;
    }
}

/* The elements of a tensor, by its factors. */
static double elements_of(const projection *p, size_t tensor)
{
    double elements = 1;
    for (size_t f = 0; f < p->rule->num_factors; f++) {
        if (p->tensors[tensor].factors[f].present) {
            elements *= (double)rule_factor_size(p->rule, f);
        }
    }
    return elements;
}

/* The largest tensor that has all that a factor wants. */
static void find_source(const projection *p, ranked *r)
{
    r->source = -1;
    r->size = -1;
    for (size_t t = 0; t < p->num_tensors; t++) {
        const factor_state *f = &p->tensors[t].factors[r->factor];
        if (f->present && is_prefix_or_equal(r->axes, f->axes)) {
            const double elements = elements_of(p, t);
            r->source = elements > r->size ? (int64_t)t : r->source;
            r->size = elements > r->size ? elements : r->size;
        }
    }
}

/* The axes that an operand of an elementwise op gets: no more than the results have. */
static axis_view hold_to_results(const projection *p, size_t factor, axis_view axes)
{
    for (size_t r = p->rule->num_operands; r < p->num_tensors; r++) {
        const factor_state *of = &p->tensors[r].factors[factor];
        if (of->present && is_strict_prefix(of->axes, axes)) {
            axes = of->axes;
        }
    }
    return axes;
}

/* Gives a tensor what it can take of a factor's axes, given what it has by now. */
static void give(projection *p, size_t tensor, size_t factor, axis_view axes)
{
    const factor_state *f = &p->tensors[tensor].factors[factor];
    if (!f->present || (!is_recording(p) && !is_strict_prefix(f->axes, axes))) {
        return;
    }
    axes = remove_conflicts(p, tensor, tensor + 1, factor, CONFLICTS_WITHIN, axes);
    if (!is_strict_prefix(f->axes, axes)) {
        return;
    }
    axes = remove_conflicts(p, tensor, tensor + 1, factor, CONFLICTS_ACROSS, axes);
    if (tensor < p->rule->num_operands && p->op->elementwise) {
        axes = hold_to_results(p, factor, axes);
    }
    if (axes.count > 0) {
        expand(p, tensor, factor, axes);
    }
}

/* Results first, each in turn, then operands. */
static void give_in_order(projection *p, const ranked *ranks, size_t count)
{
    const size_t operands = p->rule->num_operands;
    const size_t results = p->rule->num_results;
    for (size_t i = 0; i < p->num_tensors; i++) {
        const size_t t = i < results ? operands + i : i - results;
        for (size_t k = 0; k < count; k++) {
            give(p, t, ranks[k].factor, ranks[k].axes);
        }
    }
}

tsr_status propagate_aggressive(projection *p)
{
    ranked *ranks = ARENA_ARRAY(p->scratch, ranked, p->rule->num_factors);
    size_t count = 0;
    if (ranks == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t f = 0; f < p->rule->num_factors; f++) {
        const axis_view axes = wanted_axes(p, f);
        if (axes.count > 0) {
            ranks[count] = (ranked){.factor = f, .axes = axes, .shards = view_size(axes)};
            find_source(p, &ranks[count]);
            sort_last(ranks, ++count, p->op->elementwise);
        }
    }
    give_in_order(p, ranks, count);
    return finished(p);
}

/* What tensors agree on, or where they do not, the axes that make the most shards. */
static axis_view most_shards(projection *p, size_t factor)
{
    axis_view axes = compatible_axes(p, factor);
    if (direction_of(p, factor) == TSR_DIRECTION_NONE) {
        return axes;
    }
    int64_t most = view_size(axes);
    for (size_t t = 0; t < p->num_tensors; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        const int64_t shards = f->present ? view_size(f->axes) : 0;
        if (shards > most) {
            axes = f->axes;
            most = shards;
        }
    }
    return axes;
}

tsr_status propagate_most_parallel(projection *p)
{
    ranked *ranks = ARENA_ARRAY(p->scratch, ranked, p->rule->num_factors);
    size_t count = 0;
    if (ranks == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t f = 0; f < p->rule->num_factors; f++) {
        const axis_view axes = most_shards(p, f);
        if (is_worth_looking(p, f, axes)) {
            ranks[count] = (ranked){.factor = f, .axes = axes, .shards = view_size(axes)};
            sort_last(ranks, ++count, true);
        }
    }
    give_in_order(p, ranks, count);
    return finished(p);
}
