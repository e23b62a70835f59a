#include "ops/pending.h"

#include <string.h>

#include "shard/sharding.h"

/* An axis that is pending in some operands. */
typedef struct pending_axis {
    const op_request *r;
    const tsr_sharding *const *operands;
    tsr_axis_ref axis;
    tsr_reduction kind;
} pending_axis;

static bool is_pending(const pending_axis *p, size_t operand)
{
    const tsr_sharding *s = p->operands[operand];
    for (size_t i = 0; s->reduction == p->kind && i < s->num_unreduced; i++) {
        if (tsr_axis_equal(s->unreduced[i], p->axis)) {
            return true;
        }
    }
    return false;
}

/* Whether all devices along the axis have the same of an operand. */
static bool is_replicated(const pending_axis *p, size_t operand)
{
    const tsr_sharding *s = p->operands[operand];
    if (tsr_axes_overlap(&p->axis, 1, s->unreduced, s->num_unreduced)) {
        return false;
    }
    for (size_t d = 0; d < s->rank; d++) {
        if (tsr_axes_overlap(&p->axis, 1, s->dims[d].axes, s->dims[d].num_axes)) {
            return false;
        }
    }
    return true;
}

static spmd_class class_at(const pending_axis *p, size_t operand)
{
    return p->r->row->class_of != NULL ? p->r->row->class_of(p->r, operand, p->kind)
                                       : SPMD_NONLINEAR;
}

/* Linear arguments together: pending in all of them, and replicated in the others. */
static bool stays_in_all(const pending_axis *p)
{
    for (size_t i = 0; i < p->r->num_operands; i++) {
        const bool linear = class_at(p, i) == SPMD_LINEAR;
        if (linear ? !is_pending(p, i) : !is_replicated(p, i)) {
            return false;
        }
    }
    return true;
}

/* A multilinear argument by itself: replicated in all others, or reduced there first. */
static bool stays_in_one(const pending_axis *p, size_t one)
{
    for (size_t i = 0; i < p->r->num_operands; i++) {
        const bool reducible = is_pending(p, i) && i > one;
        if (i != one && !reducible && !is_replicated(p, i)) {
            return false;
        }
    }
    return true;
}

static bool stays(const pending_axis *p, size_t operand)
{
    switch (class_at(p, operand)) {
    case SPMD_LINEAR:
        return stays_in_all(p);
    case SPMD_MULTILINEAR:
        return stays_in_one(p, operand);
    default:
        return false;
    }
}

void choose_pending(const op_request *r, const tsr_sharding *const *operands, kept_axes *kept,
                    tsr_reduction *kind)
{
    bool any = false;
    *kind = TSR_SUM;
    for (size_t i = 0; i < r->num_operands; i++) {
        const tsr_sharding *s = operands[i];
        kept[i].count = 0;
        for (size_t k = 0; k < s->num_unreduced && k < MAX_PENDING; k++) {
            const pending_axis p = {r, operands, s->unreduced[k], s->reduction};
            if ((!any || s->reduction == *kind) && stays(&p, i)) {
                kept[i].axes[kept[i].count++] = s->unreduced[k];
                *kind = s->reduction;
                any = true;
            }
        }
    }
}

tsr_dtype pending_dtype(tsr_dtype dtype, tsr_reduction kind)
{
    const bool narrow = dtype == TSR_F16 || dtype == TSR_BF16;
    return narrow && (kind == TSR_SUM || kind == TSR_AVG) ? TSR_F32 : dtype;
}
