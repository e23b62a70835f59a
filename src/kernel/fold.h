/* Folds: several arrays of one layout combined element by element, in order. */
#ifndef KERNEL_FOLD_H
#define KERNEL_FOLD_H

#include <tessera/dtype.h>

#include "kernel/combine.h"
#include "kernel/copy.h"

/* FOLD_SUM and so on, as combine.h lists them. The first five are those of pending reductions. */
typedef enum fold_op {
#define FOLD_NAME(NAME, ...) FOLD_##NAME,
    FOLD_OPS(FOLD_NAME)
#undef FOLD_NAME
        FOLD_COUNT
} fold_op;

const char *fold_name(fold_op op);

/*
 * Whether there is such a fold: complex numbers have no order, and neither they nor floats have AND
 * and OR; truth values have no average, types narrower than a byte and the f8 types no fold at all.
 */
bool fold_supports(tsr_dtype dtype, fold_op op);

/*
 * dst = (((src[0] op src[1]) op src[2]) ..): the left fold of `count` sources, at least one,
 * whatever the layout. All sources have the strides `src_strides` (in bytes); dst may be one of
 * them, with the same strides. `stream` as in kernel_copy. The bits that come out depend on the
 * bits that go in and on nothing else:
 * - f16 and bf16 are folded in f32 and rounded once.
 * - MAX and MIN keep the earlier of equals and propagate a NaN, the last of several. A NaN that
 *   comes of SUM, AVG and PROD is the positive quiet one without payload.
 * - SUM and PROD of integers wrap around. AVG divides the sum by `count`; that of integers has not
 *   wrapped, and is rounded towards zero.
 * - Truth values are bytes of 0 and 1: SUM and MAX are OR, PROD and MIN are AND.
 * - Complex numbers are averaged part by part; products are (ac - bd, ad + bc).
 */
void kernel_fold(void *dst, const int64_t *dst_strides, const void *const *src, size_t count,
                 const int64_t *src_strides, const int64_t *shape, size_t rank, tsr_dtype dtype,
                 fold_op op, bool stream);

/* The same without instructions that not every processor has; tests hold it against kernel_fold. */
void kernel_fold_portable(void *dst, const int64_t *dst_strides, const void *const *src,
                          size_t count, const int64_t *src_strides, const int64_t *shape,
                          size_t rank, tsr_dtype dtype, fold_op op, bool stream);

#endif
