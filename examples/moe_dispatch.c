/*
 * Tokens routed to experts and back, without padding.
 *
 * Every rank has some tokens and sends each to one of EXPERTS experts. Sorted by expert, the tokens
 * of all ranks are a tensor whose first dimension is partitioned by expert: each rank holds a slice
 * of every partition (unaligned). Redistributed to whole partitions (aligned), each rank multiplies
 * the tokens of its experts by their weights; redistributed back, every token returns to where it
 * came from. The numbers are small integers, so the result must equal the unsharded computation bit
 * for bit.
 *
 *   moe_dispatch [RANKS] [threads|processes]
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

enum { EXPERTS = 6, WIDTH = 16 };

/* Ends a rank with the status of a call that failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const tsr_status try_status = (call);                                                      \
        if (try_status < 0) {                                                                      \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

/* One rank's part in it. */
typedef struct dispatch {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    int64_t num_tokens; /* of this rank */
    float *tokens;      /* num_tokens x WIDTH, in their original order */
    int64_t *order;     /* sorted by expert: which token comes */
    int64_t *counts;    /* of all ranks: tokens of rank s for expert p */
    int64_t total;      /* tokens of all ranks */
} dispatch;

static int64_t expert_of(int64_t rank, int64_t token)
{
    const int64_t mixed = (rank * 7919 + token * 104729) % 1000;
    return mixed * mixed % EXPERTS;
}

static float weight(int64_t expert, int64_t row, int64_t column)
{
    return (float)((expert * 5 + row * 3 + column) % 7 - 3);
}

/* The tokens of a rank; some ranks have many, some none. */
static bool make_tokens(dispatch *d)
{
    const int64_t rank = tsr_comm_rank(d->world);
    d->num_tokens = rank % 3 == 2 ? 0 : 40 + 17 * rank;
    d->tokens = tsr_arena_alloc(d->arena, (size_t)(d->num_tokens * WIDTH) * sizeof *d->tokens + 1);
    d->order = tsr_arena_alloc(d->arena, (size_t)d->num_tokens * sizeof *d->order + 1);
    if (d->tokens == NULL || d->order == NULL) {
        return false;
    }
    for (int64_t i = 0; i < d->num_tokens * WIDTH; i++) {
        d->tokens[i] = (float)((rank * 31 + i * 13) % 9 - 4);
    }
    int64_t sorted = 0;
    for (int64_t expert = 0; expert < EXPERTS; expert++) {
        for (int64_t i = 0; i < d->num_tokens; i++) {
            if (expert_of(rank, i) == expert) {
                d->order[sorted++] = i;
            }
        }
    }
    return true;
}

/* Gathers how many tokens each rank has for each expert. */
static tsr_status exchange_counts(dispatch *d)
{
    const int64_t ranks = tsr_comm_size(d->world);
    const int64_t shape[] = {ranks, EXPERTS};
    int64_t mine[EXPERTS] = {0};
    for (int64_t i = 0; i < d->num_tokens; i++) {
        mine[expert_of(tsr_comm_rank(d->world), i)]++;
    }
    const tsr_sharding *rows = NULL;
    tsr_tensor *counts = NULL;
    d->counts = tsr_arena_alloc(d->arena, (size_t)(ranks * EXPERTS) * sizeof *d->counts);
    TRY(d->counts != NULL ? TSR_OK : TSR_ERR_NOMEM);
    TRY(tsr_sharding_parse(tsr_comm_context(d->world), d->arena, d->mesh, "[{\"ep\"}, {}]", &rows));
    const tsr_tensor_spec spec = {rows, TSR_I64, 2, shape};
    TRY(tsr_tensor_wrap(d->world, &spec, mine, NULL, &counts));
    const tsr_status status = tsr_tensor_to_full(counts, -1, d->counts);
    tsr_tensor_release(counts);
    for (int64_t i = 0; i < ranks * EXPERTS; i++) {
        d->total += d->counts[i];
    }
    return status;
}

/* The layout of all tokens: a slice of every expert on each rank, or whole experts. */
static tsr_status ragged_of(const dispatch *d, tsr_ragged_kind kind, const tsr_sharding **out)
{
    const tsr_axis_ref axis = tsr_axis_full(d->mesh, 0);
    const tsr_ragged ragged = {
        .kind = kind, .rows = 1, .partitions = EXPERTS, .counts = d->counts, .alignment = 1};
    tsr_dim dims[] = {tsr_dim_closed(&axis, 1), tsr_dim_closed(NULL, 0)};
    dims[0].ragged = &ragged;
    const tsr_sharding_spec spec = {.mesh = d->mesh, .rank = 2, .dims = dims};
    return tsr_sharding_create(tsr_comm_context(d->world), d->arena, &spec, TSR_SHARDING_DEFAULT,
                               out);
}

/* The tokens of the experts of this rank, each partition times its weights. */
static void run_experts(const dispatch *d, const tsr_tensor *in, const tsr_tensor *out)
{
    const int64_t ranks = tsr_comm_size(d->world);
    const int64_t rank = tsr_comm_rank(d->world);
    const float *from = tsr_tensor_data(in);
    float *to = tsr_tensor_data(out);
    for (int64_t p = rank * EXPERTS / ranks; p < (rank + 1) * EXPERTS / ranks; p++) {
        float weights[WIDTH * WIDTH];
        int64_t rows = 0;
        for (int64_t i = 0; i < (int64_t)WIDTH * WIDTH; i++) {
            weights[i] = weight(p, i / WIDTH, i % WIDTH);
        }
        for (int64_t s = 0; s < ranks; s++) {
            rows += d->counts[s * EXPERTS + p];
        }
        if (rows > 0) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, WIDTH, WIDTH, 1.0F,
                        from, WIDTH, weights, WIDTH, 0.0F, to, WIDTH);
        }
        from += rows * WIDTH;
        to += rows * WIDTH;
    }
}

/* How many elements differ from what each token gives by itself. */
static int64_t count_wrong(const dispatch *d, const float *results)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < d->num_tokens; i++) {
        const float *token = d->tokens + d->order[i] * WIDTH;
        const int64_t expert = expert_of(tsr_comm_rank(d->world), d->order[i]);
        for (int64_t column = 0; column < WIDTH; column++) {
            float sum = 0;
            for (int64_t row = 0; row < WIDTH; row++) {
                sum += token[row] * weight(expert, row, column);
            }
            wrong += sum != results[i * WIDTH + column];
        }
    }
    return wrong;
}

/* There, through the experts, and back; the tensors are released by the caller. */
static tsr_status travel(dispatch *d, tsr_tensor **tensors)
{
    const int64_t shape[] = {d->total, WIDTH};
    const tsr_sharding *slices = NULL;
    const tsr_sharding *whole = NULL;
    TRY(ragged_of(d, TSR_RAGGED_UNALIGNED, &slices));
    TRY(ragged_of(d, TSR_RAGGED_ALIGNED, &whole));
    const tsr_tensor_spec sent = {slices, TSR_F32, 2, shape};
    const tsr_tensor_spec gathered = {whole, TSR_F32, 2, shape};
    TRY(tsr_tensor_create(d->world, &sent, &tensors[0]));
    float *sorted = tsr_tensor_data(tensors[0]);
    for (int64_t i = 0; i < d->num_tokens; i++) {
        memcpy(sorted + i * WIDTH, d->tokens + d->order[i] * WIDTH, WIDTH * sizeof *sorted);
    }
    TRY(tsr_redistribute(tensors[0], whole, &tensors[1]));
    TRY(tsr_tensor_create(d->world, &gathered, &tensors[2]));
    run_experts(d, tensors[1], tensors[2]);
    return tsr_redistribute(tensors[2], slices, &tensors[3]);
}

/* Each rank prints its result, in turn, and the first one the overall result. */
static tsr_status report(const dispatch *d, tsr_tensor *const *tensors, int64_t wrong)
{
    const tsr_traffic traffic = tsr_comm_traffic(d->world);
    for (int64_t turn = 0; turn < tsr_comm_size(d->world); turn++) {
        TRY(tsr_barrier(d->world));
        if (turn == tsr_comm_rank(d->world)) {
            printf("rank %lld: %lld tokens out, %lld at its experts, %lld bytes received, %lld "
                   "wrong\n",
                   (long long)turn, (long long)d->num_tokens,
                   (long long)tsr_tensor_local_shape(tensors[1])[0],
                   (long long)traffic.bytes_received, (long long)wrong);
            (void)fflush(stdout);
        }
    }
    int64_t all = 0;
    const tsr_view mine = {&wrong, TSR_I64, 0, NULL, NULL};
    const tsr_view sum = {&all, TSR_I64, 0, NULL, NULL};
    TRY(tsr_comm_all_reduce(d->world, TSR_REDUCE_SUM, &mine, &sum));
    if (tsr_comm_rank(d->world) == 0) {
        puts(all == 0 ? "the same as without sharding" : "failed");
        (void)fflush(stdout);
    }
    return all == 0 ? TSR_OK : TSR_ERR_INVALID;
}

/* All of it; tensors and arena are the caller's to release. */
static tsr_status work(dispatch *d, tsr_tensor **tensors)
{
    char mesh[64];
    tsr_context *ctx = tsr_comm_context(d->world);
    (void)snprintf(mesh, sizeof mesh, "<[\"ep\"=%lld]>", (long long)tsr_comm_size(d->world));
    TRY(tsr_mesh_parse(ctx, d->arena, mesh, &d->mesh));
    TRY(make_tokens(d) ? TSR_OK : TSR_ERR_NOMEM);
    TRY(exchange_counts(d));
    TRY(travel(d, tensors));
    const int64_t wrong = count_wrong(d, tsr_tensor_data(tensors[3]));
    return report(d, tensors, wrong);
}

static tsr_status run_rank(tsr_comm *world, void *state)
{
    (void)state;
    dispatch d = {.world = world};
    tsr_tensor *tensors[4] = {NULL};
    TRY(tsr_arena_create(tsr_comm_context(world), &d.arena));
    const tsr_status status = work(&d, tensors);
    for (size_t i = 0; i < 4; i++) {
        tsr_tensor_release(tensors[i]);
    }
    tsr_arena_destroy(d.arena);
    return status;
}

int main(int argc, char **argv)
{
    const bool processes = argc > 2 && strcmp(argv[2], "processes") == 0;
    const tsr_launch_spec spec = {.num_ranks = argc > 1 ? atoll(argv[1]) : 0,
                                  .ranks = processes ? TSR_RANKS_PROCESSES : TSR_RANKS_AUTO};
    tsr_context *ctx;
    if (tsr_context_create(NULL, &ctx) < 0) {
        return 1;
    }
    const tsr_status status = tsr_launch(ctx, &spec, run_rank, NULL);
    tsr_context_print(ctx, stderr);
    tsr_context_destroy(ctx);
    return status == TSR_OK ? 0 : 1;
}
