#include "spmd/sizes.h"

#include "base/arena.h"
#include "base/base.h"

/* More explicit sizes than this are not kept. */
#define MAX_SIZES (INT64_C(1) << 24)

static int64_t size_at(int64_t extent, const int64_t *sizes, int64_t shards, int64_t index)
{
    return sizes != NULL ? sizes[index] : spmd_chunk(extent, shards, index);
}

static tsr_status new_sizes(tsr_context *ctx, tsr_arena *arena, int64_t count, int64_t **out)
{
    if (count < 0 || count > MAX_SIZES) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "a dimension that its shards do not divide has more than 2^24 of them");
    }
    *out = ARENA_ARRAY(arena, int64_t, (size_t)count);
    return *out != NULL ? TSR_OK : diag_nomem(ctx);
}

/* NULL when they are even chunks. */
static const int64_t *or_even(const int64_t *sizes, int64_t count, int64_t extent)
{
    for (int64_t i = 0; i < count; i++) {
        if (sizes[i] != spmd_chunk(extent, count, i)) {
            return sizes;
        }
    }
    return NULL;
}

tsr_status sizes_join(tsr_context *ctx, tsr_arena *arena, int64_t extent, const int64_t *sizes,
                      int64_t shards, int64_t inner, const int64_t **out)
{
    const int64_t count = shards / inner;
    int64_t *joined;
    *out = NULL;
    if (count == 1 || (sizes == NULL && extent % shards == 0)) {
        return TSR_OK;
    }
    TSR_TRY(new_sizes(ctx, arena, count, &joined));
    for (int64_t i = 0; i < count; i++) {
        joined[i] = 0;
        for (int64_t k = 0; k < inner; k++) {
            joined[i] += size_at(extent, sizes, shards, i * inner + k);
        }
    }
    *out = or_even(joined, count, extent);
    return TSR_OK;
}

tsr_status sizes_cut(tsr_context *ctx, tsr_arena *arena, int64_t extent, const int64_t *sizes,
                     int64_t shards, int64_t inner, const int64_t **out)
{
    int64_t count = 0;
    int64_t *cut;
    *out = NULL;
    if (!checked_mul(shards, inner, &count) ||
        (sizes == NULL && (shards == 1 || extent % count == 0))) {
        return TSR_OK;
    }
    TSR_TRY(new_sizes(ctx, arena, count, &cut));
    for (int64_t i = 0; i < count; i++) {
        cut[i] = spmd_chunk(size_at(extent, sizes, shards, i / inner), inner, i % inner);
    }
    *out = or_even(cut, count, extent);
    return TSR_OK;
}

tsr_status sizes_scale(tsr_context *ctx, tsr_arena *arena, int64_t extent, const int64_t *sizes,
                       int64_t shards, int64_t times, const int64_t **out)
{
    int64_t whole = 0;
    int64_t *scaled;
    *out = sizes;
    if (times == 1 || (sizes == NULL && extent % shards == 0)) {
        return TSR_OK;
    }
    if (!checked_mul(extent, times, &whole)) {
        return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION, "an extent exceeds 2^63-1");
    }
    TSR_TRY(new_sizes(ctx, arena, shards, &scaled));
    for (int64_t i = 0; i < shards; i++) {
        scaled[i] = size_at(extent, sizes, shards, i) * times;
    }
    *out = or_even(scaled, shards, whole);
    return TSR_OK;
}
