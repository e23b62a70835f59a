/*
 * Notations of shardings, read into a tsr_sharding and written from it.
 *
 * sdy      #sdy.sharding<@mesh, [{"x"}, {}]>, sharding<...>, or [{"x"}, {}]
 * jax      P('x', None, ('y', 'z')), with P.UNCONSTRAINED and unreduced={'w'}
 * dtensor  [Shard(0), Replicate(), Partial()], one placement for each mesh axis
 * hlo      {devices=[2,1,4]<=[8] last_tile_dim_replicate}, {replicated}, {maximal device=0}
 */
#ifndef TESSERA_DIALECT_H
#define TESSERA_DIALECT_H

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

/* The name, "sdy", "jax", "dtensor" or "hlo". Static. */
TSR_API const char *tsr_dialect_name(tsr_dialect dialect) TSR_MT_SAFE;
/* The dialect of that name. */
TSR_API TSR_NODISCARD tsr_status tsr_dialect_parse(tsr_context *ctx, const char *name,
                                                   tsr_dialect *out) TSR_MT_CONTEXT;
/* The dialect a text is written in, by how it starts. */
TSR_API tsr_dialect tsr_dialect_guess(const tsr_text *text) TSR_MT_SAFE;

/*
 * Reads a sharding in a dialect and moves `text->at` past it. `shape` with `rank` is the tensor's;
 * NULL when it is not known, which fails where the text alone does not determine the rank. The mesh
 * is reader->mesh (for sdy, also reader->meshes). HLO text on no mesh (NULL) gets one of its own,
 * with axes "d0", "d1", ..; on a mesh it is expressed by the mesh's axes and sub-axes or refused.
 * DTensor cuts a dimension once per mesh axis, not all at once: where that does not give even
 * chunks for the shape, the dimension is dynamic, with DTensor's sizes.
 */
TSR_API TSR_NODISCARD tsr_status tsr_dialect_read(tsr_context *ctx, tsr_arena *arena,
                                                  tsr_dialect dialect, tsr_text *text,
                                                  const tsr_sharding_reader *reader, size_t rank,
                                                  TSR_NULLABLE const int64_t *shape,
                                                  const tsr_sharding **out) TSR_MT_CONTEXT;

/*
 * Writes a sharding in a dialect. What the dialect cannot express is TSR_ERR_UNSUPPORTED, with a
 * diagnostic `cannot be expressed in jax, because ...`. `shape` may be NULL; where the answer
 * depends on it (DTensor, several axes on one dimension), that is an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_dialect_write(tsr_context *ctx, tsr_arena *arena,
                                                   tsr_dialect dialect,
                                                   const tsr_sharding *sharding,
                                                   TSR_NULLABLE const int64_t *shape,
                                                   const char **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
