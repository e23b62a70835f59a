/* Short ways to types, for tests. */
#ifndef TYPES_H
#define TYPES_H

#include "support.h"

/* Reads a type and insists that it works. */
tsr_typed_shape typed_of(fixture *f, const tsr_mesh *mesh, const char *text);
/* The text of a value's type. */
const char *typed_text(fixture *f, const tsr_typed_shape *typed);
/* The end that a text says. */
tsr_end end_of_text(fixture *f, const char *text);

#endif
