/* Values of options: shapes, ranges. */
#ifndef TOOL_ARGUMENTS_H
#define TOOL_ARGUMENTS_H

#include "session.h"

/* A shape, with the element type that followed it, if any. */
struct shape {
    size_t rank;
    int64_t *extents; /* TSR_UNKNOWN for `?` */
    bool has_dtype;
    tsr_dtype dtype;
};

/*
 * Reads `4x8`, `4,8`, `4x8xf32` or `tensor<4x8xf32>`. Rank 0 is `scalar`, `f32`, `tensor<f32>` or
 * nothing at all. NULL on success, else the error, of the arena or static.
 */
const char *shape_parse(struct session *session, const char *argument, struct shape *out);

/* Reads `A:B`, half open, within 0 .. limit; either side may be left out. */
int range_read(const char *argument, int64_t limit, int64_t *first, int64_t *end);

#endif
