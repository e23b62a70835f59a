/* `-mlir-timing`: how long each stage took. */
#ifndef OPT_TIMING_H
#define OPT_TIMING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct stage_time {
    const char *name;
    double seconds;
} stage_time;

/* Stages by their first use. */
typedef struct timing {
    stage_time *stages;
    size_t count;
    size_t capacity;
    double since;
} timing;

/* The time from now on belongs to the stage that ends next. */
void timing_start(timing *t);
/* Adds the time since the start, or the last end, to a stage. */
void timing_end(timing *t, const char *stage);
/* Prints the table to stderr. */
void timing_print(const timing *t);
void timing_clear(timing *t);

#endif
