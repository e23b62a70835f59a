#include "picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "command.h"

/* A picture being made. `first` is the slice, row and column the index points at. */
struct maker {
    struct session *session;
    const tsr_geometry *geometry;
    const struct cuts *cuts;
    struct spread spread;
    struct picture *picture;
    int64_t *index;    /* an element, as tsr_geometry_holders takes it */
    tsr_interval *box; /* the cell that the element is the first of */
    size_t num_colours;
};

/* How many of `count` spans are before those left out: two thirds, but not all of them. */
size_t picture_side_head(const struct picture_side *side, size_t count)
{
    return count < side->count || side->hidden > 0 ? count - (count + 1) / 3 : count;
}

size_t picture_side_index(const struct picture_side *side, size_t count, size_t i)
{
    return i < picture_side_head(side, count) ? i : side->count - count + i;
}

/* All intervals when there are at most `most`, else half as many as that. */
static void make_side(const struct cuts *cuts, size_t most, struct picture_side *side)
{
    side->count = cuts->count > (int64_t)most ? most / 2 : (size_t)cuts->count;
    side->hidden = cuts->count - (int64_t)side->count;
    side->head = picture_side_head(side, side->count);
    for (size_t i = 0; i < side->count; i++) {
        int64_t at = i < side->head ? (int64_t)i : (int64_t)i + side->hidden;
        side->spans[i] = cuts_at(cuts, at);
    }
}

/* Rows and columns from the last two dimensions; a missing one has a single span of size 0. */
static void make_sides(struct maker *maker)
{
    struct picture *picture = maker->picture;
    size_t rank = picture->rank;
    size_t most = rank > 2 ? PICTURE_SPANS_OF_SLICE : PICTURE_SPANS;
    picture->rows.count = picture->rows.head = 1;
    picture->columns.count = picture->columns.head = 1;
    if (rank > 0) {
        make_side(&maker->cuts[rank - 1], PICTURE_SPANS, &picture->columns);
    }
    if (rank > 1) {
        make_side(&maker->cuts[rank - 2], most, &picture->rows);
    }
}

static int64_t count_slices(const struct maker *maker)
{
    int64_t count = 1;
    for (size_t d = 0; d + 2 < maker->picture->rank; d++) {
        if (__builtin_mul_overflow(count, maker->cuts[d].count, &count)) {
            return INT64_MAX;
        }
    }
    return count;
}

static void place(struct maker *maker, size_t dim, tsr_interval span)
{
    maker->index[dim] = span.start;
    maker->box[dim] = span;
}

/* Points the leading dimensions at a slice, the last of them fastest. */
static void place_slice(struct maker *maker, int64_t slice)
{
    for (size_t d = maker->picture->rank < 2 ? 0 : maker->picture->rank - 2; d-- > 0;) {
        place(maker, d, cuts_at(&maker->cuts[d], slice % maker->cuts[d].count));
        slice /= maker->cuts[d].count;
    }
}

static void place_cell(struct maker *maker, size_t row, size_t column)
{
    struct picture *picture = maker->picture;
    if (picture->rank > 0) {
        place(maker, picture->rank - 1, picture->columns.spans[column]);
    }
    if (picture->rank > 1) {
        place(maker, picture->rank - 2, picture->rows.spans[row]);
    }
}

/*
 * The box as `[0:2, :, 4:8]`: from dimension `full_from` on, and where it is whole, a colon. A long
 * one ends in an ellipsis: its length is not that of the rank.
 */
static const char *format_box(struct maker *maker, size_t full_from)
{
    enum { LONGEST = 200 };
    struct buffer buffer = {.session = maker->session};
    buffer_add(&buffer, "[");
    for (size_t d = 0; d < maker->picture->rank; d++) {
        tsr_interval span = maker->box[d];
        const char *comma = d > 0 ? ", " : "";
        if (buffer.size > LONGEST) {
            buffer_add(&buffer, ", ...");
            break;
        }
        if (d >= full_from || span.size == maker->cuts[d].extent) {
            buffer_add(&buffer, "%s:", comma);
        } else {
            buffer_add(&buffer, "%s%" PRId64 ":%" PRId64, comma, span.start,
                       span.start + span.size);
        }
    }
    buffer_add(&buffer, "]");
    return buffer.data;
}

/* The shard that a set of devices holds: known by its first device. Its number, new or not. */
static size_t find_shard(struct maker *maker, const struct id_set *devices)
{
    struct picture *picture = maker->picture;
    size_t i = 0;
    while (i < picture->num_shards &&
           picture->shards[i].devices.runs[0].first != devices->runs[0].first) {
        i++;
    }
    if (i == picture->num_shards) {
        picture->shards[picture->num_shards++] =
            (struct picture_shard){.devices = *devices,
                                   .box = format_box(maker, picture->rank),
                                   .colour = i % maker->num_colours};
    }
    picture->shards[i].cells++;
    return i;
}

static int make_slice(struct maker *maker, size_t number)
{
    struct picture *picture = maker->picture;
    size_t columns = picture->columns.count;
    size_t *cells = session_alloc(maker->session, picture->rows.count * columns, sizeof *cells);
    place_slice(maker, (int64_t)number);
    for (size_t i = 0; i < picture->rows.count * columns; i++) {
        struct id_set devices;
        place_cell(maker, i / columns, i % columns);
        int code =
            holders_of(maker->session, maker->geometry, &maker->spread, maker->index, &devices);
        if (code != EXIT_FINE) {
            return code;
        }
        cells[i] = find_shard(maker, &devices);
    }
    const char *title = picture->rank > 2 ? format_box(maker, picture->rank - 2) : NULL;
    picture->slices[number] = (struct picture_slice){.title = title, .cells = cells};
    return EXIT_FINE;
}

static int make_slices(struct maker *maker)
{
    struct picture *picture = maker->picture;
    int64_t slices = count_slices(maker);
    picture->num_slices = slices > PICTURE_SLICES ? PICTURE_SLICES : (size_t)slices;
    picture->more_slices = slices - (int64_t)picture->num_slices;
    picture->shards = session_alloc(
        maker->session, picture->num_slices * picture->rows.count * picture->columns.count,
        sizeof *picture->shards);
    for (size_t i = 0; i < picture->num_slices; i++) {
        int code = make_slice(maker, i);
        if (code != EXIT_FINE) {
            return code;
        }
    }
    return EXIT_FINE;
}

/* How many devices hold nothing: all but those with a shard that holds something on each side. */
static int64_t count_idle(const struct maker *maker, int64_t num_devices)
{
    int64_t shards = 1;
    int64_t holding = 1;
    for (size_t d = 0; d < maker->picture->rank; d++) {
        shards *= maker->cuts[d].shards;
        holding *= maker->cuts[d].holding;
    }
    return num_devices - holding * (num_devices / shards);
}

static bool holds_nothing(const struct maker *maker, int64_t device, int64_t *start, int64_t *size)
{
    bool nothing = !tsr_geometry_box(maker->geometry, device, start, size);
    for (size_t d = 0; d < maker->picture->rank; d++) {
        nothing = nothing || size[d] == 0;
    }
    return nothing;
}

static void find_idle(struct maker *maker)
{
    struct session *session = maker->session;
    const tsr_mesh *mesh = tsr_sharding_mesh(tsr_geometry_sharding(maker->geometry));
    int64_t num_devices = tsr_mesh_num_devices(mesh);
    int64_t idle = count_idle(maker, num_devices);
    maker->picture->num_idle = idle;
    if (idle == 0 || num_devices > DEVICES_LISTED) {
        return;
    }
    int64_t *scratch = session_alloc(session, 2 * maker->picture->rank, sizeof *scratch);
    int64_t *ids = session_alloc(session, (size_t)num_devices, sizeof *ids);
    size_t count = 0;
    for (int64_t place_in_mesh = 0; place_in_mesh < num_devices; place_in_mesh++) {
        int64_t device = tsr_mesh_device_at(mesh, place_in_mesh);
        if (holds_nothing(maker, device, scratch, scratch + maker->picture->rank)) {
            ids[count++] = device;
        }
    }
    struct id_set *set = session_alloc(session, 1, sizeof *set);
    id_set_make(ids, count, set);
    maker->picture->idle = set;
}

/* A row less of colours when a whole round would put the same ones below each other. */
static size_t choose_colours(const struct picture *picture)
{
    const size_t all = 16;
    return picture->columns.count % all == 0 ? all - 1 : all;
}

int picture_make(struct session *session, const tsr_geometry *geometry, const struct cuts *cuts,
                 size_t rank, const struct picture **out)
{
    struct maker maker = {.session = session, .geometry = geometry, .cuts = cuts};
    maker.picture = session_alloc(session, 1, sizeof *maker.picture);
    maker.picture->rank = rank;
    *out = maker.picture;
    for (size_t d = 0; d < rank; d++) {
        maker.picture->empty = maker.picture->empty || cuts[d].extent == 0;
    }
    if (maker.picture->empty) {
        return EXIT_FINE;
    }
    maker.index = session_alloc(session, rank, sizeof *maker.index);
    maker.box = session_alloc(session, rank, sizeof *maker.box);
    maker.spread = spread_of(session, tsr_geometry_sharding(geometry));
    make_sides(&maker);
    maker.num_colours = choose_colours(maker.picture);
    find_idle(&maker);
    return make_slices(&maker);
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
    int length = sprintf(text, "%" PRId64 ":%" PRId64, span.start, span.start + span.size);
    if ((size_t)length > longest) {
        sprintf(text, "%" PRId64 ":%s", span.start, ellipsis);
    }
}
