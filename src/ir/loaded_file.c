/* The text of a program that came from a file. */
#include "ir/loaded_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

/* Of no context: clones of one file may live in several, on several threads. */
struct loaded_file {
    char *data;
    size_t size;
    atomic_size_t uses;
    char name[];
};

loaded_file *loaded_file_share(loaded_file *file)
{
    if (file != NULL) {
        atomic_fetch_add(&file->uses, 1);
    }
    return file;
}

void loaded_file_release(loaded_file *file)
{
    if (file == NULL || atomic_fetch_sub(&file->uses, 1) > 1) {
        return;
    }
    free(file->data);
    free(file);
}

static tsr_status cannot_read(tsr_context *ctx, const char *path, const char *why)
{
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "cannot read %s: %s", path, why);
}

/* Read, not mapped: a file that is cut short later would end the process by a signal. */
static tsr_status read_descriptor(tsr_context *ctx, int fd, loaded_file *file)
{
    struct stat about;
    if (fstat(fd, &about) < 0) {
        return cannot_read(ctx, file->name, strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return cannot_read(ctx, file->name, "it is not a regular file");
    }
    const size_t size = (size_t)about.st_size;
    file->data = malloc(size + 1);
    if (file->data == NULL) {
        return diag_nomem(ctx);
    }
    while (file->size < size) {
        const ssize_t count = read(fd, file->data + file->size, size - file->size);
        if (count < 0 && errno != EINTR) {
            return cannot_read(ctx, file->name, strerror(errno));
        }
        if (count == 0) {
            break;
        }
        file->size += count > 0 ? (size_t)count : 0;
    }
    return TSR_OK;
}

tsr_status loaded_file_read(tsr_context *ctx, const char *path, loaded_file **out)
{
    const size_t length = strlen(path);
    loaded_file *file = malloc(sizeof *file + length + 1);
    if (file == NULL) {
        return diag_nomem(ctx);
    }
    *file = (loaded_file){.uses = 1};
    memcpy(file->name, path, length + 1);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    tsr_status status =
        fd < 0 ? cannot_read(ctx, path, strerror(errno)) : read_descriptor(ctx, fd, file);
    if (fd >= 0) {
        close(fd);
    }
    if (status < 0) {
        loaded_file_release(file);
        return status;
    }
    *out = file;
    return TSR_OK;
}

tsr_text loaded_file_text(const loaded_file *file)
{
    return (tsr_text){.name = file->name, .data = file->data, .size = file->size};
}
