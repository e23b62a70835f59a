#include "picture/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "picture/cuts.h"

/* A picture being made. */
typedef struct maker {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_geometry *geometry;
    const cuts *cuts;
    spread between;
    picture *p;
    int64_t *index;    /* an element, as tsr_geometry_holders takes it */
    tsr_interval *box; /* the cell that the element is the first of */
    size_t num_colours;
} maker;

/* How many of `count` spans are before those left out: two thirds, but not all of them. */
size_t picture_side_head(const picture_side *side, size_t count)
{
    return count < side->count || side->hidden > 0 ? count - (count + 1) / 3 : count;
}

size_t picture_side_index(const picture_side *side, size_t count, size_t i)
{
    return i < picture_side_head(side, count) ? i : side->count - count + i;
}

/* All intervals when there are at most `most`, else half as many as that. */
static void make_side(const cuts *of, size_t most, picture_side *side)
{
    side->count = of->count > (int64_t)most ? most / 2 : (size_t)of->count;
    side->hidden = of->count - (int64_t)side->count;
    side->head = picture_side_head(side, side->count);
    for (size_t i = 0; i < side->count; i++) {
        const int64_t at = i < side->head ? (int64_t)i : (int64_t)i + side->hidden;
        side->spans[i] = cuts_at(of, at);
    }
}

/* Rows and columns from the last two dimensions; a missing one has a single span of size 0. */
static void make_sides(maker *m)
{
    picture *p = m->p;
    const size_t rank = p->rank;
    const size_t most = rank > 2 ? PICTURE_SPANS_OF_SLICE : PICTURE_SPANS;
    p->rows.count = p->rows.head = 1;
    p->columns.count = p->columns.head = 1;
    if (rank > 0) {
        make_side(&m->cuts[rank - 1], PICTURE_SPANS, &p->columns);
    }
    if (rank > 1) {
        make_side(&m->cuts[rank - 2], most, &p->rows);
    }
}

static int64_t count_slices(const maker *m)
{
    int64_t count = 1;
    for (size_t d = 0; d + 2 < m->p->rank; d++) {
        if (__builtin_mul_overflow(count, m->cuts[d].count, &count)) {
            return INT64_MAX;
        }
    }
    return count;
}

static void place(maker *m, size_t dim, tsr_interval span)
{
    m->index[dim] = span.start;
    m->box[dim] = span;
}

/* Points the leading dimensions at a slice, the last of them fastest. */
static void place_slice(maker *m, int64_t slice)
{
    for (size_t d = m->p->rank < 2 ? 0 : m->p->rank - 2; d-- > 0;) {
        place(m, d, cuts_at(&m->cuts[d], slice % m->cuts[d].count));
        slice /= m->cuts[d].count;
    }
}

static void place_cell(maker *m, size_t row, size_t column)
{
    const picture *p = m->p;
    if (p->rank > 0) {
        place(m, p->rank - 1, p->columns.spans[column]);
    }
    if (p->rank > 1) {
        place(m, p->rank - 2, p->rows.spans[row]);
    }
}

/*
 * The box as `[0:2, :, 4:8]`: from dimension `full_from` on, and where it is whole, a colon. A long
 * one ends in an ellipsis: its length is not that of the rank.
 */
static tsr_status format_box(maker *m, size_t full_from, const char **out)
{
    enum { LONGEST = 200 };
    buffer text = buffer_new(m->arena);
    buffer_string(&text, "[");
    for (size_t d = 0; d < m->p->rank; d++) {
        const tsr_interval span = m->box[d];
        if (text.size > LONGEST) {
            buffer_string(&text, ", ...");
            break;
        }
        buffer_string(&text, d > 0 ? ", " : "");
        if (d >= full_from || span.size == m->cuts[d].extent) {
            buffer_string(&text, ":");
        } else {
            buffer_format(&text, "%" PRId64 ":%" PRId64, span.start, span.start + span.size);
        }
    }
    buffer_string(&text, "]");
    return buffer_finish(m->ctx, &text, out);
}

/* The shard that a set of devices holds: known by its first device. Its number, new or not. */
static tsr_status find_shard(maker *m, const id_set *devices, size_t *out)
{
    picture *p = m->p;
    size_t i = 0;
    while (i < p->num_shards && p->shards[i].devices.runs[0].first != devices->runs[0].first) {
        i++;
    }
    if (i == p->num_shards) {
        p->shards[i] = (picture_shard){.devices = *devices, .colour = i % m->num_colours};
        TSR_TRY(format_box(m, p->rank, &p->shards[i].box));
        p->num_shards++;
    }
    p->shards[i].cells++;
    *out = i;
    return TSR_OK;
}

static tsr_status make_slice(maker *m, size_t number)
{
    picture *p = m->p;
    const size_t columns = p->columns.count;
    size_t *cells = ARENA_ARRAY(m->arena, size_t, p->rows.count * columns);
    if (cells == NULL) {
        return diag_nomem(m->ctx);
    }
    place_slice(m, (int64_t)number);
    for (size_t i = 0; i < p->rows.count * columns; i++) {
        id_set devices;
        place_cell(m, i / columns, i % columns);
        TSR_TRY(id_set_of_holders(m->ctx, m->arena, m->geometry, &m->between, m->index, &devices));
        TSR_TRY(find_shard(m, &devices, &cells[i]));
    }
    p->slices[number] = (picture_slice){.cells = cells};
    return p->rank > 2 ? format_box(m, p->rank - 2, &p->slices[number].title) : TSR_OK;
}

static tsr_status make_slices(maker *m)
{
    picture *p = m->p;
    const int64_t slices = count_slices(m);
    p->num_slices = (size_t)min_i64(slices, PICTURE_SLICES);
    p->more_slices = slices - (int64_t)p->num_slices;
    p->shards =
        ARENA_ARRAY(m->arena, picture_shard, p->num_slices * p->rows.count * p->columns.count);
    if (p->shards == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < p->num_slices; i++) {
        TSR_TRY(make_slice(m, i));
    }
    return TSR_OK;
}

/* How many devices hold nothing: all but those with a shard that holds something on each side. */
static int64_t count_idle(const maker *m, int64_t num_devices)
{
    int64_t shards = 1;
    int64_t holding = 1;
    for (size_t d = 0; d < m->p->rank; d++) {
        shards *= m->cuts[d].shards;
        holding *= m->cuts[d].holding;
    }
    return num_devices - holding * (num_devices / shards);
}

static bool holds_nothing(const maker *m, int64_t device, int64_t *start, int64_t *size)
{
    bool nothing = !tsr_geometry_box(m->geometry, device, start, size);
    for (size_t d = 0; d < m->p->rank; d++) {
        nothing = nothing || size[d] == 0;
    }
    return nothing;
}

/* Which devices hold nothing; on a large mesh only how many. */
static tsr_status find_idle(maker *m)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(tsr_geometry_sharding(m->geometry));
    const int64_t num_devices = tsr_mesh_num_devices(mesh);
    const size_t rank = m->p->rank;
    m->p->num_idle = count_idle(m, num_devices);
    if (m->p->num_idle == 0 || num_devices > ID_SET_TRIED) {
        return TSR_OK;
    }
    int64_t *start = ARENA_ARRAY(m->arena, int64_t, rank);
    int64_t *size = ARENA_ARRAY(m->arena, int64_t, rank);
    int64_t *ids = ARENA_ARRAY(m->arena, int64_t, (size_t)num_devices);
    id_set *set = ARENA_NEW(m->arena, id_set);
    if (start == NULL || size == NULL || ids == NULL || set == NULL) {
        return diag_nomem(m->ctx);
    }
    size_t count = 0;
    for (int64_t at = 0; at < num_devices; at++) {
        const int64_t device = tsr_mesh_device_at(mesh, at);
        if (holds_nothing(m, device, start, size)) {
            ids[count++] = device;
        }
    }
    id_set_make(ids, count, set);
    m->p->idle = set;
    return TSR_OK;
}

/* A row less of colours when a whole round would put the same ones below each other. */
static size_t choose_colours(const picture *p)
{
    const size_t all = 16;
    return p->columns.count % all == 0 ? all - 1 : all;
}

tsr_status picture_make(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                        const picture **out)
{
    const size_t rank = tsr_geometry_rank(geometry);
    maker m = {.ctx = ctx, .arena = arena, .geometry = geometry};
    m.p = ARENA_NEW(arena, picture);
    m.index = ARENA_ARRAY(arena, int64_t, rank);
    m.box = ARENA_ARRAY(arena, tsr_interval, rank);
    if (m.p == NULL || m.index == NULL || m.box == NULL) {
        return diag_nomem(ctx);
    }
    *m.p = (picture){.rank = rank};
    *out = m.p;
    TSR_TRY(cuts_make(ctx, arena, geometry, &m.cuts));
    for (size_t d = 0; d < rank; d++) {
        m.p->empty = m.p->empty || m.cuts[d].extent == 0;
    }
    if (m.p->empty) {
        return TSR_OK;
    }
    TSR_TRY(spread_of(ctx, arena, tsr_geometry_sharding(geometry), &m.between));
    make_sides(&m);
    m.num_colours = choose_colours(m.p);
    TSR_TRY(find_idle(&m));
    return make_slices(&m);
}

static const struct {
    int terminal;
    const char *web;
} palette[] = {
    {153, "#afd7ff"}, {223, "#ffd7af"}, {157, "#afffaf"}, {218, "#ffafd7"},
    {229, "#ffffaf"}, {183, "#d7afff"}, {159, "#afffff"}, {217, "#ffafaf"},
    {150, "#afd787"}, {111, "#87afff"}, {216, "#ffaf87"}, {122, "#87ffd7"},
    {177, "#d787ff"}, {186, "#d7d787"}, {116, "#87d7d7"}, {211, "#ff87af"},
};

int picture_terminal_colour(size_t colour)
{
    return palette[colour].terminal;
}

const char *picture_web_colour(size_t colour)
{
    return palette[colour].web;
}

void picture_format_span(tsr_interval span, const char *ellipsis, char *text)
{
    const size_t longest = 21;
    const int length = sprintf(text, "%" PRId64 ":%" PRId64, span.start, span.start + span.size);
    if ((size_t)length > longest) {
        (void)sprintf(text, "%" PRId64 ":%s", span.start, ellipsis);
    }
}
