/*
 * Labels of cross-entropy that are not classes: ignored ones give neither loss nor gradient, others
 * are an error in checked mode, the same on every rank, and NaN otherwise. The batch, the classes
 * or nothing is sharded.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/gradient.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { ROWS = 10, CLASSES = 7 };

/* Of the logits, of the labels. */
static const char *const layouts[][2] = {{"[{}, {}]", "[{}]"},
                                         {"[{\"x\"}, {}]", "[{\"x\"}]"},
                                         {"[{}, {\"x\"}]", "[{}]"},
                                         {"[{}, {\"x\"}]", "[{\"x\"}]"},
                                         {"[{}, {}]", "[{}], unreduced={\"x\"}"}};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

/* The labels of one trial; `none` is the one that is ignored. */
typedef struct trial {
    int64_t labels[ROWS];
    int64_t none;
    bool first; /* of those whose sum the labels are */
} trial;

static double logit_at(int64_t row, int64_t column)
{
    return (double)((row * 5 + column * 3) % 11) / 4 - 1;
}

static void fill_logit(const int64_t *index, void *element, void *state)
{
    (void)state;
    *(double *)element = logit_at(index[0], index[1]);
}

static void fill_label(const int64_t *index, void *element, void *state)
{
    const trial *t = state;
    *(int32_t *)element = t->first ? (int32_t)t->labels[index[0]] : 0;
}

static tsr_status make_operands(tsr_comm *world, tsr_arena *arena, trial *t, size_t layout,
                                tsr_tensor **logits, tsr_tensor **labels)
{
    tsr_context *ctx = tsr_comm_context(world);
    const int64_t shape[] = {ROWS, CLASSES};
    const int64_t ranks = tsr_comm_size(world);
    const char *const name = "x";
    const tsr_mesh_spec of_mesh = {.num_axes = 1, .axis_names = &name, .axis_sizes = &ranks};
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *s[2];
    TSR_TRY(tsr_mesh_create(ctx, arena, &of_mesh, &mesh));
    for (size_t i = 0; i < 2; i++) {
        TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, layouts[layout][i], &s[i]));
    }
    TSR_TRY(tsr_tensor_create(world, &(tsr_tensor_spec){s[0], TSR_F64, 2, shape}, logits));
    TSR_TRY(tsr_tensor_create(world, &(tsr_tensor_spec){s[1], TSR_I32, 1, shape}, labels));
    t->first = layout + 1 < LAYOUTS || tsr_comm_rank(world) == 0;
    tsr_tensor_fill(*logits, fill_logit, NULL);
    tsr_tensor_fill(*labels, fill_label, t);
    return TSR_OK;
}

static tsr_status call(const trial *t, tsr_tensor *logits, tsr_tensor *labels, tsr_tensor **out)
{
    return t->none == TSR_IGNORE_LABEL ? tsr_cross_entropy(logits, labels, out)
                                       : tsr_cross_entropy_ignoring(logits, labels, t->none, out);
}

/* ---- numbers ---- */

/* A row's loss and gradients, for a cotangent of 2. */
static void expect_row(const trial *t, int64_t row, double *loss, double *gradient)
{
    const int64_t label = t->labels[row];
    const bool fits = label >= 0 && label < CLASSES;
    double sum = 0;
    for (int64_t c = 0; c < CLASSES; c++) {
        sum += exp(logit_at(row, c));
    }
    *loss = fits ? log(sum) - logit_at(row, label) : NAN;
    *loss = label == t->none ? 0 : *loss;
    for (int64_t c = 0; c < CLASSES; c++) {
        const double slope = exp(logit_at(row, c)) / sum - (c == label ? 1 : 0);
        gradient[c] = fits ? 2 * slope : NAN;
        gradient[c] = label == t->none ? 0 : gradient[c];
    }
}

static bool is_near(double got, double want)
{
    return isnan(want) ? isnan(got) : fabs(got - want) <= 1e-12;
}

static tsr_status compare(tsr_comm *world, const trial *t, tsr_tensor *loss, tsr_tensor *gradient)
{
    double losses[ROWS];
    double slopes[ROWS * CLASSES];
    TSR_TRY(tsr_tensor_to_full(loss, -1, losses));
    TSR_TRY(tsr_tensor_to_full(gradient, -1, slopes));
    for (int64_t row = 0; row < ROWS; row++) {
        double want = 0;
        double wanted[CLASSES];
        expect_row(t, row, &want, wanted);
        WANT(world, is_near(losses[row], want));
        for (int64_t c = 0; c < CLASSES; c++) {
            WANT(world, is_near(slopes[row * CLASSES + c], wanted[c]));
        }
    }
    return TSR_OK;
}

static tsr_status check_numbers(tsr_comm *world, trial *t, size_t layout, tsr_arena *arena)
{
    tsr_tensor *logits = NULL;
    tsr_tensor *labels = NULL;
    tsr_tensor *loss = NULL;
    tsr_tensor *twos = NULL;
    tsr_tensor *gradient = NULL;
    TSR_TRY(make_operands(world, arena, t, layout, &logits, &labels));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(logits));
    TSR_TRY(call(t, logits, labels, &loss));
    TSR_TRY(tsr_scalar_like(loss, 2, &twos));
    TSR_TRY(tsr_broadcast_to(twos, tsr_tensor_shape(loss), 1, &twos));
    TSR_TRY(tsr_backward_from(loss, twos));
    TSR_TRY(tsr_gradient(logits, &gradient));
    TSR_TRY(compare(world, t, loss, gradient));
    tsr_tape_end(world);
    tsr_tensor_release(labels);
    tsr_tensor_release(logits);
    return TSR_OK;
}

/* ---- checked mode ---- */

static tsr_status check_refused(tsr_comm *world, trial *t, size_t layout, tsr_arena *arena,
                                const char *part)
{
    tsr_tensor *logits = NULL;
    tsr_tensor *labels = NULL;
    tsr_tensor *loss = NULL;
    TSR_TRY(make_operands(world, arena, t, layout, &logits, &labels));
    WANT(world, call(t, logits, labels, &loss) == TSR_ERR_INVALID && loss == NULL);
    WANT(world, heard(world, part));
    tsr_tensor_release(labels);
    tsr_tensor_release(logits);
    return TSR_OK;
}

/* Labels that fit, but for those of some rows. */
static trial trial_of(int64_t none, int64_t third, int64_t ninth)
{
    trial t = {.none = none};
    for (int64_t row = 0; row < ROWS; row++) {
        t.labels[row] = row * 3 % CLASSES;
    }
    t.labels[3] = third;
    t.labels[9] = ninth;
    return t;
}

static tsr_status check_layout(tsr_comm *world, size_t layout, bool checked, tsr_arena *arena)
{
    trial fits = trial_of(TSR_IGNORE_LABEL, TSR_IGNORE_LABEL, 6);
    trial zero = trial_of(0, 0, 4);
    trial beyond = trial_of(TSR_IGNORE_LABEL, 2, CLASSES);
    trial below = trial_of(-1, -1, TSR_IGNORE_LABEL);
    trial both = trial_of(TSR_IGNORE_LABEL, -1, 1000);
    TSR_TRY(check_numbers(world, &fits, layout, arena));
    TSR_TRY(check_numbers(world, &zero, layout, arena));
    if (!checked) {
        TSR_TRY(check_numbers(world, &beyond, layout, arena));
        TSR_TRY(check_numbers(world, &below, layout, arena));
        return check_numbers(world, &both, layout, arena);
    }
    TSR_TRY(
        check_refused(world, &beyond, layout, arena, "label 7 at [9] is not one of the 7 classes"));
    TSR_TRY(check_refused(world, &below, layout, arena, "label -100 at [9]"));
    TSR_TRY(check_refused(world, &both, layout, arena, "label -1 at [3]"));
    return check_numbers(world, &fits, layout, arena);
}

static tsr_status run(tsr_comm *world, void *state)
{
    const bool *checked = state;
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    for (size_t i = 0; i < LAYOUTS; i++) {
        TSR_TRY(tsr_scope_open(world));
        TSR_TRY(check_layout(world, i, *checked, arena));
        tsr_scope_close(world);
    }
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void on_every_count(fixture *f, bool checked)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        const tsr_launch_spec spec = {
            .num_ranks = ranks, .ranks = kinds_chosen(), .checked = checked};
        expect_ranks(f, &spec, run, &checked);
    }
}

static void labels_out_of_range_give_no_number(void **state)
{
    if (getenv("TSR_CHECK") == NULL) {
        on_every_count(*state, false);
    }
}

static void labels_out_of_range_are_refused_when_checked(void **state)
{
    on_every_count(*state, true);
}

/* Without elements there is nothing to check, and the loss has its type. */
static tsr_status run_abstract(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    tsr_tensor *logits = NULL;
    tsr_tensor *labels = NULL;
    tsr_tensor *loss = NULL;
    trial t = trial_of(3, 1000, 1000);
    (void)state;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(make_operands(world, arena, &t, 2, &logits, &labels));
    TSR_TRY(call(&t, logits, labels, &loss));
    WANT(world, tsr_tensor_is_abstract(loss) && tsr_tensor_dtype(loss) == TSR_F64);
    WANT(world, tsr_tensor_rank(loss) == 1 && tsr_tensor_shape(loss)[0] == ROWS);
    tsr_tensor_release(loss);
    tsr_tensor_release(labels);
    tsr_tensor_release(logits);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void tensors_without_elements_have_no_labels(void **state)
{
    const fixture *f = *state;
    assert_int_equal(tsr_launch_abstract(f->ctx, 4, 1, run_abstract, NULL), TSR_OK);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(labels_out_of_range_give_no_number),
                                       TEST(labels_out_of_range_are_refused_when_checked),
                                       TEST(tensors_without_elements_have_no_labels)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
