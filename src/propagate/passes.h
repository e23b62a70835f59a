/* The passes of propagation, as the table of passes runs them. */
#ifndef PROPAGATE_PASSES_H
#define PROPAGATE_PASSES_H

#include <tessera/pass.h>

typedef tsr_status pass_function(tsr_context *ctx, tsr_program *program,
                                 const tsr_pass_options *options);

pass_function pass_populate_rules;
pass_function pass_basic;
pass_function pass_aggressive;
pass_function pass_op_priority;
pass_function pass_user_priority;

#endif
