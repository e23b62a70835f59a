/*
 * Distributed tensors: each rank holds the part that a sharding gives its device.
 *
 * Calls that create or move tensors are collective over the world: every rank makes them, with the
 * same arguments, in the same order. If one rank rejects a call, it fails on all of them and no
 * tensor changes.
 */
#ifndef TESSERA_TENSOR_H
#define TESSERA_TENSOR_H

#include <tessera/comm.h>
#include <tessera/dialect.h>
#include <tessera/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_tensor tsr_tensor;

/*
 * The layout and type of a tensor, without its elements; at most 32 dimensions. The number of
 * devices of the sharding's mesh must be the number of ranks of the world.
 */
typedef struct tsr_tensor_spec {
    const tsr_sharding *sharding;
    tsr_dtype dtype;
    size_t rank;
    TSR_ARRAY(rank) const int64_t *shape;
} tsr_tensor_spec;

/*
 * Reads a spec from texts. The type is a shape with an element type as tsr_shape_parse reads it,
 * "f32[8,16]"; the layout is in any notation that tsr_layouts_read accepts: "[{\"x\"}, {}]",
 * "P('x', None)", "[Shard(0)]"; NULL: replicated. All parts of the spec are allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_spec_parse(tsr_context *ctx, tsr_arena *arena,
                                                       const tsr_mesh *mesh, const char *type,
                                                       TSR_NULLABLE const char *layout,
                                                       tsr_tensor_spec *out) TSR_MT_CONTEXT;

/*
 * Creates a tensor of zeros with memory of its own, in this rank's segment. The sharding is copied.
 * Release it when it is no longer needed, before the rank's function ends.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_create(tsr_comm *world, const tsr_tensor_spec *spec,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Creates a tensor over the caller's memory: this rank's part, row-major in the sizes that
 * tsr_geometry_stored_size gives, or with `strides` in bytes (NULL: row-major). `data` is the
 * element at index 0 in every dimension; it may be NULL if a rank has none. The caller still owns
 * the memory, which must outlive the tensor.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_wrap(tsr_comm *world, const tsr_tensor_spec *spec,
                                                 TSR_NULLABLE void *data,
                                                 TSR_NULLABLE const int64_t *strides,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * tsr_tensor_release releases one reference; it does nothing if the tensor is NULL.
 * tsr_tensor_retain adds one. Not collective.
 */
TSR_API void tsr_tensor_release(TSR_NULLABLE tsr_tensor *tensor) TSR_MT_CONTEXT;
TSR_API tsr_tensor *tsr_tensor_retain(tsr_tensor *tensor) TSR_MT_CONTEXT;

/* Return the world, the layout and the type of a tensor, owned by it. */
TSR_API tsr_comm *tsr_tensor_world(const tsr_tensor *tensor) TSR_MT_SAFE;
TSR_API const tsr_sharding *tsr_tensor_sharding(const tsr_tensor *tensor) TSR_MT_SAFE;
TSR_API const tsr_geometry *tsr_tensor_geometry(const tsr_tensor *tensor) TSR_MT_SAFE;
TSR_API tsr_dtype tsr_tensor_dtype(const tsr_tensor *tensor) TSR_MT_SAFE;

/*
 * Returns the element type in which what is pending is kept, moved and reduced: f32 for sums of f16
 * and bf16 that ops leave (eager.h), else that of the tensor.
 */
TSR_API tsr_dtype tsr_tensor_pending_dtype(const tsr_tensor *tensor) TSR_MT_SAFE;
TSR_API size_t tsr_tensor_rank(const tsr_tensor *tensor) TSR_MT_SAFE;
/* Return this rank's part: its memory, its sizes as stored, and its strides in bytes. */
TSR_API void *tsr_tensor_data(const tsr_tensor *tensor) TSR_MT_SAFE;
TSR_API const int64_t *tsr_tensor_local_shape(const tsr_tensor *tensor) TSR_MT_SAFE;
TSR_API const int64_t *tsr_tensor_strides(const tsr_tensor *tensor) TSR_MT_SAFE;

/* Writes the element at a global index to `element`. */
typedef void (*tsr_element_function)(const int64_t *index, void *element, void *state);

/* Sets every element that this rank holds, from its global index. Not collective. */
TSR_API void tsr_tensor_fill(tsr_tensor *tensor, tsr_element_function function,
                             TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/* Calls the function with every element that this rank holds. Not collective. */
TSR_API void tsr_tensor_visit(const tsr_tensor *tensor, tsr_element_function function,
                              TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * Creates a tensor from a full array, row-major, on rank `root`; the others pass NULL. With root -1
 * every rank has the same array and copies its part, without communication; except in typed code,
 * arrays of up to 64 bytes are compared, larger ones in checked mode only. The sharding must not
 * have pending reductions.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_from_full(tsr_comm *world, const tsr_tensor_spec *spec,
                                                      int64_t root, TSR_NULLABLE const void *full,
                                                      tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Copies the full array, row-major, to rank `root`, or to every rank with root -1; others pass
 * NULL. Pending reductions are performed.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_to_full(tsr_tensor *tensor, int64_t root,
                                                    TSR_NULLABLE void *full) TSR_MT_CONTEXT;

/*
 * Creates a tensor from a `.npy` file, which determines shape and type. Every rank reads its part
 * of the file, without communication: all must see the same file. Supports versions 1 to 3 of the
 * format, elements of one byte or little endian, row-major or column-major; bf16 as NumPy with
 * ml_dtypes and earlier versions write it ('<V2'). The sharding must not have pending reductions. A
 * file that is truncated while it is read is an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_load_npy(tsr_comm *world, const tsr_sharding *sharding,
                                                     const char *path,
                                                     tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Writes a tensor to a `.npy` file, row-major; pending reductions are performed. Each rank writes
 * its own share, in a layout that gives it long runs of the file, to `<path>.partial`, which all
 * ranks must see; the file is renamed, and gets the permissions of a file that it replaces, when
 * all ranks have written. If the path is a link, the file it points to is replaced; a path that is
 * not a regular file is rejected. Element types for which the format has no name, such as bf16, are
 * TSR_ERR_UNSUPPORTED.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_save_npy(tsr_tensor *tensor,
                                                     const char *path) TSR_MT_CONTEXT;

/*
 * Creates a tensor with the same elements in another layout over the same devices. Pending
 * reductions that the new sharding does not have are performed, in group order, f16 and bf16 in
 * f32.
 */
TSR_API TSR_NODISCARD tsr_status tsr_redistribute(tsr_tensor *tensor, const tsr_sharding *sharding,
                                                  tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Redistributes into an existing tensor of the same shape and type. The memory ranges of src and
 * dst must not overlap, neither on one rank nor between ranks.
 */
TSR_API TSR_NODISCARD tsr_status tsr_redistribute_into(tsr_tensor *dst,
                                                       tsr_tensor *src) TSR_MT_CONTEXT;

/*
 * Redistributes by a plan (plan.h) from the layout of `src` to that of `dst`, which must be equal
 * on every rank. Tensors between two steps are freed as soon as they have been read; if one rank
 * cannot allocate one, every rank gets the same message.
 */
TSR_API TSR_NODISCARD tsr_status tsr_redistribute_by(tsr_tensor *dst, tsr_tensor *src,
                                                     const tsr_plan *plan) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
