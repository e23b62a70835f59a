/* Meshes: text, rules, coordinates, groups, views. */
#include <string.h>

#include "support.h"

static void text_is_canonical(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *given;
        const char *printed;
    } cases[] = {
        {"<[\"a\"=2, \"b\"=3]>", "<[\"a\"=2, \"b\"=3]>"},
        {"<[\"a\"=3,\"b\"=2],device_ids=[0,2,4,1,3,5]>",
         "<[\"a\"=3, \"b\"=2], device_ids=[0, 2, 4, 1, 3, 5]>"},
        {"<[]>", "<[]>"},
        {"<[], device_ids=[3]>", "<[], device_ids=[3]>"},
        {"<[], device_ids=[0]>", "<[], device_ids=[0]>"},
        {"<[\"a\"=2], device_ids=[0, 1]>", "<[\"a\"=2]>"},
        {"<[\"a\"=1], device_ids=[0]>", "<[\"a\"=1]>"},
        {"#sdy.mesh<[\"a\"=0x10]>", "<[\"a\"=16]>"},
        {"<\"devices\"=8>", "<[\"devices\"=8]>"},
        {"@mesh_xy = <\"x\"=4, \"y\"=2>", "<[\"x\"=4, \"y\"=2]>"},
        {"{<[\"a\"=4, \"b\"=2]>, device_ids=[0, 1, 2, 3, 4, 5, 6, 7]}", "<[\"a\"=4, \"b\"=2]>"},
        {"<[\"a\"=2, \"b\"=4], device_ids<=[4, 2]T(1, 0)>",
         "<[\"a\"=2, \"b\"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>"},
        {"sdy.mesh @m = <[\"a\"=2]>", "<[\"a\"=2]>"},
        {"@m = #sdy.mesh<[\"a\"=2]>", "<[\"a\"=2]>"},
        {"<[\"a\"=4], device_ids=[3, 1, 0, 2]>", "<[\"a\"=4], device_ids=[3, 1, 0, 2]>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_mesh *mesh = mesh_of(f, cases[i].given);
        assert_string_equal(mesh_text(f, mesh), cases[i].printed);
        assert_true(tsr_mesh_equal(mesh, mesh_of(f, cases[i].printed)));
    }
    assert_string_equal(tsr_mesh_name(mesh_of(f, "@mesh_xy = <[\"x\"=4]>")), "mesh_xy");
    assert_null(tsr_mesh_name(mesh_of(f, "<[\"x\"=4]>")));
}

static void every_rule_has_its_message(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *given;
        tsr_status status;
        const char *message;
    } cases[] = {
        {"<[\"a\"=2, \"b\"=0]>", TSR_ERR_INVALID, "axis size must be at least 1, got: 0"},
        {"<[\"a\"=-3]>", TSR_ERR_INVALID, "axis size must be at least 1, got: -3"},
        {"<[\"a\"=2], device_ids=[0, -1]>", TSR_ERR_INVALID,
         "device id must be non-negative, got: -1"},
        {"<[], device_ids=[1, 0]>", TSR_ERR_INVALID,
         "axes is empty and device_ids has more than one element"},
        {"<[\"a\"=2, \"b\"=2, \"a\"=4]>", TSR_ERR_INVALID, "duplicate axis name: \"a\""},
        {"<[\"a\"=2], device_ids=[0]>", TSR_ERR_INVALID,
         "total product of axis sizes must match total number of device ids, got: 2 != 1"},
        {"<[\"a\"=2], device_ids=[1, 1]>", TSR_ERR_INVALID,
         "sorted device ids must be iota(product(axes)), got: 1, 1"},
        {"<[\"a\"=2], device_ids=[2, 1]>", TSR_ERR_INVALID,
         "sorted device ids must be iota(product(axes)), got: 1, 2"},
        {"<[\"a\"=2], device_ids=[]>", TSR_ERR_SYNTAX, "expected integer value"},
        {"<[\"a\"=9223372036854775808]>", TSR_ERR_SYNTAX, "integer value too large"},
        {"<[\"a\"=4611686018427387904, \"b\"=2]>", TSR_ERR_OVERFLOW,
         "the product of the axis sizes exceeds 2^62 at axis \"b\" of size 2"},
        {"<[a=2]>", TSR_ERR_SYNTAX, "expected string"},
        {"<[\"a\"]>", TSR_ERR_SYNTAX, "expected '='"},
        {"<[\"a\"=2]", TSR_ERR_SYNTAX, "expected '>'"},
        {"<[\"a\"=2], ids=[0]>", TSR_ERR_SYNTAX, "expected 'device_ids'"},
        {"[\"a\"=2]", TSR_ERR_SYNTAX, "expected '<'"},
        {"<[\"a\"=2]> x", TSR_ERR_SYNTAX, "expected the end of the mesh"},
        {"<[\"a\"=2], device_ids<=[2]T(1)>", TSR_ERR_INVALID,
         "the transposition of the iota is not a permutation of 0 to 0"},
        {"<[\"a\"=2], device_ids<=[4]>", TSR_ERR_INVALID,
         "total product of axis sizes must match total number of device ids, got: 2 != 4"},
        {"<[\"a\"=2], device_ids<=[2]T(0, 1)>", TSR_ERR_SYNTAX,
         "the transposition has 2 entries for an iota of 1 dimensions"},
        {"", TSR_ERR_SYNTAX, "expected '<'"},
        {"@1", TSR_ERR_SYNTAX, "@ identifier expected to start with letter or '_'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_mesh *mesh = NULL;
        assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, cases[i].given, &mesh), cases[i].status);
        assert_null(mesh);
        expect_error(f, cases[i].message);
    }
}

static void failures_in_lists_are_followed_up(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh;
    assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, "<[\"a\"=0]>", &mesh), TSR_ERR_INVALID);
    expect_message(f, "failed to parse Sdy_Mesh parameter 'axes' which is to be a "
                      "`::llvm::ArrayRef<MeshAxisAttr>`");
    assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, "<[\"a\"=1], device_ids=[]>", &mesh),
                     TSR_ERR_SYNTAX);
    expect_message(f, "failed to parse Sdy_Mesh parameter 'device_ids' which is to be a "
                      "`::llvm::ArrayRef<int64_t>`");
}

static void the_program_reading_is_strict(void **state)
{
    fixture *f = *state;
    static const char *const lenient_only[] = {"<\"devices\"=8>", "{<[\"a\"=4]>}",
                                               "@m = <[\"a\"=4]>", "<[\"a\"=4], device_ids<=[4]>"};
    for (size_t i = 0; i < sizeof lenient_only / sizeof lenient_only[0]; i++) {
        tsr_text text = tsr_text_of(NULL, lenient_only[i]);
        const tsr_mesh *mesh;
        assert_true(tsr_mesh_read(f->ctx, f->arena, &text, TSR_READ_PROGRAM, &mesh) < 0);
        tsr_context_clear(f->ctx);
    }
}

static void a_slice_is_read_in_place(void **state)
{
    fixture *f = *state;
    const char *whole = "sdy.mesh @m = <[\"a\"=2]> // rest\nnext";
    tsr_text text = tsr_text_of("p.mlir", whole);
    text.at = 14;
    const tsr_mesh *mesh;
    assert_int_equal(tsr_mesh_read(f->ctx, f->arena, &text, TSR_READ_PROGRAM, &mesh), TSR_OK);
    assert_int_equal(text.at, 23);
    const char *broken = "one\ntwo <[\"a\"=0]>";
    text = tsr_text_of("p.mlir", broken);
    text.at = 8;
    assert_true(tsr_mesh_read(f->ctx, f->arena, &text, TSR_READ_PROGRAM, &mesh) < 0);
    assert_int_equal(tsr_context_diagnostics(f->ctx)->line, 2);
    assert_int_equal(tsr_context_diagnostics(f->ctx)->column, 7);
}

static void kinds_of_meshes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *empty = mesh_of(f, "<[]>");
    const tsr_mesh *maximal = mesh_of(f, "<[], device_ids=[5]>");
    const tsr_mesh *one = mesh_of(f, "<[\"a\"=1]>");
    assert_true(tsr_mesh_is_empty(empty) && !tsr_mesh_is_maximal(empty));
    assert_true(tsr_mesh_is_maximal(maximal) && !tsr_mesh_is_empty(maximal));
    assert_true(!tsr_mesh_is_maximal(one) && !tsr_mesh_is_empty(one));
    assert_int_equal(tsr_mesh_num_devices(empty), 1);
    assert_int_equal(tsr_mesh_num_devices(maximal), 1);
    assert_int_equal(tsr_mesh_device_at(maximal, 0), 5);
    assert_int_equal(tsr_mesh_place_of(maximal, 5), 0);
    assert_int_equal(tsr_mesh_place_of(maximal, 0), -1);
    assert_false(tsr_mesh_equal(empty, maximal));
    assert_false(tsr_mesh_same_devices(empty, maximal));
    assert_true(tsr_mesh_same_devices(empty, one));
    assert_false(tsr_mesh_equal(maximal, mesh_of(f, "<[], device_ids=[4]>")));
}

static void coordinates_and_back(void **state)
{
    fixture *f = *state;
    static const char *const meshes[] = {
        "<[\"x\"=2, \"y\"=3, \"z\"=2]>",
        "<[\"x\"=2, \"y\"=3, \"z\"=2], device_ids<=[2, 2, 3]T(2, 0, 1)>",
        "<[\"x\"=2, \"y\"=3, \"z\"=2], device_ids=[11, 3, 5, 0, 1, 2, 4, 6, 7, 8, 9, 10]>",
    };
    for (size_t m = 0; m < 3; m++) {
        const tsr_mesh *mesh = mesh_of(f, meshes[m]);
        int64_t c[3];
        int64_t place = 0;
        for (c[0] = 0; c[0] < 2; c[0]++) {
            for (c[1] = 0; c[1] < 3; c[1]++) {
                for (c[2] = 0; c[2] < 2; c[2]++, place++) {
                    int64_t back[3];
                    const int64_t device = tsr_mesh_device(mesh, c);
                    assert_int_equal(device, tsr_mesh_device_at(mesh, place));
                    assert_int_equal(tsr_mesh_place_of(mesh, device), place);
                    assert_true(tsr_mesh_coordinates(mesh, device, back));
                    assert_memory_equal(c, back, sizeof c);
                }
            }
        }
        assert_int_equal(tsr_mesh_device(mesh, (int64_t[]){0, 3, 0}), -1);
        assert_int_equal(tsr_mesh_device(mesh, (int64_t[]){-1, 0, 0}), -1);
        assert_int_equal(tsr_mesh_place_of(mesh, 12), -1);
        assert_int_equal(tsr_mesh_place_of(mesh, -1), -1);
    }
    const tsr_mesh *transposed = mesh_of(f, "<[\"a\"=4, \"b\"=2], device_ids<=[2, 4]T(1, 0)>");
    assert_int_equal(tsr_mesh_device(transposed, (int64_t[]){3, 1}), 7);
    assert_int_equal(tsr_mesh_device(transposed, (int64_t[]){1, 1}), 5);
}

static void a_huge_mesh_is_as_cheap_as_a_small_one(void **state)
{
    fixture *f = *state;
    const size_t before = tsr_arena_used(f->arena);
    const tsr_mesh *mesh =
        mesh_of(f, "<[\"x\"=1048576, \"y\"=1048576], device_ids<=[1048576, 1048576]T(1, 0)>");
    assert_true(tsr_arena_used(f->arena) - before < 4096);
    assert_int_equal(tsr_mesh_num_devices(mesh), INT64_C(1) << 40);
    assert_int_equal(tsr_mesh_device_at(mesh, 1), 1 << 20);
    assert_int_equal(tsr_mesh_place_of(mesh, 1), 1 << 20);
    assert_string_equal(mesh_text(f, mesh), "<[\"x\"=1048576, \"y\"=1048576], "
                                            "device_ids<=[1048576, 1048576]T(1, 0)>");
    const tsr_groups *groups;
    const tsr_axis_ref axis = axis_of(mesh, "y:(2)4");
    assert_int_equal(tsr_groups_create(f->ctx, f->arena, mesh, &axis, 1, &groups), TSR_OK);
    assert_int_equal(tsr_groups_count(groups), INT64_C(1) << 38);
    assert_int_equal(tsr_groups_size(groups), 4);
}

static void expect_groups(fixture *f, const tsr_mesh *mesh, size_t count, const char *const *axes,
                          const int64_t *wanted)
{
    tsr_axis_ref refs[4];
    for (size_t i = 0; i < count; i++) {
        refs[i] = axis_of(mesh, axes[i]);
    }
    const tsr_groups *groups;
    assert_int_equal(tsr_groups_create(f->ctx, f->arena, mesh, refs, count, &groups), TSR_OK);
    assert_int_equal(tsr_groups_count(groups) * tsr_groups_size(groups),
                     tsr_mesh_num_devices(mesh));
    for (int64_t g = 0; g < tsr_groups_count(groups); g++) {
        for (int64_t i = 0; i < tsr_groups_size(groups); i++) {
            const int64_t device = tsr_groups_device(groups, g, i);
            int64_t group;
            int64_t index;
            assert_int_equal(device, wanted[g * tsr_groups_size(groups) + i]);
            assert_true(tsr_groups_find(groups, device, &group, &index));
            assert_int_equal(group, g);
            assert_int_equal(index, i);
        }
    }
}

static void groups_follow_the_axes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=4]>");
    expect_groups(f, mesh, 1, (const char *[]){"y:(1)2"}, (int64_t[]){0, 2, 1, 3, 4, 6, 5, 7});
    expect_groups(f, mesh, 2, (const char *[]){"x", "y:(1)2"}, (int64_t[]){0, 2, 4, 6, 1, 3, 5, 7});
    expect_groups(f, mesh, 2, (const char *[]){"y", "x"}, (int64_t[]){0, 4, 1, 5, 2, 6, 3, 7});
    expect_groups(f, mesh, 0, NULL, (int64_t[]){0, 1, 2, 3, 4, 5, 6, 7});
    const tsr_mesh *ids = mesh_of(f, "<[\"x\"=2, \"y\"=2], device_ids=[3, 1, 0, 2]>");
    expect_groups(f, ids, 1, (const char *[]){"x"}, (int64_t[]){3, 0, 1, 2});
}

static void groups_refuse_bad_axes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=8, \"y\"=12]>");
    static const struct {
        tsr_axis_ref refs[2];
        const char *message;
    } cases[] = {
        {{{0, 1, 1, 4}, {0, 1, 2, 4}}, "overlapping sub-axes: \"x\":(1)4, \"x\":(2)4"},
        {{{0, 0, 1, 8}, {0, 0, 1, 8}}, "duplicate axis ref: \"x\""},
        {{{0, 0, 1, 8}, {0, 1, 2, 2}}, "both sub-axis and full-axis are used for axis name: \"x\""},
        {{{0, 1, 0, 2}, {1, 0, 1, 12}}, "sub-axis pre-size must be at least 1: \"x\":(0)2"},
        {{{0, 1, 2, 1}, {1, 0, 1, 12}}, "sub-axis sizes must be greater than 1: \"x\":(2)1"},
        {{{0, 1, 2, 3}, {1, 0, 1, 12}},
         "sub-axis next pre-size 6 doesn't divide the size of the full axis 8: \"x\":(2)3"},
        {{{0, 1, 1, 8}, {1, 0, 1, 12}}, "sub-axis size is equal to the full axis size: \"x\":(1)8"},
        {{{1, 1, 1, 2}, {1, 1, 3, 2}}, "sub-axes cannot coexist: \"y\":(1)2, \"y\":(3)2"},
        {{{7, 0, 1, 2}, {1, 0, 1, 12}}, "tsr_groups_create: 'axes' is axis 7 of a mesh that has 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_groups *groups;
        assert_int_equal(tsr_groups_create(f->ctx, f->arena, mesh, cases[i].refs, 2, &groups),
                         TSR_ERR_INVALID);
        expect_error(f, cases[i].message);
    }
}

static bool same_axis(fixture *f, const tsr_mesh *a, const char *axis_a, const tsr_mesh *b,
                      const char *axis_b)
{
    bool same = false;
    assert_int_equal(
        tsr_mesh_same_axis(f->ctx, a, axis_of(a, axis_a), b, axis_of(b, axis_b), &same), TSR_OK);
    return same;
}

static void axes_of_two_views_compare(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m0 = mesh_of(f, "<[\"a\"=4, \"b\"=2]>");
    const tsr_mesh *m1 = mesh_of(f, "<[\"x\"=2, \"y\"=2, \"z\"=2]>");
    assert_true(same_axis(f, m0, "b", m1, "z"));
    assert_true(same_axis(f, m0, "a:(1)2", m1, "x"));
    assert_true(same_axis(f, m0, "a:(2)2", m1, "y"));
    assert_false(same_axis(f, m0, "b", m1, "y"));
    assert_false(same_axis(f, m0, "a", m1, "x"));
    const tsr_mesh *t = mesh_of(f, "<[\"p\"=2, \"q\"=4], device_ids<=[4, 2]T(1, 0)>");
    assert_true(same_axis(f, t, "p", m0, "b"));
    assert_true(same_axis(f, t, "q", m0, "a"));
    const tsr_mesh *odd = mesh_of(f, "<[\"a\"=4, \"b\"=2], device_ids=[5, 1, 0, 4, 7, 6, 2, 3]>");
    const tsr_mesh *odd2 =
        mesh_of(f, "<[\"x\"=2, \"y\"=2, \"z\"=2], device_ids=[5, 1, 0, 4, 7, 6, 2, 3]>");
    const tsr_mesh *swapped =
        mesh_of(f, "<[\"z\"=2, \"xy\"=4], device_ids=[5, 0, 7, 2, 1, 4, 6, 3]>");
    const tsr_mesh *flipped =
        mesh_of(f, "<[\"f\"=4, \"g\"=2], device_ids=[1, 5, 4, 0, 6, 7, 3, 2]>");
    assert_true(same_axis(f, odd, "b", odd2, "z"));
    assert_false(same_axis(f, odd, "b", m0, "b"));
    assert_true(same_axis(f, odd, "b", swapped, "z"));
    assert_true(same_axis(f, odd, "a", swapped, "xy"));
    assert_false(same_axis(f, odd, "b", flipped, "g"));
    assert_true(same_axis(f, odd, "a", flipped, "f"));
    assert_true(tsr_mesh_same_view(odd, odd));
    assert_false(tsr_mesh_same_view(odd, m0));
    assert_false(tsr_mesh_same_view(m0, m1));
    assert_true(tsr_mesh_same_view(m0, mesh_of(f, "<[\"c\"=4, \"d\"=2]>")));
}

static void axes_as_strides(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=4, \"y\"=2], device_ids<=[2, 4]T(1, 0)>");
    tsr_stride pairs[4];
    size_t count;
    assert_int_equal(tsr_mesh_axis_strides(mesh, axis_of(mesh, "y"), 4, pairs, &count), TSR_OK);
    assert_int_equal(count, 1);
    assert_int_equal(pairs[0].size, 2);
    assert_int_equal(pairs[0].stride, 4);
    assert_int_equal(tsr_mesh_axis_strides(mesh, axis_of(mesh, "x:(1)2"), 4, pairs, &count),
                     TSR_OK);
    assert_int_equal(pairs[0].stride, 2);
    const tsr_mesh *listed = mesh_of(f, "<[\"x\"=4], device_ids=[3, 1, 0, 2]>");
    assert_int_equal(tsr_mesh_axis_strides(listed, axis_of(listed, "x"), 4, pairs, &count),
                     TSR_NOT_APPLICABLE);
    assert_int_equal(tsr_mesh_axis_strides(mesh, axis_of(mesh, "x"), 0, pairs, &count),
                     TSR_ERR_LIMIT);
}

static void tables_find_meshes_by_name(void **state)
{
    fixture *f = *state;
    tsr_mesh_table *table;
    assert_int_equal(tsr_mesh_table_create(f->ctx, f->arena, &table), TSR_OK);
    for (int i = 0; i < 20; i++) {
        char name[] = "mesh_?";
        name[5] = (char)('a' + i);
        const tsr_mesh *mesh;
        assert_int_equal(tsr_mesh_rename(f->ctx, f->arena, mesh_of(f, "<[\"x\"=2]>"), name, &mesh),
                         TSR_OK);
        assert_int_equal(tsr_mesh_table_add(f->ctx, table, mesh), TSR_OK);
        assert_ptr_equal(tsr_mesh_table_find(table, name, 6), mesh);
        assert_ptr_equal(tsr_mesh_table_at(table, (size_t)i), mesh);
    }
    assert_int_equal(tsr_mesh_table_count(table), 20);
    assert_null(tsr_mesh_table_find(table, "mesh", 4));
    assert_int_equal(tsr_mesh_table_add(f->ctx, table, tsr_mesh_table_at(table, 3)),
                     TSR_ERR_INVALID);
    expect_error(f, "redefinition of symbol named 'mesh_d'");
    assert_int_equal(tsr_mesh_table_add(f->ctx, table, mesh_of(f, "<[\"x\"=2]>")), TSR_ERR_INVALID);
    expect_error(f, "a mesh in a table needs a name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_is_canonical),
        TEST(every_rule_has_its_message),
        TEST(failures_in_lists_are_followed_up),
        TEST(the_program_reading_is_strict),
        TEST(a_slice_is_read_in_place),
        TEST(kinds_of_meshes),
        TEST(coordinates_and_back),
        TEST(a_huge_mesh_is_as_cheap_as_a_small_one),
        TEST(groups_follow_the_axes),
        TEST(groups_refuse_bad_axes),
        TEST(axes_of_two_views_compare),
        TEST(axes_as_strides),
        TEST(tables_find_meshes_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
