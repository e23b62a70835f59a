/* Draws a picture as a standalone SVG document. Lengths are in pixels. */
#include <inttypes.h>
#include <string.h>

#include "picture.h"
#include "utf8.h"

static const size_t border = 16;
static const size_t character = 8; /* the width of a character of the font */
static const size_t line = 20;     /* from one line of text to the next */
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
struct page {
    FILE *out;
    const struct picture *picture;
    const char *const *titles;
    size_t num_titles;
    size_t margin; /* of the row labels */
    size_t cell;   /* the width of a cell */
    size_t y;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void write_text(struct page *page, size_t x, size_t y, const char *class, const char *text)
{
    fprintf(page->out, "<text x=\"%zu\" y=\"%zu\" class=\"%s\">", x, y, class);
    write_xml_text(page->out, text);
    fputs("</text>\n", page->out);
}

static size_t span_width(tsr_interval span)
{
    char text[64];
    picture_format_span(span, ellipsis, text);
    return utf8_length(text) * character;
}

static size_t widest_span(const struct picture_side *side)
{
    size_t widest = 0;
    for (size_t i = 0; i < side->count; i++) {
        widest = larger(widest, span_width(side->spans[i]));
    }
    return widest;
}

static size_t widest_label(const struct picture *picture)
{
    char text[TEXT_ROOM];
    size_t widest = 0;
    for (size_t i = 0; i < picture->num_shards; i++) {
        const struct id_set *devices = &picture->shards[i].devices;
        widest = larger(widest, id_set_format(devices, LABEL_CHARACTERS, ellipsis, text));
    }
    return widest * character;
}

static void measure(struct page *page)
{
    const struct picture *picture = page->picture;
    size_t heading = picture->rank > 0 ? widest_span(&picture->columns) : 0;
    page->margin = picture->rank > 1 ? widest_span(&picture->rows) + character : 0;
    page->cell = larger(larger(heading, widest_label(picture)) + 2 * character, 2 * cell_height);
}

/* Where a row or column starts, from the start of the grid; `i` may be the count, for the end. */
static size_t side_offset(const struct picture_side *side, size_t i, size_t each)
{
    return i * each + (side->hidden > 0 && i >= side->head ? gap : 0);
}

static size_t grid_width(const struct page *page)
{
    return side_offset(&page->picture->columns, page->picture->columns.count, page->cell);
}

static size_t slice_height(const struct page *page)
{
    const struct picture *picture = page->picture;
    size_t lines = (size_t)(picture->rank > 2) + (size_t)(picture->rank > 0);
    return lines * line + side_offset(&picture->rows, picture->rows.count, cell_height) + line;
}

static size_t legend_entries(const struct picture *picture)
{
    return picture->num_shards < LEGEND_ENTRIES ? picture->num_shards : LEGEND_ENTRIES;
}

/* The text of a legend entry: box and devices. */
static void format_entry(const struct picture_shard *shard, char *text, size_t size)
{
    char devices[TEXT_ROOM];
    id_set_format(&shard->devices, LEGEND_CHARACTERS, ellipsis, devices);
    const char *word = shard->devices.count == 1 ? "device" : "devices";
    const char *more = shard->cells > 1 ? " and more" : "";
    snprintf(text, size, "%s%s: %s %s", shard->box, more, word, devices);
}

/* The remarks below the legend; an empty text for none. */
static void format_remarks(const struct picture *picture, char remarks[3][TEXT_ROOM])
{
    char text[TEXT_ROOM] = "";
    memset(remarks, 0, 3 * sizeof remarks[0]);
    if (picture->empty) {
        snprintf(remarks[0], TEXT_ROOM, "no elements");
    }
    if (picture->more_slices > 0) {
        snprintf(remarks[0], TEXT_ROOM, "%s and %" PRId64 " more slices", ellipsis,
                 picture->more_slices);
    }
    if (picture->num_shards > LEGEND_ENTRIES) {
        snprintf(remarks[1], TEXT_ROOM, "%s and %zu more shards", ellipsis,
                 picture->num_shards - LEGEND_ENTRIES);
    }
    if (picture->idle != NULL) {
        id_set_format(picture->idle, LEGEND_CHARACTERS, ellipsis, text);
        snprintf(remarks[2], TEXT_ROOM, "hold nothing: devices %.90s", text);
    } else if (picture->num_idle > 0) {
        snprintf(remarks[2], TEXT_ROOM, "%" PRId64 " devices hold nothing", picture->num_idle);
    }
}

/* The width of a title, cut when it is long; 0 for none. */
static size_t title_width(const char *title)
{
    size_t length = title != NULL ? utf8_length(title) : 0;
    return (length < TITLE_CHARACTERS ? length : TITLE_CHARACTERS) * character;
}

/* A title on a line of its own. */
static void write_title(struct page *page, const char *title)
{
    char text[TITLE_ROOM];
    if (utf8_length(title) > TITLE_CHARACTERS) {
        size_t kept = utf8_prefix(title, TITLE_CHARACTERS - 1);
        snprintf(text, sizeof text, "%.*s%s", (int)kept, title, ellipsis);
        title = text;
    }
    write_text(page, border, page->y + baseline, "left", title);
    page->y += line;
}

/* The width of the page: of the grid, or of the longest line of text. */
static size_t page_width(const struct page *page)
{
    char text[ENTRY_ROOM];
    size_t width = page->margin + grid_width(page);
    for (size_t i = 0; i < page->num_titles; i++) {
        width = larger(width, title_width(page->titles[i]));
    }
    for (size_t i = 0; i < page->picture->num_slices; i++) {
        width = larger(width, title_width(page->picture->slices[i].title));
    }
    for (size_t i = 0; i < legend_entries(page->picture); i++) {
        format_entry(&page->picture->shards[i], text, sizeof text);
        width = larger(width, utf8_length(text) * character + 2 * line);
    }
    return larger(width, LEGEND_CHARACTERS * character) + 2 * border;
}

static size_t page_height(const struct page *page)
{
    char remarks[3][TEXT_ROOM];
    size_t lines = page->num_titles + legend_entries(page->picture) + 2;
    format_remarks(page->picture, remarks);
    for (size_t i = 0; i < 3; i++) {
        lines += remarks[i][0] != '\0';
    }
    return 2 * border + lines * line + page->picture->num_slices * slice_height(page);
}

static void write_start(struct page *page)
{
    size_t width = page_width(page);
    size_t height = page_height(page);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", page->out);
    fprintf(page->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
            "viewBox=\"0 0 %zu %zu\">\n",
            width, height, width, height);
    fputs("<style>\n"
          "text { font: 13px monospace; fill: #202020; }\n"
          ".middle { text-anchor: middle; }\n"
          ".right { text-anchor: end; }\n"
          ".cell { stroke: #606060; }\n"
          "</style>\n",
          page->out);
    fprintf(page->out, "<rect width=\"%zu\" height=\"%zu\" fill=\"#ffffff\"/>\n", width, height);
    for (size_t i = 0; i < page->num_titles; i++) {
        write_title(page, page->titles[i]);
    }
    page->y += line / 2;
}

static void write_cell(struct page *page, size_t x, size_t y, const struct picture_shard *shard)
{
    char text[TEXT_ROOM];
    fprintf(page->out,
            "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" fill=\"%s\" class=\"cell\"/>\n",
            x, y, page->cell, cell_height, picture_web_colour(shard->colour));
    id_set_format(&shard->devices, LABEL_CHARACTERS, ellipsis, text);
    write_text(page, x + page->cell / 2, y + cell_height / 2 + 5, "middle", text);
}

static void write_headings(struct page *page, size_t left)
{
    const struct picture_side *columns = &page->picture->columns;
    char text[64];
    for (size_t i = 0; i < columns->count; i++) {
        size_t x = left + side_offset(columns, i, page->cell) + page->cell / 2;
        picture_format_span(columns->spans[i], ellipsis, text);
        write_text(page, x, page->y + baseline, "middle", text);
    }
    page->y += line;
}

static void write_row(struct page *page, size_t left, const struct picture_slice *slice, size_t row)
{
    const struct picture *picture = page->picture;
    const struct picture_side *columns = &picture->columns;
    size_t y = page->y + side_offset(&picture->rows, row, cell_height);
    char text[64];
    if (picture->rank > 1) {
        picture_format_span(picture->rows.spans[row], ellipsis, text);
        write_text(page, left - character, y + cell_height / 2 + 5, "right", text);
    }
    for (size_t i = 0; i < columns->count; i++) {
        size_t shard = slice->cells[row * columns->count + i];
        write_cell(page, left + side_offset(columns, i, page->cell), y, &picture->shards[shard]);
    }
    if (columns->hidden > 0) {
        size_t x = left + columns->head * page->cell + gap / 2;
        write_text(page, x, y + cell_height / 2 + 5, "middle", ellipsis);
    }
}

static void write_slice(struct page *page, const struct picture_slice *slice)
{
    const struct picture_side *rows = &page->picture->rows;
    size_t left = border + page->margin;
    if (slice->title != NULL) {
        write_title(page, slice->title);
    }
    if (page->picture->rank > 0) {
        write_headings(page, left);
    }
    for (size_t row = 0; row < rows->count; row++) {
        write_row(page, left, slice, row);
    }
    if (rows->hidden > 0) {
        size_t y = page->y + rows->head * cell_height + gap / 2 + 5;
        write_text(page, left + grid_width(page) / 2, y, "middle", ellipsis);
    }
    page->y += side_offset(rows, rows->count, cell_height) + line;
}

static void write_legend(struct page *page)
{
    char text[ENTRY_ROOM];
    char remarks[3][TEXT_ROOM];
    for (size_t i = 0; i < legend_entries(page->picture); i++) {
        const struct picture_shard *shard = &page->picture->shards[i];
        fprintf(
            page->out,
            "<rect x=\"%zu\" y=\"%zu\" width=\"14\" height=\"14\" fill=\"%s\" class=\"cell\"/>\n",
            border, page->y + 3, picture_web_colour(shard->colour));
        format_entry(shard, text, sizeof text);
        write_text(page, border + 22, page->y + baseline, "left", text);
        page->y += line;
    }
    format_remarks(page->picture, remarks);
    for (size_t i = 0; i < 3; i++) {
        if (remarks[i][0] != '\0') {
            write_text(page, border, page->y + baseline, "left", remarks[i]);
            page->y += line;
        }
    }
}

void picture_write_svg(FILE *out, const struct picture *picture, const char *const *titles,
                       size_t num_titles)
{
    struct page page = {
        .out = out, .picture = picture, .titles = titles, .num_titles = num_titles, .y = border};
    measure(&page);
    write_start(&page);
    for (size_t i = 0; i < picture->num_slices; i++) {
        write_slice(&page, &picture->slices[i]);
    }
    write_legend(&page);
    fputs("</svg>\n", out);
}
