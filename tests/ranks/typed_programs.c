/*
 * The theorem of SPMD types: a program that type-checks means what it would on one device, and so
 * do its gradients; and types are erasable.
 *
 * Random programs are made of steps that the checker lets through, on small integers, so that
 * everything is exact. Every value's meaning is compared with the program run on meanings, every
 * gradient with the derivative there in random directions: of R the gradients are summed, of I and
 * P they are the same on every rank, of V each rank has its own. The same steps without checks, and
 * without the specs of global axes, must give the same bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "eager/typed.h"
#include "kinds.h"
#include "program.h"
#include "want.h"

enum {
    CASES = 700,
    GLOBAL_CASES = 200,
    DRAWS = 60,
    NUM_ENDS = 5,
    PACKED = PROGRAM_VALUES * PROGRAM_ELEMENTS
};
static const double most_value = 1e5;
static const double most_slope = 1e14;
static const char *const names_of_axes[] = {"x", "y", "x,y"};
static int64_t cases_asked;

/* How often each cell was met in what a loss depends on. */
typedef struct coverage {
    int64_t programs;
    int64_t steps;
    int64_t refused;
    int64_t directions;
    int64_t flattened; /* calls along both axes as one */
    int64_t local[STEP_COUNT][TSR_P + 1][TSR_P + 1];
    int64_t moved[TSR_CONVERT + 1][NUM_ENDS][NUM_ENDS];
} coverage;

/* A program under way on this rank. */
typedef struct run {
    tsr_comm *world;
    const tsr_mesh *mesh;
    bool global;
    rng r;
    program p;
    tsr_local_type kinds[PROGRAM_VALUES][PROGRAM_AXES];
    tsr_tensor *tensors[PROGRAM_VALUES];
    meaning *meanings; /* of every value */
    double *packed;    /* what this rank has of all values, then all gradients */
    double *all;       /* and what all ranks have */
    coverage *c;
} run;

/* ---- leaves ---- */

static void make_leaf(run *t)
{
    program *p = &t->p;
    const size_t at = p->count++;
    step *s = &p->steps[at];
    leaf *l = &p->leaf[at];
    const int64_t n = p->grid.sizes[rng_below(&t->r, (int64_t)p->grid.axes)];
    const int64_t extents[] = {2, n, n, 2 * n};
    s->op = STEP_LEAF;
    do {
        s->rank = 1 + (size_t)rng_below(&t->r, 4) / 2 + (size_t)rng_chance(&t->r, 10);
        for (size_t d = 0; d < s->rank; d++) {
            s->shape[d] = extents[rng_below(&t->r, 4)];
        }
    } while (step_elements(s) > PROGRAM_ELEMENTS / 2);
    for (size_t a = 0; a < p->grid.axes; a++) {
        l->kinds[a] = (tsr_local_type)(TSR_R + rng_below(&t->r, 4));
        l->dims[a] =
            t->global && l->kinds[a] == TSR_V ? rng_below(&t->r, (int64_t)s->rank) : TSR_NO_DIM;
    }
    for (int64_t q = 0; q < p->grid.ranks; q++) {
        int64_t first = q;
        for (size_t a = 0; a < p->grid.axes; a++) {
            const bool same = l->kinds[a] == TSR_R || l->kinds[a] == TSR_I;
            first = same ? grid_moved(&p->grid, first, a, 0) : first;
        }
        for (int64_t e = 0; e < step_elements(s); e++) {
            const double fresh = (double)(rng_below(&t->r, 5) - 2);
            l->has[q][e] = first == q ? fresh : l->has[first][e];
        }
    }
}

/* The type of a leaf as text; with places, of the whole value. */
static void type_text(const run *t, size_t which, bool whole, char *text, size_t room)
{
    const step *s = &t->p.steps[which];
    const leaf *l = &t->p.leaf[which];
    size_t at = (size_t)snprintf(text, room, "f64[");
    for (size_t d = 0; d < s->rank; d++) {
        char cuts[32] = "";
        int64_t size = s->shape[d];
        for (size_t a = 0; whole && a < PROGRAM_AXES; a++) {
            if (a < t->p.grid.axes && l->dims[a] == (int64_t)d) {
                const size_t used = strlen(cuts);
                (void)snprintf(cuts + used, sizeof cuts - used, "%s%s", used > 0 ? "," : "@(",
                               names_of_axes[a]);
                size *= t->p.grid.sizes[a];
            }
        }
        at += (size_t)snprintf(text + at, room - at, "%s%lld%s%s", d > 0 ? "," : "",
                               (long long)size, cuts, cuts[0] != '\0' ? ")" : "");
    }
    at += (size_t)snprintf(text + at, room - at, "]{");
    const char *comma = "";
    for (size_t a = 0; a < PROGRAM_AXES; a++) {
        if (a < t->p.grid.axes && (!whole || l->dims[a] == TSR_NO_DIM)) {
            at += (size_t)snprintf(text + at, room - at, "%s%s:%s", comma, names_of_axes[a],
                                   tsr_local_type_name(l->kinds[a]));
            comma = ",";
        }
    }
    (void)snprintf(text + at, room - at, "}");
}

static tsr_status make_leaf_tensor(run *t, size_t which, bool whole)
{
    char text[96];
    const step *s = &t->p.steps[which];
    double *has = t->p.leaf[which].has[tsr_comm_rank(t->world)];
    const tsr_view view = {has, TSR_F64, s->rank, s->shape, NULL};
    type_text(t, which, whole, text, sizeof text);
    TSR_TRY(tsr_typed_value(t->world, &view, text, &t->tensors[which]));
    return tsr_watch(t->tensors[which]);
}

/* ---- steps ---- */

static tsr_status call_transition(const run *t, const step *s, tsr_tensor **out)
{
    typedef tsr_status (*call)(tsr_tensor * x, const char *axis, tsr_end src, tsr_end dst,
                               const tsr_collective_options *options, tsr_tensor **out);
    static const call calls[] = {
        [TSR_ALL_REDUCE] = tsr_all_reduce,         [TSR_ALL_GATHER] = tsr_all_gather,
        [TSR_REDUCE_SCATTER] = tsr_reduce_scatter, [TSR_ALL_TO_ALL] = tsr_all_to_all,
        [TSR_REINTERPRET] = tsr_reinterpret,       [TSR_CONVERT] = tsr_convert_type};
    const tsr_collective_options options = {.dim = s->what.gather_dim};
    return calls[s->what.op](t->tensors[s->a], names_of_axes[s->axis],
                             s->implicit ? TSR_AS(P) : s->what.src, s->what.dst, &options, out);
}

static tsr_status call_step(const run *t, const step *s, tsr_tensor **out)
{
    static const size_t swap[] = {1, 0};
    tsr_tensor *a = t->tensors[s->a];
    tsr_tensor *b = t->tensors[s->b];
    tsr_tensor *const both[] = {a, b};
    const char *axis = names_of_axes[s->axis];
    const size_t rank = t->p.steps[s->a].rank;
    size_t dims[PROGRAM_DIMS] = {0, 1, 2, 3};
    int64_t start[PROGRAM_DIMS] = {0};
    switch (s->op) {
    case STEP_ADD:
        return tsr_add(a, b, out);
    case STEP_SUB:
        return tsr_sub(a, b, out);
    case STEP_MUL:
        return tsr_mul(a, b, out);
    case STEP_MATMUL:
        return s->partial ? tsr_matmul_partial(a, b, axis, out) : tsr_matmul(a, b, out);
    case STEP_CONCATENATE:
        return tsr_concatenate(both, 2, (size_t)s->dim, out);
    case STEP_NEGATE:
        return tsr_negate(a, out);
    case STEP_RELU:
        return tsr_relu(a, out);
    case STEP_SUM:
        dims[0] = s->dim < 0 ? 0 : (size_t)s->dim;
        return s->partial ? tsr_sum_partial(a, dims, s->dim < 0 ? rank : 1, axis, out)
                          : tsr_sum(a, dims, s->dim < 0 ? rank : 1, out);
    case STEP_RESHAPE:
        return tsr_reshape(a, s->shape, s->rank, out);
    case STEP_TRANSPOSE:
        return tsr_transpose(a, swap, out);
    case STEP_SLICE:
        start[s->dim] = s->shape[s->dim];
        return tsr_slice(a, start, t->p.steps[s->a].shape, NULL, out);
    default:
        return call_transition(t, s, out);
    }
}

static bool is_bounded(const run *t, size_t which)
{
    for (int64_t q = 0; q < t->p.grid.ranks; q++) {
        for (int64_t e = 0; e < step_elements(&t->p.steps[which]); e++) {
            if (fabs(t->meanings[which].at[q][e].value) > most_value) {
                return false;
            }
        }
    }
    return true;
}

/* Appends a step if its shapes fit, the checker lets it through and numbers stay small. */
static bool append(run *t, step s)
{
    const size_t at = t->p.count;
    if (at == PROGRAM_VALUES || !step_shape(&t->p, &s)) {
        return false;
    }
    s.varies = s.partial && (t->kinds[s.a][s.axis] == TSR_V ||
                             (s.op == STEP_MATMUL && t->kinds[s.b][s.axis] == TSR_V));
    if (call_step(t, &s, &t->tensors[at]) < 0) {
        tsr_context_clear(tsr_comm_context(t->world));
        t->c->refused++;
        return false;
    }
    t->p.steps[at] = s;
    step_meaning(&t->p, &s, t->meanings, &t->meanings[at]);
    for (size_t a = 0; a < t->p.grid.axes; a++) {
        t->kinds[at][a] = tsr_type_axis(record_of(t->tensors[at])->of.type, a).kind;
    }
    t->p.count += is_bounded(t, at);
    return t->p.count > at;
}

static size_t draw_value(run *t)
{
    const int64_t count = (int64_t)t->p.count;
    return (size_t)(rng_chance(&t->r, 50) ? count - 1 - rng_below(&t->r, min_i64(3, count))
                                          : rng_below(&t->r, count));
}

static tsr_end draw_end(run *t, tsr_local_type kind, size_t rank)
{
    const bool placed = kind == TSR_V && rank > 0 && (t->global || rng_chance(&t->r, 40));
    return (tsr_end){kind, placed ? rng_below(&t->r, (int64_t)rank) : TSR_NO_DIM, TSR_SUM};
}

static step draw_transition(run *t, tsr_transition_op op)
{
    step s = {.op = STEP_TRANSITION, .a = draw_value(t), .what.op = op};
    const size_t rank = t->p.steps[s.a].rank;
    s.axis = (size_t)rng_below(&t->r, (int64_t)t->p.grid.axes);
    const tsr_local_type kind = rng_chance(&t->r, 3) ? TSR_R : t->kinds[s.a][s.axis];
    const bool alike = t->p.grid.axes == 2 && t->kinds[s.a][0] == t->kinds[s.a][1];
    s.axis = alike && rng_chance(&t->r, 50) ? PROGRAM_AXES : s.axis;
    s.what.src = draw_end(t, kind, rank);
    s.what.dst = draw_end(t, (tsr_local_type)(TSR_R + rng_below(&t->r, 4)), rank);
    s.what.gather_dim = s.what.scatter_dim = rng_below(&t->r, (int64_t)rank + 1);
    const bool reduces = op == TSR_ALL_REDUCE || op == TSR_REDUCE_SCATTER;
    s.implicit = reduces && kind == TSR_V && s.what.src.dim == TSR_NO_DIM && !t->global &&
                 rng_chance(&t->r, 30);
    return s;
}

static step draw_local(run *t, step_op op)
{
    step s = {.op = op,
              .a = draw_value(t),
              .b = draw_value(t),
              .axis = (size_t)rng_below(&t->r, (int64_t)t->p.grid.axes),
              .dim = rng_below(&t->r, 4) - 1};
    s.dim = s.op == STEP_SUM ? s.dim : max_i64(s.dim, 0);
    s.partial = (s.op == STEP_SUM || s.op == STEP_MATMUL) && rng_chance(&t->r, 40);
    return s;
}

/* Whether operands are of different types that some op takes. */
static bool may_mix(const run *t, const step *s)
{
    bool differ = false;
    for (size_t a = 0; a < t->p.grid.axes; a++) {
        const tsr_local_type u = t->kinds[s->a][a];
        const tsr_local_type v = t->kinds[s->b][a];
        const bool product = s->op == STEP_MUL || s->op == STEP_MATMUL;
        const bool fine = (u == TSR_R && v == TSR_V) || (u == TSR_V && v == TSR_R) ||
                          (product && ((u == TSR_R && v == TSR_P) || (u == TSR_P && v == TSR_R)));
        differ = differ || fine;
        if (u != v && !fine) {
            return false;
        }
    }
    return differ;
}

/* A step of some op: others are drawn until the shapes fit and, most of the time, a call is there.
 */
static step draw_step(run *t)
{
    const bool moves = rng_chance(&t->r, 60);
    const tsr_transition_op call = (tsr_transition_op)rng_below(&t->r, TSR_CONVERT + 1);
    const step_op op =
        rng_chance(&t->r, 15) ? STEP_MATMUL : (step_op)(STEP_ADD + rng_below(&t->r, STEP_SLICE));
    const bool mixes = !moves && op < STEP_NEGATE && rng_chance(&t->r, 60);
    tsr_context *ctx = tsr_comm_context(t->world);
    step s;
    bool fits = false;
    for (int k = 0; k < 40 && !fits; k++) {
        s = moves ? draw_transition(t, call) : draw_local(t, op);
        step copy = s;
        fits = step_shape(&t->p, &copy) && (!mixes || may_mix(t, &s)) &&
               (!moves || rng_chance(&t->r, 5) ||
                tsr_transition_check(ctx, "x", &s.what, t->p.steps[s.a].rank, TSR_UNGUARDED) ==
                    TSR_OK);
        tsr_context_clear(ctx);
    }
    return s;
}

/* ---- the loss ---- */

/* A number of a value. */
static bool append_total(run *t, size_t value)
{
    for (int k = 0; k < 4; k++) {
        const step s = {.op = STEP_SUM,
                        .a = value,
                        .dim = -1,
                        .partial = t->global && k > 0,
                        .axis = k > 1 ? 1 : 0};
        if (s.axis < t->p.grid.axes && append(t, s)) {
            return true;
        }
    }
    return false;
}

/* The last value becomes I or P along an axis. */
static bool settle_axis(run *t, size_t axis)
{
    const size_t last = t->p.count - 1;
    const tsr_local_type kind = t->kinds[last][axis];
    const bool toss = rng_chance(&t->r, 50);
    step s = {.op = STEP_TRANSITION, .a = last, .axis = axis};
    s.what.src = (tsr_end){kind, TSR_NO_DIM, TSR_SUM};
    s.what.op = kind == TSR_R ? TSR_CONVERT : toss ? TSR_ALL_REDUCE : TSR_REINTERPRET;
    s.what.dst = kind == TSR_R ? (toss ? TSR_AS(I) : TSR_AS(P)) : toss ? TSR_AS(I) : TSR_AS(P);
    return kind == TSR_I || kind == TSR_P || append(t, s);
}

/* Appends a loss: the sum of what was made last, times or plus others where that is allowed. */
static bool finish(run *t)
{
    bool done = append_total(t, t->p.count - 1);
    for (int k = 0; done && k < 3; k++) {
        const size_t so_far = t->p.count - 1;
        if (append_total(t, draw_value(t))) {
            const step s = {.op = k == 0 ? STEP_MUL : STEP_ADD, .a = so_far, .b = t->p.count - 1};
            t->p.count -= append(t, s) ? 0 : t->p.count - 1 - so_far;
        }
    }
    for (size_t a = 0; done && a < t->p.grid.axes; a++) {
        done = settle_axis(t, a);
    }
    return done;
}

static tsr_status generate(run *t, bool *done)
{
    t->p.count = 0;
    t->p.leaves = 3 + (size_t)rng_below(&t->r, 4);
    while (t->p.count < t->p.leaves) {
        make_leaf(t);
    }
    for (size_t i = 0; i < t->p.leaves; i++) {
        memcpy(t->kinds[i], t->p.leaf[i].kinds, sizeof t->kinds[i]);
        leaf_meaning(&t->p, i, &t->meanings[i]);
        TSR_TRY(make_leaf_tensor(t, i, t->global));
    }
    const size_t wanted = t->p.leaves + 10 + (size_t)rng_below(&t->r, 11);
    for (int k = 0; k < DRAWS * 10 && t->p.count < wanted; k++) {
        (void)append(t, draw_step(t));
    }
    *done = finish(t);
    return TSR_OK;
}

/* ---- what came out ---- */

static int64_t pack(run *t, tsr_tensor *const *tensors, size_t count, double *to)
{
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t elements = step_elements(&t->p.steps[i]);
        memcpy(to + total, tsr_tensor_data(tensors[i]), (size_t)elements * sizeof *to);
        total += elements;
    }
    return total;
}

/* Every rank gets what all have. */
static tsr_status exchange(run *t, int64_t first, int64_t count)
{
    const int64_t shape[] = {1, count};
    const int64_t whole[] = {t->p.grid.ranks, count};
    const tsr_view src = {t->packed + first, TSR_F64, 2, shape, NULL};
    const tsr_view dst = {t->all, TSR_F64, 2, whole, NULL};
    return tsr_comm_all_gather(t->world, &src, 0, &dst);
}

/* What a list means on a rank: along axes of `summed` it is added up. */
static double mean_of(const run *t, const tsr_local_type *kinds, tsr_local_type summed,
                      const double *first, int64_t stride, int64_t rank)
{
    double sum = 0;
    for (int64_t q = 0; q < t->p.grid.ranks; q++) {
        bool counts = true;
        for (size_t a = 0; a < t->p.grid.axes; a++) {
            counts = counts && (kinds[a] == summed || grid_coordinate(&t->p.grid, q, a) ==
                                                          grid_coordinate(&t->p.grid, rank, a));
        }
        sum += counts ? first[q * stride] : 0;
    }
    return sum;
}

static tsr_status check_values(run *t, int64_t count)
{
    int64_t at = 0;
    for (size_t v = 0; v < t->p.count; v++) {
        for (int64_t e = 0; e < step_elements(&t->p.steps[v]); e++, at++) {
            for (int64_t q = 0; q < t->p.grid.ranks; q++) {
                const double got = mean_of(t, t->kinds[v], TSR_P, t->all + at, count, q);
                if (got != t->meanings[v].at[q][e].value) {
                    return diag_error(
                        tsr_comm_context(t->world), TSR_ERR_INVALID, NO_LOCATION,
                        "value %zu, step %d, call %d, from %d to %d: element %lld means %g on rank "
                        "%lld, not %g",
                        v, (int)t->p.steps[v].op, (int)t->p.steps[v].what.op,
                        (int)t->p.steps[v].what.src.kind, (int)t->p.steps[v].what.dst.kind,
                        (long long)e, got, (long long)q, t->meanings[v].at[q][e].value);
                }
            }
        }
    }
    return TSR_OK;
}

/* The slope of the loss in a direction of one leaf, where it is what this rank has. */
static double slope_of(run *t, size_t which, const double *direction)
{
    const int64_t me = tsr_comm_rank(t->world);
    for (size_t i = 0; i < t->p.leaves; i++) {
        for (int64_t q = 0; q < t->p.grid.ranks; q++) {
            bool moves = i == which;
            for (size_t a = 0; a < t->p.grid.axes; a++) {
                moves = moves &&
                        (t->p.leaf[i].kinds[a] != TSR_V ||
                         grid_coordinate(&t->p.grid, q, a) == grid_coordinate(&t->p.grid, me, a));
            }
            for (int64_t e = 0; e < step_elements(&t->p.steps[i]); e++) {
                t->meanings[i].at[q][e].slope = moves ? direction[e] : 0;
            }
        }
    }
    for (size_t i = t->p.leaves; i < t->p.count; i++) {
        step_meaning(&t->p, &t->p.steps[i], t->meanings, &t->meanings[i]);
    }
    return t->meanings[t->p.count - 1].at[me][0].slope;
}

static tsr_status check_direction(run *t, size_t which, int64_t at, int64_t count)
{
    const int64_t me = tsr_comm_rank(t->world);
    const int64_t elements = step_elements(&t->p.steps[which]);
    double direction[PROGRAM_ELEMENTS];
    double got = 0;
    for (int64_t e = 0; e < elements; e++) {
        direction[e] = (double)(rng_below(&t->r, 7) - 3);
        got += direction[e] * mean_of(t, t->p.leaf[which].kinds, TSR_R, t->all + at + e, count, me);
    }
    const double wanted = slope_of(t, which, direction);
    t->c->directions++;
    if (got != wanted && fabs(wanted) < most_slope) {
        return diag_error(tsr_comm_context(t->world), TSR_ERR_INVALID, NO_LOCATION,
                          "leaf %zu of types %s and %s: the slope is %g, the gradient says %g",
                          which, tsr_local_type_name(t->p.leaf[which].kinds[0]),
                          tsr_local_type_name(t->p.leaf[which].kinds[1]), wanted, got);
    }
    return TSR_OK;
}

/* What I and P have as gradients is the same along the axis. */
static tsr_status check_same(const run *t, size_t which, int64_t at, int64_t count)
{
    const tsr_local_type *kinds = t->p.leaf[which].kinds;
    for (int64_t e = 0; e < step_elements(&t->p.steps[which]); e++) {
        for (int64_t q = 0; q < t->p.grid.ranks; q++) {
            int64_t first = q;
            for (size_t a = 0; a < t->p.grid.axes; a++) {
                const bool same = kinds[a] == TSR_I || kinds[a] == TSR_P;
                first = same ? grid_moved(&t->p.grid, first, a, 0) : first;
            }
            WANT(t->world, mean_of(t, kinds, TSR_R, t->all + at + e, count, q) ==
                               mean_of(t, kinds, TSR_R, t->all + at + e, count, first));
        }
    }
    return TSR_OK;
}

static tsr_status check_gradients(run *t, int64_t count)
{
    int64_t at = 0;
    for (size_t i = 0; i < t->p.leaves; i++) {
        TSR_TRY(check_same(t, i, at, count));
        for (int k = 0; k < 2; k++) {
            TSR_TRY(check_direction(t, i, at, count));
        }
        at += step_elements(&t->p.steps[i]);
    }
    return TSR_OK;
}

/* The gradients, each of the dual type. */
static tsr_status find_gradients(run *t, tsr_tensor **gradients, bool typed)
{
    static const tsr_local_type dual_of[] = {[TSR_UNTYPED] = TSR_UNTYPED,
                                             [TSR_R] = TSR_P,
                                             [TSR_I] = TSR_I,
                                             [TSR_V] = TSR_V,
                                             [TSR_P] = TSR_R};
    TSR_TRY(tsr_backward(t->tensors[t->p.count - 1]));
    for (size_t i = 0; i < t->p.leaves; i++) {
        TSR_TRY(tsr_gradient(t->tensors[i], &gradients[i]));
        const typed_record *record = record_of(gradients[i]);
        WANT(t->world, !typed || record != NULL);
        for (size_t a = 0; typed && a < t->p.grid.axes; a++) {
            WANT(t->world,
                 tsr_type_axis(record->of.type, a).kind == dual_of[t->p.leaf[i].kinds[a]]);
        }
    }
    return TSR_OK;
}

/* ---- erasure ---- */

/* The same steps in another scope: the bits of values and gradients must be those packed. */
static tsr_status run_again(run *t, const tsr_spmd_scope *scope, double *again, int64_t total)
{
    tsr_tensor *gradients[PROGRAM_VALUES];
    TSR_TRY(tsr_spmd_open(t->world, scope));
    TSR_TRY(tsr_scope_open(t->world));
    TSR_TRY(tsr_tape_begin(t->world));
    for (size_t i = 0; i < t->p.count; i++) {
        TSR_TRY(i < t->p.leaves ? make_leaf_tensor(t, i, false)
                                : call_step(t, &t->p.steps[i], &t->tensors[i]));
    }
    TSR_TRY(find_gradients(t, gradients, !scope->unchecked));
    const int64_t count = pack(t, t->tensors, t->p.count, again);
    WANT(t->world, count + pack(t, gradients, t->p.leaves, again + count) == total);
    tsr_tape_end(t->world);
    tsr_scope_close(t->world);
    tsr_spmd_close(t->world);
    WANT(t->world, memcmp(again, t->packed, (size_t)total * sizeof *again) == 0);
    return TSR_OK;
}

/* ---- coverage ---- */

static int end_index(tsr_end end)
{
    return end.kind == TSR_V && end.dim != TSR_NO_DIM ? NUM_ENDS - 1 : (int)end.kind - TSR_R;
}

/* Counts the steps that the loss depends on: those that a gradient goes back through. */
static void count_steps(const run *t)
{
    bool reached[PROGRAM_VALUES] = {false};
    reached[t->p.count - 1] = true;
    for (size_t i = t->p.count; i-- > t->p.leaves;) {
        const step *s = &t->p.steps[i];
        if (!reached[i]) {
            continue;
        }
        const bool two = s->op < STEP_NEGATE;
        reached[s->a] = true;
        reached[two ? s->b : s->a] = true;
        t->c->steps++;
        if (s->op == STEP_TRANSITION) {
            t->c->flattened += s->axis == PROGRAM_AXES;
            t->c->moved[s->what.op][end_index(s->what.src)][end_index(s->what.dst)]++;
            continue;
        }
        for (size_t a = 0; a < t->p.grid.axes; a++) {
            t->c->local[s->op][t->kinds[s->a][a]][two ? t->kinds[s->b][a] : TSR_UNTYPED]++;
        }
    }
    t->c->programs++;
}

static const char *const op_names[] = {"leaf",   "add",         "sub",       "mul",
                                       "matmul", "concatenate", "negate",    "relu",
                                       "sum",    "reshape",     "transpose", "slice"};
static const char *const end_names[] = {"R", "I", "V", "P", "S"};

/* The cells that a program can reach, and that were not met; printed with their counts. */
static int64_t print_local(const coverage *c)
{
    int64_t missed = 0;
    for (int op = STEP_ADD; op < STEP_TRANSITION; op++) {
        const bool two = op < STEP_NEGATE;
        printf("%-12s", op_names[op]);
        for (int k = 0; k < (two ? 16 : 4); k++) {
            const int a = TSR_R + (two ? k / 4 : k);
            const int b = two ? TSR_R + k % 4 : TSR_UNTYPED;
            const bool product = op == STEP_MUL || op == STEP_MATMUL;
            const bool sums = a == TSR_P && b == TSR_P && !product;
            const bool scales =
                product && ((a == TSR_P && b == TSR_R) || (a == TSR_R && b == TSR_P));
            const bool plain = (a == TSR_R || a == TSR_V) && (b == TSR_R || b == TSR_V);
            const bool reachable = two ? plain || sums || scales || (a == TSR_I && b == TSR_I)
                                       : a != TSR_P || op != STEP_RELU;
            if (reachable) {
                printf(" %s%s %lld", tsr_local_type_name((tsr_local_type)a),
                       two ? tsr_local_type_name((tsr_local_type)b) : "",
                       (long long)c->local[op][a][b]);
            }
            missed += reachable ? c->local[op][a][b] < 2 : c->local[op][a][b] > 0;
        }
        printf("\n");
    }
    return missed;
}

static int64_t print_moved(tsr_context *ctx, const coverage *c)
{
    int64_t missed = 0;
    for (int op = 0; op <= TSR_CONVERT; op++) {
        printf("%-15s", tsr_transition_name((tsr_transition_op)op));
        for (int k = 0; k < NUM_ENDS * NUM_ENDS; k++) {
            tsr_transition what = {.op = (tsr_transition_op)op};
            tsr_end *sides[] = {&what.src, &what.dst};
            for (int side = 0; side < 2; side++) {
                const int end = side == 0 ? k / NUM_ENDS : k % NUM_ENDS;
                *sides[side] = end == NUM_ENDS - 1
                                   ? TSR_AS_S(0)
                                   : (tsr_end){(tsr_local_type)(TSR_R + end), TSR_NO_DIM, TSR_SUM};
            }
            const bool there = tsr_transition_check(ctx, "x", &what, 2, TSR_UNGUARDED) == TSR_OK;
            const int64_t met = c->moved[op][k / NUM_ENDS][k % NUM_ENDS];
            tsr_context_clear(ctx);
            if (there) {
                printf(" %s->%s %lld", end_names[k / NUM_ENDS], end_names[k % NUM_ENDS],
                       (long long)met);
            }
            missed += there ? met < 2 : met > 0;
        }
        printf("\n");
    }
    return missed;
}

/* ---- runs ---- */

static tsr_status run_program(run *t)
{
    const tsr_axis_set all_axes = {UINT64_C(3)};
    const tsr_spmd_scope scope = {.mesh = t->mesh,
                                  .global = t->global ? all_axes : (tsr_axis_set){0}};
    tsr_tensor *gradients[PROGRAM_VALUES];
    bool done = false;
    TSR_TRY(tsr_spmd_open(t->world, &scope));
    TSR_TRY(tsr_scope_open(t->world));
    TSR_TRY(tsr_tape_begin(t->world));
    TSR_TRY(generate(t, &done));
    int64_t count = 0;
    int64_t total = 0;
    if (done) {
        count = pack(t, t->tensors, t->p.count, t->packed);
        TSR_TRY(exchange(t, 0, count));
        TSR_TRY(check_values(t, count));
        TSR_TRY(find_gradients(t, gradients, true));
        total = count + pack(t, gradients, t->p.leaves, t->packed + count);
        TSR_TRY(exchange(t, count, total - count));
        TSR_TRY(check_gradients(t, total - count));
        count_steps(t);
    }
    tsr_tape_end(t->world);
    tsr_scope_close(t->world);
    tsr_spmd_close(t->world);
    double *again = t->all;
    if (done) {
        TSR_TRY(run_again(t, &(tsr_spmd_scope){.mesh = t->mesh, .unchecked = true}, again, total));
    }
    if (done && t->global) {
        TSR_TRY(run_again(t, &(tsr_spmd_scope){.mesh = t->mesh}, again, total));
    }
    return TSR_OK;
}

static tsr_status run_cases(run *t, tsr_arena *arena, const rng *base, int64_t cases)
{
    for (int64_t i = 0; i < cases; i++) {
        char text[48];
        grid *g = &t->p.grid;
        t->r = rng_case(base, (uint64_t)i);
        g->ranks = tsr_comm_size(t->world);
        g->axes = 1 + (size_t)rng_chance(&t->r, 50);
        g->sizes[0] = g->axes == 1 ? g->ranks : g->ranks == 4 ? 2 : 1;
        g->sizes[1] = g->axes == 1 ? 1 : g->ranks / g->sizes[0];
        g->sizes[PROGRAM_AXES] = g->ranks;
        (void)snprintf(text, sizeof text, g->axes == 1 ? "<[\"x\"=%d]>" : "<[\"x\"=%d, \"y\"=%d]>",
                       (int)g->sizes[0], (int)g->sizes[1]);
        TSR_TRY(tsr_mesh_parse(tsr_comm_context(t->world), arena, text, &t->mesh));
        const tsr_status status = run_program(t);
        if (status < 0) {
            (void)fprintf(stderr, "case %lld of %lld ranks, %s\n", (long long)i,
                          (long long)g->ranks, t->global ? "global" : "local");
            return status;
        }
    }
    return TSR_OK;
}

/* What every rank does. */
typedef struct job {
    rng base;
    bool global;
} job;

static tsr_status print_coverage(tsr_comm *world, const coverage *c, bool global, bool whole)
{
    const int64_t ranks = tsr_comm_size(world);
    printf("%lld ranks, %s: %lld programs, %lld steps that gradients go through, %lld refused, "
           "%lld directions, %lld calls along two axes\n",
           (long long)ranks, global ? "global" : "local", (long long)c->programs,
           (long long)c->steps, (long long)c->refused, (long long)c->directions,
           (long long)c->flattened);
    const bool covers = whole && !global && ranks > 1;
    const int64_t missed = covers ? print_local(c) + print_moved(tsr_comm_context(world), c) : 0;
    WANT(world, missed == 0);
    return TSR_OK;
}

static tsr_status run_rank(tsr_comm *world, void *state)
{
    const job *j = state;
    const int64_t wanted = j->global ? GLOBAL_CASES : CASES;
    const int64_t cases = prop_cases(cases_asked > 0 ? cases_asked : wanted);
    coverage c = {0};
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    run *t = calloc(1, sizeof *t);
    meaning *meanings = calloc(PROGRAM_VALUES, sizeof *meanings);
    double *packed = calloc((size_t)2 * PACKED, sizeof *packed);
    double *all = calloc((size_t)2 * PACKED * PROGRAM_RANKS, sizeof *all);
    tsr_status status = TSR_ERR_NOMEM;
    if (t != NULL && meanings != NULL && packed != NULL && all != NULL) {
        *t = (run){.world = world,
                   .global = j->global,
                   .meanings = meanings,
                   .packed = packed,
                   .all = all,
                   .c = &c};
        status = run_cases(t, arena, &j->base, cases);
    }
    free(t);
    free(meanings);
    free(packed);
    free(all);
    tsr_arena_destroy(arena);
    return status < 0 || tsr_comm_rank(world) != 0
               ? status
               : print_coverage(world, &c, j->global, cases >= wanted);
}

static void run_all(fixture *f, bool global)
{
    size_t at = 0;
    int64_t count;
    job j = {rng_start(global ? "global programs" : "local programs"), global};
    while (kinds_next_count(&at, PROGRAM_RANKS, &count)) {
        const tsr_launch_spec spec = {.num_ranks = count, .ranks = kinds_chosen()};
        if (count <= PROGRAM_RANKS) {
            expect_ranks(f, &spec, run_rank, &j);
        }
    }
}

static void programs_mean_what_one_device_does(void **state)
{
    run_all(*state, false);
}

static void specs_can_be_forgotten(void **state)
{
    run_all(*state, true);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(programs_mean_what_one_device_does),
                                       TEST(specs_can_be_forgotten)};
    cases_asked = argc > 2 ? atoll(argv[2]) : 0;
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
