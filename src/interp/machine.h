/*
 * What runs steps: a stack of activations, so that a run may stop at a collective and go on later.
 */
#ifndef INTERP_MACHINE_H
#define INTERP_MACHINE_H

#include "code/code.h"
#include "interp/array.h"

/* As CODE_ERROR, of a run. */
#define INTERP_RUN_ERROR(m, step, status, format, ...)                                             \
    CODE_ERROR((m)->ctx, (m)->code, (step)->op, status, format, __VA_ARGS__)

/* What an action may return besides TSR_OK and failures. */
enum {
    INTERP_ENTERED = 100, /* a block was entered; `resume` follows when it ends */
    INTERP_WAITING = 101  /* for other processes; the step runs again later */
};

struct interp_world;
struct interp_host;

typedef struct code_machine interp_machine;

typedef struct interp_activation {
    const code_block *block;
    const code_step *next;
    const code_step *end;
    const code_step *owner; /* what entered it; NULL: the caller of interp_machine_run */
    size_t which;           /* for the owner */
    size_t frame;           /* where its slots start */
    size_t frame_end;
} interp_activation;

struct code_machine {
    tsr_context *ctx;
    const program_code *code;
    interp_pool *pool;
    struct interp_host *host; /* what all machines of a run share */
    struct interp_world
        *world;     /* the processes that this is one of; NULL: it is alone, and needs no others */
    size_t process; /* its number in the world */
    interp_activation *stack;
    size_t depth;
    size_t capacity;
    interp_array **frames;
    size_t num_frames; /* slots in use */
    size_t room;
    interp_array **slots; /* of the last activation */
    interp_array **returned;
    size_t num_returned;
    size_t returned_room;
    tsr_status failed;           /* of a region that a kernel has called */
    tsr_arena *scratch;          /* of the steps in progress; NULL: none was needed yet */
    tsr_arena_mark scratch_mark; /* where that of the innermost step starts */
    bool has_scratch;            /* that step has some */
    void *step_state;            /* of a step that waits, kept for when it runs again */
};

/* What one run shares: limits, output, probes. */
typedef struct interp_host {
    int64_t steps_left; /* INT64_MAX: no limit */
    int64_t steps;
    void (*print)(void *state, const char *text, size_t size);
    void *print_state;
    struct interp_probe *probes;
    interp_array **infeed; /* what infeed takes next, as tuples */
    size_t num_infeed;
    size_t next_infeed;
} interp_host;

/* Code may be run by machines of several threads, each with a context, pool and host of its own. */
void interp_machine_init(interp_machine *m, tsr_context *ctx, const program_code *code,
                         interp_pool *pool, interp_host *host);
/* Drops all that it holds. */
void interp_machine_clear(interp_machine *m);

/*
 * Enters the body of a function with arguments, taking over one reference of each, even when it
 * fails.
 */
tsr_status interp_enter_function(interp_machine *m, const code_function *f,
                                 interp_array **arguments, const code_step *owner);
/* Enters a block of the function that runs now. */
tsr_status interp_enter_block(interp_machine *m, const code_block *block, interp_array **arguments,
                              const code_step *owner, size_t which);

/* Runs until so many activations are left: TSR_OK, TSR_IN_PROGRESS when it waits, or a failure. */
tsr_status interp_machine_run(interp_machine *m, size_t until);

/* Scratch memory that is valid until the step in progress ends; NULL without memory. */
void *interp_scratch(interp_machine *m, size_t bytes);

static inline interp_array *interp_operand(const interp_machine *m, const code_step *s, size_t i)
{
    return m->slots[s->operands[i]];
}

/* Sets a result, taking over the reference. */
static inline void interp_set_result(interp_machine *m, const code_step *s, size_t i,
                                     interp_array *array)
{
    m->slots[s->results[i]] = array;
}

/* As code_unsupported, of a run. */
tsr_status interp_run_unsupported(interp_machine *m, const code_step *step, const char *why);

/* Drops what a step is the last to use. */
void interp_release(interp_machine *m, const uint32_t *slots, size_t count);

/* Sets the results of a step to what was returned. */
tsr_status interp_take_returned(interp_machine *m, const code_step *step);

/* A region that kernels call on single elements. */
typedef struct interp_region {
    const code_block *block;
    interp_machine *machine;
} interp_region;

/* An op_body_call; the state is an interp_region. */
void interp_region_call(void *state, const void *const *arguments, void *const *results);

/* How ops become steps of this machine, by kind. */
extern const code_op interp_ops_basic[OP_KIND_COUNT];
extern const code_op interp_ops_control[OP_KIND_COUNT];
extern const code_op interp_ops_check[OP_KIND_COUNT];
extern const code_op interp_ops_dynamic[OP_KIND_COUNT];
extern const code_op interp_ops_chlo[OP_KIND_COUNT];
extern const code_op interp_ops_parallel[OP_KIND_COUNT];
extern const code_op interp_ops_collective[OP_KIND_COUNT];
extern const code_op interp_ops_custom[OP_KIND_COUNT];
extern const code_op interp_ops_other[OP_KIND_COUNT];
extern const code_op interp_ops_ragged[OP_KIND_COUNT];
extern const code_op interp_ops_quantized[OP_KIND_COUNT];
extern const code_op interp_ops_legacy[OP_KIND_COUNT];

extern const code_table interp_table;

/* The greatest of the last dimension of the first operand, and where they are, in this order. */
tsr_status interp_prepare_top_k(code_decoder *d, code_step *step);

/* Ops that are the kernel of a row; TSR_NOT_APPLICABLE when there is none. */
tsr_status interp_prepare_kernel(code_decoder *d, code_step *step);
/* The same of a row; its elementwise operands may broadcast. NULL is not a row. */
tsr_status interp_prepare_row(code_decoder *d, code_step *step, const op_row *row);

#endif
