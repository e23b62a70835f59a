/* Constraints of types, by number: constraint.def. */
#ifndef VERIFY_CONSTRAINT_H
#define VERIFY_CONSTRAINT_H

enum {
    NO_CONSTRAINT,
#define CONSTRAINT(name, spec) name,
#include "verify/constraint.def"
#undef CONSTRAINT
    CONSTRAINT_COUNT
};

#endif
