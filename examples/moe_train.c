/*
 * A mixture of experts trained through the redistribution of tokens, without padding.
 *
 * Every rank has some tokens, each routed to one of EXPERTS experts; some ranks have many, some
 * none. Sorted by expert, they are a tensor whose rows are partitioned: unaligned, each rank has a
 * slice of every partition. Aligned, each rank has the tokens of its experts whole; there they go
 * through two layers of that expert, an op of this program's own with its own gradient, and back to
 * where they came from. The tape goes through all of it: the gradient of the redistribution is the
 * reverse redistribution. On one rank the same program is the reference: the numbers are such that
 * losses and gradients are the same but for rounding.
 *
 *   moe_train [RANKS]        on threads, or on the processes of mpirun
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

enum { EXPERTS = 8, WIDTH = 12, TOKENS = 96, STEPS = 5, MAX_RANKS = 64 };

/* Ends a rank with the status of a call that failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const tsr_status try_status = (call);                                                      \
        if (try_status < 0) {                                                                      \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

/* What one rank works with. */
typedef struct moe {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    int64_t counts[MAX_RANKS * EXPERTS]; /* tokens of rank s for expert p */
    const tsr_sharding *unaligned;
    tsr_tensor *weights; /* of all experts, sharded by expert */
} moe;

typedef struct outcome {
    double losses[STEPS];
    float gradient[EXPERTS * WIDTH * WIDTH];
} outcome;

static int64_t expert_of(int64_t token)
{
    return token * token % 11 % EXPERTS;
}

/* Token t belongs to a rank: the later ones have more of them. */
static int64_t rank_of(int64_t token, int64_t ranks)
{
    return (int64_t)(sqrt((double)token / (double)TOKENS) * (double)ranks);
}

static float number_at(int64_t token, int64_t column, int64_t seed)
{
    return (float)((token * 7 + column * 3 + seed) % 13 - 6) / 8.0F;
}

/* The layout of the tokens, a slice of every expert on each rank. */
static tsr_status make_ragged(moe *m)
{
    const int64_t ranks = tsr_comm_size(m->world);
    for (int64_t t = 0; t < TOKENS; t++) {
        m->counts[rank_of(t, ranks) * EXPERTS + expert_of(t)]++;
    }
    const tsr_axis_ref axis = tsr_axis_full(m->mesh, 0);
    const tsr_ragged ragged = {.kind = TSR_RAGGED_UNALIGNED,
                               .rows = 1,
                               .partitions = EXPERTS,
                               .counts = m->counts,
                               .alignment = 1};
    tsr_dim dims[] = {tsr_dim_closed(&axis, 1), tsr_dim_closed(NULL, 0)};
    dims[0].ragged = &ragged;
    const tsr_sharding_spec spec = {.mesh = m->mesh, .rank = 2, .dims = dims};
    return tsr_sharding_create(tsr_comm_context(m->world), m->arena, &spec, TSR_SHARDING_DEFAULT,
                               &m->unaligned);
}

/* This rank's tokens, sorted by expert. */
static tsr_status make_tokens(const moe *m, int64_t seed, tsr_tensor **out)
{
    const int64_t shape[] = {TOKENS, WIDTH};
    const tsr_tensor_spec spec = {m->unaligned, TSR_F32, 2, shape};
    TRY(tsr_zeros(m->world, &spec, out));
    float *row = tsr_tensor_data(*out);
    for (int64_t p = 0; p < EXPERTS; p++) {
        for (int64_t t = 0; t < TOKENS; t++) {
            if (expert_of(t) == p &&
                rank_of(t, tsr_comm_size(m->world)) == tsr_comm_rank(m->world)) {
                for (int64_t c = 0; c < WIDTH; c++) {
                    *row++ = number_at(t, c, seed);
                }
            }
        }
    }
    return TSR_OK;
}

/* ---- the experts: an op of our own ---- */

/* How many tokens there are of an expert, on all ranks. */
static int64_t rows_of(const moe *m, int64_t expert)
{
    int64_t rows = 0;
    for (int64_t s = 0; s < tsr_comm_size(m->world); s++) {
        rows += m->counts[s * EXPERTS + expert];
    }
    return rows;
}

/* out = tokens W, or tokens W', for each expert that this rank has. */
static void multiply(const moe *m, const float *tokens, const float *weights, bool transposed,
                     float *out)
{
    const int64_t ranks = tsr_comm_size(m->world);
    const int64_t rank = tsr_comm_rank(m->world);
    for (int64_t p = rank * EXPERTS / ranks; p < (rank + 1) * EXPERTS / ranks; p++) {
        const int64_t rows = rows_of(m, p);
        if (rows > 0) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans,
                        (int)rows, WIDTH, WIDTH, 1.0F, tokens, WIDTH, weights, WIDTH, 0.0F, out,
                        WIDTH);
        }
        tokens += rows * WIDTH;
        out += rows * WIDTH;
        weights += (ptrdiff_t)WIDTH * WIDTH;
    }
}

/* The gradient of each expert's weights: tokens' by cotangents. */
static void weights_gradient(const moe *m, const float *tokens, const float *cotangents, float *out)
{
    const int64_t ranks = tsr_comm_size(m->world);
    const int64_t rank = tsr_comm_rank(m->world);
    for (int64_t p = rank * EXPERTS / ranks; p < (rank + 1) * EXPERTS / ranks; p++) {
        const int64_t rows = rows_of(m, p);
        if (rows > 0) {
            cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, WIDTH, WIDTH, (int)rows, 1.0F,
                        tokens, WIDTH, cotangents, WIDTH, 0.0F, out, WIDTH);
        }
        tokens += rows * WIDTH;
        cotangents += rows * WIDTH;
        out += (ptrdiff_t)WIDTH * WIDTH;
    }
}

/* A tensor like another, zeros. */
static tsr_status zeros_like(const tsr_tensor *t, tsr_comm *world, tsr_tensor **out)
{
    const tsr_tensor_spec spec = {tsr_tensor_sharding(t), tsr_tensor_dtype(t), tsr_tensor_rank(t),
                                  tsr_tensor_shape(t)};
    return tsr_zeros(world, &spec, out);
}

static tsr_status experts_back(tsr_comm *world, void *state, tsr_tensor *const *inputs,
                               tsr_tensor *const *cotangents, tsr_tensor **gradients)
{
    const moe *m = state;
    tsr_tensor *laid_out = NULL;
    /* The cotangent may have any layout: it is redistributed to that of the tokens. */
    TRY(tsr_with_sharding(cotangents[0], tsr_tensor_sharding(inputs[0]), &laid_out));
    tsr_status status = zeros_like(inputs[0], world, &gradients[0]);
    if (status == TSR_OK) {
        status = zeros_like(inputs[1], world, &gradients[1]);
    }
    if (status == TSR_OK) {
        const float *cotangent = tsr_tensor_data(laid_out);
        multiply(m, cotangent, tsr_tensor_data(inputs[1]), true, tsr_tensor_data(gradients[0]));
        weights_gradient(m, tsr_tensor_data(inputs[0]), cotangent, tsr_tensor_data(gradients[1]));
    }
    tsr_tensor_release(laid_out);
    return status;
}

/* Every token of this rank's experts times its expert's weights. */
static tsr_status experts(moe *m, tsr_tensor *tokens, tsr_tensor *weights, tsr_tensor **out)
{
    tsr_tensor *const inputs[] = {tokens, weights};
    const tsr_custom_op op = {.name = "experts", .backward = experts_back, .state = m};
    TRY(zeros_like(tokens, m->world, out));
    multiply(m, tsr_tensor_data(tokens), tsr_tensor_data(weights), false, tsr_tensor_data(*out));
    return tsr_tape_custom(&op, inputs, 2, out, 1);
}

/* ---- training ---- */

/* To the experts or back; the tape knows the way. */
typedef tsr_status (*conversion)(tsr_tensor *tensor, size_t dim, tsr_conversion **record,
                                 tsr_tensor **out);

static tsr_status send(const moe *m, conversion convert, tsr_tensor *tokens, tsr_tensor **out)
{
    tsr_conversion *record = NULL;
    tsr_tensor *moved = NULL;
    TRY(convert(tokens, 0, &record, &moved));
    const tsr_status status = tsr_tape_conversion(tokens, moved, record);
    (void)m;
    *out = moved;
    return status;
}

/* The mean square of what the experts make of the tokens, less what is wanted; what was sent is
 * kept. */
static tsr_status loss_of(moe *m, tsr_tensor *tokens, tsr_tensor *wanted, tsr_tensor **sent,
                          tsr_tensor **loss)
{
    const size_t both[] = {0, 1};
    tsr_tensor *y = NULL;
    TRY(send(m, tsr_partitioned_unaligned_to_aligned, tokens, &sent[0]));
    TRY(experts(m, sent[0], m->weights, &y));
    TRY(tsr_tanh(y, &y));
    TRY(experts(m, y, m->weights, &y));
    TRY(send(m, tsr_partitioned_aligned_to_unaligned, y, &sent[1]));
    TRY(tsr_sub(sent[1], wanted, &y));
    TRY(tsr_mul(y, y, &y));
    return tsr_mean(y, both, 2, loss);
}

static tsr_status train_step(moe *m, double *loss_out, float *gradient_out)
{
    tsr_tensor *tokens = NULL;
    tsr_tensor *wanted = NULL;
    tsr_tensor *sent[2] = {NULL, NULL};
    tsr_tensor *loss = NULL;
    tsr_tensor *gradient = NULL;
    tsr_tensor *step = NULL;
    tsr_tensor *rate = NULL;
    float number;
    TRY(make_tokens(m, 1, &tokens));
    TRY(make_tokens(m, 5, &wanted));
    TRY(tsr_tape_begin(m->world));
    TRY(tsr_watch(m->weights));
    tsr_status status = loss_of(m, tokens, wanted, sent, &loss);
    if (status == TSR_OK) {
        status = tsr_backward(loss);
    }
    tsr_tensor_release(sent[0]);
    tsr_tensor_release(sent[1]);
    TRY(status);
    TRY(tsr_gradient(m->weights, &gradient));
    TRY(tsr_tensor_to_full(loss, -1, &number));
    TRY(tsr_tensor_to_full(gradient, -1, gradient_out));
    *loss_out = (double)number;
    TRY(tsr_scalar_like(gradient, -2, &rate));
    TRY(tsr_mul(gradient, rate, &step));
    tsr_tape_pause(m->world);
    status = tsr_add(m->weights, step, &step);
    tsr_tape_end(m->world);
    TRY(status);
    tsr_tensor_release(m->weights);
    m->weights = tsr_tensor_retain(step);
    return TSR_OK;
}

static tsr_status make_weights(moe *m)
{
    const int64_t shape[] = {EXPERTS, WIDTH, WIDTH};
    const tsr_sharding *by_expert = NULL;
    tsr_tensor *weights = NULL;
    tsr_tensor *small = NULL;
    TRY(tsr_sharding_parse(tsr_comm_context(m->world), m->arena, m->mesh, "[{\"ep\"}, {}, {}]",
                           &by_expert));
    const tsr_tensor_spec spec = {by_expert, TSR_F32, 3, shape};
    TRY(tsr_random_normal(m->world, &spec, (tsr_random_key){3, 0}, &weights));
    TRY(tsr_scalar_like(weights, 0.3, &small));
    TRY(tsr_mul(weights, small, &weights));
    m->weights = tsr_tensor_retain(weights);
    return TSR_OK;
}

static tsr_status train(moe *m, outcome *o)
{
    TRY(make_ragged(m));
    TRY(tsr_scope_open(m->world));
    TRY(make_weights(m));
    tsr_scope_close(m->world);
    for (int step = 0; step < STEPS; step++) {
        TRY(tsr_scope_open(m->world));
        TRY(train_step(m, &o->losses[step], o->gradient));
        tsr_scope_close(m->world);
    }
    tsr_tensor_release(m->weights);
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    moe m = {.world = world};
    char mesh[64];
    const int64_t ranks = tsr_comm_size(world);
    if (EXPERTS % ranks != 0) {
        (void)fprintf(stderr, "%d experts cannot be shared by %lld ranks\n", EXPERTS,
                      (long long)ranks);
        return TSR_ERR_INVALID;
    }
    (void)snprintf(mesh, sizeof mesh, "<[\"ep\"=%lld]>", (long long)ranks);
    TRY(tsr_arena_create(tsr_comm_context(world), &m.arena));
    outcome *mine = tsr_arena_alloc(m.arena, sizeof *mine);
    tsr_status status = mine == NULL
                            ? TSR_ERR_NOMEM
                            : tsr_mesh_parse(tsr_comm_context(world), m.arena, mesh, &m.mesh);
    if (status == TSR_OK) {
        status = train(&m, mine);
    }
    if (status == TSR_OK && tsr_comm_rank(world) == 0) {
        *(outcome *)state = *mine;
    }
    tsr_arena_destroy(m.arena);
    return status;
}

int main(int argc, char **argv)
{
    static outcome alone;
    static outcome together;
    const tsr_launch_spec spec = {.num_ranks = argc > 1 ? atoll(argv[1]) : 0};
    const tsr_launch_spec one = {.num_ranks = 1, .ranks = TSR_RANKS_THREADS};
    tsr_context *ctx = NULL;
    if (tsr_context_create(NULL, &ctx) < 0) {
        return 1;
    }
    tsr_status status = tsr_launch(ctx, &spec, run, &together);
    if (status == TSR_OK) {
        status = tsr_launch(ctx, &one, run, &alone);
    }
    tsr_context_print(ctx, stderr);
    tsr_context_destroy(ctx);
    if (status < 0 || tsr_launcher_rank() > 0) {
        return status < 0;
    }
    double worst = 0;
    for (int i = 0; i < EXPERTS * WIDTH * WIDTH; i++) {
        worst = fmax(worst, fabs((double)together.gradient[i] - (double)alone.gradient[i]));
    }
    bool same = worst < 1e-5;
    for (int i = 0; i < STEPS; i++) {
        same = same && fabs(together.losses[i] - alone.losses[i]) < 1e-5;
        printf("step %d: loss %.3f, on one rank %.3f\n", i, together.losses[i], alone.losses[i]);
    }
    printf("the gradients of %d experts are %s\n", EXPERTS,
           same ? "one rank's but for rounding" : "WRONG");
    return same ? 0 : 1;
}
