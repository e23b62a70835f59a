/*
 * The (size, stride) algebra of axes over device ids.
 *
 * A list of pairs (size, stride) denotes the ids that sums of index times stride reach, with 0 <=
 * index < size for each pair, in row-major order over the pairs, the last one fastest. Sizes and
 * strides are at least 1, and the product of the sizes fits an int64.
 */
#ifndef TESSERA_STRIDE_H
#define TESSERA_STRIDE_H

#include <tessera/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_stride {
    int64_t size;
    int64_t stride;
} tsr_stride;

/*
 * Drops pairs of size 1 and joins neighbours where the major stride is the minor one times its
 * size: (2:2, 2:1) becomes (4:1). Works in place; returns the new count. The order is kept.
 */
TSR_API size_t tsr_strides_coalesce(TSR_ARRAY(count) tsr_stride *pairs, size_t count) TSR_MT_SAFE;

/* Returns whether two lists coalesce to the same pairs in the same order. */
TSR_API bool tsr_strides_equal(TSR_ARRAY(count_a) const tsr_stride *a, size_t count_a,
                               TSR_ARRAY(count_b) const tsr_stride *b, size_t count_b) TSR_MT_SAFE;

/* Returns the product of the sizes; -1 when it overflows. */
TSR_API int64_t tsr_strides_size(TSR_ARRAY(count) const tsr_stride *pairs,
                                 size_t count) TSR_MT_SAFE;

/*
 * Returns whether no two index tuples reach the same id, by the rule that, sorted by stride, each
 * stride exceeds the span of the smaller ones. Pairs of size 1 do not count.
 */
TSR_API bool tsr_strides_orthogonal(TSR_ARRAY(count) const tsr_stride *pairs,
                                    size_t count) TSR_MT_SAFE;

/*
 * Flattens axes to one: sorts by stride, largest first, and coalesces. Works in place; stores the
 * new count in *out_count. An empty list is an error. Pairs that are not orthogonal are an error
 * that names the ids reached twice, or the stride and the span that it does not exceed; the pairs
 * do not change then.
 */
TSR_API TSR_NODISCARD tsr_status tsr_strides_flatten(tsr_context *ctx,
                                                     TSR_ARRAY(count) tsr_stride *pairs,
                                                     size_t count,
                                                     size_t *out_count) TSR_MT_CONTEXT;

/*
 * Finds the ids other than 0 that both of two axes reach, in ascending order: stores at most
 * `capacity` of them in `ids`, and their number in *count (counting stops at `capacity`). Each list
 * must be orthogonal.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_strides_overlap(tsr_context *ctx, TSR_ARRAY(count_a) const tsr_stride *a, size_t count_a,
                    TSR_ARRAY(count_b) const tsr_stride *b, size_t count_b, size_t capacity,
                    TSR_ARRAY(capacity) int64_t *ids, size_t *count) TSR_MT_CONTEXT;

/*
 * Decides whether every id that `a` reaches is reached by `b`. Both must be orthogonal.
 * TSR_ERR_LIMIT if more than 2^24 ids would have to be compared one by one.
 */
TSR_API TSR_NODISCARD tsr_status tsr_strides_within(tsr_context *ctx,
                                                    TSR_ARRAY(count_a) const tsr_stride *a,
                                                    size_t count_a,
                                                    TSR_ARRAY(count_b) const tsr_stride *b,
                                                    size_t count_b, bool *out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
