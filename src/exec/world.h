/*
 * Processes that run at the same time, simulated one after the other: each runs until it must wait
 * for others. The order is fixed, so every run gives the same.
 */
#ifndef EXEC_WORLD_H
#define EXEC_WORLD_H

#include "exec/machine.h"

/* A process at a collective. */
typedef struct exec_arrival {
    const exec_step *step; /* NULL: it is at none */
    exec_array **results;  /* set when the collective is done */
    bool done;
} exec_arrival;

/* Values that one process sent and none has received yet. */
typedef struct exec_message {
    struct exec_message *next;
    int64_t channel;
    size_t target; /* SIZE_MAX: any process */
    exec_array *values;
} exec_message;

typedef struct exec_world {
    size_t replicas;
    size_t partitions;
    size_t count;
    exec_machine *machines; /* process r * partitions + p is partition p of replica r */
    exec_arrival *arrivals;
    exec_message *messages; /* oldest first */
    const exec_function *const *infeed;
    size_t num_infeed;
    size_t next_infeed;
    bool is_strict; /* a group that names another process is an error */
} exec_world;

/* A world of machines that have not entered anything; parent gives code and host. */
tsr_status exec_world_init(exec_world *world, exec_machine *parent, size_t replicas,
                           size_t partitions);
void exec_world_clear(exec_world *world, exec_machine *parent);

/* Runs all until they have ended; an error names the op when all wait for each other. */
tsr_status exec_world_run(exec_world *world, exec_machine *parent);

#endif
