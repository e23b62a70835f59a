/* The values that walk.awk's calls use. */
#ifndef VALUES_H
#define VALUES_H

#include "walk.h"

/* Makes them, once; and again, before each step, what a step may use up. */
tsr_status values_make(walk *w);
void values_renew(walk *w);
void values_free(walk *w);

/* Opens or closes the scope of types. */
void values_set_typed(walk *w, bool typed);

#endif
