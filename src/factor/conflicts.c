/* What tensors agree on along a factor, and what keeps them from it. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "factor/project.h"

/* The fold over the tensors of a factor. */
typedef struct agreement {
    axis_view axes; /* so far */
    bool grow;      /* a longer list makes it longer: nothing has disagreed so far */
    int64_t source; /* the tensor that it began with; -1 for none */
} agreement;

/*
 * Folds a list in that differs from the one so far in element `i`, the first; false when they
 * disagree. One of the two elements may be a part of the other that starts with it.
 */
static bool fold_different(agreement *a, axis_view with, size_t i)
{
    const tsr_axis_ref x = a->axes.refs[i];
    const tsr_axis_ref y = with.refs[i];
    if (tsr_axis_is_prefix(y, x)) {
        if (i + 1 == with.count) {
            return true;
        }
        a->axes = (axis_view){with.refs, i + 1};
        return false;
    }
    if (tsr_axis_is_prefix(x, y)) {
        const bool longer = a->grow && i + 1 == a->axes.count;
        a->axes = longer ? with : (axis_view){a->axes.refs, i + 1};
        return longer;
    }
    a->axes.count = i;
    return false;
}

/*
 * Folds one tensor's axes in; false when they disagree. What comes out is a part of one of the two
 * lists, from its start: nothing is copied.
 */
static bool fold(agreement *a, axis_view with)
{
    const size_t shorter = a->axes.count < with.count ? a->axes.count : with.count;
    size_t i = 0;
    while (i < shorter && axis_same(&a->axes.refs[i], &with.refs[i])) {
        i++;
    }
    if (i == shorter) {
        if (a->grow && with.count > shorter) {
            a->axes = with;
        }
        return true;
    }
    const bool agree = fold_different(a, with, i);
    a->grow = a->grow && agree;
    return agree;
}

static void tell_disagreement(projection *p, size_t tensor, size_t factor, const agreement *a)
{
    const tsr_decision d = {.kind = TSR_DECISION_DISAGREE,
                            .factor = factor,
                            .tensor = (int64_t)tensor,
                            .other = a->source,
                            .other_factor = -1};
    record(p, d, a->axes.refs, a->axes.count);
}

/* Folds tensors first .. end - 1 in. */
static void fold_group(projection *p, size_t factor, size_t first, size_t end, agreement *a)
{
    for (size_t t = first; t < end; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (!f->present) {
            continue;
        }
        const bool had = a->axes.count > 0;
        if (!fold(a, f->axes)) {
            tell_disagreement(p, t, factor, a);
        }
        a->source = !had && a->axes.count > 0 ? (int64_t)t : a->source;
    }
}

tsr_direction direction_of(const projection *p, size_t factor)
{
    if (p->rule->factors[factor].blocked) {
        return TSR_DIRECTION_NONE;
    }
    return p->op->directions != NULL ? p->op->directions[factor] : p->op->direction;
}

axis_view compatible_axes(projection *p, size_t factor)
{
    const tsr_direction direction = direction_of(p, factor);
    const size_t operands = p->rule->num_operands;
    agreement a = {.grow = true, .source = -1};
    if (direction == TSR_DIRECTION_NONE) {
        return a.axes;
    }
    const bool backward = direction == TSR_DIRECTION_BACKWARD;
    fold_group(p, factor, backward ? operands : 0, backward ? p->num_tensors : operands, &a);
    a.grow = a.grow && direction == TSR_DIRECTION_BOTH;
    fold_group(p, factor, backward ? 0 : operands, backward ? operands : p->num_tensors, &a);
    return a.axes;
}

/* Whether a list has a part of an axis. */
static bool mentions(axis_view list, int32_t axis)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.refs[i].axis == axis) {
            return true;
        }
    }
    return false;
}

/* Cuts an axis by those of a list; false when nothing is left. */
static bool clip(tsr_axis_ref *axis, axis_view by)
{
    for (size_t i = 0; i < by.count; i++) {
        if (!tsr_axis_prefix_without(*axis, by.refs[i], axis)) {
            return false;
        }
    }
    return true;
}

/* A conflict that is being looked for. */
typedef struct looking {
    projection *p;
    size_t tensor;
    size_t factor;
    int64_t size; /* of the axes kept before */
} looking;

static void tell(const looking *l, tsr_decision_kind kind, int64_t other_factor, tsr_axis_ref axis)
{
    const tsr_decision d = {.kind = kind,
                            .factor = l->factor,
                            .tensor = (int64_t)l->tensor,
                            .other = -1,
                            .other_factor = other_factor};
    record(l->p, d, &axis, 1);
}

/* Cuts an axis by what another factor has; false when nothing is left. */
static bool clip_by_factor(const looking *l, size_t other, tsr_axis_ref *axis)
{
    const factor_state *f = &l->p->tensors[l->tensor].factors[other];
    const tsr_axis_ref before = *axis;
    const bool left = clip(axis, f->overflow) && clip(axis, f->axes);
    if (!left || axis->size != before.size) {
        tell(l, TSR_DECISION_TAKEN, (int64_t)other, before);
    }
    return left;
}

static bool clip_across(const looking *l, tsr_axis_ref *axis)
{
    const factor_state *factors = l->p->tensors[l->tensor].factors;
    for (size_t g = 0; g < l->p->rule->num_factors; g++) {
        const factor_state *f = &factors[g];
        if (g != l->factor && f->present &&
            (mentions(f->overflow, axis->axis) || mentions(f->axes, axis->axis)) &&
            !clip_by_factor(l, g, axis)) {
            return false;
        }
    }
    return true;
}

static bool contains(axis_view list, const tsr_axis_ref *axis)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.refs[i].axis == axis->axis && tsr_axis_contains(list.refs[i], *axis)) {
            return true;
        }
    }
    return false;
}

/* What an open factor without overflow can take of an axis; false when nothing. */
static bool take_what_divides(const looking *l, const factor_state *f, tsr_axis_ref *axis)
{
    if (f->minor_most) {
        return true;
    }
    const int64_t size = l->p->rule->factors[l->factor].size;
    if (size % l->size != 0) {
        return false;
    }
    const int64_t common = gcd_i64(size / l->size, axis->size);
    if (common == axis->size) {
        return true;
    }
    if (common > 1) {
        *axis = tsr_axis_sub((size_t)axis->axis, axis->pre, common);
    }
    return common > 1;
}

/* Cuts an axis by those that a tensor says are replicated or pending; false: nothing is left. */
static bool clip_by_lists(const looking *l, const tsr_sharding *s, tsr_axis_ref *axis)
{
    const tsr_axis_ref before = *axis;
    const bool left = clip(axis, (axis_view){s->replicated, s->num_replicated}) &&
                      clip(axis, (axis_view){s->unreduced, s->num_unreduced});
    if (!left) {
        tell(l, TSR_DECISION_REPLICATED, -1, before);
    }
    return left;
}

/* What a factor that cannot take an axis keeps of it: its last one, if that is a part. */
static bool keep_last(const looking *l, const factor_state *f, bool takes, tsr_axis_ref *axis)
{
    const tsr_axis_ref *last = f->axes.count > 0 ? &f->axes.refs[f->axes.count - 1] : NULL;
    tell(l, takes ? TSR_DECISION_INDIVISIBLE : TSR_DECISION_CLOSED, -1, *axis);
    if (last == NULL || !tsr_axis_is_prefix(*last, *axis)) {
        return false;
    }
    *axis = *last;
    return true;
}

static bool clip_within(const looking *l, tsr_axis_ref *axis)
{
    const tensor_state *t = &l->p->tensors[l->tensor];
    const factor_state *f = &t->factors[l->factor];
    const tsr_sharding *s = t->sharding;
    if (s != NULL && s->num_replicated + s->num_unreduced > 0 && !clip_by_lists(l, s, axis)) {
        return false;
    }
    if (contains(f->axes, axis)) {
        return true;
    }
    const bool takes = !f->closed && f->overflow.count == 0;
    return (takes && take_what_divides(l, f, axis)) || keep_last(l, f, takes, axis);
}

/* Passes an axis through the tensors; false when nothing is left of it. */
static bool pass_through(projection *p, size_t first, size_t end, size_t factor, int which,
                         int64_t size, tsr_axis_ref *axis)
{
    for (size_t t = first; t < end; t++) {
        const looking l = {p, t, factor, size};
        if ((which & CONFLICTS_ACROSS) != 0 && !clip_across(&l, axis)) {
            return false;
        }
        if ((which & CONFLICTS_WITHIN) != 0 && p->tensors[t].factors[factor].present &&
            !clip_within(&l, axis)) {
            return false;
        }
    }
    return true;
}

/* The first `last` axes of a list, then another one. */
static axis_view end_with(projection *p, axis_view axes, size_t last, tsr_axis_ref axis)
{
    tsr_axis_ref *refs = ARENA_ARRAY(p->scratch, tsr_axis_ref, last + 1);
    if (refs == NULL) {
        p->failed = true;
        return (axis_view){axes.refs, last};
    }
    memcpy(refs, axes.refs, last * sizeof *refs);
    refs[last] = axis;
    return (axis_view){refs, last + 1};
}

/* An axis that was cut is smaller: it still starts where it did. */
axis_view remove_conflicts(projection *p, size_t first, size_t end, size_t factor, int which,
                           axis_view axes)
{
    int64_t size = 1;
    for (size_t i = 0; i < axes.count; i++) {
        tsr_axis_ref axis = axes.refs[i];
        const bool left = pass_through(p, first, end, factor, which, size, &axis);
        if (!left || (p->op->conservative && axis.is_sub != 0)) {
            return (axis_view){axes.refs, i};
        }
        if (axis.size != axes.refs[i].size) {
            return end_with(p, axes, i, axis);
        }
        size *= axis.size;
    }
    return axes;
}
