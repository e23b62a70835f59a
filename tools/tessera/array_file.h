/*
 * Arrays in files, for a session: opened, loaded, written.
 *
 * Opening a file reads what its headers say about its arrays; loading one reads its elements.
 */
#ifndef TOOL_ARRAY_FILE_H
#define TOOL_ARRAY_FILE_H

#include <tessera/file.h>

#include "session.h"

/* An array with the name it has in its file. */
struct named_array {
    const char *name;
    const char *path;
    tsr_view view; /* without data until it is loaded */
    const tsr_array_file *file;
    size_t index;
};

/* Whether a path has one of the endings. */
bool is_array_file(const char *path);

/* Lists the arrays of a file: names, types, shapes. */
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

/* The bytes of a packed array's elements. */
size_t array_bytes(const tsr_view *view);

#endif
