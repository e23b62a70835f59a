#include "array_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "output.h"

bool is_array_file(const char *path)
{
    tsr_file_format format;
    return tsr_file_format_of(path, &format);
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

int arrays_open(struct session *session, const char *path, struct named_array **list, size_t *count)
{
    const tsr_array_file *file = NULL;
    const tsr_status status = tsr_array_file_open(session->ctx, session->arena, path, &file);
    if (status < 0) {
        return session_fail(session, status);
    }
    *count = tsr_array_file_count(file);
    *list = session_alloc(session, *count + 1, sizeof **list);
    for (size_t i = 0; i < *count; i++) {
        (*list)[i] = (struct named_array){.name = tsr_array_file_name(file, i),
                                          .path = path,
                                          .view = tsr_array_file_view(file, i),
                                          .file = file,
                                          .index = i};
    }
    return EXIT_FINE;
}

int array_load(struct session *session, struct named_array *array)
{
    if (array->view.data != NULL) {
        return EXIT_FINE;
    }
    array->view.data =
        session_alloc(session, tsr_array_file_bytes(array->file, array->index) + 1, 1);
    const tsr_status status =
        tsr_array_file_read(session->ctx, array->file, array->index, array->view.data);
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
}

/* ---- writing ---- */

static bool put_bytes(void *state, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, state) == size;
}

/* A file of some format, written whole or not at all. */
static int write_file(struct session *session, const char *path, tsr_file_format format,
                      const tsr_named_view *arrays, size_t count)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (out == NULL) {
        return complain("out of memory while writing %s", path);
    }
    const tsr_status status = tsr_arrays_write(session->ctx, format, arrays, count, put_bytes, out);
    int code = EXIT_FINE;
    if (fclose(out) != 0) {
        code = complain("out of memory while writing %s", path);
    } else if (status < 0) {
        code = session_fail(session, status);
    } else {
        code = output_write(path, bytes, size);
    }
    free(bytes);
    return code;
}

int arrays_write(struct session *session, const char *path, const struct named_array *list,
                 size_t count)
{
    tsr_file_format format = TSR_FILE_NPY;
    const bool is_file = tsr_file_format_of(path, &format) && format != TSR_FILE_NPY;
    tsr_named_view *arrays = session_alloc(session, count + 1, sizeof *arrays);
    for (size_t i = 0; i < count; i++) {
        arrays[i] = (tsr_named_view){list[i].name, list[i].view};
    }
    if (is_file) {
        return write_file(session, path, format, arrays, count);
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return complain("cannot make the folder %s: %s", path, strerror(errno));
    }
    int code = EXIT_FINE;
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        code = write_file(session, session_format(session, "%s/%s.npy", path, arrays[i].name),
                          TSR_FILE_NPY, &arrays[i], 1);
    }
    return code;
}
