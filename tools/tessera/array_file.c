#include "array_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/npy.h>

#include "command.h"
#include "output.h"

static bool has_ending(const char *path, const char *ending)
{
    const size_t length = strlen(path);
    const size_t size = strlen(ending);
    return length >= size && strcmp(path + length - size, ending) == 0;
}

bool is_array_file(const char *path)
{
    return has_ending(path, ".npy") || has_ending(path, ".npz") || has_ending(path, ".safetensors");
}

size_t array_bytes(const tsr_view *view)
{
    size_t bytes = (size_t)tsr_dtype_item_bytes(view->dtype);
    for (size_t d = 0; d < view->rank; d++) {
        bytes *= (size_t)view->shape[d];
    }
    return bytes;
}

/* ---- reading ---- */

/* Opens a file without waiting: a pipe may never have a writer. */
static int open_file(const char *path, struct array_file *out)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return complain("cannot read %s: %s", path, strerror(errno));
    }
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)close(fd);
        return complain(
            "cannot read %s: it is not a regular file; copy its contents to a regular file", path);
    }
    *out = (struct array_file){.path = path,
                               .fd = fd,
                               .size = (uint64_t)about.st_size,
                               .device = about.st_dev,
                               .number = about.st_ino};
    return EXIT_FINE;
}

int file_read(const struct array_file *file, uint64_t at, void *out, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t some = pread(file->fd, (char *)out + done, size - done, (off_t)(at + done));
        if (some < 0 && errno == EINTR) {
            continue;
        }
        if (some <= 0) {
            return complain("cannot read %s: %s", file->path,
                            some < 0 ? strerror(errno) : "it was truncated while it was read");
        }
        done += (size_t)some;
    }
    return EXIT_FINE;
}

/* The name of a file without folder and ending. */
static const char *stem_of(struct session *session, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    return session_format(session, "%.*s", (int)(strrchr(base, '.') - base), base);
}

static int npy_open(struct session *session, const struct array_file *file,
                    struct named_array **list, size_t *count)
{
    const size_t given = file->size < MAX_ARRAY_HEAD ? (size_t)file->size : MAX_ARRAY_HEAD;
    char *head = session_alloc(session, given + 1, 1);
    const int code = file_read(file, 0, head, given);
    size_t start = 0;
    if (code != EXIT_FINE) {
        return code;
    }
    *list = session_alloc(session, 1, sizeof **list);
    *count = 1;
    (*list)->name = stem_of(session, file->path);
    const tsr_status status = tsr_npy_head(session->ctx, session->arena, file->path, head, given,
                                           (size_t)file->size, &(*list)->view, &start);
    (*list)->at = start;
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
}

int arrays_open(struct session *session, const char *path, struct named_array **list, size_t *count)
{
    struct array_file file;
    int code = open_file(path, &file);
    if (code != EXIT_FINE) {
        return code;
    }
    code = has_ending(path, ".npz")           ? zip_open(session, &file, list, count)
           : has_ending(path, ".safetensors") ? safetensors_open(session, &file, list, count)
                                              : npy_open(session, &file, list, count);
    (void)close(file.fd);
    for (size_t i = 0; code == EXIT_FINE && i < *count; i++) {
        (*list)[i].file = file;
    }
    return code;
}

static int load_elements(const struct array_file *file, const struct named_array *array, char *data,
                         size_t size)
{
    if (array->packed == 0) {
        return file_read(file, array->at, data, size);
    }
    char *all = malloc(array->skip + size + 1);
    if (all == NULL) {
        return complain("out of memory while reading %s", file->path);
    }
    int code = EXIT_FINE;
    if (zip_unpack(file, array->at, array->packed, all, array->skip + size)) {
        memcpy(data, all + array->skip, size);
    } else {
        code =
            complain("%s is not an .npz file: %s.npy cannot be unpacked", file->path, array->name);
    }
    free(all);
    return code;
}

int array_load(struct session *session, struct named_array *array)
{
    const size_t size = array_bytes(&array->view);
    struct array_file file;
    if (array->view.data != NULL) {
        return EXIT_FINE;
    }
    int code = open_file(array->file.path, &file);
    if (code != EXIT_FINE) {
        return code;
    }
    if (file.device != array->file.device || file.number != array->file.number ||
        file.size != array->file.size) {
        code = complain("cannot read %s: it changed while it was read", file.path);
    } else {
        array->view.data = session_alloc(session, size + 1, 1);
        code = load_elements(&file, array, array->view.data, size);
    }
    (void)close(file.fd);
    return code;
}

/* ---- writing ---- */

/* One array as a `.npy` file. */
static int write_npy(struct session *session, const char *path, const tsr_view *view)
{
    const char *head = NULL;
    size_t head_size = 0;
    const tsr_status status = tsr_npy_header(session->ctx, session->arena, view->dtype, view->rank,
                                             view->shape, &head, &head_size);
    if (status < 0) {
        return session_fail(session, status);
    }
    const size_t size = array_bytes(view);
    char *bytes = malloc(head_size + size + 1);
    if (bytes == NULL) {
        return complain("out of memory while writing %s", path);
    }
    memcpy(bytes, head, head_size);
    if (size > 0) {
        memcpy(bytes + head_size, view->data, size);
    }
    const int code = output_write(path, bytes, head_size + size);
    free(bytes);
    return code;
}

int arrays_write(struct session *session, const char *path, const struct named_array *list,
                 size_t count)
{
    if (has_ending(path, ".npz")) {
        return zip_write(session, path, list, count);
    }
    if (has_ending(path, ".safetensors")) {
        return safetensors_write(session, path, list, count);
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return complain("cannot make the folder %s: %s", path, strerror(errno));
    }
    int code = EXIT_FINE;
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        code = write_npy(session, session_format(session, "%s/%s.npy", path, list[i].name),
                         &list[i].view);
    }
    return code;
}
