/* Arrays in files: `.npy`, `.npz` and `.safetensors`. */
#ifndef TOOL_ARRAY_FILE_H
#define TOOL_ARRAY_FILE_H

#include "session.h"

/* An array with the name it has in its file; of a `.npy` the file's, without folder and ending. */
struct named_array {
    const char *name;
    tsr_view view;
};

/* Whether a path has one of the endings. */
bool is_array_file(const char *path);

/* Reads all arrays of a file. They stay in memory until the session ends. */
int arrays_read(struct session *session, const char *path, struct named_array **list,
                size_t *count);

/*
 * Writes arrays, row-major ones: to a `.npz` or `.safetensors` file, or one `.npy` each into a
 * folder, which is made.
 */
int arrays_write(struct session *session, const char *path, const struct named_array *list,
                 size_t count);

/* ---- the formats ---- */

struct file_bytes {
    const char *data;
    size_t size;
};

int zip_read(struct session *session, const char *path, struct file_bytes file,
             struct named_array **list, size_t *count);
int zip_write(struct session *session, const char *path, const struct named_array *list,
              size_t count);
int safetensors_read(struct session *session, const char *path, struct file_bytes file,
                     struct named_array **list, size_t *count);
int safetensors_write(struct session *session, const char *path, const struct named_array *list,
                      size_t count);

/* The bytes of a packed array's elements. */
size_t array_bytes(const tsr_view *view);

#endif
