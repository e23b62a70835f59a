/* Digits of two layouts: what they count, against looking at every device. */
#include <stdio.h>

#include "plan/lattice_walk.h"
#include "plan/plan.h"
#include "slices.h"

enum { MAX_DEVICES = 64 };

/* A random exchange that has common digits. */
typedef struct sample {
    size_t rank;
    int64_t shape[MAX_DIMS];
    int64_t devices;
    const tsr_sharding *src;
    const tsr_sharding *dst;
    const plan_exchange *x;
} sample;

static bool choose(fixture *f, rng *r, sample *s)
{
    s->rank = random_shape(r, s->shape);
    for (size_t i = 0; i < s->rank; i++) {
        s->shape[i] = rng_chance(r, 40) ? rng_below(r, 200) : s->shape[i];
    }
    const tsr_mesh *mesh = random_mesh(f, r, (mesh_limits){MAX_DEVICES, true, false});
    s->devices = tsr_mesh_num_devices(mesh);
    const mesh_limits limits = {MAX_DEVICES, true, false};
    const tsr_mesh *other = rng_chance(r, 50) ? mesh : random_mesh_of(f, r, s->devices, limits);
    const sharding_limits from = {true, rng_chance(r, 40), rng_chance(r, 20)};
    const sharding_limits to = {true, false, rng_chance(r, 20)};
    s->src = random_sharding(f, r, mesh, s->rank, s->shape, from);
    s->dst = random_sharding(f, r, other, s->rank, s->shape, to);
    const tsr_geometry *before = geometry_of(f, s->src, s->rank, s->shape);
    const tsr_step_spec one = {TSR_STEP_DIRECT, geometry_of(f, s->dst, s->rank, s->shape)};
    const tsr_plan *plan = NULL;
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, before, 1, &one, TSR_I8, &plan), TSR_OK);
    s->x = &plan->steps[0].exchange;
    return s->x->lattice.exists;
}

static int64_t shard_of(const tsr_sharding *s, size_t dim, int64_t device)
{
    const tsr_dim *d = tsr_sharding_dim(s, dim);
    return index_along(tsr_sharding_mesh(s), d->axes, d->num_axes, device);
}

/* Whether two devices hold the same shard before: nothing stays pending here. */
static bool hold_the_same(const sample *s, int64_t a, int64_t b)
{
    bool same = true;
    for (size_t i = 0; i < s->rank; i++) {
        same = same && shard_of(s->src, i, a) == shard_of(s->src, i, b);
    }
    return same;
}

/* Compares an index with the values that it has on the devices that hold what `device` does. */
static void check_index(const sample *s, const lattice_index *index, int64_t size, int64_t device,
                        const int64_t *values)
{
    const int64_t place = tsr_mesh_place_of(tsr_sharding_mesh(s->src), device);
    const int64_t number = lattice_number(&s->x->lattice, place);
    int64_t below = 0;
    for (int64_t value = 0; value < size; value++) {
        bool there = false;
        for (int64_t other = 0; other < s->devices; other++) {
            there = there || (values[other] == value && hold_the_same(s, device, other));
        }
        assert_int_equal(lattice_matches(index, number, value), there);
        assert_int_equal(lattice_count(index, number, value), below);
        below += there;
    }
    assert_int_equal(lattice_count(index, number, size), below);
}

static void indices_are_counted(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("indices_are_counted");
    int64_t lattices = 0;
    for (int64_t i = 0; i < prop_cases(2000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        sample s;
        int64_t values[MAX_DEVICES];
        if (choose(f, &r, &s)) {
            const tsr_mesh *mesh = tsr_sharding_mesh(s.dst);
            const int64_t device = rng_below(&r, s.devices);
            for (size_t k = 0; k < s.rank; k++) {
                const tsr_dim *d = tsr_sharding_dim(s.dst, k);
                for (int64_t other = 0; other < s.devices; other++) {
                    values[other] = shard_of(s.dst, k, other);
                }
                check_index(&s, &s.x->lattice.dst[k], tsr_axes_size(d->axes, d->num_axes), device,
                            values);
            }
            for (int64_t other = 0; other < s.devices; other++) {
                values[other] = places_index(&s.x->copies, tsr_mesh_place_of(mesh, other));
            }
            check_index(&s, &s.x->lattice.copies, s.x->copies.size, device, values);
            lattices++;
        }
        tsr_arena_reset(f->arena, mark);
    }
    printf("pairs with common digits: %lld\n", (long long)lattices);
    assert_true(lattices > 1000);
}

static void what_is_held_is_summed(void **state)
{
    fixture *f = *state;
    static device_slice before;
    static device_slice after;
    const rng base = rng_start("what_is_held_is_summed");
    int64_t lattices = 0;
    for (int64_t i = 0; i < prop_cases(3000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        sample s;
        if (choose(f, &r, &s)) {
            int64_t held = 0;
            for (int64_t device = 0; device < s.devices; device++) {
                slice_of(s.src, s.rank, s.shape, device, &before);
                slice_of(s.dst, s.rank, s.shape, device, &after);
                held += slice_common(&after, &before);
            }
            const plan_exchange *x = s.x;
            const plan_maker m = {f->ctx, f->arena, f->arena};
            const walk_layouts layouts = {&x->lattice, s.rank, x->src.dims, x->dst.dims};
            int64_t found = -1;
            assert_int_equal(lattice_held(&m, &layouts, &found), TSR_OK);
            assert_int_equal(found, held);
            lattices++;
        }
        tsr_arena_reset(f->arena, mark);
    }
    printf("pairs with common digits: %lld\n", (long long)lattices);
    assert_true(lattices > 1500);
}

/* Of 6 devices as 2 x 3 and as 3 x 2 no common digits number both axes. */
static void some_pairs_have_none(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {6};
    const tsr_sharding *halves = sharding_of(f, mesh_of(f, "<[\"x\"=2, \"y\"=3]>"), "[{\"x\"}]");
    const tsr_sharding *thirds = sharding_of(f, mesh_of(f, "<[\"x\"=3, \"y\"=2]>"), "[{\"x\"}]");
    const tsr_geometry *src = geometry_of(f, halves, 1, shape);
    const tsr_plan *plan = NULL;
    assert_int_equal(
        tsr_plan_create(f->ctx, f->arena, src, geometry_of(f, thirds, 1, shape), TSR_I8, &plan),
        TSR_OK);
    assert_false(plan->steps[0].exchange.lattice.exists);
    assert_false(plan->steps[0].exchange.counted);
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, src, src, TSR_I8, &plan), TSR_OK);
    assert_true(plan->steps[0].exchange.lattice.exists);
    assert_true(plan->steps[0].exchange.counted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(indices_are_counted),
        TEST(what_is_held_is_summed),
        TEST(some_pairs_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
