/* Expectations inside ranks, where an assertion of the test library would end the wrong thread. */
#ifndef WANT_H
#define WANT_H

#include <tessera/comm.h>

#include "base/diag.h"

/* Fails the rank, with a message, unless the condition holds. */
#define WANT(world, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,               \
                              "line %d: %s", __LINE__, #condition);                                \
        }                                                                                          \
    } while (0)

/* Whether some message or note of this rank contains a text; if so clears them. */
bool heard(tsr_comm *comm, const char *part);

#endif
