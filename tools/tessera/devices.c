#include "devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "utf8.h"

/* The axes that shard a dimension, all of them in one list. */
static tsr_axis_list sharding_axes(struct session *session, const tsr_sharding *sharding)
{
    size_t rank = tsr_sharding_rank(sharding);
    tsr_axis_list list = {0};
    for (size_t d = 0; d < rank; d++) {
        list.capacity += tsr_sharding_dim(sharding, d)->num_axes;
    }
    list.refs = session_alloc(session, list.capacity, sizeof *list.refs);
    for (size_t d = 0; d < rank; d++) {
        const tsr_dim *dim = tsr_sharding_dim(sharding, d);
        for (size_t i = 0; i < dim->num_axes; i++) {
            list.refs[list.count++] = dim->axes[i];
        }
    }
    return list;
}

/* The axes and sub-axes along which devices hold the same; false when they are not known. */
static bool spare_axes(struct session *session, const tsr_sharding *sharding, tsr_axis_list *out)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    size_t num_axes = tsr_mesh_num_axes(mesh);
    tsr_axis_list used = sharding_axes(session, sharding);
    tsr_axis_ref *all = session_alloc(session, num_axes, sizeof *all);
    for (size_t i = 0; i < num_axes; i++) {
        all[i] = tsr_axis_full(mesh, i);
    }
    *out = (tsr_axis_list){.capacity = num_axes + 2 * used.count};
    out->refs = session_alloc(session, out->capacity, sizeof *out->refs);
    return tsr_axes_difference(all, num_axes, used.refs, used.count, out) == TSR_OK;
}

struct spread spread_of(struct session *session, const tsr_sharding *sharding)
{
    enum { PAIRS_OF_AXIS = 64 };
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    struct spread spread = {0};
    tsr_axis_list spare;
    if (!spare_axes(session, sharding, &spare)) {
        return spread;
    }
    spread.pairs = session_alloc(session, spare.count * PAIRS_OF_AXIS, sizeof *spread.pairs);
    for (size_t i = 0; i < spare.count; i++) {
        size_t count = 0;
        if (tsr_mesh_axis_strides(mesh, spare.refs[i], PAIRS_OF_AXIS, spread.pairs + spread.count,
                                  &count) != TSR_OK) {
            return spread;
        }
        spread.count += count;
    }
    spread.known = spread.count == 0 || tsr_strides_flatten(session->ctx, spread.pairs,
                                                            spread.count, &spread.count) == TSR_OK;
    return spread;
}

/* What run `index` adds to the first id: row-major over all pairs but the last. */
static int64_t run_offset(const struct spread *spread, int64_t index)
{
    int64_t offset = 0;
    for (size_t i = spread->count - 1; i-- > 0;) {
        offset += index % spread->pairs[i].size * spread->pairs[i].stride;
        index /= spread->pairs[i].size;
    }
    return offset;
}

/* The set that starts at an id and spreads: a run along the last pair for every step of the rest.
 */
static void set_from_spread(int64_t first, const struct spread *spread, struct id_set *out)
{
    *out = (struct id_set){.num_runs = 1, .runs[0] = {first, 1, 1}, .count = 1};
    if (spread->count == 0) {
        return;
    }
    tsr_stride last = spread->pairs[spread->count - 1];
    int64_t runs = tsr_strides_size(spread->pairs, spread->count - 1);
    out->more = runs > ID_RUNS;
    out->num_runs = out->more ? ID_RUNS : (size_t)runs;
    out->count = runs * last.size;
    for (size_t i = 0; i < out->num_runs; i++) {
        int64_t start = first + run_offset(spread, (int64_t)i);
        out->runs[i] = (struct id_run){start, last.stride, last.size};
    }
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The longest run at the start of ids: a single one unless two are neighbours or three in step. */
static struct id_run first_run(const int64_t *ids, size_t count)
{
    struct id_run run = {ids[0], 1, 1};
    if (count < 2) {
        return run;
    }
    int64_t step = ids[1] - ids[0];
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

void id_set_make(int64_t *ids, size_t count, struct id_set *out)
{
    *out = (struct id_set){.count = (int64_t)count};
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
static void set_by_listing(struct session *session, const tsr_devices *devices, struct id_set *out)
{
    int64_t count = tsr_devices_count(devices);
    size_t listed = count > DEVICES_LISTED ? DEVICES_LISTED : (size_t)count;
    int64_t *ids = session_alloc(session, listed, sizeof *ids);
    for (size_t i = 0; i < listed; i++) {
        ids[i] = tsr_devices_at(devices, (int64_t)i);
    }
    id_set_make(ids, listed, out);
    out->more = out->more || (int64_t)listed < count;
    out->count = count;
}

int holders_of(struct session *session, const tsr_geometry *geometry, const struct spread *spread,
               const int64_t *index, struct id_set *out)
{
    tsr_arena_mark mark = tsr_arena_get_mark(session->arena);
    const tsr_devices *devices = NULL;
    *out = (struct id_set){0};
    if (tsr_mesh_is_empty(tsr_sharding_mesh(tsr_geometry_sharding(geometry)))) {
        return EXIT_FINE;
    }
    tsr_status status =
        tsr_geometry_holders(session->ctx, session->arena, geometry, index, &devices);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    if (spread->known) {
        set_from_spread(tsr_devices_at(devices, 0), spread, out);
    } else {
        set_by_listing(session, devices, out);
    }
    tsr_arena_reset(session->arena, mark);
    return EXIT_FINE;
}

/* The text of a run: `5`, `0-3`, `0,4` or `0-6:2`. */
static void format_run(const struct id_run *run, char *buffer, size_t size)
{
    int64_t last = run->first + (run->count - 1) * run->step;
    if (run->count == 1) {
        snprintf(buffer, size, "%" PRId64, run->first);
    } else if (run->step == 1) {
        snprintf(buffer, size, "%" PRId64 "-%" PRId64, run->first, last);
    } else if (run->count == 2) {
        snprintf(buffer, size, "%" PRId64 ",%" PRId64, run->first, last);
    } else {
        snprintf(buffer, size, "%" PRId64 "-%" PRId64 ":%" PRId64, run->first, last, run->step);
    }
}

/* The start of a set whose first run does not fit: its first id, if that does. */
static void format_cut_run(const struct id_run *run, size_t width, const char *ellipsis,
                           char *buffer)
{
    char text[64];
    bool pair = run->count == 2 && run->step != 1;
    const char *joint = run->count == 1 || pair ? "," : "-";
    snprintf(text, sizeof text, "%" PRId64 "%s%s", run->first, joint, ellipsis);
    const char *shown = utf8_length(text) <= width ? text : ellipsis;
    memcpy(buffer, shown, strlen(shown) + 1);
}

size_t id_set_format(const struct id_set *set, size_t width, const char *ellipsis, char *buffer)
{
    size_t reserve = 1 + utf8_length(ellipsis);
    size_t used = 0;
    sprintf(buffer, "%s", set->num_runs == 0 ? "all" : "");
    for (size_t i = 0; i < set->num_runs; i++) {
        char text[96] = ",";
        bool is_end = i + 1 == set->num_runs && !set->more;
        size_t comma = i > 0 ? 1 : 0;
        format_run(&set->runs[i], text + comma, sizeof text - comma);
        if (used + strlen(text) + (is_end ? 0 : reserve) <= width) {
            memcpy(buffer + used, text, strlen(text) + 1);
            used += strlen(text);
        } else if (i == 0) {
            format_cut_run(&set->runs[0], width, ellipsis, buffer);
            return utf8_length(buffer);
        } else {
            sprintf(buffer + used, ",%s", ellipsis);
            return used + reserve;
        }
    }
    if (set->more) {
        sprintf(buffer + used, ",%s", ellipsis);
    }
    return utf8_length(buffer);
}
