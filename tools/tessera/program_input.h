/* Programs as sub-commands read them: from a file or standard input, and their values by name. */
#ifndef TOOL_PROGRAM_INPUT_H
#define TOOL_PROGRAM_INPUT_H

#include <tessera/program.h>

#include "session.h"

/* Reads and verifies a program; `-` is standard input. */
int program_read(struct session *session, const char *file, tsr_program **out);

/* What the library warned of, on stderr. */
void print_warnings(struct session *session);

/* Where an op is in the text. */
struct text_place {
    int64_t line; /* 0: it is not in the text */
    int64_t column;
};
struct text_place place_of_op(const tsr_program *program, tsr_ir_op op);

/*
 * The values of a text, found again when passes have copied functions and constants: a copy is
 * where the original was.
 */
struct text_values {
    struct session *session;
    const char *const *names; /* by value, as the text has them */
    size_t num_names;
    struct text_op *ops; /* sorted by place */
    size_t num_ops;
};

/* Collects them, before passes change the program. */
int text_values_collect(struct session *session, tsr_program *program, struct text_values *out);

/* The op of the text that an op of the changed program is, or is a copy of; 0: none. */
tsr_ir_op text_op_of(const struct text_values *values, const tsr_program *program, tsr_ir_op op);

/* The value of the text that a value of the changed program is, or is a copy of; 0: none. */
tsr_ir_value text_value_of(const struct text_values *values, const tsr_program *program,
                           tsr_ir_value value);

/* The name of a value of the changed program: `%3`; of one that the text has not, "a new value". */
const char *text_name_of(const struct text_values *values, const tsr_program *program,
                         tsr_ir_value value);

/* Calls a function for each value of a program in order, those of elements left out. */
typedef int (*value_visitor)(void *state, tsr_ir_value value);
int for_all_values(const tsr_program *program, value_visitor visitor, void *state);

/* The function main, or the only one; 0: there is none. */
tsr_ir_op main_of(const tsr_program *program);
/* How many results a function has. */
size_t num_results_of(const tsr_program *program, tsr_ir_op func);

#endif
