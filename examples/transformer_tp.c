/*
 * A transformer block trained with data, tensor and sequence parallelism, in typed SPMD code.
 *
 * The mesh has an axis "dp", along which ranks have different sentences, and an axis "tp", along
 * which they share the work on one. Every rank computes on arrays of its own; every collective is a
 * call; types say how the arrays of all ranks belong together, and refuse what would give wrong
 * gradients before it is computed. Norms and residuals are sharded along the sequence; attention
 * and the MLP along heads and features; the vocabulary of the embedding and of the loss is sharded
 * too. The same program on one rank is the reference: losses and gradients must be the same but for
 * rounding.
 *
 *   transformer_tp [RANKS]             trains on threads, or on the processes of mpirun; compares
 * with one rank transformer_tp --forget [RANKS]    the same with a forgotten convert: it does not
 * type-check; transformer_tp --unchecked [RANKS]    without types: the same numbers
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

enum {
    SENTENCES = 4,
    LENGTH = 8,
    WIDTH = 16,
    HEADS = 4,
    HIDDEN = 32,
    VOCABULARY = 24,
    STEPS = 4,
    PARAMETERS = 9,
    MAX_NUMBERS = 2048
};

/* Ends a rank with the status of a call that failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const tsr_status try_status = (call);                                                      \
        if (try_status < 0) {                                                                      \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

/* The parameters: shapes and layouts; a rank has its part, the same along "dp". */
typedef struct parameter_row {
    const char *name;
    size_t rank;
    int64_t shape[2];
    const char *layout;
} parameter_row;

enum { EMBED, NORM1, QUERY, KEY, VALUE, PROJECT, NORM2, UP, DOWN };
static const parameter_row rows[PARAMETERS] = {
    [EMBED] = {"embedding", 2, {VOCABULARY, WIDTH}, "[{\"tp\"}, {}]"},
    [NORM1] = {"first norm", 1, {WIDTH, 0}, "[{}]"},
    [QUERY] = {"query", 2, {WIDTH, WIDTH}, "[{}, {\"tp\"}]"},
    [KEY] = {"key", 2, {WIDTH, WIDTH}, "[{}, {\"tp\"}]"},
    [VALUE] = {"value", 2, {WIDTH, WIDTH}, "[{}, {\"tp\"}]"},
    [PROJECT] = {"projection", 2, {WIDTH, WIDTH}, "[{\"tp\"}, {}]"},
    [NORM2] = {"second norm", 1, {WIDTH, 0}, "[{}]"},
    [UP] = {"up", 2, {WIDTH, HIDDEN}, "[{}, {\"tp\"}]"},
    [DOWN] = {"down", 2, {HIDDEN, WIDTH}, "[{\"tp\"}, {}]"},
};

/* What one rank works with. */
typedef struct model {
    tsr_comm *world;
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    int64_t dp;
    int64_t tp;
    bool forget;                        /* leave one convert out */
    bool unchecked;                     /* no types */
    tsr_tensor *parameters[PARAMETERS]; /* sharded tensors */
    tsr_tensor *values[PARAMETERS];     /* this rank's parts, in a step */
    tsr_tensor *tokens;                 /* this rank's sentences, [b, LENGTH] */
    tsr_tensor *labels;
} model;

/* What a run leaves: the losses, and all gradients of the last step. */
typedef struct outcome {
    bool forget;
    bool unchecked;
    float losses[STEPS];
    float gradients[PARAMETERS][MAX_NUMBERS];
} outcome;

/* ---- small things ---- */

static tsr_status number_times(tsr_tensor *x, double number, tsr_tensor **out)
{
    tsr_tensor *scalar = NULL;
    TRY(tsr_scalar_like(x, number, &scalar));
    return tsr_mul(x, scalar, out);
}

/* A parameter for use in computation: along an axis its gradient may be partial. */
static tsr_status to_use(tsr_tensor *value, const char *axis, tsr_tensor **out)
{
    return tsr_convert_type(value, axis, TSR_AS(I), TSR_AS(R), NULL, out);
}

/* The sum over "tp" of what ranks have computed, cut along the sequence. */
static tsr_status scatter_sequence(tsr_tensor *x, tsr_tensor **out)
{
    TRY(tsr_reinterpret(x, "tp", TSR_AS(V), TSR_AS(P), NULL, &x));
    return tsr_reduce_scatter(x, "tp", TSR_AS(P), TSR_AS_S(1), NULL, out);
}

static tsr_status gather_sequence(tsr_tensor *x, tsr_tensor **out)
{
    return tsr_all_gather(x, "tp", TSR_AS_S(1), TSR_AS(R), NULL, out);
}

/* ---- the model ---- */

/* Rows of a table of which this rank has a part: zeros where another rank has them. */
static tsr_status look_up(const model *m, tsr_tensor *table, tsr_tensor *indices, tsr_tensor **out)
{
    const int64_t rows_here = tsr_tensor_local_shape(table)[0];
    const int64_t first = VOCABULARY / m->tp * (tsr_comm_rank(m->world) % m->tp);
    const int64_t grown[] = {tsr_tensor_local_shape(indices)[0], LENGTH, 1};
    tsr_tensor *low = NULL;
    tsr_tensor *high = NULL;
    tsr_tensor *mask = NULL;
    tsr_tensor *taken = NULL;
    TRY(tsr_scalar_like(indices, (double)first, &low));
    TRY(tsr_scalar_like(indices, (double)(first + rows_here), &high));
    tsr_tensor *is_above = NULL;
    tsr_tensor *is_below = NULL;
    TRY(tsr_compare(indices, low, TSR_GE, &is_above));
    TRY(tsr_compare(indices, high, TSR_LT, &is_below));
    TRY(tsr_and(is_above, is_below, &mask));
    TRY(tsr_sub(indices, low, &indices));
    TRY(tsr_embedding(table, indices, &taken));
    TRY(tsr_convert(mask, TSR_F32, &mask));
    TRY(tsr_reshape(mask, grown, 3, &mask));
    return tsr_mul(taken, mask, out);
}

/* [b, s, heads * size] as [b, heads, s, size] */
static tsr_status split_heads(const model *m, tsr_tensor *x, tsr_tensor **out)
{
    const int64_t batch = tsr_tensor_local_shape(x)[0];
    const int64_t shape[] = {batch, LENGTH, HEADS / m->tp, WIDTH / HEADS};
    const size_t turn[] = {0, 2, 1, 3};
    TRY(tsr_reshape(x, shape, 4, &x));
    return tsr_transpose(x, turn, out);
}

static tsr_status attention(const model *m, tsr_tensor *x, tsr_tensor **out)
{
    tsr_tensor *parts[3];
    tsr_tensor *scores = NULL;
    const size_t batches[] = {0, 1};
    const size_t last = 3;
    const size_t keys = 2;
    const size_t turn[] = {0, 2, 1, 3};
    const int64_t batch = tsr_tensor_local_shape(x)[0];
    const int64_t flat[] = {batch, LENGTH, WIDTH / m->tp};
    for (int i = 0; i < 3; i++) {
        TRY(tsr_matmul(x, m->values[QUERY + i], &parts[i]));
        TRY(split_heads(m, parts[i], &parts[i]));
    }
    const tsr_dot_dims by_key = {2, batches, batches, 1, &last, &last};
    const tsr_dot_dims by_value = {2, batches, batches, 1, &last, &keys};
    TRY(tsr_dot_general(parts[0], parts[1], &by_key, &scores));
    TRY(number_times(scores, 1 / sqrt((double)WIDTH / (double)HEADS), &scores));
    TRY(tsr_softmax(scores, 3, &scores));
    TRY(tsr_dot_general(scores, parts[2], &by_value, &x));
    TRY(tsr_transpose(x, turn, &x));
    TRY(tsr_reshape(x, flat, 3, &x));
    TRY(tsr_matmul(x, m->values[PROJECT], &x));
    return scatter_sequence(x, out);
}

static tsr_status mlp(const model *m, tsr_tensor *x, tsr_tensor **out)
{
    TRY(tsr_matmul(x, m->values[UP], &x));
    TRY(tsr_gelu(x, &x));
    TRY(tsr_matmul(x, m->values[DOWN], &x));
    return scatter_sequence(x, out);
}

/* A sum over "tp" that every rank then has, as a part of the loss. */
static tsr_status sum_over_tp(tsr_tensor *x, tsr_tensor **out)
{
    TRY(tsr_reinterpret(x, "tp", TSR_AS(V), TSR_AS(P), NULL, &x));
    return tsr_all_reduce(x, "tp", TSR_AS(P), TSR_AS(I), NULL, out);
}

/* The greatest logit of each token, over the whole vocabulary; it has no gradient, and needs none.
 */
static tsr_status greatest(const model *m, tsr_tensor *logits, tsr_tensor **out)
{
    const size_t last = 2;
    const int64_t batch = tsr_tensor_local_shape(logits)[0];
    const int64_t grown[] = {batch, LENGTH, 1};
    tsr_tape_pause(m->world);
    tsr_tensor *most = NULL;
    tsr_status status = tsr_max(logits, &last, 1, &most);
    if (status == TSR_OK) {
        status = tsr_reshape(most, grown, 3, &most);
    }
    if (status == TSR_OK) {
        status = tsr_reinterpret(most, "tp", TSR_AS(V), TSR_AS_P(TSR_MAX), NULL, &most);
    }
    if (status == TSR_OK) {
        status = tsr_all_reduce(most, "tp", TSR_AS_P(TSR_MAX), TSR_AS(I), NULL, out);
    }
    tsr_tape_resume(m->world);
    return status;
}

/* Cross-entropy over a sharded vocabulary: only a number for each token goes between ranks. */
static tsr_status loss_of(const model *m, tsr_tensor *logits, tsr_tensor **out)
{
    const size_t last = 2;
    const size_t all[] = {0, 1};
    const int64_t batch = tsr_tensor_local_shape(logits)[0];
    const int64_t tokens[] = {batch, LENGTH};
    tsr_tensor *most = NULL;
    tsr_tensor *shared = NULL;
    tsr_tensor *sum = NULL;
    tsr_tensor *hot = NULL;
    TRY(greatest(m, logits, &most));
    TRY(tsr_convert_type(most, "tp", TSR_AS(I), TSR_AS(R), NULL, &shared));
    TRY(tsr_sub(logits, shared, &logits));
    TRY(tsr_exp(logits, &sum));
    TRY(tsr_sum(sum, &last, 1, &sum));
    TRY(sum_over_tp(sum, &sum));
    TRY(tsr_log(sum, &sum));
    /* The label's logit, from the rank that has it. */
    const int64_t first = VOCABULARY / m->tp * (tsr_comm_rank(m->world) % m->tp);
    tsr_tensor *start = NULL;
    tsr_tensor *labels = NULL;
    TRY(tsr_scalar_like(m->labels, (double)first, &start));
    TRY(tsr_sub(m->labels, start, &labels));
    TRY(tsr_one_hot(labels, VOCABULARY / m->tp, TSR_F32, &hot));
    TRY(tsr_mul(logits, hot, &hot));
    TRY(tsr_sum(hot, &last, 1, &hot));
    TRY(sum_over_tp(hot, &hot));
    TRY(tsr_sub(sum, hot, &sum));
    TRY(tsr_reshape(sum, tokens, 2, &sum));
    TRY(tsr_sum(sum, all, 2, &sum));
    TRY(number_times(sum, 1.0 / (SENTENCES * LENGTH), &sum));
    return tsr_reinterpret(sum, "dp", TSR_AS(V), TSR_AS(P), NULL, out);
}

static tsr_status forward(const model *m, tsr_tensor **loss)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    const size_t turn[] = {1, 0};
    TRY(look_up(m, m->values[EMBED], m->tokens, &x));
    TRY(scatter_sequence(x, &x));
    TRY(tsr_rms_norm(x, m->values[NORM1], 1e-5, &y));
    TRY(gather_sequence(y, &y));
    TRY(attention(m, y, &y));
    TRY(tsr_add(x, y, &x));
    TRY(tsr_rms_norm(x, m->values[NORM2], 1e-5, &y));
    TRY(gather_sequence(y, &y));
    TRY(mlp(m, y, &y));
    TRY(tsr_add(x, y, &x));
    TRY(gather_sequence(x, &x));
    TRY(tsr_transpose(m->values[EMBED], turn, &y));
    TRY(tsr_matmul(x, y, &x));
    return loss_of(m, x, loss);
}

/* ---- training ---- */

/* Random parameters, the same for every layout and number of ranks. */
static tsr_status make_parameters(model *m)
{
    for (int i = 0; i < PARAMETERS; i++) {
        const tsr_sharding *layout = NULL;
        tsr_tensor *t = NULL;
        TRY(tsr_sharding_parse(m->ctx, m->arena, m->mesh, rows[i].layout, &layout));
        const tsr_tensor_spec spec = {layout, TSR_F32, rows[i].rank, rows[i].shape};
        TRY(rows[i].rank == 1
                ? tsr_ones(m->world, &spec, &t)
                : tsr_random_normal(m->world, &spec, (tsr_random_key){7, (uint64_t)i}, &t));
        if (rows[i].rank == 2) {
            TRY(number_times(t, 0.2, &t));
        }
        m->parameters[i] = tsr_tensor_retain(t);
    }
    return TSR_OK;
}

/* This rank's sentences: whole numbers that depend on where they are in the batch. */
static tsr_status make_tokens(model *m, int64_t seed, tsr_tensor **out)
{
    const int64_t batch = SENTENCES / m->dp;
    const int64_t shape[] = {batch, LENGTH};
    int32_t numbers[SENTENCES * LENGTH];
    const int64_t first = batch * (tsr_comm_rank(m->world) / m->tp);
    char type[64];
    for (int64_t i = 0; i < batch * LENGTH; i++) {
        numbers[i] = (int32_t)(((first * LENGTH + i) * 7 + seed) % VOCABULARY);
    }
    const tsr_view view = {numbers, TSR_I32, 2, shape, NULL};
    (void)snprintf(type, sizeof type, "i32[%d,%d]{dp:V, tp:R}", (int)batch, LENGTH);
    return tsr_typed_value(m->world, &view, type, out);
}

/* Takes the parameters' parts for this step, watched, and ready for use on every axis. */
static tsr_status take_parameters(model *m, tsr_tensor **parts)
{
    for (int i = 0; i < PARAMETERS; i++) {
        const bool sharded = strstr(rows[i].layout, "tp") != NULL;
        TRY(tsr_local_of(m->parameters[i], TSR_I, &parts[i]));
        TRY(tsr_watch(parts[i]));
        m->values[i] = parts[i];
        if (!sharded && !(m->forget && i == NORM1)) {
            TRY(to_use(m->values[i], "tp", &m->values[i]));
        }
        TRY(to_use(m->values[i], "dp", &m->values[i]));
    }
    return TSR_OK;
}

/* The loss, and the gradients as sharded tensors: the typed part ends here. */
static tsr_status differentiate(model *m, float *loss_out, tsr_tensor **gradients)
{
    tsr_tensor *parts[PARAMETERS];
    tsr_tensor *loss = NULL;
    tsr_tensor *sum = NULL;
    TRY(tsr_tape_begin(m->world));
    TRY(take_parameters(m, parts));
    TRY(make_tokens(m, 1, &m->tokens));
    TRY(make_tokens(m, 8, &m->labels));
    TRY(forward(m, &loss));
    TRY(tsr_backward(loss));
    TRY(tsr_all_reduce(loss, "dp", TSR_AS(P), TSR_AS(I), NULL, &sum));
    memcpy(loss_out, tsr_tensor_data(sum), sizeof *loss_out);
    for (int i = 0; i < PARAMETERS; i++) {
        tsr_tensor *gradient = NULL;
        TRY(tsr_gradient(parts[i], &gradient));
        TRY(tsr_tensor_of_local(gradient, &gradients[i]));
    }
    tsr_tape_end(m->world);
    return TSR_OK;
}

/* One step of gradient descent. */
static tsr_status train_step(model *m, outcome *o, int step)
{
    tsr_tensor *gradients[PARAMETERS];
    TRY(tsr_spmd_open(m->world, &(tsr_spmd_scope){.mesh = m->mesh, .unchecked = m->unchecked}));
    TRY(differentiate(m, &o->losses[step], gradients));
    tsr_spmd_close(m->world);
    for (int i = 0; i < PARAMETERS; i++) {
        tsr_tensor *change = NULL;
        TRY(tsr_tensor_to_full(gradients[i], -1, o->gradients[i]));
        TRY(number_times(gradients[i], -0.5, &change));
        TRY(tsr_add(m->parameters[i], change, &change));
        tsr_tensor_release(m->parameters[i]);
        m->parameters[i] = tsr_tensor_retain(change);
    }
    return TSR_OK;
}

static tsr_status train(model *m, outcome *o)
{
    TRY(tsr_scope_open(m->world));
    TRY(make_parameters(m));
    tsr_scope_close(m->world);
    for (int step = 0; step < STEPS; step++) {
        TRY(tsr_scope_open(m->world));
        TRY(train_step(m, o, step));
        tsr_scope_close(m->world);
    }
    for (int i = 0; i < PARAMETERS; i++) {
        tsr_tensor_release(m->parameters[i]);
    }
    return TSR_OK;
}

/* Ranks along "tp" first, up to 4 of them. */
static tsr_status make_mesh(model *m)
{
    const int64_t ranks = tsr_comm_size(m->world);
    m->tp = ranks % 4 == 0 ? 4 : ranks % 2 == 0 ? 2 : 1;
    m->dp = ranks / m->tp;
    if (SENTENCES % m->dp != 0) {
        (void)fprintf(stderr, "%d sentences cannot be shared by %lld ranks\n", SENTENCES,
                      (long long)m->dp);
        return TSR_ERR_INVALID;
    }
    const char *const names[] = {"dp", "tp"};
    const int64_t sizes[] = {m->dp, m->tp};
    const tsr_mesh_spec spec = {.num_axes = 2, .axis_names = names, .axis_sizes = sizes};
    return tsr_mesh_create(m->ctx, m->arena, &spec, &m->mesh);
}

static tsr_status run(tsr_comm *world, void *state)
{
    outcome *first = state;
    model m = {.world = world,
               .ctx = tsr_comm_context(world),
               .forget = first->forget,
               .unchecked = first->unchecked};
    TRY(tsr_arena_create(m.ctx, &m.arena));
    outcome *mine = tsr_arena_alloc(m.arena, sizeof *mine);
    tsr_status status = mine != NULL ? make_mesh(&m) : TSR_ERR_NOMEM;
    if (status == TSR_OK) {
        status = train(&m, mine);
    }
    if (tsr_comm_rank(world) == 0 && status == TSR_OK) {
        *first = *mine;
    }
    tsr_arena_destroy(m.arena);
    return status;
}

static double worst_difference(const outcome *a, const outcome *b)
{
    double worst = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        for (int64_t k = 0; k < rows[i].shape[0] * (rows[i].rank == 2 ? rows[i].shape[1] : 1);
             k++) {
            worst = fmax(worst, fabs((double)a->gradients[i][k] - (double)b->gradients[i][k]));
        }
    }
    return worst;
}

int main(int argc, char **argv)
{
    static outcome alone;
    static outcome together;
    const bool forget = argc > 1 && strcmp(argv[1], "--forget") == 0;
    const bool unchecked = argc > 1 && strcmp(argv[1], "--unchecked") == 0;
    const int at = forget || unchecked ? 2 : 1;
    tsr_context *ctx = NULL;
    tsr_launch_spec spec = {.num_ranks = argc > at ? atoll(argv[at]) : 0};
    const tsr_launch_spec one = {.num_ranks = 1, .ranks = TSR_RANKS_THREADS};
    if (tsr_context_create(NULL, &ctx) < 0) {
        return 1;
    }
    together.forget = forget;
    together.unchecked = unchecked;
    tsr_status status = tsr_launch(ctx, &spec, run, &together);
    if (status == TSR_OK) {
        status = tsr_launch(ctx, &one, run, &alone);
    }
    tsr_context_print(ctx, stderr);
    tsr_context_destroy(ctx);
    if (status < 0) {
        return 1;
    }
    if (tsr_launcher_rank() <= 0) {
        for (int i = 0; i < STEPS; i++) {
            printf("step %d: loss %.3f, on one rank %.3f\n", i, (double)together.losses[i],
                   (double)alone.losses[i]);
        }
        const bool same = worst_difference(&alone, &together) < 1e-5;
        printf("the gradients of %d parameters are %s\n", PARAMETERS,
               same ? "one rank's but for rounding" : "WRONG");
        return same ? 0 : 1;
    }
    return 0;
}
