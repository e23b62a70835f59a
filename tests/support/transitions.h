/* Collectives, reinterpret and convert on small arrays: what their types say, done. */
#ifndef TRANSITIONS_H
#define TRANSITIONS_H

#include <tessera/tessera.h>

enum { MAX_RANK = 6, MAX_ELEMENTS = 4096 };

/* What one rank has. */
typedef struct part {
    size_t rank;
    int64_t shape[MAX_RANK];
    double data[MAX_ELEMENTS];
} part;

int64_t part_count(const part *p);

/* Runs a call on the ranks of a communicator; `sizes` are those of shards that differ, or NULL. */
tsr_status transition_run(tsr_comm *comm, const tsr_transition *t, const int64_t *sizes,
                          const part *in, part *out);

/*
 * Whether a call and its backward are adjoint on a group of `size` threads: <f(x), y> = <x, f*(y)>
 * for integer x and y of the types that the call says.
 */
tsr_status transition_is_adjoint(tsr_context *ctx, const tsr_transition *t, int64_t size,
                                 bool *out);

/* Runs a call on a group of threads, one part for each. */
tsr_status transition_on_threads(tsr_context *ctx, const tsr_transition *t, const int64_t *sizes,
                                 int64_t size, const part *in, part *out);

#endif
