/*
 * Requests: collectives that were started and not waited for yet.
 *
 * Those of one communicator run one after the other, in the order in which they were started; those
 * of different ones run side by side. They make progress inside calls that wait for other ranks. A
 * blocking comm_call first finishes those that were started before it on its communicator.
 *
 * In an open world a request does not stay under way between runs: ranks that sleep make no
 * progress, and what a run leaves at a rendezvous would be taken for that of the next one. One
 * whose memory outlives the run is finished when the run ends, and kept until it is waited for in a
 * later one; any other is an error there.
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

/* Says that the memory of a request is valid after the run, until it is waited for. */
void request_outlive_run(tsr_comm *comm, tsr_request which);

/*
 * Says that no call will wait for a request. It ends with the run, which fails, or with the rank.
 * If it is over its memory may be freed.
 */
void request_abandon(tsr_comm *comm, tsr_request which);

typedef enum request_state {
    REQUEST_GONE, /* waited for, or lost when a run failed */
    REQUEST_UNDER_WAY,
    REQUEST_OVER
} request_state;
request_state request_look(const tsr_comm *comm, tsr_request which);

/* Ends all of them; an error if there are any. */
tsr_status requests_drop(tsr_comm *world);

/*
 * Ends the requests of a run of an open world, which came to `status`; returns what it comes to
 * with them, which is a failure of one of them too. Where it failed, those under way are lost.
 */
tsr_status requests_end_run(tsr_comm *world, tsr_status status);

#endif
