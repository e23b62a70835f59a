#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes room for another read. */
static bool grow(input *in, size_t *capacity)
{
    if (in->size < *capacity) {
        return true;
    }
    *capacity = *capacity > 0 ? 2 * *capacity : (size_t)1 << 16;
    char *memory = realloc(in->memory, *capacity);
    if (memory == NULL) {
        return false;
    }
    in->memory = memory;
    return true;
}

static bool read_all(int file, input *in)
{
    size_t capacity = 0;
    for (;;) {
        if (!grow(in, &capacity)) {
            return false;
        }
        const ssize_t count = read(file, in->memory + in->size, capacity - in->size);
        if (count == 0) {
            in->data = in->memory;
            return true;
        }
        if (count < 0 && errno != EINTR) {
            return false;
        }
        in->size += count > 0 ? (size_t)count : 0;
    }
}

/* Maps a plain file; false when it is none, or cannot be mapped. */
static bool map_file(int file, input *in)
{
    struct stat facts;
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0) {
        return false;
    }
    void *map = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) {
        return false;
    }
    in->map = map;
    in->data = map;
    in->size = (size_t)facts.st_size;
    return true;
}

bool input_open(const char *path, input *out)
{
    const bool standard = path == NULL || strcmp(path, "-") == 0;
    input in = {.name = standard ? "<stdin>" : path};
    const int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    const bool read = (!standard && map_file(file, &in)) || read_all(file, &in);
    const int reason = errno;
    if (!standard) {
        close(file);
    }
    if (!read) {
        free(in.memory);
        errno = reason;
        return false;
    }
    *out = in;
    return true;
}

void input_close(input *in)
{
    if (in->map != NULL) {
        munmap(in->map, in->size);
    }
    free(in->memory);
    *in = (input){0};
}

static bool is_marker(const input *in, const char *marker, size_t size, size_t at)
{
    return at + size <= in->size && memcmp(in->data + at, marker, size) == 0 &&
           (at + size == in->size || in->data[at + size] != '-');
}

/* The start of the line after a byte, or the end of the input. */
static size_t next_line(const input *in, size_t from)
{
    const char *end = from < in->size ? memchr(in->data + from, '\n', in->size - from) : NULL;
    return end != NULL ? (size_t)(end - in->data) + 1 : in->size;
}

size_t input_piece(const input *in, const char *marker, size_t from, size_t *next)
{
    const size_t size = strlen(marker);
    for (size_t at = from; at < in->size; at = next_line(in, at)) {
        if (is_marker(in, marker, size, at)) {
            *next = next_line(in, at);
            return at;
        }
    }
    *next = in->size;
    return in->size;
}
