/* Functions of a module, by name and by who calls whom. */
#ifndef PROPAGATE_CALL_GRAPH_H
#define PROPAGATE_CALL_GRAPH_H

#include "propagate/workspace.h"

/* The symbols of the module. */
typedef struct symbols {
    map ops;
    uint32_t counter; /* of names that were made unique */
} symbols;

tsr_status symbols_load(workspace *w, symbols *out);
/* The op of a name; 0: none. */
uint32_t symbols_find(const symbols *table, slice name);
/*
 * Puts an op with a symbol's name to the end of the module. A name that is taken becomes `name_c`,
 * with one counter for all names.
 */
tsr_status symbols_insert(workspace *w, symbols *table, uint32_t op);

/* The function that a call names; 0: the module has none of that name. */
uint32_t called_function(const tsr_program *p, const symbols *table, uint32_t call);
tsr_status set_callee(tsr_program *p, uint32_t call, uint32_t func);
slice symbol_name(const tsr_program *p, uint32_t op);
/* The name that a function had before it was cloned, as a string attribute. */
uint32_t original_name(const tsr_program *p, uint32_t func);

/* A list of ops in the workspace's memory. */
typedef struct op_list {
    uint32_t *ops;
    size_t count;
    size_t room;
} op_list;
tsr_status op_list_add(workspace *w, op_list *list, uint32_t op);

/* The calls inside an op, in order. */
tsr_status list_calls(workspace *w, uint32_t root, op_list *out);
/*
 * A copy of a function and of all that it calls, under new names that say which function they were.
 * The call graph is within its limits.
 */
tsr_status clone_function(workspace *w, symbols *table, uint32_t func, uint32_t *out);
/* Functions with bodies, each after those that it calls; fails when one calls itself. */
tsr_status functions_post_order(workspace *w, const symbols *table, op_list *out);
/*
 * Fails when copies of functions for each of their calls exceed 2^22 ops, or calls are nested more
 * than 1000 deep; `funcs` are in post order.
 */
tsr_status call_graph_limit(workspace *w, const symbols *table, const op_list *funcs);

/*
 * The shardings of a function's arguments or results, NULL for none: as an attribute, in which
 * missing ones are open; 0 when none is on a mesh of several devices.
 */
tsr_status func_shardings(workspace *w, uint32_t func, const char *list, uint32_t *out);

#endif
