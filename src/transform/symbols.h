/* The symbols of a program's module while a pass adds some and renames others. */
#ifndef TRANSFORM_SYMBOLS_H
#define TRANSFORM_SYMBOLS_H

#include "propagate/workspace.h"

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
/* The name of an op that is a symbol. */
slice symbols_name(const tsr_program *p, uint32_t op);

/* The function that a call names; 0: the module has none of that name. */
uint32_t symbols_callee(const tsr_program *p, const symbols *table, uint32_t call);
/* Lets a call name a function. */
tsr_status symbols_set_callee(tsr_program *p, uint32_t call, uint32_t func);

#endif
