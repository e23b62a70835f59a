/*
 * Programs made ready to run: every op decoded once into a step.
 *
 * A function has slots, one for each value in it and in its regions; a block is a list of steps,
 * which read and fill slots. A value is dropped after the step of its block that uses it last,
 * itself or inside of its regions.
 */
#ifndef EXEC_CODE_H
#define EXEC_CODE_H

#include "exec/array.h"
#include "ir/params.h"
#include "ir/program.h"

typedef struct exec_machine exec_machine;
typedef struct exec_step exec_step;
typedef struct exec_block exec_block;
typedef struct exec_function exec_function;

/* What an action may return beside TSR_OK and failures. */
enum {
    EXEC_ENTERED = 100, /* a block was entered; `resume` follows when it ends */
    EXEC_WAITING = 101  /* for other processes; the step runs again later */
};

typedef tsr_status (*exec_action)(exec_machine *m, const exec_step *step);
/* Called when a block that the step entered has ended, with what it returned in the machine. */
typedef tsr_status (*exec_resume)(exec_machine *m, const exec_step *step, size_t which);

/* What a step has to do with the processes that run at the same time. */
typedef enum exec_devices {
    EXEC_ANY_DEVICE,
    EXEC_NEEDS_DEVICES, /* its result depends on the other processes, or on its own number */
    EXEC_MAKES_DEVICES  /* it runs its regions or its callees on processes of its own */
} exec_devices;

struct exec_step {
    exec_action action;
    exec_resume resume; /* of steps that enter blocks */
    exec_devices devices;
    uint32_t op; /* in the program */
    uint32_t num_operands;
    uint32_t num_results;
    uint32_t num_released;
    uint32_t num_early; /* of those released, what only this step itself uses: they come first */
    const uint32_t *operands; /* slots */
    const uint32_t *results;
    const uint32_t *released;
    const exec_type *const *types;   /* of operands, then of results */
    const void *data;                /* what the action needs */
    int64_t number;                  /* the same, of actions that need one number */
    const exec_block *const *blocks; /* of its regions */
};

struct exec_block {
    exec_step *steps;
    size_t num_steps;
    size_t num_arguments;
    const uint32_t *arguments; /* slots */
    const exec_type *const *argument_types;
    const uint32_t *unused; /* arguments that nothing uses */
    size_t num_unused;
    exec_step end; /* its operands are returned */
};

struct exec_function {
    uint32_t op;
    const exec_block *body;
    uint32_t num_slots;
    bool is_open;       /* while it is decoded: a call of it now would be recursive */
    size_t depth;       /* of calls below it, counting itself */
    uint32_t device_op; /* the first op that needs the devices of the module; 0: none */
};

typedef struct exec_code {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_program *program;
    exec_pool *pool; /* that counts what constants take; NULL: none does */
    int64_t constant_bytes;
    const exec_type **types;   /* by type of the program; NULL: not asked for yet */
    exec_function **functions; /* by op of the program */
    uint32_t *slots;           /* by value */
    uint32_t *last_users;      /* by value: the op of its block that uses it last */
    uint32_t *first_of;        /* by op: the first value that it is the last to use */
    uint32_t *next_of;         /* by value: the next one of the same op */
    uint8_t *captured;         /* by value: whether a region uses it from outside */
} exec_code;

/* What is decoded at present. */
typedef struct exec_decoder {
    exec_code *code;
    exec_function *function;
    size_t depth;
} exec_decoder;

/* Sets action and data of a step whose operands, results, types and blocks are set. */
typedef tsr_status (*exec_prepare)(exec_decoder *d, exec_step *step);
/* Makes a second step that follows the first. */
typedef tsr_status (*exec_prepare_next)(exec_decoder *d, exec_step *step, exec_step *next);

/* How an op that is not a kernel of a row becomes a step: arrays by kind. */
typedef struct exec_op {
    exec_prepare prepare;   /* NULL: another array has the op, or none */
    exec_prepare_next next; /* of ops of two steps; NULL: one */
} exec_op;

extern const exec_op exec_ops_basic[OP_KIND_COUNT];
extern const exec_op exec_ops_control[OP_KIND_COUNT];
extern const exec_op exec_ops_check[OP_KIND_COUNT];
extern const exec_op exec_ops_dynamic[OP_KIND_COUNT];
extern const exec_op exec_ops_chlo[OP_KIND_COUNT];
extern const exec_op exec_ops_parallel[OP_KIND_COUNT];
extern const exec_op exec_ops_collective[OP_KIND_COUNT];
extern const exec_op exec_ops_custom[OP_KIND_COUNT];
extern const exec_op exec_ops_other[OP_KIND_COUNT];
extern const exec_op exec_ops_ragged[OP_KIND_COUNT];
extern const exec_op exec_ops_quantized[OP_KIND_COUNT];
extern const exec_op exec_ops_legacy[OP_KIND_COUNT];

/* The greatest of the last dimension of the first operand, and where they are, in this order. */
tsr_status exec_prepare_top_k(exec_decoder *d, exec_step *step);

/* Ops that are the kernel of a row; TSR_NOT_APPLICABLE when there is none. */
tsr_status exec_prepare_kernel(exec_decoder *d, exec_step *step);
/* The same of a row; its elementwise operands may broadcast. NULL is not a row. */
tsr_status exec_prepare_row(exec_decoder *d, exec_step *step, const op_row *row);

/* Once it is made, code does not change: any number of threads may run it at the same time. */
tsr_status exec_code_create(tsr_context *ctx, const tsr_program *program, exec_pool *pool,
                            exec_code **out);
void exec_code_destroy(exec_code *code);

/* The function of an op, decoded when it is first asked for. */
tsr_status exec_code_function(exec_code *code, uint32_t op, size_t depth,
                              const exec_function **out);
/* By the symbol that an attribute of an op is; an error when there is none. */
tsr_status exec_find_function(exec_decoder *d, uint32_t op, uint32_t symbol,
                              const exec_function **out);

/* Elements of a type for as long as the code lives, not filled; its pool counts them. */
tsr_status exec_code_elements(exec_code *code, const exec_type *type, void **out);

/* The type of that number. An error for one that has no arrays. */
tsr_status exec_code_type(exec_code *code, uint32_t type, const exec_type **out);
/* One of these extents; owned by the code. */
tsr_status exec_make_type(exec_code *code, tsr_dtype dtype, size_t rank, const int64_t *shape,
                          const exec_type **out);

/* An error that names an op and its types, for which it uses the arena. */
tsr_status exec_refuse_types(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                             uint32_t op, const char *why);
/* The same while code is made. */
tsr_status exec_unsupported(const exec_code *code, uint32_t op, const char *why);
/* An error about an op: "stablehlo.add: text", where it is in the program. */
#define EXEC_ERROR(ctx, code, op, status, format, ...)                                             \
    diag_error((ctx), (status), op_location((code)->program, (op)), "%s: " format,                 \
               op_name((code)->program, (op)), __VA_ARGS__)

/* Memory of the code. */
#define EXEC_NEW(d, type) ARENA_NEW((d)->code->arena, type)

/* Whether all operands and results are tensors whose extents are known. */
bool exec_is_static(const exec_step *step);

#endif
