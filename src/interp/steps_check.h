/* Checks that custom calls ask for. */
#ifndef INTERP_STEPS_CHECK_H
#define INTERP_STEPS_CHECK_H

#include "base/lex.h"
#include "interp/machine.h"

/* A custom call of a check; TSR_NOT_APPLICABLE for other targets. */
tsr_status interp_prepare_check_call(code_decoder *d, code_step *step, slice target);

/* Forgets what was probed in a run. */
void interp_probes_clear(interp_machine *m);

#endif
