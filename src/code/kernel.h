/* Ops that are the kernel of a row: on the types of the program, or by way of wider ones. */
#ifndef CODE_KERNEL_H
#define CODE_KERNEL_H

#include "code/code.h"

enum { CODE_MAX_REGIONS = 2, CODE_MAX_CASTS = 80 };

/*
 * A kernel of a row as a step runs it: immutable. Operands and results have the types of the
 * program, or others that the row has a kernel for, by way of which the step computes.
 */
typedef struct code_kernel {
    op_call call;           /* without arrays */
    const op_array *arrays; /* operands, then results: all but the data is fixed */
    const code_block *regions[CODE_MAX_REGIONS];
    size_t num_regions;
    bool calls_regions;         /* some are not known ones */
    const code_type **computed; /* of each array; NULL: computed as they are */
    bool as_bits;               /* narrow signed integers are their bits */
    bool counts_leading;        /* the wider type has more leading zeros */
} code_kernel;

/*
 * The kernel of a row for an op; its elementwise operands may broadcast. TSR_NOT_APPLICABLE when
 * the row has none, or an extent is not known yet. The parameters of regions that are called
 * element by element lack `state`, which the machine sets for each run.
 */
tsr_status code_kernel_prepare(code_decoder *d, const code_step *step, const op_row *row,
                               const code_kernel **out);

#endif
