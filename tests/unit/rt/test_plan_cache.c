/* The cache of plans: what is found again, what goes first, and what a failed allocation leaves. */
#include <stdio.h>
#include <stdlib.h>

#include "failing_heap.h"

#include "base/arena.h"
#include "rt/plan_cache.h"

static plan_cache cache_on(plan_store *store, tsr_context *ctx, plan_cache_limits limits)
{
    plan_store_init(store, ctx);
    return plan_cache_new(store, limits);
}

/* Nothing is left in the store of the only cache on it. */
static void close_cache(plan_cache *cache)
{
    plan_cache_clear(cache);
    assert_int_equal(cache->count, 0);
    assert_int_equal(cache->moves, 0);
    assert_int_equal(cache->store->count, 0);
    plan_store_destroy(cache->store);
}

/*
 * Makes both geometries anew, gets the plan with the part of
 * device 1, and destroys the geometries.
 */
static const cached_plan *get(fixture *f, plan_cache *cache, const char *mesh, const char *from,
                              const char *to, int64_t extent, tsr_dtype dtype)
{
    fixture own = {.ctx = f->ctx};
    const int64_t shape[] = {extent};
    const cached_plan *plan = NULL;
    assert_int_equal(tsr_arena_create(own.ctx, &own.arena), TSR_OK);
    const tsr_mesh *m = mesh_of(&own, mesh);
    const tsr_geometry *src = geometry_of(&own, sharding_of(&own, m, from), 1, shape);
    const tsr_geometry *dst = geometry_of(&own, sharding_of(&own, m, to), 1, shape);
    assert_int_equal(plan_cache_get(cache, own.ctx, src, dst, dtype, &plan), TSR_OK);
    assert_non_null(plan);
    assert_int_equal(plan_cache_get_part(cache, own.ctx, plan, 1, PART_BOTH), TSR_OK);
    tsr_arena_destroy(own.arena);
    return plan;
}

static const char line[] = "<[\"x\"=4]>";

static void the_same_is_found(void **state)
{
    fixture *f = *state;
    plan_store store;
    plan_cache cache = cache_on(&store, f->ctx, PLAN_CACHE_DEFAULT);
    const cached_plan *first = get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32);
    plan_cache_put(&cache, first);
    const cached_plan *again = get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32);
    assert_ptr_equal(first, again);
    assert_int_equal(cache.hits, 1);
    assert_int_equal(cache.misses, 1);
    assert_int_equal(tsr_plan_bytes_received(again->plan, 2), 24);
    plan_cache_put(&cache, again);
    plan_cache_put(&cache, NULL);
    close_cache(&cache);
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
    plan_store store;
    plan_cache cache = cache_on(&store, f->ctx, PLAN_CACHE_DEFAULT);
    const cached_plan *plans[ROWS];
    for (size_t turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < ROWS; i++) {
            const cached_plan *plan = get(f, &cache, rows[i].mesh, rows[i].from, rows[i].to,
                                          rows[i].extent, rows[i].dtype);
            assert_true(turn == 0 || plan == plans[i]);
            plans[i] = plan;
            plan_cache_put(&cache, plan);
        }
    }
    assert_int_equal(cache.misses, ROWS);
    assert_int_equal(cache.hits, ROWS);
    close_cache(&cache);
}

static void the_least_recently_used_goes(void **state)
{
    fixture *f = *state;
    plan_store store;
    plan_cache cache = cache_on(&store, f->ctx, (plan_cache_limits){.plans = 2, .moves = 1000});
    static const int64_t extents[] = {1, 2, 1, 3, 1, 2};
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
        plan_cache_put(&cache, get(f, &cache, line, "[{\"x\"}]", "[{}]", extents[i], TSR_F32));
        assert_true(cache.count <= 2);
    }
    assert_int_equal(cache.hits, 2);
    assert_int_equal(cache.misses, 4);
    close_cache(&cache);
}

/* A plan in use stays, even beyond the limit, and goes when it is put back. */
static void what_is_used_stays(void **state)
{
    fixture *f = *state;
    plan_store store;
    plan_cache cache = cache_on(&store, f->ctx, (plan_cache_limits){.plans = 1, .moves = 1000});
    const cached_plan *used = get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32);
    assert_ptr_equal(get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32), used);
    const cached_plan *other = get(f, &cache, line, "[{\"x\"}]", "[{}]", 12, TSR_F32);
    assert_int_equal(cache.count, 2);
    plan_cache_put(&cache, used);
    assert_int_equal(cache.count, 2);
    assert_int_equal(tsr_plan_bytes_received(used->plan, 2), 24);
    plan_cache_put(&cache, used);
    assert_int_equal(cache.count, 1);
    assert_int_equal(tsr_plan_bytes_received(other->plan, 2), 36);
    plan_cache_put(&cache, other);
    assert_int_equal(cache.count, 1);
    close_cache(&cache);
}

/* A plan that is too large by itself does not drive out the others. */
static void what_is_too_large_is_not_kept(void **state)
{
    fixture *f = *state;
    plan_store store;
    plan_cache cache = cache_on(&store, f->ctx, (plan_cache_limits){.plans = 8, .moves = 6});
    plan_cache_put(&cache, get(f, &cache, line, "[{}]", "[{\"x\"}]", 8, TSR_F32));
    assert_int_equal(cache.moves, 2);
    plan_cache_put(&cache, get(f, &cache, line, "[{\"x\"}]", "[{}]", 8, TSR_F32));
    assert_int_equal(cache.moves, 2);
    plan_cache_put(&cache, get(f, &cache, line, "[{}]", "[{\"x\"}]", 8, TSR_F32));
    assert_int_equal(cache.hits, 1);
    close_cache(&cache);
}

/* Two ranks have one plan and a part each; the last one to let go of it frees it. */
static void ranks_share_a_plan(void **state)
{
    fixture *f = *state;
    plan_store store;
    plan_cache one = cache_on(&store, f->ctx, PLAN_CACHE_DEFAULT);
    plan_cache two = plan_cache_new(&store, PLAN_CACHE_DEFAULT);
    const cached_plan *first = get(f, &one, line, "[{\"x\"}]", "[{}]", 8, TSR_F32);
    const cached_plan *second = get(f, &two, line, "[{\"x\"}]", "[{}]", 8, TSR_F32);
    assert_ptr_equal(first->plan, second->plan);
    assert_ptr_not_equal(first->part, second->part);
    assert_int_equal(store.made, 1);
    plan_cache_clear(&one);
    assert_int_equal(store.count, 1);
    assert_int_equal(tsr_plan_bytes_received(second->plan, 2), 24);
    close_cache(&two);
}

static void a_refused_plan_is_not_kept(void **state)
{
    fixture *f = *state;
    plan_store store;
    plan_cache cache = cache_on(&store, f->ctx, PLAN_CACHE_DEFAULT);
    const int64_t shape[] = {4};
    const tsr_mesh *mesh = mesh_of(f, line);
    const tsr_geometry *whole = geometry_of(f, sharding_of(f, mesh, "[{}]"), 1, shape);
    const tsr_geometry *pending =
        geometry_of(f, sharding_of(f, mesh, "[{}], unreduced={\"x\"}"), 1, shape);
    const cached_plan *plan = NULL;
    assert_int_equal(plan_cache_get(&cache, f->ctx, whole, pending, TSR_I8, &plan),
                     TSR_ERR_UNSUPPORTED);
    expect_message(f, "a redistribution cannot make a reduction pending");
    assert_null(plan);
    assert_int_equal(cache.count, 0);
    close_cache(&cache);
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
    plan_store store;
    assert_int_equal(tsr_context_create(&allocator, &f.ctx), TSR_OK);
    assert_int_equal(context_make_hostile(f.ctx), TSR_OK);
    plan_cache cache = cache_on(&store, f.ctx, PLAN_CACHE_DEFAULT);
    assert_int_equal(tsr_arena_create(f.ctx, &f.arena), TSR_OK);
    const tsr_mesh *mesh = mesh_of(&f, "<[\"x\"=2, \"y\"=3], device_ids=[5, 1, 3, 0, 2, 4]>");
    for (size_t i = 0; i < 3; i++) {
        g[i] = geometry_of(&f, sharding_of(&f, mesh, texts[i]), 2, shape);
    }
    heap.calls = 0;
    heap.fail_at = n;
    for (size_t i = 0; i < 4; i++) {
        const cached_plan *plan = NULL;
        const size_t count = cache.count;
        const tsr_status status =
            plan_cache_get(&cache, f.ctx, g[i % 2 == 0 ? 0 : 2], g[1], TSR_F32, &plan);
        if (status == TSR_OK) {
            const tsr_status part = plan_cache_get_part(&cache, f.ctx, plan, 3, PART_BOTH);
            assert_int_equal(part == TSR_OK, plan->part != NULL);
            tsr_context_clear(f.ctx);
        }
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
    close_cache(&cache);
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
        TEST(ranks_share_a_plan),
        TEST(a_refused_plan_is_not_kept),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
