/* Rows run on the arrays that there are, when types are known only by then. */
#ifndef EXEC_STEPS_DYNAMIC_H
#define EXEC_STEPS_DYNAMIC_H

#include "exec/machine.h"

typedef struct inferred_step {
    const op_row *row;
    const void *params;
} inferred_step;

/* Runs a row on arrays, and sets the results of a step, which must be of types that it allows. */
tsr_status exec_run_row(exec_machine *m, const exec_step *step, const op_row *row,
                        const void *params, exec_array *const *operands, size_t num_operands,
                        const op_type *results, size_t num_results);

/* A step of a row whose results are inferred from the operands when it runs. */
tsr_status exec_prepare_inferred(exec_decoder *d, exec_step *step, const op_row *row);

#endif
