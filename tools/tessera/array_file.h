/*
 * Arrays in files: `.npy`, `.npz` and `.safetensors`.
 *
 * Opening a file reads what it says about its arrays; loading one reads its elements.
 */
#ifndef TOOL_ARRAY_FILE_H
#define TOOL_ARRAY_FILE_H

#include <sys/types.h>

#include "session.h"

/* A file that is open. */
struct array_file {
    const char *path;
    int fd;
    uint64_t size;
    dev_t device;
    ino_t number;
};

/* An array with the name it has in its file; of a `.npy` the file's, without folder and ending. */
struct named_array {
    const char *name;
    tsr_view view; /* without data until it is loaded */
    struct array_file file;
    uint64_t at;     /* where its bytes are in the file */
    uint64_t packed; /* so many, deflated; 0: as they are */
    uint64_t skip;   /* bytes before the elements, once they are not deflated */
};

/* Whether a path has one of the endings. */
bool is_array_file(const char *path);

/* Lists the arrays of a file: names, types, shapes. A file that is not a regular one is refused. */
int arrays_open(struct session *session, const char *path, struct named_array **list,
                size_t *count);

/* Reads the elements of an array. They stay in memory until the session ends. */
int array_load(struct session *session, struct named_array *array);

/*
 * Writes arrays, row-major ones: to a `.npz` or `.safetensors` file, or one `.npy` each into a
 * folder, which is made.
 */
int arrays_write(struct session *session, const char *path, const struct named_array *list,
                 size_t count);

/* ---- the formats ---- */

/* The most that a reader takes at once of what stands before the elements. */
enum { MAX_ARRAY_HEAD = 1 << 20 };

/* Reads so many bytes at an offset; an error where the file has not so many. */
int file_read(const struct array_file *file, uint64_t at, void *out, size_t size);

int zip_open(struct session *session, const struct array_file *file, struct named_array **list,
             size_t *count);
/* Unpacks the first `size` bytes of deflated ones; false: they are broken. */
bool zip_unpack(const struct array_file *file, uint64_t at, uint64_t packed, char *out,
                size_t size);
int zip_write(struct session *session, const char *path, const struct named_array *list,
              size_t count);
int safetensors_open(struct session *session, const struct array_file *file,
                     struct named_array **list, size_t *count);
int safetensors_write(struct session *session, const char *path, const struct named_array *list,
                      size_t count);

/* The bytes of a packed array's elements. */
size_t array_bytes(const tsr_view *view);

#endif
