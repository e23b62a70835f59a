#include "array_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int read_file(struct session *session, const char *path, struct file_bytes *out)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (file == NULL || fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
        const int reason = file == NULL ? errno : EINVAL;
        if (file != NULL) {
            (void)fclose(file);
        }
        return complain("cannot read %s: %s", path, strerror(reason));
    }
    char *data = session_alloc(session, (size_t)about.st_size + 1, 1);
    const size_t size = fread(data, 1, (size_t)about.st_size, file);
    (void)fclose(file);
    if (size != (size_t)about.st_size) {
        return complain("cannot read %s: it became shorter while it was read", path);
    }
    *out = (struct file_bytes){data, size};
    return EXIT_FINE;
}

/* The name of a file without folder and ending. */
static const char *stem_of(struct session *session, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    return session_format(session, "%.*s", (int)(strrchr(base, '.') - base), base);
}

int arrays_read(struct session *session, const char *path, struct named_array **list, size_t *count)
{
    struct file_bytes file;
    const int code = read_file(session, path, &file);
    if (code != EXIT_FINE) {
        return code;
    }
    if (has_ending(path, ".npz")) {
        return zip_read(session, path, file, list, count);
    }
    if (has_ending(path, ".safetensors")) {
        return safetensors_read(session, path, file, list, count);
    }
    *list = session_alloc(session, 1, sizeof **list);
    *count = 1;
    (*list)->name = stem_of(session, path);
    const tsr_status status =
        tsr_npy_view(session->ctx, session->arena, path, file.data, file.size, &(*list)->view);
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
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
