/* Tensors from texts, and what a rank's messages say: for tables of calls. */
#ifndef TEXTS_H
#define TEXTS_H

#include <tessera/ops.h>

#include "random.h"

/* Reads `f32[8,6]`; false when it is no such text. */
bool type_of_text(const char *text, tsr_dtype *dtype, size_t *rank, int64_t *shape);

/* A tensor of a type in a layout on a mesh: 1 everywhere. The arena is for the layout. */
tsr_status tensor_of_text(tsr_comm *world, tsr_arena *arena, const tsr_mesh *mesh, const char *type,
                          const char *layout, tsr_tensor **out);

/* Whether a rank's messages and their notes contain a text. */
bool messages_have(tsr_comm *world, const char *part);

#endif
