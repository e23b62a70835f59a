/* Arrays in files: written and read back in each format, refused where they are broken. The formats
 * themselves are compared with Python's zipfile and struct in tests/cli/eval.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/file.h>

#include "support.h"

typedef struct bytes {
    char *data;
    size_t size;
    size_t limit; /* after which writing stops; 0: none */
} bytes;

static bool append(void *state, const char *data, size_t size)
{
    bytes *b = state;
    if (b->limit > 0 && b->size + size > b->limit) {
        return false;
    }
    char *larger = realloc(b->data, b->size + size);
    assert_non_null(larger);
    memcpy(larger + b->size, data, size);
    b->data = larger;
    b->size += size;
    return true;
}

static void put_file(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static const float floats[] = {1, 2, 3, 4, 5, 6};
static const int8_t narrow[] = {-1, 0, 7, 3, 2};
static const int64_t two_by_three[] = {2, 3};
static const int64_t five[] = {5};
static const int64_t empty[] = {0, 4};

static tsr_named_view named(const char *name, const void *data, tsr_dtype dtype, size_t rank,
                            const int64_t *shape)
{
    return (tsr_named_view){
        name, {.data = (void *)(uintptr_t)data, .dtype = dtype, .rank = rank, .shape = shape}};
}

/* Three arrays: a matrix, a narrow vector, one without elements. */
static size_t make_arrays(tsr_named_view *out)
{
    out[0] = named("weights", floats, TSR_F32, 2, two_by_three);
    out[1] = named("layer.0/\"bias\"", narrow, TSR_I8, 1, five);
    out[2] = named("none", NULL, TSR_F64, 2, empty);
    return 3;
}

static void expect_array(fixture *f, const tsr_array_file *file, const tsr_named_view *wanted)
{
    size_t i = 0;
    while (i < tsr_array_file_count(file) &&
           strcmp(tsr_array_file_name(file, i), wanted->name) != 0) {
        i++;
    }
    const tsr_view v = tsr_array_file_view(file, i);
    char data[64] = {0};
    assert_true(i < tsr_array_file_count(file));
    assert_null(v.data);
    assert_int_equal(v.dtype, wanted->view.dtype);
    assert_int_equal(v.rank, wanted->view.rank);
    assert_memory_equal(v.shape, wanted->view.shape, v.rank * sizeof *v.shape);
    const size_t size = tsr_array_file_bytes(file, i);
    assert_true(size <= sizeof data);
    assert_int_equal(tsr_array_file_read(f->ctx, file, i, data), TSR_OK);
    if (size > 0) {
        assert_memory_equal(data, wanted->view.data, size);
    }
}

static const char *path_of(fixture *f, const char *ending)
{
    char *path = tsr_arena_alloc(f->arena, 64);
    (void)snprintf(path, 64, "test_file.%ld.%s", (long)getpid(), ending);
    return path;
}

static void arrays_come_back(void **state)
{
    fixture *f = *state;
    static const char *const endings[] = {"npy", "npz", "safetensors"};
    for (int format = TSR_FILE_NPY; format <= TSR_FILE_SAFETENSORS; format++) {
        tsr_named_view arrays[3];
        const size_t count = format == TSR_FILE_NPY ? 1 : make_arrays(arrays);
        const char *path = path_of(f, endings[format]);
        const tsr_array_file *file = NULL;
        tsr_file_format found;
        bytes b = {0};
        (void)make_arrays(arrays);
        assert_true(tsr_file_format_of(path, &found) && found == (tsr_file_format)format);
        assert_int_equal(
            tsr_arrays_write(f->ctx, (tsr_file_format)format, arrays, count, append, &b), TSR_OK);
        put_file(path, b.data, b.size);
        assert_int_equal(tsr_array_file_open(f->ctx, f->arena, path, &file), TSR_OK);
        assert_int_equal(tsr_array_file_count(file), count);
        arrays[0].name = format == TSR_FILE_NPY ? tsr_array_file_name(file, 0) : arrays[0].name;
        for (size_t i = 0; i < count; i++) {
            expect_array(f, file, &arrays[i]);
        }
        assert_null(tsr_array_file_name(file, count));
        assert_int_equal(tsr_array_file_bytes(file, count), 0);
        assert_int_equal(tsr_array_file_read(f->ctx, file, count, NULL), TSR_ERR_INVALID);
        assert_int_equal(unlink(path), 0);
        free(b.data);
        tsr_context_clear(f->ctx);
    }
}

/* Every prefix of a file is refused when it is opened, or when what is missing is read. */
static void cut_files_are_refused(void **state)
{
    fixture *f = *state;
    static const char *const endings[] = {"npy", "npz", "safetensors"};
    for (int format = TSR_FILE_NPY; format <= TSR_FILE_SAFETENSORS; format++) {
        tsr_named_view arrays[3];
        (void)make_arrays(arrays);
        const char *path = path_of(f, endings[format]);
        bytes b = {0};
        assert_int_equal(tsr_arrays_write(f->ctx, (tsr_file_format)format, arrays, 1, append, &b),
                         TSR_OK);
        for (size_t size = 0; size < b.size; size++) {
            const tsr_array_file *file = NULL;
            char data[64];
            put_file(path, b.data, size);
            tsr_status status = tsr_array_file_open(f->ctx, f->arena, path, &file);
            if (status == TSR_OK) {
                assert_true(tsr_array_file_bytes(file, 0) <= sizeof data);
                status = tsr_array_file_read(f->ctx, file, 0, data);
            }
            assert_true(status < 0);
            assert_non_null(strstr(tsr_context_diagnostics(f->ctx)->text, path));
            tsr_context_clear(f->ctx);
        }
        assert_int_equal(unlink(path), 0);
        free(b.data);
    }
}

static void other_files_are_refused(void **state)
{
    fixture *f = *state;
    const char *path = path_of(f, "npy");
    const tsr_array_file *file = NULL;
    tsr_named_view arrays[3];
    bytes b = {0};
    float data[6];
    (void)make_arrays(arrays);
    assert_int_equal(tsr_array_file_open(f->ctx, f->arena, "none.npy", &file), TSR_ERR_INVALID);
    expect_error(f, "cannot read none.npy: No such file or directory");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tsr_array_file_open(f->ctx, f->arena, path, &file), TSR_ERR_INVALID);
    expect_message(f, "it is not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(tsr_arrays_write(f->ctx, TSR_FILE_NPY, arrays, 1, append, &b), TSR_OK);
    put_file(path, b.data, b.size);
    assert_int_equal(tsr_array_file_open(f->ctx, f->arena, path, &file), TSR_OK);
    put_file(path, b.data, b.size - 1);
    assert_int_equal(tsr_array_file_read(f->ctx, file, 0, data), TSR_ERR_INVALID);
    expect_message(f, "it changed while it was read");
    assert_int_equal(unlink(path), 0);
    free(b.data);
}

/* What cannot be stored is refused before anything is written. */
static void wrong_arrays_are_refused(void **state)
{
    fixture *f = *state;
    static const int64_t negative[] = {-1};
    static const int64_t huge[] = {INT64_MAX, 16};
    tsr_named_view arrays[3];
    bytes b = {0};
    (void)make_arrays(arrays);
    assert_int_equal(tsr_arrays_write(f->ctx, TSR_FILE_NPY, arrays, 2, append, &b),
                     TSR_ERR_INVALID);
    expect_error(f, "tsr_arrays_write: a .npy file has 1 array, got: 2");
    arrays[1].view.shape = negative;
    assert_int_equal(tsr_arrays_write(f->ctx, TSR_FILE_NPZ, arrays, 3, append, &b),
                     TSR_ERR_INVALID);
    expect_message(f, "is -1; the minimum is 0");
    arrays[1] = named("huge", floats, TSR_F32, 2, huge);
    assert_int_equal(tsr_arrays_write(f->ctx, TSR_FILE_NPZ, arrays, 3, append, &b),
                     TSR_ERR_INVALID);
    arrays[1] = named("weights", floats, TSR_F32, 2, two_by_three);
    tsr_context_clear(f->ctx);
    assert_int_equal(tsr_arrays_write(f->ctx, TSR_FILE_SAFETENSORS, arrays, 3, append, &b),
                     TSR_ERR_INVALID);
    expect_error(f, "two arrays have the name weights; names must differ");
    arrays[1] = named("wide", floats, TSR_C128, 1, five);
    assert_int_equal(tsr_arrays_write(f->ctx, TSR_FILE_SAFETENSORS, arrays, 3, append, &b),
                     TSR_ERR_UNSUPPORTED);
    expect_error(f, "the .safetensors format has no element type for complex<f64>");
    arrays[1].view.data = NULL;
    assert_int_equal(tsr_arrays_write(f->ctx, TSR_FILE_NPZ, arrays, 3, append, &b),
                     TSR_ERR_INVALID);
    expect_message(f, "has elements but no data");
    assert_int_equal(b.size, 0);
    b.limit = 40;
    (void)make_arrays(arrays);
    assert_int_equal(tsr_arrays_write(f->ctx, TSR_FILE_NPZ, arrays, 3, append, &b),
                     TSR_ERR_INVALID);
    expect_message(f, "written only in part");
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(arrays_come_back), TEST(cut_files_are_refused),
                                       TEST(other_files_are_refused),
                                       TEST(wrong_arrays_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
