/*
 * Running programs on one device: load a program, give it tensors, get tensors.
 *
 * An interpreter is the reference for what programs mean. It decodes every op once, runs ops in the
 * order of the program, and frees each value after its last use. Replicas and partitions that a
 * program asks for are simulated.
 */
#ifndef TESSERA_INTERPRET_H
#define TESSERA_INTERPRET_H

#include <tessera/program.h>
#include <tessera/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_interpreter tsr_interpreter;
typedef struct tsr_outputs tsr_outputs;

/* Zeros are the defaults. */
typedef struct tsr_interpreter_options {
    TSR_NULLABLE const char *function; /* what to run; NULL: @main, or the only function */
    int64_t max_ops;   /* a run that executes more ends with TSR_ERR_LIMIT; 0: no limit */
    int64_t max_bytes; /* of values that are alive at one time; 0: no limit */
    /* Receives what interpreter.print prints, a line a value; NULL: nothing is printed. */
    TSR_NULLABLE void (*print)(void *state, const char *text, size_t size);
    TSR_NULLABLE void *state;
} tsr_interpreter_options;

/*
 * Makes an interpreter of a program, which must outlive it and not change. `options` may be NULL.
 * TSR_ERR_UNSUPPORTED, with the op and its types, when an op that the function can reach has no
 * meaning here. The caller destroys it, before the program and the context.
 */
TSR_API TSR_NODISCARD tsr_status tsr_interpreter_create(
    tsr_context *ctx, const tsr_program *program,
    TSR_NULLABLE const tsr_interpreter_options *options, tsr_interpreter **out) TSR_MT_CONTEXT;

/* Frees an interpreter. Does nothing if it is NULL. */
TSR_API void tsr_interpreter_destroy(TSR_NULLABLE tsr_interpreter *interpreter) TSR_MT_CONTEXT;

/* What the function takes and gives. Types are owned by the program. */
TSR_API size_t tsr_interpreter_num_inputs(const tsr_interpreter *interpreter) TSR_MT_CONTEXT;
TSR_API tsr_ir_value tsr_interpreter_input(const tsr_interpreter *interpreter,
                                           size_t i) TSR_MT_CONTEXT;
TSR_API size_t tsr_interpreter_num_outputs(const tsr_interpreter *interpreter) TSR_MT_CONTEXT;

/*
 * Returns how many devices a run simulates. A function that has a collective, a send or the number
 * of its process outside of manual computations runs on all devices of its module,
 * mhlo.num_replicas x mhlo.num_partitions, up to 64; every other function runs on one.
 */
TSR_API size_t tsr_interpreter_num_devices(const tsr_interpreter *interpreter) TSR_MT_CONTEXT;

/*
 * Runs the function on inputs of the types of its arguments, which are copied: one for each
 * argument, which all devices get, or one for each argument of each device, device by device
 * (partition p of replica r is device r x partitions + p). The outputs are those of all devices,
 * device by device. TSR_ERR_INVALID when number, element types or shapes of inputs are others, or
 * when a group names a device that the module does not have; TSR_ERR_CHECK when a check of the
 * program does not hold. The caller destroys the outputs, before the interpreter.
 */
TSR_API TSR_NODISCARD tsr_status tsr_interpreter_run(tsr_context *ctx, tsr_interpreter *interpreter,
                                                     TSR_ARRAY(num_inputs) const tsr_view *inputs,
                                                     size_t num_inputs,
                                                     tsr_outputs **out) TSR_MT_CONTEXT;

/*
 * Returns the results of a run, packed; their memory is owned by the outputs. One that is no tensor
 * has no data.
 */
TSR_API size_t tsr_outputs_count(const tsr_outputs *outputs) TSR_MT_CONTEXT;
TSR_API tsr_view tsr_outputs_get(const tsr_outputs *outputs, size_t i) TSR_MT_CONTEXT;
TSR_API void tsr_outputs_destroy(TSR_NULLABLE tsr_outputs *outputs) TSR_MT_CONTEXT;

/* What the runs of an interpreter have taken so far. */
typedef struct tsr_interpreter_stats {
    int64_t ops;        /* executed in the last run */
    int64_t live_bytes; /* of values that are alive now: outputs, and constants that are kept */
    int64_t peak_bytes; /* the most at one time */
} tsr_interpreter_stats;
TSR_API tsr_interpreter_stats tsr_interpreter_get_stats(const tsr_interpreter *interpreter)
    TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
