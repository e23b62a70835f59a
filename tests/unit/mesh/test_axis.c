/* The algebra of axes and sub-axes, with the examples of the specification. */
#include <string.h>

#include "support.h"

enum { MOST = 16 };

/* A list of axes from texts, ended by NULL. */
static tsr_axis_list list_of(const tsr_mesh *mesh, tsr_axis_ref *room, const char *const *texts)
{
    tsr_axis_list list = {.refs = room, .capacity = MOST};
    for (; texts != NULL && texts[list.count] != NULL; list.count++) {
        room[list.count] = axis_of(mesh, texts[list.count]);
    }
    return list;
}

#define LIST(mesh, ...) list_of((mesh), (tsr_axis_ref[MOST]){{0}}, (const char *[]){__VA_ARGS__})

static void expect_list(fixture *f, const tsr_mesh *mesh, const tsr_axis_list *list,
                        const char *wanted)
{
    const char *text;
    assert_int_equal(tsr_axes_print(f->ctx, f->arena, mesh, list->refs, list->count, &text),
                     TSR_OK);
    assert_string_equal(text, wanted);
}

static const tsr_mesh *mesh_x(fixture *f, int64_t size)
{
    const char *name = "x";
    const tsr_mesh_spec spec = {.num_axes = 1, .axis_names = &name, .axis_sizes = &size};
    const tsr_mesh *mesh = NULL;
    assert_int_equal(tsr_mesh_create(f->ctx, f->arena, &spec, &mesh), TSR_OK);
    return mesh;
}

static void order(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"b\"=8, \"a\"=8]>");
    const char *const ascending[] = {"b", "a:(1)2", "a:(1)4", "a", "a:(2)2", "a:(2)4"};
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < 6; j++) {
            const int order =
                tsr_axis_compare(axis_of(mesh, ascending[i]), axis_of(mesh, ascending[j]));
            assert_true(i < j ? order < 0 : i > j ? order > 0 : order == 0);
        }
    }
    assert_true(tsr_axis_compare_plain(mesh, axis_of(mesh, "b"), axis_of(mesh, "a")) > 0);
    tsr_axis_list shorter = LIST(mesh, "b", NULL);
    tsr_axis_list longer = LIST(mesh, "a:(1)2", "a:(4)2", NULL);
    tsr_axis_list other = LIST(mesh, "a:(1)2", "b", NULL);
    assert_true(tsr_axes_compare(mesh, shorter.refs, 1, longer.refs, 2) < 0);
    assert_true(tsr_axes_compare(mesh, longer.refs, 2, other.refs, 2) < 0);
    assert_true(tsr_axes_compare(mesh, other.refs, 2, other.refs, 2) == 0);
}

static void containment(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, "<[\"x\"=8, \"y\"=8]>");
#define AXIS(text) axis_of(m, text)
    assert_true(tsr_axis_contains(AXIS("x"), AXIS("x:(2)4")));
    assert_true(tsr_axis_contains(AXIS("x:(1)4"), AXIS("x:(2)2")));
    assert_false(tsr_axis_contains(AXIS("x:(1)4"), AXIS("x:(2)4")));
    assert_false(tsr_axis_contains(AXIS("x:(1)4"), AXIS("x")));
    assert_false(tsr_axis_contains(AXIS("x"), AXIS("y")));
    assert_true(tsr_axis_is_prefix(AXIS("x:(1)2"), AXIS("x")));
    assert_true(tsr_axis_is_prefix(AXIS("x:(2)2"), AXIS("x:(2)4")));
    assert_false(tsr_axis_is_prefix(AXIS("x:(1)4"), AXIS("x:(1)2")));
    assert_true(tsr_axis_is_prefix(AXIS("x"), AXIS("x")));
    assert_true(tsr_axis_is_suffix(AXIS("x:(2)4"), AXIS("x")));
    assert_false(tsr_axis_is_suffix(AXIS("x:(1)4"), AXIS("x")));
    assert_true(tsr_axis_overlaps(AXIS("x:(1)4"), AXIS("x:(2)4")));
    assert_false(tsr_axis_overlaps(AXIS("x:(1)4"), AXIS("x:(4)2")));
    assert_true(tsr_axis_overlaps(AXIS("x"), AXIS("x:(4)2")));
    assert_false(tsr_axis_overlaps(AXIS("x"), AXIS("y")));
#undef AXIS
}

static void coexistence(void **state)
{
    (void)state;
    static const struct {
        int64_t pre_a, size_a, pre_b, size_b;
        bool can;
    } cases[] = {{1, 2, 6, 2, true}, {1, 2, 3, 2, false}, {1, 3, 2, 3, false}, {2, 3, 3, 2, false},
                 {1, 4, 2, 4, true}, {1, 2, 1, 4, true},  {1, 2, 1, 3, false}, {2, 2, 4, 2, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_axis_ref a = tsr_axis_sub(0, cases[i].pre_a, cases[i].size_a);
        const tsr_axis_ref b = tsr_axis_sub(0, cases[i].pre_b, cases[i].size_b);
        assert_int_equal(tsr_axis_can_coexist(a, b), cases[i].can);
        assert_int_equal(tsr_axis_can_coexist(b, a), cases[i].can);
    }
    assert_true(tsr_axis_can_coexist(tsr_axis_sub(0, 1, 2), tsr_axis_sub(1, 1, 3)));
}

typedef bool (*binary)(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out);

/* `wanted` NULL: there is none. */
static void expect_binary(const tsr_mesh *mesh, binary function, const char *a, const char *b,
                          const char *wanted)
{
    tsr_axis_ref out;
    const bool any = function(axis_of(mesh, a), axis_of(mesh, b), &out);
    assert_int_equal(any, wanted != NULL);
    if (wanted != NULL) {
        assert_true(tsr_axis_equal(out, axis_of(mesh, wanted)));
    }
}

static void parts_of_one_against_another(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m8 = mesh_x(f, 8);
    const tsr_mesh *m16 = mesh_x(f, 16);
    expect_binary(m8, tsr_axis_overlap, "x:(1)4", "x:(2)4", "x:(2)2");
    expect_binary(m16, tsr_axis_overlap, "x:(4)4", "x:(2)4", "x:(4)2");
    expect_binary(m8, tsr_axis_overlap, "x", "x:(2)4", "x:(2)4");
    expect_binary(m8, tsr_axis_overlap, "x", "x", "x");
    expect_binary(m8, tsr_axis_overlap, "x:(1)4", "x:(4)2", NULL);
    expect_binary(mesh_x(f, 6), tsr_axis_overlap, "x:(1)3", "x:(2)3", NULL);
    expect_binary(m8, tsr_axis_prefix_without, "x", "x:(2)4", "x:(1)2");
    expect_binary(m16, tsr_axis_prefix_without, "x:(2)8", "x:(4)2", "x:(2)2");
    expect_binary(m8, tsr_axis_prefix_without, "x:(2)4", "x:(1)4", NULL);
    expect_binary(m8, tsr_axis_prefix_without, "x:(1)2", "x:(4)2", "x:(1)2");
    expect_binary(m16, tsr_axis_suffix_without, "x", "x:(2)4", "x:(8)2");
    expect_binary(m16, tsr_axis_suffix_without, "x:(2)4", "x:(1)4", "x:(4)2");
    expect_binary(m16, tsr_axis_suffix_without, "x:(2)8", "x:(4)2", "x:(8)2");
    expect_binary(m16, tsr_axis_suffix_without, "x:(2)4", "x", NULL);
    expect_binary(m16, tsr_axis_common_prefix, "x:(2)8", "x:(2)4", "x:(2)4");
    expect_binary(m8, tsr_axis_common_prefix, "x:(1)2", "x:(2)4", NULL);
    expect_binary(m8, tsr_axis_common_prefix, "x:(1)2", "x", "x:(1)2");
}

static void merging_and_splitting(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_x(f, 16);
    tsr_axis_ref out;
    assert_true(tsr_axis_merge(m, axis_of(m, "x:(1)8"), axis_of(m, "x:(8)2"), &out));
    assert_true(tsr_axis_equal(out, axis_of(m, "x")));
    assert_true(tsr_axis_merge(m, axis_of(m, "x:(2)2"), axis_of(m, "x:(4)4"), &out));
    assert_true(tsr_axis_equal(out, axis_of(m, "x:(2)8")));
    assert_false(tsr_axis_merge(m, axis_of(m, "x:(4)2"), axis_of(m, "x:(2)2"), &out));
    assert_false(tsr_axis_can_merge(axis_of(m, "x"), axis_of(m, "x:(2)2")));
    tsr_axis_ref major;
    tsr_axis_ref minor;
    assert_true(tsr_axis_split(axis_of(m, "x"), 4, &major, &minor));
    assert_true(tsr_axis_equal(major, axis_of(m, "x:(1)4")));
    assert_true(tsr_axis_equal(minor, axis_of(m, "x:(4)4")));
    assert_true(tsr_axis_split(axis_of(m, "x:(2)8"), 2, &major, &minor));
    assert_true(tsr_axis_equal(minor, axis_of(m, "x:(4)4")));
    assert_false(tsr_axis_split(axis_of(m, "x"), 3, &major, &minor));
    assert_false(tsr_axis_split(axis_of(m, "x"), 16, &major, &minor));
    assert_false(tsr_axis_split(axis_of(m, "x"), 1, &major, &minor));
}

static void lists_sort_and_merge(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, "<[\"a\"=8, \"b\"=8, \"c\"=8, \"d\"=8]>");
    tsr_axis_list list =
        LIST(m, "a:(1)2", "b:(4)2", "a:(4)2", "b:(1)2", "b:(2)2", "d:(4)2", "d:(2)2", NULL);
    tsr_axes_sort_and_merge(m, &list);
    expect_list(f, m, &list, "\"a\":(1)2, \"a\":(4)2, \"b\", \"d\":(2)4");
    list.count = 0;
    list.capacity = 1;
    assert_int_equal(tsr_axes_add(m, &list, axis_of(m, "a:(1)2")), TSR_OK);
    assert_int_equal(tsr_axes_add(m, &list, axis_of(m, "a:(2)4")), TSR_OK);
    expect_list(f, m, &list, "\"a\"");
    assert_int_equal(tsr_axes_add(m, &list, axis_of(m, "b")), TSR_ERR_LIMIT);
    assert_int_equal(tsr_axes_size(list.refs, list.count), 8);
}

static void lists_without_others(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, "<[\"a\"=8, \"b\"=8]>");
    static const struct {
        const char *a[4];
        const char *b[4];
        const char *left;
        const char *truncated;
    } cases[] = {
        {{"b:(1)2", "a"},
         {"a:(2)2", "b:(2)2"},
         "\"b\":(1)2, \"a\":(1)2, \"a\":(4)2",
         "\"b\":(1)2, \"a\":(1)2"},
        {{"a:(2)4"}, {"a:(1)4"}, "\"a\":(4)2", ""},
        {{"a"}, {"a:(1)2", "a:(4)2"}, "\"a\":(2)2", ""},
        {{"a", "b"}, {"b:(4)2"}, "\"a\", \"b\":(1)4", "\"a\", \"b\":(1)4"},
        {{"a", "b"}, {"a"}, "\"b\"", ""},
        {{"a", "b"}, {0}, "\"a\", \"b\"", "\"a\", \"b\""},
        {{0}, {"a"}, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_axis_ref room_a[MOST];
        tsr_axis_ref room_b[MOST];
        tsr_axis_ref room_out[MOST];
        tsr_axis_list a = list_of(m, room_a, cases[i].a);
        const tsr_axis_list b = list_of(m, room_b, cases[i].b);
        tsr_axis_list out = {.refs = room_out, .capacity = MOST};
        assert_int_equal(tsr_axes_difference(a.refs, a.count, b.refs, b.count, &out), TSR_OK);
        expect_list(f, m, &out, cases[i].left);
        tsr_axes_truncate(&a, b.refs, b.count);
        expect_list(f, m, &a, cases[i].truncated);
    }
    tsr_axis_ref one[1];
    tsr_axis_list small = {.refs = one, .capacity = 1};
    const tsr_axis_ref whole = axis_of(m, "a");
    const tsr_axis_ref middle = axis_of(m, "a:(2)2");
    assert_int_equal(tsr_axes_difference(&whole, 1, &middle, 1, &small), TSR_ERR_LIMIT);
}

static void prefixes_of_lists(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, "<[\"a\"=8, \"b\"=8]>");
    tsr_axis_list ab = LIST(m, "a", "b", NULL);
    tsr_axis_list a_half = LIST(m, "a", "b:(1)2", NULL);
    tsr_axis_list a = LIST(m, "a", NULL);
    tsr_axis_list part = LIST(m, "a:(1)4", NULL);
    assert_true(tsr_axes_is_strict_prefix(a_half.refs, 2, ab.refs, 2));
    assert_true(tsr_axes_is_strict_prefix(a.refs, 1, ab.refs, 2));
    assert_true(tsr_axes_is_strict_prefix(part.refs, 1, ab.refs, 2));
    assert_true(tsr_axes_is_strict_prefix(NULL, 0, ab.refs, 2));
    assert_false(tsr_axes_is_strict_prefix(ab.refs, 2, ab.refs, 2));
    assert_false(tsr_axes_is_strict_prefix(ab.refs, 2, a.refs, 1));
    assert_false(tsr_axes_is_strict_prefix(NULL, 0, NULL, 0));
    tsr_axis_ref room[MOST];
    tsr_axis_list out = {.refs = room, .capacity = MOST};
    assert_int_equal(tsr_axes_common_prefix(ab.refs, 2, a_half.refs, 2, &out), TSR_OK);
    expect_list(f, m, &out, "\"a\", \"b\":(1)2");
    assert_int_equal(tsr_axes_common_prefix(ab.refs, 2, part.refs, 1, &out), TSR_OK);
    expect_list(f, m, &out, "\"a\":(1)4");
    tsr_axis_list b = LIST(m, "b", NULL);
    assert_int_equal(tsr_axes_common_prefix(ab.refs, 2, b.refs, 1, &out), TSR_OK);
    expect_list(f, m, &out, "");
}

static void the_mesh_cut_where_axes_begin_and_end(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, "<[\"x\"=2, \"y\"=16, \"z\"=4]>");
    tsr_axis_ref room[MOST];
    tsr_axis_list out = {.refs = room, .capacity = MOST};
    const tsr_axis_ref cut = axis_of(m, "y:(2)2");
    assert_int_equal(tsr_axes_of_mesh(m, &cut, 1, &out), TSR_OK);
    expect_list(f, m, &out, "\"x\", \"y\":(1)2, \"y\":(2)2, \"y\":(4)4, \"z\"");
    assert_int_equal(tsr_axes_of_mesh(m, NULL, 0, &out), TSR_OK);
    expect_list(f, m, &out, "\"x\", \"y\", \"z\"");
    out.capacity = 3;
    assert_int_equal(tsr_axes_of_mesh(m, &cut, 1, &out), TSR_ERR_LIMIT);
    const tsr_mesh *m12 = mesh_x(f, 12);
    const tsr_axis_ref apart[] = {tsr_axis_sub(0, 1, 2), tsr_axis_sub(0, 3, 2)};
    out.capacity = MOST;
    assert_int_equal(tsr_axes_of_mesh(m12, apart, 2, &out), TSR_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(order),
        TEST(containment),
        TEST(coexistence),
        TEST(parts_of_one_against_another),
        TEST(merging_and_splitting),
        TEST(lists_sort_and_merge),
        TEST(lists_without_others),
        TEST(prefixes_of_lists),
        TEST(the_mesh_cut_where_axes_begin_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
