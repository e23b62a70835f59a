/*
 * A barrier in memory that ranks share, threads or processes.
 *
 * One word holds the generation, how many have arrived, and whether the barrier is broken. A rank
 * that gives up breaks it by compare-and-swap, which succeeds only while a rank is missing; a rank
 * that arrives later sees that before it does anything else. Waiting spins for a while when there
 * is a core for each rank, then sleeps on a futex. Arriving and waiting are two calls, so that a
 * rank can work in between.
 */
#ifndef RT_BARRIER_H
#define RT_BARRIER_H

#include <stdatomic.h>
#include <stdint.h>

#include <tessera/base.h>

typedef struct barrier {
    union {
        _Alignas(64) _Atomic uint64_t word;
        uint32_t halves[2]; /* the low one first: little-endian machines */
    };
    _Atomic uint32_t sleepers;
} barrier;

typedef enum barrier_result {
    BARRIER_PASSED,
    BARRIER_WAITING,   /* a rank is missing */
    BARRIER_BROKEN,    /* by another rank, or in an earlier call */
    BARRIER_TIMED_OUT, /* this call broke it */
    BARRIER_STOPPED    /* `stop` said so */
} barrier_result;

/* How to wait. `stop` is polled: true when waiting has become pointless. */
typedef struct barrier_wait {
    bool spin;
    bool (*stop)(void *state);
    void *state;
} barrier_wait;

/* Arrives; unless this was the last rank, *ticket is what to wait with. */
barrier_result barrier_arrive(barrier *b, uint32_t ranks, uint32_t *ticket);

/* Whether all ranks have arrived. */
barrier_result barrier_poll(barrier *b, uint32_t ticket);

/* Waits for the others. */
barrier_result barrier_await(barrier *b, uint32_t ticket, const barrier_wait *how);

/* Breaks the barrier, unless all ranks have arrived in the meantime. */
barrier_result barrier_break(barrier *b, uint32_t ticket);

/*
 * Between calls, when no rank waits: whether a rank has arrived that did not wait for the others;
 * and breaking it for all calls to come.
 */
bool barrier_has_arrivals(const barrier *b);
void barrier_break_idle(barrier *b);
bool barrier_is_broken(const barrier *b);

/* The monotonic clock, in seconds. */
double clock_seconds(void);

#endif
