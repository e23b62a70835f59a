/* Worlds and arrays as calls.c and worlds.c see them. */
#ifndef TESSERA_PYTHON_HANDLES_H
#define TESSERA_PYTHON_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>

#include "calls.h"

enum { MAX_ARRAYS = 64 }; /* that a call takes, and that it gives: the library's limit */

/* A call in progress. */
typedef struct call {
    tp_kind kind;
    tp_function function;
    tp_array *operands[MAX_ARRAYS];
    size_t num_operands;
    const tp_arguments *arguments;
    size_t num_results;
    tp_array *results[MAX_ARRAYS];
} call;

struct tp_world {
    tsr_context *ctx;
    tsr_world *open;  /* NULL for one rank that others run */
    tsr_comm *joined; /* over an MPI_Comm of the program's: closed with the world */
    tp_world *parent; /* of one rank */
    tsr_comm *own;    /* its communicator */
    int64_t num_local;
    int64_t first; /* the number of the first local rank */
    int64_t size;
    bool has_owner; /* only one thread may make calls */
    pthread_t owner;
    unsigned generation;  /* of the process: another one in a child of fork */
    pthread_mutex_t lock; /* held during a call */
    call call;
    void *launched; /* what the callback of a launch gets */
    /* Under `registry`, which all worlds share. */
    tp_array *arrays;            /* all that Python or something outside has */
    _Atomic(tp_array *) dropped; /* those that wait for their release */
    int64_t exports;             /* of the arrays, and of those of its ranks */
    int64_t holders;             /* Python, arrays, ranks: the struct is freed with the last */
    bool closed;                 /* for calls */
    bool torn_down;              /* its ranks have ended */
};

/* A tensor of each local rank, or a record of a conversion. */
struct tp_array {
    tp_world *world;
    tp_array *next;
    tp_array *previous;
    bool records;
    bool dropped;  /* Python has given it up */
    bool released; /* the parts are gone */
    int64_t exports;
    void *parts[]; /* for each local rank; NULL: none */
};

/* Makes an array without parts; NULL without memory. */
tp_array *array_make(tp_world *world, bool records);
/* A rank's tensor over memory of others. */
tsr_status array_over_borrowed(tsr_comm *world, const tsr_tensor_spec *spec, tp_borrowed *borrowed,
                               tsr_tensor **out);
/* Releases what was dropped, with the lock held: how many holds of the world that gave up. */
int64_t release_dropped(tp_world *world);
void world_release(tp_world *world, int64_t count);
/* Whether calls on a world can be made at all by this thread: NULL, or why not. */
const char *world_refusal(const tp_world *world);

/* Called by a rank's thread: runs the function of Python. */
extern int tp_python_rank(tp_world *world, int64_t index, void *state);
/* Called when a launch is interrupted: raises the interrupt in the functions that still run. */
extern void tp_python_interrupt(void *state);

#endif
