/*
 * The picture of a sharding, before it is drawn: a grid of cells for the last two dimensions, for
 * each of the first slices of the leading ones. A cell is a box of the tensor that the same devices
 * hold. It is small whatever the input: where a dimension has too many intervals, those in the
 * middle are left out.
 */
#ifndef PICTURE_PICTURE_H
#define PICTURE_PICTURE_H

#include <tessera/picture.h>

#include "base/buffer.h"
#include "picture/id_set.h"

/* No line of a text is longer. */
enum { PICTURE_WIDTH = 80 };

/* The most intervals of a dimension and slices that a picture keeps. */
enum { PICTURE_SPANS = 16, PICTURE_SPANS_OF_SLICE = 10, PICTURE_SLICES = 4 };

/* The intervals kept of a dimension; those left out come after the first `head`. */
typedef struct picture_side {
    size_t count;
    size_t head;
    int64_t hidden;
    tsr_interval spans[PICTURE_SPANS];
} picture_side;

/* What some devices hold; a shard of an unaligned dimension is several cells. */
typedef struct picture_shard {
    id_set devices;
    const char *box; /* of its first cell, `[0:2, 4:8]` */
    int64_t cells;   /* that are kept */
    size_t colour;
} picture_shard;

/* A grid: rows.count * columns.count cells in row-major order, each the index of its shard. */
typedef struct picture_slice {
    const char *title; /* `[0:2, :, :]`; NULL below rank 3 */
    const size_t *cells;
} picture_slice;

typedef struct picture {
    size_t rank;
    bool empty;           /* no elements, nothing to draw */
    picture_side rows;    /* one span of size 0 below rank 2 */
    picture_side columns; /* one span of size 0 at rank 0 */
    size_t num_slices;
    picture_slice slices[PICTURE_SLICES];
    int64_t more_slices;
    size_t num_shards;
    picture_shard *shards;
    int64_t num_idle;   /* devices that hold nothing */
    const id_set *idle; /* NULL when there are none, or too many devices to try */
} picture;

/* Computes a picture; it lives in the arena. */
tsr_status picture_make(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                        const picture **out);

/* The first and last intervals of a side when only `count` of them are shown: which is i-th. */
size_t picture_side_head(const picture_side *side, size_t count);
size_t picture_side_index(const picture_side *side, size_t count, size_t i);

/* Colours: dark text is readable on each. A number of the terminal, and the same for the web. */
int picture_terminal_colour(size_t colour);
const char *picture_web_colour(size_t colour);

/* `0:2`; `0:` and an ellipsis when that is longer than 21 characters. The text has room for 64. */
void picture_format_span(tsr_interval span, const char *ellipsis, char *text);

#endif
