/* Worlds of processes that another launcher started, connected through a transport. */
#ifndef RT_JOINED_H
#define RT_JOINED_H

#include "rt/comm.h"

/* Opens a world; on failure the transport is closed. */
tsr_status joined_open(tsr_context *ctx, const tsr_transport *transport,
                       const tsr_launch_spec *spec, tsr_comm **world);

/*
 * Ends this rank with a status, waits for the others to end, and closes. The diagnostics of all
 * ranks go to `ctx`, which may differ from that of the world.
 */
tsr_status joined_close(tsr_comm *world, tsr_context *ctx, tsr_status status);

#endif
