/* Shapes as text, for readers of texts that hold one. */
#ifndef SHARD_SHAPE_TEXT_H
#define SHARD_SHAPE_TEXT_H

#include <tessera/dialect.h>

#include "mesh/mesh.h"

/* tsr_shape_parse of a slice; messages point at a location. */
tsr_status shape_text_read(tsr_context *ctx, tsr_arena *arena, location where, slice text,
                           tsr_shape *out);

#endif
