/*
 * Requests: collectives that were started and not waited for yet.
 *
 * Those of one communicator run one after the other, in the order in which they were started; those
 * of different ones run side by side. They make progress inside calls that wait for other ranks. A
 * blocking comm_call first finishes those that were started before it on its communicator.
 */
#ifndef RT_REQUEST_H
#define RT_REQUEST_H

#include "rt/collective.h"

/* Starts a collective; the arguments are copied. */
tsr_status request_start(tsr_comm *comm, const coll_arguments *args, tsr_request *out);

/* Makes progress on all requests, without waiting. */
void requests_progress(tsr_comm *world);

/* Finishes those of one communicator. Their results are kept until tsr_wait. */
void requests_finish_all(tsr_comm *comm);

static inline void requests_finish(tsr_comm *comm)
{
    if (comm->state->requests != NULL) {
        requests_finish_all(comm);
    }
}

/* Ends all of them; an error if there are any. */
tsr_status requests_drop(tsr_comm *world);

#endif
