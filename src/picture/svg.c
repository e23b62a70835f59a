/* Draws a picture as a standalone SVG document. Lengths are in pixels. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "base/utf8.h"
#include "picture/picture.h"

static const size_t border = 16;
static const size_t advance = 8; /* the width of a character of the font */
static const size_t line = 20;   /* from one line of text to the next */
static const size_t baseline = 14;
static const size_t cell_height = 36;
static const size_t gap = 28; /* the width or height of what is left out */

enum {
    TITLE_CHARACTERS = 100,
    TITLE_ROOM = 4 * TITLE_CHARACTERS + 4,
    LABEL_CHARACTERS = 24,
    LEGEND_CHARACTERS = 64,
    LEGEND_ENTRIES = 32,
    TEXT_ROOM = 128,
    ENTRY_ROOM = 1024
};

static const char ellipsis[] = "…";

/* The picture with its measures, and where the next thing is drawn. */
typedef struct page {
    buffer *out;
    const picture *of;
    const char *const *titles;
    size_t num_titles;
    size_t margin; /* of the row labels */
    size_t cell;   /* the width of a cell */
    size_t y;
} page;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The entity of a character that XML gives a meaning, or NULL. */
static const char *xml_entity(uint32_t character)
{
    switch (character) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* The characters of XML 1.0. */
static bool xml_allows(uint32_t character)
{
    return character >= 0x20 && character != 0xFFFE && character != 0xFFFF && character != 0xFFFD;
}

/* Text between tags or in an attribute; what XML cannot hold becomes U+FFFD. */
static void write_xml_text(buffer *out, const char *text)
{
    const size_t size = strlen(text);
    uint32_t character = 0;
    for (size_t at = 0; at < size;) {
        const size_t length = tsr_utf8_next(text + at, size - at, &character);
        const char *entity = xml_entity(character);
        if (entity != NULL) {
            buffer_string(out, entity);
        } else if (xml_allows(character)) {
            buffer_bytes(out, text + at, length);
        } else {
            buffer_string(out, "&#xFFFD;");
        }
        at += length;
    }
}

static void write_text(page *pg, size_t x, size_t y, const char *class, const char *text)
{
    buffer_format(pg->out, "<text x=\"%zu\" y=\"%zu\" class=\"%s\">", x, y, class);
    write_xml_text(pg->out, text);
    buffer_string(pg->out, "</text>\n");
}

static size_t span_width(tsr_interval span)
{
    char text[64];
    picture_format_span(span, ellipsis, text);
    return utf8_length(text) * advance;
}

static size_t widest_span(const picture_side *side)
{
    size_t widest = 0;
    for (size_t i = 0; i < side->count; i++) {
        widest = larger(widest, span_width(side->spans[i]));
    }
    return widest;
}

static size_t widest_label(const picture *of)
{
    char text[TEXT_ROOM];
    size_t widest = 0;
    for (size_t i = 0; i < of->num_shards; i++) {
        const id_set *devices = &of->shards[i].devices;
        widest = larger(widest, id_set_format(devices, LABEL_CHARACTERS, ellipsis, text));
    }
    return widest * advance;
}

static void measure(page *pg)
{
    const picture *of = pg->of;
    size_t heading = of->rank > 0 ? widest_span(&of->columns) : 0;
    pg->margin = of->rank > 1 ? widest_span(&of->rows) + advance : 0;
    pg->cell = larger(larger(heading, widest_label(of)) + 2 * advance, 2 * cell_height);
}

/* Where a row or column starts, from the start of the grid; `i` may be the count, for the end. */
static size_t side_offset(const picture_side *side, size_t i, size_t each)
{
    return i * each + (side->hidden > 0 && i >= side->head ? gap : 0);
}

static size_t grid_width(const page *pg)
{
    return side_offset(&pg->of->columns, pg->of->columns.count, pg->cell);
}

static size_t slice_height(const page *pg)
{
    const picture *of = pg->of;
    size_t lines = (size_t)(of->rank > 2) + (size_t)(of->rank > 0);
    return lines * line + side_offset(&of->rows, of->rows.count, cell_height) + line;
}

static size_t legend_entries(const picture *of)
{
    return of->num_shards < LEGEND_ENTRIES ? of->num_shards : LEGEND_ENTRIES;
}

/* The text of a legend entry: box and devices. */
static void format_entry(const picture_shard *shard, char *text, size_t size)
{
    char devices[TEXT_ROOM];
    id_set_format(&shard->devices, LEGEND_CHARACTERS, ellipsis, devices);
    const char *word = shard->devices.count == 1 ? "device" : "devices";
    const char *more = shard->cells > 1 ? " and more" : "";
    (void)snprintf(text, size, "%s%s: %s %s", shard->box, more, word, devices);
}

/* The remarks below the legend; an empty text for none. */
static void format_remarks(const picture *of, char remarks[3][TEXT_ROOM])
{
    char text[TEXT_ROOM] = "";
    memset(remarks, 0, 3 * sizeof remarks[0]);
    if (of->empty) {
        (void)snprintf(remarks[0], TEXT_ROOM, "no elements");
    }
    if (of->more_slices > 0) {
        (void)snprintf(remarks[0], TEXT_ROOM, "%s and %" PRId64 " more slices", ellipsis,
                       of->more_slices);
    }
    if (of->num_shards > LEGEND_ENTRIES) {
        (void)snprintf(remarks[1], TEXT_ROOM, "%s and %zu more shards", ellipsis,
                       of->num_shards - LEGEND_ENTRIES);
    }
    if (of->idle != NULL) {
        id_set_format(of->idle, LEGEND_CHARACTERS, ellipsis, text);
        (void)snprintf(remarks[2], TEXT_ROOM, "hold nothing: devices %.90s", text);
    } else if (of->num_idle > 0) {
        (void)snprintf(remarks[2], TEXT_ROOM, "%" PRId64 " devices hold nothing", of->num_idle);
    }
}

/* The width of a title, cut when it is long; 0 for none. */
static size_t title_width(const char *title)
{
    size_t length = title != NULL ? utf8_length(title) : 0;
    return (length < TITLE_CHARACTERS ? length : TITLE_CHARACTERS) * advance;
}

/* A title on a line of its own. */
static void write_title(page *pg, const char *title)
{
    char text[TITLE_ROOM];
    if (utf8_length(title) > TITLE_CHARACTERS) {
        size_t kept = utf8_prefix(title, TITLE_CHARACTERS - 1);
        (void)snprintf(text, sizeof text, "%.*s%s", (int)kept, title, ellipsis);
        title = text;
    }
    write_text(pg, border, pg->y + baseline, "left", title);
    pg->y += line;
}

/* The width of the page: of the grid, or of the longest line of text. */
static size_t page_width(const page *pg)
{
    char text[ENTRY_ROOM];
    size_t width = pg->margin + grid_width(pg);
    for (size_t i = 0; i < pg->num_titles; i++) {
        width = larger(width, title_width(pg->titles[i]));
    }
    for (size_t i = 0; i < pg->of->num_slices; i++) {
        width = larger(width, title_width(pg->of->slices[i].title));
    }
    for (size_t i = 0; i < legend_entries(pg->of); i++) {
        format_entry(&pg->of->shards[i], text, sizeof text);
        width = larger(width, utf8_length(text) * advance + 2 * line);
    }
    return larger(width, LEGEND_CHARACTERS * advance) + 2 * border;
}

static size_t page_height(const page *pg)
{
    char remarks[3][TEXT_ROOM];
    size_t lines = pg->num_titles + legend_entries(pg->of) + 2;
    format_remarks(pg->of, remarks);
    for (size_t i = 0; i < 3; i++) {
        lines += remarks[i][0] != '\0';
    }
    return 2 * border + lines * line + pg->of->num_slices * slice_height(pg);
}

static void write_start(page *pg)
{
    size_t width = page_width(pg);
    size_t height = page_height(pg);
    buffer_string(pg->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    buffer_format(pg->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                  "viewBox=\"0 0 %zu %zu\">\n",
                  width, height, width, height);
    buffer_string(pg->out, "<style>\n"
                           "text { font: 13px monospace; fill: #202020; }\n"
                           ".middle { text-anchor: middle; }\n"
                           ".right { text-anchor: end; }\n"
                           ".cell { stroke: #606060; }\n"
                           "</style>\n");
    buffer_format(pg->out, "<rect width=\"%zu\" height=\"%zu\" fill=\"#ffffff\"/>\n", width,
                  height);
    for (size_t i = 0; i < pg->num_titles; i++) {
        write_title(pg, pg->titles[i]);
    }
    pg->y += line / 2;
}

static void write_cell(page *pg, size_t x, size_t y, const picture_shard *shard)
{
    char text[TEXT_ROOM];
    buffer_format(
        pg->out,
        "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" fill=\"%s\" class=\"cell\"/>\n", x,
        y, pg->cell, cell_height, picture_web_colour(shard->colour));
    id_set_format(&shard->devices, LABEL_CHARACTERS, ellipsis, text);
    write_text(pg, x + pg->cell / 2, y + cell_height / 2 + 5, "middle", text);
}

static void write_headings(page *pg, size_t left)
{
    const picture_side *columns = &pg->of->columns;
    char text[64];
    for (size_t i = 0; i < columns->count; i++) {
        size_t x = left + side_offset(columns, i, pg->cell) + pg->cell / 2;
        picture_format_span(columns->spans[i], ellipsis, text);
        write_text(pg, x, pg->y + baseline, "middle", text);
    }
    pg->y += line;
}

static void write_row(page *pg, size_t left, const picture_slice *slice, size_t row)
{
    const picture *of = pg->of;
    const picture_side *columns = &of->columns;
    size_t y = pg->y + side_offset(&of->rows, row, cell_height);
    char text[64];
    if (of->rank > 1) {
        picture_format_span(of->rows.spans[row], ellipsis, text);
        write_text(pg, left - advance, y + cell_height / 2 + 5, "right", text);
    }
    for (size_t i = 0; i < columns->count; i++) {
        size_t shard = slice->cells[row * columns->count + i];
        write_cell(pg, left + side_offset(columns, i, pg->cell), y, &of->shards[shard]);
    }
    if (columns->hidden > 0) {
        size_t x = left + columns->head * pg->cell + gap / 2;
        write_text(pg, x, y + cell_height / 2 + 5, "middle", ellipsis);
    }
}

static void write_slice(page *pg, const picture_slice *slice)
{
    const picture_side *rows = &pg->of->rows;
    size_t left = border + pg->margin;
    if (slice->title != NULL) {
        write_title(pg, slice->title);
    }
    if (pg->of->rank > 0) {
        write_headings(pg, left);
    }
    for (size_t row = 0; row < rows->count; row++) {
        write_row(pg, left, slice, row);
    }
    if (rows->hidden > 0) {
        size_t y = pg->y + rows->head * cell_height + gap / 2 + 5;
        write_text(pg, left + grid_width(pg) / 2, y, "middle", ellipsis);
    }
    pg->y += side_offset(rows, rows->count, cell_height) + line;
}

static void write_legend(page *pg)
{
    char text[ENTRY_ROOM];
    char remarks[3][TEXT_ROOM];
    for (size_t i = 0; i < legend_entries(pg->of); i++) {
        const picture_shard *shard = &pg->of->shards[i];
        buffer_format(
            pg->out,
            "<rect x=\"%zu\" y=\"%zu\" width=\"14\" height=\"14\" fill=\"%s\" class=\"cell\"/>\n",
            border, pg->y + 3, picture_web_colour(shard->colour));
        format_entry(shard, text, sizeof text);
        write_text(pg, border + 22, pg->y + baseline, "left", text);
        pg->y += line;
    }
    format_remarks(pg->of, remarks);
    for (size_t i = 0; i < 3; i++) {
        if (remarks[i][0] != '\0') {
            write_text(pg, border, pg->y + baseline, "left", remarks[i]);
            pg->y += line;
        }
    }
}

static void draw(page *pg)
{
    measure(pg);
    write_start(pg);
    for (size_t i = 0; i < pg->of->num_slices; i++) {
        write_slice(pg, &pg->of->slices[i]);
    }
    write_legend(pg);
    buffer_string(pg->out, "</svg>\n");
}

static tsr_status check_titles(tsr_context *ctx, const char *const *titles, size_t num_titles)
{
    for (size_t i = 0; i < num_titles; i++) {
        if (titles[i] == NULL) {
            char place[64];
            (void)snprintf(place, sizeof place, "titles[%zu]", i);
            return guard_null(ctx, "tsr_picture_svg", place);
        }
    }
    return TSR_OK;
}

tsr_status tsr_picture_svg(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                           const char *const *titles, size_t num_titles, const char **out)
{
    GUARD(tsr_picture_svg);
    TSR_TRY(check_titles(ctx, titles, num_titles));
    tsr_arena *scratch = NULL;
    const picture *of = NULL;
    TSR_TRY(tsr_arena_create(ctx, &scratch));
    tsr_status status = picture_make(ctx, scratch, geometry, &of);
    if (status == TSR_OK) {
        buffer text = buffer_new(arena);
        draw(&(page){
            .out = &text, .of = of, .titles = titles, .num_titles = num_titles, .y = border});
        status = buffer_finish(ctx, &text, out);
    }
    tsr_arena_destroy(scratch);
    return status;
}
