/* Blocks cover every element once, and none is too large. */
#include <string.h>

#include "support.h"

#include "rt/collective_blocks.h"

enum { MOST = 4096 };

/* Marks the elements of a block of up to four dimensions. */
static void mark(const int64_t *shape, size_t rank, const int64_t *start, const int64_t *size,
                 unsigned char *seen)
{
    int64_t index[4] = {0};
    for (;;) {
        int64_t place = 0;
        for (size_t i = 0; i < rank; i++) {
            place = place * shape[i] + start[i] + index[i];
        }
        seen[place]++;
        size_t i = rank;
        while (i > 0 && ++index[i - 1] == size[i - 1]) {
            index[--i] = 0;
        }
        if (i == 0) {
            return;
        }
    }
}

static void check_blocks(const int64_t *shape, size_t rank, int64_t most)
{
    unsigned char seen[MOST] = {0};
    int64_t elements = 1;
    for (size_t i = 0; i < rank; i++) {
        elements *= shape[i];
    }
    assert_true(elements <= MOST);
    const blocks b = blocks_of(shape, rank, most);
    for (int64_t k = 0; k < b.count; k++) {
        int64_t start[4];
        int64_t size[4];
        int64_t count = 1;
        blocks_at(&b, k, start, size);
        for (size_t i = 0; i < rank; i++) {
            assert_true(start[i] >= 0 && size[i] > 0 && start[i] + size[i] <= shape[i]);
            count *= size[i];
        }
        assert_true(count <= most);
        mark(shape, rank, start, size, seen);
    }
    for (int64_t i = 0; i < elements; i++) {
        assert_int_equal(seen[i], 1);
    }
    assert_int_equal(b.count == 0, elements == 0);
}

static void blocks_cover_all(void **state)
{
    (void)state;
    static const int64_t shapes[][4] = {{0, 0, 0, 0}, {1, 1, 1, 1},  {7, 1, 3, 2},  {5, 4, 3, 2},
                                        {1, 9, 1, 8}, {17, 2, 0, 3}, {3, 5, 7, 11}, {64, 4, 4, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (size_t rank = 0; rank <= 4; rank++) {
            for (int64_t most = 1; most < 200; most = most * 3 / 2 + 1) {
                check_blocks(shapes[i], rank, most);
            }
        }
    }
}

static void blocks_are_even(void **state)
{
    (void)state;
    const int64_t shape[] = {8193};
    const blocks b = blocks_of(shape, 1, 8192);
    assert_int_equal(b.count, 2);
    assert_int_equal(b.rows, 4097);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(blocks_cover_all), TEST(blocks_are_even)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
