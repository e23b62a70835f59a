/*
 * The table of algorithms, and the choice among them.
 *
 * A collective has one row for each algorithm; those with counts are collectives of their own. The
 * choice depends on what all members know, so that it is the same on every one: the choices of the
 * world, the collective, the bytes, the size of the group.
 */
#ifndef COLL_ALGORITHM_H
#define COLL_ALGORITHM_H

#include "coll/collective.h"
#include "coll/cost.h"

/* What the members do; what serves several collectives is here once. */
typedef enum coll_method {
    BY_PULL,         /* in shared memory: all read from the root */
    BY_DIRECT,       /* whatever moves goes straight from its owner to whoever wants it */
    BY_FOLD,         /* the same, folded by whoever wants it */
    BY_SHARES,       /* each folds a share of all sources and sends it to all */
    BY_TREE,         /* along a binomial tree */
    BY_RING,         /* from neighbour to neighbour */
    BY_BRUCK,        /* what is known doubles with each round */
    BY_GATHER,       /* all sources to all by Bruck's, folded there */
    BY_BRUCK_TO_ALL, /* blocks hop by the bits of their distance */
    BY_DOUBLING,     /* pairs exchange all they have folded */
    BY_HALVING,      /* Bruck's backwards: what is still to be folded halves */
    BY_RABENSEIFNER, /* halving, then Bruck's */
    METHODS
} coll_method;

typedef struct coll_algorithm {
    tsr_algorithm shown; /* the first, so that one can be had from the other */
    coll_kind kind;
    coll_method method;
    coll_cost cost;
} coll_algorithm;

/* All of them, the collectives in the order of their rows. */
const coll_algorithm *coll_algorithms(size_t *count);

/* Where an algorithm stands in the table. */
size_t coll_algorithm_index(const coll_algorithm *algorithm);

/* What a world has been told, or not. */
typedef struct coll_choices {
    tsr_medium medium;
    bool unordered; /* reductions may leave the order of the group */
    tsr_link link;
    const coll_algorithm *set[COLL_COUNT]; /* NULL: the cheapest */
} coll_choices;

coll_choices coll_choices_default(tsr_medium medium);

/* A collective by its name. */
tsr_status coll_find(tsr_context *ctx, const char *name, size_t length, coll_kind *out);

/* Sets one; "auto" takes it back. A failure leaves the choices as they were. */
tsr_status coll_choices_set(tsr_context *ctx, coll_choices *choices, const char *collective,
                            const char *name);

/* Sets several, `all-reduce=shares,broadcast=linear`; spaces do not matter. */
tsr_status coll_choices_read(tsr_context *ctx, coll_choices *choices, const char *text);

/* Allows reductions to leave the order, or not. */
tsr_status coll_choices_allow(tsr_context *ctx, coll_choices *choices, bool unordered);

tsr_status coll_choices_set_link(tsr_context *ctx, coll_choices *choices, const tsr_link *link);

/*
 * The one that is set, or the cheapest that may be used; of equals the first of the table. An
 * average is never taken out of order: parts of it that travel would have to hold the sum.
 */
const coll_algorithm *coll_choose(const coll_choices *choices, coll_kind kind, bool average,
                                  double bytes, int64_t members);

#endif
