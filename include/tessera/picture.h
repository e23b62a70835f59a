/*
 * Pictures of the part of a tensor that each device holds.
 *
 * A picture is a grid of the last two dimensions, cut at the borders of shards, for each of the
 * first slices of the leading dimensions; each cell shows the devices that hold it, as `0-3`, `0,4`
 * or `0-6:2`. It is small for every mesh: of many intervals those in the middle are omitted, of
 * many slices all but the first, and a long list of devices ends in an ellipsis.
 *
 * Equal geometries give equal texts, byte for byte. All texts are allocated in the arena.
 */
#ifndef TESSERA_PICTURE_H
#define TESSERA_PICTURE_H

#include <tessera/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How to draw a picture as text: with box characters (UTF-8) or ASCII, in terminal colours. */
typedef struct tsr_picture_style {
    bool unicode;
    bool colour;
} tsr_picture_style;

/*
 * Draws the picture as text: lines of at most 80 characters, each ended by a newline; `no elements`
 * if the tensor has none. Below it are the number of omitted slices and the devices that hold
 * nothing. A NULL style is ASCII without colours.
 */
TSR_API TSR_NODISCARD tsr_status tsr_picture_text(tsr_context *ctx, tsr_arena *arena,
                                                  const tsr_geometry *geometry,
                                                  TSR_NULLABLE const tsr_picture_style *style,
                                                  const char **out) TSR_MT_CONTEXT;

/*
 * Draws the picture as a standalone SVG document in UTF-8: title lines, the grids, and a legend of
 * the shards with their boxes and devices. A title of more than 100 characters is cut; a character
 * that XML does not allow becomes U+FFFD. The document does not depend on the time or the machine.
 */
TSR_API TSR_NODISCARD tsr_status tsr_picture_svg(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_geometry *geometry,
                                                 TSR_ARRAY(num_titles) const char *const *titles,
                                                 size_t num_titles,
                                                 const char **out) TSR_MT_CONTEXT;

/*
 * Lists the devices at the places first to end - 1 of the mesh, one line each: `device 3 [0:2,
 * 4:8]`. Rows of an unaligned dimension that are not adjacent are joined by `+`, as in `0:4+6:8`; a
 * dimension of which the device holds nothing is `none`. The text grows with the number of places,
 * unlike pictures: request the lines of a large mesh in parts. Returns TSR_ERR_INVALID unless 0 <=
 * first <= end <= the number of devices.
 */
TSR_API TSR_NODISCARD tsr_status tsr_picture_table(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_geometry *geometry, int64_t first,
                                                   int64_t end, const char **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
