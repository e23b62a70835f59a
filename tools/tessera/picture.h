/*
 * The picture of a sharding, before it is drawn: a grid of cells for the last two dimensions, for
 * each of the first slices of the leading ones. A cell is a box of the tensor that the same devices
 * hold. It is small whatever the input: where a dimension has too many intervals, those in the
 * middle are left out.
 */
#ifndef TOOL_PICTURE_H
#define TOOL_PICTURE_H

#include <stdio.h>

#include "cuts.h"
#include "devices.h"

/* The most intervals of a dimension and slices that a picture keeps. */
enum { PICTURE_SPANS = 16, PICTURE_SPANS_OF_SLICE = 10, PICTURE_SLICES = 4 };

/* The intervals kept of a dimension; those left out come after the first `head`. */
struct picture_side {
    size_t count;
    size_t head;
    int64_t hidden;
    tsr_interval spans[PICTURE_SPANS];
};

/* What some devices hold; a shard of an unaligned dimension is several cells. */
struct picture_shard {
    struct id_set devices;
    const char *box; /* of its first cell, `[0:2, 4:8]` */
    int64_t cells;   /* that are kept */
    size_t colour;
};

/* A grid: rows.count * columns.count cells in row-major order, each the index of its shard. */
struct picture_slice {
    const char *title; /* `[0:2, :, :]`; NULL below rank 3 */
    const size_t *cells;
};

struct picture {
    size_t rank;
    bool empty;                  /* no elements, nothing to draw */
    struct picture_side rows;    /* one span of size 0 below rank 2 */
    struct picture_side columns; /* one span of size 0 at rank 0 */
    size_t num_slices;
    struct picture_slice slices[PICTURE_SLICES];
    int64_t more_slices;
    size_t num_shards;
    struct picture_shard *shards;
    int64_t num_idle;          /* devices that hold nothing */
    const struct id_set *idle; /* NULL when there are none, or too many devices to try */
};

/* Computes a picture; it lives in the arena. */
int picture_make(struct session *session, const tsr_geometry *geometry, const struct cuts *cuts,
                 size_t rank, const struct picture **out);

/* The first and last intervals of a side when only `count` of them are shown: which is i-th. */
size_t picture_side_head(const struct picture_side *side, size_t count);
size_t picture_side_index(const struct picture_side *side, size_t count, size_t i);

/* Colours: dark text is readable on each. A number of the terminal, and the same for the web. */
int picture_terminal_colour(size_t colour);
const char *picture_web_colour(size_t colour);

/* How a picture is drawn as text. */
struct text_style {
    bool unicode;
    bool colour;
};

void picture_write_text(FILE *out, const struct picture *picture, struct text_style style);

/* A standalone SVG document with title lines above the picture. */
void picture_write_svg(FILE *out, const struct picture *picture, const char *const *titles,
                       size_t num_titles);

/* `0:2`; `0:` and an ellipsis when that is longer than 21 characters. The text has room for 64. */
void picture_format_span(tsr_interval span, const char *ellipsis, char *text);

#endif
