/*
 * Worlds of ranks that are not there: the same code on types and layouts alone, for any mesh; and
 * control flow by numbers, which types keep from collectives that would deadlock.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "rt/comm.h"
#include "support.h"
#include "want.h"

/* What a run of the program below says. */
typedef struct account {
    const char *mesh;
    size_t events;
    int64_t bytes;
    char result[128];
} account;

/* A row-parallel product after a column-parallel one, in layouts that follow. */
static tsr_status in_layouts(tsr_comm *world, void *state)
{
    account *a = state;
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *layouts[3] = {NULL};
    static const char *const texts[] = {"[{\"dp\"}, {}]", "[{}, {\"tp\"}]", "[{\"tp\"}, {}]"};
    static const int64_t shapes[3][2] = {{8192, 512}, {512, 2048}, {2048, 512}};
    tsr_tensor *t[3];
    tsr_tensor *y = NULL;
    const char *text = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_parse(ctx, arena, a->mesh, &mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_trace_begin(world));
    for (int i = 0; i < 3; i++) {
        TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, texts[i], &layouts[i]));
        const tsr_tensor_spec spec = {layouts[i], TSR_F32, 2, shapes[i]};
        TSR_TRY(tsr_random_normal(world, &spec, (tsr_random_key){1, (uint64_t)i}, &t[i]));
    }
    TSR_TRY(tsr_matmul(t[0], t[1], &y));
    TSR_TRY(tsr_gelu(y, &y));
    TSR_TRY(tsr_matmul(y, t[2], &y));
    TSR_TRY(tsr_relu(y, &y));
    TSR_TRY(tsr_sharding_print(ctx, arena, tsr_tensor_sharding(y), TSR_PRINT_BARE, &text));
    (void)snprintf(a->result, sizeof a->result, "%s", text);
    const tsr_trace_event *events = tsr_trace_events(world, &a->events);
    a->bytes = a->events > 0 ? events[0].bytes_received : 0;
    WANT(world, tsr_tensor_is_abstract(y) == tsr_comm_is_abstract(world));
    tsr_trace_end(world);
    tsr_scope_close(world);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void layouts_and_collectives_without_ranks(void **state)
{
    fixture *f = *state;
    account same = {.mesh = "<[\"dp\"=2, \"tp\"=2]>"};
    account many = {.mesh = "<[\"dp\"=128, \"tp\"=32]>"};
    assert_int_equal(tsr_launch_abstract(f->ctx, 4, 3, in_layouts, &same), TSR_OK);
    assert_int_equal(tsr_launch_abstract(f->ctx, 4096, 77, in_layouts, &many), TSR_OK);
    assert_string_equal(many.result, "[{\"dp\"}, {}]");
    assert_int_equal(many.events, 1);
    assert_true(many.bytes > 0);
    assert_string_equal(same.result, many.result);
    assert_int_equal(same.events, 1);
    /* 8192 / 2 rows of 512 floats: half is folded here, half comes from the other. */
    assert_int_equal(same.bytes, 8192 / 2 * 512 * 4);
}

/* A typed program on a mesh of thousands: types are checked, collectives counted. */
static tsr_status typed(tsr_comm *world, void *state)
{
    account *a = state;
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const int64_t x_shape[] = {16, 256};
    const int64_t w_shape[] = {256, 64};
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    tsr_tensor *y = NULL;
    const char *text = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_parse(ctx, arena, a->mesh, &mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_trace_begin(world));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    const tsr_view xs = {NULL, TSR_F32, 2, x_shape, NULL};
    const tsr_view ws = {NULL, TSR_F32, 2, w_shape, NULL};
    TSR_TRY(tsr_typed_value(world, &xs, "f32[16,256]{dp:V, tp:V}", &x));
    TSR_TRY(tsr_typed_value(world, &ws, "f32[256,64]{dp:I, tp:V}", &w));
    WANT(world, tsr_matmul(x, w, &y) == TSR_ERR_INVALID && heard(world, "along axis dp"));
    TSR_TRY(tsr_convert_type(w, "dp", TSR_AS(I), TSR_AS(R), NULL, &w));
    TSR_TRY(tsr_matmul(x, w, &y));
    TSR_TRY(tsr_reinterpret(y, "tp", TSR_AS(V), TSR_AS(P), NULL, &y));
    TSR_TRY(tsr_reduce_scatter(y, "tp", TSR_AS(P), TSR_AS_S(0), NULL, &y));
    TSR_TRY(tsr_all_gather(y, "tp", TSR_AS_S(0), TSR_AS(R), NULL, &y));
    TSR_TRY(tsr_type_of(y, arena, &text));
    (void)snprintf(a->result, sizeof a->result, "%s", text);
    const tsr_trace_event *events = tsr_trace_events(world, &a->events);
    for (size_t i = 0; i < a->events; i++) {
        a->bytes += events[i].bytes_received;
    }
    tsr_spmd_close(world);
    tsr_trace_end(world);
    tsr_scope_close(world);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void types_without_ranks(void **state)
{
    fixture *f = *state;
    account a = {.mesh = "<[\"dp\"=256, \"tp\"=16]>"};
    assert_int_equal(tsr_launch_abstract(f->ctx, 4096, 4095, typed, &a), TSR_OK);
    assert_string_equal(a.result, "f32[16,64]{dp:V, tp:R}");
    assert_int_equal(a.events, 4); /* convert and reinterpret are told too, with no bytes */
    assert_int_equal(a.bytes, 15 * 64 * 4 + 15 * 64 * 4);
}

static tsr_status on_arrays(tsr_comm *world, void *state)
{
    double number = 1;
    const tsr_view view = {&number, TSR_F64, 0, NULL, NULL};
    (void)state;
    WANT(world, tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &view, &view) == TSR_ERR_UNSUPPORTED);
    WANT(world, heard(world, "this world is abstract"));
    return TSR_OK;
}

static void what_needs_elements_is_refused(void **state)
{
    fixture *f = *state;
    assert_int_equal(tsr_launch_abstract(f->ctx, 3, 1, on_arrays, NULL), TSR_OK);
    assert_int_equal(tsr_launch_abstract(f->ctx, 3, 3, on_arrays, NULL), TSR_ERR_INVALID);
    expect_message(f, "rank 3 is out of range: the world has 3 ranks");
}

/* A collective under a condition that differs between ranks is refused where it is written. */
static tsr_status steer(tsr_comm *world, void *state)
{
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    float mine = (float)tsr_comm_rank(world);
    tsr_tensor *loss = NULL;
    tsr_tensor *sum = NULL;
    tsr_typed_number number;
    const tsr_view view = {&mine, TSR_F32, 0, NULL, NULL};
    (void)state;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_parse(ctx, arena, "<[\"dp\"=2, \"tp\"=2]>", &mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    TSR_TRY(tsr_typed_value(world, &view, "f32[]{dp:V, tp:V}", &loss));
    TSR_TRY(tsr_read_number(loss, &number));
    WANT(world, number.number == (double)mine && number.varies.bits == 3);
    if (tsr_if(world, &number, number.number > 1)) {
        WANT(world,
             tsr_all_reduce(loss, "tp", TSR_AS(V), TSR_AS(R), NULL, &sum) == TSR_ERR_INVALID);
        WANT(world, heard(world, "inside a condition that varies along it"));
    }
    tsr_end_if(world);
    TSR_TRY(tsr_all_reduce(loss, "tp", TSR_AS(V), TSR_AS(R), NULL, &sum));
    TSR_TRY(tsr_read_number(sum, &number));
    WANT(world, number.varies.bits == 1);
    /*
     * All ranks of a "tp" group take the same branch, so they may communicate; the groups differ.
     */
    if (tsr_if(world, &number, number.number > 2)) {
        TSR_TRY(tsr_all_reduce(loss, "tp", TSR_AS(V), TSR_AS(R), NULL, &sum));
    }
    tsr_end_if(world);
    TSR_TRY(tsr_reinterpret(loss, "dp", TSR_AS(V), TSR_AS(P), NULL, &sum));
    WANT(world, tsr_read_number(sum, &number) == TSR_ERR_INVALID);
    WANT(world, heard(world, "not one number"));
    tsr_spmd_close(world);
    tsr_scope_close(world);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void numbers_that_steer(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {.num_ranks = 4, .ranks = TSR_RANKS_THREADS, .timeout = 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, steer, NULL), TSR_OK);
}

/* A redistribution by its texts, and what the trace says of it. */
typedef struct traced_move {
    const char *mesh;
    const char *from;
    const char *to;
    int64_t extent;
    const char *collective;
    int64_t received; /* by the rank */
    int64_t moved;    /* by all */
} traced_move;

static tsr_status trace_move(tsr_comm *world, void *state)
{
    const traced_move *m = state;
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *layouts[2] = {NULL};
    const int64_t shape[] = {m->extent, m->extent};
    tsr_tensor *x = NULL;
    size_t count = 0;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_parse(ctx, arena, m->mesh, &mesh));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, m->from, &layouts[0]));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, m->to, &layouts[1]));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_trace_begin(world));
    const tsr_tensor_spec spec = {layouts[0], TSR_F32, 2, shape};
    TSR_TRY(tsr_random_normal(world, &spec, (tsr_random_key){1, 1}, &x));
    TSR_TRY(tsr_with_sharding(x, layouts[1], &x));
    const tsr_trace_event *events = tsr_trace_events(world, &count);
    WANT(world, count == 1);
    WANT(world, strcmp(events[0].collective, m->collective) == 0);
    WANT(world, events[0].bytes_received == m->received);
    WANT(world, events[0].bytes_moved == m->moved);
    tsr_trace_end(world);
    tsr_scope_close(world);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/* 65,536 devices, and 2^32 floats: each has 2^16 of them, of which it keeps one row's share. */
static void redistributions_of_many_devices(void **state)
{
    fixture *f = *state;
    enum { MANY = 65536 };
    static const traced_move rows[] = {
        {"<[\"x\"=65536]>", "[{\"x\"}, {}]", "[{}, {\"x\"}]", MANY, "all-to-all",
         4 * (INT64_C(65536) - 1), 4 * (INT64_C(65536) - 1) * MANY},
        {"<[\"x\"=65536]>", "[{\"x\"}, {}]", "[{}, {}]", 256, "all-gather",
         4 * (INT64_C(256) * 256 - 256), 4 * (INT64_C(256) * 256 * MANY - INT64_C(256) * 256)},
        {"<[\"x\"=256, \"y\"=256]>", "[{\"x\"}, {\"y\"}]", "[{\"x\"}, {}]", MANY, "all-gather",
         4 * INT64_C(256) * (65536 - 256), 4 * INT64_C(256) * (65536 - 256) * MANY},
        {"<[\"x\"=256, \"y\"=256]>", "[{\"x\"}, {}]", "[{\"x\"}, {\"y\"}]", MANY, "slice", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        traced_move m = rows[i];
        if (tsr_launch_abstract(f->ctx, MANY, i == 1 ? 17 : 4711, trace_move, &m) != TSR_OK) {
            fail_msg("row %zu: %s", i, tsr_context_diagnostics(f->ctx)->text);
        }
    }
}

/* Ranks that are threads keep one plan of a redistribution, whichever of them makes it. */
static tsr_status share_a_plan(tsr_comm *world, void *state)
{
    tsr_context *ctx = tsr_comm_context(world);
    const plan_store *store = world->state->plans.store;
    static const char *const texts[] = {"[{\"x\"}, {}]", "[{}, {\"x\"}]", "[{}, {}]"};
    const int64_t shape[] = {12, 8};
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *layouts[3] = {NULL};
    tsr_tensor *t = NULL;
    (void)state;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_parse(ctx, arena, "<[\"x\"=4]>", &mesh));
    for (int i = 0; i < 3; i++) {
        TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, texts[i], &layouts[i]));
    }
    const tsr_tensor_spec spec = {layouts[0], TSR_F32, 2, shape};
    TSR_TRY(tsr_tensor_create(world, &spec, &t));
    for (int i = 0; i < 6; i++) {
        tsr_tensor *moved = NULL;
        TSR_TRY(tsr_redistribute(t, layouts[1 + i % 2], &moved));
        tsr_tensor_release(moved);
        TSR_TRY(tsr_barrier(world));
        WANT(world, store->made == (i == 0 ? 1 : 2));
        WANT(world, store->count == (i == 0 ? 1U : 2U));
        TSR_TRY(tsr_barrier(world));
    }
    tsr_tensor_release(t);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void threads_share_plans(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {.num_ranks = 4, .ranks = TSR_RANKS_THREADS, .timeout = 20};
    if (tsr_launch(f->ctx, &spec, share_a_plan, NULL) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(layouts_and_collectives_without_ranks), TEST(types_without_ranks),
        TEST(what_needs_elements_is_refused),        TEST(numbers_that_steer),
        TEST(redistributions_of_many_devices),       TEST(threads_share_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
