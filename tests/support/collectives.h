/* Collectives on ranks, against what they should give element by element. */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include <tessera/algorithm.h>
#include <tessera/collective.h>

#include "random.h"

#include "coll/collective.h"

/* The arguments of any collective; each takes what it has. */
typedef struct any_call {
    coll_kind kind;
    tsr_reduce_op op;
    const tsr_view *src;
    const tsr_view *dst;
    size_t dim;
    size_t concat_dim;
    int64_t root;
    const int64_t *counts;
    const int64_t *receive_counts;
    const int64_t *destinations;
} any_call;

tsr_status make_call(tsr_comm *comm, const any_call *c);
tsr_status start_call(tsr_comm *comm, const any_call *c, tsr_request *request);

/* Every collective, type, reduction and layout on one number of ranks; fails the test. */
void check_collectives(fixture *f, int64_t ranks, tsr_ranks kind);

/* Every algorithm in turn, told to the world, on fewer layouts. */
void check_algorithms(fixture *f, int64_t ranks, tsr_ranks kind);

/* What a rank may do wrong, and what every rank hears of it. */
void check_collective_faults(fixture *f, tsr_ranks kind);
void check_collective_differences(fixture *f, tsr_ranks kind);

/* The bytes that ranks receive against the cost formulas. */
void check_collective_traffic(fixture *f, tsr_ranks kind);

/* Sources whose elements lie on each other. */
void check_collective_repeats(fixture *f, tsr_ranks kind);

#endif
