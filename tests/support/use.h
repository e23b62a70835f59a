/* Random uses of ops with random shardings of their tensors, for propagation through one op. */
#ifndef USE_H
#define USE_H

#include "instance.h"

enum { USE_TENSORS = INSTANCE_OPERANDS + INSTANCE_RESULTS };

/* What random uses may have. */
typedef struct use_limits {
    bool conservative; /* the rule is that of conservative propagation */
    bool priorities;   /* 0 to 3, on some dimensions */
} use_limits;

/* A use of an op, its mesh and the shardings of its tensors, operands first. */
typedef struct sharded_use {
    instance i;
    const tsr_rule *rule;
    const tsr_mesh *mesh;
    size_t num_operands;
    size_t num_tensors;
    const tsr_sharding *before[USE_TENSORS]; /* NULL for none */
} sharded_use;

/* Draws a use of a row; false when the row has no generator, or no rule for what was drawn. */
bool use_draw(fixture *f, const op_row *row, use_limits limits, rng *r, sharded_use *out);

/* Propagation through it, by a strategy. */
tsr_propagation use_propagation(const sharded_use *u, tsr_strategy strategy);

#endif
