/* Copies of strided boxes against a naive copy, and loop nests. */
#include <stdlib.h>
#include <string.h>

#include "random.h"

#include "kernel/copy.h"
#include "kernel/loops.h"

enum { MAX_RANK = 6, GUARD = 0xa5, MARGIN = 128, MAX_ITEMS = 40000, MAX_BOXES = 40 };

/* An array with room around it, some of it between its items. */
typedef struct array {
    unsigned char *memory;
    size_t size;
    int64_t strides[MAX_RANK];
    int64_t start; /* of the item with all indices 0 */
} array;

typedef struct box {
    size_t rank;
    size_t item;
    int64_t shape[MAX_RANK];
} box;

static int64_t box_items(const box *b)
{
    int64_t items = 1;
    for (size_t d = 0; d < b->rank; d++) {
        items *= b->shape[d];
    }
    return items;
}

static box random_box(rng *r)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 13};
    static const size_t items[] = {1, 2, 4, 8, 16, 3, 5, 12, 24};
    box b;
    do {
        b = (box){.rank = (size_t)rng_below(r, MAX_RANK + 1),
                  .item = items[rng_below(r, sizeof items / sizeof items[0])]};
        for (size_t d = 0; d < b.rank; d++) {
            b.shape[d] = sizes[rng_chance(r, 3) ? 0 : 1 + rng_below(r, 6)];
        }
    } while (box_items(&b) > MAX_ITEMS);
    return b;
}

/* Random strides such that no items overlap: dimensions in any order, gaps, either direction. */
static array random_array(rng *r, const box *b)
{
    size_t order[MAX_RANK];
    array a = {.start = MARGIN + rng_below(r, MARGIN / 2)};
    int64_t extent = (int64_t)b->item;
    const bool shuffled = rng_chance(r, 40);
    for (size_t i = 0; i < b->rank; i++) {
        const size_t j = shuffled ? (size_t)rng_below(r, (int64_t)i + 1) : i;
        order[i] = order[j];
        order[j] = b->rank - 1 - i;
    }
    for (size_t i = 0; i < b->rank; i++) {
        const size_t d = order[i];
        const int64_t size = b->shape[d] > 0 ? b->shape[d] : 1;
        const int64_t stride = extent + (rng_chance(r, 30) ? 1 + rng_below(r, 20) : 0);
        const bool backwards = rng_chance(r, 20);
        a.strides[d] = size == 1 ? rng_below(r, 1000) - 500 : backwards ? -stride : stride;
        a.start += size > 1 && backwards ? (size - 1) * stride : 0;
        extent = (size - 1) * stride + extent;
    }
    a.size = (size_t)extent + 3 * (size_t)MARGIN;
    a.memory = malloc(a.size);
    assert_non_null(a.memory);
    return a;
}

/* The offset of the index-th item in the order of the dimensions. */
static int64_t offset_of(const array *a, const box *b, int64_t index)
{
    int64_t offset = a->start;
    for (size_t d = b->rank; d-- > 0;) {
        offset += index % b->shape[d] * a->strides[d];
        index /= b->shape[d];
    }
    return offset;
}

static void naive_copy(unsigned char *dst, const array *d, const array *s, const box *b)
{
    for (int64_t i = 0; i < box_items(b); i++) {
        for (size_t byte = 0; byte < b->item; byte++) {
            dst[offset_of(d, b, i) + (int64_t)byte] = s->memory[offset_of(s, b, i) + (int64_t)byte];
        }
    }
}

static void fill(rng *r, array *a)
{
    for (size_t i = 0; i < a->size; i++) {
        a->memory[i] = (unsigned char)rng_below(r, 256);
    }
}

static void boxes_are_copied_and_nothing_else(void **state)
{
    (void)state;
    const rng start = rng_start("boxes_are_copied_and_nothing_else");
    for (int64_t i = 0; i < prop_heavy_cases(4000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const box b = random_box(&r);
        array d = random_array(&r, &b);
        array s = random_array(&r, &b);
        unsigned char *wanted = malloc(d.size);
        assert_non_null(wanted);
        fill(&r, &s);
        memset(d.memory, GUARD, d.size);
        memset(wanted, GUARD, d.size);
        naive_copy(wanted, &d, &s, &b);
        kernel_copy(d.memory + d.start, d.strides, s.memory + s.start, s.strides, b.shape, b.rank,
                    b.item, i % 2 == 1);
        kernel_copy_fence();
        assert_memory_equal(d.memory, wanted, d.size);
        free(wanted);
        free(d.memory);
        free(s.memory);
    }
}

/* Several boxes at once give what they give one by one, empty ones among them. */
static void boxes_are_copied_together(void **state)
{
    (void)state;
    const rng start = rng_start("boxes_are_copied_together");
    for (int64_t i = 0; i < prop_heavy_cases(40); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const size_t count = (size_t)rng_below(&r, MAX_BOXES + 1);
        box shapes[MAX_BOXES];
        array d[MAX_BOXES];
        array s[MAX_BOXES];
        kernel_box boxes[MAX_BOXES];
        const box kind = random_box(&r);
        for (size_t k = 0; k < count; k++) {
            do {
                shapes[k] = random_box(&r);
            } while (shapes[k].rank != kind.rank);
            shapes[k].item = kind.item;
            d[k] = random_array(&r, &shapes[k]);
            s[k] = random_array(&r, &shapes[k]);
            fill(&r, &s[k]);
            memset(d[k].memory, GUARD, d[k].size);
            boxes[k] = (kernel_box){d[k].memory + d[k].start, s[k].memory + s[k].start,
                                    d[k].strides, s[k].strides, shapes[k].shape};
        }
        kernel_copy_boxes(boxes, count, kind.rank, kind.item, i % 2 == 1);
        kernel_copy_fence();
        for (size_t k = 0; k < count; k++) {
            unsigned char *wanted = malloc(d[k].size);
            assert_non_null(wanted);
            memset(wanted, GUARD, d[k].size);
            naive_copy(wanted, &d[k], &s[k], &shapes[k]);
            assert_memory_equal(d[k].memory, wanted, d[k].size);
            free(wanted);
            free(d[k].memory);
            free(s[k].memory);
        }
    }
}

/* Rows that are long enough to stream, at every alignment of both arrays. */
static void long_rows_are_streamed_whole(void **state)
{
    (void)state;
    enum { ROWS = 5, ROW = 1000, PITCH = 1100, ROOM = ROWS * PITCH + 64 };
    static unsigned char from[ROOM];
    static unsigned char to[ROOM];
    static unsigned char wanted[ROOM];
    const int64_t shape[] = {ROWS, ROW};
    const int64_t from_strides[] = {PITCH, 1};
    const int64_t to_strides[] = {PITCH - 1, 1};
    for (size_t i = 0; i < ROOM; i++) {
        from[i] = (unsigned char)(i * 37 + i / 256);
    }
    for (size_t at = 0; at < 64; at++) {
        memset(to, GUARD, ROOM);
        memset(wanted, GUARD, ROOM);
        for (size_t row = 0; row < ROWS; row++) {
            memcpy(wanted + at + row * (PITCH - 1), from + 63 - at + row * PITCH, ROW);
        }
        kernel_copy(to + at, to_strides, from + 63 - at, from_strides, shape, 2, 1, true);
        kernel_copy_fence();
        assert_memory_equal(to, wanted, ROOM);
    }
}

static void runs_of_all_lengths_and_offsets(void **state)
{
    (void)state;
    enum { MOST = 300, OFFSETS = 64, ROOM = MOST + OFFSETS + 64 };
    _Alignas(64) unsigned char from[ROOM];
    _Alignas(64) unsigned char to[ROOM];
    _Alignas(64) unsigned char wanted[ROOM];
    for (size_t i = 0; i < ROOM; i++) {
        from[i] = (unsigned char)(i * 37 + i / 256);
    }
    for (size_t length = 0; length <= MOST; length++) {
        for (size_t at = 0; at < OFFSETS; at++) {
            for (int stream = 0; stream < 2; stream++) {
                const size_t source = (at * 29 + length) % OFFSETS;
                memset(to, GUARD, ROOM);
                memset(wanted, GUARD, ROOM);
                memcpy(wanted + at, from + source, length);
                kernel_copy_run(to + at, from + source, length, stream != 0);
                kernel_copy_fence();
                assert_memory_equal(to, wanted, ROOM);
            }
        }
    }
}

/* Around the length and the places in a page that make libc slow, and are copied otherwise. */
static void long_runs_at_all_places_in_a_page(void **state)
{
    (void)state;
    enum { PAGE = 4096, LEAST = 2040, MOST = 2180, OFFSETS = 80, ROOM = 2 * PAGE };
    static _Alignas(PAGE) unsigned char from[ROOM];
    static _Alignas(PAGE) unsigned char to[ROOM];
    static _Alignas(PAGE) unsigned char wanted[ROOM];
    for (size_t i = 0; i < ROOM; i++) {
        from[i] = (unsigned char)(i * 37 + i / 256);
    }
    for (size_t length = LEAST; length <= MOST; length += 5) {
        for (size_t at = 0; at < OFFSETS; at++) {
            memset(to, GUARD, ROOM);
            memset(wanted, GUARD, ROOM);
            memcpy(wanted + at, from + at % 3, length);
            kernel_copy_run(to + at, from + at % 3, length, false);
            assert_memory_equal(to, wanted, ROOM);
        }
    }
}

/* A source may have strides of 0: one item everywhere. */
static void a_source_may_repeat(void **state)
{
    (void)state;
    const int32_t seven = 7;
    int32_t to[3][5] = {{0}};
    const int64_t shape[] = {3, 5};
    const int64_t strides[] = {20, 4};
    const int64_t still[] = {0, 0};
    kernel_copy(to, strides, &seven, still, shape, 2, sizeof seven, false);
    for (size_t i = 0; i < 15; i++) {
        assert_int_equal(to[i / 5][i % 5], 7);
    }
}

static void loops_join_what_continues(void **state)
{
    (void)state;
    const int64_t shape[] = {4, 1, 3, 5};
    const int64_t packed[] = {60, -7, 20, 4};
    const int64_t gaps[] = {80, INT64_MIN, 20, 4};
    const int64_t *strides[] = {packed, gaps};
    loops nest;
    assert_true(loops_init(&nest, shape, 4, strides, 2, 4));
    assert_int_equal(nest.count, 2);
    assert_int_equal(nest.loops[1].size, 15);
    int rows = 1;
    for (; loops_next(&nest); rows++) {
        assert_int_equal(nest.offsets[0], 60 * rows);
        assert_int_equal(nest.offsets[1], 80 * rows);
    }
    assert_int_equal(rows, 4);
    assert_true(loops_init(&nest, shape, 4, strides, 1, 4));
    assert_int_equal(nest.count, 1);
    assert_int_equal(nest.loops[0].size, 60);
    assert_false(loops_next(&nest));
}

/* Arrays of one layout are one run, whatever the order of their dimensions. */
static void sorted_loops_follow_the_memory(void **state)
{
    (void)state;
    const int64_t shape[] = {3, 5, 4};
    const int64_t strides_of[] = {4, 48, 12};
    const int64_t *strides[] = {strides_of, strides_of};
    loops nest;
    assert_true(loops_init_sorted(&nest, shape, 3, strides, 2, 4));
    assert_int_equal(nest.count, 1);
    assert_int_equal(nest.loops[0].size, 60);
    assert_true(loops_init(&nest, shape, 3, strides, 2, 4));
    assert_true(nest.count > 1);
}

static void loops_of_one_item_and_of_none(void **state)
{
    (void)state;
    const int64_t ones[] = {1, 1};
    const int64_t none[] = {3, 0};
    const int64_t any[] = {77, -5};
    const int64_t *strides[] = {any};
    loops nest;
    assert_true(loops_init(&nest, ones, 2, strides, 1, 8));
    assert_int_equal(nest.count, 1);
    assert_int_equal(nest.loops[0].size, 1);
    assert_int_equal(nest.loops[0].strides[0], 8);
    assert_true(loops_init(&nest, NULL, 0, strides, 1, 8));
    assert_false(loops_init(&nest, none, 2, strides, 1, 8));
    assert_false(loops_init_sorted(&nest, none, 2, strides, 1, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_copied_and_nothing_else),
        cmocka_unit_test(boxes_are_copied_together),
        cmocka_unit_test(long_rows_are_streamed_whole),
        cmocka_unit_test(runs_of_all_lengths_and_offsets),
        cmocka_unit_test(long_runs_at_all_places_in_a_page),
        cmocka_unit_test(a_source_may_repeat),
        cmocka_unit_test(loops_join_what_continues),
        cmocka_unit_test(sorted_loops_follow_the_memory),
        cmocka_unit_test(loops_of_one_item_and_of_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
