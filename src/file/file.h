/* What the formats share: a file that is open, the arrays in it, and bytes that are written. */
#ifndef FILE_FILE_H
#define FILE_FILE_H

#include <tessera/file.h>

#include <sys/types.h>

#include "base/base.h"
#include "base/diag.h"

/* A regular file, open for reading. */
typedef struct file_input {
    tsr_context *ctx;
    tsr_arena *arena;
    const char *path;
    int fd;
    uint64_t size;
    dev_t device;
    ino_t inode;
} file_input;

/* Where an array is in its file. */
typedef struct file_array {
    const char *name;
    tsr_view view;   /* without data */
    uint64_t bytes;  /* of the elements */
    uint64_t at;     /* where its bytes are in the file */
    uint64_t packed; /* so many, deflated; 0: as they are */
    uint64_t skip;   /* bytes before the elements, once they are not deflated */
} file_array;

typedef struct file_arrays {
    file_array *list;
    size_t count;
} file_arrays;

/* The most that a reader takes at once of what precedes the elements. */
enum { FILE_MAX_HEAD = 1 << 20, FILE_MAX_RANK = 32 };

/* Reads so many bytes at an offset; an error where the file has not so many. */
tsr_status file_read(const file_input *in, uint64_t at, void *out, size_t size);

/* "PATH is not a FORMAT file: why". */
tsr_status file_broken(const file_input *in, const char *format, const char *why);

/* Computes the bytes of the elements of a view; false when they are more than 2^63-1. */
bool file_count_bytes(const tsr_view *view, uint64_t *out);

/* A text in the arena of a file, or NULL. */
const char *file_name_of(const file_input *in, const char *text, size_t size);

/* A file that is written, through the function of a caller. */
typedef struct file_output {
    tsr_context *ctx;
    tsr_arena *arena; /* for what is needed until all is written */
    tsr_file_write write;
    void *state;
    uint64_t at; /* bytes written */
    bool stopped;
} file_output;

void file_put(file_output *out, const void *bytes, size_t size);
/* Little-endian. */
void file_put_number(file_output *out, uint64_t value, size_t bytes);

tsr_status zip_open(const file_input *in, file_arrays *out);
/* Unpacks the first `size` bytes of deflated ones. */
tsr_status zip_unpack(const file_input *in, uint64_t at, uint64_t packed, char *out, size_t size,
                      bool *unpacked);
tsr_status zip_write(file_output *out, const tsr_named_view *arrays, size_t count);

tsr_status safetensors_open(const file_input *in, file_arrays *out);
tsr_status safetensors_write(file_output *out, const tsr_named_view *arrays, size_t count);

#endif
