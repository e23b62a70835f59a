/*
 * A tensor-parallel training step in typed code, beside the same step written by hand with MPI and
 * CBLAS, under `mpirun -n 2`. Compiled once for each MPI. Two layers: x W1 by columns, relu, W2 by
 * rows, an all-reduce, a mean square; both gradients; a step of descent. Both do the same in turns,
 * from barrier to barrier, and their weights are compared after every step.
 */
#include <cblas.h>
#include <math.h>
#include <mpi.h>
#include <string.h>

#include "bench.h"

#ifndef STEP_MPI
#define STEP_MPI "mpi"
#endif

enum { BATCH = 512, WIDTH = 1024, HIDDEN = 2048, STEPS = 9 }; /* HIDDEN is each rank's part */
#define RATE 0.01F

/* One rank's arrays, by hand. */
typedef struct by_hand {
    float *x;
    float *wanted;
    float *weights[2];
    float *hidden;
    float *y;
    float *d_hidden;
    float *gradients[2];
} by_hand;

static float *array(int64_t count, int64_t seed)
{
    float *a = malloc((size_t)count * sizeof *a);
    INSIST(a != NULL);
    for (int64_t i = 0; i < count; i++) {
        a[i] = (float)((i * 7 + seed) % 17 - 8) / 256.0F;
    }
    return a;
}

static void make_by_hand(by_hand *h, int64_t rank)
{
    h->x = array((int64_t)BATCH * WIDTH, 1);
    h->wanted = array((int64_t)BATCH * WIDTH, 2);
    h->weights[0] = array((int64_t)WIDTH * HIDDEN, 3 + rank);
    h->weights[1] = array((int64_t)HIDDEN * WIDTH, 5 + rank);
    h->hidden = array((int64_t)BATCH * HIDDEN, 0);
    h->y = array((int64_t)BATCH * WIDTH, 0);
    h->d_hidden = array((int64_t)BATCH * HIDDEN, 0);
    h->gradients[0] = array((int64_t)WIDTH * HIDDEN, 0);
    h->gradients[1] = array((int64_t)HIDDEN * WIDTH, 0);
}

static void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float *a,
                     const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, a, ta == CblasNoTrans ? k : m, b,
                tb == CblasNoTrans ? n : k, 0.0F, c, n);
}

static float step_by_hand(by_hand *h)
{
    const int64_t outputs = (int64_t)BATCH * WIDTH;
    const int64_t inner = (int64_t)BATCH * HIDDEN;
    double loss = 0;
    multiply(CblasNoTrans, CblasNoTrans, BATCH, HIDDEN, WIDTH, h->x, h->weights[0], h->hidden);
    for (int64_t i = 0; i < inner; i++) {
        h->hidden[i] = h->hidden[i] > 0 ? h->hidden[i] : 0;
    }
    multiply(CblasNoTrans, CblasNoTrans, BATCH, WIDTH, HIDDEN, h->hidden, h->weights[1], h->y);
    INSIST(MPI_Allreduce(MPI_IN_PLACE, h->y, (int)outputs, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) ==
           MPI_SUCCESS);
    for (int64_t i = 0; i < outputs; i++) {
        const float d = h->y[i] - h->wanted[i];
        loss += (double)(d * d);
        h->y[i] = 2 * d / (float)outputs;
    }
    multiply(CblasTrans, CblasNoTrans, HIDDEN, WIDTH, BATCH, h->hidden, h->y, h->gradients[1]);
    multiply(CblasNoTrans, CblasTrans, BATCH, HIDDEN, WIDTH, h->y, h->weights[1], h->d_hidden);
    for (int64_t i = 0; i < inner; i++) {
        h->d_hidden[i] = h->hidden[i] > 0 ? h->d_hidden[i] : 0;
    }
    multiply(CblasTrans, CblasNoTrans, WIDTH, HIDDEN, BATCH, h->x, h->d_hidden, h->gradients[0]);
    for (int64_t i = 0; i < (int64_t)WIDTH * HIDDEN; i++) {
        h->weights[0][i] -= RATE * h->gradients[0][i];
        h->weights[1][i] -= RATE * h->gradients[1][i];
    }
    return (float)(loss / (double)outputs);
}

/* The same in typed code. */
typedef struct typed {
    tsr_comm *world;
    tsr_tensor *x;
    tsr_tensor *wanted;
    tsr_tensor *weights[2];
} typed;

static tsr_tensor *value(tsr_comm *world, const float *from, int64_t rows, int64_t columns,
                         const char *kinds)
{
    const int64_t shape[] = {rows, columns};
    float *copy = malloc((size_t)(rows * columns) * sizeof *copy);
    char type[64];
    tsr_tensor *out = NULL;
    INSIST(copy != NULL);
    memcpy(copy, from, (size_t)(rows * columns) * sizeof *copy);
    const tsr_view view = {copy, TSR_F32, 2, shape, NULL};
    (void)snprintf(type, sizeof type, "f32[%d,%d]{tp:%s}", (int)rows, (int)columns, kinds);
    INSIST(tsr_typed_value(world, &view, type, &out) == TSR_OK);
    free(copy);
    return out;
}

static tsr_tensor *times(tsr_tensor *x, double number)
{
    tsr_tensor *scalar = NULL;
    tsr_tensor *out = NULL;
    INSIST(tsr_scalar_like(x, number, &scalar) == TSR_OK);
    INSIST(tsr_mul(x, scalar, &out) == TSR_OK);
    return out;
}

static float step_typed(typed *t)
{
    const size_t both[] = {0, 1};
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    INSIST(tsr_scope_open(t->world) == TSR_OK);
    INSIST(tsr_tape_begin(t->world) == TSR_OK);
    INSIST(tsr_watch(t->weights[0]) == TSR_OK && tsr_watch(t->weights[1]) == TSR_OK);
    INSIST(tsr_matmul(t->x, t->weights[0], &y) == TSR_OK);
    INSIST(tsr_relu(y, &y) == TSR_OK);
    INSIST(tsr_matmul(y, t->weights[1], &y) == TSR_OK);
    INSIST(tsr_reinterpret(y, "tp", TSR_AS(V), TSR_AS(P), NULL, &y) == TSR_OK);
    INSIST(tsr_all_reduce(y, "tp", TSR_AS(P), TSR_AS(I), NULL, &y) == TSR_OK);
    INSIST(tsr_sub(y, t->wanted, &y) == TSR_OK);
    INSIST(tsr_mul(y, y, &y) == TSR_OK);
    INSIST(tsr_mean(y, both, 2, &loss) == TSR_OK);
    INSIST(tsr_backward(loss) == TSR_OK);
    for (int i = 0; i < 2; i++) {
        tsr_tensor *gradient = NULL;
        tsr_tensor *next = NULL;
        INSIST(tsr_gradient(t->weights[i], &gradient) == TSR_OK);
        tsr_tape_pause(t->world);
        INSIST(tsr_add(t->weights[i], times(gradient, (double)-RATE), &next) == TSR_OK);
        tsr_tape_resume(t->world);
        tsr_tensor_release(t->weights[i]);
        t->weights[i] = tsr_tensor_retain(next);
    }
    const float number = *(const float *)tsr_tensor_data(loss);
    tsr_tape_end(t->world);
    tsr_scope_close(t->world);
    return number;
}

/* The largest difference of the weights, which must be rounding. */
static double apart(const by_hand *h, const typed *t)
{
    double worst = 0;
    for (int w = 0; w < 2; w++) {
        const float *ours = tsr_tensor_data(t->weights[w]);
        for (int64_t i = 0; i < (int64_t)WIDTH * HIDDEN; i++) {
            worst = fmax(worst, fabs((double)ours[i] - (double)h->weights[w][i]));
        }
    }
    return worst;
}

static double timed(float (*step)(void *state), void *state, float *loss)
{
    INSIST(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    const double start = seconds();
    *loss = step(state);
    INSIST(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    return seconds() - start;
}

static float hand_once(void *state)
{
    return step_by_hand(state);
}

static float typed_once(void *state)
{
    return step_typed(state);
}

static void compare(tsr_comm *world, by_hand *h, typed *t)
{
    double samples[2][STEPS];
    double worst = 0;
    float losses[2];
    for (int i = 0; i < STEPS; i++) {
        samples[0][i] = timed(typed_once, t, &losses[0]);
        samples[1][i] = timed(hand_once, h, &losses[1]);
        INSIST(fabsf(losses[0] - losses[1]) <= 1e-4F * losses[1]);
        worst = fmax(worst, apart(h, t));
    }
    INSIST(worst < 1e-5);
    qsort(samples[0], STEPS, sizeof samples[0][0], by_value);
    qsort(samples[1], STEPS, sizeof samples[1][0], by_value);
    const double ratio = samples[0][STEPS / 2] / samples[1][STEPS / 2];
    if (tsr_comm_rank(world) == 0) {
        printf("{\"bench\": \"tensor-parallel step\", \"kind\": \"%s\", \"ranks\": 2, "
               "\"milliseconds\": "
               "%.2f, \"by_hand_milliseconds\": %.2f, \"ratio\": %.3f, \"wanted\": 1.1, \"met\": "
               "%s}\n",
               STEP_MPI, samples[0][STEPS / 2] * 1e3, samples[1][STEPS / 2] * 1e3, ratio,
               ratio <= 1.1 ? "true" : "false");
    }
}

int main(int argc, char **argv)
{
    tsr_context *ctx = NULL;
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const MPI_Comm all = MPI_COMM_WORLD;
    by_hand h;
    typed t;
    INSIST(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK && tsr_arena_create(ctx, &arena) == TSR_OK);
    INSIST(tsr_comm_open_mpi(ctx, &all, NULL, &t.world) == TSR_OK);
    INSIST(tsr_comm_size(t.world) == 2);
    INSIST(tsr_mesh_parse(ctx, arena, "<[\"tp\"=2]>", &mesh) == TSR_OK);
    INSIST(tsr_spmd_open(t.world, &(tsr_spmd_scope){.mesh = mesh}) == TSR_OK);
    make_by_hand(&h, tsr_comm_rank(t.world));
    t.x = value(t.world, h.x, BATCH, WIDTH, "R");
    t.wanted = value(t.world, h.wanted, BATCH, WIDTH, "I");
    t.weights[0] = value(t.world, h.weights[0], WIDTH, HIDDEN, "V");
    t.weights[1] = value(t.world, h.weights[1], HIDDEN, WIDTH, "V");
    compare(t.world, &h, &t);
    tsr_tensor_release(t.x);
    tsr_tensor_release(t.wanted);
    tsr_tensor_release(t.weights[0]);
    tsr_tensor_release(t.weights[1]);
    tsr_spmd_close(t.world);
    tsr_arena_destroy(arena);
    INSIST(tsr_comm_close(t.world) == TSR_OK);
    tsr_context_destroy(ctx);
    INSIST(MPI_Finalize() == MPI_SUCCESS);
    return 0;
}
