/*
 * Shardings: how a tensor is laid over the devices of a mesh.
 *
 * Each dimension lists the axes and sub-axes that shard it, major to minor; it is open (may be
 * sharded further) or closed, and may have a priority. Axes may be replicated explicitly, and a
 * reduction may be pending along others (unreduced). A dimension is cut into even chunks of
 * ceil(extent / shards) unless it is ragged: dynamic or partitioned, with explicit sizes.
 *
 * A sharding is const once built; it is allocated in the caller's arena, as is its mesh.
 */
#ifndef TESSERA_SHARDING_H
#define TESSERA_SHARDING_H

#include <tessera/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TSR_NO_PRIORITY INT64_C(-1)

/* How a dimension is cut along its axes, if not into even chunks. */
typedef enum tsr_ragged_kind {
    TSR_RAGGED_DYNAMIC,   /* a size for each shard */
    TSR_RAGGED_UNALIGNED, /* partitioned: each shard holds a slice of every partition */
    TSR_RAGGED_ALIGNED    /* partitioned: each shard holds whole partitions */
} tsr_ragged_kind;

/*
 * The explicit sizes of a ragged dimension. S, the number of shards, is the product of the
 * dimension's axis sizes; shards are in row-major order of those axes. With `sizes` and `counts`
 * NULL it is unbound: the kind of cut is known and the numbers are bound later.
 *
 * The symbol of an unbound dimension stands for its numbers, text `{"x"}:dynamic[?rows]`: unbound
 * dimensions of one kind with the same symbol have the same numbers once they are bound. `?` alone
 * is one symbol too, without a name: NULL. A bound dimension has no symbol.
 *
 * DYNAMIC, text `{"x"}:dynamic[3, 0, 5]`: shard i has sizes[i] rows. rows > 1 groups the sizes by
 * the outer axes of the dimension, `:dynamic[[2, 1], [1, 1]]`: each row must sum to the even chunk
 * of its outer coordinate.
 *
 * PARTITIONED, text `{"x"}:partitioned[[4, 6], [2, 4]]`: counts[s * partitions + p] rows of
 * partition p came from shard s. The tensor is partition-major. UNALIGNED is the default; after the
 * counts, any of `(aligned, owners=[0, 1, 2], align=8)`. Shard d of an aligned dimension has the
 * partitions owner_start[d] .. owner_start[d+1]-1; the default, NULL here, is floor(d * N / S).
 * `align` stores each aligned partition in a multiple of that many rows.
 */
typedef struct tsr_ragged {
    tsr_ragged_kind kind;
    int64_t rows;
    int64_t partitions;                      /* PARTITIONED: N, or 0 if unknown */
    TSR_NULLABLE const int64_t *sizes;       /* DYNAMIC: S */
    TSR_NULLABLE const int64_t *counts;      /* PARTITIONED: S * N */
    TSR_NULLABLE const int64_t *owner_start; /* PARTITIONED: S + 1 */
    int64_t alignment;                       /* PARTITIONED: 1 for none */
    TSR_NULLABLE const char *symbol;         /* unbound: a name as `rows`, or NULL */
} tsr_ragged;

/* One dimension. `ragged` NULL: even chunks. */
typedef struct tsr_dim {
    TSR_ARRAY(num_axes) const tsr_axis_ref *axes;
    size_t num_axes;
    bool open;
    int64_t priority; /* >= 0, or TSR_NO_PRIORITY, which propagates as 0 does */
    TSR_NULLABLE const tsr_ragged *ragged;
} tsr_dim;

/* Returns a closed dimension with these axes, even chunks and no priority, to build from. */
TSR_API tsr_dim tsr_dim_closed(TSR_ARRAY(num_axes) const tsr_axis_ref *axes,
                               size_t num_axes) TSR_MT_SAFE;

/* The reduction that is pending. Programs do not have AVG and PROD. */
typedef enum tsr_reduction { TSR_SUM, TSR_MAX, TSR_MIN, TSR_AVG, TSR_PROD } tsr_reduction;

/* The description of a sharding. */
typedef struct tsr_sharding_spec {
    const tsr_mesh *mesh;
    size_t rank;
    TSR_ARRAY(rank) const tsr_dim *dims;
    size_t num_replicated;
    TSR_ARRAY(num_replicated) const tsr_axis_ref *replicated;
    size_t num_unreduced;
    TSR_ARRAY(num_unreduced) const tsr_axis_ref *unreduced;
    tsr_reduction reduction; /* SUM if nothing is unreduced */
} tsr_sharding_spec;

typedef struct tsr_sharding tsr_sharding;

/* Options of the reader and the builder, in addition to the rules that always hold. */
typedef enum tsr_sharding_flags {
    TSR_SHARDING_DEFAULT = 0,
    TSR_SHARDING_NO_SUB_AXES = 1, /* reject sub-axes: user annotations must not have any */
    TSR_SHARDING_CANONICALIZE = 2 /* sort and merge replicated and unreduced, merge sub-axes */
} tsr_sharding_flags;

/*
 * Builds a sharding; everything except the mesh is copied. An error names the rule that is
 * violated.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_create(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_sharding_spec *spec, int flags,
                                                     const tsr_sharding **out) TSR_MT_CONTEXT;

/*
 * How to read a sharding. `meshes` resolves `@name`; `mesh`, unless NULL, is the mesh of a text
 * that names none, and of any name if `meshes` is NULL. `rank` is checked unless it is -1. With
 * `shape` (of `rank` extents, unknown ones TSR_UNKNOWN; NULL if unknown) explicit sizes are checked
 * to sum to their extent.
 */
typedef struct tsr_sharding_reader {
    TSR_NULLABLE const tsr_mesh_table *meshes;
    TSR_NULLABLE const tsr_mesh *mesh;
    tsr_reading reading;
    int flags;
    int64_t rank;
    TSR_NULLABLE const int64_t *shape;
} tsr_sharding_reader;

/*
 * Reads a sharding at `text->at` and moves `at` past it. The program form is `#sdy.sharding<@mesh,
 * [{"x"}, {"z", ?}p1], replicated={"y"}, unreduced={"w"}>`, also without its `#sdy.sharding`; it
 * must be in canonical order. The lenient reader also accepts the document's form `sharding<...>`,
 * and a text that starts at the dimensions, `[{"x"}, {}], replicated={"y"}`: in these, lists may be
 * empty or out of order and are sorted and merged. Every form accepts a mesh in place,
 * `<mesh<["x"=2]>, [{"x"}]>`, and the extensions of Tessera: ragged dimensions, and the reductions
 * avg and prod.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_read(tsr_context *ctx, tsr_arena *arena,
                                                   tsr_text *text,
                                                   const tsr_sharding_reader *reader,
                                                   const tsr_sharding **out) TSR_MT_CONTEXT;

/* Reads a whole string, leniently, for a tensor of any rank on `mesh`. */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_parse(tsr_context *ctx, tsr_arena *arena,
                                                    TSR_NULLABLE const tsr_mesh *mesh,
                                                    const char *string,
                                                    const tsr_sharding **out) TSR_MT_CONTEXT;

/*
 * Reads a list of shardings, `#sdy.sharding_per_value<[<...>, <...>]>` or `<[...]>`. The array and
 * the shardings are allocated in the arena. The reader's rank and shape, if given, apply to each.
 */
TSR_API TSR_NODISCARD tsr_status tsr_shardings_read(tsr_context *ctx, tsr_arena *arena,
                                                    tsr_text *text,
                                                    const tsr_sharding_reader *reader,
                                                    const tsr_sharding *const **out,
                                                    size_t *count) TSR_MT_CONTEXT;

/* How to print a sharding. */
typedef enum tsr_printing {
    TSR_PRINT_FULL,     /* #sdy.sharding<@mesh, [{"x"}]> */
    TSR_PRINT_STRIPPED, /* <@mesh, [{"x"}]>, as inside a program */
    TSR_PRINT_BARE      /* [{"x"}], replicated={"y"}: no mesh */
} tsr_printing;

/* Prints the canonical text, allocated in the arena. A mesh without a name is printed in place. */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_print(tsr_context *ctx, tsr_arena *arena,
                                                    const tsr_sharding *sharding,
                                                    tsr_printing printing,
                                                    const char **out) TSR_MT_CONTEXT;

/* Returns views of the parts, owned by the sharding. */
TSR_API const tsr_mesh *tsr_sharding_mesh(const tsr_sharding *sharding) TSR_MT_SAFE;
TSR_API size_t tsr_sharding_rank(const tsr_sharding *sharding) TSR_MT_SAFE;
TSR_API const tsr_dim *tsr_sharding_dim(const tsr_sharding *sharding, size_t dim) TSR_MT_SAFE;
TSR_API const tsr_axis_ref *tsr_sharding_replicated(const tsr_sharding *sharding,
                                                    size_t *count) TSR_MT_SAFE;
TSR_API const tsr_axis_ref *tsr_sharding_unreduced(const tsr_sharding *sharding,
                                                   size_t *count) TSR_MT_SAFE;
TSR_API tsr_reduction tsr_sharding_reduction(const tsr_sharding *sharding) TSR_MT_SAFE;
/* Returns the number of shards of a dimension: the product of its axis sizes. */
TSR_API int64_t tsr_sharding_num_shards(const tsr_sharding *sharding, size_t dim) TSR_MT_SAFE;

/*
 * Returns whether two shardings are equal, spelled the same: axes, openness, priorities, explicit
 * sizes, lists, reduction, and equal meshes of the same name.
 */
TSR_API bool tsr_sharding_equal(const tsr_sharding *a, const tsr_sharding *b) TSR_MT_SAFE;

/*
 * Returns whether two shardings are equivalent for programs: the same axes and explicit sizes for
 * each dimension and the same unreduced axes, on equal meshes of the same name; openness,
 * priorities, replicated axes and the reduction do not count. A sharding without axes is equivalent
 * to any other without axes, and to NULL, which means no sharding. `ignore_unreduced` ignores the
 * unreduced axes. tsr_geometry_same also ignores names and views.
 */
TSR_API bool tsr_sharding_equivalent(TSR_NULLABLE const tsr_sharding *a,
                                     TSR_NULLABLE const tsr_sharding *b,
                                     bool ignore_unreduced) TSR_MT_SAFE;

/*
 * Returns the mesh that all shardings have in common: NULLs and empty meshes are skipped, equal
 * meshes count as one. NULL if they have none in common. `ignore_device_ids` compares axes only and
 * prefers a mesh without explicit ids.
 */
TSR_API const tsr_mesh *tsr_sharding_common_mesh(TSR_ARRAY(count)
                                                     const tsr_sharding *const *shardings,
                                                 size_t count, bool ignore_device_ids) TSR_MT_SAFE;

/* Returns whether a sharding has no axes, and all of its dimensions are closed, or all open. */
TSR_API TSR_NODISCARD tsr_status
tsr_sharding_replicated_over(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh, size_t rank,
                             bool open, const tsr_sharding **out) TSR_MT_CONTEXT;
/*
 * Builds a copy with all dimensions closed, without replicated axes, with the unreduced ones.
 * Priorities stay, except those of dimensions without axes, where they have no effect.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_close(tsr_context *ctx, tsr_arena *arena,
                                                    const tsr_sharding *sharding,
                                                    const tsr_sharding **out) TSR_MT_CONTEXT;
/* Builds a copy with all dimensions open, with replicated and unreduced axes. */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_open(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_sharding *sharding,
                                                   const tsr_sharding **out) TSR_MT_CONTEXT;
/*
 * Builds a copy with an axis appended to (and merged with) an open dimension, whose priority is
 * dropped. The sharding must not use the axis, and the dimension must not be ragged.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_add_axis(tsr_context *ctx, tsr_arena *arena,
                                                       const tsr_sharding *sharding, size_t dim,
                                                       tsr_axis_ref axis,
                                                       const tsr_sharding **out) TSR_MT_CONTEXT;
/* Builds a copy with an axis inserted into the replicated list, in order. */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_replicate(tsr_context *ctx, tsr_arena *arena,
                                                        const tsr_sharding *sharding,
                                                        tsr_axis_ref axis,
                                                        const tsr_sharding **out) TSR_MT_CONTEXT;
/*
 * Builds a copy without some axes, wherever they are used; the rest of a cut axis stays. A
 * dimension that loses an axis must not be ragged. Where an extent does not divide, this may move
 * data.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_remove_axes(tsr_context *ctx, tsr_arena *arena,
                                                          const tsr_sharding *sharding,
                                                          TSR_ARRAY(num_axes)
                                                              const tsr_axis_ref *axes,
                                                          size_t num_axes,
                                                          const tsr_sharding **out) TSR_MT_CONTEXT;
/*
 * Builds the same sharding over another view of the same devices, if its axes can express it; else
 * TSR_ERR_UNSUPPORTED with the axis that cannot be expressed.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_translate(tsr_context *ctx, tsr_arena *arena,
                                                        const tsr_sharding *sharding,
                                                        const tsr_mesh *mesh,
                                                        const tsr_sharding **out) TSR_MT_CONTEXT;
/*
 * Builds a copy with the unbound sizes or counts of a dimension bound, checked as in
 * tsr_sharding_create. Other dimensions stay as they are, even those of the same symbol: see
 * tsr_symbol_bind (placement.h).
 */
TSR_API TSR_NODISCARD tsr_status tsr_sharding_bind(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_sharding *sharding, size_t dim,
                                                   const tsr_ragged *ragged,
                                                   const tsr_sharding **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
