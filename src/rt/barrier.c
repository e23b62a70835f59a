#include "rt/barrier.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The low half is 2 * generation + broken, which sleepers wait on; the high half counts arrivals.
 */
#define ONE_ARRIVAL (UINT64_C(1) << 32)
#define ONE_GENERATION UINT32_C(2)
#define BROKEN UINT32_C(1)

enum { SPINS = 4000, SLICE_NANOSECONDS = 5000000 };

double clock_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
static void pause_briefly(void)
{
    __builtin_ia32_pause();
}
#else
static void pause_briefly(void) {}
#endif

/* The half of the word that sleepers wait on: the futex is 32 bits wide. */
static void *low_half(barrier *b)
{
    return &b->halves[0];
}

static void wake_all(barrier *b)
{
    if (atomic_load(&b->sleepers) > 0) {
        (void)syscall(SYS_futex, low_half(b), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
}

/* Sleeps for a slice of time unless the low half has changed already. */
static void sleep_on(barrier *b, uint32_t low)
{
    const struct timespec slice = {.tv_nsec = SLICE_NANOSECONDS};
    atomic_fetch_add(&b->sleepers, 1);
    if ((uint32_t)atomic_load(&b->word) == low) {
        (void)syscall(SYS_futex, low_half(b), FUTEX_WAIT, low, &slice, NULL, 0);
    }
    atomic_fetch_sub(&b->sleepers, 1);
}

barrier_result barrier_break(barrier *b, uint32_t ticket)
{
    uint64_t word = atomic_load(&b->word);
    while ((uint32_t)word == ticket) {
        if (atomic_compare_exchange_weak(&b->word, &word, word | BROKEN)) {
            wake_all(b);
            return BARRIER_TIMED_OUT;
        }
    }
    return (uint32_t)word == (ticket | BROKEN) ? BARRIER_BROKEN : BARRIER_PASSED;
}

barrier_result barrier_poll(barrier *b, uint32_t ticket)
{
    const uint32_t now = (uint32_t)atomic_load_explicit(&b->word, memory_order_acquire);
    if (now == ticket) {
        return BARRIER_WAITING;
    }
    return now == (ticket | BROKEN) ? BARRIER_BROKEN : BARRIER_PASSED;
}

barrier_result barrier_await(barrier *b, uint32_t ticket, const barrier_wait *how)
{
    for (int i = 0; how->spin && i < SPINS; i++) {
        if (barrier_poll(b, ticket) != BARRIER_WAITING) {
            break;
        }
        pause_briefly();
    }
    for (;;) {
        const barrier_result result = barrier_poll(b, ticket);
        if (result != BARRIER_WAITING) {
            return result;
        }
        if (how->stop(how->state)) {
            return barrier_break(b, ticket) == BARRIER_PASSED ? BARRIER_PASSED : BARRIER_STOPPED;
        }
        sleep_on(b, ticket);
    }
}

barrier_result barrier_arrive(barrier *b, uint32_t ranks, uint32_t *ticket)
{
    uint64_t word = atomic_load_explicit(&b->word, memory_order_relaxed);
    for (;;) {
        const uint32_t low = (uint32_t)word;
        if ((low & BROKEN) != 0) {
            return BARRIER_BROKEN;
        }
        const bool last = (word >> 32) + 1 == ranks;
        const uint64_t next = last ? (uint64_t)(low + ONE_GENERATION) : word + ONE_ARRIVAL;
        if (!atomic_compare_exchange_weak(&b->word, &word, next)) {
            continue;
        }
        *ticket = low;
        if (!last) {
            return BARRIER_WAITING;
        }
        wake_all(b);
        return BARRIER_PASSED;
    }
}

bool barrier_has_arrivals(const barrier *b)
{
    return atomic_load(&b->word) >> 32 != 0;
}

void barrier_break_idle(barrier *b)
{
    (void)atomic_fetch_or(&b->word, BROKEN);
}

bool barrier_is_broken(const barrier *b)
{
    return (atomic_load(&b->word) & BROKEN) != 0;
}
