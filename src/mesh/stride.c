/* The (size, stride) algebra. */
#include <tessera/stride.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/guard.h"

/* How many ids are tried one by one before giving up. */
#define MAX_TRIED (INT64_C(1) << 24)

size_t tsr_strides_coalesce(tsr_stride *pairs, size_t count)
{
    GUARD(tsr_strides_coalesce);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const tsr_stride pair = pairs[i];
        int64_t span;
        if (pair.size == 1) {
            continue;
        }
        if (kept > 0 && checked_mul(pair.stride, pair.size, &span) &&
            pairs[kept - 1].stride == span) {
            pairs[kept - 1] = (tsr_stride){pairs[kept - 1].size * pair.size, pair.stride};
        } else {
            pairs[kept++] = pair;
        }
    }
    return kept;
}

/* The next coalesced pair from *at on; false at the end. */
static bool next_coalesced(const tsr_stride *pairs, size_t count, size_t *at, tsr_stride *out)
{
    bool found = false;
    for (; *at < count; (*at)++) {
        const tsr_stride pair = pairs[*at];
        int64_t span;
        if (pair.size == 1) {
            continue;
        }
        if (!found) {
            *out = pair;
            found = true;
        } else if (checked_mul(pair.stride, pair.size, &span) && out->stride == span) {
            *out = (tsr_stride){out->size * pair.size, pair.stride};
        } else {
            break;
        }
    }
    return found;
}

bool tsr_strides_equal(const tsr_stride *a, size_t count_a, const tsr_stride *b, size_t count_b)
{
    GUARD(tsr_strides_equal);
    size_t at_a = 0;
    size_t at_b = 0;
    for (;;) {
        tsr_stride pair_a = {0};
        tsr_stride pair_b = {0};
        const bool more_a = next_coalesced(a, count_a, &at_a, &pair_a);
        const bool more_b = next_coalesced(b, count_b, &at_b, &pair_b);
        if (more_a != more_b || pair_a.size != pair_b.size || pair_a.stride != pair_b.stride) {
            return false;
        }
        if (!more_a) {
            return true;
        }
    }
}

int64_t tsr_strides_size(const tsr_stride *pairs, size_t count)
{
    GUARD(tsr_strides_size);
    int64_t size = 1;
    for (size_t i = 0; i < count; i++) {
        if (!checked_mul(size, pairs[i].size, &size)) {
            return -1;
        }
    }
    return size;
}

/* The pair that follows `last` in ascending order of (stride, index); count at the end. */
static size_t next_larger(const tsr_stride *pairs, size_t count, size_t last)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        const bool follows = last == count || pairs[i].stride > pairs[last].stride ||
                             (i > last && pairs[i].stride == pairs[last].stride);
        if (pairs[i].size > 1 && follows &&
            (best == count || pairs[i].stride < pairs[best].stride)) {
            best = i;
        }
    }
    return best;
}

/* The first pair whose stride does not exceed the span so far, with that span; count if none. */
static size_t first_inside_span(const tsr_stride *pairs, size_t count, int64_t *span)
{
    *span = 0;
    for (size_t i = next_larger(pairs, count, count); i < count; i = next_larger(pairs, count, i)) {
        int64_t reach;
        if (pairs[i].stride <= *span || !checked_mul(pairs[i].size - 1, pairs[i].stride, &reach) ||
            !checked_add(*span, reach, span)) {
            return i;
        }
    }
    return count;
}

bool tsr_strides_orthogonal(const tsr_stride *pairs, size_t count)
{
    GUARD(tsr_strides_orthogonal);
    int64_t span;
    return first_inside_span(pairs, count, &span) == count;
}

/* The smallest id above 0 that both pairs reach, or 0. */
static int64_t common_id(tsr_stride a, tsr_stride b)
{
    const int64_t divisor = gcd_i64(a.stride, b.stride);
    const int64_t steps_a = b.stride / divisor;
    const int64_t steps_b = a.stride / divisor;
    return steps_a < a.size && steps_b < b.size ? steps_a * a.stride : 0;
}

/* Says which ids two of the pairs both reach; false when no two do. */
static bool report_common(tsr_context *ctx, const tsr_stride *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            const tsr_stride a = pairs[j];
            const tsr_stride b = pairs[i];
            const int64_t id = a.size > 1 && b.size > 1 ? common_id(a, b) : 0;
            if (id == 0) {
                continue;
            }
            const int64_t last = min_i64((a.size - 1) * a.stride, (b.size - 1) * b.stride);
            const int64_t times = last / id;
            const int64_t highest = times * id;
            (void)diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                             "axes %lld:%lld and %lld:%lld overlap: both reach rank%s %lld%s",
                             (long long)a.size, (long long)a.stride, (long long)b.size,
                             (long long)b.stride, times > 1 ? "s" : "", (long long)id,
                             times > 1 ? " and its multiples" : "");
            (void)diag_note(ctx, NO_LOCATION, "they share %lld ranks besides 0, up to %lld",
                            (long long)times, (long long)highest);
            return true;
        }
    }
    return false;
}

static tsr_status check_pairs(tsr_context *ctx, const tsr_stride *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].size < 1 || pairs[i].stride < 0 ||
            (pairs[i].size > 1 && pairs[i].stride < 1)) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "axis %lld:%lld: size and stride must be at least 1",
                              (long long)pairs[i].size, (long long)pairs[i].stride);
        }
    }
    return TSR_OK;
}

static tsr_status check_orthogonal(tsr_context *ctx, const tsr_stride *pairs, size_t count)
{
    TSR_TRY(check_pairs(ctx, pairs, count));
    int64_t span;
    const size_t wrong = first_inside_span(pairs, count, &span);
    if (wrong == count) {
        return TSR_OK;
    }
    if (report_common(ctx, pairs, count)) {
        return TSR_ERR_INVALID;
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "axes are not orthogonal: stride %lld of %lld:%lld does not exceed %lld, the "
                      "span of the smaller strides",
                      (long long)pairs[wrong].stride, (long long)pairs[wrong].size,
                      (long long)pairs[wrong].stride, (long long)span);
}

tsr_status tsr_strides_flatten(tsr_context *ctx, tsr_stride *pairs, size_t count, size_t *out_count)
{
    GUARD(tsr_strides_flatten);
    if (count == 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "cannot flatten an empty list of axes: give at least one");
    }
    TSR_TRY(check_orthogonal(ctx, pairs, count));
    for (size_t i = 1; i < count; i++) {
        const tsr_stride moved = pairs[i];
        size_t j = i;
        for (; j > 0 && pairs[j - 1].stride < moved.stride; j--) {
            pairs[j] = pairs[j - 1];
        }
        pairs[j] = moved;
    }
    *out_count = tsr_strides_coalesce(pairs, count);
    return TSR_OK;
}

/* The pair that comes before `last` in descending order of stride; count at the end. */
static size_t next_smaller(const tsr_stride *pairs, size_t count, size_t last)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        const bool follows = last == count || pairs[i].stride < pairs[last].stride;
        if (pairs[i].size > 1 && follows &&
            (best == count || pairs[i].stride > pairs[best].stride)) {
            best = i;
        }
    }
    return best;
}

/*
 * Whether orthogonal pairs reach an id: taking the largest strides first finds the only
 * decomposition.
 */
static bool reaches(const tsr_stride *pairs, size_t count, int64_t id)
{
    for (size_t i = next_smaller(pairs, count, count); i < count;
         i = next_smaller(pairs, count, i)) {
        id -= min_i64(id / pairs[i].stride, pairs[i].size - 1) * pairs[i].stride;
    }
    return id == 0;
}

/* The id at an index in ascending order of orthogonal pairs: the smallest stride runs fastest. */
static int64_t id_at(const tsr_stride *pairs, size_t count, int64_t index)
{
    int64_t id = 0;
    for (size_t i = next_larger(pairs, count, count); i < count; i = next_larger(pairs, count, i)) {
        id += index % pairs[i].size * pairs[i].stride;
        index /= pairs[i].size;
    }
    return id;
}

static tsr_status check_countable(tsr_context *ctx, int64_t size)
{
    if (size < 0 || size > MAX_TRIED) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "more than %lld ranks would be tried one by one", (long long)MAX_TRIED);
    }
    return TSR_OK;
}

tsr_status tsr_strides_overlap(tsr_context *ctx, const tsr_stride *a, size_t count_a,
                               const tsr_stride *b, size_t count_b, size_t capacity, int64_t *ids,
                               size_t *count)
{
    GUARD(tsr_strides_overlap);
    TSR_TRY(check_orthogonal(ctx, a, count_a));
    TSR_TRY(check_orthogonal(ctx, b, count_b));
    if (tsr_strides_size(a, count_a) > tsr_strides_size(b, count_b)) {
        return tsr_strides_overlap(ctx, b, count_b, a, count_a, capacity, ids, count);
    }
    const int64_t size = tsr_strides_size(a, count_a);
    TSR_TRY(check_countable(ctx, size));
    size_t found = 0;
    for (int64_t i = 1; i < size && found < capacity; i++) {
        const int64_t id = id_at(a, count_a, i);
        if (reaches(b, count_b, id)) {
            ids[found++] = id;
        }
    }
    *count = found;
    return TSR_OK;
}

/*
 * A sufficient test: whether each pair of `a` stays within the decomposition by which `b` reaches
 * its stride. Multiples are then multiples of that decomposition, and several pairs add up. False
 * proves nothing.
 */
static bool within_digitwise(const tsr_stride *a, size_t count_a, const tsr_stride *b,
                             size_t count_b)
{
    for (size_t i = next_smaller(b, count_b, count_b); i < count_b;
         i = next_smaller(b, count_b, i)) {
        int64_t taken = 0;
        for (size_t j = 0; j < count_a; j++) {
            int64_t rest = a[j].stride;
            for (size_t k = next_smaller(b, count_b, count_b); a[j].size > 1 && k != i;
                 k = next_smaller(b, count_b, k)) {
                rest -= min_i64(rest / b[k].stride, b[k].size - 1) * b[k].stride;
            }
            const int64_t steps = min_i64(rest / b[i].stride, b[i].size - 1);
            int64_t most;
            if (a[j].size > 1 &&
                (!checked_mul(steps, a[j].size - 1, &most) || !checked_add(taken, most, &taken))) {
                return false;
            }
        }
        if (taken > b[i].size - 1) {
            return false;
        }
    }
    for (size_t j = 0; j < count_a; j++) {
        if (a[j].size > 1 && !reaches(b, count_b, a[j].stride)) {
            return false;
        }
    }
    return true;
}

tsr_status tsr_strides_within(tsr_context *ctx, const tsr_stride *a, size_t count_a,
                              const tsr_stride *b, size_t count_b, bool *out)
{
    GUARD(tsr_strides_within);
    TSR_TRY(check_orthogonal(ctx, a, count_a));
    TSR_TRY(check_orthogonal(ctx, b, count_b));
    const int64_t size = tsr_strides_size(a, count_a);
    bool within = true;
    if (size < 0 || size > tsr_strides_size(b, count_b)) {
        within = false;
    } else if (!within_digitwise(a, count_a, b, count_b)) {
        for (int64_t i = 0; i < min_i64(size, MAX_TRIED) && within; i++) {
            within = reaches(b, count_b, id_at(a, count_a, i));
        }
        if (within) {
            TSR_TRY(check_countable(ctx, size));
        }
    }
    *out = within;
    return TSR_OK;
}
