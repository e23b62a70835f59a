/* Geometry: chunks, errors, holders, and equality where it is decided by hand. */
#include <stdio.h>
#include <string.h>

#include "support.h"

#define SHAPE(...)                                                                                 \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void chunks(void **state)
{
    fixture *f = *state;
    static const struct {
        int64_t extent;
        int64_t sizes[4];
    } cases[] = {{5, {2, 2, 1, 0}}, {7, {2, 2, 2, 1}}, {11, {3, 3, 3, 2}}, {3, {1, 1, 1, 0}},
                 {0, {0, 0, 0, 0}}, {1, {1, 0, 0, 0}}, {8, {2, 2, 2, 2}},  {9, {3, 3, 3, 0}}};
    const tsr_sharding *s = sharding_of(f, mesh_of(f, "<[\"x\"=4]>"), "[{\"x\"}]");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_geometry *g = geometry_of(f, s, 1, &cases[i].extent);
        int64_t next = 0;
        for (int64_t device = 0; device < 4; device++) {
            int64_t start;
            int64_t size;
            assert_true(tsr_geometry_box(g, device, &start, &size));
            assert_int_equal(size, cases[i].sizes[device]);
            assert_int_equal(start, next);
            next += size;
        }
        assert_int_equal(next, cases[i].extent);
    }
}

static void the_least_of_the_shards(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *dim;
        int64_t extent;
        int64_t least;
    } cases[] = {{"{\"x\"}", 8, 2},
                 {"{\"x\"}", 7, 1},
                 {"{\"x\"}", 5, 0},
                 {"{\"x\"}", 0, 0},
                 {"{}", 5, 5},
                 {"{\"x\"}:dynamic[4, 1, 2, 3]", 10, 1},
                 {"{\"x\"}:partitioned[[1, 2], [0, 0], [3, 4], [5, 6]]", 21, 0},
                 {"{\"x\"}:partitioned[[1, 2], [0, 1], [3, 4], [5, 6]]", 22, 1},
                 {"{\"x\"}:partitioned[[1, 2, 3, 4], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 9]]"
                  "(aligned)",
                  20, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        int64_t least = -1;
        (void)snprintf(text, sizeof text, "[%s]", cases[i].dim);
        const tsr_sharding *s = sharding_of(f, mesh_of(f, "<[\"x\"=4]>"), text);
        tsr_geometry_least_shape(geometry_of(f, s, 1, &cases[i].extent), &least);
        assert_int_equal(least, cases[i].least);
    }
}

static void bad_shapes_are_errors(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=4611686018427387904]>");
    const tsr_sharding *s = sharding_of(f, mesh, "[{\"x\"}, {}]");
    const tsr_geometry *g = NULL;
    assert_int_equal(tsr_geometry_create(f->ctx, f->arena, s, 1, SHAPE(4), &g), TSR_ERR_INVALID);
    expect_error(f, "sharding doesn't match tensor rank: 2 != 1");
    assert_int_equal(tsr_geometry_create(f->ctx, f->arena, s, 2, SHAPE(4, TSR_UNKNOWN), &g),
                     TSR_ERR_INVALID);
    expect_error(f, "dim 1: the extent must be known and at least 0, got: -1");
    assert_int_equal(tsr_geometry_create(f->ctx, f->arena, s, 2, SHAPE(INT64_MAX, 1), &g),
                     TSR_ERR_OVERFLOW);
    expect_error(f, "dim 0: 4611686018427387904 shards of 2 rows are more than 2^63-1");
    assert_int_equal(
        tsr_geometry_create(f->ctx, f->arena, s, 2, SHAPE(INT64_C(1) << 40, INT64_C(1) << 40), &g),
        TSR_ERR_OVERFLOW);
    expect_error(f, "the tensor has more than 2^63-1 elements");
    assert_null(g);
    (void)geometry_of(f, s, 2, SHAPE(0, INT64_MAX));
}

static void a_maximal_mesh_holds_everything(void **state)
{
    fixture *f = *state;
    const tsr_sharding *s = sharding_of(f, mesh_of(f, "<[], device_ids=[7]>"), "[]");
    const tsr_geometry *g = geometry_of(f, s, 2, SHAPE(3, 4));
    int64_t start[2];
    int64_t size[2];
    assert_true(tsr_geometry_box(g, 7, start, size));
    assert_int_equal(size[0], 3);
    assert_int_equal(size[1], 4);
    assert_false(tsr_geometry_box(g, 0, start, size));
    const tsr_devices *holders;
    assert_int_equal(tsr_geometry_holders(f->ctx, f->arena, g, SHAPE(2, 2), &holders), TSR_OK);
    assert_int_equal(tsr_devices_count(holders), 1);
    assert_int_equal(tsr_devices_at(holders, 0), 7);
}

static void holders_on_a_huge_mesh(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=1048576, \"y\"=1048576]>");
    const tsr_geometry *g =
        geometry_of(f, sharding_of(f, mesh, "[{\"y\":(1024)1024}]"), 1, SHAPE(1024));
    const tsr_devices *holders;
    assert_int_equal(tsr_geometry_holders(f->ctx, f->arena, g, SHAPE(5), &holders), TSR_OK);
    assert_int_equal(tsr_devices_count(holders), INT64_C(1) << 30);
    assert_int_equal(tsr_devices_at(holders, 0), 5);
    assert_int_equal(tsr_devices_at(holders, 1), 1024 + 5);
    assert_int_equal(tsr_geometry_holders(f->ctx, f->arena, g, SHAPE(1024), &holders),
                     TSR_ERR_INVALID);
    expect_error(f, "index 1024 in dim 0 is out of range 0 to 1023");
}

static bool same(fixture *f, const char *mesh_a, const char *a, const char *mesh_b, const char *b,
                 size_t rank, const int64_t *shape)
{
    bool answer = false;
    assert_int_equal(tsr_geometry_same(
                         f->ctx, geometry_of(f, sharding_of(f, mesh_of(f, mesh_a), a), rank, shape),
                         geometry_of(f, sharding_of(f, mesh_of(f, mesh_b), b), rank, shape),
                         &answer),
                     TSR_OK);
    return answer;
}

static void equality_by_hand(void **state)
{
    fixture *f = *state;
    const char *xy = "<[\"x\"=2, \"y\"=2]>";
    const char *four = "<[\"d\"=4]>";
    assert_true(same(f, xy, "[{\"x\", \"y\"}]", four, "[{\"d\"}]", 1, SHAPE(8)));
    assert_false(same(f, xy, "[{\"y\", \"x\"}]", four, "[{\"d\"}]", 1, SHAPE(8)));
    assert_true(same(f, xy, "[{\"x\"}]", xy, "[{\"x\", ?}p3], replicated={\"y\"}", 1, SHAPE(8)));
    assert_false(same(f, xy, "[{\"x\"}]", xy, "[{\"x\"}], unreduced={\"y\"}", 1, SHAPE(8)));
    assert_false(same(f, xy, "[{\"x\"}], unreduced=max{\"y\"}", xy, "[{\"x\"}], unreduced={\"y\"}",
                      1, SHAPE(8)));
    assert_true(same(f, xy, "[{}], unreduced={\"x\", \"y\"}", four, "[{}], unreduced={\"d\"}", 1,
                     SHAPE(8)));
    assert_false(same(f, xy, "[{\"x\", \"y\"}]", xy, "[{\"x\"}]", 1, SHAPE(5)));
    assert_true(same(f, xy, "[{\"x\"}, {\"y\"}]", xy, "[{\"y\"}, {\"x\"}]", 2, SHAPE(1, 1)));
    assert_true(same(f, xy, "[{\"x\"}]", xy, "[{\"y\"}]", 1, SHAPE(0)));
    assert_true(same(f, "<[\"x\"=2]>", "[{}]", "<[\"x\"=1, \"y\"=2]>", "[{\"x\"}]", 1, SHAPE(3)));
}

/* Equal index functions with unequal chunks, beside a dimension with explicit sizes. */
static void equality_beside_explicit_sizes(void **state)
{
    fixture *f = *state;
    assert_false(same(f, "<[\"a\"=4, \"b\"=1]>", "[{\"b\"}:dynamic[1], {\"a\"}, {}]",
                      "<[\"p\"=2, \"q\"=2]>", "[{}, {\"q\"}, {\"p\"}]", 3, SHAPE(1, 6, 1)));
    assert_true(same(f, "<[\"a\"=4, \"b\"=1]>", "[{\"b\"}:dynamic[1], {\"a\"}, {}]",
                     "<[\"p\"=2, \"q\"=2]>", "[{}, {\"p\", \"q\"}, {}]", 3, SHAPE(1, 6, 1)));
}

static void stored_sizes_are_aligned(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    const tsr_geometry *g = geometry_of(
        f,
        sharding_of(f, mesh,
                    "[{\"x\"}:partitioned[[4, 6, 4, 2], [2, 4, 8, 2]](aligned, align=8), {}]"),
        2, SHAPE(32, 3));
    int64_t size[2];
    assert_true(tsr_geometry_stored_size(g, 0, size));
    assert_int_equal(size[0], 8 + 16);
    assert_int_equal(size[1], 3);
    assert_true(tsr_geometry_stored_size(g, 1, size));
    assert_int_equal(size[0], 16 + 8);
    assert_false(tsr_geometry_stored_size(g, 2, size));
    const tsr_geometry *even = geometry_of(f, sharding_of(f, mesh, "[{\"x\"}]"), 1, SHAPE(5));
    assert_true(tsr_geometry_stored_size(even, 1, size));
    assert_int_equal(size[0], 2);
}

static void equality_over_different_devices(void **state)
{
    fixture *f = *state;
    assert_true(same(f, "<[\"x\"=4]>", "[{\"x\"}]", "<[\"y\"=8]>", "[{\"y\"}]", 1, SHAPE(4)));
    assert_false(same(f, "<[\"x\"=4]>", "[{\"x\"}]", "<[\"y\"=8]>", "[{\"y\"}]", 1, SHAPE(8)));
    assert_false(same(f, "<[\"x\"=4]>", "[{}]", "<[\"y\"=8]>", "[{}]", 1, SHAPE(4)));
    assert_true(same(f, "<[], device_ids=[0]>", "[]", "<[\"y\"=8]>", "[{\"y\"}]", 1, SHAPE(1)));
    assert_false(same(f, "<[], device_ids=[1]>", "[]", "<[\"y\"=8]>", "[{\"y\"}]", 1, SHAPE(1)));
}

static void equality_has_a_limit_only_where_it_must_count(void **state)
{
    fixture *f = *state;
    const tsr_mesh *crossed =
        mesh_of(f, "<[\"x\"=6, \"z\"=68719476736], device_ids<=[3, 2, 68719476736]T(1, 0, 2)>");
    const tsr_geometry *a = geometry_of(f, sharding_of(f, crossed, "[{\"x\":(1)3}]"), 1, SHAPE(3));
    const tsr_mesh *plain = mesh_of(f, "<[\"x\"=6, \"z\"=68719476736]>");
    const tsr_geometry *b = geometry_of(f, sharding_of(f, plain, "[{\"x\":(2)3}]"), 1, SHAPE(3));
    const tsr_geometry *e = geometry_of(f, sharding_of(f, crossed, "[{\"x\":(2)3}]"), 1, SHAPE(3));
    bool answer;
    assert_int_equal(tsr_geometry_same(f->ctx, a, e, &answer), TSR_OK);
    assert_false(answer);
    assert_int_equal(tsr_geometry_same(f->ctx, a, b, &answer), TSR_ERR_LIMIT);
    tsr_context_clear(f->ctx);
    const tsr_geometry *c = geometry_of(f, sharding_of(f, crossed, "[{\"x\"}]"), 1, SHAPE(3));
    assert_int_equal(tsr_geometry_same(f->ctx, c, c, &answer), TSR_OK);
    assert_true(answer);
    const tsr_geometry *d = geometry_of(f, sharding_of(f, crossed, "[{\"x\"}]"), 1, SHAPE(4));
    assert_int_equal(tsr_geometry_same(f->ctx, c, d, &answer), TSR_ERR_INVALID);
    expect_error(f, "geometries of different shapes cannot be compared: dim 0 has extent 3 and 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(chunks),
        TEST(the_least_of_the_shards),
        TEST(bad_shapes_are_errors),
        TEST(a_maximal_mesh_holds_everything),
        TEST(holders_on_a_huge_mesh),
        TEST(equality_by_hand),
        TEST(equality_beside_explicit_sizes),
        TEST(stored_sizes_are_aligned),
        TEST(equality_over_different_devices),
        TEST(equality_has_a_limit_only_where_it_must_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
