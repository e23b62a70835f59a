/* Optimizers against plain loops in f64, over several steps, in several layouts and types. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { ROWS = 5, COLUMNS = 6, SIZE = ROWS * COLUMNS, STEPS = 5 };

typedef struct site {
    tsr_comm *world;
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
} site;

/* What a parameter is of, and how it and its state lie. */
typedef struct layouts {
    const char *type;
    const char *parameter;
    const char *gradient;
    const char *state;
    double tolerance;
} layouts;

static const layouts cases[] = {
    {"f64[5,6]", NULL, NULL, NULL, 1e-14},
    {"f64[5,6]", "P('x')", "P('x')", "P('x')", 1e-14},
    {"f64[5,6]", "P('x')", NULL, "P(None, 'x')", 1e-14},
    {"f64[5,6]", "P(None, 'x')", "[{}, {}], unreduced={\"x\"}", "P(None, 'x')", 1e-14},
    {"f32[5,6]", "P('x')", "P('x')", "P('x')", 2e-6},
    {"bf16[5,6]", "P('x')", "P('x')", "P('x')", 5e-2},
};

static double element(int64_t index, int64_t salt)
{
    return (double)((index * 37 + salt * 11) % 17 - 8) / 8;
}

static void fill_element(const int64_t *index, void *to, void *state)
{
    const double number = element(index[0] * COLUMNS + index[1], *(const int64_t *)state);
    memcpy(to, &number, sizeof number);
}

/* Numbers by a salt, made as f64 and converted; a pending sum has its share on each rank. */
static tsr_status make(const site *s, const char *type, const char *layout, int64_t salt,
                       tsr_tensor **out)
{
    tsr_tensor_spec spec;
    tsr_tensor_spec wide;
    size_t pending = 0;
    TSR_TRY(tsr_tensor_spec_parse(s->ctx, s->arena, s->mesh, type, layout, &spec));
    TSR_TRY(tsr_tensor_spec_parse(s->ctx, s->arena, s->mesh, "f64[5,6]", layout, &wide));
    (void)tsr_sharding_unreduced(spec.sharding, &pending);
    TSR_TRY(tsr_zeros(s->world, &wide, out));
    if (salt >= 0) {
        tsr_tensor_fill(*out, fill_element, &salt);
    }
    if (pending > 0) {
        TSR_TRY(tsr_mul_number(*out, 1.0 / (double)tsr_comm_size(s->world), out));
    }
    return tsr_convert(*out, spec.dtype, out);
}

static tsr_status near(const site *s, tsr_tensor *x, const double *wanted, double tolerance)
{
    double full[SIZE];
    tsr_tensor *wide = NULL;
    TSR_TRY(tsr_convert(x, TSR_F64, &wide));
    TSR_TRY(tsr_tensor_to_full(wide, -1, full));
    for (int i = 0; i < SIZE; i++) {
        WANT(s->world, fabs(full[i] - wanted[i]) <= tolerance * (1 + fabs(wanted[i])));
    }
    return TSR_OK;
}

static tsr_status sgd(const site *s, const layouts *l, const tsr_sgd_options *o)
{
    double p[SIZE];
    double v[SIZE] = {0};
    tsr_tensor *parameter = NULL;
    tsr_tensor *velocity = NULL;
    TSR_TRY(make(s, l->type, l->parameter, 0, &parameter));
    TSR_TRY(make(s, l->type, l->state, -1, &velocity));
    for (int64_t i = 0; i < SIZE; i++) {
        p[i] = element(i, 0);
    }
    for (int64_t step = 1; step <= STEPS; step++) {
        tsr_tensor *gradient = NULL;
        TSR_TRY(make(s, l->type, l->gradient, step, &gradient));
        TSR_TRY(tsr_sgd_step(parameter, gradient, o, o->momentum > 0 ? velocity : NULL));
        for (int64_t i = 0; i < SIZE; i++) {
            const double g = element(i, step) + o->weight_decay * p[i];
            v[i] = o->momentum * v[i] + g;
            p[i] -= o->learning_rate * (o->nesterov ? g + o->momentum * v[i] : v[i]);
        }
    }
    TSR_TRY(o->momentum > 0 ? near(s, velocity, v, l->tolerance) : TSR_OK);
    return near(s, parameter, p, l->tolerance);
}

static tsr_status adam(const site *s, const layouts *l, const tsr_adam_options *o)
{
    double p[SIZE];
    double m[SIZE] = {0};
    double q[SIZE] = {0};
    tsr_tensor *parameter = NULL;
    tsr_tensor *mean = NULL;
    tsr_tensor *square = NULL;
    TSR_TRY(make(s, l->type, l->parameter, 0, &parameter));
    TSR_TRY(make(s, l->type, l->state, -1, &mean));
    TSR_TRY(make(s, l->type, l->state, -1, &square));
    for (int64_t i = 0; i < SIZE; i++) {
        p[i] = element(i, 0);
    }
    for (int64_t step = 1; step <= STEPS; step++) {
        tsr_tensor *gradient = NULL;
        TSR_TRY(make(s, l->type, l->gradient, step, &gradient));
        TSR_TRY(tsr_adam_step(parameter, gradient, o, step, mean, square));
        for (int64_t i = 0; i < SIZE; i++) {
            const double g = element(i, step) + (o->decoupled ? 0 : o->weight_decay * p[i]);
            m[i] = o->beta1 * m[i] + (1 - o->beta1) * g;
            q[i] = o->beta2 * q[i] + (1 - o->beta2) * g * g;
            const double mean_now = m[i] / (1 - pow(o->beta1, (double)step));
            const double square_now = q[i] / (1 - pow(o->beta2, (double)step));
            p[i] -= o->decoupled ? o->learning_rate * o->weight_decay * p[i] : 0;
            p[i] -= o->learning_rate * mean_now / (sqrt(square_now) + o->epsilon);
        }
    }
    TSR_TRY(near(s, mean, m, l->tolerance));
    TSR_TRY(near(s, square, q, l->tolerance));
    return near(s, parameter, p, l->tolerance);
}

static tsr_status steps(const site *s)
{
    static const tsr_sgd_options by_sgd[] = {
        {.learning_rate = 0.1},
        {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01},
        {.learning_rate = 0.1, .momentum = 0.9, .nesterov = true},
    };
    static const tsr_adam_options by_adam[] = {
        {0.01, 0.9, 0.999, 1e-6, 0, false},
        {0.01, 0.9, 0.999, 1e-6, 0.1, false},
        {0.01, 0.9, 0.999, 1e-6, 0.1, true},
        {0.01, 0, 0, 1e-6, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < sizeof by_sgd / sizeof by_sgd[0]; k++) {
            TSR_TRY(sgd(s, &cases[i], &by_sgd[k]));
        }
        for (size_t k = 0; k < sizeof by_adam / sizeof by_adam[0]; k++) {
            TSR_TRY(adam(s, &cases[i], &by_adam[k]));
        }
    }
    return TSR_OK;
}

/* Expects a refusal that says why and leaves the parameter alone. */
#define REFUSED(call, message)                                                                     \
    do {                                                                                           \
        WANT(s->world, (call) == TSR_ERR_INVALID);                                                 \
        WANT(s->world, heard(s->world, message));                                                  \
    } while (0)

static tsr_status refusals(const site *s)
{
    const tsr_sgd_options o = {.learning_rate = 1, .momentum = 0.5};
    const tsr_adam_options a = {1, 0.9, 0.999, 1e-8, 0, false};
    double wanted[SIZE];
    const int64_t flat = -1;
    tsr_tensor *p = NULL;
    tsr_tensor *g = NULL;
    tsr_tensor *v = NULL;
    tsr_tensor *other = NULL;
    for (int64_t i = 0; i < SIZE; i++) {
        wanted[i] = element(i, 0);
    }
    TSR_TRY(make(s, "f64[5,6]", "P('x')", 0, &p));
    TSR_TRY(make(s, "f64[5,6]", "P('x')", 1, &g));
    TSR_TRY(make(s, "f64[5,6]", "P('x')", -1, &v));
    REFUSED(tsr_sgd_step(p, g, &o, NULL), "a momentum of 0.5 requires a velocity");
    REFUSED(tsr_sgd_step(p, g, &o, p), "the parameter and the state are the same tensor");
    REFUSED(tsr_sgd_step(p, g, &(tsr_sgd_options){.learning_rate = -1}, v), "learning rate");
    REFUSED(tsr_sgd_step(p, g, &(tsr_sgd_options){.learning_rate = NAN}, v), "learning rate");
    REFUSED(tsr_sgd_step(p, g, &(tsr_sgd_options){1, 1, 0, false}, v), "momentum must be 0 or abo");
    REFUSED(tsr_adam_step(p, g, &a, 0, v, g), "the step number must be at least 1, got: 0");
    REFUSED(tsr_adam_step(p, g, &a, 1, v, v), "the state and the second state are the same");
    TSR_TRY(tsr_reshape(g, &flat, 1, &other));
    REFUSED(tsr_sgd_step(p, other, &o, v),
            "the gradient, f64[30], must have a floating-point element type");
    REFUSED(tsr_sgd_step(p, g, &o, other),
            "the state, f64[30], must have a floating-point element type");
    TSR_TRY(tsr_convert(g, TSR_I32, &other));
    REFUSED(tsr_sgd_step(p, other, &o, v),
            "the gradient, i32[5,6], must have a floating-point element type");
    TSR_TRY(make(s, "f64[5,6]", "[{}, {}], unreduced={\"x\"}", 1, &other));
    REFUSED(tsr_sgd_step(other, g, &o, v), "the parameter has a pending reduction");
    TSR_TRY(tsr_tape_begin(s->world));
    TSR_TRY(tsr_watch(p));
    REFUSED(tsr_sgd_step(p, g, &o, v), "a tape is recording");
    tsr_tape_end(s->world);
    return near(s, p, wanted, 0);
}

/* In typed code types decide: a pending or varying gradient does not change a replicated value. */
static tsr_status typed(const site *s)
{
    static const char *const same[] = {"{x:R}", "{x:I}", "{x:V}"};
    static const char *const wrong[][2] = {{"{x:R}", "{x:P}"}, {"{x:R}", "{x:V}"}};
    const tsr_sgd_options o = {.learning_rate = 0.5};
    const int64_t two = 2;
    float elements[] = {1, 2};
    const tsr_view view = {elements, TSR_F32, 1, &two, NULL};
    tsr_tensor *p = NULL;
    tsr_tensor *g = NULL;
    TSR_TRY(tsr_spmd_open(s->world, &(tsr_spmd_scope){.mesh = s->mesh}));
    for (size_t i = 0; i < 3; i++) {
        TSR_TRY(tsr_typed_value(s->world, &view, same[i], &p));
        TSR_TRY(tsr_typed_value(s->world, &view, same[i], &g));
        TSR_TRY(tsr_sgd_step(p, g, &o, NULL));
        WANT(s->world, ((const float *)tsr_tensor_data(p))[1] == 1);
    }
    for (size_t i = 0; i < 2; i++) {
        TSR_TRY(tsr_typed_value(s->world, &view, wrong[i][0], &p));
        TSR_TRY(tsr_typed_value(s->world, &view, wrong[i][1], &g));
        WANT(s->world, tsr_sgd_step(p, g, &o, NULL) < 0);
        WANT(s->world, heard(s->world, "tsr_sgd_step"));
        WANT(s->world, ((const float *)tsr_tensor_data(p))[1] == 2);
    }
    tsr_spmd_close(s->world);
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    site s = {.world = world, .ctx = tsr_comm_context(world)};
    (void)state;
    TSR_TRY(tsr_arena_create(s.ctx, &s.arena));
    TSR_TRY(tsr_mesh_of_world(world, s.arena, "x=-1", &s.mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(steps(&s));
    TSR_TRY(refusals(&s));
    TSR_TRY(typed(&s));
    tsr_scope_close(world);
    tsr_arena_destroy(s.arena);
    return TSR_OK;
}

static void optimizers_step(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        const tsr_launch_spec spec = {.num_ranks = ranks,
                                      .ranks = kinds_chosen(),
                                      .checked = true,
                                      .segment_bytes = (size_t)1 << 24};
        expect_ranks(*state, &spec, run, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(optimizers_step)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
