/* Topologies of the command line. */
#ifndef TOOL_TOPOLOGY_INPUT_H
#define TOOL_TOPOLOGY_INPUT_H

#include "session.h"

/* What help says of `--topology NAME|FILE`. */
#define TOPOLOGY_HELP                                                                              \
    "threads, host, gpu-pod, ethernet, or a JSON file, as tessera calibrate writes one"

/* Finds a topology by name or path; NULL: TSR_TOPOLOGY, or the default. Returns an exit code. */
int topology_find(struct session *session, const char *name, const tsr_topology **out);

#endif
