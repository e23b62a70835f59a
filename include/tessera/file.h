/*
 * Arrays in files: `.npy`, `.npz` and `.safetensors`.
 *
 * Opening a file reads its headers only: names, element types and shapes of its arrays. The
 * elements of an array are read when they are requested, so a wrong shape costs nothing. Files are
 * untrusted: whatever their bytes are, a call returns arrays that lie inside the file, or an error.
 */
#ifndef TESSERA_FILE_H
#define TESSERA_FILE_H

#include <tessera/context.h>
#include <tessera/npy.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_file_format {
    TSR_FILE_NPY,        /* one array */
    TSR_FILE_NPZ,        /* a zip archive of `.npy` files, stored or deflated */
    TSR_FILE_SAFETENSORS /* a header of JSON, then the elements of all arrays */
} tsr_file_format;

/* Finds the format that the ending of a path names; returns false for other endings. */
TSR_API bool tsr_file_format_of(const char *path, tsr_file_format *out) TSR_MT_SAFE;

typedef struct tsr_array_file tsr_array_file;

/*
 * Opens a file, in the format that its ending names (`.npy` for other endings), and reads its
 * headers. Rejects a path that is not a regular file: a pipe cannot be read at offsets. The object
 * is allocated in the arena; it holds no descriptor.
 */
TSR_API TSR_NODISCARD tsr_status tsr_array_file_open(tsr_context *ctx, tsr_arena *arena,
                                                     const char *path,
                                                     const tsr_array_file **out) TSR_MT_CONTEXT;

/* Returns the number of arrays in a file. */
TSR_API size_t tsr_array_file_count(const tsr_array_file *file) TSR_MT_SAFE;

/*
 * Returns the name of an array, owned by the file: that in the file, or for a `.npy` file its own
 * name without folder and ending. NULL if the index is out of range.
 */
TSR_API const char *tsr_array_file_name(const tsr_array_file *file, size_t index) TSR_MT_SAFE;

/*
 * Returns element type, shape and strides of an array, owned by the file, without data; zeros if
 * the index is out of range.
 */
TSR_API tsr_view tsr_array_file_view(const tsr_array_file *file, size_t index) TSR_MT_SAFE;

/* Returns the bytes of the elements of an array; 0 if the index is out of range. */
TSR_API size_t tsr_array_file_bytes(const tsr_array_file *file, size_t index) TSR_MT_SAFE;

/*
 * Reads the elements of an array to memory of tsr_array_file_bytes bytes, in the order that the
 * strides of its view describe. Fails if the file has changed since it was opened.
 */
TSR_API TSR_NODISCARD tsr_status tsr_array_file_read(tsr_context *ctx, const tsr_array_file *file,
                                                     size_t index,
                                                     TSR_NULLABLE void *data) TSR_MT_CONTEXT;

/* A row-major array with a name. */
typedef struct tsr_named_view {
    const char *name;
    tsr_view view;
} tsr_named_view;

/* Receives the next bytes of a file that is written; returns false to stop. */
typedef bool (*tsr_file_write)(void *state, const char *bytes, size_t size);

/*
 * Writes row-major arrays as a file, through `write`: any number of them, or one for `.npy`.
 * Element types for which the format has no name are stored as unsigned integers of their size; one
 * that
 * `.safetensors` cannot store is TSR_ERR_UNSUPPORTED. Nothing is written if an array is rejected.
 * Returns TSR_ERR_INVALID if `write` returned false.
 */
TSR_API TSR_NODISCARD tsr_status tsr_arrays_write(tsr_context *ctx, tsr_file_format format,
                                                  TSR_ARRAY(count) const tsr_named_view *arrays,
                                                  size_t count, tsr_file_write write,
                                                  TSR_NULLABLE void *state) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
