/* Checks that custom calls ask for. */
#ifndef EXEC_STEPS_CHECK_H
#define EXEC_STEPS_CHECK_H

#include "base/lex.h"
#include "exec/machine.h"

/* A custom call of a check; TSR_NOT_APPLICABLE for other targets. */
tsr_status exec_prepare_check_call(exec_decoder *d, exec_step *step, slice target);

/* Forgets what was probed in a run. */
void exec_probes_clear(exec_machine *m);

#endif
