/* Geometry: the part of a tensor of a given shape that each device holds under a sharding. */
#ifndef TESSERA_GEOMETRY_H
#define TESSERA_GEOMETRY_H

#include <tessera/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_geometry tsr_geometry;

/*
 * Computes the geometry of a sharding for a shape of its rank. Checks the rank, that every extent
 * is known and >= 0, that sizes and counts are bound and sum to the extent, and that the number of
 * elements does not overflow. Queries for boxes and pieces then neither fail nor allocate.
 *
 * On a maximal mesh the sharding has rank 0 for every rank of the tensor: do not use it for the
 * tensor's dimensions. Padding rows that `align` adds do not belong to the tensor: only
 * tsr_geometry_stored_size counts them.
 *
 * The geometry of a tensor of an abstract world (tsr_tensor_geometry) may have unbound dimensions:
 * sizes and starts along them are TSR_UNKNOWN, and so is the number of pieces. Calls that need
 * these numbers, such as tsr_plan_create, reject such a geometry.
 */
TSR_API TSR_NODISCARD tsr_status tsr_geometry_create(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_sharding *sharding, size_t rank,
                                                     TSR_ARRAY(rank) const int64_t *shape,
                                                     const tsr_geometry **out) TSR_MT_CONTEXT;

TSR_API const tsr_sharding *tsr_geometry_sharding(const tsr_geometry *geometry) TSR_MT_SAFE;
/* Return the rank and the shape of the tensor. */
TSR_API size_t tsr_geometry_rank(const tsr_geometry *geometry) TSR_MT_SAFE;
TSR_API const int64_t *tsr_geometry_shape(const tsr_geometry *geometry) TSR_MT_SAFE;

/*
 * Computes the size of the largest part that a device holds, per dimension: the chunk, or the
 * largest explicit size.
 */
TSR_API void tsr_geometry_local_shape(const tsr_geometry *geometry,
                                      TSR_ARRAY(tsr_geometry_rank(geometry))
                                          int64_t *local_shape) TSR_MT_SAFE;
/* Computes the size of the smallest part that a shard holds, per dimension: 0 if one is empty. */
TSR_API void tsr_geometry_least_shape(const tsr_geometry *geometry,
                                      TSR_ARRAY(tsr_geometry_rank(geometry))
                                          int64_t *least_shape) TSR_MT_SAFE;
/* Computes the local shape times the number of shards, per dimension. */
TSR_API void tsr_geometry_padded_shape(const tsr_geometry *geometry,
                                       TSR_ARRAY(tsr_geometry_rank(geometry))
                                           int64_t *padded_shape) TSR_MT_SAFE;

/*
 * Computes the box that a device holds: start and size per dimension. The box of a device that
 * holds nothing has a size of 0 in some dimension. Returns false if the device is not in the mesh.
 * In an unaligned dimension `size` counts the rows held and `start` is the first of them; the rows
 * need not be adjacent, see tsr_geometry_pieces.
 */
TSR_API bool tsr_geometry_box(const tsr_geometry *geometry, int64_t device,
                              TSR_ARRAY(tsr_geometry_rank(geometry)) int64_t *start,
                              TSR_ARRAY(tsr_geometry_rank(geometry)) int64_t *size) TSR_MT_SAFE;

/*
 * Computes the size that a device stores, per dimension: the size of its box, with each partition
 * of an aligned dimension rounded up to the alignment. Returns false if the device is not in the
 * mesh.
 */
TSR_API bool tsr_geometry_stored_size(const tsr_geometry *geometry, int64_t device,
                                      TSR_ARRAY(tsr_geometry_rank(geometry))
                                          int64_t *size) TSR_MT_SAFE;

typedef struct tsr_interval {
    int64_t start;
    int64_t size;
} tsr_interval;

/*
 * Computes the rows of one dimension that a device holds, as non-empty intervals in ascending order
 * with neighbours joined: at most one, except in an unaligned dimension. Returns their number and
 * writes at most `capacity` of them. Returns -1 if the device is not in the mesh.
 */
TSR_API int64_t tsr_geometry_pieces(const tsr_geometry *geometry, int64_t device, size_t dim,
                                    size_t capacity,
                                    TSR_ARRAY(capacity) tsr_interval *pieces) TSR_MT_SAFE;

/*
 * Finds the devices that hold an element (index within the shape), in mesh order. The set is
 * allocated in the arena; tsr_devices_count and tsr_devices_at enumerate it.
 */
typedef struct tsr_devices tsr_devices;
TSR_API TSR_NODISCARD tsr_status tsr_geometry_holders(tsr_context *ctx, tsr_arena *arena,
                                                      const tsr_geometry *geometry,
                                                      TSR_ARRAY(tsr_geometry_rank(geometry))
                                                          const int64_t *index,
                                                      const tsr_devices **out) TSR_MT_CONTEXT;
TSR_API int64_t tsr_devices_count(const tsr_devices *devices) TSR_MT_SAFE;
TSR_API int64_t tsr_devices_at(const tsr_devices *devices, int64_t index) TSR_MT_SAFE;

/*
 * Decides whether two shardings of one shape place every element on the same devices and leave the
 * same reduction pending over the same devices. The meshes may differ in axes, names and device
 * order. Uses (size, stride) pairs, so the cost does not depend on the number of devices, unless
 * device ids are arbitrary lists or a sub-axis cuts across a transposed iota: then devices are
 * compared one by one, up to 2^26 of them, and TSR_ERR_LIMIT beyond. Geometries with unbound
 * dimensions are the same if they are for every binding, as for tsr_sharding_equivalent.
 */
TSR_API TSR_NODISCARD tsr_status tsr_geometry_same(tsr_context *ctx, const tsr_geometry *a,
                                                   const tsr_geometry *b, bool *out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
