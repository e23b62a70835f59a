/*
 * A two-layer network, sharded by data and by feature.
 *
 * The rows of x are sharded along the mesh axis "data". The first weight is cut into columns along
 * "model", the second into rows: each rank computes its part of the hidden layer, and the second
 * product leaves a sum that is pending over "model". The layouts of the results are inferred, and
 * the trace lists the implicit collectives. The same calls on replicated tensors are the network on
 * one rank; the numbers are small integers, so both results must be the same bit for bit.
 *
 *   mlp [RANKS] [threads|processes]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

enum { BATCH = 10, WIDTH = 12 };

/* Ends a rank with the status of a call that failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const tsr_status try_status = (call);                                                      \
        if (try_status < 0) {                                                                      \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

typedef struct network {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
} network;

/* The layers' parameters and input, each with its layout: sharded or replicated. */
typedef struct parts {
    tsr_tensor *x;
    tsr_tensor *weights[2];
    tsr_tensor *biases[2];
} parts;

/* Small whole numbers, the same for every layout: an element is made from its index. */
static void whole_number(const int64_t *index, void *element, void *state)
{
    const int64_t seed = *(const int64_t *)state;
    const float number = (float)((index[0] * 7 + index[1] * 5 + seed) % 9 - 4);
    memcpy(element, &number, sizeof number);
}

static void whole_number_of_vector(const int64_t *index, void *element, void *state)
{
    const int64_t pair[] = {index[0], 0};
    whole_number(pair, element, state);
}

/* A tensor of small whole numbers with the layout of the text, or replicated if `whole`. */
static tsr_status make(const network *n, const char *type, const char *layout, bool whole,
                       int64_t seed, tsr_tensor **out)
{
    tsr_tensor_spec spec;
    TRY(tsr_tensor_spec_parse(tsr_comm_context(n->world), n->arena, n->mesh, type,
                              whole ? NULL : layout, &spec));
    TRY(tsr_zeros(n->world, &spec, out));
    tsr_tensor_fill(*out, spec.rank == 2 ? whole_number : whole_number_of_vector, &seed);
    return TSR_OK;
}

static tsr_status make_parts(const network *n, bool whole, parts *p)
{
    TRY(make(n, "f32[10,12]", "P('data', None)", whole, 1, &p->x));
    TRY(make(n, "f32[12,30]", "P(None, 'model')", whole, 2, &p->weights[0]));
    TRY(make(n, "f32[30]", "P('model')", whole, 3, &p->biases[0]));
    TRY(make(n, "f32[30,12]", "P('model', None)", whole, 4, &p->weights[1]));
    return make(n, "f32[12]", NULL, whole, 5, &p->biases[1]);
}

/* Prints the layout of a tensor, on rank 0. */
static tsr_status show(const network *n, const char *name, const tsr_tensor *t)
{
    const char *text = NULL;
    TRY(tsr_sharding_print(tsr_comm_context(n->world), n->arena, tsr_tensor_sharding(t),
                           TSR_PRINT_BARE, &text));
    if (tsr_comm_rank(n->world) == 0) {
        printf("%-8s %s\n", name, text);
    }
    return TSR_OK;
}

/* relu(x W1 + b1) W2 + b2 */
static tsr_status forward(const network *n, const parts *p, bool talk, tsr_tensor **out)
{
    tsr_tensor *product = NULL;
    tsr_tensor *hidden = NULL;
    TRY(tsr_matmul(p->x, p->weights[0], &product));
    TRY(tsr_add(product, p->biases[0], &product));
    TRY(tsr_relu(product, &hidden));
    TRY(tsr_matmul(hidden, p->weights[1], &product));
    if (talk) {
        TRY(show(n, "x", p->x));
        TRY(show(n, "W1", p->weights[0]));
        TRY(show(n, "hidden", hidden));
        TRY(show(n, "W2", p->weights[1]));
        TRY(show(n, "product", product));
    }
    TRY(tsr_add(product, p->biases[1], out));
    return talk ? show(n, "result", *out) : TSR_OK;
}

/* Both networks, and whether they agree. */
static tsr_status compare(const network *n)
{
    parts sharded;
    parts whole;
    tsr_tensor *results[2] = {NULL, NULL};
    float numbers[2][BATCH * WIDTH];
    const char *trace = NULL;
    TRY(make_parts(n, false, &sharded));
    TRY(make_parts(n, true, &whole));
    TRY(tsr_trace_begin(n->world));
    TRY(forward(n, &sharded, true, &results[0]));
    TRY(tsr_trace_print(n->world, n->arena, &trace));
    if (tsr_comm_rank(n->world) == 0) {
        printf("\nimplicit collectives:\n%s", trace[0] != '\0' ? trace : "none\n");
    }
    TRY(forward(n, &whole, false, &results[1]));
    for (int i = 0; i < 2; i++) {
        TRY(tsr_tensor_to_full(results[i], -1, numbers[i]));
    }
    for (size_t i = 0; i < sizeof numbers[0] / sizeof numbers[0][0]; i++) {
        if (numbers[0][i] != numbers[1][i]) {
            (void)fprintf(stderr, "the results differ\n");
            return TSR_ERR_INVALID;
        }
    }
    if (tsr_comm_rank(n->world) == 0) {
        printf("\nthe same as on one rank\n");
    }
    return TSR_OK;
}

/* As square a mesh as the number of ranks allows. */
static tsr_status make_mesh(network *n)
{
    const int64_t ranks = tsr_comm_size(n->world);
    int64_t data = 1;
    for (int64_t d = 1; d * d <= ranks; d++) {
        data = ranks % d == 0 ? d : data;
    }
    char axes[64];
    (void)snprintf(axes, sizeof axes, "data=%lld, model=-1", (long long)data);
    return tsr_mesh_of_world(n->world, n->arena, axes, &n->mesh);
}

static tsr_status run(tsr_comm *world, void *state)
{
    network n = {.world = world};
    (void)state;
    TRY(tsr_arena_create(tsr_comm_context(world), &n.arena));
    tsr_status status = tsr_scope_open(world);
    if (status == TSR_OK) {
        status = make_mesh(&n);
    }
    if (status == TSR_OK) {
        status = compare(&n);
    }
    tsr_scope_close(world);
    tsr_arena_destroy(n.arena);
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
