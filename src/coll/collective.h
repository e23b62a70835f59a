/*
 * The vocabulary of collectives: one row each (collectives.def), whether it is called, planned as a
 * step of a redistribution, traced, or written in typed code.
 *
 * A collective has a source and a destination on each member. One that cuts a source (or a
 * destination) treats it as chunks along a dimension, one for each member in group order; otherwise
 * it is one chunk. What moves from member f to member t is then, for all of them, the t-th chunk of
 * f's source, if sources are cut, to the f-th chunk of t's destination, if those are.
 */
#ifndef COLL_COLLECTIVE_H
#define COLL_COLLECTIVE_H

#include <tessera/plan.h>

typedef enum coll_kind {
#define COLLECTIVE(kind, name, op, step, step_name, call, traits) kind,
#include "coll/collectives.def"
#undef COLLECTIVE
    COLL_COUNT,
    COLL_CALLS = COLL_SLICE /* how many can be called: the first ones */
} coll_kind;

/* Which arguments a collective has, and what it does with them. */
typedef enum coll_trait {
    COLL_HAS_OP = 1 << 0,           /* it reduces */
    COLL_ROOT_SENDS = 1 << 1,       /* only the root has a source */
    COLL_ROOT_RECEIVES = 1 << 2,    /* only the root has a destination */
    COLL_CUTS_SRC = 1 << 3,         /* along a dimension */
    COLL_CUTS_DST = 1 << 4,         /* along a dimension */
    COLL_HAS_COUNTS = 1 << 5,       /* rows of the chunks; else they are equal */
    COLL_COUNTS_DIFFER = 1 << 6,    /* each member has counts of its own, of both sides */
    COLL_HAS_DESTINATIONS = 1 << 7, /* the permutation */
    COLL_ONE_VIEW = 1 << 8,         /* the root's source is the destination of all other members */
    COLL_IN_PLACE = 1 << 9          /* the source may be the destination */
} coll_trait;

typedef struct coll_row {
    const char *name;      /* "all-gather" */
    const char *op;        /* "all_gather"; NULL: no op and no call of typed code */
    const char *step_name; /* "all-gather"; NULL: no step of a plan */
    const char *call;      /* "tsr_comm_all_gather"; NULL: a step alone */
    tsr_step_kind step;    /* where it is one */
    unsigned traits;
} coll_row;

const coll_row *coll_row_of(coll_kind kind);

/* What a kind of step is. */
coll_kind coll_of_step(tsr_step_kind step);

static inline bool coll_has(const coll_row *row, unsigned traits)
{
    return (row->traits & traits) != 0;
}

#endif
