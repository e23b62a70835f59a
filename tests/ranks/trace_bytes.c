/*
 * The bytes of the trace are those that the transport counts, for every call on tensors that moves
 * any: on each rank those that it receives, over all ranks those that move. Where nothing has
 * elements the trace has the same events.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tessera/gradient.h>
#include <tessera/placement.h>
#include <tessera/plan.h>
#include <tessera/typed.h>

#include "base/base.h"
#include "base/diag.h"
#include "kinds.h"
#include "texts.h"
#include "want.h"

enum { RANKS = 4, ROWS = 13, COLUMNS = 6 };

typedef struct scene {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    const tsr_sharding *rows;
    const tsr_sharding *grid;
    const tsr_sharding *whole;
    const tsr_sharding *scalar;
    const tsr_sharding *ragged;
    const tsr_sharding *unaligned;
    tsr_tensor *by_rows; /* f32[13,6] */
    tsr_tensor *by_grid;
    tsr_tensor *sums;
    tsr_tensor *narrow; /* a sum of bf16 */
    tsr_tensor *replicated;
    tsr_tensor *labels;  /* i64[13] */
    tsr_tensor *squares; /* f32[8,8], a sum over y, sharded along x */
    tsr_tensor *dynamic;
    tsr_tensor *parted;
    bool abstract;
    char path[64];
} scene;

static const int64_t shape[] = {ROWS, COLUMNS};

static tsr_status make(const scene *s, const char *type, const char *layout, tsr_tensor **out)
{
    return tensor_of_text(s->world, s->arena, s->mesh, type, layout, out);
}

static tsr_status set_up(scene *s)
{
    static const char *const sums = "[{}, {}], unreduced={\"x\", \"y\"}";
    tsr_context *ctx = tsr_comm_context(s->world);
    TSR_TRY(tsr_arena_create(ctx, &s->arena));
    TSR_TRY(tsr_mesh_parse(ctx, s->arena, "<[\"x\"=2, \"y\"=2]>", &s->mesh));
    const struct {
        const tsr_sharding **out;
        const char *text;
    } layouts[] = {
        {&s->rows, "[{\"x\", \"y\"}, {}]"},
        {&s->grid, "[{\"y\"}, {\"x\"}]"},
        {&s->whole, "[{}, {}]"},
        {&s->scalar, "[]"},
        {&s->ragged, "[{\"x\", \"y\"}:dynamic[2, 0, 10, 1], {}]"},
        {&s->unaligned, "[{\"x\", \"y\"}:partitioned[[3, 1], [0, 0], [2, 4], [1, 2]], {}]"},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, layouts[i].text, layouts[i].out));
    }
    TSR_TRY(make(s, "f32[13,6]", "[{\"x\", \"y\"}, {}]", &s->by_rows));
    TSR_TRY(make(s, "f32[13,6]", "[{\"y\"}, {\"x\"}]", &s->by_grid));
    TSR_TRY(make(s, "f32[13,6]", sums, &s->sums));
    TSR_TRY(make(s, "f32[13,6]", "[{}, {}]", &s->replicated));
    TSR_TRY(make(s, "i64[13]", "[{\"x\", \"y\"}]", &s->labels));
    TSR_TRY(make(s, "f32[8,8]", "[{\"x\"}, {}], unreduced={\"y\"}", &s->squares));
    TSR_TRY(tsr_with_sharding(s->by_rows, s->ragged, &s->dynamic));
    TSR_TRY(tsr_convert(s->by_rows, TSR_BF16, &s->narrow));
    return tsr_sum(s->narrow, (const size_t[]){0}, 1, &s->narrow);
}

/* ---- the calls ---- */

#define CALL(name, expression)                                                                     \
    static tsr_status name(scene *s)                                                               \
    {                                                                                              \
        tsr_tensor *out = NULL;                                                                    \
        return expression;                                                                         \
    }

CALL(with_sharding, tsr_with_sharding(s->by_rows, s->grid, &out))
CALL(shard, tsr_shard(s->by_grid, s->rows, &out))
CALL(replicate, tsr_replicate(s->by_grid, &out))
CALL(replicate_sums, tsr_replicate(s->sums, &out))
CALL(gather, tsr_gather(s->by_grid, 1, &out))
CALL(reduce_pending, tsr_reduce_pending(s->sums, &out))
CALL(reduce_narrow, tsr_reduce_pending(s->narrow, &out))
CALL(add, tsr_add(s->by_rows, s->by_grid, &out))
CALL(product, tsr_einsum("ij,ij->i", (tsr_tensor *[]){s->by_grid, s->by_rows}, 2, &out))
CALL(sort, tsr_sort(s->by_rows, 0, false, &out, NULL))
CALL(cumsum, tsr_cumsum(s->by_rows, 0, &out))
CALL(softmax, tsr_softmax(s->by_grid, 0, &out))
CALL(layer_norm, tsr_layer_norm(s->by_grid, NULL, NULL, 1e-5, &out))
CALL(cross_entropy, tsr_cross_entropy(s->by_rows, s->labels, &out))
CALL(take, tsr_take(s->by_grid, s->labels, 0, &out))
CALL(concatenate, tsr_concatenate((tsr_tensor *[]){s->by_rows, s->by_grid}, 2, 0, &out))
CALL(relu_of_sum, tsr_relu(s->sums, &out))
CALL(dynamic_to_replicate, tsr_dynamic_to_replicate(s->dynamic, 0, NULL, &out))

static tsr_status backward(scene *s)
{
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_tape_begin(s->world));
    tsr_status status = tsr_watch(s->by_rows);
    status = status < 0 ? status : tsr_mul(s->by_rows, s->by_grid, &out);
    status = status < 0 ? status : tsr_with_sharding(out, s->rows, &out);
    status = status < 0 ? status : tsr_sum(out, (const size_t[]){0, 1}, 2, &out);
    status = status < 0 ? status : tsr_backward(out);
    tsr_tape_end(s->world);
    return status;
}

static tsr_status from_full_to(const scene *s, const tsr_sharding *sharding, size_t rank)
{
    float full[ROWS * COLUMNS] = {0};
    const tsr_tensor_spec spec = {sharding, TSR_F32, rank, shape};
    const bool mine = tsr_comm_rank(s->world) == 2;
    tsr_tensor *out = NULL;
    const tsr_status status =
        tsr_tensor_from_full(s->world, &spec, 2, mine || s->abstract ? full : NULL, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status from_full(scene *s)
{
    return from_full_to(s, s->grid, 2);
}

static tsr_status from_full_whole(scene *s)
{
    return from_full_to(s, s->whole, 2);
}

static tsr_status scalar_from_full(scene *s)
{
    return from_full_to(s, s->scalar, 0);
}

static tsr_status to_full(scene *s)
{
    float full[ROWS * COLUMNS];
    return tsr_tensor_to_full(s->by_grid, -1, full);
}

static tsr_status to_full_of_one(scene *s)
{
    float full[ROWS * COLUMNS];
    return tsr_tensor_to_full(s->sums, 1, tsr_comm_rank(s->world) == 1 ? full : NULL);
}

static tsr_status take_full(scene *s)
{
    float full[ROWS * COLUMNS];
    const tsr_full_request request = {"mine", false};
    return tsr_take_full(s->by_grid, &request, 1, tsr_comm_rank(s->world) == 1 ? full : NULL);
}

static tsr_status redistribute(scene *s)
{
    tsr_tensor *out = NULL;
    const tsr_status status = tsr_redistribute(s->by_rows, s->grid, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status redistribute_into(scene *s)
{
    return tsr_redistribute_into(s->by_grid, s->by_rows);
}

static tsr_status redistribute_narrow(scene *s)
{
    const tsr_sharding *whole = NULL;
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_sharding_parse(tsr_comm_context(s->world), s->arena, s->mesh, "[{}]", &whole));
    const tsr_status status = tsr_redistribute(s->narrow, whole, &out);
    tsr_tensor_release(out);
    return status;
}

/* By way of a layout that no plan of ours goes through. */
static tsr_status redistribute_by(scene *s)
{
    tsr_context *ctx = tsr_comm_context(s->world);
    const tsr_geometry *g[3];
    const tsr_sharding *const layouts[] = {s->rows, s->whole, s->grid};
    const tsr_plan *plan = NULL;
    for (size_t i = 0; i < 3; i++) {
        TSR_TRY(tsr_geometry_create(ctx, s->arena, layouts[i], 2, shape, &g[i]));
    }
    const tsr_step_spec steps[] = {{TSR_STEP_DIRECT, g[1]}, {TSR_STEP_DIRECT, g[2]}};
    TSR_TRY(tsr_plan_from_steps(ctx, s->arena, g[0], 2, steps, TSR_F32, &plan));
    return tsr_redistribute_by(s->by_grid, s->by_rows, plan);
}

static tsr_status save(scene *s)
{
    return tsr_tensor_save_npy(s->by_grid, s->path);
}

static tsr_status load(scene *s)
{
    tsr_tensor *out = NULL;
    const tsr_status status = tsr_tensor_load_npy(s->world, s->grid, s->path, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status dynamic_shard(scene *s)
{
    float full[ROWS * COLUMNS] = {0};
    const tsr_placement to = {s->ragged, NULL};
    const bool mine = tsr_comm_rank(s->world) == 3;
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_dynamic_shard(s->world, &to, TSR_F32, 2, shape, 3, mine ? full : NULL, &out));
    const tsr_status status = tsr_dynamic_shard_backward(out, 3, mine ? full : NULL);
    tsr_tensor_release(out);
    return status;
}

static tsr_status dynamic_and_back(scene *s)
{
    const tsr_placement to = {s->ragged, NULL};
    tsr_conversion *c = NULL;
    tsr_tensor *out = NULL;
    tsr_tensor *back = NULL;
    TSR_TRY(tsr_dynamic_from_replicate(s->replicated, &to, &c, &out));
    const tsr_status status = tsr_conversion_backward(c, out, &back);
    tsr_tensor_release(out);
    tsr_tensor_release(back);
    tsr_conversion_release(c);
    return status;
}

static tsr_status partitioned(scene *s)
{
    const tsr_placement to = {s->unaligned, NULL};
    tsr_tensor *parted = NULL;
    tsr_tensor *aligned = NULL;
    TSR_TRY(tsr_partitioned_from_replicate(s->replicated, &to, NULL, &parted));
    const tsr_status status = tsr_partitioned_unaligned_to_aligned(parted, 0, NULL, &aligned);
    tsr_tensor_release(parted);
    tsr_tensor_release(aligned);
    return status;
}

/* ---- typed ---- */

/* A value of a type, in a scope; `run` calls something on it. */
static tsr_status typed(const scene *s, const char *type, const char *from, const char *to)
{
    float mine[64] = {0};
    const int64_t local[] = {4, 8};
    const tsr_view view = {mine, TSR_F32, 2, local, NULL};
    tsr_tensor *x = NULL;
    TSR_TRY(tsr_spmd_open(s->world, &(tsr_spmd_scope){.mesh = s->mesh}));
    tsr_status status = tsr_typed_value(s->world, &view, type, &x);
    status = status < 0 ? status : tsr_redistribute_spec(x, from, to, &x);
    tsr_spmd_close(s->world);
    return status;
}

static tsr_status redistribute_spec(scene *s)
{
    return typed(s, "f32[4,8]{x:V, y:R}", "f32[8@x,8]{y:R}", "f32[8,8@x]{y:R}");
}

static tsr_status redistribute_spec_sums(scene *s)
{
    return typed(s, "f32[4,8]{x:V, y:P}", "f32[8@x,8]{y:P}", "f32[8,8@y]{x:R}");
}

static tsr_status typed_collectives(scene *s)
{
    float mine[8] = {0};
    const int64_t eight = 8;
    const tsr_view view = {mine, TSR_F32, 1, &eight, NULL};
    tsr_tensor *x = NULL;
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_spmd_open(s->world, &(tsr_spmd_scope){.mesh = s->mesh}));
    tsr_status status = tsr_typed_value(s->world, &view, "f32[8]{x:P, y:V}", &x);
    status = status < 0 ? status : tsr_all_reduce(x, "x", TSR_AS(P), TSR_AS(R), NULL, &out);
    status = status < 0 ? status : tsr_reduce_scatter(x, "x", TSR_AS(P), TSR_AS_S(0), NULL, &out);
    status = status < 0 ? status : tsr_all_gather(out, "x", TSR_AS_S(0), TSR_AS(R), NULL, &out);
    tsr_spmd_close(s->world);
    return status;
}

typedef struct traced_call {
    const char *name;
    tsr_status (*run)(scene *s);
    bool real; /* it needs elements */
} traced_call;

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, name, false                                                                         \
    }
#define REAL(name)                                                                                 \
    {                                                                                              \
#name, name, true                                                                          \
    }

static const traced_call calls[] = {
    ROW(with_sharding),
    ROW(shard),
    ROW(replicate),
    ROW(replicate_sums),
    ROW(gather),
    ROW(reduce_pending),
    ROW(reduce_narrow),
    ROW(add),
    ROW(product),
    ROW(sort),
    ROW(cumsum),
    ROW(softmax),
    ROW(layer_norm),
    ROW(cross_entropy),
    ROW(take),
    ROW(concatenate),
    ROW(relu_of_sum),
    ROW(backward),
    ROW(from_full),
    ROW(from_full_whole),
    ROW(scalar_from_full),
    REAL(to_full),
    REAL(to_full_of_one),
    REAL(take_full),
    REAL(redistribute),
    REAL(redistribute_into),
    REAL(redistribute_narrow),
    REAL(redistribute_by),
    REAL(save),
    REAL(load),
    REAL(dynamic_shard),
    REAL(dynamic_and_back),
    REAL(dynamic_to_replicate),
    REAL(partitioned),
    ROW(redistribute_spec),
    ROW(redistribute_spec_sums),
    ROW(typed_collectives),
};

enum { CALLS = sizeof calls / sizeof calls[0] };

/* What the trace says of a call. */
typedef struct traced {
    int64_t received;
    int64_t moved;
    size_t events;
} traced;

static tsr_status run_traced(scene *s, const traced_call *call, traced *out)
{
    tsr_context *ctx = tsr_comm_context(s->world);
    *out = (traced){0};
    TSR_TRY(tsr_trace_begin(s->world));
    if (call->run(s) < 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s fails", call->name);
    }
    const tsr_trace_event *events = tsr_trace_events(s->world, &out->events);
    for (size_t i = 0; i < out->events; i++) {
        out->received += events[i].bytes_received;
        out->moved += events[i].bytes_moved;
    }
    tsr_trace_end(s->world);
    return TSR_OK;
}

static tsr_status check_call(scene *s, const traced_call *call, int64_t *moved)
{
    tsr_context *ctx = tsr_comm_context(s->world);
    traced of;
    int64_t all = 0;
    const tsr_view view = {&all, TSR_I64, 0, NULL, NULL};
    const tsr_traffic before = tsr_comm_traffic(s->world);
    TSR_TRY(run_traced(s, call, &of));
    const int64_t received = tsr_comm_traffic(s->world).bytes_received - before.bytes_received;
    all = received;
    TSR_TRY(tsr_comm_all_reduce(s->world, TSR_REDUCE_SUM, &view, &view));
    *moved = of.moved;
    if (received != of.received || all != of.moved) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: this rank receives %lld bytes, all ranks %lld; the trace has %zu "
                          "events of %lld and %lld",
                          call->name, (long long)received, (long long)all, of.events,
                          (long long)of.received, (long long)of.moved);
    }
    return TSR_OK;
}

static tsr_status run_calls(tsr_comm *world, void *state)
{
    int64_t *moved = state; /* of each call, by rank 0 */
    scene s = {.world = world};
    int64_t process = getpid();
    const tsr_view view = {&process, TSR_I64, 0, NULL, NULL};
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(set_up(&s));
    TSR_TRY(tsr_comm_broadcast(world, &view, 0));
    (void)snprintf(s.path, sizeof s.path, "/tmp/tessera-trace-%lld.npy", (long long)process);
    for (size_t i = 0; i < CALLS; i++) {
        int64_t bytes = 0;
        TSR_TRY(check_call(&s, &calls[i], &bytes));
        if (tsr_comm_rank(world) == 0) {
            moved[i] = bytes;
        }
    }
    TSR_TRY(tsr_barrier(world));
    (void)unlink(s.path);
    tsr_scope_close(world);
    tsr_arena_destroy(s.arena);
    return TSR_OK;
}

static tsr_status run_abstract(tsr_comm *world, void *state)
{
    const int64_t *moved = state;
    scene s = {.world = world, .abstract = true};
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(set_up(&s));
    for (size_t i = 0; i < CALLS; i++) {
        traced of;
        if (calls[i].real) {
            continue;
        }
        TSR_TRY(run_traced(&s, &calls[i], &of));
        if (of.moved != moved[i]) {
            return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,
                              "%s: %lld bytes without elements, %lld with", calls[i].name,
                              (long long)of.moved, (long long)moved[i]);
        }
    }
    tsr_scope_close(world);
    tsr_arena_destroy(s.arena);
    return TSR_OK;
}

static void bytes_of_the_trace_are_those_that_move(void **state)
{
    fixture *f = *state;
    int64_t *moved = shared_new(CALLS * sizeof *moved);
    const tsr_launch_spec spec = {.num_ranks = RANKS, .ranks = kinds_chosen(), .timeout = 20};
    expect_ranks(f, &spec, run_calls, moved);
    if (kinds_chosen() == TSR_RANKS_THREADS) {
        const tsr_status status = tsr_launch_abstract(f->ctx, RANKS, 0, run_abstract, moved);
        if (status != TSR_OK) {
            fail_msg("abstract: %s", tsr_context_diagnostics(f->ctx)->text);
        }
    }
    shared_free(moved, CALLS * sizeof *moved);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(bytes_of_the_trace_are_those_that_move)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
