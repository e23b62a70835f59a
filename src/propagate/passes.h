/* The passes of propagation, as the table of passes runs them. */
#ifndef PROPAGATE_PASSES_H
#define PROPAGATE_PASSES_H

#include "propagate/provenance.h"

pass_function pass_populate_rules;
pass_function pass_basic;
pass_function pass_aggressive;
pass_function pass_op_priority;
pass_function pass_user_priority;
/* The same with its default options, recording why. */
tsr_status propagate_with_reasons(tsr_context *ctx, tsr_program *p, int64_t until,
                                  const provenance_request *request);

#endif
