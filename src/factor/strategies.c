/* The ways to decide which tensor gets which axes. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "factor/project.h"

static tsr_status finished(const projection *p)
{
    return p->failed ? diag_nomem(p->ctx) : TSR_OK;
}

tsr_status propagate_basic(projection *p)
{
    tsr_axis_list axes = new_axis_list(p);
    if (axes.refs == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t f = 0; f < p->rule->num_factors; f++) {
        compatible_axes(p, f, &axes);
        remove_conflicts(p, 0, p->num_tensors, f, CONFLICTS_ACROSS | CONFLICTS_WITHIN, &axes);
        for (size_t t = 0; axes.count > 0 && t < p->num_tensors; t++) {
            expand(p, t, f, &axes);
        }
    }
    return finished(p);
}

/* A factor in the order of preference. */
typedef struct ranked {
    size_t factor;
    int64_t source; /* the tensor that it comes from; -1 for none */
    double size;    /* of that tensor, in elements */
    int64_t shards;
    bool by_shards; /* shards break ties */
} ranked;

static int by_preference(const void *a, const void *b)
{
    const ranked *x = a;
    const ranked *y = b;
    if (x->size != y->size) {
        return x->size > y->size ? -1 : 1;
    }
    if (x->by_shards && x->shards != y->shards) {
        return x->shards > y->shards ? -1 : 1;
    }
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    return (x->factor > y->factor) - (x->factor < y->factor);
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

static ranked rank_factor(const projection *p, size_t factor, const tsr_axis_list *axes)
{
    ranked r = {.factor = factor,
                .source = -1,
                .size = -1,
                .shards = tsr_axes_size(axes->refs, axes->count),
                .by_shards = p->op->elementwise};
    for (size_t t = 0; axes->count > 0 && t < p->num_tensors; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (f->present && is_prefix_or_equal(axes, &f->axes) && elements_of(p, t) > r.size) {
            r.source = (int64_t)t;
            r.size = elements_of(p, t);
        }
    }
    return r;
}

/* The axes that a tensor gets for a factor, given what it has by now. */
static void give(projection *p, size_t tensor, size_t factor, const tsr_axis_list *wanted,
                 tsr_axis_list *axes)
{
    const factor_state *f = &p->tensors[tensor].factors[factor];
    if (!f->present || wanted->count == 0) {
        return;
    }
    copy_axes(axes, wanted);
    remove_conflicts(p, tensor, tensor + 1, factor, CONFLICTS_WITHIN, axes);
    if (!is_strict_prefix(&f->axes, axes)) {
        return;
    }
    remove_conflicts(p, tensor, tensor + 1, factor, CONFLICTS_ACROSS, axes);
    const bool operand = tensor < p->rule->num_operands;
    for (size_t r = p->rule->num_operands; operand && p->op->elementwise && r < p->num_tensors;
         r++) {
        const factor_state *of = &p->tensors[r].factors[factor];
        if (of->present && is_strict_prefix(&of->axes, axes)) {
            copy_axes(axes, &of->axes);
        }
    }
    if (axes->count > 0) {
        expand(p, tensor, factor, axes);
    }
}

tsr_status give_in_order(projection *p, const tsr_axis_list *axes, const size_t *order)
{
    tsr_axis_list room = new_axis_list(p);
    const size_t operands = p->rule->num_operands;
    if (room.refs == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t i = 0; i < p->num_tensors; i++) {
        const size_t results = p->rule->num_results;
        const size_t t = i < results ? operands + i : i - results;
        for (size_t k = 0; k < p->rule->num_factors; k++) {
            give(p, t, order[k], &axes[order[k]], &room);
        }
    }
    return finished(p);
}

/* The axes that each factor wants. */
static tsr_axis_list *wanted_axes(projection *p,
                                  void (*find)(projection *, size_t, tsr_axis_list *))
{
    tsr_axis_list *axes = ARENA_ARRAY(p->arena, tsr_axis_list, p->rule->num_factors);
    for (size_t f = 0; axes != NULL && f < p->rule->num_factors; f++) {
        axes[f] = new_axis_list(p);
        if (axes[f].refs == NULL) {
            return NULL;
        }
        find(p, f, &axes[f]);
    }
    return axes;
}

/* Sorts the factors and gives. */
static tsr_status give_by(projection *p, const tsr_axis_list *axes, ranked *ranks)
{
    const size_t count = p->rule->num_factors;
    size_t *order = ARENA_ARRAY(p->arena, size_t, count);
    if (order == NULL) {
        return diag_nomem(p->ctx);
    }
    qsort(ranks, count, sizeof *ranks, by_preference);
    for (size_t i = 0; i < count; i++) {
        order[i] = ranks[i].factor;
    }
    return give_in_order(p, axes, order);
}

tsr_status propagate_aggressive(projection *p)
{
    const size_t count = p->rule->num_factors;
    const tsr_axis_list *axes = wanted_axes(p, compatible_axes);
    ranked *ranks = ARENA_ARRAY(p->arena, ranked, count);
    if (axes == NULL || ranks == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t f = 0; f < count; f++) {
        ranks[f] = rank_factor(p, f, &axes[f]);
    }
    return give_by(p, axes, ranks);
}

/* What tensors agree on, or where they do not, the axes that make the most shards. */
static void most_shards(projection *p, size_t factor, tsr_axis_list *out)
{
    compatible_axes(p, factor, out);
    if (direction_of(p, factor) == TSR_DIRECTION_NONE) {
        return;
    }
    int64_t most = tsr_axes_size(out->refs, out->count);
    for (size_t t = 0; t < p->num_tensors; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        const int64_t shards = tsr_axes_size(f->axes.refs, f->axes.count);
        if (f->present && shards > most) {
            copy_axes(out, &f->axes);
            most = shards;
        }
    }
}

tsr_status propagate_most_parallel(projection *p)
{
    const size_t count = p->rule->num_factors;
    const tsr_axis_list *axes = wanted_axes(p, most_shards);
    ranked *ranks = ARENA_ARRAY(p->arena, ranked, count);
    if (axes == NULL || ranks == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t f = 0; f < count; f++) {
        ranks[f] = (ranked){
            .factor = f, .shards = tsr_axes_size(axes[f].refs, axes[f].count), .by_shards = true};
    }
    return give_by(p, axes, ranks);
}
