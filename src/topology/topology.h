/* What a topology is inside, and how its parts are read. */
#ifndef TOPOLOGY_TOPOLOGY_H
#define TOPOLOGY_TOPOLOGY_H

#include <tessera/topology.h>

#include "base/diag.h"

struct tsr_topology {
    tsr_topology_spec spec;
    int64_t devices;                 /* TSR_UNKNOWN: the outermost size is unknown */
    int64_t strides[TSR_MAX_LEVELS]; /* by level, how far apart in ids its members are */
};

/* The largest latency: 1000 seconds. */
#define TOPOLOGY_MAX_LATENCY INT64_C(1000000000000000)

/* The arena's copy of a topology, after the checks of tsr_topology_create. */
tsr_status topology_build(tsr_context *ctx, tsr_arena *arena, const tsr_topology_spec *spec,
                          const tsr_topology **out);

/* A preset by name, or NULL. */
const tsr_topology_spec *topology_preset_find(const char *name);

/* The names of all presets, `threads, host`; written to `out`. */
void topology_preset_names(char *out, size_t size);

#endif
