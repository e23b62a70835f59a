/*
 * DynamicShard and PartitionedShard: named conversions of distributed tensors, and their backwards.
 *
 * A placement is a sharding with a ragged dimension: dynamic, unaligned or aligned (see
 * tsr_ragged). Its sizes or counts are in the sharding, or are left unbound there
 * (`{"x"}:dynamic[?]`, `{"x"}:partitioned[?rows]`) and bound at the first use.
 *
 * Below, S is the number of shards of the dimension, n its extent, N the number of partitions,
 * C[s][p] the rows of partition p that come from shard s, G[p] the sum of C[s][p] over s.
 *
 * Calls that take a tensor or the world are collective over the world, but for those that say
 * otherwise: every rank makes them, with the same placement, in the same order. A rank that refuses
 * makes all of them fail, tensors untouched. With checks on (TSR_CHECK=1) the ranks compare sizes
 * and counts before they use them; a difference is an error on every rank that names the ranks.
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
 * of them is [S] or [S, N] (totals: [N]) in any layout, and is gathered; of this rank's own, it is
 * what this rank holds of it.
 */
typedef struct tsr_amounts {
    tsr_amounts_kind kind;
    TSR_ARRAY(tensor == NULL ? count : 0) const int64_t *values;
    size_t count;
    TSR_NULLABLE tsr_tensor *tensor; /* instead of values; NULL for none */
} tsr_amounts;

/*
 * The destination of a conversion. `amounts` binds the dimension that is unbound; NULL when none
 * is.
 */
typedef struct tsr_placement {
    const tsr_sharding *sharding;
    TSR_NULLABLE const tsr_amounts *amounts;
} tsr_placement;

/*
 * Binds the unbound dimension of a placement, for an extent of it (TSR_UNKNOWN: not checked). The
 * sharding and the text `how`, which says where the numbers come from, are the arena's; `how` may
 * be NULL. Refused, each with the numbers: a wrong number of amounts, a negative one, a wrong sum,
 * owners that decrease, a kind that does not fit, numbers that differ between ranks.
 */
TSR_API TSR_NODISCARD tsr_status tsr_placement_bind(tsr_comm *world, tsr_arena *arena,
                                                    const tsr_placement *placement, int64_t extent,
                                                    const tsr_sharding **out,
                                                    TSR_NULLABLE const char **how) TSR_MT_CONTEXT;

/*
 * Binds a symbol of unbound dimensions (tsr_ragged) in a world, for all of them: with `partitions`
 * 0 the sizes of the shards of dynamic dimensions, S numbers; else the counts of partitioned ones,
 * S rows of `partitions` numbers. `symbol` NULL binds `?` alone. From then on layouts of the world
 * that have the symbol have the numbers instead, those of tensors that exist included; bound again,
 * a symbol has the new numbers in layouts made later.
 *
 * Collective over the world, and the same on every rank: others are told which ranks differ.
 * Refused, with nothing bound: a negative number, one row of counts that is not whole, and numbers
 * that a tensor of the world cannot have, by its extent or its number of shards.
 *
 * In an abstract world (tsr_launch_abstract) tensors may be unbound. Calls check and infer layouts
 * with their symbols: operands that have the same unbound placement go together, others are refused
 * until they are bound or redistributed; an extent of a part that follows from a symbol is
 * TSR_UNKNOWN, and so are the bytes of a redistribution in the trace. Once the symbols are bound,
 * the same program gives the layouts and bytes of a world in which they were bound from the start.
 * In any other world making a tensor that is unbound fails.
 */
TSR_API TSR_NODISCARD tsr_status tsr_symbol_bind(tsr_comm *world, TSR_NULLABLE const char *symbol,
                                                 int64_t partitions, size_t count,
                                                 TSR_ARRAY(count)
                                                     const int64_t *numbers) TSR_MT_CONTEXT;

/* ---- backwards ---- */

/*
 * The record of a conversion, for its backward. Each conversion returns one where `record` is not
 * NULL; release it before the rank's function ends.
 */
typedef struct tsr_conversion tsr_conversion;

/*
 * The gradient of the source of the conversion, from the gradient of its result, which is laid out
 * as that was, or besides has a sum or average pending over some axes. No counts are communicated.
 * So a gradient that is replicated is sliced, and one that is pending is reduced and scattered with
 * counts. Of a pending sum each rank gets the whole gradient (all-gather with counts), of an
 * average that divided by the number of ranks it was taken over; a pending max, min or product, and
 * an average of integers, have no gradient: TSR_ERR_UNSUPPORTED. Padding rows of an aligned
 * dimension have gradient zero.
 */
TSR_API TSR_NODISCARD tsr_status tsr_conversion_backward(const tsr_conversion *conversion,
                                                         tsr_tensor *gradient,
                                                         tsr_tensor **out) TSR_MT_CONTEXT;

/* The shardings before and after the conversion; the record's. */
TSR_API const tsr_sharding *tsr_conversion_source(const tsr_conversion *conversion) TSR_MT_SAFE;
TSR_API const tsr_sharding *
tsr_conversion_destination(const tsr_conversion *conversion) TSR_MT_SAFE;

/* NULL is fine. Not collective. */
TSR_API void tsr_conversion_release(TSR_NULLABLE tsr_conversion *conversion) TSR_MT_CONTEXT;

/* ---- DynamicShard ---- */

/* Rows start .. end - 1. */
typedef struct tsr_chunk {
    int64_t start;
    int64_t end;
} tsr_chunk;

/* The rows of each chunk of a dimension of that extent; `slices` has room for `count`. Local. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_slices(tsr_context *ctx, int64_t extent,
                                                    TSR_ARRAY(count) const int64_t *sizes,
                                                    size_t count,
                                                    TSR_ARRAY(count)
                                                        tsr_chunk *slices) TSR_MT_CONTEXT;

/*
 * An array in chunks of the given sizes along a dimension: views of it, or with `copy` contiguous
 * copies. Nothing is padded: `pads`, which may be NULL, is set to `count` zeros. All of it is the
 * arena's. Local.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_dynamic_split(tsr_context *ctx, tsr_arena *arena, const tsr_view *array, size_t dim,
                  TSR_ARRAY(count) const int64_t *sizes, size_t count, bool copy,
                  const tsr_view **chunks, TSR_NULLABLE const int64_t **pads) TSR_MT_CONTEXT;

/*
 * A tensor from a full array, row-major, that rank `source` has; the others pass NULL. Each rank
 * receives its own chunk (scatter with counts). With source -1 every rank has the array and slices
 * its own copy, without communication.
 */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_shard(tsr_comm *world, const tsr_placement *to,
                                                   tsr_dtype dtype, size_t rank,
                                                   TSR_ARRAY(rank) const int64_t *shape,
                                                   int64_t source, TSR_NULLABLE const void *full,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;

/* Its backward: the gradient of the array, on `source` (gather with counts), or on all with -1. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_shard_backward(tsr_tensor *gradient, int64_t source,
                                                            TSR_NULLABLE void *full) TSR_MT_CONTEXT;

/* All rows of a dimension on every rank along its axes: all-gather with counts. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_to_replicate(tsr_tensor *tensor, size_t dim,
                                                          TSR_NULLABLE tsr_conversion **record,
                                                          tsr_tensor **out) TSR_MT_CONTEXT;

/* This rank's rows of a dimension that it has whole: a local copy. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_from_replicate(tsr_tensor *tensor,
                                                            const tsr_placement *to,
                                                            TSR_NULLABLE tsr_conversion **record,
                                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* Reduces what is pending, each rank its own rows: reduce-scatter with counts. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_reduce_shard(tsr_tensor *tensor,
                                                          const tsr_placement *to,
                                                          TSR_NULLABLE tsr_conversion **record,
                                                          tsr_tensor **out) TSR_MT_CONTEXT;

/* Other sizes, or another dimension: each rank receives what it lacks. */
TSR_API TSR_NODISCARD tsr_status tsr_dynamic_to_dynamic(tsr_tensor *tensor, const tsr_placement *to,
                                                        TSR_NULLABLE tsr_conversion **record,
                                                        tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- PartitionedShard ---- */

/* Whole partitions a rank, from a slice of each. Owners and alignment are those of the sharding. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_unaligned_to_aligned(
    tsr_tensor *tensor, size_t dim, TSR_NULLABLE tsr_conversion **record,
    tsr_tensor **out) TSR_MT_CONTEXT;

/* Every row back to the shard that it came from. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_aligned_to_unaligned(
    tsr_tensor *tensor, size_t dim, TSR_NULLABLE tsr_conversion **record,
    tsr_tensor **out) TSR_MT_CONTEXT;

/* The logical tensor, partition after partition, whole on every rank along the axes. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_to_replicate(tsr_tensor *tensor, size_t dim,
                                                              TSR_NULLABLE tsr_conversion **record,
                                                              tsr_tensor **out) TSR_MT_CONTEXT;

/* This rank's blocks (unaligned) or partitions (aligned) of a dimension it has whole. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_from_replicate(
    tsr_tensor *tensor, const tsr_placement *to, TSR_NULLABLE tsr_conversion **record,
    tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * An aligned tensor with other owners: S + 1 of them, NULL for floor(d * N / S); and another
 * alignment, 1 for none.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_realign(tsr_tensor *tensor, size_t dim,
                                                         TSR_NULLABLE const int64_t *owner_start,
                                                         size_t num_owners, int64_t alignment,
                                                         TSR_NULLABLE tsr_conversion **record,
                                                         tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * The logical tensor with dynamic sizes. With `to` NULL each rank has the rows of the partitions
 * that it owns; of an aligned tensor without pad rows those are the rows that it has, and the
 * result then shares the tensor's memory, which stays until both are released. An unbound tensor
 * needs `to`: its sizes are not known.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_to_dynamic(tsr_tensor *tensor, size_t dim,
                                                            TSR_NULLABLE const tsr_placement *to,
                                                            TSR_NULLABLE tsr_conversion **record,
                                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* The logical tensor in even chunks along the same axes. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_to_shard(tsr_tensor *tensor, size_t dim,
                                                          TSR_NULLABLE tsr_conversion **record,
                                                          tsr_tensor **out) TSR_MT_CONTEXT;

/* Reduces what is pending, each rank its own blocks or partitions. */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_reduce(tsr_tensor *tensor, const tsr_placement *to,
                                                        TSR_NULLABLE tsr_conversion **record,
                                                        tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * The same memory taken for another tensor: what each rank holds of a shard-major tensor (even or
 * dynamic) as its blocks of an unaligned one, or back. Rows of each rank must be as many in both.
 * No element moves, but the index of each changes: this is the one call that does so. The result
 * shares the tensor's memory, which stays until both are released.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_reinterpret(tsr_tensor *tensor,
                                                             const tsr_placement *to,
                                                             TSR_NULLABLE tsr_conversion **record,
                                                             tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- PartitionedShard by its arguments, and what a rank knows of the counts ---- */

/* FULL: all of C. SLICE: this shard's row, and the columns of the partitions that it owns. */
typedef enum tsr_counts_scope { TSR_COUNTS_FULL, TSR_COUNTS_SLICE } tsr_counts_scope;

/*
 * What a PartitionedShard is made of. `sharding` has the axes of all dimensions; that of `dim` has
 * no sizes yet. `splits` of all shards and totals make the counts FULL; this shard's own row is
 * communicated as `counts_scope` says: by an all-gather of S x N numbers (FULL), or by an
 * all-to-all of N (SLICE), which is enough for unaligned to aligned and back, and for nothing else.
 */
typedef struct tsr_partitioned_spec {
    const tsr_sharding *sharding;
    size_t dim;
    int64_t num_partitions;
    tsr_amounts splits;
    bool aligned;
    TSR_NULLABLE const int64_t *owner_start; /* S + 1; NULL: floor(d * N / S) */
    size_t num_owners;
    int64_t alignment; /* rows that each aligned partition is stored in a multiple of; 0 or 1: any
                        */
    tsr_counts_scope counts_scope;
} tsr_partitioned_spec;

typedef struct tsr_partitioned tsr_partitioned;

TSR_API TSR_NODISCARD tsr_status tsr_partitioned_create(tsr_comm *world,
                                                        const tsr_partitioned_spec *spec,
                                                        tsr_partitioned **out) TSR_MT_CONTEXT;

/* NULL is fine. Not collective. */
TSR_API void tsr_partitioned_release(TSR_NULLABLE tsr_partitioned *partitioned) TSR_MT_CONTEXT;

/* What this rank knows, and a sentence that says how C was derived. */
TSR_API tsr_counts_scope tsr_partitioned_counts_scope(const tsr_partitioned *partitioned)
    TSR_MT_SAFE;
TSR_API const char *tsr_partitioned_derivation(const tsr_partitioned *partitioned) TSR_MT_SAFE;

/* This shard's row of C: N counts. */
TSR_API const int64_t *tsr_partitioned_row(const tsr_partitioned *partitioned) TSR_MT_SAFE;

/* C[s][p] of the partitions p that this shard owns: S rows, each of `owned` counts. */
TSR_API const int64_t *tsr_partitioned_columns(const tsr_partitioned *partitioned,
                                               int64_t *owned) TSR_MT_SAFE;

/* The rows that this rank stores of the dimension: unaligned, or aligned with its pad rows. */
TSR_API int64_t tsr_partitioned_rows(const tsr_partitioned *partitioned, bool aligned) TSR_MT_SAFE;

/*
 * The sharding and the extent of the tensor, as the spec says aligned or not, or the other way. It
 * needs FULL counts: with a slice it fails. The sharding lives as long as the placement. Not
 * collective.
 */
TSR_API TSR_NODISCARD tsr_status tsr_partitioned_sharding(const tsr_partitioned *partitioned,
                                                          bool aligned, const tsr_sharding **out,
                                                          int64_t *extent) TSR_MT_CONTEXT;

/* Whether the spec asked for whole partitions. */
TSR_API bool tsr_partitioned_is_aligned(const tsr_partitioned *partitioned) TSR_MT_SAFE;

/*
 * Unaligned to aligned, and back, of this rank's part in memory: all that a slice of the counts is
 * enough for. Collective over the ranks along the dimension's axes. `src` and `dst` are the parts
 * before and after, with tsr_partitioned_rows rows along the dimension; they must not overlap. Each
 * is the backward of the other, without communicating counts again. Pad rows are set to zero in an
 * aligned dst, and never read.
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
