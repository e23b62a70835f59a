/* Arrays in the format of NumPy's `.npy` files, in memory. */
#ifndef TESSERA_NPY_H
#define TESSERA_NPY_H

#include <tessera/context.h>
#include <tessera/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads an array from all bytes of a file: returns a view into them, with strides for column-major
 * arrays. '<V2', which NumPy with ml_dtypes writes, is bf16. `name` is for messages. Shape and
 * strides are allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_npy_view(tsr_context *ctx, tsr_arena *arena,
                                              TSR_NULLABLE const char *name,
                                              TSR_ARRAY(size) const char *bytes, size_t size,
                                              tsr_view *out) TSR_MT_CONTEXT;

/*
 * Reads the header from the first `given` bytes of a file that is `size` bytes long. Sets element
 * type, shape and strides of `out`, which has no data, and the offset in the file where the
 * elements start. Shape and strides are allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_npy_head(tsr_context *ctx, tsr_arena *arena,
                                              TSR_NULLABLE const char *name,
                                              TSR_ARRAY(given) const char *bytes, size_t given,
                                              size_t size, tsr_view *out,
                                              size_t *start) TSR_MT_CONTEXT;

/*
 * Writes the header of a file for a row-major array. bf16 and element types for which the format
 * has no name are stored as unsigned integers of their size, which NumPy reads without ml_dtypes.
 * Allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_npy_header(tsr_context *ctx, tsr_arena *arena, tsr_dtype dtype,
                                                size_t rank, TSR_ARRAY(rank) const int64_t *shape,
                                                const char **out, size_t *size) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
