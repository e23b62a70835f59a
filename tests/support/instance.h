/*
 * Random uses of ops, as a row sees them and as StableHLO text: what differential tests compare
 * with the reference implementation.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stdio.h>

#include "ops/op.h"
#include "random.h"

enum { INSTANCE_OPERANDS = 9, INSTANCE_RESULTS = 4 };

/* One use of an op. Everything it points to is the arena's. */
typedef struct instance {
    tsr_arena *arena;
    const op_row *row;
    const void *params;
    size_t num_operands;
    op_type operands[INSTANCE_OPERANDS];
    op_type results[INSTANCE_RESULTS];
    op_facts facts;
    op_operand_fact operand_facts[INSTANCE_OPERANDS];
    /* Operand i is sliced from function argument `slice_of[i]`, unless that is NO_SLICE. */
    size_t slice_of[INSTANCE_OPERANDS];
    size_t num_arguments;
    op_type arguments[INSTANCE_OPERANDS];
    char attributes[1024]; /* inside of <{..}> */
    char region[1024];     /* inside of ({..}); empty for none */
} instance;

#define NO_SLICE SIZE_MAX

/* Draws a use of a row; false when the row has no generator, or no types. */
bool instance_draw(fixture *f, const op_row *row, rng *r, instance *out);

/* Makes every operand a function argument of its own, of which nothing is known. */
void instance_forget_facts(instance *i);

/* What the hooks are asked. */
op_request instance_request(fixture *f, const instance *i);

/* A function of that name with the op in it. */
void instance_print(FILE *file, const instance *i, const char *name);

/* The same with shardings of its arguments (NULL for none), and attributes for the op. */
void instance_print_with(FILE *file, const instance *i, const char *name,
                         const char *const *shardings, const char *attributes);

#endif
