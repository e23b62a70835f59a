/*
 * Writing DTensor. A dimension that several axes shard is expressible where cutting it axis by
 * axis, as DTensor does, gives the sizes it has. Axes that are minor to later ones of the mesh are
 * strided shards.
 */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "shard/dialect.h"
#include "shard/dialect_cuts.h"

/* More than this many sizes are not put into a message; strided shards beyond that not tried. */
enum { MAX_SHOWN = 16, MAX_STRIDED = 1 << 24 };

static tsr_status cuts_of_dim(const dialect_writer *w, const tsr_dim *dim, cuts *out)
{
    if (!cuts_init(out, w->arena, dim->num_axes)) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < dim->num_axes; i++) {
        cuts_add(out, dim->axes[i].axis, dim->axes[i].size);
    }
    return TSR_OK;
}

/* The sizes of the even chunks, for a message. */
static void even_sizes(int64_t extent, int64_t shards, int64_t *out)
{
    const int64_t chunk = ceil_div(extent, shards);
    for (int64_t i = 0; i < shards; i++) {
        out[i] = min_i64(chunk, extent);
        extent -= out[i];
    }
}

/* The refusal of strided shards of which DTensor gives devices others than those in order. */
static tsr_status out_of_order(const dialect_writer *w, size_t index, const cuts *c, int64_t extent)
{
    const tsr_dim *dim = &w->sharding->dims[index];
    (void)diag_error(
        w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
        CANNOT
        "dim %zu of extent %lld over %s, not in mesh order, is stored there with rows out of order",
        w->dialect, index, (long long)extent, dialect_axes(w, dim->axes, dim->num_axes));
    return diag_note(w->ctx, NO_LOCATION,
                     "use an extent that is a multiple of %lld, which is cut evenly",
                     (long long)c->shards);
}

/* The refusal of a dimension whose sizes differ from those of DTensor; small ones are listed. */
static tsr_status other_sizes(const dialect_writer *w, size_t index, const cuts *c, int64_t extent)
{
    const tsr_dim *dim = &w->sharding->dims[index];
    const char *axes = dialect_axes(w, dim->axes, dim->num_axes);
    int64_t ours[MAX_SHOWN];
    if (c->shards > MAX_SHOWN) {
        return diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          CANNOT "dim %zu of extent %lld over %s has other shard sizes than there, "
                                 "where it is cut once for each axis",
                          w->dialect, index, (long long)extent, axes);
    }
    bool ordered;
    const int64_t *theirs = cuts_sizes(c, w->arena, extent, &ordered);
    if (theirs == NULL) {
        return diag_nomem(w->ctx);
    }
    if (!ordered) {
        return out_of_order(w, index, c, extent);
    }
    even_sizes(extent, c->shards, ours);
    buffer here = buffer_new(w->arena);
    buffer there = buffer_new(w->arena);
    buffer_ints(&here, dim->ragged != NULL ? dim->ragged->sizes : ours, (size_t)c->shards);
    buffer_ints(&there, theirs, (size_t)c->shards);
    const char *here_text;
    const char *there_text;
    TSR_TRY(buffer_finish(w->ctx, &here, &here_text));
    TSR_TRY(buffer_finish(w->ctx, &there, &there_text));
    (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                     CANNOT "dim %zu of extent %lld over %s is cut into %s here, but once for each "
                            "axis there: into %s",
                     w->dialect, index, (long long)extent, axes, here_text, there_text);
    return diag_note(w->ctx, NO_LOCATION, "move the data to {%s}:dynamic[%s] first", axes,
                     there_text);
}

/* Even chunks over several axes: the extent decides. */
static tsr_status check_even(const dialect_writer *w, size_t index, const cuts *c)
{
    const int64_t extent = dialect_extent(w->shape, index);
    if (c->count < 2) {
        return TSR_OK;
    }
    if (extent == TSR_UNKNOWN) {
        const tsr_dim *dim = &w->sharding->dims[index];
        (void)diag_error(w->ctx, TSR_ERR_INVALID, NO_LOCATION,
                         "dim %zu is sharded by %s: whether %s cuts it into the same shards "
                         "depends on its extent, which is unknown",
                         index, dialect_axes(w, dim->axes, dim->num_axes), w->dialect);
        return diag_note(w->ctx, NO_LOCATION, "give the shape of the tensor");
    }
    if (cuts_are_even(c, extent)) {
        return TSR_OK;
    }
    bool even = false;
    if (c->strided && c->shards <= MAX_STRIDED) {
        bool ordered;
        const int64_t *sizes = cuts_sizes(c, w->arena, extent, &ordered);
        if (sizes == NULL) {
            return diag_nomem(w->ctx);
        }
        even = ordered && sizes_are_even(sizes, c->shards, extent);
    }
    return even ? TSR_OK : other_sizes(w, index, c, extent);
}

/* Whether a dynamic dimension has the sizes that cutting axis by axis gives. */
static tsr_status ragged_is_cut(const dialect_writer *w, const tsr_ragged *ragged, const cuts *c,
                                int64_t extent, bool *out)
{
    bool ordered;
    const int64_t *theirs = cuts_sizes(c, w->arena, extent, &ordered);
    if (theirs == NULL) {
        return diag_nomem(w->ctx);
    }
    *out = ordered && memcmp(theirs, ragged->sizes, (size_t)c->shards * sizeof *theirs) == 0;
    return TSR_OK;
}

/* The sum of a dynamic dimension's sizes, which must be the extent where that is known. */
static tsr_status ragged_extent(const dialect_writer *w, size_t index, const cuts *c, int64_t *out)
{
    const int64_t *sizes = w->sharding->dims[index].ragged->sizes;
    const int64_t extent = dialect_extent(w->shape, index);
    int64_t sum = 0;
    for (int64_t i = 0; i < c->shards; i++) {
        sum += sizes[i];
    }
    if (extent != TSR_UNKNOWN && extent != sum) {
        return diag_error(w->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: its sizes sum to %lld, the extent is %lld", index,
                          (long long)sum, (long long)extent);
    }
    *out = sum;
    return TSR_OK;
}

/* Writes a dimension: plain Shard(d), or one of the two placements with explicit sizes. */
static tsr_status choose(const dialect_writer *w, size_t index, bool *plain)
{
    const tsr_dim *dim = &w->sharding->dims[index];
    cuts c;
    *plain = true;
    TSR_TRY(cuts_of_dim(w, dim, &c));
    if (dim->ragged == NULL) {
        return check_even(w, index, &c);
    }
    const bool dynamic = dim->ragged->kind == TSR_RAGGED_DYNAMIC;
    if ((dynamic ? dim->ragged->sizes : dim->ragged->counts) == NULL) {
        (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                         CANNOT "the sizes of dim %zu are not bound yet", w->dialect, index);
        return diag_note(w->ctx, NO_LOCATION,
                         "give them in the text in place of the ?, or bind them");
    }
    int64_t extent = 0;
    *plain = false;
    if (dynamic) {
        TSR_TRY(ragged_extent(w, index, &c, &extent));
        TSR_TRY(ragged_is_cut(w, dim->ragged, &c, extent, plain));
    }
    if (*plain || dim->num_axes == 1) {
        return TSR_OK;
    }
    if (dynamic) {
        return other_sizes(w, index, &c, extent);
    }
    (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                     CANNOT "dim %zu is partitioned over several axes, %s", w->dialect, index,
                     dialect_axes(w, dim->axes, dim->num_axes));
    return diag_note(w->ctx, NO_LOCATION, "use a mesh in which they are one axis");
}

static void write_partitioned(const dialect_writer *w, size_t index)
{
    const tsr_ragged *ragged = w->sharding->dims[index].ragged;
    const int64_t shards = tsr_sharding_num_shards(w->sharding, index);
    buffer_format(w->buf, "PartitionedShard(dim=%zu, num_partitions=%lld, counts=[", index,
                  (long long)ragged->partitions);
    for (int64_t i = 0; i < shards; i++) {
        buffer_string(w->buf, i > 0 ? ", [" : "[");
        buffer_ints(w->buf, ragged->counts + i * ragged->partitions, (size_t)ragged->partitions);
        buffer_char(w->buf, ']');
    }
    buffer_format(w->buf, "], aligned=%s", ragged->kind == TSR_RAGGED_ALIGNED ? "True" : "False");
    if (ragged->owner_start != NULL) {
        buffer_string(w->buf, ", owner_start=[");
        buffer_ints(w->buf, ragged->owner_start, (size_t)shards + 1);
        buffer_char(w->buf, ']');
    }
    if (ragged->alignment > 1) {
        buffer_format(w->buf, ", alignment=%lld", (long long)ragged->alignment);
    }
    buffer_char(w->buf, ')');
}

/* The split factor of an axis of a dimension: the product of the axes that make it strided. */
static int64_t split_factor(const dialect_writer *w, size_t index, size_t axis)
{
    const tsr_dim *dim = &w->sharding->dims[index];
    int64_t factor = 1;
    for (size_t i = 0; i < dim->num_axes && (size_t)dim->axes[i].axis != axis; i++) {
        factor *= (size_t)dim->axes[i].axis > axis ? dim->axes[i].size : 1;
    }
    return tsr_mesh_axis_size(w->sharding->mesh, axis) > 1 ? factor : 1;
}

static void write_shard(const dialect_writer *w, size_t index, size_t axis, bool plain)
{
    const tsr_ragged *ragged = w->sharding->dims[index].ragged;
    const int64_t split = split_factor(w, index, axis);
    if (plain && split > 1) {
        buffer_format(w->buf, "_StridedShard(%zu, split_factor=%lld)", index, (long long)split);
    } else if (plain) {
        buffer_format(w->buf, "Shard(%zu)", index);
    } else if (ragged->kind == TSR_RAGGED_DYNAMIC) {
        buffer_format(w->buf, "DynamicShard(%zu, [", index);
        buffer_ints(w->buf, ragged->sizes, (size_t)tsr_sharding_num_shards(w->sharding, index));
        buffer_string(w->buf, "])");
    } else {
        write_partitioned(w, index);
    }
}

/* What an axis does: the dimension it shards, or one of these. */
enum { AXIS_FREE = -1, AXIS_PARTIAL = -2 };

static int64_t *uses_of_axes(const dialect_writer *w)
{
    const tsr_sharding *s = w->sharding;
    const size_t count = tsr_mesh_num_axes(s->mesh);
    int64_t *uses = ARENA_ARRAY(w->arena, int64_t, count);
    for (size_t i = 0; uses != NULL && i < count; i++) {
        uses[i] = AXIS_FREE;
    }
    for (size_t i = 0; uses != NULL && i < s->rank; i++) {
        for (size_t j = 0; j < s->dims[i].num_axes; j++) {
            uses[s->dims[i].axes[j].axis] = (int64_t)i;
        }
    }
    for (size_t i = 0; uses != NULL && i < s->num_unreduced; i++) {
        uses[s->unreduced[i].axis] = AXIS_PARTIAL;
    }
    return uses;
}

static void write_partial(const dialect_writer *w)
{
    const tsr_reduction reduction = w->sharding->reduction;
    if (reduction == TSR_SUM) {
        buffer_string(w->buf, "Partial()");
    } else {
        buffer_format(w->buf, "Partial(\"%s\")", dtensor_op_name(reduction));
    }
}

tsr_status dtensor_write(const dialect_writer *w)
{
    const int64_t *uses = uses_of_axes(w);
    bool *plain = ARENA_ARRAY(w->arena, bool, w->sharding->rank);
    if (uses == NULL || plain == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < w->sharding->rank; i++) {
        TSR_TRY(choose(w, i, &plain[i]));
    }
    buffer_char(w->buf, '[');
    for (size_t i = 0; i < tsr_mesh_num_axes(w->sharding->mesh); i++) {
        buffer_string(w->buf, i > 0 ? ", " : "");
        if (uses[i] == AXIS_FREE) {
            buffer_string(w->buf, "Replicate()");
        } else if (uses[i] == AXIS_PARTIAL) {
            write_partial(w);
        } else {
            write_shard(w, (size_t)uses[i], i, plain[uses[i]]);
        }
    }
    buffer_char(w->buf, ']');
    return TSR_OK;
}
