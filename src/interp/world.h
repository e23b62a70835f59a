/*
 * Processes that run at the same time, simulated one after the other: each runs until it must wait
 * for others. The order is fixed, so every run gives the same.
 */
#ifndef INTERP_WORLD_H
#define INTERP_WORLD_H

#include "interp/machine.h"

/* A process at a collective. */
typedef struct interp_arrival {
    const code_step *step;  /* NULL: it is at none */
    interp_array **results; /* set when the collective is done */
    bool done;
} interp_arrival;

/* Values that one process sent and none has received yet. */
typedef struct interp_message {
    struct interp_message *next;
    int64_t channel;
    size_t target; /* SIZE_MAX: any process */
    interp_array *values;
} interp_message;

typedef struct interp_world {
    size_t replicas;
    size_t partitions;
    size_t count;
    interp_machine *machines; /* process r * partitions + p is partition p of replica r */
    interp_arrival *arrivals;
    interp_message *messages; /* oldest first */
    const code_function *const *infeed;
    size_t num_infeed;
    size_t next_infeed;
    bool is_strict; /* a group that names another process is an error */
} interp_world;

/* A world of machines that have not entered anything; parent gives code and host. */
tsr_status interp_world_init(interp_world *world, interp_machine *parent, size_t replicas,
                             size_t partitions);
void interp_world_clear(interp_world *world, interp_machine *parent);

/* Runs all until they have ended; an error names the op when all wait for each other. */
tsr_status interp_world_run(interp_world *world, interp_machine *parent);

#endif
