/*
 * A two-layer network trained by AdamW, sharded by data and by feature.
 *
 * It learns to classify points by the quadrant in which they lie. The rows of x are sharded along
 * the mesh axis "data", the weights along "model"; gradients come from a tape, and each parameter
 * and its state, sharded alike, change in place. The losses fall, and are those of one rank.
 *
 *   train_mlp [RANKS] [threads|processes]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

enum { STEPS = 40, PARAMETERS = 4 };

/* Ends a rank with the status of a call that failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const tsr_status try_status = (call);                                                      \
        if (try_status < 0) {                                                                      \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

typedef struct model {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    tsr_tensor *x;
    tsr_tensor *labels;
    tsr_tensor *parameters[PARAMETERS]; /* W1, b1, W2, b2 */
    tsr_tensor *means[PARAMETERS];
    tsr_tensor *squares[PARAMETERS];
} model;

static const struct {
    const char *type;
    const char *layout;
} shapes[PARAMETERS] = {{"f32[2,24]", "P(None, 'model')"},
                        {"f32[24]", "P('model')"},
                        {"f32[24,4]", "P('model', None)"},
                        {"f32[4]", NULL}};

static tsr_status spec_of(const model *m, const char *type, const char *layout,
                          tsr_tensor_spec *out)
{
    return tsr_tensor_spec_parse(tsr_comm_context(m->world), m->arena, m->mesh, type, layout, out);
}

/* The quadrant of each point. */
static void quadrant(const int64_t *index, void *element, void *state)
{
    const float *points = state;
    const float *point = points + 2 * index[0];
    const int32_t label = (point[0] > 0 ? 1 : 0) + (point[1] > 0 ? 2 : 0);
    memcpy(element, &label, sizeof label);
}

static tsr_status make_data(model *m)
{
    tsr_tensor_spec spec;
    float points[64][2];
    TRY(spec_of(m, "f32[64,2]", "P('data', None)", &spec));
    TRY(tsr_random_normal(m->world, &spec, (tsr_random_key){1, 0}, &m->x));
    TRY(tsr_tensor_to_full(m->x, -1, points));
    TRY(spec_of(m, "i32[64]", "P('data')", &spec));
    TRY(tsr_zeros(m->world, &spec, &m->labels));
    tsr_tensor_fill(m->labels, quadrant, points);
    return TSR_OK;
}

static tsr_status make_parameters(model *m)
{
    for (size_t i = 0; i < PARAMETERS; i++) {
        tsr_tensor_spec spec;
        TRY(spec_of(m, shapes[i].type, shapes[i].layout, &spec));
        TRY(tsr_random_normal(m->world, &spec, (tsr_random_key){2, i}, &m->parameters[i]));
        TRY(tsr_mul_number(m->parameters[i], 0.5, &m->parameters[i]));
        TRY(tsr_zeros(m->world, &spec, &m->means[i]));
        TRY(tsr_zeros(m->world, &spec, &m->squares[i]));
    }
    return TSR_OK;
}

/* The mean cross-entropy of relu(x W1 + b1) W2 + b2. */
static tsr_status loss_of(const model *m, tsr_tensor **out)
{
    const size_t rows = 0;
    tsr_tensor *y = NULL;
    TRY(tsr_matmul(m->x, m->parameters[0], &y));
    TRY(tsr_add(y, m->parameters[1], &y));
    TRY(tsr_relu(y, &y));
    TRY(tsr_matmul(y, m->parameters[2], &y));
    TRY(tsr_add(y, m->parameters[3], &y));
    TRY(tsr_cross_entropy(y, m->labels, &y));
    return tsr_mean(y, &rows, 1, out);
}

/* The loss, and its gradients by a tape. */
static tsr_status gradients_of(const model *m, float *loss, tsr_tensor **gradients)
{
    tsr_tensor *mean = NULL;
    TRY(tsr_tape_begin(m->world));
    for (size_t i = 0; i < PARAMETERS; i++) {
        TRY(tsr_watch(m->parameters[i]));
    }
    TRY(loss_of(m, &mean));
    TRY(tsr_backward(mean));
    for (size_t i = 0; i < PARAMETERS; i++) {
        TRY(tsr_gradient(m->parameters[i], &gradients[i]));
    }
    tsr_tape_end(m->world);
    return tsr_tensor_to_full(mean, -1, loss);
}

/* One step; what it makes is released with its scope. */
static tsr_status train(const model *m, int64_t step, float *loss)
{
    static const tsr_adam_options adamw = {.learning_rate = 0.05,
                                           .beta1 = 0.9,
                                           .beta2 = 0.999,
                                           .epsilon = 1e-8,
                                           .weight_decay = 0.01,
                                           .decoupled = true};
    tsr_tensor *gradients[PARAMETERS];
    TRY(tsr_scope_open(m->world));
    TRY(gradients_of(m, loss, gradients));
    for (size_t i = 0; i < PARAMETERS; i++) {
        TRY(tsr_adam_step(m->parameters[i], gradients[i], &adamw, step, m->means[i],
                          m->squares[i]));
    }
    tsr_scope_close(m->world);
    return TSR_OK;
}

static tsr_status learn(model *m)
{
    float first = 0;
    float loss = 0;
    TRY(make_data(m));
    TRY(make_parameters(m));
    for (int64_t step = 1; step <= STEPS; step++) {
        TRY(train(m, step, &loss));
        first = step == 1 ? loss : first;
        if (tsr_comm_rank(m->world) == 0 && (step == 1 || step % 10 == 0)) {
            printf("step %2lld  loss %.3f\n", (long long)step, (double)loss);
        }
    }
    if (!(loss < first / 4)) {
        (void)fprintf(stderr, "the loss does not fall\n");
        return TSR_ERR_INVALID;
    }
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    model m = {.world = world};
    (void)state;
    TRY(tsr_arena_create(tsr_comm_context(world), &m.arena));
    const bool even = tsr_comm_size(world) % 2 == 0;
    tsr_status status =
        tsr_mesh_of_world(world, m.arena, even ? "data=2, model=-1" : "data=-1, model=1", &m.mesh);
    status = status < 0 ? status : tsr_scope_open(world);
    if (status == TSR_OK) {
        status = learn(&m);
        tsr_scope_close(world);
    }
    tsr_arena_destroy(m.arena);
    return status;
}

int main(int argc, char **argv)
{
    tsr_context *ctx = NULL;
    tsr_launch_spec spec = {.num_ranks = argc > 1 ? atoll(argv[1]) : 0};
    if (argc > 2) {
        spec.ranks = strcmp(argv[2], "processes") == 0 ? TSR_RANKS_PROCESSES : TSR_RANKS_THREADS;
    }
    if (tsr_context_create(NULL, &ctx) < 0) {
        return 1;
    }
    const tsr_status status = tsr_launch(ctx, &spec, run, NULL);
    tsr_context_print(ctx, stderr);
    tsr_context_destroy(ctx);
    return status < 0 ? 1 : 0;
}
