/* The cache of plans: what is found again, what goes first, and what a failed allocation leaves. */
#include <stdio.h>
#include <stdlib.h>

#include "failing_heap.h"

#include "base/arena.h"
#include "plan/cache.h"

/* Makes both geometries anew, gets the plan and destroys the geometries. */
static const tsr_plan *get(fixture *f, plan_cache *cache, const char *mesh, const char *from,
                           const char *to, int64_t extent, tsr_dtype dtype)
{
    fixture own = {.ctx = f->ctx};
    const int64_t shape[] = {extent};
    const tsr_plan *plan = NULL;
    assert_int_equal(tsr_arena_create(own.ctx, &own.arena), TSR_OK);
    const tsr_mesh *m = mesh_of(&own, mesh);
    const tsr_geometry *src = geometry_of(&own, sharding_of(&own, m, from), 1, shape);
    const tsr_geometry *dst = geometry_of(&own, sharding_of(&own, m, to), 1, shape);
    assert_int_equal(plan_cache_get(cache, own.ctx, src, dst, dtype, &plan), TSR_OK);
    assert_non_null(plan);
    tsr_arena_destroy(own.arena);
    return plan;
}

static const char line[] = "<[\"x\"=4]>";

static void the_same_is_found(void **state)
{
    fixture *f = *state;
    plan_cache cache = plan_cache_new(PLAN_CACHE_DEFAULT);
    const tsr_plan *first = get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32);
    plan_cache_put(&cache, first);
    const tsr_plan *again = get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32);
    assert_ptr_equal(first, again);
    assert_int_equal(cache.hits, 1);
    assert_int_equal(cache.misses, 1);
    assert_int_equal(tsr_plan_bytes_received(again, 2), 24);
    plan_cache_put(&cache, again);
    plan_cache_put(&cache, NULL);
    plan_cache_clear(&cache);
    assert_int_equal(cache.count, 0);
}

/* Whatever differs is another plan, and its figures are its own. */
static void what_differs_is_not(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *mesh;
        const char *from;
        const char *to;
        int64_t extent;
        tsr_dtype dtype;
    } rows[] = {
        {line, "[{\"x\"}]", "[{}]", 8, TSR_F32},
        {line, "[{\"x\"}]", "[{}]", 8, TSR_F64},
        {line, "[{\"x\"}]", "[{}]", 9, TSR_F32},
        {line, "[{}]", "[{\"x\"}]", 8, TSR_F32},
        {line, "[{\"x\":(1)2}]", "[{}]", 8, TSR_F32},
        {line, "[{\"x\":(2)2}]", "[{}]", 8, TSR_F32},
        {line, "[{\"x\"}:dynamic[1, 2, 3, 2]]", "[{}]", 8, TSR_F32},
        {line, "[{\"x\"}:dynamic[2, 1, 3, 2]]", "[{}]", 8, TSR_F32},
        {line, "[{\"x\"}:partitioned[[2], [2], [2], [2]]]", "[{}]", 8, TSR_F32},
        {line, "[{\"x\"}:partitioned[[2], [2], [2], [2]](aligned)]", "[{}]", 8, TSR_F32},
        {line, "[{\"x\"}:partitioned[[2], [2], [2], [2]](aligned, align=4)]", "[{}]", 8, TSR_F32},
        {line, "[{}], unreduced={\"x\"}", "[{}]", 8, TSR_F32},
        {line, "[{}], unreduced=max{\"x\"}", "[{}]", 8, TSR_F32},
        {"<[\"x\"=4], device_ids=[3, 2, 1, 0]>", "[{\"x\"}]", "[{}]", 8, TSR_F32},
        {"<[\"x\"=4], device_ids=[3, 1, 2, 0]>", "[{\"x\"}]", "[{}]", 8, TSR_F32},
        {"<[\"x\"=2]>", "[{\"x\"}]", "[{}]", 8, TSR_F32},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    plan_cache cache = plan_cache_new(PLAN_CACHE_DEFAULT);
    const tsr_plan *plans[ROWS];
    for (size_t turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < ROWS; i++) {
            const tsr_plan *plan = get(f, &cache, rows[i].mesh, rows[i].from, rows[i].to,
                                       rows[i].extent, rows[i].dtype);
            assert_true(turn == 0 || plan == plans[i]);
            plans[i] = plan;
            plan_cache_put(&cache, plan);
        }
    }
    assert_int_equal(cache.misses, ROWS);
    assert_int_equal(cache.hits, ROWS);
    plan_cache_clear(&cache);
}

static void the_least_recently_used_goes(void **state)
{
    fixture *f = *state;
    plan_cache cache = plan_cache_new((plan_cache_limits){.plans = 2, .moves = 1000});
    static const int64_t extents[] = {1, 2, 1, 3, 1, 2};
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
        plan_cache_put(&cache, get(f, &cache, line, "[{\"x\"}]", "[{}]", extents[i], TSR_F32));
        assert_true(cache.count <= 2);
    }
    assert_int_equal(cache.hits, 2);
    assert_int_equal(cache.misses, 4);
    plan_cache_clear(&cache);
}

/* A plan in use stays, even beyond the limit, and goes when it is put back. */
static void what_is_used_stays(void **state)
{
    fixture *f = *state;
    plan_cache cache = plan_cache_new((plan_cache_limits){.plans = 1, .moves = 1000});
    const tsr_plan *used = get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32);
    assert_ptr_equal(get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32), used);
    const tsr_plan *other = get(f, &cache, line, "[{\"x\"}]", "[{}]", 12, TSR_F32);
    assert_int_equal(cache.count, 2);
    plan_cache_put(&cache, used);
    assert_int_equal(cache.count, 2);
    assert_int_equal(tsr_plan_bytes_received(used, 2), 24);
    plan_cache_put(&cache, used);
    assert_int_equal(cache.count, 1);
    assert_int_equal(tsr_plan_bytes_received(other, 2), 36);
    plan_cache_put(&cache, other);
    assert_int_equal(cache.count, 1);
    plan_cache_clear(&cache);
}

/* A plan that is too large by itself does not drive out the others. */
static void what_is_too_large_is_not_kept(void **state)
{
    fixture *f = *state;
    plan_cache cache = plan_cache_new((plan_cache_limits){.plans = 8, .moves = 10});
    plan_cache_put(&cache, get(f, &cache, line, "[{}]", "[{\"x\"}]", 8, TSR_F32));
    assert_int_equal(cache.moves, 4);
    plan_cache_put(&cache, get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32));
    assert_int_equal(cache.moves, 4);
    plan_cache_put(&cache, get(f, &cache, line, "[{}]", "[{\"x\"}]", 8, TSR_F32));
    assert_int_equal(cache.hits, 1);
    plan_cache_clear(&cache);
}

static void a_refused_plan_is_not_kept(void **state)
{
    fixture *f = *state;
    plan_cache cache = plan_cache_new(PLAN_CACHE_DEFAULT);
    const int64_t shape[] = {4};
    const tsr_mesh *mesh = mesh_of(f, line);
    const tsr_geometry *whole = geometry_of(f, sharding_of(f, mesh, "[{}]"), 1, shape);
    const tsr_geometry *pending =
        geometry_of(f, sharding_of(f, mesh, "[{}], unreduced={\"x\"}"), 1, shape);
    const tsr_plan *plan = NULL;
    assert_int_equal(plan_cache_get(&cache, f->ctx, whole, pending, TSR_I8, &plan),
                     TSR_ERR_UNSUPPORTED);
    expect_message(f, "a redistribution cannot make a reduction pending");
    assert_null(plan);
    assert_int_equal(cache.count, 0);
    plan_cache_clear(&cache);
}

/* Plans that cut boxes and fold, with the n-th allocation of the cache failing; whether it did. */
static bool fail_once(int64_t n)
{
    static const char *const texts[] = {"[{\"x\"}, {}]", "[{}, {\"y\", \"x\"}]",
                                        "[{\"x\"}, {}], unreduced={\"y\"}"};
    failing_heap heap = {.fail_at = -1};
    const tsr_allocator allocator = {.resize = failing_heap_resize, .state = &heap};
    const tsr_geometry *g[3] = {NULL, NULL, NULL};
    const int64_t shape[] = {7, 5};
    fixture f = {0};
    plan_cache cache = plan_cache_new(PLAN_CACHE_DEFAULT);
    assert_int_equal(tsr_context_create(&allocator, &f.ctx), TSR_OK);
    assert_int_equal(context_make_hostile(f.ctx), TSR_OK);
    assert_int_equal(tsr_arena_create(f.ctx, &f.arena), TSR_OK);
    const tsr_mesh *mesh = mesh_of(&f, "<[\"x\"=2, \"y\"=3], device_ids=[5, 1, 3, 0, 2, 4]>");
    for (size_t i = 0; i < 3; i++) {
        g[i] = geometry_of(&f, sharding_of(&f, mesh, texts[i]), 2, shape);
    }
    heap.calls = 0;
    heap.fail_at = n;
    for (size_t i = 0; i < 4; i++) {
        const tsr_plan *plan = NULL;
        const size_t count = cache.count;
        const tsr_status status =
            plan_cache_get(&cache, f.ctx, g[i % 2 == 0 ? 0 : 2], g[1], TSR_F32, &plan);
        if (status < 0) {
            assert_int_equal(status, TSR_ERR_NOMEM);
            assert_null(plan);
            assert_int_equal(cache.count, count);
            assert_non_null(tsr_context_diagnostics(f.ctx));
            tsr_context_clear(f.ctx);
        } else {
            assert_non_null(plan);
            plan_cache_put(&cache, plan);
        }
    }
    assert_int_equal(cache.count, 2);
    plan_cache_clear(&cache);
    tsr_arena_destroy(f.arena);
    tsr_context_destroy(f.ctx);
    assert_int_equal(heap.live, 0);
    return heap.calls > n;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    int64_t n = 0;
    while (fail_once(n)) {
        n++;
    }
    printf("allocations failed one by one: %lld\n", (long long)n);
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_is_found),
        TEST(what_differs_is_not),
        TEST(the_least_recently_used_goes),
        TEST(what_is_used_stays),
        TEST(what_is_too_large_is_not_kept),
        TEST(a_refused_plan_is_not_kept),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
