#include "tensor_bytes.h"

#include <string.h>

#include <tessera/geometry.h>

int64_t tensor_bytes(struct session *session, const tsr_program *p, tsr_ir_type type,
                     const tsr_sharding *sharding)
{
    size_t rank = 0;
    const int64_t *shape = NULL;
    const tsr_geometry *geometry = NULL;
    tsr_dtype dtype;
    if (!tsr_ir_type_shape(p, type, &rank, &shape) || !tsr_ir_type_dtype(p, type, &dtype)) {
        return -1;
    }
    int64_t *local = session_alloc(session, rank, sizeof *local);
    memcpy(local, shape, rank * sizeof *local);
    if (sharding != NULL && tsr_sharding_rank(sharding) == rank) {
        if (tsr_geometry_create(session->ctx, session->arena, sharding, rank, shape, &geometry) <
            0) {
            tsr_context_clear(session->ctx);
            return -1;
        }
        tsr_geometry_local_shape(geometry, local);
    }
    int64_t elements = 1;
    for (size_t d = 0; d < rank; d++) {
        elements *= local[d];
    }
    return tsr_dtype_bytes(dtype, elements);
}
