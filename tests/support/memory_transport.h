/*
 * A transport between threads of one process, for tests of what goes by messages, and of what
 * processes of another launcher do. It uses the freedom that a transport has: a message is delayed,
 * and one of more than a few bytes is read from the sender's memory only when it is received.
 */
#ifndef MEMORY_TRANSPORT_H
#define MEMORY_TRANSPORT_H

#include "support.h"

/* Kinds of ranks in addition to those of the library. */
#define RANKS_BY_MESSAGES ((tsr_ranks)100) /* threads that do not use shared memory */
#define RANKS_JOINED ((tsr_ranks)101) /* threads that map each other's memory as processes do */

/* tsr_launch, for these kinds as well. */
tsr_status launch_ranks(tsr_context *ctx, const tsr_launch_spec *spec, tsr_rank_function function,
                        void *state);

/* The same, and fails the test with the ranks' message unless all is well. */
void expect_ranks(fixture *f, const tsr_launch_spec *spec, tsr_rank_function function, void *state);

/*
 * How long the transport would have taken for a rank's data since this was last asked, if a
 * message, or a byte, took one unit of time: a rank sends one thing at a time, receives one at a
 * time, and sends on what it received before. Control messages do not count. Only by messages, from
 * the rank's function.
 */
typedef struct critical_path {
    int64_t messages;
    int64_t bytes;
} critical_path;
critical_path memory_transport_critical_path(int64_t rank);

#endif
