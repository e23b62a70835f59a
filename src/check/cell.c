/* Cells: what is known of a value along one sub-axis. */
#include "check/check.h"

cell cell_same(void)
{
    return (cell){.kind = CELL_SAME, .dim = NO_DIM};
}

cell cell_varying(int32_t dim, uint32_t origin)
{
    return (cell){.kind = CELL_VARYING, .dim = dim, .origin = origin};
}

cell cell_unknown(const checker *c, size_t axis, uint32_t origin)
{
    return is_manual(c, axis) ? cell_varying(NO_DIM, origin) : cell_same();
}

bool cell_is_shared(cell a)
{
    return a.kind == CELL_ZERO || a.kind == CELL_SAME;
}

bool cell_equal(cell a, cell b)
{
    return a.kind == b.kind && a.dim == b.dim && a.major == b.major &&
           a.contracted == b.contracted && a.exchanged == b.exchanged && a.statistic == b.statistic;
}

/* Origins are those of the first, so that a loop comes to a fixed point. */
cell cell_join(const checker *c, size_t axis, cell a, cell b)
{
    if (a.kind == CELL_ZERO || b.kind == CELL_ZERO) {
        return a.kind == CELL_ZERO ? b : a;
    }
    cell joined = a.origin != 0 || b.origin == 0 ? a : b;
    joined.exchanged = a.exchanged || b.exchanged;
    joined.contracted = a.contracted && b.contracted;
    joined.statistic = (is_statistic(a) || cell_is_shared(a)) &&
                       (is_statistic(b) || cell_is_shared(b)) &&
                       (is_statistic(a) || is_statistic(b));
    if (a.kind == b.kind && a.dim == b.dim && a.major == b.major) {
        joined.kind = a.kind;
        joined.dim = a.dim;
        joined.major = a.major;
        return joined;
    }
    if (!is_manual(c, axis)) {
        return cell_same();
    }
    joined.kind = CELL_VARYING;
    joined.dim = NO_DIM;
    joined.major = 0;
    joined.contracted = false;
    return joined;
}

cell *cells_of(checker *c, uint32_t value)
{
    cell **place = &c->s->cells[value];
    if (*place == NULL) {
        cell *cells = ARENA_ARRAY(c->arena, cell, c->s->count + 1);
        for (size_t a = 0; cells != NULL && a < c->s->count; a++) {
            cells[a] = cell_same();
        }
        *place = cells;
    }
    return *place;
}

tsr_status cells_set(checker *c, uint32_t value, const cell *from)
{
    cell *cells = cells_of(c, value);
    if (cells == NULL) {
        return diag_nomem(c->ctx);
    }
    memmove(cells, from, c->s->count * sizeof *cells);
    return TSR_OK;
}
