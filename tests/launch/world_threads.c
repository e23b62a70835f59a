/* Worlds that stay open: runs on threads and in abstract worlds, failures, limits, stops. */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "rt/barrier.h"
#include "support.h"
#include "want.h"

enum { MAX_RANKS = 11, SEGMENT = 1 << 22 };

static tsr_world *open_world(fixture *f, int64_t num_ranks)
{
    const tsr_launch_spec spec = {.num_ranks = num_ranks,
                                  .ranks = TSR_RANKS_THREADS,
                                  .timeout = 20,
                                  .segment_bytes = SEGMENT};
    tsr_world *world = NULL;
    assert_int_equal(tsr_world_open(f->ctx, &spec, &world), TSR_OK);
    assert_int_equal(tsr_world_size(world), num_ranks);
    assert_int_equal(tsr_world_num_local(world), num_ranks);
    return world;
}

static void expect_ok(fixture *f, tsr_status status)
{
    if (status != TSR_OK) {
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        fail_msg("%s: %s", tsr_status_name(status), d != NULL ? d->text : "no message");
    }
}

/* Insists on the only message. */
static void expect_only(fixture *f, const char *text)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_non_null(d);
    assert_string_equal(d->text, text);
    assert_null(d->next);
    tsr_context_clear(f->ctx);
}

/* ---- runs ---- */

static tsr_status count_runs(tsr_comm *world, void *state)
{
    _Atomic int64_t *counts = state;
    counts[tsr_comm_rank(world)]++;
    return tsr_barrier(world);
}

static void functions_run_on_every_rank(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= MAX_RANKS; n++) {
        _Atomic int64_t counts[MAX_RANKS] = {0};
        tsr_world *world = open_world(f, n);
        for (int64_t run = 1; run <= 20; run++) {
            expect_ok(f, tsr_world_run(world, count_runs, counts));
            for (int64_t i = 0; i < MAX_RANKS; i++) {
                assert_int_equal(counts[i], i < n ? run : 0);
            }
        }
        for (int64_t i = 0; i < n; i++) {
            assert_int_equal(tsr_comm_rank(tsr_world_comm(world, i)), i);
            assert_int_equal(tsr_comm_size(tsr_world_comm(world, i)), n);
        }
        assert_null(tsr_world_comm(world, n));
        assert_null(tsr_world_comm(world, -1));
        expect_ok(f, tsr_world_close(world));
    }
    assert_int_equal(tsr_world_close(NULL), TSR_OK);
}

/* What the ranks keep from one run to the next. */
typedef struct kept {
    tsr_tensor *x[MAX_RANKS];
    tsr_tensor *sum[MAX_RANKS];
} kept;

static tsr_status make_tensors(tsr_comm *world, void *state)
{
    kept *k = state;
    const int64_t me = tsr_comm_rank(world);
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_tensor_spec spec;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    tsr_status status = tsr_mesh_of_world(world, arena, "x=-1", &mesh);
    status = status < 0 ? status
                        : tsr_tensor_spec_parse(ctx, arena, mesh, "f32[2310]", "[{\"x\"}]", &spec);
    status = status < 0 ? status : tsr_tensor_create(world, &spec, &k->x[me]);
    tsr_arena_destroy(arena);
    return status;
}

static tsr_status add_tensors(tsr_comm *world, void *state)
{
    kept *k = state;
    const int64_t me = tsr_comm_rank(world);
    return tsr_add(k->x[me], k->x[me], &k->sum[me]);
}

static void set_element(const int64_t *index, void *element, void *state)
{
    (void)index;
    *(float *)element = *(const float *)state;
}

/* Made in one run, filled by the driver, used in the next, read and released by the driver. */
static void tensors_stay_between_runs(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= MAX_RANKS; n += n < 3 ? 1 : 4) {
        tsr_world *world = open_world(f, n);
        for (int round = 0; round < 50; round++) {
            kept k = {0};
            expect_ok(f, tsr_world_run(world, make_tensors, &k));
            for (int64_t i = 0; i < n; i++) {
                float value = (float)(round + 1);
                tsr_tensor_fill(k.x[i], set_element, &value);
            }
            expect_ok(f, tsr_world_run(world, add_tensors, &k));
            for (int64_t i = 0; i < n; i++) {
                const float *data = tsr_tensor_data(k.sum[i]);
                assert_true(data[0] == (float)(2 * round + 2));
                assert_int_equal(tsr_tensor_local_shape(k.sum[i])[0], 2310 / n);
                tsr_tensor_release(k.x[i]);
                tsr_tensor_release(k.sum[i]);
            }
        }
        expect_ok(f, tsr_world_close(world));
    }
}

/* Left tensors keep nothing of the world: the address sanitizer looks for what leaks. */
static void tensors_may_be_left(void **state)
{
    fixture *f = *state;
    static kept k;
    tsr_world *world = open_world(f, 3);
    expect_ok(f, tsr_world_run(world, make_tensors, &k));
    expect_ok(f, tsr_world_close(world));
    world = open_world(f, 1);
    expect_ok(f, tsr_world_run(world, make_tensors, &k));
    expect_ok(f, tsr_world_close(world));
}

static tsr_status do_nothing(tsr_comm *world, void *state)
{
    (void)world;
    (void)state;
    return TSR_OK;
}

static tsr_status refuse(tsr_comm *world, void *state)
{
    tsr_dtype dtype;
    (void)state;
    return tsr_dtype_parse(tsr_comm_context(world), "f33", &dtype);
}

static size_t heap_bytes(void)
{
    return mallinfo2().uordblks;
}

static void many_runs_take_no_memory(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= 2; n++) {
        tsr_world *world = open_world(f, n);
        size_t settled = 0;
        for (int run = 0; run < 100000; run++) {
            if (run % 100 == 0) {
                assert_true(tsr_world_run(world, refuse, NULL) < 0);
                tsr_context_clear(f->ctx);
            }
            expect_ok(f, tsr_world_run(world, do_nothing, NULL));
            settled = run == 1000 ? heap_bytes() : settled;
        }
        assert_true(heap_bytes() <= settled + 4096);
        expect_ok(f, tsr_world_close(world));
    }
}

/* ---- failures ---- */

static tsr_status gather_wrong(tsr_comm *world, void *state)
{
    double number = 1;
    const tsr_view one = {&number, TSR_F64, 0, NULL, NULL};
    const int64_t shape[] = {3};
    double numbers[3];
    const tsr_view three = {numbers, TSR_F64, 1, shape, NULL};
    (void)state;
    return tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &one, &three);
}

/* The same mistake on all ranks: one message, theirs alone, and the world goes on. */
static void mistakes_alike_are_told_bare(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= MAX_RANKS; n++) {
        _Atomic int64_t counts[MAX_RANKS] = {0};
        tsr_world *world = open_world(f, n);
        for (int round = 0; round < 3; round++) {
            assert_true(tsr_world_run(world, refuse, NULL) < 0);
            expect_only(f, "unknown element type 'f33'");
            assert_true(tsr_world_run(world, gather_wrong, NULL) < 0);
            assert_null(strstr(tsr_context_diagnostics(f->ctx)->text, " failed: "));
            assert_null(tsr_context_diagnostics(f->ctx)->next);
            tsr_context_clear(f->ctx);
            expect_ok(f, tsr_world_run(world, count_runs, counts));
        }
        expect_ok(f, tsr_world_close(world));
    }
}

static tsr_status fail_silently(tsr_comm *world, void *state)
{
    const int64_t *which = state;
    return *which < 0 || tsr_comm_rank(world) == *which ? (tsr_status)TSR_ERR_LIMIT : TSR_OK;
}

static void failures_without_a_message(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= 3; n++) {
        int64_t which = -1;
        tsr_world *world = open_world(f, n);
        assert_int_equal(tsr_world_run(world, fail_silently, &which), TSR_ERR_LIMIT);
        expect_message(f, "without a message");
        which = n - 1;
        assert_int_equal(tsr_world_run(world, fail_silently, &which), TSR_ERR_LIMIT);
        expect_message(f, n == 3 ? "rank 2 returned" : "returned");
        expect_ok(f, tsr_world_run(world, do_nothing, NULL));
        expect_ok(f, tsr_world_close(world));
    }
}

/* Messages of earlier runs stay with the driving thread until it clears them. */
static void messages_are_kept_for_the_driver(void **state)
{
    fixture *f = *state;
    tsr_world *world = open_world(f, 2);
    assert_true(tsr_world_run(world, refuse, NULL) < 0);
    expect_ok(f, tsr_world_run(world, do_nothing, NULL));
    assert_true(tsr_world_run(world, refuse, NULL) < 0);
    assert_non_null(tsr_context_diagnostics(f->ctx));
    assert_non_null(tsr_context_diagnostics(f->ctx)->next);
    tsr_context_clear(f->ctx);
    expect_ok(f, tsr_world_close(world));
}

static tsr_status fail_alone(tsr_comm *world, void *state)
{
    return tsr_comm_rank(world) == 1 ? refuse(world, state) : tsr_barrier(world);
}

static tsr_status fail_with_a_reason(tsr_comm *world, void *state)
{
    return tsr_comm_rank(world) == 1
               ? tsr_context_error(tsr_comm_context(world), TSR_ERR_LIMIT, state)
               : tsr_barrier(world);
}

static tsr_status refuse_alone(tsr_comm *world, void *state)
{
    return tsr_comm_rank(world) == 1 ? refuse(world, state) : TSR_OK;
}

static tsr_status end_early(tsr_comm *world, void *state)
{
    (void)state;
    return tsr_comm_rank(world) == 1 ? (tsr_status)TSR_OK : tsr_barrier(world);
}

static tsr_status call_barrier(tsr_comm *world, void *state)
{
    (void)state;
    return tsr_barrier(world);
}

static void a_program_says_why_a_rank_fails(void **state)
{
    fixture *f = *state;
    char why[] = "no tokens are left";
    tsr_world *world = open_world(f, 3);
    assert_true(tsr_world_run(world, fail_with_a_reason, why) < 0);
    expect_message(f, "tsr_barrier: rank 1 failed: no tokens are left");
    expect_ok(f, tsr_world_close(world));
}

/* A rank fails while others wait for it: their communicator is broken, and stays so. */
static void a_rank_that_fails_alone_breaks_the_call(void **state)
{
    fixture *f = *state;
    for (int64_t n = 2; n <= MAX_RANKS; n += 3) {
        tsr_world *world = open_world(f, n);
        assert_int_equal(tsr_world_run(world, refuse_alone, NULL), TSR_ERR_INVALID);
        expect_error(f, "rank 1 failed: unknown element type 'f33'");
        expect_ok(f, tsr_world_run(world, call_barrier, NULL));
        assert_int_equal(tsr_world_run(world, fail_alone, NULL), TSR_ERR_PEER);
        expect_message(f, "tsr_barrier: rank 1 failed: unknown element type 'f33'");
        for (int again = 0; again < 3; again++) {
            assert_int_equal(tsr_world_run(world, call_barrier, NULL), TSR_ERR_PEER);
            expect_only(f, "tsr_barrier: the communicator is broken since an earlier call");
            expect_ok(f, tsr_world_run(world, do_nothing, NULL));
        }
        expect_ok(f, tsr_world_close(world));
        world = open_world(f, n);
        assert_int_equal(tsr_world_run(world, end_early, NULL), TSR_ERR_PEER);
        expect_message(f, "tsr_barrier: rank 1 ended");
        assert_int_equal(tsr_world_run(world, call_barrier, NULL), TSR_ERR_PEER);
        expect_only(f, "tsr_barrier: the communicator is broken since an earlier call");
        expect_ok(f, tsr_world_close(world));
    }
}

/* ---- typed collectives that are started in one run and waited for in another ---- */

typedef struct async_state {
    tsr_started started[MAX_RANKS];
    tsr_tensor *x[MAX_RANKS];
    int64_t fails;   /* the rank that fails after it has started; -1 for none */
    int64_t differs; /* the rank that has one row more; -1 for none */
} async_state;

static tsr_status open_typed(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    char text[32];
    (void)state;
    (void)snprintf(text, sizeof text, "<[\"x\"=%lld]>", (long long)tsr_comm_size(world));
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, text, &mesh));
    const tsr_status status = tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh});
    tsr_arena_destroy(arena);
    return status;
}

static tsr_status start_typed(tsr_comm *world, void *state)
{
    async_state *a = state;
    const int64_t rank = tsr_comm_rank(world);
    const int64_t shape = a->differs == rank ? 4 : 3;
    double numbers[] = {1.5, (double)rank, -2, 0};
    const tsr_view view = {numbers, TSR_F64, 1, &shape, NULL};
    const tsr_end pending = {TSR_P, TSR_NO_DIM, TSR_SUM};
    const tsr_end replicated = {TSR_R, TSR_NO_DIM, TSR_SUM};
    const tsr_transition what = {.op = TSR_ALL_REDUCE, .src = pending, .dst = replicated};
    TSR_TRY(tsr_typed_value(world, &view, "{x:P}", &a->x[rank]));
    TSR_TRY(tsr_start_collective(a->x[rank], "x", &what, NULL, &a->started[rank]));
    return a->fails == rank ? TSR_ERR_LIMIT : TSR_OK;
}

static tsr_status wait_typed(tsr_comm *world, void *state)
{
    async_state *a = state;
    const int64_t rank = tsr_comm_rank(world);
    const tsr_end pending = {TSR_P, TSR_NO_DIM, TSR_SUM};
    const tsr_end replicated = {TSR_R, TSR_NO_DIM, TSR_SUM};
    tsr_tensor *later = NULL;
    tsr_tensor *once = NULL;
    TSR_TRY(tsr_wait_value(world, a->started[rank], &later));
    TSR_TRY(tsr_all_reduce(a->x[rank], "x", pending, replicated, NULL, &once));
    WANT(world, memcmp(tsr_tensor_data(later), tsr_tensor_data(once), 3 * sizeof(double)) == 0);
    tsr_tensor_release(once);
    tsr_tensor_release(later);
    tsr_tensor_release(a->x[rank]);
    return TSR_OK;
}

static tsr_status change_operand(tsr_comm *world, void *state)
{
    async_state *a = state;
    const tsr_end pending = {TSR_P, TSR_NO_DIM, TSR_SUM};
    const tsr_end replicated = {TSR_R, TSR_NO_DIM, TSR_SUM};
    return tsr_all_reduce_in_place(a->x[tsr_comm_rank(world)], "x", pending, replicated);
}

static tsr_status close_typed(tsr_comm *world, void *state)
{
    (void)state;
    return tsr_spmd_close(world);
}

static tsr_status all_fail(tsr_comm *world, void *state)
{
    (void)world;
    (void)state;
    return TSR_ERR_LIMIT;
}

static void values_that_are_started(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= MAX_RANKS; n += 5) {
        tsr_world *world = open_world(f, n);
        async_state a = {.fails = -1, .differs = -1};
        expect_ok(f, tsr_world_run(world, open_typed, NULL));
        expect_ok(f, tsr_world_run(world, start_typed, &a));
        assert_int_equal(tsr_world_run(world, all_fail, NULL), TSR_ERR_LIMIT);
        tsr_context_clear(f->ctx);
        expect_ok(f, tsr_world_run(world, call_barrier, NULL));
        expect_ok(f, tsr_world_run(world, wait_typed, &a));
        assert_int_equal(tsr_world_run(world, wait_typed, &a), TSR_ERR_INVALID);
        expect_message(f, "value 1, of all_reduce, was already waited for");
        expect_ok(f, tsr_world_run(world, start_typed, &a));
        expect_ok(f, tsr_world_run(world, change_operand, &a)); /* it has been read already */
        assert_int_equal(tsr_world_run(world, close_typed, &a), TSR_ERR_INVALID);
        expect_message(f, "value 2, all_reduce along axis x, was started in the scope");
        assert_int_equal(tsr_world_run(world, wait_typed, &a), TSR_ERR_INVALID);
        expect_message(f, "value 2, of all_reduce, was already waited for, or given up");
        expect_ok(f, tsr_world_run(world, close_typed, &a));
        expect_ok(f, tsr_world_close(world));
    }
}

/*
 * A run whose collective fails has failed, and the value is lost. A rank that fails by itself loses
 * what is not over by then.
 */
static void values_that_are_lost(void **state)
{
    fixture *f = *state;
    const async_state cases[] = {{.fails = 3, .differs = -1}, {.fails = -1, .differs = 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_world *world = open_world(f, 4);
        async_state a = cases[i];
        expect_ok(f, tsr_world_run(world, open_typed, NULL));
        assert_true(tsr_world_run(world, start_typed, &a) < 0);
        if (a.differs >= 0) {
            expect_message(f, "rank 3 calls tsr_comm_all_reduce(sum, f64[4])");
        }
        tsr_context_clear(f->ctx);
        const tsr_status waited = tsr_world_run(world, wait_typed, &a);
        if (waited < 0) {
            expect_message(f, "value 1, of all_reduce, was lost when the run");
        }
        assert_true(waited < 0 || a.fails >= 0);
        expect_ok(f, tsr_world_run(world, close_typed, &a));
        expect_ok(f, tsr_world_close(world));
    }
}

/* ---- requests that are left ---- */

/* Which ranks start a request and leave it. */
static tsr_status leave_request(tsr_comm *world, void *state)
{
    const int64_t *which = state;
    double numbers[2] = {1, 2};
    const tsr_view src = {&numbers[0], TSR_F64, 0, NULL, NULL};
    const tsr_view dst = {&numbers[1], TSR_F64, 0, NULL, NULL};
    tsr_request request;
    if (*which >= 0 && tsr_comm_rank(world) != *which) {
        return TSR_OK;
    }
    return tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &src, &dst, &request);
}

static void requests_that_are_left(void **state)
{
    fixture *f = *state;
    for (int64_t which = -1; which < 3; which++) {
        tsr_world *world = open_world(f, 3);
        int64_t ranks = which;
        assert_int_equal(tsr_world_run(world, leave_request, &ranks), TSR_ERR_INVALID);
        expect_message(f, "was never waited for");
        expect_ok(f, tsr_world_run(world, do_nothing, NULL));
        for (int again = 0; again < 3; again++) {
            const tsr_status status = tsr_world_run(world, call_barrier, NULL);
            assert_true(which < 0 || status < 0);
            tsr_context_clear(f->ctx);
        }
        expect_ok(f, tsr_world_close(world));
    }
    tsr_world *world = open_world(f, 1);
    int64_t ranks = -1;
    assert_int_equal(tsr_world_run(world, leave_request, &ranks), TSR_ERR_INVALID);
    expect_message(f, "was never waited for");
    expect_ok(f, tsr_world_run(world, call_barrier, NULL));
    expect_ok(f, tsr_world_close(world));
}

/* ---- limits ---- */

static _Atomic bool released;
static _Atomic int64_t returned;

static tsr_status hang(tsr_comm *world, void *state)
{
    (void)state;
    while (tsr_comm_rank(world) == 1 && !released) {
        usleep(1000);
    }
    returned++;
    return TSR_OK;
}

static tsr_status hang_or_fail(tsr_comm *world, void *state)
{
    return tsr_comm_rank(world) == 0 ? refuse(world, state) : hang(world, state);
}

/* A rank that does not return is abandoned; the world can only be closed. */
static void ranks_that_do_not_return(void **state)
{
    fixture *f = *state;
    for (int failing = 0; failing < 2; failing++) {
        const tsr_launch_spec spec = {.num_ranks = 3,
                                      .ranks = TSR_RANKS_THREADS,
                                      .timeout = failing ? 0.2 : 20,
                                      .end_timeout = failing ? 0 : 0.2,
                                      .segment_bytes = SEGMENT};
        tsr_world *world = NULL;
        released = false;
        returned = 0;
        expect_ok(f, tsr_world_open(f->ctx, &spec, &world));
        expect_ok(f, tsr_world_run(world, call_barrier, NULL));
        const tsr_status status = tsr_world_run(world, failing ? hang_or_fail : hang, NULL);
        assert_int_equal(status, failing ? TSR_ERR_INVALID : TSR_ERR_TIMEOUT);
        expect_message(f, "rank 1 failed: its thread did not end and was abandoned");
        for (int again = 0; again < 2; again++) {
            assert_int_equal(tsr_world_run(world, do_nothing, NULL), TSR_ERR_TIMEOUT);
            expect_only(f, "tsr_world_run: rank 1 did not return from an earlier run; the world "
                           "can only be closed");
        }
        expect_ok(f, tsr_world_close(world));
        const int64_t wanted = failing ? 2 : 3;
        released = true;
        while (returned < wanted) {
            usleep(1000);
        }
        usleep(100000); /* its thread frees the world */
    }
}

static tsr_status end_thread(tsr_comm *world, void *state)
{
    if (tsr_comm_rank(world) == 1) {
        pthread_exit(NULL);
    }
    return call_barrier(world, state);
}

/* A function that ends its thread fails, and its rank is lost. */
static void threads_that_exit(void **state)
{
    fixture *f = *state;
    tsr_world *world = open_world(f, 3);
    assert_int_equal(tsr_world_run(world, end_thread, NULL), TSR_ERR_PEER);
    expect_message(f, "tsr_barrier: rank 1 failed: its thread ended inside the function");
    assert_int_equal(tsr_world_run(world, do_nothing, NULL), TSR_ERR_TIMEOUT);
    expect_message(f, "rank 1 did not return from an earlier run");
    expect_ok(f, tsr_world_close(world));
}

/* ---- start and wait ---- */

static tsr_status take_a_while(tsr_comm *world, void *state)
{
    (void)state;
    while (!released) {
        usleep(1000);
    }
    return tsr_barrier(world);
}

static void runs_in_two_parts(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= 4; n++) {
        tsr_world *world = open_world(f, n);
        released = n == 1; /* a single rank has ended when its start returns */
        assert_int_equal(tsr_world_wait(world, 0), TSR_ERR_INVALID);
        expect_message(f, "tsr_world_wait: no run is in progress");
        expect_ok(f, tsr_world_start(world, take_a_while, NULL));
        if (n > 1) {
            assert_int_equal(tsr_world_wait(world, 0), TSR_IN_PROGRESS);
            assert_int_equal(tsr_world_wait(world, 0.05), TSR_IN_PROGRESS);
        }
        assert_int_equal(tsr_world_start(world, do_nothing, NULL), TSR_ERR_INVALID);
        expect_message(f, "tsr_world_start: a run is in progress");
        assert_int_equal(tsr_world_run(world, do_nothing, NULL), TSR_ERR_INVALID);
        expect_message(f, "tsr_world_run: a run is in progress");
        assert_int_equal(tsr_world_wait(world, NAN), TSR_ERR_INVALID);
        expect_message(f, "the seconds must be a number");
        released = true;
        tsr_status status = TSR_IN_PROGRESS;
        while (status == TSR_IN_PROGRESS) {
            status = tsr_world_wait(world, 0.01);
        }
        expect_ok(f, status);
        assert_int_equal(tsr_world_wait(world, -1), TSR_ERR_INVALID);
        expect_message(f, "tsr_world_wait: no run is in progress");
        expect_ok(f, tsr_world_start(world, refuse, NULL));
        assert_true(tsr_world_wait(world, -1) < 0);
        expect_only(f, "unknown element type 'f33'");
        expect_ok(f, tsr_world_start(world, call_barrier, NULL));
        expect_ok(f, tsr_world_close(world)); /* waits for it */
        world = open_world(f, n);
        expect_ok(f, tsr_world_start(world, refuse, NULL));
        assert_true(tsr_world_close(world) < 0);
        expect_only(f, "unknown element type 'f33'");
    }
}

static tsr_status drive_from_inside(tsr_comm *rank, void *state)
{
    tsr_world *world = state;
    WANT(rank, tsr_world_run(world, do_nothing, NULL) == TSR_ERR_INVALID);
    WANT(rank, tsr_world_start(world, do_nothing, NULL) == TSR_ERR_INVALID);
    WANT(rank, tsr_world_wait(world, 0) == TSR_ERR_INVALID);
    WANT(rank, tsr_world_close(world) == TSR_ERR_INVALID);
    return TSR_OK;
}

static tsr_status drive_own(tsr_comm *rank, void *state)
{
    TSR_TRY(drive_from_inside(rank, state));
    WANT(rank, heard(rank, "return from the function first"));
    return TSR_OK;
}

/* A rank may drive another world, but none in which it is. */
static tsr_status drive_another(tsr_comm *rank, void *state)
{
    const tsr_launch_spec spec = {.num_ranks = 1 + tsr_comm_rank(rank) % 2,
                                  .ranks = TSR_RANKS_THREADS,
                                  .segment_bytes = SEGMENT};
    tsr_world *inner = NULL;
    TSR_TRY(tsr_world_open(tsr_comm_context(rank), &spec, &inner));
    const tsr_status status = tsr_world_run(inner, call_barrier, NULL);
    const tsr_status mistaken =
        spec.num_ranks == 1 ? tsr_world_run(inner, drive_from_inside, state) : TSR_OK;
    const tsr_status closed = tsr_world_close(inner);
    TSR_TRY(status);
    TSR_TRY(mistaken);
    TSR_TRY(closed);
    return tsr_barrier(rank);
}

static void worlds_driven_by_ranks(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= 3; n++) {
        tsr_world *world = open_world(f, n);
        expect_ok(f, tsr_world_run(world, drive_own, world));
        expect_ok(f, tsr_world_run(world, drive_another, world));
        expect_ok(f, tsr_world_close(world));
    }
}

/* ---- stops ---- */

static void *stop_soon(void *state)
{
    usleep(50000);
    tsr_world_stop(state);
    tsr_world_stop(state);
    return NULL;
}

/* Rank 0 computes until the others wait, and on. */
static tsr_status wait_for_the_first(tsr_comm *world, void *state)
{
    (void)state;
    while (tsr_comm_rank(world) == 0 && !released) {
        usleep(1000);
    }
    return tsr_barrier(world);
}

static tsr_status call_forever(tsr_comm *world, void *state)
{
    (void)state;
    tsr_status status = TSR_OK;
    while (status >= 0) {
        status = tsr_barrier(world);
    }
    return status;
}

static void expect_stopped(fixture *f, tsr_world *world)
{
    assert_int_equal(tsr_world_run(world, do_nothing, NULL), TSR_ERR_PEER);
    expect_only(f, "tsr_world_run: the world was stopped and can only be closed");
    assert_int_equal(tsr_world_start(world, do_nothing, NULL), TSR_ERR_PEER);
    expect_only(f, "tsr_world_start: the world was stopped and can only be closed");
    expect_ok(f, tsr_world_close(world));
}

static void stops(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= 8; n++) {
        tsr_world *world = open_world(f, n);
        pthread_t other;
        tsr_world_stop(world); /* idle */
        expect_stopped(f, world);

        world = open_world(f, n); /* in calls */
        assert_int_equal(pthread_create(&other, NULL, stop_soon, world), 0);
        const double before = clock_seconds();
        assert_int_equal(tsr_world_run(world, call_forever, NULL), TSR_ERR_PEER);
        assert_true(clock_seconds() - before < 10);
        expect_only(f, "tsr_barrier: the world was stopped");
        assert_int_equal(pthread_join(other, NULL), 0);
        expect_stopped(f, world);

        world = open_world(f, n); /* most wait, one computes */
        released = n == 1;
        expect_ok(f, tsr_world_start(world, wait_for_the_first, NULL));
        assert_int_equal(tsr_world_wait(world, 0.02), n == 1 ? TSR_OK : TSR_IN_PROGRESS);
        tsr_world_stop(world);
        if (n > 1) {
            assert_int_equal(tsr_world_wait(world, 0.1), TSR_IN_PROGRESS);
            released = true;
            assert_int_equal(tsr_world_wait(world, -1), TSR_ERR_PEER);
            expect_only(f, "tsr_barrier: the world was stopped");
        }
        expect_stopped(f, world);
    }
}

static tsr_status stop_inside(tsr_comm *rank, void *state)
{
    tsr_world_stop(state);
    return tsr_barrier(rank);
}

static tsr_status start_and_wait(tsr_comm *world, void *state)
{
    double numbers[2] = {1, 2};
    const tsr_view src = {&numbers[0], TSR_F64, 0, NULL, NULL};
    const tsr_view dst = {&numbers[1], TSR_F64, 0, NULL, NULL};
    tsr_request request;
    (void)state;
    if (tsr_comm_rank(world) == 0) {
        return take_a_while(world, state);
    }
    TSR_TRY(tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &src, &dst, &request));
    return tsr_wait(world, request);
}

static void stops_by_ranks_and_of_requests(void **state)
{
    fixture *f = *state;
    for (int64_t n = 1; n <= 3; n++) {
        tsr_world *world = open_world(f, n);
        assert_int_equal(tsr_world_run(world, stop_inside, world), TSR_ERR_PEER);
        expect_only(f, "tsr_barrier: the world was stopped");
        expect_stopped(f, world);
    }
    tsr_world *world = open_world(f, 3);
    released = false;
    expect_ok(f, tsr_world_start(world, start_and_wait, NULL));
    assert_int_equal(tsr_world_wait(world, 0.02), TSR_IN_PROGRESS);
    tsr_world_stop(world);
    released = true;
    assert_int_equal(tsr_world_wait(world, -1), TSR_ERR_PEER);
    expect_message(f, "the world was stopped");
    expect_stopped(f, world);
}

/* ---- several worlds ---- */

static void *drive(void *state)
{
    const int64_t n = *(const int64_t *)state;
    fixture f = {0};
    assert_int_equal(tsr_context_create(NULL, &f.ctx), TSR_OK);
    _Atomic int64_t counts[MAX_RANKS] = {0};
    tsr_world *world = open_world(&f, n);
    for (int run = 0; run < 200; run++) {
        expect_ok(&f, tsr_world_run(world, count_runs, counts));
    }
    expect_ok(&f, tsr_world_close(world));
    assert_int_equal(counts[n - 1], 200);
    tsr_context_destroy(f.ctx);
    return NULL;
}

static void several_worlds(void **state)
{
    fixture *f = *state;
    const int64_t sizes[] = {1, 2, 3};
    pthread_t drivers[3];
    for (int i = 0; i < 3; i++) {
        int64_t *size = (int64_t *)(uintptr_t)&sizes[i];
        assert_int_equal(pthread_create(&drivers[i], NULL, drive, size), 0);
    }
    tsr_world *a = open_world(f, 2);
    tsr_world *b = open_world(f, 3);
    _Atomic int64_t counts[2][MAX_RANKS] = {0};
    for (int run = 0; run < 100; run++) {
        expect_ok(f, tsr_world_start(a, count_runs, counts[0]));
        expect_ok(f, tsr_world_run(b, count_runs, counts[1]));
        expect_ok(f, tsr_world_wait(a, -1));
    }
    assert_int_equal(counts[0][1], 100);
    assert_int_equal(counts[1][2], 100);
    expect_ok(f, tsr_world_run(b, drive_another, b));
    expect_ok(f, tsr_world_close(a));
    expect_ok(f, tsr_world_close(b));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(drivers[i], NULL), 0);
    }
}

/* ---- abstract worlds, specs ---- */

static tsr_status look_abstract(tsr_comm *world, void *state)
{
    kept *k = state;
    WANT(world, tsr_comm_is_abstract(world) && tsr_comm_size(world) == 4096);
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_tensor_spec spec;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_of_world(world, arena, "x=-1", &mesh));
    TSR_TRY(tsr_tensor_spec_parse(tsr_comm_context(world), arena, mesh, "f32[8192]", "[{\"x\"}]",
                                  &spec));
    TSR_TRY(tsr_tensor_create(world, &spec, &k->x[0]));
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static tsr_status add_abstract(tsr_comm *world, void *state)
{
    kept *k = state;
    (void)world;
    return tsr_add(k->x[0], k->x[0], &k->sum[0]);
}

static void abstract_worlds(void **state)
{
    fixture *f = *state;
    tsr_world *world = NULL;
    kept k = {0};
    assert_int_equal(tsr_world_open_abstract(f->ctx, 3, 3, &world), TSR_ERR_INVALID);
    expect_only(f, "tsr_world_open_abstract: rank 3 is out of range: the world has 3 ranks");
    expect_ok(f, tsr_world_open_abstract(f->ctx, 4096, 77, &world));
    assert_int_equal(tsr_world_size(world), 4096);
    assert_int_equal(tsr_world_num_local(world), 1);
    assert_int_equal(tsr_comm_rank(tsr_world_comm(world, 0)), 77);
    expect_ok(f, tsr_world_run(world, look_abstract, &k));
    expect_ok(f, tsr_world_run(world, add_abstract, &k));
    assert_int_equal(tsr_tensor_local_shape(k.sum[0])[0], 2);
    tsr_tensor_release(k.x[0]);
    tsr_tensor_release(k.sum[0]);
    assert_true(tsr_world_run(world, refuse, NULL) < 0);
    expect_only(f, "unknown element type 'f33'");
    expect_ok(f, tsr_world_run(world, call_barrier, NULL));
    assert_int_equal(tsr_world_run(world, stop_inside, world), TSR_ERR_PEER);
    expect_only(f, "tsr_barrier: the world was stopped");
    expect_stopped(f, world);
}

static void bad_specs(void **state)
{
    fixture *f = *state;
    tsr_world *world = NULL;
    tsr_launch_spec spec = {.num_ranks = -1};
    assert_int_equal(tsr_world_open(f->ctx, &spec, &world), TSR_ERR_INVALID);
    expect_only(f, "the number of ranks must be 1 to 1024, got: -1");
    spec = (tsr_launch_spec){.num_ranks = 2, .ranks = TSR_RANKS_PROCESSES};
    assert_int_equal(tsr_world_open(f->ctx, &spec, &world), TSR_ERR_UNSUPPORTED);
    expect_message(f, "use tsr_launch");
    spec = (tsr_launch_spec){.num_ranks = 2, .ranks = TSR_RANKS_MPI};
    assert_int_equal(tsr_world_open(f->ctx, &spec, &world), TSR_ERR_INVALID);
    expect_message(f, "no MPI launcher started this process");
    assert_null(world);
    world = open_world(f, 2);
    assert_int_equal(tsr_comm_close(tsr_world_comm(world, 0)), TSR_ERR_INVALID);
    expect_ok(f, tsr_world_close(world));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(functions_run_on_every_rank),
        TEST(tensors_stay_between_runs),
        TEST(tensors_may_be_left),
        TEST(many_runs_take_no_memory),
        TEST(mistakes_alike_are_told_bare),
        TEST(failures_without_a_message),
        TEST(messages_are_kept_for_the_driver),
        TEST(a_program_says_why_a_rank_fails),
        TEST(a_rank_that_fails_alone_breaks_the_call),
        TEST(requests_that_are_left),
        TEST(values_that_are_started),
        TEST(values_that_are_lost),
        TEST(ranks_that_do_not_return),
        TEST(threads_that_exit),
        TEST(runs_in_two_parts),
        TEST(worlds_driven_by_ranks),
        TEST(stops),
        TEST(stops_by_ranks_and_of_requests),
        TEST(several_worlds),
        TEST(abstract_worlds),
        TEST(bad_specs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
