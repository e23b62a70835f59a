/* Walks over a rank's part: boxes of contiguous rows, and elements in row-major order. */
#include "support.h"

#include "rt/box_walk.h"

typedef struct expected_box {
    int64_t start[2];
    int64_t size[2];
    int64_t offset[2];
} expected_box;

static void expect_boxes(const tsr_geometry *g, int64_t device, const expected_box *boxes,
                         size_t count)
{
    box_walk w;
    size_t found = 0;
    for (bool more = box_walk_first(&w, g, device, false); more; more = box_walk_next(&w)) {
        assert_true(found < count);
        assert_memory_equal(w.start, boxes[found].start, g->rank * sizeof(int64_t));
        assert_memory_equal(w.size, boxes[found].size, g->rank * sizeof(int64_t));
        assert_memory_equal(w.offset, boxes[found].offset, g->rank * sizeof(int64_t));
        found++;
    }
    assert_int_equal(found, count);
}

static void even_chunks_are_one_box(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {5, 6};
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=4]>");
    const tsr_geometry *g = geometry_of(f, sharding_of(f, mesh, "[{\"x\"}, {}]"), 2, shape);
    expect_boxes(g, 1, &(expected_box){{2, 0}, {2, 6}, {0, 0}}, 1);
    expect_boxes(g, 2, &(expected_box){{4, 0}, {1, 6}, {0, 0}}, 1);
    expect_boxes(g, 3, NULL, 0);
}

static void a_scalar_is_one_box(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    expect_boxes(geometry_of(f, sharding_of(f, mesh, "[]"), 0, NULL), 1, &(expected_box){0}, 1);
}

static void slices_of_partitions_are_boxes(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {4, 9};
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    const tsr_sharding *s = sharding_of(f, mesh, "[{}, {\"x\"}:partitioned[[2, 3], [1, 3]]]");
    const expected_box boxes[] = {{{0, 2}, {4, 1}, {0, 0}}, {{0, 6}, {4, 3}, {0, 1}}};
    expect_boxes(geometry_of(f, s, 2, shape), 1, boxes, 2);
}

static void padding_separates_partitions(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {9};
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=1]>");
    const tsr_sharding *s =
        sharding_of(f, mesh, "[{\"x\"}:partitioned[[3, 0, 6]](aligned, align=4)]");
    const expected_box boxes[] = {{{0}, {3}, {0}}, {{3}, {6}, {4}}};
    expect_boxes(geometry_of(f, s, 1, shape), 0, boxes, 2);
}

/* By element, the walk visits each element of the boxes once, in row-major order. */
static void elements_are_in_order(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {4, 9};
    const int64_t strides[] = {40, 8};
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    const tsr_sharding *s = sharding_of(f, mesh, "[{}, {\"x\"}:partitioned[[2, 3], [1, 3]]]");
    const int64_t columns[] = {0, 1, 3, 4, 5};
    int64_t found = 0;
    box_walk w;
    for (bool more = box_walk_first(&w, geometry_of(f, s, 2, shape), 0, true); more;
         more = box_walk_next(&w)) {
        assert_int_equal(w.start[0], found / 5);
        assert_int_equal(w.start[1], columns[found % 5]);
        assert_int_equal(w.size[0], 1);
        assert_int_equal(w.size[1], 1);
        assert_int_equal(box_walk_offset(&w, strides), 8 * found);
        found++;
    }
    assert_int_equal(found, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(even_chunks_are_one_box),        TEST(a_scalar_is_one_box),
        TEST(slices_of_partitions_are_boxes), TEST(padding_separates_partitions),
        TEST(elements_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
