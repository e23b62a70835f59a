/* Pictures of small cases, drawn by hand; what is left out of large ones; errors. */
#include <stdio.h>
#include <string.h>

#include "support.h"

#define SHAPE(...)                                                                                 \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const tsr_geometry *laid(fixture *f, const char *mesh, const char *sharding, size_t rank,
                                const int64_t *shape)
{
    return geometry_of(f, sharding_of(f, mesh_of(f, mesh), sharding), rank, shape);
}

static const char *text_of(fixture *f, const tsr_geometry *g, const tsr_picture_style *style)
{
    const char *text = NULL;
    assert_int_equal(tsr_picture_text(f->ctx, f->arena, g, style, &text), TSR_OK);
    assert_null(tsr_context_diagnostics(f->ctx));
    return text;
}

static const char *svg_of(fixture *f, const tsr_geometry *g, size_t count,
                          const char *const *titles)
{
    const char *text = NULL;
    assert_int_equal(tsr_picture_svg(f->ctx, f->arena, g, titles, count, &text), TSR_OK);
    return text;
}

static const char *table_of(fixture *f, const tsr_geometry *g, int64_t first, int64_t end)
{
    const char *text = NULL;
    assert_int_equal(tsr_picture_table(f->ctx, f->arena, g, first, end, &text), TSR_OK);
    return text;
}

static void expect_picture(fixture *f, const char *mesh, const char *sharding, size_t rank,
                           const int64_t *shape, const char *wanted)
{
    assert_string_equal(text_of(f, laid(f, mesh, sharding, rank, shape), NULL), wanted);
}

static size_t count_of(const char *text, const char *part)
{
    const size_t length = strlen(part);
    size_t count = 0;
    for (size_t at = 0; text[at] != '\0'; at++) {
        count += strncmp(text + at, part, length) == 0;
    }
    return count;
}

static void uneven_rows_and_idle_devices(void **state)
{
    expect_picture(*state, "<[\"x\"=2, \"y\"=4]>", "[{\"y\"}, {\"x\"}]", 2, SHAPE(5, 8),
                   "       0:4     4:8\n"
                   "    +-------+-------+\n"
                   "0:2 |   0   |   4   |\n"
                   "    +-------+-------+\n"
                   "2:4 |   1   |   5   |\n"
                   "    +-------+-------+\n"
                   "4:5 |   2   |   6   |\n"
                   "    +-------+-------+\n"
                   "\n"
                   "devices 3,7 hold nothing\n");
    expect_picture(*state, "<[\"x\"=4]>", "[{\"x\"}]", 1, SHAPE(7),
                   "   0:2     2:4     4:6     6:7\n"
                   "+-------+-------+-------+-------+\n"
                   "|   0   |   1   |   2   |   3   |\n"
                   "+-------+-------+-------+-------+\n");
    expect_picture(*state, "<[\"x\"=3]>", "[{\"x\"}]", 1, SHAPE(2),
                   "   0:1     1:2\n"
                   "+-------+-------+\n"
                   "|   0   |   1   |\n"
                   "+-------+-------+\n"
                   "\n"
                   "device 2 holds nothing\n");
}

static void small_tensors(void **state)
{
    expect_picture(*state, "<[\"x\"=2]>", "[]", 0, NULL,
                   "+-------+\n"
                   "|  0-1  |\n"
                   "+-------+\n");
    expect_picture(*state, "<[\"x\"=3]>", "[{}]", 1, SHAPE(1),
                   "   0:1\n"
                   "+-------+\n"
                   "|  0-2  |\n"
                   "+-------+\n");
    expect_picture(*state, "<[\"x\"=2]>", "[{\"x\"}, {}]", 2, SHAPE(0, 3), "no elements\n");
    expect_picture(*state, "<[], device_ids=[7]>", "[]", 2, SHAPE(3, 4),
                   "       0:4\n"
                   "    +-------+\n"
                   "0:3 |   7   |\n"
                   "    +-------+\n");
    expect_picture(*state, "<[]>", "[{}]", 1, SHAPE(3),
                   "   0:3\n"
                   "+-------+\n"
                   "|  all  |\n"
                   "+-------+\n");
}

static void devices_of_a_cell(void **state)
{
    expect_picture(*state, "<[\"x\"=2, \"y\"=2]>", "[{\"y\"}]", 1, SHAPE(2),
                   "   0:1     1:2\n"
                   "+-------+-------+\n"
                   "|  0,2  |  1,3  |\n"
                   "+-------+-------+\n");
    expect_picture(*state, "<[\"x\"=3, \"y\"=2]>", "[{\"y\"}]", 1, SHAPE(2),
                   "   0:1     1:2\n"
                   "+-------+-------+\n"
                   "| 0-4:2 | 1-5:2 |\n"
                   "+-------+-------+\n");
    expect_picture(*state, "<[\"x\"=2, \"y\"=3], device_ids=[5, 0, 4, 1, 3, 2]>", "[{\"x\"}]", 1,
                   SHAPE(2),
                   "   0:1     1:2\n"
                   "+-------+-------+\n"
                   "| 0,4-5 |  1-3  |\n"
                   "+-------+-------+\n");
}

static void slices_of_leading_dimensions(void **state)
{
    expect_picture(*state, "<[\"x\"=2, \"y\"=3]>", "[{\"y\"}, {}, {\"x\"}]", 3, SHAPE(7, 3, 5),
                   "[0:3, :, :]\n"
                   "       0:3     3:5\n"
                   "    +-------+-------+\n"
                   "0:3 |   0   |   3   |\n"
                   "    +-------+-------+\n"
                   "\n"
                   "[3:6, :, :]\n"
                   "       0:3     3:5\n"
                   "    +-------+-------+\n"
                   "0:3 |   1   |   4   |\n"
                   "    +-------+-------+\n"
                   "\n"
                   "[6:7, :, :]\n"
                   "       0:3     3:5\n"
                   "    +-------+-------+\n"
                   "0:3 |   2   |   5   |\n"
                   "    +-------+-------+\n");
}

static void ragged_dimensions(void **state)
{
    fixture *f = *state;
    const tsr_geometry *g =
        laid(f, "<[\"x\"=2]>", "[{\"x\"}:partitioned[[1, 3], [2, 2]], {}]", 2, SHAPE(8, 2));
    assert_string_equal(text_of(f, g, NULL), "       0:2\n"
                                             "    +-------+\n"
                                             "0:1 |   0   |\n"
                                             "    +-------+\n"
                                             "1:3 |   1   |\n"
                                             "    +-------+\n"
                                             "3:6 |   0   |\n"
                                             "    +-------+\n"
                                             "6:8 |   1   |\n"
                                             "    +-------+\n");
    assert_string_equal(table_of(f, g, 0, 2), "device 0      [0:1+3:6, 0:2]\n"
                                              "device 1      [1:3+6:8, 0:2]\n");
    expect_picture(f, "<[\"x\"=3]>", "[{\"x\"}:dynamic[5, 0, 2]]", 1, SHAPE(7),
                   "   0:5     5:7\n"
                   "+-------+-------+\n"
                   "|   0   |   2   |\n"
                   "+-------+-------+\n"
                   "\n"
                   "device 1 holds nothing\n");
    expect_picture(f, "<[\"x\"=2]>", "[{\"x\"}:partitioned[[1, 2, 0], [3, 0, 4]](aligned)]", 1,
                   SHAPE(10),
                   "   0:4    4:10\n"
                   "+-------+-------+\n"
                   "|   0   |   1   |\n"
                   "+-------+-------+\n");
}

static void box_characters_and_colours(void **state)
{
    fixture *f = *state;
    const tsr_geometry *g = laid(f, "<[\"x\"=2]>", "[{\"x\"}]", 1, SHAPE(4));
    assert_string_equal(text_of(f, g, &(tsr_picture_style){.unicode = true}),
                        "   0:2     2:4\n"
                        "┌───────┬───────┐\n"
                        "│   0   │   1   │\n"
                        "└───────┴───────┘\n");
    assert_string_equal(text_of(f, g, &(tsr_picture_style){.colour = true}),
                        "   0:2     2:4\n"
                        "+-------+-------+\n"
                        "|\033[38;5;16;48;5;153m   0   \033[0m|"
                        "\033[38;5;16;48;5;223m   1   \033[0m|\n"
                        "+-------+-------+\n");
}

/* The longest line, in characters of ASCII. */
static size_t widest_line(const char *text)
{
    size_t widest = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        widest = length > widest ? length : widest;
        text += length + (text[length] == '\n');
    }
    return widest;
}

static void large_meshes_are_cut_short(void **state)
{
    fixture *f = *state;
    const int64_t huge = INT64_C(1) << 20;
    const tsr_geometry *g =
        laid(f, "<[\"x\"=1048576, \"y\"=1048576]>", "[{\"x\"}, {\"y\"}]", 2, SHAPE(huge, huge));
    const char *text = text_of(f, g, NULL);
    assert_true(widest_line(text) <= 80);
    assert_true(strlen(text) < 4096);
    assert_non_null(strstr(text, "1048575:1048576"));
    assert_true(strlen(svg_of(f, g, 0, NULL)) < 65536);
    assert_string_equal(table_of(f, g, huge * huge - 1, huge * huge),
                        "device 1099511627775 [1048575:1048576, 1048575:1048576]\n");
    text = text_of(f, laid(f, "<[\"x\"=7]>", "[{\"x\"}, {}, {}]", 3, SHAPE(7, 1, 1)), NULL);
    assert_int_equal(count_of(text, ", :, :]\n"), 4);
    assert_non_null(strstr(text, "\n... and 3 more slices\n"));
    text = text_of(f, laid(f, "<[\"x\"=131072]>", "[{\"x\"}]", 1, SHAPE(65537)), NULL);
    assert_non_null(strstr(text, "\n65535 devices hold nothing\n"));
}

static void tables_of_places(void **state)
{
    fixture *f = *state;
    const tsr_geometry *g = laid(f, "<[\"x\"=3], device_ids=[2, 0, 1]>", "[{\"x\"}]", 1, SHAPE(2));
    assert_string_equal(table_of(f, g, 0, 3), "device 2      [0:1]\n"
                                              "device 0      [1:2]\n"
                                              "device 1      [none]\n");
    assert_string_equal(table_of(f, g, 1, 2), "device 0      [1:2]\n");
    assert_string_equal(table_of(f, g, 3, 3), "");
    assert_string_equal(table_of(f, laid(f, "<[\"x\"=1]>", "[]", 0, NULL), 0, 1),
                        "device 0      []\n");
    const char *text = NULL;
    const int64_t wrong[][2] = {{-1, 1}, {2, 1}, {0, 4}, {INT64_MIN, INT64_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tsr_picture_table(f->ctx, f->arena, g, wrong[i][0], wrong[i][1], &text),
                         TSR_ERR_INVALID);
        expect_message(f, "which has 3 devices: give 0 <= first <= end <= 3");
    }
    assert_null(text);
}

static void svg_documents(void **state)
{
    fixture *f = *state;
    const tsr_geometry *g = laid(f, "<[\"x\"=2, \"y\"=3]>", "[{\"y\"}, {\"x\"}]", 2, SHAPE(5, 7));
    const char *const titles[] = {"<a & b>", "caf\xC3\xA9 \xFF\n", ""};
    const char *svg = svg_of(f, g, 3, titles);
    assert_int_equal(strncmp(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ", 44), 0);
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    assert_non_null(strstr(svg, ">&lt;a &amp; b&gt;</text>"));
    assert_non_null(strstr(svg, ">caf\xC3\xA9 &#xFFFD;&#xFFFD;</text>"));
    assert_non_null(strstr(svg, ">[0:2, 4:7]: device 3</text>"));
    assert_int_equal(count_of(svg, "class=\"cell\""), 12);
    assert_int_equal(count_of(svg, "<text"), count_of(svg, "</text>"));
    assert_string_equal(svg, svg_of(f, g, 3, titles));
    svg = svg_of(f, laid(f, "<[\"x\"=2]>", "[{\"x\"}]", 1, SHAPE(0)), 0, NULL);
    assert_non_null(strstr(svg, ">no elements</text>"));
}

static void long_titles_are_cut(void **state)
{
    fixture *f = *state;
    char title[401] = "";
    for (size_t i = 0; i < 200; i++) {
        strcat(title, "\xC3\xA9");
    }
    const char *const titles[] = {title};
    const tsr_geometry *g = laid(f, "<[\"x\"=2]>", "[{\"x\"}]", 1, SHAPE(4));
    const char *svg = svg_of(f, g, 1, titles);
    assert_int_equal(count_of(svg, "\xC3\xA9"), 99);
    assert_int_equal(count_of(svg, "\xC3\xA9…</text>"), 1);
}

static void a_title_that_is_null(void **state)
{
    fixture *f = *state;
    const tsr_geometry *g = laid(f, "<[\"x\"=2]>", "[{\"x\"}]", 1, SHAPE(4));
    const char *const titles[] = {"one", NULL};
    const char *svg = NULL;
    assert_int_equal(tsr_picture_svg(f->ctx, f->arena, g, titles, 2, &svg), TSR_ERR_INVALID);
    expect_error(f, "tsr_picture_svg: 'titles[1]' is NULL, which its prototype does not allow");
    assert_null(svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(uneven_rows_and_idle_devices),
        TEST(small_tensors),
        TEST(devices_of_a_cell),
        TEST(slices_of_leading_dimensions),
        TEST(ragged_dimensions),
        TEST(box_characters_and_colours),
        TEST(large_meshes_are_cut_short),
        TEST(tables_of_places),
        TEST(svg_documents),
        TEST(long_titles_are_cut),
        TEST(a_title_that_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
