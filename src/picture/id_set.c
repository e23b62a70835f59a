#include "picture/id_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/utf8.h"
#include "shard/sharding.h"

/* The axes and sub-axes along which devices hold the same; *known is false when it cannot be told.
 */
static tsr_status spare_axes(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                             tsr_axis_list *out, bool *known)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    const size_t num_axes = tsr_mesh_num_axes(mesh);
    tsr_axis_list used;
    TSR_TRY(sharding_axes(ctx, arena, sharding, false, &used));
    *out = (tsr_axis_list){.capacity = num_axes + 2 * used.count};
    out->refs = ARENA_ARRAY(arena, tsr_axis_ref, out->capacity);
    tsr_axis_ref *all = ARENA_ARRAY(arena, tsr_axis_ref, num_axes);
    if (out->refs == NULL || all == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_axes; i++) {
        all[i] = tsr_axis_full(mesh, i);
    }
    *known = tsr_axes_difference(all, num_axes, used.refs, used.count, out) == TSR_OK;
    return TSR_OK;
}

tsr_status spread_of(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding, spread *out)
{
    enum { PAIRS_OF_AXIS = 64 };
    tsr_axis_list spare;
    bool known = false;
    *out = (spread){0};
    TSR_TRY(spare_axes(ctx, arena, sharding, &spare, &known));
    if (!known) {
        return TSR_OK;
    }
    out->pairs = ARENA_ARRAY(arena, tsr_stride, spare.count * PAIRS_OF_AXIS);
    if (out->pairs == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < spare.count; i++) {
        size_t count = 0;
        if (tsr_mesh_axis_strides(tsr_sharding_mesh(sharding), spare.refs[i], PAIRS_OF_AXIS,
                                  out->pairs + out->count, &count) != TSR_OK) {
            return TSR_OK;
        }
        out->count += count;
    }
    if (out->count > 0) {
        TSR_TRY(tsr_strides_flatten(ctx, out->pairs, out->count, &out->count));
    }
    out->known = true;
    return TSR_OK;
}

/* What run `index` adds to the first id: row-major over all pairs but the last. */
static int64_t run_offset(const spread *between, int64_t index)
{
    int64_t offset = 0;
    for (size_t i = between->count - 1; i-- > 0;) {
        offset += index % between->pairs[i].size * between->pairs[i].stride;
        index /= between->pairs[i].size;
    }
    return offset;
}

/* The set that starts at an id and spreads: a run along the last pair for every step of the rest.
 */
static void set_from_spread(int64_t first, const spread *between, id_set *out)
{
    *out = (id_set){.num_runs = 1, .runs[0] = {first, 1, 1}, .count = 1};
    if (between->count == 0) {
        return;
    }
    const tsr_stride last = between->pairs[between->count - 1];
    const int64_t runs = tsr_strides_size(between->pairs, between->count - 1);
    out->more = runs > ID_RUNS;
    out->num_runs = out->more ? ID_RUNS : (size_t)runs;
    out->count = runs * last.size;
    for (size_t i = 0; i < out->num_runs; i++) {
        const int64_t start = first + run_offset(between, (int64_t)i);
        out->runs[i] = (id_run){start, last.stride, last.size};
    }
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The longest run at the start of ids: a single one unless two are neighbours or three in step. */
static id_run first_run(const int64_t *ids, size_t count)
{
    id_run run = {ids[0], 1, 1};
    if (count < 2) {
        return run;
    }
    const int64_t step = ids[1] - ids[0];
    size_t length = 2;
    while (length < count && ids[length] - ids[length - 1] == step) {
        length++;
    }
    if (step == 1 || length > 2) {
        run.step = step;
        run.count = (int64_t)length;
    }
    return run;
}

void id_set_make(int64_t *ids, size_t count, id_set *out)
{
    *out = (id_set){.count = (int64_t)count};
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t at = 0; at < count; at += (size_t)out->runs[out->num_runs - 1].count) {
        if (out->num_runs == ID_RUNS) {
            out->more = true;
            return;
        }
        out->runs[out->num_runs++] = first_run(ids + at, count - at);
    }
}

/* The set of devices of a mesh with arbitrary ids; beyond a limit only the first of them. */
static tsr_status set_by_listing(tsr_context *ctx, tsr_arena *arena, const tsr_devices *devices,
                                 id_set *out)
{
    const int64_t count = tsr_devices_count(devices);
    const size_t listed = (size_t)min_i64(count, ID_SET_TRIED);
    int64_t *ids = ARENA_ARRAY(arena, int64_t, listed);
    if (ids == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < listed; i++) {
        ids[i] = tsr_devices_at(devices, (int64_t)i);
    }
    id_set_make(ids, listed, out);
    out->more = out->more || (int64_t)listed < count;
    out->count = count;
    return TSR_OK;
}

tsr_status id_set_of_holders(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                             const spread *between, const int64_t *index, id_set *out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(arena);
    const tsr_devices *devices = NULL;
    *out = (id_set){0};
    if (tsr_mesh_is_empty(tsr_sharding_mesh(tsr_geometry_sharding(geometry)))) {
        return TSR_OK;
    }
    TSR_TRY(tsr_geometry_holders(ctx, arena, geometry, index, &devices));
    if (between->known) {
        set_from_spread(tsr_devices_at(devices, 0), between, out);
    } else {
        TSR_TRY(set_by_listing(ctx, arena, devices, out));
    }
    tsr_arena_reset(arena, mark);
    return TSR_OK;
}

/* The text of a run: `5`, `0-3`, `0,4` or `0-6:2`. */
static void format_run(const id_run *run, char *text, size_t size)
{
    const int64_t last = run->first + (run->count - 1) * run->step;
    if (run->count == 1) {
        (void)snprintf(text, size, "%" PRId64, run->first);
    } else if (run->step == 1) {
        (void)snprintf(text, size, "%" PRId64 "-%" PRId64, run->first, last);
    } else if (run->count == 2) {
        (void)snprintf(text, size, "%" PRId64 ",%" PRId64, run->first, last);
    } else {
        (void)snprintf(text, size, "%" PRId64 "-%" PRId64 ":%" PRId64, run->first, last, run->step);
    }
}

/* The start of a set whose first run does not fit: its first id, if that does. */
static void format_cut_run(const id_run *run, size_t width, const char *ellipsis, char *text)
{
    char start[64];
    const bool pair = run->count == 2 && run->step != 1;
    const char *joint = run->count == 1 || pair ? "," : "-";
    (void)snprintf(start, sizeof start, "%" PRId64 "%s%s", run->first, joint, ellipsis);
    const char *shown = utf8_length(start) <= width ? start : ellipsis;
    memcpy(text, shown, strlen(shown) + 1);
}

size_t id_set_format(const id_set *set, size_t width, const char *ellipsis, char *text)
{
    const size_t reserve = 1 + utf8_length(ellipsis);
    size_t used = 0;
    (void)sprintf(text, "%s", set->num_runs == 0 ? "all" : "");
    for (size_t i = 0; i < set->num_runs; i++) {
        char next[96] = ",";
        const bool is_end = i + 1 == set->num_runs && !set->more;
        const size_t comma = i > 0 ? 1 : 0;
        format_run(&set->runs[i], next + comma, sizeof next - comma);
        if (used + strlen(next) + (is_end ? 0 : reserve) <= width) {
            memcpy(text + used, next, strlen(next) + 1);
            used += strlen(next);
        } else if (i == 0) {
            format_cut_run(&set->runs[0], width, ellipsis, text);
            return utf8_length(text);
        } else {
            (void)sprintf(text + used, ",%s", ellipsis);
            return used + reserve;
        }
    }
    if (set->more) {
        (void)sprintf(text + used, ",%s", ellipsis);
    }
    return utf8_length(text);
}
