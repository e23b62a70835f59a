/* Splitting local arrays into chunks of given sizes. */
#include <string.h>

#include "support.h"

static const int64_t shape[] = {3, 6};
static const int64_t sizes[] = {2, 0, 4};

static void slices_are_prefix_sums(void **state)
{
    fixture *f = *state;
    tsr_chunk slices[3];
    assert_int_equal(tsr_dynamic_slices(f->ctx, 6, sizes, 3, slices), TSR_OK);
    static const tsr_chunk wanted[] = {{0, 2}, {2, 2}, {2, 6}};
    assert_memory_equal(slices, wanted, sizeof wanted);
    assert_int_equal(tsr_dynamic_slices(f->ctx, 0, sizes, 0, slices), TSR_OK);
}

static void chunks_are_views_or_copies(void **state)
{
    fixture *f = *state;
    int16_t array[3][6];
    for (int i = 0; i < 18; i++) {
        array[i / 6][i % 6] = (int16_t)i;
    }
    const tsr_view view = {array, TSR_I16, 2, shape, NULL};
    for (int copy = 0; copy < 2; copy++) {
        const tsr_view *chunks = NULL;
        const int64_t *pads = NULL;
        assert_int_equal(
            tsr_dynamic_split(f->ctx, f->arena, &view, 1, sizes, 3, copy == 1, &chunks, &pads),
            TSR_OK);
        for (size_t c = 0; c < 3; c++) {
            assert_int_equal(pads[c], 0);
            assert_int_equal(chunks[c].rank, 2);
            assert_int_equal(chunks[c].dtype, TSR_I16);
            assert_int_equal(chunks[c].shape[0], 3);
            assert_int_equal(chunks[c].shape[1], sizes[c]);
            assert_int_equal(chunks[c].strides[0], copy == 1 ? 2 * sizes[c] : 12);
        }
        for (int row = 0; row < 3; row++) {
            const char *first = (const char *)chunks[2].data + row * chunks[2].strides[0];
            assert_memory_equal(first, &array[row][2], 4 * sizeof(int16_t));
        }
        assert_int_equal(chunks[2].data == (void *)&array[0][2], copy == 0);
    }
}

/* Rows apart and backwards. */
static void strided_arrays_split(void **state)
{
    fixture *f = *state;
    float array[3][6];
    for (int i = 0; i < 18; i++) {
        array[i / 6][i % 6] = (float)i;
    }
    static const int64_t strides[] = {-24, 4};
    static const int64_t rows[] = {1, 2};
    const tsr_view view = {array[2], TSR_F32, 2, shape, strides};
    const tsr_view *chunks = NULL;
    assert_int_equal(tsr_dynamic_split(f->ctx, f->arena, &view, 0, rows, 2, true, &chunks, NULL),
                     TSR_OK);
    assert_memory_equal(chunks[0].data, array[2], sizeof array[2]);
    assert_memory_equal(chunks[1].data, array[1], sizeof array[1]);
    assert_memory_equal((float *)chunks[1].data + 6, array[0], sizeof array[0]);
}

static void mistakes_are_named(void **state)
{
    fixture *f = *state;
    static const int64_t short_sum[] = {2, 3};
    static const int64_t negative[] = {7, -1};
    static const int64_t huge[] = {INT64_MAX, 1};
    int16_t array[18] = {0};
    const tsr_view view = {array, TSR_I16, 2, shape, NULL};
    const tsr_view *chunks = NULL;
    tsr_chunk slices[2];
    assert_int_equal(tsr_dynamic_split(f->ctx, f->arena, &view, 2, sizes, 3, false, &chunks, NULL),
                     TSR_ERR_INVALID);
    expect_error(f, "dim 2 is out of range: the array has 2 dimensions");
    assert_int_equal(
        tsr_dynamic_split(f->ctx, f->arena, &view, 1, short_sum, 2, false, &chunks, NULL),
        TSR_ERR_INVALID);
    expect_error(f, "2 sizes sum to 5, the extent is 6");
    assert_int_equal(tsr_dynamic_slices(f->ctx, 6, negative, 2, slices), TSR_ERR_INVALID);
    expect_error(f, "size 1 of 2 is negative: -1");
    assert_int_equal(tsr_dynamic_slices(f->ctx, 6, huge, 2, slices), TSR_ERR_OVERFLOW);
    expect_error(f, "2 sizes sum to more than 2^63-1");
    assert_null(chunks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(slices_are_prefix_sums),
        TEST(chunks_are_views_or_copies),
        TEST(strided_arrays_split),
        TEST(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
