/* Custom calls of LAPACK's routines. */
#ifndef INTERP_STEPS_LAPACK_H
#define INTERP_STEPS_LAPACK_H

#include "code/code.h"

/* TSR_NOT_APPLICABLE for other targets, and for what LAPACK would not take. */
tsr_status interp_prepare_lapack(code_decoder *d, code_step *step, slice target);

#endif
