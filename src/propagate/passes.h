/* The passes of propagation, as the table of passes runs them. */
#ifndef PROPAGATE_PASSES_H
#define PROPAGATE_PASSES_H

#include <tessera/pass.h>

typedef tsr_status pass_function(tsr_context *ctx, tsr_program *program,
                                 const tsr_pass_options *options);

/* Edges. */
pass_function pass_add_edges;
pass_function pass_add_func_edges;
pass_function pass_sink_edges;
pass_function pass_sink_func_edges;

/* Propagation. */
pass_function pass_populate_rules;
pass_function pass_basic;
pass_function pass_aggressive;
pass_function pass_op_priority;
pass_function pass_user_priority;

#endif
