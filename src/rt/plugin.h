/* MPI, found at run time. */
#ifndef RT_PLUGIN_H
#define RT_PLUGIN_H

#include <tessera/context.h>
#include <tessera/transport.h>

/* The name of the plug-in for the MPI whose launcher started this process; NULL if none did. */
const char *plugin_of_launcher(void);

/* Opens a plug-in on all processes that the launcher started, and checks their number. */
tsr_status plugin_open_world(tsr_context *ctx, const char *name, tsr_transport *out);

/* Opens the plug-in of the MPI that this process uses already, on a communicator of its. */
tsr_status plugin_open_comm(tsr_context *ctx, const void *comm, tsr_transport *out);

#endif
