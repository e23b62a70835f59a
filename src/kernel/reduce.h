/* Reductions and running folds of strided arrays along some dimensions. */
#ifndef KERNEL_REDUCE_H
#define KERNEL_REDUCE_H

#include <tessera/view.h>

#include "kernel/fold.h"

/*
 * dst[rest] = the fold of src over the dimensions whose flag in `reduced` is set (one flag for each
 * of src); dst has the others, in their order. `op` is SUM, MAX, MIN, PROD, AND or OR;
 * reduce_supports says for which types. Nothing folded is the identity: 0, the least value, the
 * greatest, 1, all ones, 0. MAX and MIN propagate a NaN; every NaN that comes out is the positive
 * quiet one. The result is multiplied by `scale` before it is rounded, unless that is 1 (floats
 * only).
 *
 * The order is fixed: along the reduced dimensions row-major, element i goes to lane i modulo 32;
 * lanes start as the identity. Lane j is then folded with lane j + 16, lane j with lane j + 8
 * among the first 16, and so on. f16 and bf16 are folded in f32 and rounded once. So the bits
 * depend on the elements and on their order, and not on strides, instructions or the compiler.
 */
bool reduce_supports(fold_op op, tsr_dtype dtype);
void kernel_reduce(fold_op op, const tsr_view *dst, const tsr_view *src, const bool *reduced,
                   double scale);

/*
 * dst[.., i, ..] = the left fold of src[.., 0 .. i, ..] along `dim`: SUM, PROD, MAX or MIN. f16 and
 * bf16 run in f32, and only what is stored is rounded.
 */
void kernel_cumulative(fold_op op, const tsr_view *dst, const tsr_view *src, size_t dim);

#endif
