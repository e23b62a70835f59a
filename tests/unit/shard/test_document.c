/* Every example of the representation document, with its local shape where it states one. */
#include <string.h>

#include "support.h"

static void expect_local(fixture *f, const char *mesh, const char *text, size_t rank,
                         const int64_t *shape, const int64_t *local, const char *printed)
{
    const tsr_sharding *sharding = sharding_of(f, mesh_of(f, mesh), text);
    int64_t found[8];
    assert_string_equal(sharding_bare(f, sharding), printed);
    tsr_geometry_local_shape(geometry_of(f, sharding, rank, shape), found);
    assert_memory_equal(found, local, rank * sizeof *local);
}

#define SHAPE(...)                                                                                 \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void basic_structure(void **state)
{
    fixture *f = *state;
    expect_local(f, "@mesh_xy = <[\"x\"=2, \"y\"=4, \"z\"=2]>",
                 "sharding<@mesh_xy, [{\"x\"}, {\"z\", \"y\"}]>", 2, SHAPE(4, 8), SHAPE(2, 1),
                 "[{\"x\"}, {\"z\", \"y\"}]");
    const tsr_mesh *two = mesh_of(f, "@mesh_xy = <[\"x\"=2, \"y\"=2]>");
    const tsr_geometry *g =
        geometry_of(f, sharding_of(f, two, "[{\"x\"}, {\"y\"}]"), 2, SHAPE(2, 2));
    for (int64_t device = 0; device < 4; device++) {
        int64_t start[2];
        int64_t size[2];
        assert_true(tsr_geometry_box(g, device, start, size));
        assert_int_equal(start[0], device / 2);
        assert_int_equal(start[1], device % 2);
        assert_int_equal(size[0], 1);
        assert_int_equal(size[1], 1);
    }
}

static void open_and_closed_dimensions(void **state)
{
    fixture *f = *state;
    expect_local(f, "@mesh_xy = <[\"x\"=2, \"y\"=4, \"z\"=2]>",
                 "sharding<@mesh_xy, [{\"x\"}, {\"z\", ?}]>", 2, SHAPE(4, 8), SHAPE(2, 4),
                 "[{\"x\"}, {\"z\", ?}]");
}

static void explicitly_replicated_axes(void **state)
{
    fixture *f = *state;
    expect_local(f, "@mesh_xyz = <[\"x\"=2, \"y\"=4, \"z\"=2]>",
                 "sharding<@mesh_xyz, [{\"x\"}, {?}], replicated={\"y\"}>", 2, SHAPE(4, 8),
                 SHAPE(2, 8), "[{\"x\"}, {?}], replicated={\"y\"}");
    const tsr_mesh *cab = mesh_of(f, "@mesh_xy = <[\"c\"=2, \"a\"=2, \"b\"=2]>");
    assert_string_equal(sharding_bare(f, sharding_of(f, cab, "[], replicated={\"a\", \"c\"}")),
                        "[], replicated={\"c\", \"a\"}");
}

static void sub_axes(void **state)
{
    fixture *f = *state;
    expect_local(f, "@mesh_x = <[\"x\"=4]>", "<@mesh_x, [{\"x\"}]>", 1, SHAPE(8), SHAPE(2),
                 "[{\"x\"}]");
    expect_local(f, "@mesh_x = <[\"x\"=4]>", "<@mesh_x, [{\"x\":(1)2}, {\"x\":(2)2}]>", 2,
                 SHAPE(2, 4), SHAPE(1, 2), "[{\"x\":(1)2}, {\"x\":(2)2}]");
    expect_local(f, "@mesh_xyz = <[\"x\"=2, \"y\"=8, \"z\"=2]>",
                 "sharding<@mesh_xyz, [{\"x\"}, {\"y\":(2)2}]>", 2, SHAPE(4, 8), SHAPE(2, 4),
                 "[{\"x\"}, {\"y\":(2)2}]");
    expect_local(f, "@mesh_xyz = <[\"x\"=2, \"y\"=8, \"z\"=2]>",
                 "sharding<@mesh_xyz, [{\"x\"}, {\"y\":(2)2}], replicated={\"y\":(1)2}>", 2,
                 SHAPE(4, 8), SHAPE(2, 4), "[{\"x\"}, {\"y\":(2)2}], replicated={\"y\":(1)2}");
}

static void the_reshape_moves_no_data(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "@mesh_x = <[\"x\"=4]>");
    const tsr_geometry *flat = geometry_of(f, sharding_of(f, mesh, "[{\"x\"}]"), 1, SHAPE(8));
    const tsr_geometry *square =
        geometry_of(f, sharding_of(f, mesh, "[{\"x\":(1)2}, {\"x\":(2)2}]"), 2, SHAPE(2, 4));
    for (int64_t device = 0; device < 4; device++) {
        int64_t s1[1];
        int64_t n1[1];
        int64_t s2[2];
        int64_t n2[2];
        assert_true(tsr_geometry_box(flat, device, s1, n1));
        assert_true(tsr_geometry_box(square, device, s2, n2));
        assert_int_equal(s1[0], s2[0] * 4 + s2[1]);
        assert_int_equal(n1[0], n2[0] * n2[1]);
    }
}

static void two_meshes_say_the_same(void **state)
{
    fixture *f = *state;
    const tsr_mesh *full = mesh_of(f, "@mesh_full = <\"devices\"=8>");
    const tsr_mesh *xy = mesh_of(f, "@mesh_xy = <\"x\"=4, \"y\"=2>");
    const tsr_sharding *a = sharding_of(f, xy, "sharding<@mesh_xy, [{\"x\"},{ \"y\"}]>");
    const tsr_sharding *b =
        sharding_of(f, full, "sharding<@mesh_full, [{\"devices\":(1)4}, {\"devices\":(4)2}]>");
    bool same = false;
    assert_int_equal(tsr_geometry_same(f->ctx, geometry_of(f, a, 2, SHAPE(4, 4)),
                                       geometry_of(f, b, 2, SHAPE(4, 4)), &same),
                     TSR_OK);
    assert_true(same);
    const tsr_sharding *translated = NULL;
    assert_int_equal(tsr_sharding_translate(f->ctx, f->arena, a, full, &translated), TSR_OK);
    assert_true(tsr_sharding_equal(translated, b));
    assert_int_equal(tsr_sharding_translate(f->ctx, f->arena, b, xy, &translated), TSR_OK);
    assert_true(tsr_sharding_equal(translated, a));
}

static void order_of_replicated_sub_axes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=8, \"z\"=2]>");
    const tsr_sharding *sharding =
        sharding_of(f, mesh, "[], replicated={\"y\":(4)2, \"x\", \"y\":(1)2}");
    assert_string_equal(sharding_bare(f, sharding),
                        "[], replicated={\"x\", \"y\":(1)2, \"y\":(4)2}");
}

static void invariants_of_sub_axes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=16]>");
    const tsr_sharding *none = NULL;
    assert_int_equal(
        tsr_sharding_parse(f->ctx, f->arena, mesh, "[{\"x\":(1)4}, {\"x\":(2)4}]", &none),
        TSR_ERR_INVALID);
    expect_error(f, "overlapping sub-axes: \"x\":(1)4, \"x\":(2)4");
    assert_string_equal(sharding_bare(f, sharding_of(f, mesh, "[{\"x\":(1)2, \"x\":(2)4}]")),
                        "[{\"x\":(1)8}]");
    const tsr_sharding_reader strict = {.mesh = mesh, .reading = TSR_READ_PROGRAM, .rank = -1};
    tsr_text text = tsr_text_of(NULL, "<@m, [{\"x\":(1)2, \"x\":(2)4}]>");
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &strict, &none), TSR_ERR_INVALID);
    expect_error(f, "two consecutive sub-axes can be merged: \"x\":(1)2, \"x\":(2)4");
}

static void several_meshes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m0 =
        mesh_of(f, "@mesh_0 = {<[\"a\"=4, \"b\"=2]>, device_ids=[0, 1, 2, 3, 4, 5, 6, 7]}");
    const tsr_mesh *m1 = mesh_of(
        f, "@mesh_1 = {<[\"x\"=2, \"y\"=2, \"z\"=2]>, device_ids=[0, 1, 2, 3, 4, 5, 6, 7]}");
    bool same = false;
    assert_int_equal(tsr_mesh_same_axis(f->ctx, m0, axis_of(m0, "b"), m1, axis_of(m1, "z"), &same),
                     TSR_OK);
    assert_true(same);
}

static void priorities(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "@mesh_xy = <[\"w\"=6, \"x\"=2, \"y\"=4, \"z\"=2]>");
    const tsr_sharding *sharding = sharding_of(
        f, mesh, "sharding<@mesh_xy, [{\"x\"}p1, {\"y\"}, {\"z\",?}p2], replicated={}}>");
    assert_string_equal(sharding_bare(f, sharding), "[{\"x\"}p1, {\"y\"}, {\"z\", ?}p2]");
    assert_int_equal(tsr_sharding_dim(sharding, 0)->priority, 1);
    assert_int_equal(tsr_sharding_dim(sharding, 1)->priority, TSR_NO_PRIORITY);
    assert_int_equal(tsr_sharding_dim(sharding, 2)->priority, 2);
    const tsr_sharding *none = NULL;
    assert_int_equal(tsr_sharding_parse(f->ctx, f->arena, mesh, "[{}p1]", &none), TSR_ERR_INVALID);
    expect_error(f, "dim 0 is empty and closed but has a priority");
}

static void divisibility(void **state)
{
    fixture *f = *state;
    expect_local(f, "@mesh_xy = <[\"x\"=8, \"y\"=2, \"z\"=3]>",
                 "sharding<@mesh_xy, [{\"x\"}, {\"y\"}, {\"z\"}]>", 3, SHAPE(7, 3, 8),
                 SHAPE(1, 2, 3), "[{\"x\"}, {\"y\"}, {\"z\"}]");
}

static void the_grammar_as_it_stands(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "@mesh_name = <\"x\"=2,\"y\"=4>");
    assert_string_equal(
        sharding_bare(f, sharding_of(f, mesh,
                                     "sharding<@mesh_name, [{\"x\"},{\"y\":(2)2,?}], "
                                     "replicated={\"y\":(1)2}}")),
        "[{\"x\"}, {\"y\":(2)2, ?}], replicated={\"y\":(1)2}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(basic_structure),
        TEST(open_and_closed_dimensions),
        TEST(explicitly_replicated_axes),
        TEST(sub_axes),
        TEST(the_reshape_moves_no_data),
        TEST(two_meshes_say_the_same),
        TEST(order_of_replicated_sub_axes),
        TEST(invariants_of_sub_axes),
        TEST(several_meshes),
        TEST(priorities),
        TEST(divisibility),
        TEST(the_grammar_as_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
