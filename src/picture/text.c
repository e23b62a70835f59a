/* Draws a picture with box characters, or ASCII, in at most PICTURE_WIDTH columns. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "base/utf8.h"
#include "picture/picture.h"

/* The corners and joints of a horizontal line: its left end, middle and right end. */
typedef struct line {
    const char *left;
    const char *middle;
    const char *right;
} line;

typedef struct charset {
    line top;
    line between;
    line bottom;
    const char *horizontal;
    const char *vertical;
    const char *ellipsis;
    const char *gap; /* stands for the rows or columns left out */
} charset;

static const charset unicode = {
    {"┌", "┬", "┐"}, {"├", "┼", "┤"}, {"└", "┴", "┘"}, "─", "│", "…", "…"};
static const charset ascii = {
    {"+", "+", "+"}, {"+", "+", "+"}, {"+", "+", "+"}, "-", "|", "...", ".."};

enum { LABEL_ROOM = 128, LONGEST_LABEL = 36, LEAST_CELL = 9, SMALLEST_CELL = 5 };

/* A picture fitted to the width: how many columns are shown, and how wide each is inside. */
typedef struct drawing {
    buffer *out;
    const picture *of;
    const charset *set;
    bool colour;
    size_t columns;
    size_t head; /* columns before the gap; all of them without one */
    bool gap;
    size_t cell;   /* characters inside a cell, without the padding */
    size_t margin; /* characters of the row labels, with the space after them */
} drawing;

static void repeat(buffer *out, const char *text, size_t count)
{
    while (count-- > 0) {
        buffer_string(out, text);
    }
}

/* A text in the middle of `width`. */
static void write_centred(buffer *out, const char *text, size_t width)
{
    size_t length = utf8_length(text);
    size_t left = (width - length) / 2;
    buffer_format(out, "%*s%s%*s", (int)left, "", text, (int)(width - length - left), "");
}

static size_t span_width(const drawing *d, tsr_interval span)
{
    char text[64];
    picture_format_span(span, d->set->ellipsis, text);
    return utf8_length(text);
}

/* The widest column label of those shown when `count` are. */
static size_t widest_heading(const drawing *d, size_t count)
{
    const picture_side *side = &d->of->columns;
    size_t widest = 0;
    for (size_t i = 0; i < count && d->of->rank > 0; i++) {
        size_t width = span_width(d, side->spans[picture_side_index(side, count, i)]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* The widest list of devices in all cells, up to a limit. */
static size_t widest_label(const drawing *d)
{
    char text[LABEL_ROOM];
    size_t widest = 0;
    for (size_t i = 0; i < d->of->num_shards; i++) {
        const id_set *devices = &d->of->shards[i].devices;
        size_t width = id_set_format(devices, LONGEST_LABEL, d->set->ellipsis, text);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static size_t row_margin(const drawing *d)
{
    const picture_side *rows = &d->of->rows;
    size_t widest = 0;
    for (size_t i = 0; i < rows->count && d->of->rank > 1; i++) {
        size_t width = span_width(d, rows->spans[i]);
        widest = width > widest ? width : widest;
    }
    return widest > 0 ? widest + 1 : 0;
}

/* How wide cells may be inside when so many columns are shown; 0 when they do not fit. */
static size_t room_of_cell(const drawing *d, size_t columns, bool gap)
{
    size_t gap_width = gap ? strlen(" | ") + utf8_length(d->set->gap) : 0;
    size_t taken = d->margin + 1 + gap_width;
    size_t each = taken < PICTURE_WIDTH ? (PICTURE_WIDTH - taken) / columns : 0;
    return each > 3 ? each - 3 : 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Shows as many columns as have room for their heading and for the start of their devices, then
 * makes them as wide as the devices need.
 */
static void fit(drawing *d)
{
    const picture_side *side = &d->of->columns;
    size_t label = larger(widest_label(d), SMALLEST_CELL);
    d->margin = row_margin(d);
    d->columns = side->count + 1;
    size_t room = 0;
    size_t heading = 0;
    do {
        d->columns--;
        d->gap = side->hidden > 0 || d->columns < side->count;
        heading = widest_heading(d, d->columns);
        room = room_of_cell(d, d->columns, d->gap);
    } while (d->columns > 1 && room < larger(heading, smaller(label, LEAST_CELL)));
    d->head = picture_side_head(side, d->columns);
    d->cell = larger(heading, smaller(label, room));
}

/* Whether the columns left out come after shown column i. */
static bool gap_after(const drawing *d, size_t i)
{
    return d->gap && i + 1 == d->head;
}

static void write_rule(const drawing *d, line joints)
{
    buffer_format(d->out, "%*s%s", (int)d->margin, "", joints.left);
    for (size_t i = 0; i < d->columns; i++) {
        repeat(d->out, d->set->horizontal, d->cell + 2);
        if (gap_after(d, i)) {
            buffer_string(d->out, joints.middle);
            repeat(d->out, d->set->horizontal, utf8_length(d->set->gap) + 2);
        }
        buffer_string(d->out, i + 1 < d->columns ? joints.middle : joints.right);
    }
    buffer_char(d->out, '\n');
}

/* The ranges above the columns, each in the middle of its own; no spaces after the last. */
static void write_headings(const drawing *d)
{
    const picture_side *side = &d->of->columns;
    size_t pending = d->margin;
    if (d->of->rank == 0) {
        return;
    }
    for (size_t i = 0; i < d->columns; i++) {
        char text[64];
        size_t column = picture_side_index(side, d->columns, i);
        picture_format_span(side->spans[column], d->set->ellipsis, text);
        size_t spare = d->cell + 2 - utf8_length(text);
        buffer_format(d->out, "%*s%s", (int)(pending + 1 + spare / 2), "", text);
        pending = spare - spare / 2;
        if (gap_after(d, i)) {
            pending += utf8_length(d->set->gap) + 3;
        }
    }
    buffer_char(d->out, '\n');
}

static void write_gap(const drawing *d)
{
    buffer_format(d->out, " %s %s", d->set->gap, d->set->vertical);
}

static void write_cell(const drawing *d, const picture_shard *shard)
{
    char text[LABEL_ROOM];
    id_set_format(&shard->devices, d->cell, d->set->ellipsis, text);
    if (d->colour) {
        buffer_format(d->out, "\033[38;5;16;48;5;%dm", picture_terminal_colour(shard->colour));
    }
    write_centred(d->out, text, d->cell + 2);
    if (d->colour) {
        buffer_string(d->out, "\033[0m");
    }
    buffer_string(d->out, d->set->vertical);
}

static void write_row(const drawing *d, const picture_slice *slice, size_t row)
{
    const picture *of = d->of;
    char label[64] = "";
    if (of->rank > 1) {
        picture_format_span(of->rows.spans[row], d->set->ellipsis, label);
        size_t pad = d->margin - 1 - utf8_length(label);
        buffer_format(d->out, "%*s%s ", (int)pad, "", label);
    }
    buffer_string(d->out, d->set->vertical);
    for (size_t i = 0; i < d->columns; i++) {
        size_t column = picture_side_index(&of->columns, d->columns, i);
        size_t cell = slice->cells[row * of->columns.count + column];
        write_cell(d, &of->shards[cell]);
        if (gap_after(d, i)) {
            write_gap(d);
        }
    }
    buffer_char(d->out, '\n');
}

/* The row that stands for those left out. */
static void write_gap_row(const drawing *d)
{
    size_t pad = d->margin - 1 - utf8_length(d->set->gap);
    buffer_format(d->out, "%*s%s %s", (int)pad, "", d->set->gap, d->set->vertical);
    for (size_t i = 0; i < d->columns; i++) {
        write_centred(d->out, d->set->gap, d->cell + 2);
        buffer_string(d->out, d->set->vertical);
        if (gap_after(d, i)) {
            write_gap(d);
        }
    }
    buffer_char(d->out, '\n');
    write_rule(d, d->set->between);
}

/* A title, cut when it is too long; it is ASCII. */
static void write_title(const drawing *d, const char *title)
{
    if (strlen(title) <= PICTURE_WIDTH) {
        buffer_format(d->out, "%s\n", title);
    } else {
        int room = PICTURE_WIDTH - (int)utf8_length(d->set->ellipsis);
        buffer_format(d->out, "%.*s%s\n", room, title, d->set->ellipsis);
    }
}

static void write_slice(const drawing *d, const picture_slice *slice)
{
    const picture_side *rows = &d->of->rows;
    if (slice->title != NULL) {
        write_title(d, slice->title);
    }
    write_headings(d);
    write_rule(d, d->set->top);
    for (size_t row = 0; row < rows->count; row++) {
        write_row(d, slice, row);
        bool is_last = row + 1 == rows->count;
        write_rule(d, is_last ? d->set->bottom : d->set->between);
        if (rows->hidden > 0 && row + 1 == rows->head) {
            write_gap_row(d);
        }
    }
}

/* Says how much was left out, and which devices hold nothing. */
static void write_remarks(const drawing *d)
{
    const picture *of = d->of;
    buffer *out = d->out;
    if (of->more_slices > 0) {
        buffer_format(out, "\n%s and %" PRId64 " more slice%s\n", d->set->ellipsis, of->more_slices,
                      of->more_slices == 1 ? "" : "s");
    }
    if (of->num_idle > 0 && of->idle == NULL) {
        buffer_format(out, "\n%" PRId64 " devices hold nothing\n", of->num_idle);
    } else if (of->num_idle > 0) {
        char text[LABEL_ROOM];
        id_set_format(of->idle, PICTURE_WIDTH - 25, d->set->ellipsis, text);
        bool one = of->num_idle == 1;
        buffer_format(out, "\n%s %s hold%s nothing\n", one ? "device" : "devices", text,
                      one ? "s" : "");
    }
}

static void draw(buffer *out, const picture *of, tsr_picture_style style)
{
    drawing d = {
        .out = out, .of = of, .set = style.unicode ? &unicode : &ascii, .colour = style.colour};
    if (of->empty) {
        buffer_string(out, "no elements\n");
        return;
    }
    fit(&d);
    for (size_t i = 0; i < of->num_slices; i++) {
        if (i > 0) {
            buffer_char(out, '\n');
        }
        write_slice(&d, &of->slices[i]);
    }
    write_remarks(&d);
}

tsr_status tsr_picture_text(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                            const tsr_picture_style *style, const char **out)
{
    GUARD(tsr_picture_text);
    tsr_arena *scratch = NULL;
    const picture *of = NULL;
    TSR_TRY(tsr_arena_create(ctx, &scratch));
    tsr_status status = picture_make(ctx, scratch, geometry, &of);
    if (status == TSR_OK) {
        buffer text = buffer_new(arena);
        draw(&text, of, style != NULL ? *style : (tsr_picture_style){0});
        status = buffer_finish(ctx, &text, out);
    }
    tsr_arena_destroy(scratch);
    return status;
}
