/* The header of a `.npy` file. */
#ifndef FILE_NPY_H
#define FILE_NPY_H

#include <tessera/npy.h>

#include "base/base.h"
#include "base/diag.h"

enum { NPY_MAX_RANK = 32 };

typedef struct npy_head {
    tsr_dtype dtype;
    bool column_major;
    size_t rank;
    int64_t shape[NPY_MAX_RANK];
    size_t data;   /* where the items start */
    int64_t bytes; /* of all items */
} npy_head;

/*
 * Reads the header of a file that is `size` bytes long, of which the first `given` ones are here;
 * checks that it has all items.
 */
tsr_status npy_read_head(tsr_context *ctx, const char *name, const char *file, size_t given,
                         size_t size, npy_head *out);

/* The header of a row-major array, 64-byte aligned, as in the file. Allocated in the arena. */
tsr_status npy_write_head(tsr_context *ctx, tsr_arena *arena, tsr_dtype dtype, size_t rank,
                          const int64_t *shape, const char **out, size_t *size);

#endif
