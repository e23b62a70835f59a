/* Collectives that are started and waited for: order, errors, who goes on when. */
#include <string.h>
#include <unistd.h>

#include "kinds.h"
#include "want.h"

enum { RANKS = 3, GUILTY = 1, MANY = 12, ELEMENTS = 700 };

static tsr_status launch(fixture *f, double timeout, tsr_rank_function function)
{
    const tsr_launch_spec spec = {.num_ranks = RANKS,
                                  .ranks = kinds_chosen(),
                                  .timeout = timeout,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 22};
    return launch_ranks(f->ctx, &spec, function, NULL);
}

static void expect_success(fixture *f, double timeout, tsr_rank_function function)
{
    if (launch(f, timeout, function) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

/* A number for each call, rank and element; small, so that sums are exact. */
static float value(int64_t call, int64_t rank, int64_t i)
{
    return (float)((call * 31 + rank * 7 + i) % 97);
}

typedef struct numbers {
    float of[ELEMENTS];
} numbers;

static void fill(numbers *n, int64_t call, int64_t rank, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        n->of[i] = value(call, rank, i);
    }
}

static bool is_sum(const numbers *n, int64_t call, const tsr_comm *comm, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float sum = 0;
        for (int64_t r = 0; r < tsr_comm_size(comm); r++) {
            sum += value(call, tsr_comm_world_rank(comm, r), i);
        }
        if (n->of[i] != sum) {
            return false;
        }
    }
    return true;
}

/* Starts a sum in place; what describes the view is gone when this returns. */
static tsr_status start_sum(tsr_comm *comm, numbers *n, int64_t call, int64_t count,
                            tsr_request *request)
{
    int64_t shape[1] = {count};
    int64_t strides[1] = {sizeof(float)};
    tsr_view view = {n->of, TSR_F32, 1, shape, strides};
    fill(n, call, tsr_comm_world_rank(comm, tsr_comm_rank(comm)), count);
    const tsr_status status =
        tsr_comm_all_reduce_start(comm, TSR_REDUCE_SUM, &view, &view, request);
    memset(shape, 0xee, sizeof shape);
    memset(strides, 0xee, sizeof strides);
    memset(&view, 0xee, sizeof view);
    return status;
}

/* Odd calls are so small that they travel in records. */
static int64_t count_of(int64_t call)
{
    return call % 2 == 0 ? ELEMENTS : 3;
}

/* Many at once, waited for in another order on each rank, some by testing. */
static tsr_status start_many(tsr_comm *world, void *state)
{
    static _Thread_local numbers all[MANY];
    tsr_request requests[MANY];
    const int64_t rank = tsr_comm_rank(world);
    (void)state;
    for (int64_t i = 0; i < MANY; i++) {
        WANT(world, start_sum(world, &all[i], i, count_of(i), &requests[i]) == TSR_OK);
    }
    for (int64_t k = 0; k < MANY; k++) {
        const int64_t i = rank == 0 ? k : rank == 1 ? MANY - 1 - k : (k * 5) % MANY;
        tsr_status status = TSR_IN_PROGRESS;
        while (k % 3 == 0 && status == TSR_IN_PROGRESS) {
            status = tsr_test(world, requests[i]);
        }
        status = status == TSR_IN_PROGRESS ? tsr_wait(world, requests[i]) : status;
        WANT(world, status == TSR_OK);
        WANT(world, is_sum(&all[i], i, world, count_of(i)));
    }
    return TSR_OK;
}

static void many_in_any_order(void **state)
{
    expect_success(*state, 20, start_many);
}

/* Two groups with the same members: each rank starts and waits in another order. */
static tsr_status cross(tsr_comm *world, void *state)
{
    static _Thread_local numbers all[2];
    tsr_request requests[2];
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_comm *group = NULL;
    tsr_context *ctx = tsr_comm_context(world);
    const int64_t rank = tsr_comm_rank(world);
    (void)state;
    WANT(world, tsr_arena_create(ctx, &arena) == TSR_OK);
    WANT(world, tsr_mesh_parse(ctx, arena, "<[\"x\"=3]>", &mesh) == TSR_OK);
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    WANT(world, tsr_comm_along(world, mesh, &axis, 1, &group) == TSR_OK);
    tsr_arena_destroy(arena);
    tsr_comm *comms[2] = {world, group};
    for (int64_t k = 0; k < 2; k++) {
        const int64_t i = rank == GUILTY ? 1 - k : k;
        WANT(world, start_sum(comms[i], &all[i], i, ELEMENTS, &requests[i]) == TSR_OK);
    }
    for (int64_t k = 0; k < 2; k++) {
        const int64_t i = rank == GUILTY ? k : 1 - k;
        WANT(world, tsr_wait(world, requests[i]) == TSR_OK);
        WANT(world, is_sum(&all[i], i, comms[i], ELEMENTS));
    }
    /* A blocking call on one while others wait for a request on the other. */
    WANT(world, start_sum(group, &all[1], 5, ELEMENTS, &requests[1]) == TSR_OK);
    if (rank == GUILTY) {
        WANT(world, tsr_barrier(world) == TSR_OK);
        WANT(world, tsr_wait(world, requests[1]) == TSR_OK);
    } else {
        WANT(world, tsr_wait(world, requests[1]) == TSR_OK);
        WANT(world, tsr_barrier(world) == TSR_OK);
    }
    WANT(world, is_sum(&all[1], 5, group, ELEMENTS));
    return TSR_OK;
}

static void groups_cross(void **state)
{
    expect_success(*state, 20, cross);
}

/* A blocking call after one that was started runs after it. */
static tsr_status block_after(tsr_comm *world, void *state)
{
    static _Thread_local numbers all[2];
    tsr_request request;
    const int64_t count = ELEMENTS;
    (void)state;
    WANT(world, start_sum(world, &all[0], 0, ELEMENTS, &request) == TSR_OK);
    fill(&all[1], 1, tsr_comm_rank(world), ELEMENTS);
    const tsr_view view = {all[1].of, TSR_F32, 1, &count, NULL};
    WANT(world, tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &view, &view) == TSR_OK);
    WANT(world, is_sum(&all[1], 1, world, ELEMENTS) && is_sum(&all[0], 0, world, ELEMENTS));
    WANT(world, tsr_wait(world, request) == TSR_OK);
    return TSR_OK;
}

static void blocking_calls_come_after(void **state)
{
    expect_success(*state, 20, block_after);
}

/* One rank's arguments are wrong: the wait of every rank fails with that, and later calls work. */
static tsr_status refuse(tsr_comm *world, void *state)
{
    static _Thread_local numbers n;
    tsr_request request;
    const int64_t count = ELEMENTS;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    const tsr_view view = {guilty ? NULL : n.of, TSR_F32, 1, &count, NULL};
    (void)state;
    WANT(world, tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &view, &view, &request) == TSR_OK);
    WANT(world, tsr_wait(world, request) == TSR_ERR_INVALID);
    WANT(world, heard(world, guilty ? "data" : "rank 1 refuses"));
    const int64_t other = guilty ? ELEMENTS - 1 : ELEMENTS;
    const tsr_view differs = {n.of, TSR_F32, 1, &other, NULL};
    WANT(world,
         tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &differs, &differs, &request) == TSR_OK);
    WANT(world, tsr_wait(world, request) == TSR_ERR_PEER);
    WANT(world, heard(world, "the ranks make different calls"));
    WANT(world, start_sum(world, &n, 3, ELEMENTS, &request) == TSR_OK);
    WANT(world, tsr_wait(world, request) == TSR_OK);
    WANT(world, is_sum(&n, 3, world, ELEMENTS));
    return TSR_OK;
}

/* Until a request is waited for, others neither write what it uses nor read what it writes. */
static tsr_status overlap(tsr_comm *world, void *state)
{
    static _Thread_local float of[6 * ELEMENTS];
    const int64_t count = ELEMENTS;
    tsr_request request;
    tsr_request other;
    (void)state;
    const tsr_view parts[] = {{of, TSR_F32, 1, &count, NULL},
                              {of + ELEMENTS, TSR_F32, 1, &count, NULL},
                              {of + 2 * ELEMENTS, TSR_F32, 1, &count, NULL},
                              {of + ELEMENTS + ELEMENTS / 2, TSR_F32, 1, &count, NULL}};
    const struct {
        const tsr_view *src;
        const tsr_view *dst;
        const char *text; /* NULL: allowed */
    } cases[] = {
        {&parts[2], &parts[1], "what it writes overlaps what request 1 reads or writes"},
        {&parts[2], &parts[3], "what it writes overlaps what request 1 reads or writes"},
        {&parts[2], &parts[0], "what it writes overlaps what request 1 reads or writes"},
        {&parts[1], &parts[2], "what it reads overlaps what request 1 writes"},
        {&parts[0], &parts[2], NULL},
    };
    WANT(world, tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &parts[0], &parts[1], &request) ==
                    TSR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_status status =
            tsr_comm_all_reduce_start(world, TSR_REDUCE_MAX, cases[i].src, cases[i].dst, &other);
        WANT(world, status == (cases[i].text == NULL ? TSR_OK : TSR_ERR_INVALID));
        WANT(world, cases[i].text == NULL || heard(world, cases[i].text));
    }
    WANT(world, tsr_wait(world, request) == TSR_OK && tsr_wait(world, other) == TSR_OK);
    /* One rank alone: the others are told when they wait. */
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    WANT(world, tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &parts[0], &parts[1], &request) ==
                    TSR_OK);
    const tsr_status status =
        tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &parts[0], &parts[guilty ? 1 : 2], &other);
    WANT(world, status == (guilty ? TSR_ERR_INVALID : TSR_OK));
    WANT(world, guilty || tsr_wait(world, other) == TSR_ERR_INVALID);
    WANT(world, heard(world, "overlaps what request"));
    return tsr_wait(world, request);
}

static void requests_do_not_overlap(void **state)
{
    expect_success(*state, 20, overlap);
}

static void refusal_is_heard_at_the_wait(void **state)
{
    expect_success(*state, 20, refuse);
}

static tsr_status wait_wrongly(tsr_comm *world, void *state)
{
    static _Thread_local numbers n;
    tsr_request request;
    (void)state;
    WANT(world, start_sum(world, &n, 0, ELEMENTS, &request) == TSR_OK);
    WANT(world, tsr_wait(world, request) == TSR_OK);
    WANT(world, tsr_wait(world, request) == TSR_ERR_INVALID);
    WANT(world, heard(world, "request 1 was already waited for"));
    WANT(world, tsr_test(world, request) == TSR_ERR_INVALID);
    WANT(world, heard(world, "request 1 was already waited for"));
    WANT(world, tsr_wait(world, (tsr_request){9}) == TSR_ERR_INVALID);
    WANT(world, heard(world, "unknown request 9"));
    WANT(world, tsr_wait(world, (tsr_request){0}) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    return tsr_barrier(world);
}

static void waiting_twice_is_an_error(void **state)
{
    expect_success(*state, 20, wait_wrongly);
}

static tsr_status forget(tsr_comm *world, void *state)
{
    static _Thread_local numbers n;
    tsr_request request;
    (void)state;
    const tsr_status status = start_sum(world, &n, 0, ELEMENTS, &request);
    if (status < 0 || tsr_comm_rank(world) == GUILTY) {
        return status;
    }
    return tsr_wait(world, request);
}

static void a_forgotten_request_fails_the_rank(void **state)
{
    fixture *f = *state;
    assert_true(launch(f, 20, forget) < 0);
    expect_message(f, "rank 1 failed: request 1, of tsr_comm_all_reduce, was never waited for");
}

/* A rank that never starts it: the others' wait names it. */
static tsr_status stay_away(tsr_comm *world, void *state)
{
    static _Thread_local numbers n;
    tsr_request request;
    (void)state;
    WANT(world, tsr_barrier(world) == TSR_OK);
    if (tsr_comm_rank(world) == GUILTY) {
        usleep(500000);
        return TSR_OK;
    }
    WANT(world, start_sum(world, &n, 0, ELEMENTS, &request) == TSR_OK);
    WANT(world, tsr_wait(world, request) == TSR_ERR_TIMEOUT);
    WANT(world, heard(world, "tsr_comm_all_reduce: rank 1 did not arrive within 0.3 seconds"));
    return TSR_OK;
}

static void absence_is_heard_at_the_wait(void **state)
{
    expect_success(*state, 0.3, stay_away);
}

/* A tensor that every rank has all of, in memory that the others reach. */
static tsr_status make_whole(tsr_comm *world, int64_t size, tsr_tensor **out)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *whole = NULL;
    tsr_context *ctx = tsr_comm_context(world);
    WANT(world, tsr_arena_create(ctx, &arena) == TSR_OK);
    WANT(world, tsr_mesh_parse(ctx, arena, "<[\"x\"=3]>", &mesh) == TSR_OK);
    WANT(world, tsr_sharding_replicated_over(ctx, arena, mesh, 1, false, &whole) == TSR_OK);
    const tsr_tensor_spec spec = {whole, TSR_F32, 1, &size};
    const tsr_status status = tsr_tensor_create(world, &spec, out);
    tsr_arena_destroy(arena);
    return status;
}

/* What was given back twice would be handed out twice. */
static tsr_status check_no_block_twice(tsr_comm *world)
{
    enum { TENSORS = 6 };
    tsr_tensor *tensors[TENSORS];
    for (size_t i = 0; i < TENSORS; i++) {
        WANT(world, make_whole(world, 8, &tensors[i]) == TSR_OK);
        for (size_t k = 0; k < i; k++) {
            WANT(world, tsr_tensor_data(tensors[k]) != tsr_tensor_data(tensors[i]));
        }
    }
    for (size_t i = 0; i < TENSORS; i++) {
        tsr_tensor_release(tensors[i]);
    }
    return TSR_OK;
}

/* A rank that has come, and does its part only after more than the time-out: no reason to fail. */
static tsr_status dawdle(tsr_comm *world, void *state)
{
    enum { TURNS = 3 };
    tsr_tensor *t = NULL;
    tsr_request request;
    const bool slow = tsr_comm_rank(world) == GUILTY;
    (void)state;
    WANT(world, make_whole(world, ELEMENTS, &t) == TSR_OK);
    for (int64_t turn = 0; turn < TURNS; turn++) {
        WANT(world, tsr_barrier(world) == TSR_OK);
        if (!slow) {
            usleep(200000); /* it must have come before */
        }
        WANT(world, start_sum(world, tsr_tensor_data(t), turn, ELEMENTS, &request) == TSR_OK);
        if (slow) {
            usleep(1300000);
        }
        WANT(world, tsr_wait(world, request) == TSR_OK);
        WANT(world, is_sum(tsr_tensor_data(t), turn, world, ELEMENTS));
    }
    tsr_tensor_release(t);
    return check_no_block_twice(world);
}

static void slowness_after_the_rendezvous_is_no_absence(void **state)
{
    expect_success(*state, 0.8, dawdle);
}

/* A group made while a request is under way on the world, and never used: it has no part in it. */
static tsr_status make_group_meanwhile(tsr_comm *world, void *state)
{
    static _Thread_local numbers n;
    tsr_request request;
    tsr_comm *group = NULL;
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_context *ctx = tsr_comm_context(world);
    (void)state;
    WANT(world, tsr_arena_create(ctx, &arena) == TSR_OK);
    WANT(world, tsr_mesh_parse(ctx, arena, "<[\"x\"=3]>", &mesh) == TSR_OK);
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    if (tsr_comm_rank(world) == GUILTY) {
        usleep(20000);
    }
    WANT(world, start_sum(world, &n, 0, ELEMENTS, &request) == TSR_OK);
    WANT(world, tsr_comm_along(world, mesh, &axis, 1, &group) == TSR_OK);
    tsr_arena_destroy(arena);
    WANT(world, tsr_wait(group, request) == TSR_OK);
    WANT(world, is_sum(&n, 0, world, ELEMENTS));
    return TSR_OK;
}

static void a_group_is_made_meanwhile(void **state)
{
    expect_success(*state, 20, make_group_meanwhile);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(many_in_any_order),
        TEST(groups_cross),
        TEST(blocking_calls_come_after),
        TEST(refusal_is_heard_at_the_wait),
        TEST(requests_do_not_overlap),
        TEST(waiting_twice_is_an_error),
        TEST(a_forgotten_request_fails_the_rank),
        TEST(absence_is_heard_at_the_wait),
        TEST(slowness_after_the_rendezvous_is_no_absence),
        TEST(a_group_is_made_meanwhile),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
