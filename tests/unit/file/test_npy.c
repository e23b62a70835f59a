/* The heads of .npy files. */
#include <string.h>

#include "support.h"

#include "file/npy.h"

/* A file of version 1 with this dictionary and as many zero items; returns its size. */
static size_t make_file(char *file, const char *dict, size_t items)
{
    const size_t length = strlen(dict);
    memcpy(file, "\x93NUMPY\x01\0", 8);
    file[8] = (char)(length & 0xff);
    file[9] = (char)(length >> 8);
    memcpy(file + 10, dict, length);
    memset(file + 10 + length, 0, items);
    return 10 + length + items;
}

static void heads_are_read(void **state)
{
    fixture *f = *state;
    char file[512];
    npy_head head;
    size_t size =
        make_file(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  \n", 48);
    assert_int_equal(npy_read_head(f->ctx, "a.npy", file, size, size, &head), TSR_OK);
    assert_int_equal(head.dtype, TSR_F32);
    assert_int_equal(head.rank, 2);
    assert_int_equal(head.shape[1], 4);
    assert_int_equal(head.data, size - 48);
    assert_int_equal(head.bytes, 48);
    assert_false(head.column_major);
    size = make_file(file, "{\"shape\": (), 'fortran_order': True, 'descr': '|b1'}", 1);
    assert_int_equal(npy_read_head(f->ctx, "a.npy", file, size, size, &head), TSR_OK);
    assert_int_equal(head.rank, 0);
    assert_true(head.column_major);
    size = make_file(file, "{'descr':'<c16','fortran_order':False,'shape':(0,)}", 0);
    assert_int_equal(npy_read_head(f->ctx, "a.npy", file, size, size, &head), TSR_OK);
    assert_int_equal(head.dtype, TSR_C128);
    assert_int_equal(head.bytes, 0);
}

static void broken_files_are_errors(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *dict;
        size_t items;
        const char *message;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 11,
         "a.npy is not an .npy file: it ends before its last item"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (3,)}", 12,
         "only little-endian items are supported"},
        {"{'descr': '<q9', 'fortran_order': False, 'shape': (3,)}", 12, "unknown element type"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,)}", 12, "expected True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (false,)}", 12,
         "expected integer value"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", 12,
         "the shape must have at most 32 extents of at least 0"},
        {"{'descr': '<f4', 'fortran_order': False}", 12, "a key of the header is missing"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (3,)}", 12,
         "expected the keys descr, fortran_order and shape, each exactly once"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", 0,
         "a.npy is not an .npy file: its shape is too large"},
        {"[]", 0, "expected '{'"},
    };
    char file[512];
    npy_head head = {.rank = 99};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t size = make_file(file, cases[i].dict, cases[i].items);
        assert_int_equal(npy_read_head(f->ctx, "a.npy", file, size, size, &head), TSR_ERR_SYNTAX);
        expect_error(f, cases[i].message);
    }
    assert_int_equal(npy_read_head(f->ctx, "a.npy", "", 0, 0, &head), TSR_ERR_SYNTAX);
    expect_error(f, "a.npy is not an .npy file: it does not start with \\x93NUMPY");
    assert_int_equal(npy_read_head(f->ctx, "a.npy", "\x93NUMPY\x04\0\0\0", 10, 10, &head),
                     TSR_ERR_SYNTAX);
    expect_error(f, "a.npy is not an .npy file: its format version is not 1, 2 or 3");
    assert_int_equal(npy_read_head(f->ctx, "a.npy", "\x93NUMPY\x01\0\xff\xff", 10, 10, &head),
                     TSR_ERR_SYNTAX);
    expect_error(f, "a.npy is not an .npy file: its header is longer than the file");
    assert_int_equal(head.rank, 99);
}

static void heads_are_written(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {3, 5};
    const char *text;
    size_t size;
    npy_head head;
    assert_int_equal(npy_write_head(f->ctx, f->arena, TSR_I64, 2, shape, &text, &size), TSR_OK);
    assert_int_equal(size % 64, 0);
    assert_memory_equal(text + 10, "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 5), }",
                        59);
    assert_int_equal(text[size - 1], '\n');
    char file[512] = {0};
    memcpy(file, text, size);
    assert_int_equal(npy_read_head(f->ctx, "a.npy", file, size + 120, size + 120, &head), TSR_OK);
    assert_int_equal(head.dtype, TSR_I64);
    assert_int_equal(head.data, size);
    assert_int_equal(npy_write_head(f->ctx, f->arena, TSR_F8E4M3FN, 1, shape, &text, &size),
                     TSR_ERR_UNSUPPORTED);
    expect_error(f, "the .npy format has no element type for f8E4M3FN");
    assert_int_equal(npy_write_head(f->ctx, f->arena, TSR_BF16, 1, shape, &text, &size),
                     TSR_ERR_UNSUPPORTED);
    expect_error(f, "the .npy format has no element type for bf16: NumPy would read bytes "
                    "without a type; convert them to f32, by tsr_convert, or write a .safetensors "
                    "file from Python");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(heads_are_read),
        TEST(broken_files_are_errors),
        TEST(heads_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
