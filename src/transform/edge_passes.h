/* Data-flow edges put around ops, and sunk into them. */
#ifndef TRANSFORM_EDGE_PASSES_H
#define TRANSFORM_EDGE_PASSES_H

#include "propagate/workspace.h"

/* Adds the edges of an op, or takes them away and writes their shardings to it. */
tsr_status edge_add_around(workspace *w, uint32_t op);
tsr_status edge_sink_around(workspace *w, uint32_t op);
/* The shardings of all owners as an attribute, 0 when no edge has one; their edges go away. */
tsr_status edge_sink_owners(workspace *w, const uint32_t *owners, size_t count, uint32_t *out);

#endif
