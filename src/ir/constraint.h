/* Constraints of types, by number: constraint.def. */
#ifndef IR_CONSTRAINT_H
#define IR_CONSTRAINT_H

enum {
    NO_CONSTRAINT,
#define CONSTRAINT(name, spec) name,
#include "ir/constraint.def"
#undef CONSTRAINT
    CONSTRAINT_COUNT
};

#endif
