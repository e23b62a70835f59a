/* What a distributed tensor is inside. */
#ifndef RT_TENSOR_H
#define RT_TENSOR_H

#include <tessera/tensor.h>

#include "rt/comm.h"
#include "shard/geometry.h"

struct tsr_tensor {
    tsr_comm *world;
    tsr_arena *arena; /* of everything here but the data */
    int64_t references;
    const tsr_geometry *geometry;
    tsr_dtype dtype;
    char *data;
    int64_t *local_shape;
    int64_t *strides;
    size_t bytes; /* owned; 0 when the memory is the caller's */
    bool row_major;
    void (*on_release)(void *state); /* gives the memory back, instead of the segment; or NULL */
    void *release_state;
};

/* Whether other ranks can reach the data, and know its strides. */
bool tensor_is_shared(const tsr_tensor *tensor);

/* How many elements this rank stores, pad rows included. */
int64_t tensor_elements(const tsr_tensor *tensor);

/* The addresses of its first byte and behind its last; the same when it has none. */
void tensor_span(const tsr_tensor *tensor, uintptr_t *low, uintptr_t *high);

/* Row-major strides, in bytes, of what a device stores under a geometry; returns the bytes. */
int64_t stored_strides(const tsr_geometry *geometry, int64_t device, tsr_dtype dtype,
                       int64_t *strides);

/* A tensor that only this rank makes: the others do so at the same place in the program. */
tsr_status tensor_make(tsr_comm *world, const tsr_tensor_spec *spec, void *data,
                       const int64_t *strides, tsr_tensor **out);

/* The arena's own copy of a sharding, its mesh included. */
tsr_status sharding_copy(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                         const tsr_sharding **out);

/* tsr_redistribute_into, but that only one rank's part of the destination is written; -1 for all.
 */
tsr_status redistribute_to(tsr_tensor *dst, tsr_tensor *src, int64_t only);

/* The strides, in bytes, of a full array. */
void full_strides(const tsr_geometry *geometry, tsr_dtype dtype, bool column_major,
                  int64_t *strides);

/* Copies a rank's part out of a full array with those strides; returns its bytes. */
int64_t copy_part(const tsr_tensor *t, int64_t rank, const void *full, const int64_t *strides,
                  char *part);

#endif
