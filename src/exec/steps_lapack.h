/* Custom calls of LAPACK's routines. */
#ifndef EXEC_STEPS_LAPACK_H
#define EXEC_STEPS_LAPACK_H

#include "exec/code.h"

/* TSR_NOT_APPLICABLE for other targets, and for what LAPACK would not take. */
tsr_status exec_prepare_lapack(exec_decoder *d, exec_step *step, slice target);

#endif
