/* Ranks that are threads and do something wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support.h"

static tsr_status fail_one(tsr_comm *world, void *state)
{
    (void)state;
    if (tsr_comm_rank(world) != 2) {
        return tsr_barrier(world);
    }
    tsr_dtype dtype;
    return tsr_dtype_parse(tsr_comm_context(world), "f33", &dtype);
}

static void failures_are_named(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {.num_ranks = 3, .timeout = 20, .segment_bytes = 1 << 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, fail_one, NULL), TSR_ERR_PEER);
    expect_message(f, "ranks 0-1 failed: tsr_barrier: rank 2 failed: unknown element type 'f33'");
}

static tsr_status sleep_forever(tsr_comm *world, void *state)
{
    (void)state;
    while (tsr_comm_rank(world) == 1) {
        usleep(100000);
    }
    return TSR_OK;
}

static void a_thread_that_never_ends_is_abandoned(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {.num_ranks = 2, .end_timeout = 0.2, .segment_bytes = 1 << 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, sleep_forever, NULL), TSR_ERR_TIMEOUT);
    expect_error(f, "rank 1 failed: its thread did not end and was abandoned");
}

static tsr_status take_a_while(tsr_comm *world, void *state)
{
    (void)world;
    (void)state;
    usleep(500000);
    return TSR_OK;
}

static void a_single_rank_may_take_its_time(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {.num_ranks = 1, .timeout = 0.1, .segment_bytes = 1 << 20};
    assert_int_equal(tsr_launch(f->ctx, &spec, take_a_while, NULL), TSR_OK);
}

static void bad_specs(void **state)
{
    fixture *f = *state;
    tsr_launch_spec spec = {.num_ranks = -1};
    assert_int_equal(tsr_launch(f->ctx, &spec, fail_one, NULL), TSR_ERR_INVALID);
    expect_error(f, "the number of ranks must be 1 to 1024, got: -1");
    spec = (tsr_launch_spec){.num_ranks = 1, .timeout = -1};
    assert_int_equal(tsr_launch(f->ctx, &spec, fail_one, NULL), TSR_ERR_INVALID);
    expect_error(f, "the time-out must not be negative, got: -1 seconds");
    tsr_context_clear(f->ctx);
    spec = (tsr_launch_spec){.num_ranks = 1024, .segment_bytes = ((size_t)1 << 54) + 4096};
    assert_int_equal(tsr_launch(f->ctx, &spec, fail_one, NULL), TSR_ERR_NOMEM);
    expect_message(f, "no address space for 1024 ranks of 18014398509486080 bytes: ");
}

static tsr_status allocate(tsr_comm *world, void *state)
{
    const int64_t elements = *(const int64_t *)state;
    const tsr_mesh *mesh = NULL;
    tsr_tensor_spec spec;
    tsr_tensor *x = NULL;
    tsr_arena *arena = NULL;
    char type[32];
    (void)snprintf(type, sizeof type, "f32[%lld]", (long long)elements);
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    status = status < 0 ? status : tsr_mesh_of_world(world, arena, "x=-1", &mesh);
    status = status < 0
                 ? status
                 : tsr_tensor_spec_parse(tsr_comm_context(world), arena, mesh, type, NULL, &spec);
    status = status < 0 ? status : tsr_tensor_create(world, &spec, &x);
    tsr_tensor_release(x);
    tsr_arena_destroy(arena);
    return status;
}

/* The environment says how large a segment is when the program does not. */
static void segments_by_the_environment(void **state)
{
    fixture *f = *state;
    tsr_launch_spec spec = {.num_ranks = 2};
    int64_t fits = 1 << 10;
    int64_t too_many = 1 << 20;
    assert_int_equal(setenv("TSR_SEGMENT_BYTES", "1048576", 1), 0);
    assert_int_equal(tsr_launch(f->ctx, &spec, allocate, &fits), TSR_OK);
    assert_int_equal(tsr_launch(f->ctx, &spec, allocate, &too_many), TSR_ERR_NOMEM);
    tsr_context_clear(f->ctx);
    spec.segment_bytes = (size_t)1 << 24;
    assert_int_equal(tsr_launch(f->ctx, &spec, allocate, &too_many), TSR_OK);
    spec.segment_bytes = 0;
    assert_int_equal(setenv("TSR_SEGMENT_BYTES", "4G", 1), 0);
    assert_int_equal(tsr_launch(f->ctx, &spec, allocate, &fits), TSR_ERR_INVALID);
    expect_error(f, "the variable TSR_SEGMENT_BYTES must be a number above 0, got: 4G");
    assert_int_equal(setenv("TSR_SEGMENT_BYTES", "1152921504606846976", 1), 0);
    assert_int_equal(tsr_launch(f->ctx, &spec, allocate, &fits), TSR_ERR_NOMEM);
    expect_message(f, "set segment_bytes of the launch, or the variable TSR_SEGMENT_BYTES");
    assert_int_equal(unsetenv("TSR_SEGMENT_BYTES"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(failures_are_named),
        TEST(bad_specs),
        TEST(segments_by_the_environment),
        TEST(a_single_rank_may_take_its_time),
        TEST(a_thread_that_never_ends_is_abandoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
