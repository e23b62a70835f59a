/* Runs on ranks that are timed. */
#ifndef TOOL_TIMING_H
#define TOOL_TIMING_H

#include <tessera/tessera.h>

/* What is timed: one run, on this rank. */
typedef tsr_status (*timed_run)(void *state);

/*
 * The median of some runs in seconds, each as long as the slowest rank takes, after one run that
 * does not count. Collective: every rank gets the same number.
 */
tsr_status timing_median(tsr_comm *world, int64_t times, timed_run run, void *state, double *out);

/* The bytes of this rank's part of a tensor. */
size_t timing_part_bytes(const tsr_tensor *t);

#endif
