#include "tapes.h"

#include <stdio.h>
#include <string.h>

#include <tessera/gradient.h>
#include <tessera/optimizer.h>

#include "memory_transport.h"
#include "want.h"

#include "base/base.h"
#include "rt/comm.h"

enum { ROWS = 6, COLUMNS = 4, ELEMENTS = ROWS * COLUMNS, NUM_CUBES = 5 };

/* Layouts of [6, 4], each with its place in the list. */
enum layout_name {
    WHOLE,
    BY_ROWS,
    BY_COLUMNS,
    PENDING,
    DYNAMIC,
    OTHER_DYNAMIC,
    UNALIGNED,
    LAYOUTS
};

typedef struct scene {
    const tsr_sharding *at[LAYOUTS];
    const tsr_sharding *cubes[NUM_CUBES]; /* of rank 3; the first is whole */
} scene;

static const int64_t shape[] = {ROWS, COLUMNS};
static const size_t both_dims[] = {0, 1};

static double value_at(int64_t place, int64_t salt)
{
    return (double)((place * 7 + salt * 5) % 9 - 4);
}

typedef struct filling {
    const int64_t *shape;
    size_t rank;
    int64_t salt;
    bool first; /* of those that have a sum pending; the others have nothing */
} filling;

static void fill_element(const int64_t *index, void *element, void *state)
{
    const filling *how = state;
    int64_t place = 0;
    for (size_t d = 0; d < how->rank; d++) {
        place = place * how->shape[d] + index[d];
    }
    const double value = how->first ? value_at(place, how->salt) : 0;
    memcpy(element, &value, sizeof value);
}

static tsr_status make_of(tsr_comm *world, const tsr_tensor_spec *spec, int64_t salt,
                          tsr_tensor **out)
{
    size_t num_pending;
    (void)tsr_sharding_unreduced(spec->sharding, &num_pending);
    filling how = {spec->shape, spec->rank, salt, num_pending == 0 || tsr_comm_rank(world) == 0};
    TSR_TRY(tsr_tensor_create(world, spec, out));
    tsr_tensor_fill(*out, fill_element, &how);
    return TSR_OK;
}

static tsr_status make(tsr_comm *world, const tsr_sharding *sharding, int64_t salt,
                       tsr_tensor **out)
{
    const tsr_tensor_spec spec = {sharding, TSR_F64, 2, shape};
    return make_of(world, &spec, salt, out);
}

/* The sum of all elements. */
static tsr_status sum_of(tsr_tensor *t, tsr_tensor **out)
{
    return tsr_sum(t, both_dims, 2, out);
}

/* The numbers of a watched tensor's gradient, all of them. */
static tsr_status gradient_of(tsr_tensor *t, double *all)
{
    tsr_tensor *g = NULL;
    TSR_TRY(tsr_gradient(t, &g));
    return tsr_tensor_to_full(g, -1, all);
}

/* ---- what is noted ---- */

static tsr_status uses_add_up(tsr_comm *world, const scene *s)
{
    for (size_t at = WHOLE; at <= PENDING; at++) {
        tsr_tensor *a = NULL;
        tsr_tensor *square = NULL;
        tsr_tensor *fourth = NULL;
        tsr_tensor *y = NULL;
        tsr_tensor *loss = NULL;
        double of_a[ELEMENTS];
        double of_square[ELEMENTS];
        TSR_TRY(make(world, s->at[at], 1, &a));
        TSR_TRY(tsr_tape_begin(world));
        TSR_TRY(tsr_watch(a));
        TSR_TRY(tsr_mul(a, a, &square));
        TSR_TRY(tsr_watch(square)); /* a value on the way */
        TSR_TRY(tsr_mul(square, square, &fourth));
        TSR_TRY(tsr_add(fourth, a, &y));
        TSR_TRY(sum_of(y, &loss));
        TSR_TRY(tsr_backward(loss));
        TSR_TRY(gradient_of(a, of_a));
        TSR_TRY(gradient_of(square, of_square));
        for (int64_t i = 0; i < ELEMENTS; i++) {
            const double x = value_at(i, 1);
            WANT(world, of_a[i] == 4 * x * x * x + 1);
            WANT(world, of_square[i] == 2 * x * x);
        }
        tsr_tape_end(world);
        tsr_tensor_release(a);
    }
    return TSR_OK;
}

/* An inner tape records by itself; the outer one continues after it, with the same tensors too. */
static tsr_status tapes_nest(tsr_comm *world, const scene *s)
{
    tsr_tensor *a = NULL;
    tsr_tensor *b = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    double all[ELEMENTS];
    TSR_TRY(make(world, s->at[BY_ROWS], 1, &a));
    TSR_TRY(make(world, s->at[BY_COLUMNS], 2, &b));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(b));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_mul(a, b, &y));
    TSR_TRY(sum_of(y, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(gradient_of(b, all));
    for (int64_t i = 0; i < ELEMENTS; i++) {
        WANT(world, all[i] == value_at(i, 1));
    }
    TSR_TRY(gradient_of(a, all));
    for (int64_t i = 0; i < ELEMENTS; i++) {
        WANT(world, all[i] == value_at(i, 2));
    }
    tsr_tape_end(world);
    TSR_TRY(tsr_mul(a, a, &y));
    TSR_TRY(sum_of(y, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(gradient_of(a, all));
    for (int64_t i = 0; i < ELEMENTS; i++) {
        WANT(world, all[i] == 2 * value_at(i, 1));
    }
    WANT(world, tsr_gradient(b, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the recording tape does not watch the tensor"));
    tsr_tape_end(world);
    tsr_tensor_release(a);
    tsr_tensor_release(b);
    return TSR_OK;
}

static tsr_status pauses_note_nothing(tsr_comm *world, const scene *s)
{
    tsr_tensor *a = NULL;
    tsr_tensor *unused = NULL;
    tsr_tensor *square = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    double all[ELEMENTS];
    TSR_TRY(make(world, s->at[BY_ROWS], 3, &a));
    TSR_TRY(make(world, s->at[BY_ROWS], 4, &unused));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_watch(unused));
    tsr_tape_pause(world);
    tsr_tape_pause(world);
    tsr_tape_resume(world);
    TSR_TRY(tsr_mul(a, a, &square)); /* still paused */
    tsr_tape_resume(world);
    TSR_TRY(tsr_mul(square, a, &y));
    TSR_TRY(sum_of(y, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(gradient_of(a, all));
    for (int64_t i = 0; i < ELEMENTS; i++) {
        WANT(world, all[i] == value_at(i, 3) * value_at(i, 3));
    }
    TSR_TRY(gradient_of(unused, all));
    for (int64_t i = 0; i < ELEMENTS; i++) {
        WANT(world, all[i] == 0);
    }
    tsr_tape_end(world);
    tsr_tensor_release(a);
    tsr_tensor_release(unused);
    return TSR_OK;
}

/* A copy is a constant: half of the product's gradient, and it stays when the tensor changes. */
static tsr_status stopped_gradients(tsr_comm *world, const scene *s)
{
    for (size_t at = BY_ROWS; at <= PENDING; at++) {
        tsr_tensor *a = NULL;
        tsr_tensor *constant = NULL;
        tsr_tensor *y = NULL;
        tsr_tensor *loss = NULL;
        double all[ELEMENTS];
        TSR_TRY(make(world, s->at[at], 3, &a));
        WANT(world, !tsr_tensor_is_recorded(a));
        TSR_TRY(tsr_tape_begin(world));
        WANT(world, !tsr_tensor_is_recorded(a));
        TSR_TRY(tsr_watch(a));
        TSR_TRY(tsr_stop_gradient(a, &constant));
        TSR_TRY(tsr_mul(constant, a, &y));
        TSR_TRY(sum_of(y, &loss));
        WANT(world, tsr_tensor_is_recorded(a) && tsr_tensor_is_recorded(loss));
        WANT(world, !tsr_tensor_is_recorded(constant));
        tsr_tape_pause(world);
        WANT(world, !tsr_tensor_is_recorded(a));
        tsr_tape_resume(world);
        TSR_TRY(tsr_tape_begin(world));
        WANT(world, tsr_tensor_is_recorded(a)); /* by the outer tape */
        tsr_tape_end(world);
        TSR_TRY(tsr_backward(loss));
        WANT(world, tsr_tensor_is_recorded(a) && !tsr_tensor_is_recorded(loss));
        TSR_TRY(gradient_of(a, all));
        for (int64_t i = 0; i < ELEMENTS; i++) {
            WANT(world, all[i] == value_at(i, 3));
        }
        tsr_tape_end(world);
        if (at != PENDING) { /* which no optimizer takes */
            TSR_TRY(tsr_sgd_step(a, a, &(tsr_sgd_options){.learning_rate = 1}, NULL));
        }
        TSR_TRY(tsr_tensor_to_full(constant, -1, all));
        for (int64_t i = 0; i < ELEMENTS; i++) {
            WANT(world, all[i] == value_at(i, 3));
        }
        tsr_tensor_release(a);
    }
    return TSR_OK;
}

/* ---- what is refused ---- */

static tsr_status refusals(tsr_comm *world, const scene *s)
{
    tsr_tensor *a = NULL;
    tsr_tensor *b = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    TSR_TRY(make(world, s->at[BY_ROWS], 1, &a));
    TSR_TRY(make(world, s->at[BY_ROWS], 2, &b));
    WANT(world, tsr_watch(a) == TSR_ERR_INVALID);
    WANT(world, heard(world, "no tape is recording"));
    TSR_TRY(sum_of(b, &loss));
    WANT(world, tsr_backward(loss) == TSR_ERR_INVALID);
    WANT(world, heard(world, "no tape is recording"));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(sum_of(b, &loss));
    WANT(world, tsr_backward(loss) == TSR_ERR_INVALID);
    WANT(world, heard(world, "does not depend on a watched tensor"));
    TSR_TRY(tsr_mul(a, b, &y));
    WANT(world, tsr_backward(y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the loss must be one floating-point number, got: f64[6,4]"));
    TSR_TRY(sum_of(y, &loss));
    WANT(world, tsr_backward_from(loss, y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "a cotangent f64[6,4] of a value f64[]"));
    TSR_TRY(tsr_backward(loss));
    WANT(world, tsr_backward(loss) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the backward of this tape has already run"));
    TSR_TRY(tsr_argmax(a, 1, &y));
    WANT(world, tsr_watch(y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "only tensors of floats and complex numbers have gradients"));
    tsr_tape_end(world);
    tsr_tensor_release(a);
    tsr_tensor_release(b);
    return TSR_OK;
}

/* ---- code of the program's own ---- */

/* What a region does wrong, at its first or at its second call. */
typedef enum fault {
    NO_FAULT,
    NO_OUTPUT,
    NO_OUTPUT_AGAIN,
    OTHER_OP_AGAIN,
    OTHER_SHAPE_AGAIN,
    BEGINS_TAPE,
    ENDS_TAPE,
    WRONG_SHAPE, /* from here on: of a backward */
    WRONG_DTYPE,
    BACKWARD_WITHIN
} fault;

typedef struct misbehaviour {
    fault which;
    int calls;
    tsr_tensor *loss;
} misbehaviour;

static tsr_status wrong_region(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                               void *state)
{
    misbehaviour *m = state;
    const bool again = m->calls++ > 0;
    static const int64_t turned[] = {COLUMNS, ROWS};
    if (m->which == NO_OUTPUT || (again && m->which == NO_OUTPUT_AGAIN)) {
        return TSR_OK;
    }
    if (m->which == BEGINS_TAPE) {
        TSR_TRY(tsr_tape_begin(world));
    }
    if (m->which == ENDS_TAPE) {
        tsr_tape_end(world);
    }
    if (again && m->which == OTHER_OP_AGAIN) {
        return tsr_add(inputs[0], inputs[0], outputs);
    }
    TSR_TRY(tsr_mul(inputs[0], inputs[0], outputs));
    return again && m->which == OTHER_SHAPE_AGAIN ? tsr_reshape(outputs[0], turned, 2, outputs)
                                                  : TSR_OK;
}

static tsr_status wrong_backward(tsr_comm *world, void *state, tsr_tensor *const *inputs,
                                 tsr_tensor *const *cotangents, tsr_tensor **gradients)
{
    const misbehaviour *m = state;
    const size_t first = 0;
    switch (m->which) {
    case WRONG_SHAPE:
        return tsr_sum(cotangents[0], &first, 1, gradients);
    case WRONG_DTYPE:
        return tsr_convert(cotangents[0], TSR_F32, gradients);
    case BEGINS_TAPE:
        TSR_TRY(tsr_tape_begin(world));
        break;
    case ENDS_TAPE:
        tsr_tape_end(world);
        break;
    case BACKWARD_WITHIN:
        TSR_TRY(tsr_backward(m->loss));
        break;
    default:
        break;
    }
    return tsr_mul(inputs[0], cotangents[0], gradients);
}

/* A loss through a region, or through an op whose backward is the program's own. */
static tsr_status through(tsr_comm *world, tsr_tensor *a, misbehaviour *m, bool own,
                          tsr_status *forward)
{
    const tsr_custom_op op = {.name = "own op", .backward = wrong_backward, .state = m};
    tsr_tensor *y = NULL;
    TSR_TRY(tsr_watch(a));
    if (own) {
        TSR_TRY(tsr_add(a, a, &y));
        TSR_TRY(tsr_mul(y, y, &y));
        tsr_tensor *made = NULL;
        tsr_tape_pause(world);
        TSR_TRY(tsr_add(y, y, &made));
        tsr_tape_resume(world);
        *forward = tsr_tape_custom(&op, &y, 1, &made, 1);
        y = made;
    } else {
        *forward = tsr_recompute(world, wrong_region, m, &a, 1, &y, 1);
    }
    if (*forward < 0) {
        return *forward;
    }
    TSR_TRY(sum_of(y, &m->loss));
    return tsr_backward(m->loss);
}

static tsr_status callbacks(tsr_comm *world, const scene *s)
{
    static const struct {
        fault which;
        bool own;
        bool at_once; /* the call fails, not the backward */
        const char *message;
    } rows[] = {
        {NO_FAULT, false, false, NULL},
        {NO_FAULT, true, false, NULL},
        {NO_OUTPUT, false, true, "the region did not set output 0"},
        {NO_OUTPUT_AGAIN, false, false, "the region did not set output 0"},
        {OTHER_OP_AGAIN, false, false, "made other calls than before"},
        {OTHER_SHAPE_AGAIN, false, false, "returned f64[4,6] as output 0, which was f64[6,4]"},
        {BEGINS_TAPE, false, true, "the function began a tape and did not end it"},
        {ENDS_TAPE, false, true, "the function ended a tape that its caller began"},
        {WRONG_SHAPE, true, false, "gave a gradient f64[4] for input 0, f64[6,4]"},
        {WRONG_DTYPE, true, false, "gave a gradient f32[6,4] for input 0, f64[6,4]"},
        {BEGINS_TAPE, true, false, "own op: the function began a tape and did not end it"},
        {ENDS_TAPE, true, false, "own op: the function ended a tape that its caller began"},
        {BACKWARD_WITHIN, true, false, "the tape is in use"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        misbehaviour m = {.which = rows[i].which};
        tsr_tensor *a = NULL;
        tsr_status forward = TSR_OK;
        double all[ELEMENTS];
        TSR_TRY(make(world, s->at[BY_ROWS], 1, &a));
        TSR_TRY(tsr_tape_begin(world));
        const tsr_status status = through(world, a, &m, rows[i].own, &forward);
        WANT(world, status == (rows[i].message == NULL ? TSR_OK : TSR_ERR_INVALID));
        WANT(world, (forward < 0) == rows[i].at_once);
        WANT(world, rows[i].message == NULL || heard(world, rows[i].message));
        tsr_tape_end(world);
        WANT(world, tsr_watch(a) == TSR_ERR_INVALID && heard(world, "no tape is recording"));
        misbehaviour fine = {.which = NO_FAULT}; /* nothing is left of it */
        TSR_TRY(tsr_tape_begin(world));
        TSR_TRY(through(world, a, &fine, false, &forward));
        TSR_TRY(gradient_of(a, all));
        WANT(world, all[3] == 2 * value_at(3, 1));
        tsr_tape_end(world);
        tsr_tensor_release(a);
    }
    return TSR_OK;
}

/* A gradient of a gradient is refused where it is asked for, not lost. */
static tsr_status second_derivatives(tsr_comm *world, const scene *s)
{
    tsr_tensor *a = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    tsr_tensor *g = NULL;
    double all[ELEMENTS];
    TSR_TRY(make(world, s->at[BY_ROWS], 1, &a));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_mul(a, a, &y));
    TSR_TRY(sum_of(y, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(tsr_gradient(a, &g));
    tsr_tape_end(world);
    TSR_TRY(tsr_mul(g, a, &y)); /* both ways to a: one of them is through the gradient */
    TSR_TRY(sum_of(y, &loss));
    WANT(world, tsr_backward(loss) == TSR_ERR_UNSUPPORTED);
    WANT(world, heard(world, "second derivatives are not supported"));
    tsr_tape_end(world);
    TSR_TRY(tsr_tape_begin(world)); /* as a number of its own it is like any other */
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_mul(g, a, &y));
    TSR_TRY(sum_of(y, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(gradient_of(a, all));
    WANT(world, all[5] == 2 * value_at(5, 1));
    tsr_tape_end(world);
    tsr_tensor_release(a);
    return TSR_OK;
}

/* ---- scatters ---- */

/*
 * Rows 0, 0 and 2 of x get the three rows of u: by hand, element by element. Zeros and equal
 * elements are among them.
 */
static void scattered(tsr_scatter_op op, const double *x, const double *u, double *of_x,
                      double *of_u)
{
    static const int64_t rows[] = {0, 0, 2};
    for (int64_t i = 0; i < ELEMENTS; i++) {
        double parts[4] = {x[i]};
        int64_t from[4] = {-1};
        int64_t count = 1;
        for (int64_t k = 0; k < 3; k++) {
            if (rows[k] == i / COLUMNS) {
                from[count] = k * COLUMNS + i % COLUMNS;
                parts[count++] = u[k * COLUMNS + i % COLUMNS];
            }
        }
        double best = parts[0];
        int64_t winners = 0;
        for (int64_t k = 0; k < count; k++) {
            const bool better = op == TSR_SCATTER_MAX ? parts[k] > best : parts[k] < best;
            best = better ? parts[k] : best;
        }
        for (int64_t k = 0; k < count; k++) {
            winners += parts[k] == best ? 1 : 0;
        }
        for (int64_t k = 0; k < count; k++) {
            double product = 1;
            for (int64_t n = 0; n < count; n++) {
                product *= n == k ? 1 : parts[n];
            }
            const double share = parts[k] == best ? 1 / (double)winners : 0;
            const double g = (double)(i + 1) * (op == TSR_SCATTER_MUL ? product : share);
            *(from[k] < 0 ? &of_x[i] : &of_u[from[k]]) = g;
        }
    }
}

static tsr_status scatter_gradients(tsr_comm *world, const scene *s)
{
    static const tsr_scatter_op ops[] = {TSR_SCATTER_MUL, TSR_SCATTER_MAX, TSR_SCATTER_MIN};
    static const int64_t three[] = {3, COLUMNS};
    static const int64_t count[] = {3};
    static const int64_t rows[] = {0, 0, 2};
    double x[ELEMENTS];
    double u[3 * COLUMNS];
    double g[ELEMENTS];
    for (int64_t i = 0; i < ELEMENTS; i++) {
        x[i] = (double)(i % 3); /* zeros, and elements equal to updates */
        g[i] = (double)(i + 1);
    }
    for (int64_t i = 0; i < 3 * COLUMNS; i++) {
        u[i] = (double)(i % 4) - 1;
    }
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
        const tsr_sharding *one = NULL;
        tsr_tensor *t[4] = {NULL};
        tsr_tensor *y = NULL;
        double of_x[ELEMENTS] = {0};
        double of_u[3 * COLUMNS] = {0};
        double found[ELEMENTS];
        tsr_arena *arena = NULL;
        TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
        TSR_TRY(tsr_sharding_replicated_over(tsr_comm_context(world), arena,
                                             tsr_sharding_mesh(s->at[WHOLE]), 1, false, &one));
        const tsr_tensor_spec specs[] = {{s->at[BY_COLUMNS], TSR_F64, 2, shape},
                                         {one, TSR_I64, 1, count},
                                         {s->at[BY_COLUMNS], TSR_F64, 2, three},
                                         {s->at[WHOLE], TSR_F64, 2, shape}};
        const void *const full[] = {x, rows, u, g};
        for (size_t i = 0; i < 4; i++) {
            TSR_TRY(tsr_tensor_from_full(world, &specs[i], -1, full[i], &t[i]));
        }
        TSR_TRY(tsr_tape_begin(world));
        TSR_TRY(tsr_watch(t[0]));
        TSR_TRY(tsr_watch(t[2]));
        TSR_TRY(tsr_scatter(t[0], t[1], t[2], 0, ops[k], &y));
        TSR_TRY(tsr_backward_from(y, t[3]));
        scattered(ops[k], x, u, of_x, of_u);
        TSR_TRY(gradient_of(t[0], found));
        for (int64_t i = 0; i < ELEMENTS; i++) {
            WANT(world, found[i] == of_x[i]);
        }
        TSR_TRY(gradient_of(t[2], found));
        for (int64_t i = 0; i < 3 * COLUMNS; i++) {
            WANT(world, found[i] == of_u[i]);
        }
        tsr_tape_end(world);
        for (size_t i = 0; i < 4; i++) {
            tsr_tensor_release(t[i]);
        }
        tsr_arena_destroy(arena);
    }
    return TSR_OK;
}

/* ---- products ---- */

enum { BATCH = 2, INNER = COLUMNS, WIDE = 3 };

/* What the gradients of sum(w * (a b)) should be: w b^T, summed over the batch, and a^T w. */
static void product_gradients(double *of_a, double *of_b)
{
    memset(of_a, 0, sizeof(double) * ROWS * INNER);
    memset(of_b, 0, sizeof(double) * BATCH * INNER * WIDE);
    for (int64_t i = 0; i < (int64_t)BATCH * ROWS * WIDE * INNER; i++) {
        const int64_t k = i % INNER;
        const int64_t n = i / INNER % WIDE;
        const int64_t m = i / INNER / WIDE % ROWS;
        const int64_t b = i / INNER / WIDE / ROWS;
        const int64_t at_a = m * INNER + k;
        const int64_t at_b = (b * INNER + k) * WIDE + n;
        const double w = value_at((b * ROWS + m) * WIDE + n, 3);
        of_a[at_a] += w * value_at(at_b, 2);
        of_b[at_b] += w * value_at(at_a, 1);
    }
}

/* [m, k] by [b, k, n]: the batch is on the right only. */
static tsr_status products_with_a_batch(tsr_comm *world, const scene *s)
{
    static const int64_t shape_b[] = {BATCH, INNER, WIDE};
    static const int64_t shape_y[] = {BATCH, ROWS, WIDE};
    double want[2][BATCH * ROWS * INNER * WIDE];
    product_gradients(want[0], want[1]);
    for (size_t i = 0; i < (size_t)(PENDING + 1) * NUM_CUBES; i++) {
        const tsr_tensor_spec of_b = {s->cubes[i % NUM_CUBES], TSR_F64, 3, shape_b};
        const tsr_tensor_spec of_y = {s->cubes[0], TSR_F64, 3, shape_y};
        tsr_tensor *a = NULL;
        tsr_tensor *b = NULL;
        tsr_tensor *w = NULL;
        tsr_tensor *y = NULL;
        double got[2][BATCH * ROWS * INNER * WIDE];
        TSR_TRY(make(world, s->at[WHOLE + i / NUM_CUBES], 1, &a));
        TSR_TRY(make_of(world, &of_b, 2, &b));
        TSR_TRY(make_of(world, &of_y, 3, &w));
        TSR_TRY(tsr_tape_begin(world));
        TSR_TRY(tsr_watch(a));
        TSR_TRY(tsr_watch(b));
        TSR_TRY(tsr_matmul(a, b, &y));
        TSR_TRY(tsr_backward_from(y, w));
        TSR_TRY(gradient_of(a, got[0]));
        TSR_TRY(gradient_of(b, got[1]));
        WANT(world, memcmp(got[0], want[0], sizeof(double) * ROWS * INNER) == 0);
        WANT(world, memcmp(got[1], want[1], sizeof(double) * BATCH * INNER * WIDE) == 0);
        tsr_tape_end(world);
        tsr_tensor_release(a);
        tsr_tensor_release(b);
        tsr_tensor_release(w);
    }
    return TSR_OK;
}

/* ---- regions ---- */

/* Outputs that share what they are made of; the second one comes first. */
static tsr_status region(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                         void *state)
{
    tsr_tensor *product = NULL;
    tsr_tensor *bent = NULL;
    (void)world;
    (void)state;
    TSR_TRY(tsr_mul(inputs[0], inputs[1], &product));
    TSR_TRY(tsr_tanh(product, &bent));
    TSR_TRY(tsr_mul(bent, inputs[0], &outputs[1]));
    TSR_TRY(tsr_exp(bent, &outputs[0]));
    return tsr_add(inputs[1], inputs[1], &outputs[2]);
}

/* Two losses: from the first output alone, or from all. */
static tsr_status go_through(tsr_comm *world, const scene *s, bool again, bool all_outputs,
                             double grads[2][ELEMENTS])
{
    tsr_tensor *in[2] = {NULL};
    tsr_tensor *out[3] = {NULL};
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    TSR_TRY(make(world, s->at[BY_ROWS], 1, &in[0]));
    TSR_TRY(make(world, s->at[BY_COLUMNS], 2, &in[1]));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(in[0]));
    TSR_TRY(tsr_watch(in[1]));
    if (again) {
        TSR_TRY(tsr_recompute(world, region, NULL, in, 2, out, 3));
    } else {
        TSR_TRY(region(world, in, out, NULL));
    }
    y = out[0];
    if (all_outputs) {
        TSR_TRY(tsr_mul(y, out[1], &y));
        TSR_TRY(tsr_add(y, out[2], &y));
    }
    TSR_TRY(sum_of(y, &loss));
    TSR_TRY(tsr_backward(loss));
    for (size_t i = 0; i < 2; i++) {
        TSR_TRY(gradient_of(in[i], grads[i]));
    }
    tsr_tape_end(world);
    tsr_tensor_release(in[0]);
    tsr_tensor_release(in[1]);
    return TSR_OK;
}

/* Gives an input as it is, a product, and something that depends on no input. */
static tsr_status passing_region(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                                 void *state)
{
    (void)world;
    outputs[0] = inputs[0];
    TSR_TRY(tsr_mul(inputs[0], inputs[1], &outputs[1]));
    return tsr_mul(state, state, &outputs[2]);
}

/* A region on the same tensor twice: sum(a + a b + c c) where b is a. */
static tsr_status regions_pass_inputs(tsr_comm *world, const scene *s)
{
    tsr_tensor *a = NULL;
    tsr_tensor *c = NULL;
    tsr_tensor *out[3] = {NULL};
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    double all[ELEMENTS];
    TSR_TRY(make(world, s->at[BY_ROWS], 1, &a));
    TSR_TRY(make(world, s->at[BY_ROWS], 2, &c));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_recompute(world, passing_region, c, (tsr_tensor *[]){a, a}, 2, out, 3));
    TSR_TRY(tsr_add(out[0], out[1], &y));
    TSR_TRY(tsr_add(y, out[2], &y));
    TSR_TRY(sum_of(y, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(gradient_of(a, all));
    for (int64_t i = 0; i < ELEMENTS; i++) {
        WANT(world, all[i] == 1 + 2 * value_at(i, 1));
    }
    tsr_tape_end(world);
    tsr_tensor_release(a);
    tsr_tensor_release(c);
    return TSR_OK;
}

static tsr_status regions_give_the_same(tsr_comm *world, const scene *s)
{
    for (int all = 0; all < 2; all++) {
        double kept[2][ELEMENTS];
        double anew[2][ELEMENTS];
        TSR_TRY(go_through(world, s, false, all == 1, kept));
        TSR_TRY(go_through(world, s, true, all == 1, anew));
        WANT(world, memcmp(kept, anew, sizeof kept) == 0);
    }
    return TSR_OK;
}

/* ---- memory ---- */

static tsr_status walk(tsr_comm *world, const scene *s, bool back)
{
    tsr_tensor *a = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    TSR_TRY(make(world, s->at[BY_ROWS], 1, &a));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_tanh(a, &y));
    TSR_TRY(tsr_mul(y, a, &y));
    TSR_TRY(tsr_softmax(y, 1, &y));
    TSR_TRY(sum_of(y, &loss));
    if (back) {
        TSR_TRY(tsr_backward(loss));
    }
    tsr_scope_close(world);
    tsr_tape_end(world);
    tsr_tensor_release(a);
    return TSR_OK;
}

/* All memory is freed: after a backward, or without one; and during it what was saved. */
static tsr_status memory_comes_back(tsr_comm *world, const scene *s)
{
    double grads[2][ELEMENTS];
    const size_t before = world->own->live;
    for (int back = 0; back < 2; back++) {
        TSR_TRY(tsr_scope_open(world));
        TSR_TRY(walk(world, s, back == 1));
        TSR_TRY(go_through(world, s, true, true, grads));
        tsr_scope_close(world);
        TSR_TRY(tsr_barrier(world));
        WANT(world, world->own->live == before);
    }
    tsr_tensor *a = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    TSR_TRY(make(world, s->at[BY_ROWS], 1, &a));
    TSR_TRY(tsr_tape_begin(world));
    const size_t bare = world->own->live;
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_exp(a, &y));
    TSR_TRY(tsr_mul(y, y, &y));
    TSR_TRY(sum_of(y, &loss));
    tsr_tensor *kept = tsr_tensor_retain(loss);
    tsr_scope_close(world);
    WANT(world, world->own->live > bare);
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_backward(kept));
    tsr_scope_close(world);
    tsr_tensor_release(kept);
    tsr_tensor *g = NULL;
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_gradient(a, &g)); /* all that is left */
    const size_t left = world->own->live;
    tsr_tape_end(world);
    WANT(world, world->own->live == left);
    tsr_scope_close(world);
    WANT(world, world->own->live == bare);
    tsr_tensor_release(a);
    WANT(world, world->own->live == before);
    return TSR_OK;
}

/* ---- conversions ---- */

typedef tsr_status (*conversion)(const scene *s, tsr_tensor *from, tsr_conversion **record,
                                 tsr_tensor **out);

static tsr_status to_whole(const scene *s, tsr_tensor *from, tsr_conversion **record,
                           tsr_tensor **out)
{
    (void)s;
    return tsr_dynamic_to_replicate(from, 0, record, out);
}

static tsr_status to_rows(const scene *s, tsr_tensor *from, tsr_conversion **record,
                          tsr_tensor **out)
{
    return tsr_dynamic_from_replicate(from, &(tsr_placement){s->at[DYNAMIC], NULL}, record, out);
}

static tsr_status to_other_rows(const scene *s, tsr_tensor *from, tsr_conversion **record,
                                tsr_tensor **out)
{
    return tsr_dynamic_to_dynamic(from, &(tsr_placement){s->at[OTHER_DYNAMIC], NULL}, record, out);
}

static tsr_status reduce_rows(const scene *s, tsr_tensor *from, tsr_conversion **record,
                              tsr_tensor **out)
{
    return tsr_dynamic_reduce_shard(from, &(tsr_placement){s->at[DYNAMIC], NULL}, record, out);
}

static tsr_status to_partitions(const scene *s, tsr_tensor *from, tsr_conversion **record,
                                tsr_tensor **out)
{
    return tsr_partitioned_from_replicate(from, &(tsr_placement){s->at[UNALIGNED], NULL}, record,
                                          out);
}

static tsr_status align(const scene *s, tsr_tensor *from, tsr_conversion **record, tsr_tensor **out)
{
    (void)s;
    return tsr_partitioned_unaligned_to_aligned(from, 0, record, out);
}

static tsr_status partitions_to_whole(const scene *s, tsr_tensor *from, tsr_conversion **record,
                                      tsr_tensor **out)
{
    (void)s;
    return tsr_partitioned_to_replicate(from, 0, record, out);
}

static tsr_status partitions_to_rows(const scene *s, tsr_tensor *from, tsr_conversion **record,
                                     tsr_tensor **out)
{
    (void)s;
    return tsr_partitioned_to_shard(from, 0, record, out);
}

static const struct {
    enum layout_name from;
    conversion convert;
} conversions[] = {
    {DYNAMIC, to_whole},
    {WHOLE, to_rows},
    {DYNAMIC, to_other_rows},
    {PENDING, reduce_rows},
    {WHOLE, to_partitions},
    {UNALIGNED, align},
    {UNALIGNED, partitions_to_whole},
    {UNALIGNED, partitions_to_rows},
};

/* The loss is the sum of weights times what came out: its gradient is the weights. */
static tsr_status conversions_go_back(tsr_comm *world, const scene *s)
{
    for (size_t k = 0; k < sizeof conversions / sizeof conversions[0]; k++) {
        tsr_tensor *a = NULL;
        tsr_tensor *weights = NULL;
        tsr_tensor *twice = NULL;
        tsr_tensor *converted = NULL;
        tsr_tensor *y = NULL;
        tsr_tensor *loss = NULL;
        tsr_conversion *record = NULL;
        double all[ELEMENTS];
        TSR_TRY(make(world, s->at[conversions[k].from], 1, &a));
        TSR_TRY(make(world, s->at[WHOLE], 2, &weights));
        TSR_TRY(tsr_tape_begin(world));
        TSR_TRY(tsr_watch(a));
        TSR_TRY(conversions[k].convert(s, a, &record, &converted));
        TSR_TRY(tsr_tape_conversion(a, converted, record));
        TSR_TRY(tsr_mul(converted, weights, &y));
        TSR_TRY(tsr_add(y, y, &twice));
        TSR_TRY(sum_of(twice, &loss));
        TSR_TRY(tsr_backward(loss));
        TSR_TRY(gradient_of(a, all));
        for (int64_t i = 0; i < ELEMENTS; i++) {
            WANT(world, all[i] == 2 * value_at(i, 2));
        }
        tsr_tape_end(world);
        tsr_tensor_release(converted);
        tsr_tensor_release(a);
        tsr_tensor_release(weights);
    }
    return TSR_OK;
}

/* ---- all ---- */

static tsr_status run_all(tsr_comm *world, void *state)
{
    static tsr_status (*const checks[])(tsr_comm *, const scene *) = {
        products_with_a_batch, uses_add_up,         tapes_nest,
        pauses_note_nothing,   stopped_gradients,   refusals,
        regions_give_the_same, regions_pass_inputs, memory_comes_back,
        conversions_go_back,   callbacks,           second_derivatives,
        scatter_gradients,
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        TSR_TRY(tsr_scope_open(world));
        TSR_TRY(checks[i](world, state));
        tsr_scope_close(world);
        TSR_TRY(tsr_barrier(world));
    }
    return TSR_OK;
}

/* `6 rows` over so many ranks, all but one of them on the first or the last. */
static void write_sizes(char *to, size_t room, int64_t ranks, bool at_end)
{
    (void)snprintf(to, room, "[{\"x\"}:dynamic[");
    for (int64_t i = 0; i < ranks; i++) {
        const bool heavy = i == (at_end ? ranks - 1 : 0);
        const bool light = i == (at_end ? 0 : ranks - 1);
        const int rows = ranks == 1 ? ROWS : heavy ? ROWS - 1 : light ? 1 : 0;
        (void)snprintf(to + strlen(to), room - strlen(to), "%s%d", i > 0 ? ", " : "", rows);
    }
    (void)snprintf(to + strlen(to), room - strlen(to), "], {}]");
}

void check_tapes(fixture *f, int64_t ranks, tsr_ranks kind)
{
    char mesh_of_ranks[64];
    char rows[256];
    char others[256];
    char partitions[512] = "[{\"x\"}:partitioned[";
    (void)snprintf(mesh_of_ranks, sizeof mesh_of_ranks, "<[\"x\"=%lld]>", (long long)ranks);
    write_sizes(rows, sizeof rows, ranks, false);
    write_sizes(others, sizeof others, ranks, true);
    for (int64_t i = 0; i < ranks; i++) {
        const int first = i == 0 ? 2 : 0;
        const int second = ranks == 1 ? 4 : i == 0 ? 1 : i == ranks - 1 ? 3 : 0;
        (void)snprintf(partitions + strlen(partitions), sizeof partitions - strlen(partitions),
                       "%s[%d, %d]", i > 0 ? ", " : "", first, second);
    }
    (void)snprintf(partitions + strlen(partitions), sizeof partitions - strlen(partitions),
                   "], {}]");
    const tsr_mesh *mesh = mesh_of(f, mesh_of_ranks);
    scene s = {.at = {[WHOLE] = sharding_of(f, mesh, "[{}, {}]"),
                      [BY_ROWS] = sharding_of(f, mesh, "[{\"x\"}, {}]"),
                      [BY_COLUMNS] = sharding_of(f, mesh, "[{}, {\"x\"}]"),
                      [PENDING] = sharding_of(f, mesh, "[{}, {}], unreduced={\"x\"}"),
                      [DYNAMIC] = sharding_of(f, mesh, rows),
                      [OTHER_DYNAMIC] = sharding_of(f, mesh, others),
                      [UNALIGNED] = sharding_of(f, mesh, partitions)},
               .cubes = {sharding_of(f, mesh, "[{}, {}, {}]"),
                         sharding_of(f, mesh, "[{\"x\"}, {}, {}]"),
                         sharding_of(f, mesh, "[{}, {\"x\"}, {}]"),
                         sharding_of(f, mesh, "[{}, {}, {\"x\"}]"),
                         sharding_of(f, mesh, "[{}, {}, {}], unreduced={\"x\"}")}};
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 60,
                                  .checked = ranks % 2 == 1,
                                  .segment_bytes = (size_t)1 << 26};
    expect_ranks(f, &spec, run_all, &s);
}
