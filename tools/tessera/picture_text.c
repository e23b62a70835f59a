/* Draws a picture with box characters, or ASCII, in at most TERMINAL_WIDTH columns. */
#include <inttypes.h>
#include <string.h>

#include "picture.h"
#include "utf8.h"

/* The corners and joints of a horizontal line: its left end, middle and right end. */
struct line {
    const char *left;
    const char *middle;
    const char *right;
};

struct charset {
    struct line top;
    struct line between;
    struct line bottom;
    const char *horizontal;
    const char *vertical;
    const char *ellipsis;
    const char *gap; /* stands for the rows or columns left out */
};

static const struct charset unicode = {
    {"┌", "┬", "┐"}, {"├", "┼", "┤"}, {"└", "┴", "┘"}, "─", "│", "…", "…"};
static const struct charset ascii = {
    {"+", "+", "+"}, {"+", "+", "+"}, {"+", "+", "+"}, "-", "|", "...", ".."};

enum { LABEL_ROOM = 128, LONGEST_LABEL = 36, LEAST_CELL = 9, SMALLEST_CELL = 5 };

/* A picture fitted to the width: how many columns are shown, and how wide each is inside. */
struct drawing {
    FILE *out;
    const struct picture *picture;
    const struct charset *set;
    bool colour;
    size_t columns;
    size_t head; /* columns before the gap; all of them without one */
    bool gap;
    size_t cell;   /* characters inside a cell, without the padding */
    size_t margin; /* characters of the row labels, with the space after them */
};

static void repeat(FILE *out, const char *text, size_t count)
{
    while (count-- > 0) {
        fputs(text, out);
    }
}

/* A text in the middle of `width`. */
static void write_centred(FILE *out, const char *text, size_t width)
{
    size_t length = utf8_length(text);
    size_t left = (width - length) / 2;
    fprintf(out, "%*s%s%*s", (int)left, "", text, (int)(width - length - left), "");
}

static size_t span_width(const struct drawing *drawing, tsr_interval span)
{
    char text[64];
    picture_format_span(span, drawing->set->ellipsis, text);
    return utf8_length(text);
}

/* The widest column label of those shown when `count` are. */
static size_t widest_heading(const struct drawing *drawing, size_t count)
{
    const struct picture_side *side = &drawing->picture->columns;
    size_t widest = 0;
    for (size_t i = 0; i < count && drawing->picture->rank > 0; i++) {
        size_t width = span_width(drawing, side->spans[picture_side_index(side, count, i)]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* The widest list of devices in all cells, up to a limit. */
static size_t widest_label(const struct drawing *drawing)
{
    char text[LABEL_ROOM];
    size_t widest = 0;
    for (size_t i = 0; i < drawing->picture->num_shards; i++) {
        const struct id_set *devices = &drawing->picture->shards[i].devices;
        size_t width = id_set_format(devices, LONGEST_LABEL, drawing->set->ellipsis, text);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static size_t row_margin(const struct drawing *drawing)
{
    const struct picture_side *rows = &drawing->picture->rows;
    size_t widest = 0;
    for (size_t i = 0; i < rows->count && drawing->picture->rank > 1; i++) {
        size_t width = span_width(drawing, rows->spans[i]);
        widest = width > widest ? width : widest;
    }
    return widest > 0 ? widest + 1 : 0;
}

/* How wide cells may be inside when so many columns are shown; 0 when they do not fit. */
static size_t room_of_cell(const struct drawing *drawing, size_t columns, bool gap)
{
    size_t gap_width = gap ? strlen(" | ") + utf8_length(drawing->set->gap) : 0;
    size_t taken = drawing->margin + 1 + gap_width;
    size_t each = taken < TERMINAL_WIDTH ? (TERMINAL_WIDTH - taken) / columns : 0;
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
static void fit(struct drawing *drawing)
{
    const struct picture_side *side = &drawing->picture->columns;
    size_t label = larger(widest_label(drawing), SMALLEST_CELL);
    drawing->margin = row_margin(drawing);
    drawing->columns = side->count + 1;
    size_t room = 0;
    size_t heading = 0;
    do {
        drawing->columns--;
        drawing->gap = side->hidden > 0 || drawing->columns < side->count;
        heading = widest_heading(drawing, drawing->columns);
        room = room_of_cell(drawing, drawing->columns, drawing->gap);
    } while (drawing->columns > 1 && room < larger(heading, smaller(label, LEAST_CELL)));
    drawing->head = picture_side_head(side, drawing->columns);
    drawing->cell = larger(heading, smaller(label, room));
}

/* Whether the columns left out come after shown column i. */
static bool gap_after(const struct drawing *drawing, size_t i)
{
    return drawing->gap && i + 1 == drawing->head;
}

static void write_rule(const struct drawing *drawing, struct line line)
{
    fprintf(drawing->out, "%*s%s", (int)drawing->margin, "", line.left);
    for (size_t i = 0; i < drawing->columns; i++) {
        repeat(drawing->out, drawing->set->horizontal, drawing->cell + 2);
        if (gap_after(drawing, i)) {
            fputs(line.middle, drawing->out);
            repeat(drawing->out, drawing->set->horizontal, utf8_length(drawing->set->gap) + 2);
        }
        fputs(i + 1 < drawing->columns ? line.middle : line.right, drawing->out);
    }
    fputc('\n', drawing->out);
}

/* The ranges above the columns, each in the middle of its own; no spaces after the last. */
static void write_headings(const struct drawing *drawing)
{
    const struct picture_side *side = &drawing->picture->columns;
    size_t pending = drawing->margin;
    if (drawing->picture->rank == 0) {
        return;
    }
    for (size_t i = 0; i < drawing->columns; i++) {
        char text[64];
        size_t column = picture_side_index(side, drawing->columns, i);
        picture_format_span(side->spans[column], drawing->set->ellipsis, text);
        size_t spare = drawing->cell + 2 - utf8_length(text);
        fprintf(drawing->out, "%*s%s", (int)(pending + 1 + spare / 2), "", text);
        pending = spare - spare / 2;
        if (gap_after(drawing, i)) {
            pending += utf8_length(drawing->set->gap) + 3;
        }
    }
    fputc('\n', drawing->out);
}

static void write_gap(const struct drawing *drawing)
{
    fprintf(drawing->out, " %s %s", drawing->set->gap, drawing->set->vertical);
}

static void write_cell(const struct drawing *drawing, const struct picture_shard *shard)
{
    char text[LABEL_ROOM];
    id_set_format(&shard->devices, drawing->cell, drawing->set->ellipsis, text);
    if (drawing->colour) {
        fprintf(drawing->out, "\033[38;5;16;48;5;%dm", picture_terminal_colour(shard->colour));
    }
    write_centred(drawing->out, text, drawing->cell + 2);
    if (drawing->colour) {
        fputs("\033[0m", drawing->out);
    }
    fputs(drawing->set->vertical, drawing->out);
}

static void write_row(const struct drawing *drawing, const struct picture_slice *slice, size_t row)
{
    const struct picture *picture = drawing->picture;
    char label[64] = "";
    if (picture->rank > 1) {
        picture_format_span(picture->rows.spans[row], drawing->set->ellipsis, label);
        size_t pad = drawing->margin - 1 - utf8_length(label);
        fprintf(drawing->out, "%*s%s ", (int)pad, "", label);
    }
    fputs(drawing->set->vertical, drawing->out);
    for (size_t i = 0; i < drawing->columns; i++) {
        size_t column = picture_side_index(&picture->columns, drawing->columns, i);
        size_t cell = slice->cells[row * picture->columns.count + column];
        write_cell(drawing, &picture->shards[cell]);
        if (gap_after(drawing, i)) {
            write_gap(drawing);
        }
    }
    fputc('\n', drawing->out);
}

/* The row that stands for those left out. */
static void write_gap_row(const struct drawing *drawing)
{
    size_t pad = drawing->margin - 1 - utf8_length(drawing->set->gap);
    fprintf(drawing->out, "%*s%s %s", (int)pad, "", drawing->set->gap, drawing->set->vertical);
    for (size_t i = 0; i < drawing->columns; i++) {
        write_centred(drawing->out, drawing->set->gap, drawing->cell + 2);
        fputs(drawing->set->vertical, drawing->out);
        if (gap_after(drawing, i)) {
            write_gap(drawing);
        }
    }
    fputc('\n', drawing->out);
    write_rule(drawing, drawing->set->between);
}

/* A title, cut when it is too long; it is ASCII. */
static void write_title(const struct drawing *drawing, const char *title)
{
    if (strlen(title) <= TERMINAL_WIDTH) {
        fprintf(drawing->out, "%s\n", title);
    } else {
        int room = TERMINAL_WIDTH - (int)utf8_length(drawing->set->ellipsis);
        fprintf(drawing->out, "%.*s%s\n", room, title, drawing->set->ellipsis);
    }
}

static void write_slice(const struct drawing *drawing, const struct picture_slice *slice)
{
    const struct picture_side *rows = &drawing->picture->rows;
    if (slice->title != NULL) {
        write_title(drawing, slice->title);
    }
    write_headings(drawing);
    write_rule(drawing, drawing->set->top);
    for (size_t row = 0; row < rows->count; row++) {
        write_row(drawing, slice, row);
        bool is_last = row + 1 == rows->count;
        write_rule(drawing, is_last ? drawing->set->bottom : drawing->set->between);
        if (rows->hidden > 0 && row + 1 == rows->head) {
            write_gap_row(drawing);
        }
    }
}

/* Says how much was left out, and which devices hold nothing. */
static void write_remarks(const struct drawing *drawing)
{
    const struct picture *picture = drawing->picture;
    FILE *out = drawing->out;
    if (picture->more_slices > 0) {
        fprintf(out, "\n%s and %" PRId64 " more slice%s\n", drawing->set->ellipsis,
                picture->more_slices, picture->more_slices == 1 ? "" : "s");
    }
    if (picture->num_idle > 0 && picture->idle == NULL) {
        fprintf(out, "\n%" PRId64 " devices hold nothing\n", picture->num_idle);
    } else if (picture->num_idle > 0) {
        char text[LABEL_ROOM];
        id_set_format(picture->idle, TERMINAL_WIDTH - 25, drawing->set->ellipsis, text);
        bool one = picture->num_idle == 1;
        fprintf(out, "\n%s %s hold%s nothing\n", one ? "device" : "devices", text, one ? "s" : "");
    }
}

void picture_write_text(FILE *out, const struct picture *picture, struct text_style style)
{
    struct drawing drawing = {.out = out,
                              .picture = picture,
                              .set = style.unicode ? &unicode : &ascii,
                              .colour = style.colour};
    if (picture->empty) {
        fputs("no elements\n", out);
        return;
    }
    fit(&drawing);
    for (size_t i = 0; i < picture->num_slices; i++) {
        if (i > 0) {
            fputc('\n', out);
        }
        write_slice(&drawing, &picture->slices[i]);
    }
    write_remarks(&drawing);
}
