/*
 * Meshes: devices laid out along named axes.
 *
 * A mesh of axes a_0 .. a_k-1 numbers its places in row-major order, the last axis fastest. Each
 * place holds one device; unless device ids are given, place p holds device p. A mesh stores
 * nothing per device unless the ids are an arbitrary list: ids that are a transposed iota, the
 * usual case, are stored as (size, stride) pairs, so a mesh of 2^40 devices costs as much as one of
 * 8.
 */
#ifndef TESSERA_MESH_H
#define TESSERA_MESH_H

#include <tessera/axis.h>
#include <tessera/context.h>
#include <tessera/stride.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The description of a mesh. `device_ids`, unless NULL, lists the device at each place. A
 * transposed iota may be given instead, as HLO writes it: ids =
 * iota(n).reshape(iota_dims).transpose(iota_perm). No axes and no ids: the empty mesh, a
 * placeholder. No axes and one id: the maximal mesh, that one device. `name` may be NULL.
 */
typedef struct tsr_mesh_spec {
    TSR_NULLABLE const char *name;
    size_t num_axes;
    TSR_ARRAY(num_axes) const char *const *axis_names;
    TSR_ARRAY(num_axes) const int64_t *axis_sizes;
    size_t num_device_ids;
    TSR_ARRAY(num_device_ids) const int64_t *device_ids;
    size_t num_iota_dims;
    TSR_ARRAY(num_iota_dims) const int64_t *iota_dims;
    TSR_NULLABLE const int64_t *iota_perm; /* NULL: not transposed */
} tsr_mesh_spec;

/*
 * Creates a mesh in the arena; names and ids are copied. Rejects sizes below 1, negative ids, a
 * name used twice, a number of ids other than the number of places, ids that are not a permutation
 * of 0 .. n-1, more than 1024 axes, and more than 2^62 places. Ids equal to 0, 1, .. n-1 are
 * dropped.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_create(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_mesh_spec *spec,
                                                 const tsr_mesh **out) TSR_MT_CONTEXT;

/* How strictly a text is read. */
typedef enum tsr_reading {
    TSR_READ_PROGRAM, /* as in programs: canonical order, no empty lists */
    TSR_READ_LENIENT  /* as in the representation document: sorts, merges, accepts empty lists */
} tsr_reading;

/*
 * Reads a mesh at `text->at` and moves `at` past it: `<["x"=2, "y"=4], device_ids=[...]>`, also
 * with `#sdy.mesh` or `mesh` before it. The lenient reader also accepts the forms of the document:
 * `<"devices"=8>`, `{<["a"=4]>, device_ids=[...]}`, a definition `@name = ...`, and ids as a
 * transposed iota, `device_ids<=[4, 2]T(1, 0)`; also `x=2, y=4`, and meshes as Python prints them:
 * `Mesh('x': 2, 'y': 4)`, `Mesh(device_ids=array([[0, 1]]), axis_names=('x', 'y'))`,
 * `AbstractMesh(..)`, `DeviceMesh('cuda', [[0, 1]], mesh_dim_names=('dp', 'tp'))`,
 * `DeviceMesh((dp=2, tp=4), stride: (4, 1))`. Axes without a name become "d0", "d1", ...
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                                               tsr_reading reading,
                                               const tsr_mesh **out) TSR_MT_CONTEXT;

/* Reads a whole string as a mesh, leniently. */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_parse(tsr_context *ctx, tsr_arena *arena,
                                                const char *string,
                                                const tsr_mesh **out) TSR_MT_CONTEXT;

/*
 * Prints the canonical text, without the name. Ids are listed up to 2^20 of them; a larger mesh
 * prints them as a transposed iota, which the lenient reader accepts. The text is allocated in the
 * arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_print(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_mesh *mesh,
                                                const char **out) TSR_MT_CONTEXT;

/*
 * Creates a copy of a mesh under another name, or without a name if `name` is NULL. Allocated in
 * the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_rename(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_mesh *mesh,
                                                 TSR_NULLABLE const char *name,
                                                 const tsr_mesh **out) TSR_MT_CONTEXT;

/* Returns the name; NULL if the mesh has none. */
TSR_API const char *tsr_mesh_name(const tsr_mesh *mesh) TSR_MT_SAFE;
/* Returns the number of devices: the product of the axis sizes; 1 without axes. */
TSR_API int64_t tsr_mesh_num_devices(const tsr_mesh *mesh) TSR_MT_SAFE;
TSR_API size_t tsr_mesh_num_axes(const tsr_mesh *mesh) TSR_MT_SAFE;
TSR_API const char *tsr_mesh_axis_name(const tsr_mesh *mesh, size_t axis) TSR_MT_SAFE;
TSR_API int64_t tsr_mesh_axis_size(const tsr_mesh *mesh, size_t axis) TSR_MT_SAFE;
/* Returns the index of the axis with a name (not necessarily zero-terminated), or -1. */
TSR_API int32_t tsr_mesh_find_axis(const tsr_mesh *mesh, TSR_ARRAY(length) const char *name,
                                   size_t length) TSR_MT_SAFE;
/* Returns whether the mesh has one device and no axes. */
TSR_API bool tsr_mesh_is_maximal(const tsr_mesh *mesh) TSR_MT_SAFE;
/* Returns whether the mesh has neither axes nor a device. */
TSR_API bool tsr_mesh_is_empty(const tsr_mesh *mesh) TSR_MT_SAFE;
/* Returns whether every place p holds device p. */
TSR_API bool tsr_mesh_is_iota(const tsr_mesh *mesh) TSR_MT_SAFE;

/* Returns the device at a place, 0 <= place < num_devices. */
TSR_API int64_t tsr_mesh_device_at(const tsr_mesh *mesh, int64_t place) TSR_MT_SAFE;
/* Returns the place of a device, or -1 if the device is not in the mesh. */
TSR_API int64_t tsr_mesh_place_of(const tsr_mesh *mesh, int64_t device) TSR_MT_SAFE;
/*
 * Computes the coordinates (num_axes of them) of a device; returns false if the device is not in
 * the mesh.
 */
TSR_API bool tsr_mesh_coordinates(const tsr_mesh *mesh, int64_t device,
                                  TSR_ARRAY(tsr_mesh_num_axes(mesh))
                                      int64_t *coordinates) TSR_MT_SAFE;
/* Returns the device at coordinates, or -1 if one of them is out of range. */
TSR_API int64_t tsr_mesh_device(const tsr_mesh *mesh, TSR_ARRAY(tsr_mesh_num_axes(mesh))
                                                          const int64_t *coordinates) TSR_MT_SAFE;

/*
 * Returns whether axes (names, sizes, order) and device ids are equal. The meshes' own names do not
 * matter.
 */
TSR_API bool tsr_mesh_equal(const tsr_mesh *a, const tsr_mesh *b) TSR_MT_SAFE;
/* Returns whether the axes are equal, and both meshes are maximal or neither is. */
TSR_API bool tsr_mesh_equal_axes(const tsr_mesh *a, const tsr_mesh *b) TSR_MT_SAFE;
/*
 * Returns whether both are the same view: the same axis sizes in order and the same device at every
 * place, whatever the names.
 */
TSR_API bool tsr_mesh_same_view(const tsr_mesh *a, const tsr_mesh *b) TSR_MT_SAFE;
/* Returns whether both have the same set of devices. */
TSR_API bool tsr_mesh_same_devices(const tsr_mesh *a, const tsr_mesh *b) TSR_MT_SAFE;

/*
 * Decides whether an axis (or sub-axis) of one mesh is the same view as one of another: they cut
 * the devices into the same groups, in the same order within each. Devices are compared one by one
 * only where an axis cuts across the order of the ids or the ids are arbitrary lists; TSR_ERR_LIMIT
 * if that would be more than 2^26.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_same_axis(tsr_context *ctx, const tsr_mesh *a,
                                                    tsr_axis_ref axis_a, const tsr_mesh *b,
                                                    tsr_axis_ref axis_b, bool *out) TSR_MT_CONTEXT;

/*
 * Expresses an axis as (size, stride) pairs over device ids, major to minor and coalesced: the
 * devices of a group differ by sums of the strides. `out` has room for `capacity` pairs. Returns
 * TSR_NOT_APPLICABLE if the mesh's ids are an arbitrary list, or the sub-axis cuts across the pairs
 * of a transposed iota.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_axis_strides(const tsr_mesh *mesh, tsr_axis_ref axis,
                                                       size_t capacity,
                                                       TSR_ARRAY(capacity) tsr_stride *out,
                                                       size_t *count) TSR_MT_SAFE;

/*
 * The groups of devices that communicate along a list of axes and sub-axes: the devices of a group
 * differ only along the list. Within a group the order is row-major over the list in its order;
 * groups are in mesh order over the remaining axes. Stores nothing per device. Allocated in the
 * arena.
 */
typedef struct tsr_groups tsr_groups;
TSR_API TSR_NODISCARD tsr_status tsr_groups_create(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_mesh *mesh,
                                                   TSR_ARRAY(num_axes) const tsr_axis_ref *axes,
                                                   size_t num_axes,
                                                   const tsr_groups **out) TSR_MT_CONTEXT;
TSR_API int64_t tsr_groups_count(const tsr_groups *groups) TSR_MT_SAFE;
/* Returns the number of devices of each group. */
TSR_API int64_t tsr_groups_size(const tsr_groups *groups) TSR_MT_SAFE;
/* Returns the device at an index of a group. */
TSR_API int64_t tsr_groups_device(const tsr_groups *groups, int64_t group,
                                  int64_t index) TSR_MT_SAFE;
/*
 * Finds the group of a device and its index there; returns false if the device is not in the mesh.
 */
TSR_API bool tsr_groups_find(const tsr_groups *groups, int64_t device, int64_t *group,
                             int64_t *index) TSR_MT_SAFE;

/* A table of meshes by name, as a program defines them. */
typedef struct tsr_mesh_table tsr_mesh_table;
TSR_API TSR_NODISCARD tsr_status tsr_mesh_table_create(tsr_context *ctx, tsr_arena *arena,
                                                       tsr_mesh_table **out) TSR_MT_CONTEXT;
/* Adds a mesh, which must have a name; a name that is already in the table is an error. */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_table_add(tsr_context *ctx, tsr_mesh_table *table,
                                                    const tsr_mesh *mesh) TSR_MT_CONTEXT;
/* Returns the mesh with a name (not necessarily zero-terminated), or NULL. */
TSR_API const tsr_mesh *tsr_mesh_table_find(const tsr_mesh_table *table,
                                            TSR_ARRAY(length) const char *name,
                                            size_t length) TSR_MT_CONTEXT;
TSR_API size_t tsr_mesh_table_count(const tsr_mesh_table *table) TSR_MT_CONTEXT;
TSR_API const tsr_mesh *tsr_mesh_table_at(const tsr_mesh_table *table, size_t index) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
