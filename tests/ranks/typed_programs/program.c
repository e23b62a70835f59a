#include "program.h"

#include <string.h>

int64_t grid_coordinate(const grid *g, int64_t rank, size_t axis)
{
    if (axis == PROGRAM_AXES) {
        return rank;
    }
    return axis + 1 == g->axes ? rank % g->sizes[axis] : rank / g->sizes[g->axes - 1];
}

int64_t grid_moved(const grid *g, int64_t rank, size_t axis, int64_t place)
{
    const int64_t stride = axis + 1 >= g->axes ? 1 : g->sizes[g->axes - 1];
    return rank + (place - grid_coordinate(g, rank, axis)) * stride;
}

int64_t step_elements(const step *s)
{
    int64_t count = 1;
    for (size_t d = 0; d < s->rank; d++) {
        count *= s->shape[d];
    }
    return count;
}

/* ---- shapes ---- */

static bool same_shape(const step *a, const step *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

static void take_shape(step *s, const step *from)
{
    s->rank = from->rank;
    memcpy(s->shape, from->shape, sizeof s->shape);
}

static bool two_shape(step *s, const step *a, const step *b)
{
    take_shape(s, a->rank > 0 ? a : b);
    switch (s->op) {
    case STEP_MATMUL:
        s->shape[1] = b->shape[1];
        return a->rank == 2 && b->rank == 2 && a->shape[1] == b->shape[0];
    case STEP_CONCATENATE:
        if (a->rank == 0 || !same_shape(a, b)) {
            return false;
        }
        s->dim %= (int64_t)a->rank;
        s->shape[s->dim] *= 2;
        return true;
    default:
        return same_shape(a, b) || a->rank == 0 || b->rank == 0;
    }
}

static bool one_shape(step *s, const step *a)
{
    take_shape(s, a);
    switch (s->op) {
    case STEP_NEGATE:
    case STEP_RELU:
        return true;
    case STEP_SUM: /* dim -1: of everything */
        if (s->dim < 0) {
            s->rank = 0;
            return true;
        }
        if (a->rank == 0) {
            return false;
        }
        s->dim %= (int64_t)a->rank;
        s->rank--;
        memmove(s->shape + s->dim, s->shape + s->dim + 1,
                (s->rank - (size_t)s->dim) * sizeof *s->shape);
        return true;
    case STEP_RESHAPE: /* two dimensions to one and back */
        s->rank = a->rank == 2 ? 1 : 2;
        s->shape[0] = a->rank == 2 ? a->shape[0] * a->shape[1] : a->shape[0] / 2;
        s->shape[1] = 2;
        return a->rank == 2 || (a->rank == 1 && a->shape[0] % 2 == 0);
    case STEP_TRANSPOSE:
        s->shape[0] = a->shape[1];
        s->shape[1] = a->shape[0];
        return a->rank == 2;
    case STEP_SLICE: /* the second half of a dimension */
        if (a->rank == 0 || a->shape[s->dim % (int64_t)a->rank] % 2 != 0) {
            return false;
        }
        s->dim %= (int64_t)a->rank;
        s->shape[s->dim] /= 2;
        return true;
    default:
        return false;
    }
}

/* Whether a call has a source or destination that a dimension is made or cut of. */
static bool takes_apart(const tsr_transition *t)
{
    return t->op == TSR_REDUCE_SCATTER || t->op == TSR_ALL_TO_ALL ||
           (t->op == TSR_CONVERT && t->src.kind != TSR_V && t->dst.kind == TSR_V);
}

static bool puts_together(const tsr_transition *t)
{
    return t->op == TSR_ALL_GATHER || t->op == TSR_ALL_TO_ALL ||
           (t->op == TSR_CONVERT && t->src.kind == TSR_V && t->dst.kind == TSR_P);
}

/* The dimensions of a call; a plain V of an all_to_all that meets S(i) is taken along one. */
static tsr_transition with_dims(tsr_transition t)
{
    const bool meets = (t.src.dim == TSR_NO_DIM) != (t.dst.dim == TSR_NO_DIM);
    if (t.op == TSR_ALL_TO_ALL && meets && t.src.dim == TSR_NO_DIM) {
        t.src.dim = t.gather_dim;
    } else if (t.op == TSR_ALL_TO_ALL && meets) {
        t.dst.dim = t.scatter_dim;
    }
    return t;
}

static bool transition_shape(const program *p, step *s, const step *a)
{
    const tsr_transition with = with_dims(s->what);
    const tsr_transition *t = &with;
    const int64_t n = p->grid.sizes[s->axis];
    take_shape(s, a);
    if (takes_apart(t)) {
        const bool cut = t->dst.dim != TSR_NO_DIM;
        const size_t dim = (size_t)(cut ? t->dst.dim : t->scatter_dim);
        if (dim >= s->rank || (cut ? s->shape[dim] % n != 0 : s->shape[dim] != n)) {
            return false;
        }
        s->shape[dim] /= n;
        if (!cut) {
            memmove(s->shape + dim, s->shape + dim + 1, (s->rank - dim - 1) * sizeof *s->shape);
            s->rank--;
        }
    }
    if (puts_together(t)) {
        const bool cut = t->src.dim != TSR_NO_DIM;
        const size_t dim = (size_t)(cut ? t->src.dim : t->gather_dim);
        if (dim >= s->rank + (cut ? 0 : 1) || s->rank + 1 > PROGRAM_DIMS) {
            return false;
        }
        if (!cut) {
            memmove(s->shape + dim + 1, s->shape + dim, (s->rank - dim) * sizeof *s->shape);
            s->shape[dim] = 1;
            s->rank++;
        }
        s->shape[dim] *= n;
    }
    return true;
}

bool step_shape(const program *p, step *s)
{
    const step *a = &p->steps[s->a];
    const bool fits = s->op == STEP_TRANSITION ? transition_shape(p, s, a)
                      : s->op < STEP_NEGATE    ? two_shape(s, a, &p->steps[s->b])
                                               : one_shape(s, a);
    return fits && s->rank <= 3 && step_elements(s) <= PROGRAM_ELEMENTS && step_elements(s) > 0;
}

/* ---- meanings ---- */

static dual plus(dual a, dual b)
{
    return (dual){a.value + b.value, a.slope + b.slope};
}

static dual times(dual a, dual b)
{
    return (dual){a.value * b.value, a.value * b.slope + a.slope * b.value};
}

static dual scaled(dual a, double by)
{
    return (dual){a.value * by, a.slope * by};
}

void leaf_meaning(const program *p, size_t which, meaning *out)
{
    const leaf *l = &p->leaf[which];
    memset(out, 0, sizeof *out);
    for (int64_t r = 0; r < p->grid.ranks; r++) {
        for (int64_t q = 0; q < p->grid.ranks; q++) {
            bool counts = true;
            for (size_t a = 0; a < p->grid.axes; a++) {
                counts = counts && (l->kinds[a] == TSR_P || grid_coordinate(&p->grid, q, a) ==
                                                                grid_coordinate(&p->grid, r, a));
            }
            for (int64_t e = 0; counts && e < step_elements(&p->steps[which]); e++) {
                out->at[r][e].value += l->has[q][e];
            }
        }
    }
}

/* Extents before, of and after a dimension. */
typedef struct around {
    int64_t before;
    int64_t size;
    int64_t inner;
} around;

static around around_dim(const step *s, int64_t dim)
{
    around a = {1, s->shape[dim], 1};
    for (int64_t d = 0; d < (int64_t)s->rank; d++) {
        a.before *= d < dim ? s->shape[d] : 1;
        a.inner *= d > dim ? s->shape[d] : 1;
    }
    return a;
}

/* Copies `rows` of a dimension from one array to another, each with its place and size there. */
static void copy_rows(const dual *from, int64_t from_size, int64_t first, dual *to, int64_t to_size,
                      int64_t at, int64_t rows, around a)
{
    for (int64_t b = 0; b < a.before; b++) {
        memcpy(to + (b * to_size + at) * a.inner, from + (b * from_size + first) * a.inner,
               (size_t)(rows * a.inner) * sizeof *to);
    }
}

static void local_meaning(const step *s, const step *sa, const step *sb, const dual *a,
                          const dual *b, dual *y)
{
    const int64_t count = step_elements(s);
    around d = {1, 1, 1};
    memset(y, 0, PROGRAM_ELEMENTS * sizeof *y);
    for (int64_t e = 0; e < count; e++) {
        const dual u = a[sa->rank == 0 ? 0 : e];
        const dual v = b[sb->rank == 0 ? 0 : e];
        y[e] = s->op == STEP_ADD       ? plus(u, v)
               : s->op == STEP_SUB     ? plus(u, scaled(v, -1))
               : s->op == STEP_MUL     ? times(u, v)
               : s->op == STEP_NEGATE  ? scaled(u, -1)
               : s->op == STEP_RELU    ? scaled(u, u.value > 0)
               : s->op == STEP_RESHAPE ? u
                                       : y[e];
    }
    switch (s->op) {
    case STEP_MATMUL:
        for (int64_t k = 0; k < count * sa->shape[1]; k++) {
            const int64_t i = k / sa->shape[1] / sb->shape[1];
            const int64_t j = k / sa->shape[1] % sb->shape[1];
            const int64_t m = k % sa->shape[1];
            y[i * sb->shape[1] + j] = plus(y[i * sb->shape[1] + j],
                                           times(a[i * sa->shape[1] + m], b[m * sb->shape[1] + j]));
        }
        break;
    case STEP_CONCATENATE:
        d = around_dim(sa, s->dim);
        copy_rows(a, d.size, 0, y, 2 * d.size, 0, d.size, d);
        copy_rows(b, d.size, 0, y, 2 * d.size, d.size, d.size, d);
        break;
    case STEP_SUM:
        d = s->dim < 0 ? (around){1, step_elements(sa), 1} : around_dim(sa, s->dim);
        for (int64_t e = 0; e < step_elements(sa); e++) {
            dual *to = &y[e / d.inner / d.size * d.inner + e % d.inner];
            *to = plus(*to, a[e]);
        }
        break;
    case STEP_TRANSPOSE:
        for (int64_t e = 0; e < count; e++) {
            y[e] = a[e % sa->shape[0] * sa->shape[1] + e / sa->shape[0]];
        }
        break;
    case STEP_SLICE:
        d = around_dim(sa, s->dim);
        copy_rows(a, d.size, d.size / 2, y, d.size / 2, 0, d.size / 2, d);
        break;
    default:
        break;
    }
}

/* The sum along an axis, for a rank. */
static void sum_along(const grid *g, const meaning *x, int64_t rank, size_t axis, dual *y)
{
    memset(y, 0, PROGRAM_ELEMENTS * sizeof *y);
    for (int64_t i = 0; i < g->sizes[axis]; i++) {
        for (int64_t e = 0; e < PROGRAM_ELEMENTS; e++) {
            y[e] = plus(y[e], x->at[grid_moved(g, rank, axis, i)][e]);
        }
    }
}

/* The part that place `index` of n has along a dimension. */
static void take_part(const dual *x, around a, int64_t n, int64_t index, dual *y)
{
    copy_rows(x, a.size, index * (a.size / n), y, a.size / n, 0, a.size / n, a);
}

/*
 * A call on meanings, for one rank: what is pending is summed in them already, so that only what
 * varies changes: it is summed, cut or put together.
 */
static void transition_meaning(const program *p, const step *s, const meaning *x, int64_t rank,
                               dual *y)
{
    const grid *g = &p->grid;
    const step *before = &p->steps[s->a];
    const tsr_transition with = with_dims(s->what);
    const tsr_transition *t = &with;
    const int64_t n = g->sizes[s->axis];
    const int64_t me = grid_coordinate(g, rank, s->axis);
    const bool from_v = t->src.kind == TSR_V;
    const bool sums = (t->op == TSR_ALL_REDUCE || t->op == TSR_REDUCE_SCATTER ||
                       (t->op == TSR_REINTERPRET && t->dst.kind == TSR_P)) &&
                      from_v;
    dual whole[PROGRAM_ELEMENTS];
    memcpy(whole, x->at[rank], sizeof whole);
    if (sums) {
        sum_along(g, x, rank, s->axis, whole);
    }
    if (t->op == TSR_REINTERPRET && t->dst.kind == TSR_P && !from_v && t->src.kind != TSR_P) {
        for (int64_t e = 0; e < PROGRAM_ELEMENTS; e++) {
            whole[e] = scaled(whole[e], (double)n);
        }
    }
    memcpy(y, whole, sizeof whole);
    const int64_t out_dim = t->dst.dim != TSR_NO_DIM ? t->dst.dim : t->scatter_dim;
    const int64_t in_dim = t->src.dim != TSR_NO_DIM ? t->src.dim : t->gather_dim;
    if (takes_apart(t) && !puts_together(t)) {
        take_part(whole, around_dim(before, out_dim), n, me, y);
    }
    for (int64_t i = 0; puts_together(t) && i < n; i++) {
        const dual *from = x->at[grid_moved(g, rank, s->axis, i)];
        const around to = around_dim(s, in_dim);
        dual part[PROGRAM_ELEMENTS];
        memcpy(part, from, sizeof part);
        if (takes_apart(t)) {
            take_part(from, around_dim(before, out_dim), n, me, part);
        }
        copy_rows(part, to.size / n, 0, y, to.size, i * (to.size / n), to.size / n, to);
    }
}

void step_meaning(const program *p, const step *s, const meaning *values, meaning *out)
{
    for (int64_t r = 0; r < p->grid.ranks; r++) {
        if (s->op == STEP_TRANSITION) {
            transition_meaning(p, s, &values[s->a], r, out->at[r]);
        } else {
            local_meaning(s, &p->steps[s->a], &p->steps[s->b], values[s->a].at[r],
                          values[s->b].at[r], out->at[r]);
        }
    }
    if (s->varies) {
        const meaning each = *out;
        for (int64_t r = 0; r < p->grid.ranks; r++) {
            sum_along(&p->grid, &each, r, s->axis, out->at[r]);
        }
    }
}
