#include "topology_input.h"

#include "command.h"

int topology_find(struct session *session, const char *name, const tsr_topology **out)
{
    const tsr_status status = tsr_topology_find(session->ctx, session->arena, name, out);
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}
