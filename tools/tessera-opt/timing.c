#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + (double)moment.tv_nsec * 1e-9;
}

void timing_start(timing *t)
{
    t->since = now();
}

/* The row of a stage; NULL when there is no memory for it. */
static stage_time *stage_of(timing *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->stages[i].name, name) == 0) {
            return &t->stages[i];
        }
    }
    if (t->count == t->capacity) {
        const size_t capacity = t->capacity > 0 ? 2 * t->capacity : 16;
        stage_time *stages = realloc(t->stages, capacity * sizeof *stages);
        if (stages == NULL) {
            return NULL;
        }
        t->stages = stages;
        t->capacity = capacity;
    }
    t->stages[t->count] = (stage_time){.name = name};
    return &t->stages[t->count++];
}

void timing_end(timing *t, const char *stage)
{
    const double end = now();
    stage_time *row = stage_of(t, stage);
    if (row != NULL) {
        row->seconds += end - t->since;
    }
    t->since = end;
}

void timing_print(const timing *t)
{
    double total = 0;
    for (size_t i = 0; i < t->count; i++) {
        total += t->stages[i].seconds;
    }
    fputs("===- Execution time report -===\n  Seconds  (share)  Stage\n", stderr);
    for (size_t i = 0; i < t->count; i++) {
        const double seconds = t->stages[i].seconds;
        fprintf(stderr, "%9.4f  (%4.1f%%)  %s\n", seconds, total > 0 ? 100 * seconds / total : 0,
                t->stages[i].name);
    }
    fprintf(stderr, "%9.4f (100.0%%)  Total\n", total);
}

void timing_clear(timing *t)
{
    free(t->stages);
    *t = (timing){0};
}
