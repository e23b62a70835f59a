/* What the benches share: time, medians, and one JSON object a line. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tessera/tessera.h>

enum { ROUNDS = 11 };

/* Ends the bench: a figure for work that was not done, or not the same, is meaningless. */
#define INSIST(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One contestant: does the work once and returns something that depends on it. */
typedef int64_t (*work)(void *state);

typedef struct timing {
    double median;
    double spread; /* (largest - smallest) / median */
    int64_t answer;
} timing;

/* Times two contestants in turn, ROUNDS times each, `times` runs a round; seconds for one run. */
static inline void race(work first, work second, void *state, int64_t times, timing *a, timing *b)
{
    double samples[2][ROUNDS];
    const work contestants[2] = {first, second};
    timing *const results[2] = {a, b};
    for (int round = 0; round < ROUNDS; round++) {
        for (int c = 0; c < 2; c++) {
            int64_t answer = 0;
            const double start = seconds();
            for (int64_t i = 0; i < times; i++) {
                answer = contestants[c](state);
            }
            samples[c][round] = (seconds() - start) / (double)times;
            results[c]->answer = answer;
        }
    }
    for (int c = 0; c < 2; c++) {
        qsort(samples[c], ROUNDS, sizeof samples[c][0], by_value);
        results[c]->median = samples[c][ROUNDS / 2];
        results[c]->spread = (samples[c][ROUNDS - 1] - samples[c][0]) / results[c]->median;
    }
}

#endif
