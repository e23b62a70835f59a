/* The functions of a module by who calls whom. */
#ifndef TRANSFORM_CALL_GRAPH_H
#define TRANSFORM_CALL_GRAPH_H

#include "transform/op_list.h"
#include "transform/symbols.h"

/* The name that a function had before it was cloned, as a string attribute. */
uint32_t call_graph_original_name(const tsr_program *p, uint32_t func);

/* The calls inside an op, in order. */
tsr_status call_graph_list(workspace *w, uint32_t root, op_list *out);
/*
 * A copy of a function and of all that it calls, under new names that say which function they were.
 * The call graph is within its limits.
 */
tsr_status call_graph_clone(workspace *w, symbols *table, uint32_t func, uint32_t *out);
/* Functions with bodies, each after those that it calls; fails when one calls itself. */
tsr_status call_graph_post_order(workspace *w, const symbols *table, op_list *out);
/*
 * Fails when copies of functions for each of their calls exceed 2^22 ops, or calls are nested more
 * than 1000 deep; `funcs` are in post order.
 */
tsr_status call_graph_limit(workspace *w, const symbols *table, const op_list *funcs);
/* Fails when a function calls itself, directly or through others: the passes do not end there. */
tsr_status call_graph_verify(tsr_context *ctx, tsr_program *program);

#endif
