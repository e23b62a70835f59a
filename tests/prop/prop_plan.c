/* Plans: each device receives just what it lacks, and every element once. */
#include <stdio.h>

#include "random.h"

/* Elements that a device holds under `dst` and not under `src`, by looking at each. */
static int64_t lacking(const tsr_geometry *src, const tsr_geometry *dst, int64_t device,
                       size_t rank, const int64_t *shape)
{
    int64_t total = 1;
    int64_t count = 0;
    for (size_t i = 0; i < rank; i++) {
        total *= shape[i];
    }
    for (int64_t e = 0; e < total; e++) {
        bool before = true;
        bool after = true;
        int64_t rest = e;
        for (size_t i = rank; i-- > 0;) {
            before = before && holds_row(src, device, i, rest % shape[i]);
            after = after && holds_row(dst, device, i, rest % shape[i]);
            rest /= shape[i];
        }
        count += after && !before;
    }
    return count;
}

static void devices_receive_what_they_lack(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("devices_receive_what_they_lack");
    for (int64_t i = 0; i < prop_cases(400); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        int64_t shape[MAX_DIMS];
        const size_t rank = random_shape(&r, shape);
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){12, true, true});
        const int64_t devices = tsr_mesh_num_devices(mesh);
        const tsr_mesh *other = random_mesh_of(f, &r, devices, (mesh_limits){12, true, true});
        const sharding_limits limits = {true, false, rng_chance(&r, 40)};
        const tsr_geometry *src =
            geometry_of(f, random_sharding(f, &r, mesh, rank, shape, limits), rank, shape);
        const tsr_geometry *dst =
            geometry_of(f, random_sharding(f, &r, other, rank, shape, limits), rank, shape);
        const tsr_plan *plan = NULL;
        assert_int_equal(tsr_plan_create(f->ctx, f->arena, src, dst, TSR_I8, &plan), TSR_OK);
        assert_int_equal(tsr_plan_num_steps(plan), 1);
        int64_t sent = 0;
        int64_t received = 0;
        for (int64_t device = 0; device < devices; device++) {
            const int64_t bytes = tsr_plan_bytes_received(plan, device);
            assert_int_equal(bytes, lacking(src, dst, device, rank, shape));
            sent += tsr_plan_bytes_sent(plan, device);
            received += bytes;
        }
        assert_int_equal(sent, received);
        tsr_arena_reset(f->arena, mark);
    }
}

/* Replicas share the sending: four devices that each lack the same half get it from both holders.
 */
static void replicas_share_the_sending(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=4]>");
    const int64_t shape[] = {8};
    const tsr_geometry *src = geometry_of(f, sharding_of(f, mesh, "[{\"x\"}]"), 1, shape);
    const tsr_geometry *dst = geometry_of(f, sharding_of(f, mesh, "[{}]"), 1, shape);
    const tsr_plan *plan = NULL;
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, src, dst, TSR_I8, &plan), TSR_OK);
    for (int64_t device = 0; device < 8; device++) {
        assert_int_equal(tsr_plan_bytes_received(plan, device), 4);
        assert_int_equal(tsr_plan_bytes_sent(plan, device), 4);
    }
}

static void reductions_are_folded_where_it_is_cheapest(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=4]>");
    const int64_t shape[] = {16};
    const tsr_geometry *src =
        geometry_of(f, sharding_of(f, mesh, "[{}], unreduced={\"x\"}"), 1, shape);
    const tsr_geometry *scattered = geometry_of(f, sharding_of(f, mesh, "[{\"x\"}]"), 1, shape);
    const tsr_geometry *whole = geometry_of(f, sharding_of(f, mesh, "[{}]"), 1, shape);
    const tsr_plan *plan = NULL;
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, src, scattered, TSR_I8, &plan), TSR_OK);
    assert_int_equal(tsr_plan_num_steps(plan), 1);
    assert_int_equal(tsr_plan_bytes_received(plan, 2), 12);
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, src, whole, TSR_I8, &plan), TSR_OK);
    assert_int_equal(tsr_plan_num_steps(plan), 2);
    assert_int_equal(tsr_plan_bytes_received(plan, 2), 12 + 12);
}

static void what_cannot_be_planned(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    const int64_t shape[] = {4};
    const int64_t larger[] = {5};
    const tsr_geometry *whole = geometry_of(f, sharding_of(f, mesh, "[{}]"), 1, shape);
    const tsr_geometry *pending =
        geometry_of(f, sharding_of(f, mesh, "[{}], unreduced={\"x\"}"), 1, shape);
    const tsr_geometry *other = geometry_of(f, sharding_of(f, mesh, "[{}]"), 1, larger);
    const tsr_geometry *elsewhere =
        geometry_of(f, sharding_of(f, mesh_of(f, "<[\"x\"=4]>"), "[{}]"), 1, shape);
    const tsr_plan *plan = NULL;
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, whole, pending, TSR_I8, &plan),
                     TSR_ERR_UNSUPPORTED);
    expect_error(f, "a redistribution cannot make a reduction pending: axis \"x\" is unreduced in "
                    "the destination only");
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, whole, other, TSR_I8, &plan),
                     TSR_ERR_INVALID);
    expect_error(f, "a redistribution keeps the shape, but those of source and destination differ");
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, whole, elsewhere, TSR_I8, &plan),
                     TSR_ERR_INVALID);
    expect_error(f, "source and destination are on different devices: meshes of 2 and 4");
    assert_null(plan);
    /* Halves and thirds of an axis: neither is made of the other. */
    const tsr_mesh *six = mesh_of(f, "<[\"x\"=6]>");
    const tsr_geometry *halves =
        geometry_of(f, sharding_of(f, six, "[{}], unreduced={\"x\":(1)2}"), 1, shape);
    const tsr_geometry *thirds =
        geometry_of(f, sharding_of(f, six, "[{}], unreduced={\"x\":(1)3}"), 1, shape);
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, halves, thirds, TSR_I8, &plan),
                     TSR_ERR_UNSUPPORTED);
    expect_error(f, "a redistribution cannot make a reduction pending: axis \"x\" is unreduced in "
                    "the destination only");
    assert_null(plan);
}

/* Numbers of devices at which nothing may overflow or take too long. */
static void what_is_too_large(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {6};
    const int64_t large[] = {INT64_C(1) << 33};
    const tsr_plan *plan = NULL;
    const tsr_mesh *many = mesh_of(f, "<[\"x\"=6, \"y\"=137438953472]>");
    const tsr_geometry *halves = geometry_of(f, sharding_of(f, many, "[{\"x\":(1)2}]"), 1, shape);
    const tsr_geometry *thirds = geometry_of(f, sharding_of(f, many, "[{\"x\":(1)3}]"), 1, shape);
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, halves, thirds, TSR_I8, &plan),
                     TSR_ERR_LIMIT);
    expect_error(f, "the two layouts cut a mesh of 824633720832 devices so differently that a plan "
                    "would enumerate 824633720832 devices; the maximum is 67108864");
    const tsr_mesh *most = mesh_of(f, "<[\"x\"=2305843009213693952]>");
    const tsr_geometry *some = geometry_of(f, sharding_of(f, most, "[{\"x\"}]"), 1, shape);
    const tsr_geometry *whole = geometry_of(f, sharding_of(f, most, "[{}]"), 1, shape);
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, some, whole, TSR_I8, &plan),
                     TSR_ERR_OVERFLOW);
    tsr_context_clear(f->ctx);
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=65536]>");
    const tsr_geometry *pending =
        geometry_of(f, sharding_of(f, mesh, "[{}], unreduced={\"x\"}"), 1, large);
    const tsr_geometry *sum = geometry_of(f, sharding_of(f, mesh, "[{}]"), 1, large);
    const tsr_step_spec direct = {TSR_STEP_ALL_REDUCE, sum};
    tsr_plan_totals totals;
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, pending, sum, TSR_F64, &plan), TSR_OK);
    assert_int_equal(tsr_plan_num_steps(plan), 2);
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, pending, 1, &direct, TSR_F64, &plan),
                     TSR_OK);
    assert_int_equal(tsr_plan_total(f->ctx, plan, &totals), TSR_OK);
    assert_int_equal(totals.moved, INT64_MAX);
    assert_int_equal(totals.most_received, 65535 * (INT64_C(8) << 33));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(devices_receive_what_they_lack),
        TEST(replicas_share_the_sending),
        TEST(reductions_are_folded_where_it_is_cheapest),
        TEST(what_cannot_be_planned),
        TEST(what_is_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
