/*
 * The table of algorithms, and the choice among them.
 *
 * A collective has one row for each algorithm; those with counts are collectives of their own. The
 * choice depends only on what is the same on all members: the choices of the world, the collective,
 * the bytes, the size of the group.
 */
#ifndef COLL_ALGORITHM_H
#define COLL_ALGORITHM_H

#include "coll/collective.h"
#include "coll/cost.h"

/* What the members do; a method may serve several collectives. */
typedef enum coll_method {
    BY_PULL,         /* in shared memory: all read from the root */
    BY_DIRECT,       /* each chunk goes straight from its owner to its receiver */
    BY_FOLD,         /* the same, folded by the receiver */
    BY_SHARES,       /* each folds a share of all sources and sends it to all */
    BY_TREE,         /* along a binomial tree */
    BY_RING,         /* from neighbour to neighbour */
    BY_BRUCK,        /* what is known doubles with each round */
    BY_GATHER,       /* all sources to all members by Bruck's, folded there */
    BY_BRUCK_TO_ALL, /* blocks hop by the bits of their distance */
    BY_DOUBLING,     /* pairs send each other all they have folded */
    BY_HALVING,      /* Bruck's backwards: what is still to be folded halves */
    BY_RABENSEIFNER, /* halving, then Bruck's */
    METHODS
} coll_method;

typedef struct coll_algorithm {
    tsr_algorithm shown; /* the first field, so that a row is found from it */
    coll_kind kind;
    coll_method method;
    coll_cost cost;
} coll_algorithm;

/* All of them, the collectives in the order of their rows. */
const coll_algorithm *coll_algorithms(size_t *count);

/* The seconds of a call by an algorithm. */
double coll_price(const coll_algorithm *a, const tsr_link *link, double bytes, int64_t members);

/* The index of an algorithm in the table. */
size_t coll_algorithm_index(const coll_algorithm *algorithm);

/* The choices of a world. */
typedef struct coll_choices {
    tsr_medium medium;
    bool unordered; /* reductions may leave the group order */
    tsr_link link;
    const coll_algorithm *set[COLL_CALLS]; /* NULL: the cheapest */
} coll_choices;

coll_choices coll_choices_default(tsr_medium medium);

/* A collective by its name. */
tsr_status coll_find(tsr_context *ctx, const char *name, size_t length, coll_kind *out);

/* Sets one; "auto" resets it. A failure leaves the choices as they were. */
tsr_status coll_choices_set(tsr_context *ctx, coll_choices *choices, const char *collective,
                            const char *name);

/* Sets several, `all-reduce=shares,broadcast=linear`; spaces do not matter. */
tsr_status coll_choices_read(tsr_context *ctx, coll_choices *choices, const char *text);

/* Allows reductions to leave the order, or not. */
tsr_status coll_choices_allow(tsr_context *ctx, coll_choices *choices, bool unordered);

tsr_status coll_choices_set_link(tsr_context *ctx, coll_choices *choices, const tsr_link *link);

/*
 * The one that is set, or the cheapest that may be used; of equals the first of the table. An
 * average is never computed out of order: partial results would have to hold the sum.
 */
const coll_algorithm *coll_choose(const coll_choices *choices, coll_kind kind, bool average,
                                  double bytes, int64_t members);

#endif
