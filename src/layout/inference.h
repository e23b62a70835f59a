/*
 * How an op runs on operands of some shardings: which of them are laid out otherwise first, whether
 * it runs on local parts, what stays pending, and the shardings of its results.
 *
 * Pure: it depends on the request, the shardings and the strategy, and makes nothing but shardings.
 */
#ifndef LAYOUT_INFERENCE_H
#define LAYOUT_INFERENCE_H

#include <tessera/propagate.h>

#include "ops/pending.h"

/*
 * What a caller charges, in seconds; the same on all ranks. Only the caller knows where the op will
 * run, so eager calls and programs choose by the prices of their own links.
 */
typedef struct inference_prices {
    void *state;
    /* Takes a tensor from one sharding to another on the same devices. */
    tsr_status (*move)(void *state, const op_type *type, const tsr_sharding *from,
                       const tsr_sharding *to, double *seconds);
    /* Computes an op with a first result of that type on one device: so many points of its loops.
     */
    double (*compute)(void *state, const op_type *result, double points);
} inference_prices;

/* Lists are by operand or by result; allocated in the arena. */
typedef struct inference {
    /* What is asked: a request that its row's `types` has accepted. */
    const op_request *r;
    const op_type *results;
    size_t num_results;
    const tsr_sharding *const *given; /* of the operands, on one set of devices */
    /* In which element type each operand keeps what is pending; NULL: in its own. */
    const tsr_dtype *pending;
    tsr_strategy strategy;
    const inference_prices *prices; /* NULL: TSR_STRATEGY_CHEAPEST is TSR_STRATEGY_AGGRESSIVE */
    tsr_arena *arena;

    /* Found by inference_begin. */
    const tsr_mesh *mesh;         /* the first operand's */
    const tsr_rule *rule;         /* of the registry, or NULL */
    const tsr_rule *local_rule;   /* the same, with factors marked that must be whole */
    const tsr_sharding **on_mesh; /* `given`, on the mesh */

    /* Found by inference_solve. */
    const tsr_sharding **stripped; /* on_mesh without what is pending */
    const tsr_sharding **aligned;  /* stripped, as the op wants them */
    const tsr_sharding **run;      /* what the op needs: `given` itself where that will do */
    kept_axes *kept;               /* what stays pending of each operand */
    tsr_reduction kept_kind;
    const tsr_sharding **locals; /* as the op leaves its results */
    const tsr_sharding **finals; /* as they are handed out */
    bool fallback; /* the op has no rule for this: operands are gathered, results resharded */
} inference;

/* Brings the operands to one mesh and finds the rule. What is asked has been set, no more. */
tsr_status inference_begin(inference *x);

/* Finds the layouts. Refuses operands whose unbound dimensions may differ. */
tsr_status inference_solve(inference *x);

/* The same by one of the strategies that need no prices. What is unbound has been checked. */
tsr_status inference_solve_by(inference *x, tsr_strategy strategy);

/*
 * The price of a solved inference: to bring operands to the layouts in which the op runs, to
 * compute it there, to bring results to the layouts in which they are handed out, and to complete
 * what is then pending in these, which some later call has to do.
 */
tsr_status inference_price(const inference *x, double *out);

/*
 * The axes along which the op itself leaves its first result pending, without those that were
 * pending in an operand. `axes` has room for MAX_PENDING.
 */
size_t inference_own_pending(const inference *x, tsr_axis_ref *axes);

#endif
