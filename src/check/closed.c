/*
 * Closed dimensions that gather: along automatic axes, what is cut is followed forward from the
 * program's own shardings. A constraint with a closed dimension that lacks an axis which cuts the
 * value there gathers it. That is often meant: weights are gathered before a product, activations
 * where an axis goes over to another dimension. It is not when the value, used once, goes only
 * through ops that have no other use for the axis and is then cut the same way again.
 */
#include "check/check.h"
#include "ir/message.h"

static tsr_status report_closed(checker *c, uint32_t again, uint32_t value, size_t axis, cell a)
{
    const char *name = axis_name(c, axis);
    const report r = {
        .rule = RULE_CLOSED_DIMENSION,
        .op = a.origin,
        .value = value,
        .axis = axis,
        .message = report_text(c,
                               "the sharding closes a dimension that is cut along \"%s\", which "
                               "gathers it, and dimension %d is cut along \"%s\" again later",
                               name, (int)a.dim, name),
        .remedy = report_text(c, "write {\"%s\"} or {?} in this sharding instead of {}", name),
        .notes = {{again, "cut again here"}},
        .num_notes = 1};
    return report_add(c, &r);
}

/* Only what users write counts: op shardings and reshards may be those of a compiler. */
static bool is_constraint(const checker *c, uint32_t op)
{
    return op_is(c->p, op, OP_SDY_SHARDING_CONSTRAINT);
}

/* Whether a value is used once. */
static tsr_status is_used_once(checker *c, uint32_t value, bool *out)
{
    uint32_t count = 0;
    uint32_t user = 0;
    TSR_TRY(value_uses(c->ctx, c->p, value, &count, &user));
    *out = count == 1;
    return TSR_OK;
}

tsr_status keep_single_uses(checker *c, uint32_t value)
{
    cell *cells = c->s->cells[value];
    bool is_single = true;
    for (size_t a = 0; cells != NULL && a < c->s->count; a++) {
        if (cells[a].kind != CELL_GATHERED) {
            continue;
        }
        TSR_TRY(is_used_once(c, value, &is_single));
        if (!is_single) {
            cells[a] = cell_same();
        }
    }
    return TSR_OK;
}

static bool is_replicated(const scope *s, const tsr_sharding *sharding, size_t axis)
{
    for (size_t i = 0; i < sharding->num_replicated; i++) {
        if ((axis_cover(s, sharding->replicated[i]) & axis_bit(axis)) != 0) {
            return true;
        }
    }
    return false;
}

tsr_status apply_sharding(checker *c, uint32_t op, uint32_t value, const tsr_sharding *sharding)
{
    cell *cells = cells_of(c, value);
    if (cells == NULL) {
        return diag_nomem(c->ctx);
    }
    for (size_t a = 0; is_scope_mesh(c, sharding) && a < c->s->count; a++) {
        const int32_t dim = dim_of(c->s, sharding, a);
        const cell before = cells[a];
        if (is_manual(c, a)) {
            continue;
        }
        if (dim != NO_DIM) {
            if (before.kind == CELL_GATHERED && before.dim == dim) {
                TSR_TRY(report_closed(c, op, value, a, before));
            }
            cells[a] = cell_varying(dim, op);
        } else if (is_replicated(c->s, sharding, a)) {
            cells[a] = cell_same();
        } else if (before.kind == CELL_VARYING && (size_t)before.dim < sharding->rank &&
                   !sharding->dims[before.dim].open) {
            cells[a] = cell_same();
            if (is_constraint(c, op)) {
                cells[a] = (cell){.kind = CELL_GATHERED, .dim = before.dim, .origin = op};
            }
        }
    }
    return TSR_OK;
}

tsr_status enter_cell(checker *c, uint32_t op, uint32_t value, const tsr_sharding *sharding,
                      size_t axis, cell *out)
{
    const int32_t dim = is_scope_mesh(c, sharding) ? dim_of(c->s, sharding, axis) : NO_DIM;
    if (out->kind == CELL_GATHERED && dim == out->dim) {
        TSR_TRY(report_closed(c, op, value, axis, *out));
    }
    *out = dim != NO_DIM ? cell_varying(dim, op) : cell_same();
    if (is_scope_mesh(c, sharding) && (unreduced_cover(c->s, sharding) & axis_bit(axis)) != 0) {
        *out = (cell){.kind = CELL_PENDING, .contracted = true, .dim = NO_DIM, .origin = op};
    }
    return TSR_OK;
}
