/* Arrays in files: whatever the bytes are, reading gives arrays that lie inside of them, or an
 * error. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array_file.h"
#include "command.h"
#include "fuzz.h"

enum { LARGEST = 1 << 14 };

/* Reads every element, so that a view outside of its memory is found. */
static unsigned sum_of(const tsr_view *v)
{
    volatile unsigned sum = 0;
    const size_t bytes = array_bytes(v);
    for (size_t i = 0; v->strides == NULL && i < bytes; i++) {
        sum += ((const unsigned char *)v->data)[i];
    }
    return sum;
}

/* What is refused is told on stderr: not here. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)setvbuf(stderr, NULL, _IOFBF, 1 << 16);
    return 0;
}

/* Writes the bytes to a file in memory; a path finds it again. */
static struct array_file file_of(const uint8_t *data, size_t size, char *path, size_t path_size)
{
    struct stat about;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    INSIST(fd >= 0 && write(fd, data, size) == (ssize_t)size && fstat(fd, &about) == 0);
    (void)snprintf(path, path_size, "/proc/self/fd/%d", fd);
    return (struct array_file){
        .path = path, .fd = fd, .size = size, .device = about.st_dev, .number = about.st_ino};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct session session;
    struct named_array *list = NULL;
    size_t count = 0;
    if (size == 0 || size > LARGEST || session_open(&session, COLOUR_NEVER) != EXIT_FINE) {
        return 0;
    }
    char path[32];
    const struct array_file file = file_of(data + 1, size - 1, path, sizeof path);
    const int code =
        (data[0] % 2 == 0 ? zip_open : safetensors_open)(&session, &file, &list, &count);
    for (size_t i = 0; code == EXIT_FINE && i < count; i++) {
        INSIST(list[i].name != NULL);
        list[i].file = file;
        if (array_load(&session, &list[i]) == EXIT_FINE) {
            (void)sum_of(&list[i].view);
        }
    }
    session_close(&session);
    (void)close(file.fd);
    return 0;
}
