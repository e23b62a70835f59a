/* The public calls: a file is opened, listed, read; arrays are written. */
#include "file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/guard.h"
#include "file/npy.h"

struct tsr_array_file {
    const char *path;
    uint64_t size;
    dev_t device;
    ino_t inode;
    file_arrays arrays;
};

static bool has_ending(const char *path, const char *ending)
{
    const size_t length = strlen(path);
    const size_t size = strlen(ending);
    return length >= size && strcmp(path + length - size, ending) == 0;
}

bool tsr_file_format_of(const char *path, tsr_file_format *out)
{
    GUARD(tsr_file_format_of);
    static const char *const endings[] = {
        [TSR_FILE_NPY] = ".npy", [TSR_FILE_NPZ] = ".npz", [TSR_FILE_SAFETENSORS] = ".safetensors"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (has_ending(path, endings[i])) {
            *out = (tsr_file_format)i;
            return true;
        }
    }
    return false;
}

bool file_count_bytes(const tsr_view *view, uint64_t *out)
{
    int64_t bytes = tsr_dtype_item_bytes(view->dtype);
    for (size_t d = 0; d < view->rank; d++) {
        if (!checked_mul(bytes, view->shape[d], &bytes)) {
            return false;
        }
    }
    *out = (uint64_t)bytes;
    return true;
}

/* ---- reading ---- */

static tsr_status cannot_read(tsr_context *ctx, const char *path, const char *why)
{
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "cannot read %s: %s", path, why);
}

/* Opens a file without waiting: a pipe may never have a writer. */
static tsr_status open_input(tsr_context *ctx, tsr_arena *arena, const char *path, file_input *out)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return cannot_read(ctx, path, strerror(errno));
    }
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)close(fd);
        return cannot_read(ctx, path,
                           "it is not a regular file; copy its contents to a regular file");
    }
    *out = (file_input){.ctx = ctx,
                        .arena = arena,
                        .path = path,
                        .fd = fd,
                        .size = (uint64_t)about.st_size,
                        .device = about.st_dev,
                        .inode = about.st_ino};
    return TSR_OK;
}

tsr_status file_read(const file_input *in, uint64_t at, void *out, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t some = pread(in->fd, (char *)out + done, size - done, (off_t)(at + done));
        if (some < 0 && errno == EINTR) {
            continue;
        }
        if (some <= 0) {
            return cannot_read(in->ctx, in->path,
                               some < 0 ? strerror(errno) : "it was truncated while it was read");
        }
        done += (size_t)some;
    }
    return TSR_OK;
}

tsr_status file_broken(const file_input *in, const char *format, const char *why)
{
    return diag_error(in->ctx, TSR_ERR_SYNTAX, NO_LOCATION, "%s is not %s file: %s", in->path,
                      format, why);
}

const char *file_name_of(const file_input *in, const char *text, size_t size)
{
    return arena_string(in->arena, text, size);
}

/* The name of a file without folder and ending. */
static const char *stem_of(const file_input *in)
{
    const char *slash = strrchr(in->path, '/');
    const char *base = slash != NULL ? slash + 1 : in->path;
    const char *dot = strrchr(base, '.');
    return file_name_of(in, base, dot != NULL ? (size_t)(dot - base) : strlen(base));
}

static tsr_status open_npy(const file_input *in, file_arrays *out)
{
    const size_t given = in->size < FILE_MAX_HEAD ? (size_t)in->size : FILE_MAX_HEAD;
    char *head = tsr_arena_alloc(in->arena, given + 1);
    file_array *array = ARENA_NEW(in->arena, file_array);
    size_t start = 0;
    if (head == NULL || array == NULL) {
        return diag_nomem(in->ctx);
    }
    *array = (file_array){.name = stem_of(in)};
    if (array->name == NULL) {
        return diag_nomem(in->ctx);
    }
    TSR_TRY(file_read(in, 0, head, given));
    TSR_TRY(tsr_npy_head(in->ctx, in->arena, in->path, head, given, (size_t)in->size, &array->view,
                         &start));
    array->at = start;
    *out = (file_arrays){array, 1};
    return TSR_OK;
}

static tsr_status open_arrays(const file_input *in, file_arrays *out)
{
    tsr_file_format format = TSR_FILE_NPY;
    (void)tsr_file_format_of(in->path, &format);
    return format == TSR_FILE_NPZ           ? zip_open(in, out)
           : format == TSR_FILE_SAFETENSORS ? safetensors_open(in, out)
                                            : open_npy(in, out);
}

static tsr_status finish(const file_input *in, file_arrays arrays, const tsr_array_file **out)
{
    tsr_array_file *file = ARENA_NEW(in->arena, tsr_array_file);
    const char *path = file_name_of(in, in->path, strlen(in->path));
    if (file == NULL || path == NULL) {
        return diag_nomem(in->ctx);
    }
    for (size_t i = 0; i < arrays.count; i++) {
        if (!file_count_bytes(&arrays.list[i].view, &arrays.list[i].bytes)) {
            return cannot_read(in->ctx, in->path, "an array has more than 2^63-1 bytes");
        }
    }
    *file = (tsr_array_file){path, in->size, in->device, in->inode, arrays};
    *out = file;
    return TSR_OK;
}

tsr_status tsr_array_file_open(tsr_context *ctx, tsr_arena *arena, const char *path,
                               const tsr_array_file **out)
{
    GUARD(tsr_array_file_open);
    file_input in;
    file_arrays arrays = {0};
    TSR_TRY(open_input(ctx, arena, path, &in));
    tsr_status status = open_arrays(&in, &arrays);
    (void)close(in.fd);
    if (status == TSR_OK) {
        status = finish(&in, arrays, out);
    }
    return status;
}

size_t tsr_array_file_count(const tsr_array_file *file)
{
    GUARD(tsr_array_file_count);
    return file->arrays.count;
}

const char *tsr_array_file_name(const tsr_array_file *file, size_t index)
{
    GUARD(tsr_array_file_name);
    return index < file->arrays.count ? file->arrays.list[index].name : NULL;
}

tsr_view tsr_array_file_view(const tsr_array_file *file, size_t index)
{
    GUARD(tsr_array_file_view);
    return index < file->arrays.count ? file->arrays.list[index].view : (tsr_view){0};
}

size_t tsr_array_file_bytes(const tsr_array_file *file, size_t index)
{
    GUARD(tsr_array_file_bytes);
    return index < file->arrays.count ? (size_t)file->arrays.list[index].bytes : 0;
}

static tsr_status read_packed(const file_input *in, const file_array *array, char *data)
{
    const size_t size = (size_t)(array->skip + array->bytes);
    char *all = context_resize(in->ctx, NULL, 0, size + 1);
    bool unpacked = false;
    if (all == NULL) {
        return diag_nomem(in->ctx);
    }
    tsr_status status = zip_unpack(in, array->at, array->packed, all, size, &unpacked);
    if (status == TSR_OK && !unpacked) {
        status =
            diag_error(in->ctx, TSR_ERR_SYNTAX, NO_LOCATION,
                       "%s is not an .npz file: %s.npy cannot be unpacked", in->path, array->name);
    }
    if (status == TSR_OK && array->bytes > 0) {
        memcpy(data, all + array->skip, (size_t)array->bytes);
    }
    (void)context_resize(in->ctx, all, size + 1, 0);
    return status;
}

tsr_status tsr_array_file_read(tsr_context *ctx, const tsr_array_file *file, size_t index,
                               void *data)
{
    GUARD(tsr_array_file_read);
    file_input in;
    if (index >= file->arrays.count) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_array_file_read: array %zu is out of range: %s has %zu", index,
                          file->path, file->arrays.count);
    }
    const file_array *array = &file->arrays.list[index];
    if (data == NULL && array->bytes > 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_array_file_read: no memory (NULL) for %llu bytes",
                          (unsigned long long)array->bytes);
    }
    TSR_TRY(open_input(ctx, NULL, file->path, &in));
    tsr_status status = TSR_OK;
    if (in.device != file->device || in.inode != file->inode || in.size != file->size) {
        status = cannot_read(ctx, file->path, "it changed while it was read");
    } else {
        status = array->packed == 0 ? file_read(&in, array->at, data, (size_t)array->bytes)
                                    : read_packed(&in, array, data);
    }
    (void)close(in.fd);
    return status;
}

/* ---- writing ---- */

void file_put(file_output *out, const void *bytes, size_t size)
{
    out->stopped = out->stopped || (size > 0 && !out->write(out->state, bytes, size));
    out->at += size;
}

void file_put_number(file_output *out, uint64_t value, size_t bytes)
{
    char text[8];
    for (size_t i = 0; i < bytes; i++) {
        text[i] = (char)(value >> (8 * i) & 0xff);
    }
    file_put(out, text, bytes);
}

/* Row-major, with data for its elements, and not too large. */
static tsr_status check_array(tsr_context *ctx, const tsr_named_view *array)
{
    uint64_t bytes = 0;
    const tsr_view *v = &array->view;
    for (size_t d = 0; d < v->rank; d++) {
        if (v->shape[d] < 0) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "tsr_arrays_write: extent %zu of array %s is %lld; the minimum is 0",
                              d, array->name, (long long)v->shape[d]);
        }
    }
    if (v->rank > FILE_MAX_RANK || !file_count_bytes(v, &bytes)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_arrays_write: array %s has rank %zu, maximum %d, or more than "
                          "2^63-1 bytes",
                          array->name, v->rank, FILE_MAX_RANK);
    }
    if (v->data == NULL && bytes > 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_arrays_write: array %s has elements but no data (NULL)",
                          array->name);
    }
    return TSR_OK;
}

static tsr_status write_npy(file_output *out, const tsr_named_view *array)
{
    const char *head = NULL;
    size_t size = 0;
    uint64_t bytes = 0;
    TSR_TRY(tsr_npy_header(out->ctx, out->arena, array->view.dtype, array->view.rank,
                           array->view.shape, &head, &size));
    (void)file_count_bytes(&array->view, &bytes);
    file_put(out, head, size);
    file_put(out, array->view.data, (size_t)bytes);
    return TSR_OK;
}

static tsr_status write_format(file_output *out, tsr_file_format format,
                               const tsr_named_view *arrays, size_t count)
{
    if (format == TSR_FILE_NPZ) {
        return zip_write(out, arrays, count);
    }
    if (format == TSR_FILE_SAFETENSORS) {
        return safetensors_write(out, arrays, count);
    }
    if (count != 1) {
        return diag_error(out->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_arrays_write: a .npy file has 1 array, got: %zu", count);
    }
    return write_npy(out, arrays);
}

tsr_status tsr_arrays_write(tsr_context *ctx, tsr_file_format format, const tsr_named_view *arrays,
                            size_t count, tsr_file_write write, void *state)
{
    GUARD(tsr_arrays_write);
    tsr_arena *arena = NULL;
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(check_array(ctx, &arrays[i]));
    }
    TSR_TRY(tsr_arena_create(ctx, &arena));
    file_output out = {.ctx = ctx, .arena = arena, .write = write, .state = state};
    tsr_status status = write_format(&out, format, arrays, count);
    if (status == TSR_OK && out.stopped) {
        status = diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "tsr_arrays_write: the file was written only in part: the output "
                            "cannot be written");
    }
    tsr_arena_destroy(arena);
    return status;
}
