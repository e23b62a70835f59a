/* Rows run on the arrays that there are, when types are known only by then. */
#ifndef INTERP_STEPS_DYNAMIC_H
#define INTERP_STEPS_DYNAMIC_H

#include "interp/machine.h"

typedef struct inferred_step {
    const op_row *row;
    const void *params;
} inferred_step;

/* Runs a row on arrays, and sets the results of a step, which must be of types that it allows. */
tsr_status interp_run_row(interp_machine *m, const code_step *step, const op_row *row,
                          const void *params, interp_array *const *operands, size_t num_operands,
                          const op_type *results, size_t num_results);

/* A step of a row whose results are inferred from the operands when it runs. */
tsr_status interp_prepare_inferred(code_decoder *d, code_step *step, const op_row *row);

#endif
