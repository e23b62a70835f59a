/* One collective call on all ranks, with arguments and layouts at random, against its oracle. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <tessera/algorithm.h>
#include <tessera/collective.h>

#include "random.h"

#include "coll/collective.h"

enum { MAX_MEMBERS = 11, MAX_RANK = 9 };

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

/* One call, the same on every member; what differs between members follows from `seed`. */
typedef struct scenario {
    uint64_t seed;
    coll_kind kind;
    tsr_reduce_op op;
    tsr_dtype dtype;
    size_t rank;
    int64_t piece[MAX_RANK]; /* what one member gives or gets */
    size_t dim;
    size_t concat_dim;
    int64_t root;
    int64_t counts[MAX_MEMBERS][MAX_MEMBERS]; /* [from][to]; [0] where members share them */
    int64_t destinations[MAX_MEMBERS];
    bool in_place;
    bool exact; /* numbers that any order folds to the same */
} scenario;

/* Small shapes with zeros and ones among them; now and then one of several blocks. */
void scenario_choose_shape(scenario *s, rng *r);
/* Everything else, for so many members. */
void scenario_choose_rest(scenario *s, rng *r, int64_t members);

/* Makes the call on this member and compares all memory with what should be there. */
tsr_status scenario_run(tsr_comm *comm, const scenario *s);

#endif
