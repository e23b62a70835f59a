/*
 * The reference interpreter: runs programs on one device.
 *
 * The interpreter defines the meaning of programs. It decodes every op once, runs ops in the order
 * of the program, and frees each value after its last use. It simulates the replicas and partitions
 * that a program requests.
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

/* Options. Zero selects the default of each field. */
typedef struct tsr_interpreter_options {
    TSR_NULLABLE const char *function; /* the function to run; NULL: @main, or the only function */
    int64_t max_ops;   /* maximum number of ops of a run, TSR_ERR_LIMIT beyond; 0: no limit */
    int64_t max_bytes; /* maximum bytes of values alive at one time; 0: no limit */
    /* Receives the output of interpreter.print, one line per value; NULL discards it. */
    TSR_NULLABLE void (*print)(void *state, const char *text, size_t size);
    TSR_NULLABLE void *state;
} tsr_interpreter_options;

/*
 * Creates an interpreter of a program, which must outlive it and must not change. `options` may be
 * NULL. Returns TSR_ERR_UNSUPPORTED, with the op and its types, when the interpreter does not
 * support an op that the function can reach. The caller destroys the interpreter, before the
 * program and the context.
 */
TSR_API TSR_NODISCARD tsr_status tsr_interpreter_create(
    tsr_context *ctx, const tsr_program *program,
    TSR_NULLABLE const tsr_interpreter_options *options, tsr_interpreter **out) TSR_MT_CONTEXT;

/* Frees an interpreter. Does nothing if it is NULL. */
TSR_API void tsr_interpreter_destroy(TSR_NULLABLE tsr_interpreter *interpreter) TSR_MT_CONTEXT;

/* Return the arguments and results of the function. Types are owned by the program. */
TSR_API size_t tsr_interpreter_num_inputs(const tsr_interpreter *interpreter) TSR_MT_CONTEXT;
TSR_API tsr_ir_value tsr_interpreter_input(const tsr_interpreter *interpreter,
                                           size_t i) TSR_MT_CONTEXT;
TSR_API size_t tsr_interpreter_num_outputs(const tsr_interpreter *interpreter) TSR_MT_CONTEXT;

/*
 * Returns the number of devices that a run simulates. A function that has a collective, a send or a
 * partition or replica id outside of manual computations runs on all devices of its module,
 * mhlo.num_replicas x mhlo.num_partitions, up to 64; every other function runs on one.
 */
TSR_API size_t tsr_interpreter_num_devices(const tsr_interpreter *interpreter) TSR_MT_CONTEXT;

/*
 * Runs the function on inputs of the types of its arguments, which are copied: one for each
 * argument, which all devices receive, or one for each argument of each device, device by device
 * (partition p of replica r is device r x partitions + p). The outputs are those of all devices,
 * device by device. Returns TSR_ERR_INVALID if the number, element types or shapes of the inputs
 * differ from the arguments, or if a group names a device that the module does not have;
 * TSR_ERR_CHECK if a check in the program does not hold. The caller destroys the outputs, before
 * the interpreter.
 */
TSR_API TSR_NODISCARD tsr_status tsr_interpreter_run(tsr_context *ctx, tsr_interpreter *interpreter,
                                                     TSR_ARRAY(num_inputs) const tsr_view *inputs,
                                                     size_t num_inputs,
                                                     tsr_outputs **out) TSR_MT_CONTEXT;

/*
 * tsr_outputs_get returns a result of a run, packed; its memory is owned by the outputs. A result
 * that is not a tensor has no data. tsr_outputs_destroy does nothing if the outputs are NULL.
 */
TSR_API size_t tsr_outputs_count(const tsr_outputs *outputs) TSR_MT_CONTEXT;
TSR_API tsr_view tsr_outputs_get(const tsr_outputs *outputs, size_t i) TSR_MT_CONTEXT;
TSR_API void tsr_outputs_destroy(TSR_NULLABLE tsr_outputs *outputs) TSR_MT_CONTEXT;

/* Resources that the runs of an interpreter have used. */
typedef struct tsr_interpreter_stats {
    int64_t ops;        /* executed in the last run */
    int64_t live_bytes; /* of values alive now: outputs, and constants that are kept */
    int64_t peak_bytes; /* the maximum at one time */
} tsr_interpreter_stats;
TSR_API tsr_interpreter_stats tsr_interpreter_get_stats(const tsr_interpreter *interpreter)
    TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
