/* Geometry: which part of a tensor of a given shape each device holds under a sharding. */
#ifndef TESSERA_GEOMETRY_H
#define TESSERA_GEOMETRY_H

#include <tessera/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_geometry tsr_geometry;

/*
 * Prepares the geometry of a sharding for a shape of its rank. Checks the rank, that every extent
 * is known and >= 0, that sizes and counts are bound and sum to the extent, and that the number of
 * elements fits. Asking for boxes and pieces then neither fails nor allocates.
 *
 * On a maximal mesh the sharding has rank 0 whatever the tensor's rank is: do not ask it for the
 * tensor's dimensions. The padding rows that `align` adds are not part of the tensor: only
 * tsr_geometry_stored_size counts them.
 *
 * The geometry of a tensor of an abstract world (tsr_tensor_geometry) may have unbound dimensions:
 * sizes and starts of what devices hold along these are TSR_UNKNOWN, and so is the number of
 * pieces. Calls that need them, as tsr_geometry_holders and tsr_plan_create, refuse it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_geometry_create(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_sharding *sharding, size_t rank,
                                                     TSR_ARRAY(rank) const int64_t *shape,
                                                     const tsr_geometry **out) TSR_MT_CONTEXT;

TSR_API const tsr_sharding *tsr_geometry_sharding(const tsr_geometry *geometry) TSR_MT_SAFE;
/* Returns the tensor's rank and shape. */
TSR_API size_t tsr_geometry_rank(const tsr_geometry *geometry) TSR_MT_SAFE;
TSR_API const int64_t *tsr_geometry_shape(const tsr_geometry *geometry) TSR_MT_SAFE;

/*
 * Returns the largest part a device holds, per dimension: the chunk, or the largest of explicit
 * sizes.
 */
TSR_API void tsr_geometry_local_shape(const tsr_geometry *geometry,
                                      TSR_ARRAY(tsr_geometry_rank(geometry))
                                          int64_t *local_shape) TSR_MT_SAFE;
/* Returns the smallest part that a shard holds, per dimension: 0 where one is empty. */
TSR_API void tsr_geometry_least_shape(const tsr_geometry *geometry,
                                      TSR_ARRAY(tsr_geometry_rank(geometry))
                                          int64_t *least_shape) TSR_MT_SAFE;
/* Returns the local shape times the number of shards, per dimension. */
TSR_API void tsr_geometry_padded_shape(const tsr_geometry *geometry,
                                       TSR_ARRAY(tsr_geometry_rank(geometry))
                                           int64_t *padded_shape) TSR_MT_SAFE;

/*
 * Returns the box a device holds: start and size per dimension. A device with nothing has a size of
 * 0 somewhere. False when the mesh does not have the device. In an unaligned dimension `size`
 * counts the rows held and `start` is the first of them: the rows need not be adjacent, see the
 * pieces.
 */
TSR_API bool tsr_geometry_box(const tsr_geometry *geometry, int64_t device,
                              TSR_ARRAY(tsr_geometry_rank(geometry)) int64_t *start,
                              TSR_ARRAY(tsr_geometry_rank(geometry)) int64_t *size) TSR_MT_SAFE;

/*
 * What a device stores, per dimension: the size of its box, but each partition of an aligned
 * dimension rounded up to the alignment. False when the mesh does not have the device.
 */
TSR_API bool tsr_geometry_stored_size(const tsr_geometry *geometry, int64_t device,
                                      TSR_ARRAY(tsr_geometry_rank(geometry))
                                          int64_t *size) TSR_MT_SAFE;

typedef struct tsr_interval {
    int64_t start;
    int64_t size;
} tsr_interval;

/*
 * Returns the rows of one dimension that a device holds, as intervals in ascending order, none
 * empty, neighbours joined: one or none, except in an unaligned dimension. Returns how many there
 * are; at most `capacity` are written. -1 when the mesh does not have the device.
 */
TSR_API int64_t tsr_geometry_pieces(const tsr_geometry *geometry, int64_t device, size_t dim,
                                    size_t capacity,
                                    TSR_ARRAY(capacity) tsr_interval *pieces) TSR_MT_SAFE;

/* The devices that hold an element (index within the shape), in mesh order: how many, and each. */
typedef struct tsr_devices tsr_devices;
TSR_API TSR_NODISCARD tsr_status tsr_geometry_holders(tsr_context *ctx, tsr_arena *arena,
                                                      const tsr_geometry *geometry,
                                                      TSR_ARRAY(tsr_geometry_rank(geometry))
                                                          const int64_t *index,
                                                      const tsr_devices **out) TSR_MT_CONTEXT;
TSR_API int64_t tsr_devices_count(const tsr_devices *devices) TSR_MT_SAFE;
TSR_API int64_t tsr_devices_at(const tsr_devices *devices, int64_t index) TSR_MT_SAFE;

/*
 * Returns whether two shardings of one shape place every element on the same devices and leave the
 * same reduction pending over the same devices. The meshes may differ in axes, names and device
 * order. Decided from (size, stride) pairs, whatever the number of devices, except where ids are
 * arbitrary lists or a sub-axis cuts across a transposed iota: then devices are compared one by
 * one, up to 2^26 of them, and TSR_ERR_LIMIT beyond. With unbound dimensions they are the same
 * where they are for every binding: as tsr_sharding_equivalent says.
 */
TSR_API TSR_NODISCARD tsr_status tsr_geometry_same(tsr_context *ctx, const tsr_geometry *a,
                                                   const tsr_geometry *b, bool *out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
