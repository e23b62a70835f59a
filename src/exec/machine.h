/*
 * What runs steps: a stack of activations, so that a run may stop at a collective and go on later.
 */
#ifndef EXEC_MACHINE_H
#define EXEC_MACHINE_H

#include "exec/code.h"

/* As EXEC_ERROR, of a run. */
#define EXEC_RUN_ERROR(m, step, status, format, ...)                                               \
    EXEC_ERROR((m)->ctx, (m)->code, (step)->op, status, format, __VA_ARGS__)

struct exec_world;
struct exec_host;

typedef struct exec_activation {
    const exec_block *block;
    const exec_step *next;
    const exec_step *end;
    const exec_step *owner; /* what entered it; NULL: the caller of exec_machine_run */
    size_t which;           /* for the owner */
    size_t frame;           /* where its slots start */
    size_t frame_end;
} exec_activation;

struct exec_machine {
    tsr_context *ctx;
    const exec_code *code;
    exec_pool *pool;
    struct exec_host *host; /* what all machines of a run share */
    struct exec_world
        *world;     /* the processes that this is one of; NULL: it is alone, and needs no others */
    size_t process; /* its number in the world */
    exec_activation *stack;
    size_t depth;
    size_t capacity;
    exec_array **frames;
    size_t num_frames; /* slots in use */
    size_t room;
    exec_array **slots; /* of the last activation */
    exec_array **returned;
    size_t num_returned;
    size_t returned_room;
    tsr_status failed;           /* of a region that a kernel has called */
    tsr_arena *scratch;          /* of the steps in progress; NULL: none was needed yet */
    tsr_arena_mark scratch_mark; /* where that of the innermost step starts */
    bool has_scratch;            /* that step has some */
    void *step_state;            /* of a step that waits, kept for when it runs again */
};

/* What one run shares: limits, output, probes. */
typedef struct exec_host {
    int64_t steps_left; /* INT64_MAX: no limit */
    int64_t steps;
    void (*print)(void *state, const char *text, size_t size);
    void *print_state;
    struct exec_probe *probes;
    exec_array **infeed; /* what infeed takes next, as tuples */
    size_t num_infeed;
    size_t next_infeed;
} exec_host;

/* Code may be run by machines of several threads, each with a context, pool and host of its own. */
void exec_machine_init(exec_machine *m, tsr_context *ctx, const exec_code *code, exec_pool *pool,
                       exec_host *host);
/* Drops all that it holds. */
void exec_machine_clear(exec_machine *m);

/*
 * Enters the body of a function with arguments, taking over one reference of each, even when it
 * fails.
 */
tsr_status exec_enter_function(exec_machine *m, const exec_function *f, exec_array **arguments,
                               const exec_step *owner);
/* Enters a block of the function that runs now. */
tsr_status exec_enter_block(exec_machine *m, const exec_block *block, exec_array **arguments,
                            const exec_step *owner, size_t which);

/* Runs until so many activations are left: TSR_OK, TSR_IN_PROGRESS when it waits, or a failure. */
tsr_status exec_machine_run(exec_machine *m, size_t until);

/* Scratch memory that is valid until the step in progress ends; NULL without memory. */
void *exec_scratch(exec_machine *m, size_t bytes);

static inline exec_array *exec_operand(const exec_machine *m, const exec_step *s, size_t i)
{
    return m->slots[s->operands[i]];
}

/* Sets a result, taking over the reference. */
static inline void exec_set_result(exec_machine *m, const exec_step *s, size_t i, exec_array *array)
{
    m->slots[s->results[i]] = array;
}

/* As exec_unsupported, of a run. */
tsr_status exec_run_unsupported(exec_machine *m, const exec_step *step, const char *why);

/* Drops what a step is the last to use. */
void exec_release(exec_machine *m, const uint32_t *slots, size_t count);

/* Sets the results of a step to what was returned. */
tsr_status exec_take_returned(exec_machine *m, const exec_step *step);

/* A region that kernels call on single elements. */
typedef struct exec_region {
    const exec_block *block;
    exec_machine *machine;
} exec_region;

/* An op_body_call; the state is an exec_region. */
void exec_region_call(void *state, const void *const *arguments, void *const *results);

#endif
