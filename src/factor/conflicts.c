/* What tensors agree on along a factor, and what keeps them from it. */
#include "base/base.h"
#include "factor/project.h"
#include "shard/sharding.h"

/* The fold over the tensors of a factor. */
typedef struct agreement {
    tsr_axis_list *axes; /* so far */
    tsr_axis_list *next; /* room for the next */
    bool grow;
} agreement;

/* What two axes at the same position give, and whether the lists continue after it. */
typedef enum join_outcome { JOIN_GO_ON, JOIN_STOP_WITH, JOIN_STOP } join_outcome;

static join_outcome join_axes(tsr_axis_ref x, bool more_x, tsr_axis_ref y, bool more_y, bool grow,
                              tsr_axis_ref *out)
{
    *out = y;
    if (x.axis != y.axis) {
        return JOIN_STOP;
    }
    if (tsr_axis_equal(x, y)) {
        return JOIN_GO_ON;
    }
    if (tsr_axis_is_prefix(y, x)) {
        *out = more_y ? y : x;
        return more_y ? JOIN_STOP_WITH : JOIN_GO_ON;
    }
    if (tsr_axis_is_prefix(x, y)) {
        const bool stop = !grow || more_x;
        *out = stop ? x : y;
        return stop ? JOIN_STOP_WITH : JOIN_GO_ON;
    }
    return JOIN_STOP;
}

/* Folds one tensor's axes in. False when they disagree. */
static bool fold(agreement *a, const tsr_axis_list *with)
{
    const tsr_axis_list *l = a->axes;
    tsr_axis_list *out = a->next;
    size_t i = 0;
    bool agree = true;
    out->count = 0;
    for (; agree && i < l->count && i < with->count; i++) {
        tsr_axis_ref ref;
        const join_outcome where = join_axes(l->refs[i], i + 1 < l->count, with->refs[i],
                                             i + 1 < with->count, a->grow, &ref);
        agree = where == JOIN_GO_ON;
        if (where != JOIN_STOP) {
            out->refs[out->count++] = ref;
        }
    }
    for (size_t k = i; agree && k < l->count; k++) {
        out->refs[out->count++] = l->refs[k];
    }
    for (size_t k = i; agree && a->grow && k < with->count; k++) {
        out->refs[out->count++] = with->refs[k];
    }
    a->grow = a->grow && agree;
    a->next = a->axes;
    a->axes = out;
    return agree;
}

/* Folds the operands, or the results, in. */
static void fold_group(projection *p, size_t factor, bool operands, agreement *a, int64_t *source)
{
    const size_t first = operands ? 0 : p->rule->num_operands;
    const size_t end = operands ? p->rule->num_operands : p->num_tensors;
    for (size_t t = first; t < end; t++) {
        const factor_state *f = &p->tensors[t].factors[factor];
        if (!f->present) {
            continue;
        }
        const bool had = a->axes->count > 0;
        if (!fold(a, &f->axes)) {
            const tsr_decision d = {.kind = TSR_DECISION_DISAGREE,
                                    .factor = factor,
                                    .tensor = (int64_t)t,
                                    .other = *source,
                                    .other_factor = -1};
            record(p, d, a->axes->refs, a->axes->count);
        }
        *source = !had && a->axes->count > 0 ? (int64_t)t : *source;
    }
}

tsr_direction direction_of(const projection *p, size_t factor)
{
    if (p->rule->factors[factor].blocked) {
        return TSR_DIRECTION_NONE;
    }
    return p->op->directions != NULL ? p->op->directions[factor] : p->op->direction;
}

void compatible_axes(projection *p, size_t factor, tsr_axis_list *out)
{
    const tsr_direction direction = direction_of(p, factor);
    tsr_axis_list spare = new_axis_list(p);
    out->count = 0;
    if (direction == TSR_DIRECTION_NONE || spare.refs == NULL) {
        p->failed = p->failed || spare.refs == NULL;
        return;
    }
    const bool backward = direction == TSR_DIRECTION_BACKWARD;
    agreement a = {.axes = out, .next = &spare, .grow = true};
    int64_t source = -1;
    fold_group(p, factor, !backward, &a, &source);
    a.grow = a.grow && direction == TSR_DIRECTION_BOTH;
    fold_group(p, factor, backward, &a, &source);
    if (a.axes != out) {
        copy_axes(out, a.axes);
    }
}

/* Cuts an axis by those of a list; false when nothing is left. */
static bool clip(tsr_axis_ref *axis, const tsr_axis_ref *by, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!tsr_axis_prefix_without(*axis, by[i], axis)) {
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

static bool clip_across(const looking *l, tsr_axis_ref *axis)
{
    const tensor_state *t = &l->p->tensors[l->tensor];
    for (size_t g = 0; g < l->p->rule->num_factors; g++) {
        const factor_state *other = &t->factors[g];
        const tsr_axis_ref before = *axis;
        if (g == l->factor || !other->present) {
            continue;
        }
        const bool left = clip(axis, other->overflow.refs, other->overflow.count) &&
                          clip(axis, other->axes.refs, other->axes.count);
        if (!left || !tsr_axis_equal(before, *axis)) {
            tell(l, TSR_DECISION_TAKEN, (int64_t)g, before);
        }
        if (!left) {
            return false;
        }
    }
    return true;
}

static bool contains(const tsr_axis_list *list, tsr_axis_ref axis)
{
    for (size_t i = 0; i < list->count; i++) {
        if (tsr_axis_contains(list->refs[i], axis)) {
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

static bool clip_within(const looking *l, tsr_axis_ref *axis)
{
    const tensor_state *t = &l->p->tensors[l->tensor];
    const factor_state *f = &t->factors[l->factor];
    const tsr_sharding *s = t->sharding;
    const tsr_axis_ref before = *axis;
    if (s != NULL && !(clip(axis, s->replicated, s->num_replicated) &&
                       clip(axis, s->unreduced, s->num_unreduced))) {
        tell(l, TSR_DECISION_REPLICATED, -1, before);
        return false;
    }
    if (contains(&f->axes, *axis)) {
        return true;
    }
    const bool takes = !f->closed && f->overflow.count == 0;
    if (takes && take_what_divides(l, f, axis)) {
        return true;
    }
    const tsr_axis_ref *last = f->axes.count > 0 ? &f->axes.refs[f->axes.count - 1] : NULL;
    tell(l, takes ? TSR_DECISION_INDIVISIBLE : TSR_DECISION_CLOSED, -1, *axis);
    if (last == NULL || !tsr_axis_is_prefix(*last, *axis)) {
        return false;
    }
    *axis = *last;
    return true;
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

void remove_conflicts(projection *p, size_t first, size_t end, size_t factor, int which,
                      tsr_axis_list *axes)
{
    int64_t size = 1;
    for (size_t i = 0; i < axes->count; i++) {
        tsr_axis_ref axis = axes->refs[i];
        const bool left = pass_through(p, first, end, factor, which, size, &axis);
        if (!left || (p->op->conservative && axis.is_sub != 0)) {
            axes->count = i;
            return;
        }
        if (!tsr_axis_equal(axis, axes->refs[i])) {
            axes->refs[i] = axis;
            axes->count = i + 1;
            return;
        }
        size *= axis.size;
    }
}
