/*
 * Notations of shardings, read into a tsr_sharding and written from it.
 *
 * sdy      #sdy.sharding<@mesh, [{"x"}, {}]>, sharding<...>, or [{"x"}, {}]
 * jax      P('x', None, ('y', 'z')), with P.UNCONSTRAINED and unreduced={'w'}
 * dtensor  [Shard(0), Replicate(), Partial()], one placement for each mesh axis
 * hlo      {devices=[2,1,4]<=[8] last_tile_dim_replicate}, {replicated}, {maximal device=0}
 *
 * tsr_dialect_read reads one of these. tsr_layouts_read reads texts pasted from programs and their
 * output: any of these with the text around it.
 */
#ifndef TESSERA_DIALECT_H
#define TESSERA_DIALECT_H

#include <tessera/dtype.h>
#include <tessera/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_dialect {
    TSR_DIALECT_SDY,
    TSR_DIALECT_JAX,
    TSR_DIALECT_DTENSOR,
    TSR_DIALECT_HLO
} tsr_dialect;

/* Returns the name of a dialect: "sdy", "jax", "dtensor" or "hlo". Static. */
TSR_API const char *tsr_dialect_name(tsr_dialect dialect) TSR_MT_SAFE;
/* Finds the dialect with a name. */
TSR_API TSR_NODISCARD tsr_status tsr_dialect_parse(tsr_context *ctx, const char *name,
                                                   tsr_dialect *out) TSR_MT_CONTEXT;
/* Returns the dialect that the beginning of a text suggests. */
TSR_API tsr_dialect tsr_dialect_guess(const tsr_text *text) TSR_MT_SAFE;

/*
 * Reads a sharding in a dialect and moves `text->at` past it. `shape` with `rank` describes the
 * tensor; NULL if unknown, which fails if the text alone does not determine the rank. The mesh is
 * reader->mesh (for sdy, also reader->meshes). HLO text on no mesh (NULL) gets a mesh of its own,
 * with axes "d0", "d1", ..; on a mesh it is expressed by the mesh's axes and sub-axes or rejected.
 * DTensor cuts a dimension once per mesh axis, not all at once: where that does not give even
 * chunks for the shape, the dimension is dynamic, with DTensor's sizes. `_StridedShard(0,
 * split_factor=2)` stands for the mesh axis at its position in the list, minor to later axes that
 * cut the dimension into 2: FSDP2 with tensor parallelism prints this. For some extents that do not
 * divide, torch gives a device rows out of order: TSR_ERR_UNSUPPORTED.
 *
 * DynamicShard(0) and PartitionedShard(dim=0, num_partitions=4) have sizes that are bound later; so
 * does DynamicShard(0, ?rows), with a symbol (tsr_ragged). `splits=[4, 6, 4, 2]` of
 * PartitionedShard, instead of `counts`, are the rows of the partitions in each shard; or, if they
 * sum to the extent, in the whole tensor, of which each shard has a chunk of every partition, as
 * torch.chunk cuts it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_dialect_read(tsr_context *ctx, tsr_arena *arena,
                                                  tsr_dialect dialect, tsr_text *text,
                                                  const tsr_sharding_reader *reader, size_t rank,
                                                  TSR_NULLABLE const int64_t *shape,
                                                  const tsr_sharding **out) TSR_MT_CONTEXT;

/*
 * Writes a sharding in a dialect. A sharding that the dialect cannot express is
 * TSR_ERR_UNSUPPORTED, with a diagnostic `cannot be expressed in jax, because ...`. `shape` may be
 * NULL; this is an error if the answer depends on it (DTensor, several axes on one dimension).
 */
TSR_API TSR_NODISCARD tsr_status tsr_dialect_write(tsr_context *ctx, tsr_arena *arena,
                                                   tsr_dialect dialect,
                                                   const tsr_sharding *sharding,
                                                   TSR_NULLABLE const int64_t *shape,
                                                   const char **out) TSR_MT_CONTEXT;

/*
 * A shape, with the element type that accompanies it, if any. The extents are allocated in the
 * arena.
 */
typedef struct tsr_shape {
    size_t rank;
    TSR_ARRAY(rank) const int64_t *extents; /* TSR_UNKNOWN for `?` */
    bool has_dtype;
    tsr_dtype dtype;
} tsr_shape;

/*
 * Reads a whole string as a shape: `4x8`, `4,8`, `(4, 8)`, `[4, 8]`, `torch.Size([4, 8])`, with an
 * element type `4x8xf32`, `tensor<4x8xf32>`, `f32[4,8]`. Rank 0 is `scalar`, `f32`, `f32[]`,
 * `tensor<f32>` or nothing at all.
 */
TSR_API TSR_NODISCARD tsr_status tsr_shape_parse(tsr_context *ctx, tsr_arena *arena,
                                                 const char *string, tsr_shape *out) TSR_MT_CONTEXT;

/* A sharding found in a text, with the information that the text has about its tensor. */
typedef struct tsr_layout {
    const tsr_sharding *sharding;
    TSR_NULLABLE const char *name; /* of the value, `%arg0`; NULL if it has none */
    bool has_shape;
    tsr_shape shape;
} tsr_layout;

/* Where tsr_layouts_read looks up meshes, and its assumptions. */
typedef struct tsr_layout_reader {
    /*
     * Meshes, reading and flags; rank (-1 if unknown) and shape apply to a tensor about which the
     * text has no information.
     */
    tsr_sharding_reader sharding;
    TSR_NULLABLE const tsr_dialect *dialect; /* of the shardings; NULL: detected from the text */
} tsr_layout_reader;

/*
 * Reads the shardings of a text from `text->at` to its end, at least one. Besides the dialects:
 *
 * sdy      %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
 *          {sdy.sharding = ...}, sdy.sharding = ..., mhlo.sharding = "{devices=...}"
 *          #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>, sharding_per_value = ...
 *          lines of programs that hold such, with definitions `sdy.mesh @mesh = <["x"=2]>`
 *          [{"x"}, {}] : tensor<8x16xf32>, also with `%name : ` before it (any dialect)
 * jax      NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=PartitionSpec('x', None))
 *          ShapeDtypeStruct(shape=(8, 16), dtype=float32, sharding=NamedSharding(..))
 * dtensor  DTensor(.., device_mesh=DeviceMesh('cpu', [[0, 1]]), placements=(Shard(dim=0), ..))
 * hlo      sharding={devices=[2,1]<=[2]}, {{devices=[2]<=[2]}, {replicated}}, GSPMDSharding({..})
 *
 * and lists of these in brackets or with commas between them. A mesh of the text is its shardings'
 * mesh. Where meshes are given as well, it must be one of them: the same axes, and the same devices
 * if the text says which. An alias of an sdy mesh that the text does not define is looked up there.
 * The list and all in it are allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_layouts_read(tsr_context *ctx, tsr_arena *arena,
                                                  tsr_text *text, const tsr_layout_reader *reader,
                                                  const tsr_layout **out,
                                                  size_t *count) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
