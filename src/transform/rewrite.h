/* Every sharding of a program rewritten. */
#ifndef TRANSFORM_REWRITE_H
#define TRANSFORM_REWRITE_H

#include "propagate/workspace.h"

/* The attribute of a rewritten sharding. */
typedef tsr_status (*sharding_rewrite)(workspace *w, void *state, uint32_t attr, uint32_t *out);
/*
 * Rewrites every sharding of the program, in the order of the program: arguments of a function,
 * its results, then what is in it.
 */
tsr_status rewrite_shardings(workspace *w, sharding_rewrite rewrite, void *state);

#endif
