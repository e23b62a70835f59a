/*
 * DynamicShard and PartitionedShard: named conversions of distributed tensors, and their backwards.
 *
 * A placement is a sharding with a ragged dimension: dynamic, unaligned or aligned (see
 * tsr_ragged). Its sizes or counts are in the sharding, or are unbound there (`{"x"}:dynamic[?]`,
 * `{"x"}:partitioned[?rows]`) and bound at the first use.
 *
 * Below, S is the number of shards of the dimension, n its extent, N the number of partitions,
 * C[s][p] the number of rows of partition p that come from shard s, G[p] the sum of C[s][p] over s.
 *
 * Calls with a tensor or the world are collective over the world, unless stated otherwise: every
 * rank makes them, with the same placement, in the same order. If one rank rejects a call, it fails
 * on all of them and no tensor changes. With checks on (TSR_CHECK=1) the ranks compare sizes and
 * counts before they use them; a difference is an error on every rank that names the ranks.
 */
#ifndef TESSERA_PLACEMENT_H
#define TESSERA_PLACEMENT_H

#include <tessera/collective.h>
#include <tessera/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the numbers that bind a placement count. */
typedef enum tsr_amounts_kind {
    TSR_AMOUNTS_ALL,   /* of every shard: S sizes, or S x N counts; the same on each rank */
    TSR_AMOUNTS_OWN,   /* of this rank's shard: one size, or N counts; gathered from all ranks */
    TSR_AMOUNTS_TOTALS /* of the N partitions: each is cut over the shards in even chunks */
} tsr_amounts_kind;

/*
 * Sizes or counts: `count` numbers at `values`, or the elements of an i64 tensor. A tensor of all
 * numbers is [S] or [S, N] (totals: [N]) in any layout, and is gathered; of a tensor of this rank's
 * own numbers, each rank uses its local part.
 */
typedef struct tsr_amounts {
    tsr_amounts_kind kind;
    TSR_ARRAY(tensor == NULL ? count : 0) const int64_t *values;
    size_t count;
    TSR_NULLABLE tsr_tensor *tensor; /* instead of values, or NULL */
} tsr_amounts;

/*
 * The destination of a conversion. `amounts` binds the unbound dimension; NULL if none is unbound.
 */
typedef struct tsr_placement {
    const tsr_sharding *sharding;
    TSR_NULLABLE const tsr_amounts *amounts;
} tsr_placement;

/*
 * Binds the unbound dimension of a placement, for an extent of it (TSR_UNKNOWN: not checked). The
 * sharding and the text `how`, which describes the origin of the numbers, are allocated in the
 * arena; `how` may be NULL. Rejects, with the numbers: a wrong number of amounts, a negative one, a
 * wrong sum, owners that decrease, a kind that does not fit, and numbers that differ between ranks.
 */
TSR_API TSR_NODISCARD tsr_status tsr_placement_bind(tsr_comm *world, tsr_arena *arena,
                                                    const tsr_placement *placement, int64_t extent,
                                                    const tsr_sharding **out,
                                                    TSR_NULLABLE const char **how) TSR_MT_CONTEXT;

/*
 * Binds a symbol of unbound dimensions (tsr_ragged) in a world: with `partitions` 0 to the sizes of
 * the shards of dynamic dimensions, S numbers; else to the counts of partitioned ones, S rows of
 * `partitions` numbers. `symbol` NULL binds `?` alone. All layouts of the world that have the
 * symbol get the numbers, including those of existing tensors; if the symbol is bound again,
 * layouts made later get the new numbers.
 *
 * Collective over the world, with the same arguments on every rank; if they differ, the message
 * names the ranks. Rejects, without binding anything: a negative number, a row of counts that is
 * incomplete, and numbers that a tensor of the world cannot have, by its extent or its number of
 * shards.
 *
 * In an abstract world (tsr_launch_abstract) tensors may be unbound. Calls check and infer layouts
 * with their symbols: operands must have the same unbound placement; others are rejected until they
 * are bound or redistributed. An extent of a part that follows from a symbol is TSR_UNKNOWN, as are
 * the bytes of a redistribution in the trace. Once the symbols are bound, the same program gives
 * the layouts and bytes of a world in which they were bound from the start. In other worlds unbound
 * tensors cannot be created.
 */
TSR_API TSR_NODISCARD tsr_status tsr_symbol_bind(tsr_comm *world, TSR_NULLABLE const char *symbol,
                                                 int64_t partitions, size_t count,
                                                 TSR_ARRAY(count)
                                                     const int64_t *numbers) TSR_MT_CONTEXT;

/* ---- backwards ---- */

/*
 * The record of a conversion, for its backward. Each conversion returns one unless `record` is
 * NULL; release it before the rank's function ends.
 */
typedef struct tsr_conversion tsr_conversion;

/*
 * Computes the gradient of the source of the conversion from the gradient of its result, which has
 * the layout of the result and may have a sum or average pending over some axes. No counts are
 * communicated. A replicated gradient is sliced; a pending one is reduced and scattered with
 * counts. If the source had a pending sum, each rank gets the whole gradient (all-gather with
 * counts); if it had an average, the gradient is divided by the number of ranks of the average. A
 * pending max, min or product, and an average of integers, have no gradient: TSR_ERR_UNSUPPORTED.
 * Padding rows of an aligned dimension have gradient zero.
 */
TSR_API TSR_NODISCARD tsr_status tsr_conversion_backward(const tsr_conversion *conversion,
                                                         tsr_tensor *gradient,
                                                         tsr_tensor **out) TSR_MT_CONTEXT;

/* Return the shardings before and after the conversion, owned by the record. */
TSR_API const tsr_sharding *tsr_conversion_source(const tsr_conversion *conversion) TSR_MT_SAFE;
TSR_API const tsr_sharding *
tsr_conversion_destination(const tsr_conversion *conversion) TSR_MT_SAFE;

/* Releases a record. Does nothing if it is NULL. Not collective. */
TSR_API void tsr_conversion_release(TSR_NULLABLE tsr_conversion *conversion) TSR_MT_CONTEXT;

/* ---- DynamicShard ---- */

/* Rows start .. end - 1. */
typedef struct tsr_chunk {
    int64_t start;
    int64_t end;
} tsr_chunk;

/*
 * Computes the rows of each chunk of a dimension with an extent; `slices` has room for `count`.
 * Local.
 */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_slices(tsr_context *ctx, int64_t extent,
                                                    TSR_ARRAY(count) const int64_t *sizes,
                                                    size_t count,
                                                    TSR_ARRAY(count)
                                                        tsr_chunk *slices) TSR_MT_CONTEXT;

/*
 * Cuts an array into chunks of the given sizes along a dimension: views of it, or with `copy`
 * contiguous copies. Nothing is padded: `pads`, which may be NULL, is set to `count` zeros.
 * Everything is allocated in the arena. Local.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_dynamic_split(tsr_context *ctx, tsr_arena *arena, const tsr_view *array, size_t dim,
                  TSR_ARRAY(count) const int64_t *sizes, size_t count, bool copy,
                  const tsr_view **chunks, TSR_NULLABLE const int64_t **pads) TSR_MT_CONTEXT;

/*
 * Creates a tensor from a full array, row-major, on rank `source`; the others pass NULL. Each rank
 * receives its own chunk (scatter with counts). With source -1 every rank has the array and slices
 * its own copy, without communication.
 */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_shard(tsr_comm *world, const tsr_placement *to,
                                                   tsr_dtype dtype, size_t rank,
                                                   TSR_ARRAY(rank) const int64_t *shape,
                                                   int64_t source, TSR_NULLABLE const void *full,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Computes the backward of tsr_dynamic_shard: the gradient of the array, on `source` (gather with
 * counts), or on all with -1.
 */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_shard_backward(tsr_tensor *gradient, int64_t source,
                                                            TSR_NULLABLE void *full) TSR_MT_CONTEXT;

/* Replicates all rows of a dimension on every rank along its axes: all-gather with counts. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_to_replicate(tsr_tensor *tensor, size_t dim,
                                                          TSR_NULLABLE tsr_conversion **record,
                                                          tsr_tensor **out) TSR_MT_CONTEXT;

/* Slices this rank's rows out of a dimension that it holds entirely: a local copy. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_from_replicate(tsr_tensor *tensor,
                                                            const tsr_placement *to,
                                                            TSR_NULLABLE tsr_conversion **record,
                                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* Reduces pending sums, each rank its own rows: reduce-scatter with counts. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_reduce_shard(tsr_tensor *tensor,
                                                          const tsr_placement *to,
                                                          TSR_NULLABLE tsr_conversion **record,
                                                          tsr_tensor **out) TSR_MT_CONTEXT;

/* Changes the sizes, or the dimension that is cut: each rank receives the rows that it lacks. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_to_dynamic(tsr_tensor *tensor, const tsr_placement *to,
                                                        TSR_NULLABLE tsr_conversion **record,
                                                        tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- PartitionedShard ---- */

/*
 * Moves whole partitions to each rank, from a slice of each. Owners and alignment are those of the
 * sharding.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_unaligned_to_aligned(
    tsr_tensor *tensor, size_t dim, TSR_NULLABLE tsr_conversion **record,
    tsr_tensor **out) TSR_MT_CONTEXT;

/* Returns every row to the shard that it came from. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_aligned_to_unaligned(
    tsr_tensor *tensor, size_t dim, TSR_NULLABLE tsr_conversion **record,
    tsr_tensor **out) TSR_MT_CONTEXT;

/* Replicates the logical tensor, partition after partition, on every rank along the axes. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_to_replicate(tsr_tensor *tensor, size_t dim,
                                                              TSR_NULLABLE tsr_conversion **record,
                                                              tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Slices this rank's blocks (unaligned) or partitions (aligned) out of a dimension that it holds
 * entirely.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_from_replicate(
    tsr_tensor *tensor, const tsr_placement *to, TSR_NULLABLE tsr_conversion **record,
    tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Changes the owners of an aligned tensor, S + 1 numbers, NULL for floor(d * N / S), and the
 * alignment, 1 for none.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_realign(tsr_tensor *tensor, size_t dim,
                                                         TSR_NULLABLE const int64_t *owner_start,
                                                         size_t num_owners, int64_t alignment,
                                                         TSR_NULLABLE tsr_conversion **record,
                                                         tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Converts to the logical tensor with dynamic sizes. With `to` NULL each rank gets the rows of the
 * partitions that it owns; if the tensor is aligned and without pad rows, these are the rows that
 * it holds, and the result shares the tensor's memory until both are released. An unbound tensor
 * needs `to`, because its sizes are unknown.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_to_dynamic(tsr_tensor *tensor, size_t dim,
                                                            TSR_NULLABLE const tsr_placement *to,
                                                            TSR_NULLABLE tsr_conversion **record,
                                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* Converts to the logical tensor in even chunks along the same axes. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_to_shard(tsr_tensor *tensor, size_t dim,
                                                          TSR_NULLABLE tsr_conversion **record,
                                                          tsr_tensor **out) TSR_MT_CONTEXT;

/* Reduces pending sums, each rank its own blocks or partitions. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_reduce(tsr_tensor *tensor, const tsr_placement *to,
                                                        TSR_NULLABLE tsr_conversion **record,
                                                        tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Reinterprets the same memory as another tensor: the part of a shard-major tensor (even or
 * dynamic) that each rank holds becomes its blocks of an unaligned one, or back. Both must have as
 * many rows on each rank. No element moves, but the index of each changes: no other call does that.
 * The result shares the tensor's memory until both are released.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_reinterpret(tsr_tensor *tensor,
                                                             const tsr_placement *to,
                                                             TSR_NULLABLE tsr_conversion **record,
                                                             tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- PartitionedShard by its arguments, and which counts a rank stores ---- */

/*
 * Which counts a rank stores. FULL: all of C. SLICE: this shard's row, and the columns of the
 * partitions that it owns.
 */
typedef enum tsr_counts_scope { TSR_COUNTS_FULL, TSR_COUNTS_SLICE } tsr_counts_scope;

/*
 * The arguments of a PartitionedShard. `sharding` has the axes of all dimensions; that of `dim` has
 * no sizes. `splits` of all shards and totals make the counts FULL; this shard's own row is
 * communicated as `counts_scope` selects: by an all-gather of S x N numbers (FULL), or by an
 * all-to-all of N (SLICE), which suffices only for unaligned to aligned and back.
 */
typedef struct tsr_partitioned_spec {
    const tsr_sharding *sharding;
    size_t dim;
    int64_t num_partitions;
    tsr_amounts splits;
    bool aligned;
    TSR_NULLABLE const int64_t *owner_start; /* S + 1; NULL: floor(d * N / S) */
    size_t num_owners;
    int64_t alignment; /* of the stored rows of each aligned partition; 0 or 1: no padding */
    tsr_counts_scope counts_scope;
} tsr_partitioned_spec;

typedef struct tsr_partitioned tsr_partitioned;

TSR_API TSR_NODISCARD tsr_status tsr_partitioned_create(tsr_comm *world,
                                                        const tsr_partitioned_spec *spec,
                                                        tsr_partitioned **out) TSR_MT_CONTEXT;

/* Releases the object. Does nothing if it is NULL. Not collective. */
TSR_API void tsr_partitioned_release(TSR_NULLABLE tsr_partitioned *partitioned) TSR_MT_CONTEXT;

/* Return which counts this rank stores, and a description of how they were computed. */
TSR_API tsr_counts_scope tsr_partitioned_counts_scope(const tsr_partitioned *partitioned)
    TSR_MT_SAFE;
TSR_API const char *tsr_partitioned_derivation(const tsr_partitioned *partitioned) TSR_MT_SAFE;

/* Returns this shard's row of C: N counts. */
TSR_API const int64_t *tsr_partitioned_row(const tsr_partitioned *partitioned) TSR_MT_SAFE;

/* Returns C[s][p] of the partitions p that this shard owns: S rows, each of `owned` counts. */
TSR_API const int64_t *tsr_partitioned_columns(const tsr_partitioned *partitioned,
                                               int64_t *owned) TSR_MT_SAFE;

/*
 * Returns the number of rows of the dimension that this rank stores: unaligned, or aligned with its
 * pad rows.
 */
TSR_API int64_t tsr_partitioned_rows(const tsr_partitioned *partitioned, bool aligned) TSR_MT_SAFE;

/*
 * Returns the sharding and the extent of the tensor, aligned or not as the spec requests, or the
 * opposite. Requires FULL counts: fails with a slice. The sharding is valid as long as the
 * placement. Not collective.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_sharding(const tsr_partitioned *partitioned,
                                                          bool aligned, const tsr_sharding **out,
                                                          int64_t *extent) TSR_MT_CONTEXT;

/* Returns whether the spec requested whole partitions. */
TSR_API bool tsr_partitioned_is_aligned(const tsr_partitioned *partitioned) TSR_MT_SAFE;

/*
 * Convert this rank's part in memory from unaligned to aligned, and back: a slice of the counts
 * suffices. Collective over the ranks along the dimension's axes. `src` and `dst` are the parts
 * before and after, with tsr_partitioned_rows rows along the dimension; they must not overlap. Each
 * is the backward of the other, without communicating counts again. Pad rows of an aligned dst are
 * set to zero; pad rows of src are not read.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_align(const tsr_partitioned *partitioned,
                                                       const tsr_view *src,
                                                       const tsr_view *dst) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_unalign(const tsr_partitioned *partitioned,
                                                         const tsr_view *src,
                                                         const tsr_view *dst) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
