/*
 * Collectives of typed code that are only started, or done in place; axes by communicator; element
 * types on the wire.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

static tsr_status one_float(tsr_comm *world, float number, const char *type, tsr_tensor **out)
{
    const int64_t shape[] = {2};
    float both[] = {number, number};
    const tsr_view view = {both, TSR_F32, 1, shape, NULL};
    return tsr_typed_value(world, &view, type, out);
}

/* Two under way at once, waited for in the other order; gradients go through. */
static tsr_status started(tsr_comm *world)
{
    const float n = (float)tsr_comm_size(world);
    const float me = (float)tsr_comm_rank(world);
    tsr_tensor *x = NULL;
    tsr_tensor *sum = NULL;
    tsr_tensor *all = NULL;
    tsr_tensor *loss = NULL;
    tsr_tensor *gradient = NULL;
    tsr_started under_way[2];
    const size_t dim = 0;
    const tsr_transition reduce = {.op = TSR_ALL_REDUCE, .src = TSR_AS(P), .dst = TSR_AS(I)};
    const tsr_transition gather = {.op = TSR_ALL_GATHER, .src = TSR_AS_S(0), .dst = TSR_AS(R)};
    const tsr_transition convert = {.op = TSR_CONVERT, .src = TSR_AS(R), .dst = TSR_AS(P)};
    TSR_TRY(one_float(world, me, "f32[2]{x:P}", &x));
    TSR_TRY(one_float(world, me, "f32[2]{x:V}", &all));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_start_collective(x, "x", &reduce, NULL, &under_way[0]));
    TSR_TRY(tsr_start_collective(all, "x", &gather, NULL, &under_way[1]));
    TSR_TRY(tsr_wait_value(world, under_way[1], &all));
    TSR_TRY(tsr_wait_value(world, under_way[0], &sum));
    WANT(world, tsr_tensor_local_shape(all)[0] == 2 * tsr_comm_size(world));
    WANT(world, ((const float *)tsr_tensor_data(all))[1] == 0);
    WANT(world, ((const float *)tsr_tensor_data(sum))[1] == n * (n - 1) / 2);
    WANT(world, tsr_wait_value(world, under_way[0], &sum) == TSR_ERR_INVALID);
    WANT(world, heard(world, "value 1, of all_reduce, was already waited for"));
    WANT(world, tsr_wait_value(world, (tsr_started){0}, &sum) == TSR_ERR_INVALID);
    WANT(world, heard(world, "unknown pending value 0"));
    WANT(world, tsr_wait_value(world, (tsr_started){99 << 3}, &sum) == TSR_ERR_INVALID);
    WANT(world, heard(world, "unknown pending value 99"));
    WANT(world, tsr_start_collective(x, "x", &convert, NULL, &under_way[0]) < 0);
    tsr_context_clear(tsr_comm_context(world));
    TSR_TRY(tsr_mul(sum, sum, &loss));
    TSR_TRY(tsr_sum(loss, &dim, 1, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(tsr_gradient(x, &gradient));
    WANT(world, ((const float *)tsr_tensor_data(gradient))[0] == n * (n - 1));
    tsr_tape_end(world);
    return TSR_OK;
}

static int64_t num_elements(const tsr_tensor *t)
{
    int64_t count = 1;
    for (size_t d = 0; d < tsr_tensor_rank(t); d++) {
        count *= tsr_tensor_local_shape(t)[d];
    }
    return count;
}

/*
 * Every collective, started and waited for, gives what it gives at once: bit by bit, with its type,
 * also with another element type on the wire.
 */
static tsr_status all_of_them(tsr_comm *world)
{
    static const tsr_transition rows[] = {
        {.op = TSR_ALL_REDUCE, .src = TSR_AS(P), .dst = TSR_AS(R)},
        {.op = TSR_ALL_GATHER, .src = TSR_AS(V), .dst = TSR_AS(I)},
        {.op = TSR_ALL_GATHER, .src = TSR_AS_S(1), .dst = TSR_AS(R)},
        {.op = TSR_REDUCE_SCATTER, .src = TSR_AS(P), .dst = TSR_AS_S(0)},
        {.op = TSR_REDUCE_SCATTER, .src = TSR_AS(P), .dst = TSR_AS(V)},
        {.op = TSR_ALL_TO_ALL, .src = TSR_AS(V), .dst = TSR_AS(V)},
        {.op = TSR_ALL_TO_ALL, .src = TSR_AS_S(0), .dst = TSR_AS_S(1)},
        {.op = TSR_ALL_TO_ALL, .src = TSR_AS(V), .dst = TSR_AS_S(1)},
        {.op = TSR_ALL_TO_ALL, .src = TSR_AS_S(1), .dst = TSR_AS(V)},
        {.op = TSR_ALL_TO_ALL, .src = TSR_AS(V), .dst = TSR_AS_S(0)},
        {.op = TSR_ALL_TO_ALL, .src = TSR_AS_S(1), .dst = TSR_AS_S(0)},
    };
    static tsr_status (*const calls[])(tsr_tensor *, const char *, tsr_end, tsr_end,
                                       const tsr_collective_options *,
                                       tsr_tensor **) = {[TSR_ALL_REDUCE] = tsr_all_reduce,
                                                         [TSR_ALL_GATHER] = tsr_all_gather,
                                                         [TSR_REDUCE_SCATTER] = tsr_reduce_scatter,
                                                         [TSR_ALL_TO_ALL] = tsr_all_to_all};
    enum { MOST = 64 };
    const int64_t n = tsr_comm_size(world);
    const int64_t shape[] = {n, n + 1};
    float numbers[MOST];
    for (int64_t i = 0; i < MOST; i++) {
        numbers[i] = (float)(i + 1) / 7 + (float)tsr_comm_rank(world);
    }
    const tsr_view view = {numbers, TSR_F32, 2, shape, NULL};
    for (size_t k = 0; k < 2 * sizeof rows / sizeof rows[0]; k++) {
        const tsr_transition *what = &rows[k / 2];
        const tsr_collective_options options = {.has_wire_dtype = k % 2 == 1,
                                                .wire_dtype = TSR_BF16};
        char type[64];
        tsr_tensor *x = NULL;
        tsr_tensor *once = NULL;
        tsr_tensor *later = NULL;
        tsr_started under_way;
        (void)snprintf(type, sizeof type, "f32[%lld,%lld]{x:%s}", (long long)n, (long long)n + 1,
                       what->src.kind == TSR_P ? "P" : "V");
        TSR_TRY(tsr_typed_value(world, &view, type, &x));
        TSR_TRY(calls[what->op](x, "x", what->src, what->dst, &options, &once));
        TSR_TRY(tsr_start_collective(x, "x", what, &options, &under_way));
        TSR_TRY(tsr_wait_value(world, under_way, &later));
        WANT(world, num_elements(once) == num_elements(later));
        WANT(world, memcmp(tsr_tensor_data(once), tsr_tensor_data(later),
                           (size_t)num_elements(once) * sizeof(float)) == 0);
    }
    return TSR_OK;
}

/* While a collective is under way its operand is not written over; afterwards it may be. */
static tsr_status not_written_over(tsr_comm *world)
{
    const tsr_transition reduce = {.op = TSR_ALL_REDUCE, .src = TSR_AS(P), .dst = TSR_AS(R)};
    const tsr_sgd_options options = {.learning_rate = 0.5};
    const bool first = tsr_comm_rank(world) == 0;
    tsr_tensor *x = NULL;
    tsr_tensor *same = NULL;
    tsr_tensor *sum = NULL;
    tsr_started under_way;
    TSR_TRY(one_float(world, 1, "f32[2]{x:P}", &x));
    TSR_TRY(tsr_assert_type(x, "{x:P}", &same));
    if (first) {
        TSR_TRY(tsr_start_collective(x, "x", &reduce, NULL, &under_way));
    }
    if (first && tsr_comm_size(world) > 1) { /* the others have not started theirs */
        WANT(world, tsr_all_reduce_in_place(same, "x", TSR_AS(P), TSR_AS(R)) < 0);
        WANT(world, heard(world, "still reads the value"));
        WANT(world, tsr_sgd_step(x, x, &options, NULL) < 0);
        WANT(world, heard(world, "still reads the parameter"));
    }
    TSR_TRY(tsr_barrier(world));
    if (!first) {
        TSR_TRY(tsr_start_collective(x, "x", &reduce, NULL, &under_way));
    }
    TSR_TRY(tsr_wait_value(world, under_way, &sum));
    WANT(world, ((const float *)tsr_tensor_data(sum))[1] == (float)tsr_comm_size(world));
    return tsr_all_reduce_in_place(same, "x", TSR_AS(P), TSR_AS(R));
}

/* A scope that is left without waiting for what was started in it, and only for that. */
static tsr_status left_in_scope(tsr_comm *world, const tsr_mesh *mesh)
{
    const tsr_transition gather = {.op = TSR_ALL_GATHER, .src = TSR_AS(V), .dst = TSR_AS(R)};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *without_elements = NULL;
    tsr_started outer;
    tsr_started inner;
    TSR_TRY(one_float(world, 1, "f32[2]{x:V}", &x));
    TSR_TRY(tsr_start_collective(x, "x", &gather, NULL, &outer));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    TSR_TRY(tsr_abstract_like(x, &without_elements));
    TSR_TRY(tsr_assert_type(without_elements, "{x:V}", &without_elements));
    TSR_TRY(tsr_start_collective(without_elements, "x", &gather, NULL, &inner));
    WANT(world, tsr_spmd_close(world) == TSR_ERR_INVALID);
    WANT(world, heard(world, "all_gather along axis x, was started in the scope and never waited"));
    WANT(world, tsr_wait_value(world, inner, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "of all_gather, was already waited for, or given up"));
    TSR_TRY(tsr_wait_value(world, outer, &y));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    WANT(world, tsr_spmd_close(world) == TSR_OK);
    return TSR_OK;
}

/* A backward that reduces in less than f32 must be chosen. */
static tsr_status on_the_wire(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_collective_options options = {.has_wire_dtype = true, .wire_dtype = TSR_BF16};
    TSR_TRY(one_float(world, 1, "f32[2]{x:P}", &x));
    TSR_TRY(tsr_all_reduce(x, "x", TSR_AS(P), TSR_AS(R), &options, &y));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    WANT(world, tsr_all_reduce(x, "x", TSR_AS(P), TSR_AS(R), &options, &y) < 0);
    tsr_context_clear(tsr_comm_context(world));
    options.has_backward_dtype = true;
    options.backward_dtype = TSR_F32;
    TSR_TRY(tsr_all_reduce(x, "x", TSR_AS(P), TSR_AS(R), &options, &y));
    WANT(world, ((const float *)tsr_tensor_data(y))[0] == (float)tsr_comm_size(world));
    tsr_tape_end(world);
    return TSR_OK;
}

/* The sum over the value itself: its elements, its type, and what is refused. */
static tsr_status in_place(tsr_comm *world, tsr_arena *arena)
{
    const float n = (float)tsr_comm_size(world);
    tsr_tensor *x = NULL;
    tsr_tensor *same = NULL;
    const char *type = NULL;
    TSR_TRY(one_float(world, (float)tsr_comm_rank(world), "f32[2]{x:P}", &x));
    const void *memory = tsr_tensor_data(x);
    TSR_TRY(tsr_reinterpret(x, "x", TSR_AS(P), TSR_AS(P), NULL, &same));
    WANT(world, tsr_all_reduce_in_place(x, "x", TSR_AS_P(TSR_MAX), TSR_AS(R)) < 0);
    WANT(world, heard(world, "the pending reduction differs"));
    TSR_TRY(tsr_all_reduce_in_place(x, "x", TSR_AS(P), TSR_AS(I)));
    WANT(world, tsr_tensor_data(x) == memory && tsr_tensor_data(same) == memory);
    WANT(world, ((const float *)memory)[1] == n * (n - 1) / 2);
    TSR_TRY(tsr_type_of(x, arena, &type));
    WANT(world, strcmp(type, "f32[2]{x:I}") == 0);
    WANT(world, tsr_all_reduce_in_place(x, "x", TSR_AS(P), TSR_AS(I)) < 0);
    WANT(world, heard(world, "already I there"));
    TSR_TRY(one_float(world, 1, "f32[2]{x:V}", &x));
    WANT(world, tsr_all_reduce_in_place(x, "x", TSR_AS(P), TSR_AS(R)) < 0);
    WANT(world, heard(world, "reinterpret V->P first"));
    TSR_TRY(one_float(world, 1, "f32[2]{x:P}", &x));
    TSR_TRY(tsr_tape_begin(world));
    WANT(world, tsr_all_reduce_in_place(x, "x", TSR_AS(P), TSR_AS(R)) < 0);
    WANT(world, heard(world, "a tape is recording"));
    tsr_tape_end(world);
    WANT(world, ((const float *)tsr_tensor_data(x))[0] == 1);
    return TSR_OK;
}

/* A communicator is found again as the axes that it was made along. */
static tsr_status by_communicator(tsr_comm *world, const tsr_mesh *mesh)
{
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    tsr_comm *along = NULL;
    char names[16];
    char small[1];
    TSR_TRY(tsr_comm_along(world, mesh, &axis, 1, &along));
    TSR_TRY(tsr_axes_of_comm(world, along, names, sizeof names));
    WANT(world, strcmp(names, "x") == 0 || tsr_comm_size(world) == 1);
    TSR_TRY(tsr_axes_of_comm(world, world, names, sizeof names));
    WANT(world, tsr_axes_of_comm(world, world, small, sizeof small) == TSR_ERR_LIMIT);
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    char text[32];
    (void)state;
    (void)snprintf(text, sizeof text, "<[\"x\"=%lld]>", (long long)tsr_comm_size(world));
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, text, &mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    TSR_TRY(started(world));
    TSR_TRY(all_of_them(world));
    TSR_TRY(not_written_over(world));
    TSR_TRY(left_in_scope(world, mesh));
    TSR_TRY(on_the_wire(world));
    TSR_TRY(in_place(world, arena));
    TSR_TRY(by_communicator(world, mesh));
    tsr_spmd_close(world);
    tsr_scope_close(world);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/*
 * What was started and never waited for is reported when its scope closes and when the rank ends,
 * with the call, whether it is over by then or not.
 */
static tsr_status forget(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_tensor *x = NULL;
    tsr_started under_way;
    char text[32];
    const tsr_transition reduce = {.op = TSR_ALL_REDUCE, .src = TSR_AS(P), .dst = TSR_AS(I)};
    (void)snprintf(text, sizeof text, "<[\"x\"=%lld]>", (long long)tsr_comm_size(world));
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, text, &mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    TSR_TRY(one_float(world, 1, "f32[2]{x:P}", &x));
    TSR_TRY(tsr_start_collective(x, "x", &reduce, NULL, &under_way));
    TSR_TRY(*(const bool *)state ? tsr_barrier(world) : TSR_OK); /* it makes progress there */
    WANT(world, tsr_spmd_close(world) == TSR_ERR_INVALID);
    WANT(world, heard(world, "value 1, all_reduce along axis x, was started in the scope"));
    WANT(world, tsr_wait_value(world, under_way, &x) == TSR_ERR_INVALID);
    WANT(world, heard(world, "given up when its scope closed"));
    tsr_scope_close(world);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void started_and_waited_for(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        const tsr_launch_spec spec = {.num_ranks = ranks, .ranks = kinds_chosen()};
        expect_ranks(*state, &spec, run, NULL);
    }
}

static void never_waited_for(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {.num_ranks = 2, .ranks = TSR_RANKS_THREADS};
    if (kinds_chosen() != TSR_RANKS_THREADS) {
        return;
    }
    for (int k = 0; k < 8; k++) {
        bool waits = k % 2 == 1;
        assert_true(tsr_launch(f->ctx, &spec, forget, &waits) < 0);
        expect_message(f, "of tsr_comm_all_reduce, was never waited for");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(started_and_waited_for), TEST(never_waited_for)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
