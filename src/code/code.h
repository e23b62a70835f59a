/*
 * Programs made ready to run: every op decoded once into a step.
 *
 * A function has slots, one for each value in it and in its regions; a block is a list of steps,
 * which read and fill slots. A value is dropped after the step of its block that uses it last,
 * itself or inside of its regions.
 */
#ifndef CODE_CODE_H
#define CODE_CODE_H

#include "code/type.h"
#include "ir/params.h"
#include "ir/program.h"

/* What runs steps; its actions are those of the table that code is made with. */
typedef struct code_machine code_machine;
typedef struct code_step code_step;
typedef struct code_block code_block;
typedef struct code_function code_function;

typedef tsr_status (*code_action)(code_machine *m, const code_step *step);
/* Called when a block that the step entered has ended, with what it returned in the machine. */
typedef tsr_status (*code_resume)(code_machine *m, const code_step *step, size_t which);

/* What a step has to do with the processes that run at the same time. */
typedef enum code_devices {
    CODE_ANY_DEVICE,
    CODE_NEEDS_DEVICES, /* its result depends on the other processes, or on its own number */
    CODE_MAKES_DEVICES  /* it runs its regions or its callees on processes of its own */
} code_devices;

struct code_step {
    code_action action;
    code_resume resume; /* of steps that enter blocks */
    code_devices devices;
    uint32_t op; /* in the program */
    uint32_t num_operands;
    uint32_t num_results;
    uint32_t num_released;
    uint32_t num_early; /* of those released, what only this step itself uses: they come first */
    const uint32_t *operands; /* slots */
    const uint32_t *results;
    const uint32_t *released;
    const code_type *const *types;   /* of operands, then of results */
    const void *data;                /* what the action needs */
    int64_t number;                  /* the same, of actions that need one number */
    const code_block *const *blocks; /* of its regions */
};

struct code_block {
    code_step *steps;
    size_t num_steps;
    size_t num_arguments;
    const uint32_t *arguments; /* slots */
    const code_type *const *argument_types;
    const uint32_t *unused; /* arguments that nothing uses */
    size_t num_unused;
    code_step end; /* its operands are returned */
};

struct code_function {
    uint32_t op;
    const code_block *body;
    uint32_t num_slots;
    bool is_open;       /* while it is decoded: a call of it now would be recursive */
    size_t depth;       /* of calls below it, counting itself */
    uint32_t device_op; /* the first op that needs the devices of the module; 0: none */
};

typedef struct program_code program_code;
typedef struct code_decoder code_decoder;

/* Sets action and data of a step whose operands, results, types and blocks are set. */
typedef tsr_status (*code_prepare)(code_decoder *d, code_step *step);
/* Makes a second step that follows the first. */
typedef tsr_status (*code_prepare_next)(code_decoder *d, code_step *step, code_step *next);

/* How an op that is not a kernel of a row becomes a step: arrays by kind. */
typedef struct code_op {
    code_prepare prepare;   /* NULL: another array has the op, or none */
    code_prepare_next next; /* of ops of two steps; NULL: one */
} code_op;

/*
 * How the ops of a program become steps, by the machine that will run them: arrays by kind, the
 * first that has the op decides, and what makes a step of all other ops, by their rows.
 */
typedef struct code_table {
    const code_op *const *ops; /* arrays of OP_KIND_COUNT */
    size_t num_ops;
    code_prepare prepare_row; /* TSR_NOT_APPLICABLE when the row has no kernel for the op */
    op_body_call call_region; /* by which kernels call a region on single elements */
} code_table;

struct program_code {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_program *program;
    const code_table *table; /* how ops become steps */
    int64_t max_bytes;       /* of constants; 0: no limit */
    int64_t constant_bytes;
    const code_type **types;   /* by type of the program; NULL: not asked for yet */
    code_function **functions; /* by op of the program */
    uint32_t *slots;           /* by value */
    uint32_t *last_users;      /* by value: the op of its block that uses it last */
    uint32_t *first_of;        /* by op: the first value that it is the last to use */
    uint32_t *next_of;         /* by value: the next one of the same op */
    uint8_t *captured;         /* by value: whether a region uses it from outside */
};

/* What is decoded at present. */
struct code_decoder {
    program_code *code;
    code_function *function;
    size_t depth;
};

/* Once it is made, code does not change: any number of threads may run it at the same time. */
tsr_status code_create(tsr_context *ctx, const tsr_program *program, const code_table *table,
                       int64_t max_bytes, program_code **out);
void code_destroy(program_code *code);

/* The function of an op, decoded when it is first asked for. */
tsr_status code_function_of(program_code *code, uint32_t op, size_t depth,
                            const code_function **out);
/* By the symbol that an attribute of an op is; an error when there is none. */
tsr_status code_find_function(code_decoder *d, uint32_t op, uint32_t symbol,
                              const code_function **out);

/* Elements of a type for as long as the code lives, not filled. */
tsr_status code_elements(program_code *code, const code_type *type, void **out);

/* The type of that number. An error for one that has no arrays. */
tsr_status code_type_of(program_code *code, uint32_t type, const code_type **out);
/* One of these extents; owned by the code. */
tsr_status code_make_type(program_code *code, tsr_dtype dtype, size_t rank, const int64_t *shape,
                          const code_type **out);

/* The error of an array that would exceed a limit of bytes. */
tsr_status code_refuse_bytes(tsr_context *ctx, int64_t bytes, int64_t live, int64_t most);
/* An error that names an op and its types, for which it uses the arena. */
tsr_status code_refuse_types(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                             uint32_t op, const char *why);
/* The same while code is made. */
tsr_status code_unsupported(const program_code *code, uint32_t op, const char *why);
/* An error about an op: "stablehlo.add: text", where it is in the program. */
#define CODE_ERROR(ctx, code, op, status, format, ...)                                             \
    diag_error((ctx), (status), op_location((code)->program, (op)), "%s: " format,                 \
               op_name((code)->program, (op)), __VA_ARGS__)

/* Memory of the code. */
#define CODE_NEW(d, type) ARENA_NEW((d)->code->arena, type)

/* Whether all operands and results are tensors whose extents are known. */
bool code_is_static(const code_step *step);

#endif
