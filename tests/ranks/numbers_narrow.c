/*
 * Composites of f16 and bf16, and their gradients, are rounded once: against the same call in f64
 * on the same numbers (which numbers.c holds to plain loops), whole and sharded. Rows of N(100, 1)
 * show every rounding in between, because norms subtract what is large.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/gradient.h>

#include "base/base.h"
#include "kinds.h"
#include "random.h"
#include "want.h"

enum { ROWS = 12, COLUMNS = 64, OPERANDS = 3, MOST = ROWS * COLUMNS };

/* x and what else is differentiated; labels are not. */
typedef tsr_status (*composite_call)(tsr_tensor *const *x, tsr_tensor *labels, tsr_tensor **out);

static tsr_status softmax(tsr_tensor *const *x, tsr_tensor *labels, tsr_tensor **out)
{
    (void)labels;
    return tsr_softmax(x[0], 1, out);
}

static tsr_status logsumexp(tsr_tensor *const *x, tsr_tensor *labels, tsr_tensor **out)
{
    (void)labels;
    return tsr_logsumexp(x[0], 1, out);
}

static tsr_status layer_norm(tsr_tensor *const *x, tsr_tensor *labels, tsr_tensor **out)
{
    (void)labels;
    return tsr_layer_norm(x[0], x[1], x[2], 1e-5, out);
}

static tsr_status rms_norm(tsr_tensor *const *x, tsr_tensor *labels, tsr_tensor **out)
{
    (void)labels;
    return tsr_rms_norm(x[0], x[1], 1e-5, out);
}

static tsr_status cross_entropy(tsr_tensor *const *x, tsr_tensor *labels, tsr_tensor **out)
{
    return tsr_cross_entropy(x[0], labels, out);
}

static const struct {
    const char *name;
    composite_call call;
    size_t operands;
} composites[] = {{"softmax", softmax, 1},
                  {"logsumexp", logsumexp, 1},
                  {"layer_norm", layer_norm, 3},
                  {"rms_norm", rms_norm, 2},
                  {"cross_entropy", cross_entropy, 1}};
enum { COMPOSITES = sizeof composites / sizeof composites[0] };

/* Of x, of vectors of its last dimension, and of the labels. */
static const char *const layouts[][3] = {{"[{}, {}]", "[{}]", "[{}]"},
                                         {"[{\"x\"}, {}]", "[{}]", "[{\"x\"}]"},
                                         {"[{}, {\"x\"}]", "[{\"x\"}]", "[{}]"}};

/* ---- numbers ---- */

/* Around a centre, with a variance of 1: of twelve fractions. */
static void fill_normal(const int64_t *index, void *element, void *state)
{
    const double *centre = state;
    const rng base = {17};
    rng r = rng_case(&base, (uint64_t)(index[0] * 1009 + (centre[1] > 0 ? index[1] : 0)));
    double sum = *centre - 6;
    for (int i = 0; i < 12; i++) {
        sum += (double)rng_below(&r, 1 << 20) / (1 << 20);
    }
    *(double *)element = sum;
}

static void fill_label(const int64_t *index, void *element, void *state)
{
    (void)state;
    *(int32_t *)element = (int32_t)(index[0] * 7 % COLUMNS);
}

/* Numbers of a narrow type, as f64. */
static tsr_status make_numbers(tsr_comm *world, const tsr_sharding *sharding, tsr_dtype narrow,
                               size_t rank, double centre, tsr_tensor **out)
{
    const int64_t shape[] = {rank > 1 ? ROWS : COLUMNS, COLUMNS};
    double state[] = {centre, rank > 1 ? 1 : 0};
    const tsr_tensor_spec spec = {sharding, TSR_F64, rank, shape};
    tsr_tensor *x = NULL;
    TSR_TRY(tsr_tensor_create(world, &spec, &x));
    tsr_tensor_fill(x, fill_normal, state);
    tsr_status status = tsr_convert(x, narrow, out);
    tsr_tensor_release(x);
    return status == TSR_OK ? tsr_convert(*out, TSR_F64, out) : status;
}

/* ---- one call ---- */

/* The result, then the gradients of the operands. */
typedef struct outcome {
    size_t count;
    int64_t elements[1 + OPERANDS];
    double of[1 + OPERANDS][MOST];
} outcome;

static tsr_status keep(tsr_tensor *t, outcome *o)
{
    tsr_tensor *exact = NULL;
    int64_t elements = 1;
    for (size_t d = 0; d < tsr_tensor_rank(t); d++) {
        elements *= tsr_tensor_shape(t)[d];
    }
    o->elements[o->count] = elements;
    TSR_TRY(tsr_convert(t, TSR_F64, &exact));
    return tsr_tensor_to_full(exact, -1, o->of[o->count++]);
}

/* Runs a composite in an element type on numbers given as f64. */
static tsr_status run_in(tsr_comm *world, size_t which, tsr_dtype dtype, tsr_tensor *const *given,
                         tsr_tensor *labels, outcome *o)
{
    tsr_tensor *x[OPERANDS] = {NULL};
    tsr_tensor *y = NULL;
    tsr_tensor *weights = NULL;
    o->count = 0;
    TSR_TRY(tsr_tape_begin(world));
    for (size_t i = 0; i < composites[which].operands; i++) {
        TSR_TRY(tsr_convert(given[i], dtype, &x[i]));
        TSR_TRY(tsr_watch(x[i]));
    }
    TSR_TRY(composites[which].call(x, labels, &y));
    WANT(world, tsr_tensor_dtype(y) == dtype);
    TSR_TRY(keep(y, o));
    TSR_TRY(tsr_convert(given[OPERANDS], dtype, &weights));
    if (tsr_tensor_rank(y) == 1) {
        const size_t last = 1;
        TSR_TRY(tsr_max(weights, &last, 1, &weights));
    }
    TSR_TRY(tsr_backward_from(y, weights));
    for (size_t i = 0; i < composites[which].operands; i++) {
        tsr_tensor *gradient = NULL;
        TSR_TRY(tsr_gradient(x[i], &gradient));
        WANT(world, tsr_tensor_dtype(gradient) == dtype);
        TSR_TRY(keep(gradient, o));
    }
    tsr_tape_end(world);
    return TSR_OK;
}

/* ---- comparison ---- */

/* The greatest error, in units of what one rounding and f32 in between may amount to. */
static double worst_of(const outcome *got, const outcome *want, size_t k, double unit)
{
    double most = 0;
    double worst = 0;
    for (int64_t i = 0; i < want->elements[k]; i++) {
        most = fmax(most, fabs(want->of[k][i]));
    }
    for (int64_t i = 0; i < want->elements[k]; i++) {
        const double exact = want->of[k][i];
        const double allowed = unit * fabs(exact) + 1e-4 * most + 1e-7;
        worst = fmax(worst, fabs(got->of[k][i] - exact) / allowed);
    }
    return worst;
}

static double greatest_error(const outcome *got, const outcome *want)
{
    double worst = 0;
    for (int64_t i = 0; i < want->elements[0]; i++) {
        worst = fmax(worst, fabs(got->of[0][i] - want->of[0][i]));
    }
    return worst;
}

/* What a launch checks. */
typedef struct trial {
    size_t which;
    size_t layout;
    tsr_dtype dtype;
} trial;

static tsr_status compare(tsr_comm *world, const trial *t, const outcome *got, const outcome *want)
{
    const double unit = ldexp(1, t->dtype == TSR_F16 ? -11 : -8);
    WANT(world, got->count == want->count);
    for (size_t k = 0; k < want->count; k++) {
        const double worst = worst_of(got, want, k, unit);
        if (!(worst <= 1)) {
            return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,
                              "%s of %s, layout %s, %s %zu: %g times the error of one rounding",
                              composites[t->which].name, tsr_dtype_name(t->dtype),
                              layouts[t->layout][0], k == 0 ? "result" : "gradient", k, worst);
        }
    }
    if (tsr_comm_rank(world) == 0 && t->layout == 2) {
        printf("%s of %s: error %.2g\n", composites[t->which].name, tsr_dtype_name(t->dtype),
               greatest_error(got, want));
    }
    return TSR_OK;
}

static tsr_status check_trial(tsr_comm *world, const trial *t, tsr_arena *arena, outcome *both)
{
    tsr_context *ctx = tsr_comm_context(world);
    const int64_t rows = ROWS;
    const int64_t ranks = tsr_comm_size(world);
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *s[3];
    const char *const name = "x";
    const tsr_mesh_spec shape = {.num_axes = 1, .axis_names = &name, .axis_sizes = &ranks};
    tsr_tensor *given[OPERANDS + 1];
    tsr_tensor *labels = NULL;
    TSR_TRY(tsr_mesh_create(ctx, arena, &shape, &mesh));
    for (size_t i = 0; i < 3; i++) {
        TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, layouts[t->layout][i], &s[i]));
    }
    TSR_TRY(make_numbers(world, s[0], t->dtype, 2, 100, &given[0]));
    TSR_TRY(make_numbers(world, s[1], t->dtype, 1, 1, &given[1]));
    TSR_TRY(make_numbers(world, s[1], t->dtype, 1, 0.25, &given[2]));
    TSR_TRY(make_numbers(world, s[0], t->dtype, 2, 0, &given[OPERANDS]));
    TSR_TRY(tsr_tensor_create(world, &(tsr_tensor_spec){s[2], TSR_I32, 1, &rows}, &labels));
    tsr_tensor_fill(labels, fill_label, NULL);
    tsr_status status = run_in(world, t->which, t->dtype, given, labels, &both[0]);
    if (status == TSR_OK) {
        status = run_in(world, t->which, TSR_F64, given, labels, &both[1]);
    }
    tsr_tensor_release(labels);
    return status == TSR_OK ? compare(world, t, &both[0], &both[1]) : status;
}

static tsr_status run_trials(tsr_comm *world, void *state)
{
    const tsr_dtype dtypes[] = {TSR_F16, TSR_BF16};
    tsr_arena *arena = NULL;
    (void)state;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    outcome *both = tsr_arena_alloc(arena, 2 * sizeof *both);
    WANT(world, both != NULL);
    for (size_t i = 0; i < COMPOSITES * 6; i++) {
        const trial t = {i % COMPOSITES, i / COMPOSITES / 2, dtypes[i / COMPOSITES % 2]};
        TSR_TRY(tsr_scope_open(world));
        TSR_TRY(check_trial(world, &t, arena, both));
        tsr_scope_close(world);
    }
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void composites_round_once(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        const tsr_launch_spec spec = {.num_ranks = ranks, .ranks = kinds_chosen()};
        expect_ranks(*state, &spec, run_trials, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(composites_round_once)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
