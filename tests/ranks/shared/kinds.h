/*
 * Rank tests run on one kind of ranks, the first argument of their program: threads, processes,
 * messages, joined, or mpi under mpirun. CMake makes a test of each but the last.
 */
#ifndef KINDS_H
#define KINDS_H

#include "memory_transport.h"
#include "support.h"

/* The kind, from main's arguments; exits when there is no such kind. */
void kinds_choose(int argc, char **argv);
tsr_ranks kinds_chosen(void);

/*
 * The rank counts to test with, one call after the other from *at = 0; false when there are no
 * more. Under mpirun there is one, that of the launcher. Counts above `most` are left out; where
 * tests are sampled, threads alone run with all of them.
 */
bool kinds_next_count(size_t *at, int64_t most, int64_t *count);
/* How many those are. */
size_t kinds_num_counts(int64_t most);

/* Zeroed memory that launched ranks of any kind share; under mpirun each process has its own. */
void *shared_new(size_t bytes);
void shared_free(void *memory, size_t bytes);

#endif
