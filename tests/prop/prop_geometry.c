/* Boxes cover the tensor as replication says; equality by form is equality by enumeration. */
#include <stdio.h>
#include <string.h>

#include "random.h"

static int64_t elements(const int64_t *shape, size_t rank)
{
    int64_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        count *= shape[i];
    }
    return count;
}

/* Every element is on as many devices as replication says, and those are the holders. */
static void check_cover(fixture *f, const tsr_geometry *g, size_t rank, const int64_t *shape)
{
    const tsr_sharding *sharding = tsr_geometry_sharding(g);
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    int64_t shards = 1;
    for (size_t i = 0; i < rank; i++) {
        shards *= tsr_sharding_num_shards(sharding, i);
    }
    const int64_t copies = tsr_mesh_num_devices(mesh) / shards;
    for (int64_t e = 0; e < elements(shape, rank); e++) {
        int64_t index[MAX_DIMS];
        int64_t rest = e;
        for (size_t i = rank; i-- > 0;) {
            index[i] = rest % shape[i];
            rest /= shape[i];
        }
        const tsr_devices *holders = NULL;
        assert_int_equal(tsr_geometry_holders(f->ctx, f->arena, g, index, &holders), TSR_OK);
        assert_int_equal(tsr_devices_count(holders), copies);
        int64_t found = 0;
        for (int64_t place = 0; place < tsr_mesh_num_devices(mesh); place++) {
            const int64_t device = tsr_mesh_device_at(mesh, place);
            bool here = true;
            for (size_t i = 0; i < rank; i++) {
                here = here && holds_row(g, device, i, index[i]);
            }
            if (here) {
                assert_true(found < copies);
                assert_int_equal(tsr_devices_at(holders, found++), device);
            }
        }
        assert_int_equal(found, copies);
    }
}

/* The local shape is the largest box, the least shape the smallest, every box is within it, the
 * padded shape follows. */
static void check_shapes(const tsr_geometry *g, size_t rank, const int64_t *shape)
{
    const tsr_sharding *sharding = tsr_geometry_sharding(g);
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    int64_t local[MAX_DIMS];
    int64_t padded[MAX_DIMS];
    int64_t least[MAX_DIMS];
    int64_t largest[MAX_DIMS] = {0};
    int64_t smallest[MAX_DIMS];
    tsr_geometry_local_shape(g, local);
    tsr_geometry_padded_shape(g, padded);
    tsr_geometry_least_shape(g, least);
    memcpy(smallest, local, rank * sizeof *local);
    for (int64_t device = 0; device < tsr_mesh_num_devices(mesh); device++) {
        int64_t start[MAX_DIMS];
        int64_t size[MAX_DIMS];
        assert_true(tsr_geometry_box(g, device, start, size));
        for (size_t i = 0; i < rank; i++) {
            assert_true(start[i] >= 0 && size[i] >= 0 && start[i] + size[i] <= shape[i]);
            assert_true(size[i] <= local[i]);
            largest[i] = size[i] > largest[i] ? size[i] : largest[i];
            smallest[i] = size[i] < smallest[i] ? size[i] : smallest[i];
        }
    }
    for (size_t i = 0; i < rank; i++) {
        const int64_t shards = tsr_sharding_num_shards(sharding, i);
        assert_int_equal(local[i], largest[i]);
        assert_int_equal(least[i], smallest[i]);
        assert_int_equal(padded[i], local[i] * shards);
        if (tsr_sharding_dim(sharding, i)->ragged == NULL) {
            assert_int_equal(local[i], (shape[i] + shards - 1) / shards);
        }
    }
}

static void boxes_cover_the_tensor(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("boxes_cover_the_tensor");
    for (int64_t i = 0; i < prop_cases(3000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        int64_t shape[MAX_DIMS];
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){24, true, true});
        const size_t rank = random_shape(&r, shape);
        const tsr_sharding *sharding =
            random_sharding(f, &r, mesh, rank, shape, (sharding_limits){true, true, true});
        const tsr_geometry *g = geometry_of(f, sharding, rank, shape);
        check_shapes(g, rank, shape);
        if (elements(shape, rank) <= 300) {
            check_cover(f, g, rank, shape);
        }
        tsr_arena_reset(f->arena, mark);
    }
}

/* Compares both ways round, by form and by enumeration; returns whether they are the same. */
static bool compare(fixture *f, const tsr_sharding *a, const tsr_sharding *b, size_t rank,
                    const int64_t *shape)
{
    const tsr_geometry *ga = geometry_of(f, a, rank, shape);
    const tsr_geometry *gb = geometry_of(f, b, rank, shape);
    const bool wanted = same_by_enumeration(ga, gb, rank);
    bool there = !wanted;
    bool back = !wanted;
    assert_int_equal(tsr_geometry_same(f->ctx, ga, gb, &there), TSR_OK);
    assert_int_equal(tsr_geometry_same(f->ctx, gb, ga, &back), TSR_OK);
    if (there != wanted || back != wanted) {
        fail_msg("%s on %s and %s on %s: enumeration says %d", sharding_bare(f, a),
                 mesh_text(f, tsr_sharding_mesh(a)), sharding_bare(f, b),
                 mesh_text(f, tsr_sharding_mesh(b)), wanted);
    }
    return wanted;
}

static void equality_is_equality_by_enumeration(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("equality_is_equality_by_enumeration");
    int64_t same = 0;
    int64_t different = 0;
    for (int64_t i = 0; i < prop_cases(6000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        int64_t shape[MAX_DIMS];
        const sharding_limits limits = {true, rng_chance(&r, 30), rng_chance(&r, 30)};
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){24, true, true});
        const size_t rank = random_shape(&r, shape);
        const tsr_sharding *a = random_sharding(f, &r, mesh, rank, shape, limits);
        const tsr_mesh *view = rng_chance(&r, 50) ? random_view(f, &r, mesh) : mesh;
        for (int try = 0; try < 3; try++) {
            const tsr_mesh *other = random_mesh(f, &r, (mesh_limits){24, true, true});
            const bool fits = tsr_mesh_num_devices(other) == tsr_mesh_num_devices(mesh);
            view = fits ? other : view;
        }
        const tsr_sharding *b = NULL;
        if (rng_chance(&r, 50)) {
            const tsr_status status = tsr_sharding_translate(f->ctx, f->arena, a, view, &b);
            assert_true(status == TSR_OK || status == TSR_ERR_UNSUPPORTED);
            assert_true(status != TSR_OK || compare(f, a, b, rank, shape));
            same += status == TSR_OK;
        }
        b = random_sharding(f, &r, view, rank, shape, limits);
        if (compare(f, a, b, rank, shape)) {
            same++;
        } else {
            different++;
        }
        tsr_context_clear(f->ctx);
        tsr_arena_reset(f->arena, mark);
    }
    printf("same %lld, different %lld\n", (long long)same, (long long)different);
    assert_true(same > prop_cases(1000) && different > prop_cases(1000));
}

/* Few devices, few rows, two dimensions: many coincidences by empty shards. */
static void equality_among_empty_shards(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("equality_among_empty_shards");
    int64_t same = 0;
    for (int64_t i = 0; i < prop_cases(6000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const int64_t shape[] = {1 + rng_below(&r, 3), 1 + rng_below(&r, 3)};
        const sharding_limits limits = {true, false, rng_chance(&r, 20)};
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){12, true, false});
        const tsr_mesh *view = random_view(f, &r, mesh);
        const tsr_sharding *a = random_sharding(f, &r, mesh, 2, shape, limits);
        const tsr_sharding *b = random_sharding(f, &r, view, 2, shape, limits);
        same += compare(f, a, b, 2, shape);
        tsr_arena_reset(f->arena, mark);
    }
    printf("same %lld\n", (long long)same);
    assert_true(same > prop_cases(300));
}

/* One dimension with a layout beside even ones, which may have empty shards. */
static void equality_with_one_layout(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("equality_with_one_layout");
    int64_t same = 0;
    for (int64_t i = 0; i < prop_cases(10000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const int64_t shape[] = {1 + rng_below(&r, 2), 1 + rng_below(&r, 6), 1 + rng_below(&r, 2)};
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){8, false, false});
        const tsr_mesh *view = random_view(f, &r, mesh);
        const tsr_sharding *a =
            random_sharding(f, &r, mesh, 3, shape, (sharding_limits){true, false, true});
        const tsr_sharding *b =
            random_sharding(f, &r, view, 3, shape, (sharding_limits){true, false, false});
        same += compare(f, a, b, 3, shape);
        tsr_arena_reset(f->arena, mark);
    }
    printf("same %lld\n", (long long)same);
    assert_true(same > prop_cases(300));
}

static void text_round_trips(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("text_round_trips");
    for (int64_t i = 0; i < prop_cases(5000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        int64_t shape[MAX_DIMS];
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){64, true, true});
        const size_t rank = random_shape(&r, shape);
        const tsr_sharding *sharding =
            random_sharding(f, &r, mesh, rank, shape, (sharding_limits){true, true, true});
        const char *text = sharding_full(f, sharding);
        const tsr_sharding_reader reader = {
            .mesh = mesh, .reading = TSR_READ_PROGRAM, .rank = (int64_t)rank};
        tsr_text source = tsr_text_of(NULL, text);
        const tsr_sharding *again = NULL;
        assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &source, &reader, &again), TSR_OK);
        assert_int_equal(source.at, strlen(text));
        assert_true(tsr_sharding_equal(sharding, again));
        assert_string_equal(sharding_full(f, again), text);
        assert_string_equal(sharding_bare(f, sharding_of(f, mesh, sharding_bare(f, sharding))),
                            sharding_bare(f, sharding));
        assert_true(tsr_mesh_equal(mesh, mesh_of(f, mesh_text(f, mesh))));
        tsr_arena_reset(f->arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(boxes_cover_the_tensor),
        TEST(equality_is_equality_by_enumeration),
        TEST(equality_among_empty_shards),
        TEST(equality_with_one_layout),
        TEST(text_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
