/* Types along axes given as (size, stride) pairs: the same ranks seen along other axes. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "spmd/type.h"

/* More pairs of size 2 or more do not multiply to an int64. */
enum { MAX_PAIRS = 64 };

/* The pairs of an axis, largest stride first and coalesced. */
typedef struct flat_axis {
    tsr_stride pairs[MAX_PAIRS];
    size_t count;
} flat_axis;

static tsr_status flatten(tsr_context *ctx, const tsr_strided_axis *axis, flat_axis *out)
{
    if (axis->num_pairs > MAX_PAIRS) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "an axis has more than %d (size, stride) pairs", (int)MAX_PAIRS);
    }
    out->count = 0;
    if (axis->num_pairs == 0) {
        return TSR_OK;
    }
    memcpy(out->pairs, axis->pairs, axis->num_pairs * sizeof *axis->pairs);
    return tsr_strides_flatten(ctx, out->pairs, axis->num_pairs, &out->count);
}

static tsr_status flatten_all(tsr_context *ctx, tsr_arena *arena, const tsr_strided_axis *axes,
                              size_t count, flat_axis **out)
{
    flat_axis *flat = ARENA_ARRAY(arena, flat_axis, count);
    if (flat == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(flatten(ctx, &axes[i], &flat[i]));
    }
    *out = flat;
    return TSR_OK;
}

static bool all_apart(const flat_axis *axes, size_t count)
{
    tsr_stride all[MAX_PAIRS];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < axes[i].count; k++) {
            if (used == MAX_PAIRS) {
                return false;
            }
            all[used++] = axes[i].pairs[k];
        }
    }
    return tsr_strides_orthogonal(all, used);
}

/* The axis with a pair that steps by `stride`, and how far it goes on from there; 0 for none. */
static int64_t reach_of(const flat_axis *axes, size_t count, int64_t stride, size_t *axis)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < axes[i].count; k++) {
            const tsr_stride p = axes[i].pairs[k];
            if (stride >= p.stride && stride % p.stride == 0 && stride / p.stride < p.size &&
                p.size % (stride / p.stride) == 0) {
                *axis = i;
                return p.size / (stride / p.stride);
            }
        }
    }
    return 0;
}

static void print_pairs(buffer *buf, const flat_axis *axis)
{
    for (size_t k = 0; k < axis->count; k++) {
        buffer_format(buf, "%s%lld:%lld", k > 0 ? "," : "", (long long)axis->pairs[k].size,
                      (long long)axis->pairs[k].stride);
    }
    buffer_string(buf, axis->count == 0 ? "1" : "");
}

static tsr_status axis_error(tsr_context *ctx, tsr_arena *arena, const flat_axis *axis,
                             const char *why)
{
    buffer buf = buffer_new(arena);
    const char *text;
    print_pairs(&buf, axis);
    TSR_TRY(buffer_finish(ctx, &buf, &text));
    return SPMD_ERROR(ctx, "axis (%s): %s", text, why);
}

/* Whether ranks that differ along a new axis differ along none of the old ones. */
static bool is_apart(const flat_axis *old, size_t count, const flat_axis *axis)
{
    tsr_stride all[MAX_PAIRS];
    size_t used = 0;
    for (size_t i = 0; i <= count; i++) {
        const flat_axis *at = i < count ? &old[i] : axis;
        if (at->count > MAX_PAIRS - used) {
            return false;
        }
        memcpy(all + used, at->pairs, at->count * sizeof *all);
        used += at->count;
    }
    return tsr_strides_orthogonal(all, used);
}

/* The type along one new axis, from the old ones that it is made of; untyped when from none. */
static tsr_status find_type(tsr_context *ctx, tsr_arena *arena, const tsr_strided_type *type,
                            const flat_axis *old, const flat_axis *axis, tsr_axis_type *out)
{
    bool first = true;
    *out = (tsr_axis_type){TSR_UNTYPED, TSR_SUM};
    if (is_apart(old, type->num_axes, axis)) {
        return TSR_OK;
    }
    for (size_t k = 0; k < axis->count; k++) {
        int64_t done = 1;
        while (done < axis->pairs[k].size) {
            size_t from = 0;
            const int64_t rest = axis->pairs[k].size / done;
            const int64_t reach =
                reach_of(old, type->num_axes, axis->pairs[k].stride * done, &from);
            if (reach == 0 || (reach < rest ? rest % reach : reach % rest) != 0) {
                return axis_error(ctx, arena, axis, "no axes of the type denote these ranks");
            }
            if (!first && (out->kind != type->axes[from].type.kind ||
                           out->partial != type->axes[from].type.partial)) {
                return axis_error(ctx, arena, axis, "the types along its component axes differ");
            }
            *out = type->axes[from].type;
            first = false;
            done *= min_i64(reach, rest);
        }
    }
    return TSR_OK;
}

/* ---- the spec ---- */

/* All pairs of a dimension, major to minor, neighbours joined. */
static tsr_status pairs_of_dim(tsr_context *ctx, const flat_axis *old, const tsr_strided_dim *dim,
                               flat_axis *out)
{
    out->count = 0;
    for (size_t i = 0; i < dim->num_axes; i++) {
        const flat_axis *axis = &old[dim->axes[i]];
        if (out->count + axis->count > MAX_PAIRS) {
            return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                              "a dimension has more than %d (size, stride) pairs", (int)MAX_PAIRS);
        }
        memcpy(out->pairs + out->count, axis->pairs, axis->count * sizeof *axis->pairs);
        out->count += axis->count;
    }
    out->count = tsr_strides_coalesce(out->pairs, out->count);
    return TSR_OK;
}

/* Takes the pairs of an axis off the front of the pairs of a dimension; false when they are not a
 * prefix. */
static bool take_axis(flat_axis *rest, const flat_axis *axis)
{
    flat_axis left = *rest;
    size_t at = 0;
    for (size_t k = 0; k < axis->count; k++) {
        const tsr_stride want = axis->pairs[k];
        if (at == left.count || left.pairs[at].size % want.size != 0 ||
            left.pairs[at].stride * (left.pairs[at].size / want.size) != want.stride) {
            return false;
        }
        left.pairs[at].size /= want.size;
        at += left.pairs[at].size == 1 ? 1 : 0;
    }
    rest->count = left.count - at;
    memmove(rest->pairs, left.pairs + at, rest->count * sizeof *rest->pairs);
    return axis->count > 0;
}

static tsr_status respell_dim(tsr_context *ctx, tsr_arena *arena, flat_axis *pairs,
                              const flat_axis *axes, size_t num_axes, tsr_strided_dim *out)
{
    size_t *list = ARENA_ARRAY(arena, size_t, num_axes);
    size_t count = 0;
    if (list == NULL) {
        return diag_nomem(ctx);
    }
    while (pairs->count > 0) {
        size_t i = 0;
        while (i < num_axes && !take_axis(pairs, &axes[i])) {
            i++;
        }
        if (i == num_axes || count == num_axes) {
            return axis_error(
                ctx, arena, pairs,
                "a dimension is cut by these ranks, and no new axes denote them in that order");
        }
        list[count++] = i;
    }
    *out = (tsr_strided_dim){list, count};
    return TSR_OK;
}

static tsr_status respell(tsr_context *ctx, tsr_arena *arena, const tsr_strided_type *type,
                          const flat_axis *old, const flat_axis *axes, tsr_strided_type *out)
{
    tsr_strided_dim *dims = ARENA_ARRAY(arena, tsr_strided_dim, type->rank);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t d = 0; d < type->rank; d++) {
        flat_axis pairs;
        TSR_TRY(pairs_of_dim(ctx, old, &type->dims[d], &pairs));
        TSR_TRY(respell_dim(ctx, arena, &pairs, axes, out->num_axes, &dims[d]));
    }
    out->rank = type->rank;
    out->dims = dims;
    return TSR_OK;
}

/* ---- all of it ---- */

/* By the largest stride, largest first; those of one rank last. */
static void sort_axes(tsr_strided_axis *axes, flat_axis *flat, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = i; k > 0; k--) {
            const int64_t a = flat[k - 1].count > 0 ? flat[k - 1].pairs[0].stride : 0;
            const int64_t b = flat[k].count > 0 ? flat[k].pairs[0].stride : 0;
            if (a >= b) {
                break;
            }
            const flat_axis swap = flat[k];
            flat[k] = flat[k - 1];
            flat[k - 1] = swap;
            const tsr_strided_axis other = axes[k];
            axes[k] = axes[k - 1];
            axes[k - 1] = other;
        }
    }
}

/* How many ranks axes span, of those that are typed. */
static int64_t ranks_of(const tsr_strided_axis *axes, const flat_axis *flat, size_t count)
{
    int64_t ranks = 1;
    for (size_t i = 0; i < count; i++) {
        const int64_t size = tsr_strides_size(flat[i].pairs, flat[i].count);
        if (axes[i].type.kind != TSR_UNTYPED && (size < 0 || !checked_mul(ranks, size, &ranks))) {
            return -1;
        }
    }
    return ranks;
}

static tsr_status settle_type(tsr_context *ctx, tsr_arena *arena, const tsr_strided_type *type,
                              const flat_axis *old, const flat_axis *flat, tsr_strided_axis *axis)
{
    tsr_axis_type found;
    TSR_TRY(find_type(ctx, arena, type, old, flat, &found));
    if (flat->count > 0 && axis->type.kind != TSR_UNTYPED &&
        (axis->type.kind != found.kind || axis->type.partial != found.partial)) {
        return axis_error(ctx, arena, flat, "the type along it differs from the requested one");
    }
    axis->type = found;
    axis->pairs = arena_copy(arena, flat->pairs, flat->count, sizeof(tsr_stride));
    axis->num_pairs = flat->count;
    return axis->pairs != NULL ? TSR_OK : diag_nomem(ctx);
}

tsr_status tsr_type_reaxis(tsr_context *ctx, tsr_arena *arena, const tsr_strided_type *type,
                           const tsr_strided_axis *axes, size_t num_axes, tsr_strided_type *out)
{
    GUARD(tsr_type_reaxis);
    flat_axis *old;
    flat_axis *flat;
    tsr_strided_axis *made = arena_copy(arena, axes, num_axes, sizeof *axes);
    tsr_strided_type result = {.num_axes = num_axes, .axes = made};
    if (made == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(flatten_all(ctx, arena, type->axes, type->num_axes, &old));
    TSR_TRY(flatten_all(ctx, arena, axes, num_axes, &flat));
    sort_axes(made, flat, num_axes);
    if (!all_apart(old, type->num_axes) || !all_apart(flat, num_axes)) {
        return SPMD_ERROR(ctx, "axes of one set overlap: some ranks differ along two of them");
    }
    for (size_t i = 0; i < num_axes; i++) {
        TSR_TRY(settle_type(ctx, arena, type, old, &flat[i], &made[i]));
    }
    const int64_t ranks[] = {ranks_of(type->axes, old, type->num_axes),
                             ranks_of(made, flat, num_axes)};
    if (ranks[0] != ranks[1]) {
        return SPMD_ERROR(ctx, "the new axes have %lld ranks, but the type covers %lld",
                          (long long)ranks[1], (long long)ranks[0]);
    }
    while (result.num_axes > 0 && flat[result.num_axes - 1].count == 0) {
        result.num_axes--;
    }
    TSR_TRY(respell(ctx, arena, type, old, flat, &result));
    *out = result;
    return TSR_OK;
}

tsr_status tsr_strided_spec_check(tsr_context *ctx, const tsr_strided_type *type)
{
    GUARD(tsr_strided_spec_check);
    flat_axis all = {.count = 0};
    for (size_t d = 0; d < type->rank; d++) {
        for (size_t k = 0; k < type->dims[d].num_axes; k++) {
            const tsr_strided_axis *axis = &type->axes[type->dims[d].axes[k]];
            if (axis->num_pairs > MAX_PAIRS - all.count) {
                return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                                  "a spec has more than %d (size, stride) pairs", (int)MAX_PAIRS);
            }
            memcpy(all.pairs + all.count, axis->pairs, axis->num_pairs * sizeof *axis->pairs);
            all.count += axis->num_pairs;
        }
    }
    size_t count;
    return all.count == 0 ? TSR_OK : tsr_strides_flatten(ctx, all.pairs, all.count, &count);
}
