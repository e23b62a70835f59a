/*
 * Programs: StableHLO with sdy shardings, as JAX exports them and `sdy_opt` reads them.
 *
 * A program is read from MLIR's text, verified, walked, changed by passes and printed as MLIR
 * prints it. Everything in it has a number: ops, values, blocks, regions, types, attributes; 0
 * means none. Numbers are valid as long as the program; equal types, and equal attributes, of one
 * program have equal numbers.
 *
 * Programs are independent of each other: threads may use different ones at the same time, each
 * with its own context.
 */
#ifndef TESSERA_PROGRAM_H
#define TESSERA_PROGRAM_H

#include <tessera/dtype.h>
#include <tessera/rule.h>
#include <tessera/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_program tsr_program;

typedef uint32_t tsr_ir_op;
typedef uint32_t tsr_ir_value;
typedef uint32_t tsr_ir_block;
typedef uint32_t tsr_ir_region;
typedef uint32_t tsr_ir_type;
typedef uint32_t tsr_ir_attr;

typedef enum tsr_program_flags {
    TSR_PROGRAM_DEFAULT = 0,
    TSR_PROGRAM_ALLOW_UNREGISTERED = 1, /* keep ops of unknown dialects, in generic form */
    TSR_PROGRAM_UNVERIFIED = 2          /* read only; tsr_program_verify may follow */
} tsr_program_flags;

/*
 * Reads and verifies a program: text->data from text->at to text->size. Messages count lines from
 * the start of the data. Large constants stay in the text, which must outlive the program. On
 * failure the context has the diagnostics and *out does not change. The caller destroys the
 * program, before the context. Texts above 2 GiB are rejected with TSR_ERR_LIMIT.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_read(tsr_context *ctx, const tsr_text *text, int flags,
                                                  tsr_program **out) TSR_MT_CONTEXT;

/*
 * Reads a file; the program owns its text. TSR_ERR_INVALID, with the reason, if the file cannot be
 * read.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_load(tsr_context *ctx, const char *path, int flags,
                                                  tsr_program **out) TSR_MT_CONTEXT;

/* Creates an independent copy; it shares the text with the original. */
TSR_API TSR_NODISCARD tsr_status tsr_program_clone(tsr_context *ctx, const tsr_program *program,
                                                   tsr_program **out) TSR_MT_CONTEXT;

/* Frees a program. Does nothing if it is NULL. */
TSR_API void tsr_program_destroy(TSR_NULLABLE tsr_program *program) TSR_MT_CONTEXT;

/* Verifies the program against the rules of its dialects; stops at the first violation. */
TSR_API TSR_NODISCARD tsr_status tsr_program_verify(tsr_context *ctx,
                                                    tsr_program *program) TSR_MT_CONTEXT;

typedef enum tsr_program_printing {
    TSR_PROGRAM_PRETTY = 0,
    TSR_PROGRAM_GENERIC = 1,  /* every op in generic form */
    TSR_PROGRAM_LOCATIONS = 2 /* with locations */
} tsr_program_printing;

/* Receives the next bytes of a printed program; returns false to stop. */
typedef bool (*tsr_program_writer)(void *state, const char *bytes, size_t count);

/*
 * Prints a program through `write` as MLIR does, with a newline at the end. Returns TSR_ERR_INVALID
 * if `write` returned false.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_print(tsr_context *ctx, const tsr_program *program,
                                                   int printing, tsr_program_writer write,
                                                   TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/* Prints a program into a text, zero-terminated, allocated in the arena. */
TSR_API TSR_NODISCARD tsr_status tsr_program_to_text(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_program *program, int printing,
                                                     const char **out) TSR_MT_CONTEXT;

/* Returns the bytes of memory that a program uses, without its text. */
TSR_API size_t tsr_program_memory(const tsr_program *program) TSR_MT_CONTEXT;

/* ---- walking ---- */

/* Returns the module: an op with one region of one block. */
TSR_API tsr_ir_op tsr_program_module(const tsr_program *program) TSR_MT_CONTEXT;
/*
 * Finds the function or other symbol with this name; 0 if none exists. Linear in the number of
 * symbols.
 */
TSR_API tsr_ir_op tsr_program_symbol(const tsr_program *program, const char *name) TSR_MT_CONTEXT;
/* Returns the function `main`, or the only function; 0 if neither exists. */
TSR_API tsr_ir_op tsr_program_main(const tsr_program *program) TSR_MT_CONTEXT;
TSR_API size_t tsr_program_num_ops(const tsr_program *program) TSR_MT_CONTEXT;
/*
 * The largest value number. Some smaller numbers name no value: the reader used them for forward
 * references.
 */
TSR_API size_t tsr_program_num_values(const tsr_program *program) TSR_MT_CONTEXT;

/* Returns the name of an op, such as "stablehlo.add". */
TSR_API const char *tsr_ir_op_name(const tsr_program *program, tsr_ir_op op) TSR_MT_CONTEXT;
/*
 * Returns the name of a symbol, such as a function or a mesh, without quotes; NULL for other ops.
 * Allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_ir_op_symbol(tsr_context *ctx, tsr_arena *arena,
                                                  const tsr_program *program, tsr_ir_op op,
                                                  const char **out) TSR_MT_CONTEXT;
TSR_API size_t tsr_ir_op_num_operands(const tsr_program *program, tsr_ir_op op) TSR_MT_CONTEXT;
TSR_API tsr_ir_value tsr_ir_op_operand(const tsr_program *program, tsr_ir_op op,
                                       size_t i) TSR_MT_CONTEXT;
TSR_API size_t tsr_ir_op_num_results(const tsr_program *program, tsr_ir_op op) TSR_MT_CONTEXT;
TSR_API tsr_ir_value tsr_ir_op_result(const tsr_program *program, tsr_ir_op op,
                                      size_t i) TSR_MT_CONTEXT;
TSR_API size_t tsr_ir_op_num_regions(const tsr_program *program, tsr_ir_op op) TSR_MT_CONTEXT;
TSR_API tsr_ir_region tsr_ir_op_region(const tsr_program *program, tsr_ir_op op,
                                       size_t i) TSR_MT_CONTEXT;
/* Returns the block that contains an op; 0 for the module. */
TSR_API tsr_ir_block tsr_ir_op_block(const tsr_program *program, tsr_ir_op op) TSR_MT_CONTEXT;
/* Returns the op after this one in its block, or 0. */
TSR_API tsr_ir_op tsr_ir_op_next(const tsr_program *program, tsr_ir_op op) TSR_MT_CONTEXT;
/* Returns an attribute by name, inherent ones first, or 0. */
TSR_API tsr_ir_attr tsr_ir_op_attribute(const tsr_program *program, tsr_ir_op op,
                                        const char *name) TSR_MT_CONTEXT;
/*
 * Computes line and column, from 1, of the op in the text; returns false if the op is not from the
 * text, or if the list of lines, which the first call builds, cannot be allocated.
 */
TSR_API bool tsr_ir_op_position(const tsr_program *program, tsr_ir_op op,
                                TSR_NULLABLE int64_t *line,
                                TSR_NULLABLE int64_t *column) TSR_MT_CONTEXT;

/* A position in the source from which a program was generated, such as a line of Python. */
typedef struct tsr_source_location {
    const char *file;
    int64_t line;   /* from 1; 0: unknown */
    int64_t column; /* from 1; 0: unknown */
} tsr_source_location;

/*
 * Finds the source position of an op by the location that the text gives it: the innermost file,
 * line and column, which is that of the callee of a call site, of the first element of a fused
 * location, of the location that a name refers to. Returns false if the op has none, or if the name
 * of the file, which is allocated in the arena, cannot be allocated.
 */
TSR_API bool tsr_ir_op_source(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                              tsr_ir_op op, tsr_source_location *out) TSR_MT_CONTEXT;

TSR_API tsr_ir_block tsr_ir_region_first_block(const tsr_program *program,
                                               tsr_ir_region region) TSR_MT_CONTEXT;
TSR_API tsr_ir_op tsr_ir_region_parent(const tsr_program *program,
                                       tsr_ir_region region) TSR_MT_CONTEXT;
TSR_API tsr_ir_block tsr_ir_block_next(const tsr_program *program,
                                       tsr_ir_block block) TSR_MT_CONTEXT;
TSR_API tsr_ir_region tsr_ir_block_parent(const tsr_program *program,
                                          tsr_ir_block block) TSR_MT_CONTEXT;
TSR_API tsr_ir_op tsr_ir_block_first_op(const tsr_program *program,
                                        tsr_ir_block block) TSR_MT_CONTEXT;
TSR_API tsr_ir_op tsr_ir_block_last_op(const tsr_program *program,
                                       tsr_ir_block block) TSR_MT_CONTEXT;
TSR_API size_t tsr_ir_block_num_arguments(const tsr_program *program,
                                          tsr_ir_block block) TSR_MT_CONTEXT;
TSR_API tsr_ir_value tsr_ir_block_argument(const tsr_program *program, tsr_ir_block block,
                                           size_t i) TSR_MT_CONTEXT;

TSR_API tsr_ir_type tsr_ir_value_type(const tsr_program *program,
                                      tsr_ir_value value) TSR_MT_CONTEXT;
/* Returns the op that defines a value; 0 for block arguments. */
TSR_API tsr_ir_op tsr_ir_value_op(const tsr_program *program, tsr_ir_value value) TSR_MT_CONTEXT;
/* Returns the block of a block argument; 0 for results of ops. */
TSR_API tsr_ir_block tsr_ir_value_block(const tsr_program *program,
                                        tsr_ir_value value) TSR_MT_CONTEXT;
/* Returns the index of a value among the results of its op, or the arguments of its block. */
TSR_API size_t tsr_ir_value_index(const tsr_program *program, tsr_ir_value value) TSR_MT_CONTEXT;
/*
 * Returns the names of all values as the pretty form prints them, by value number: "%0", "%1#0",
 * "%arg0"; NULL for numbers that name no value. The list has tsr_program_num_values() + 1 entries
 * and is allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_value_names(tsr_context *ctx, tsr_arena *arena,
                                                         const tsr_program *program,
                                                         const char *const **out) TSR_MT_CONTEXT;
/*
 * Returns the names of all values in the text from which the program was read, also after passes
 * have changed it: a copy of an op has the names of the original; a value that a pass created is
 * named after the value that it was created for, "reshard of %3". Where the text has no names, or
 * arguments have locations, the names are those of tsr_program_value_names.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_written_names(tsr_context *ctx, tsr_arena *arena,
                                                           tsr_program *program,
                                                           const char *const **out) TSR_MT_CONTEXT;
/* Returns the sharding of a value, or NULL if it has none. Owned by the program. */
TSR_API TSR_NODISCARD tsr_status tsr_ir_value_sharding(tsr_context *ctx, tsr_program *program,
                                                       tsr_ir_value value,
                                                       const tsr_sharding **out) TSR_MT_CONTEXT;

/* A value of a program or, where `value` is 0, a result of a function. */
typedef struct tsr_ir_tensor {
    tsr_ir_value value;
    tsr_ir_op func;
    size_t index;
} tsr_ir_tensor;

/*
 * Lists the tensors that a program computes, in the order of its text: arguments and results of
 * ops, including those inside regions, but not the elements that reductions, sorts and similar ops
 * combine or compare. Allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_values(tsr_context *ctx, tsr_arena *arena,
                                                    const tsr_program *program, size_t *count,
                                                    const tsr_ir_value **out) TSR_MT_CONTEXT;
/* Returns the number of results of a function; 0 for other ops. */
TSR_API size_t tsr_ir_func_num_results(const tsr_program *program, tsr_ir_op func) TSR_MT_CONTEXT;

/* Returns the type of a value or result; 0 if the program has no such tensor. */
TSR_API tsr_ir_type tsr_ir_tensor_type(const tsr_program *program,
                                       tsr_ir_tensor tensor) TSR_MT_CONTEXT;
/* Returns the sharding of a tensor, or NULL if it has none. Owned by the program. */
TSR_API TSR_NODISCARD tsr_status tsr_ir_tensor_sharding(tsr_context *ctx, tsr_program *program,
                                                        tsr_ir_tensor tensor,
                                                        const tsr_sharding **out) TSR_MT_CONTEXT;
/*
 * Returns the name that a user gave an argument or result of a function: that of its location, or
 * `jax.result_info`. NULL if it has none. Allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_ir_tensor_name(tsr_context *ctx, tsr_arena *arena,
                                                    const tsr_program *program,
                                                    tsr_ir_tensor tensor,
                                                    const char **out) TSR_MT_CONTEXT;

/*
 * Returns the shape of a ranked tensor; unknown extents are TSR_UNKNOWN. Returns false for other
 * types. The extents are owned by the program.
 */
TSR_API bool tsr_ir_type_shape(const tsr_program *program, tsr_ir_type type, size_t *rank,
                               const int64_t **shape) TSR_MT_CONTEXT;
/*
 * Returns the element type of a tensor; false for other types, and for elements that are not
 * numbers.
 */
TSR_API bool tsr_ir_type_dtype(const tsr_program *program, tsr_ir_type type,
                               tsr_dtype *out) TSR_MT_CONTEXT;
/* Print types and attributes as text, zero-terminated, allocated in the arena. */
TSR_API TSR_NODISCARD tsr_status tsr_ir_type_to_text(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_program *program, tsr_ir_type type,
                                                     const char **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_ir_attr_to_text(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_program *program, tsr_ir_attr attr,
                                                     const char **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
