/* Sizes of shards when axes are added to a dimension or removed. */
#ifndef SPMD_SIZES_H
#define SPMD_SIZES_H

#include "spmd/type.h"

/*
 * The sizes that a dimension has when its innermost axes, `inner` shards of `shards`, are merged;
 * when each of its shards is cut by ceil into `inner`; and when each row becomes `times` rows.
 * `sizes` NULL are even chunks of `extent`; the result is NULL too where it is even.
 */
tsr_status sizes_join(tsr_context *ctx, tsr_arena *arena, int64_t extent, const int64_t *sizes,
                      int64_t shards, int64_t inner, const int64_t **out);
tsr_status sizes_cut(tsr_context *ctx, tsr_arena *arena, int64_t extent, const int64_t *sizes,
                     int64_t shards, int64_t inner, const int64_t **out);
tsr_status sizes_scale(tsr_context *ctx, tsr_arena *arena, int64_t extent, const int64_t *sizes,
                       int64_t shards, int64_t times, const int64_t **out);

#endif
