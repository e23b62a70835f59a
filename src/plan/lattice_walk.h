/*
 * Sums and extremes over all devices of two layouts, by the digits of a lattice.
 *
 * What a device holds before and wants after are boxes; their sizes, and the size of what they have
 * in common, are products over dimensions. A walk goes through the values of the digits, those of
 * dimensions that share no digit apart, and takes values for which nothing changes at once, so that
 * layouts that a person writes take as long on a million devices as on eight.
 */
#ifndef PLAN_LATTICE_WALK_H
#define PLAN_LATTICE_WALK_H

#include "plan/lattice.h"

/*
 * What becomes of two numbers, a size and what is held of it, over the values of a digit. BEST
 * keeps every pair of which no other has at least the size and at most as much held.
 */
typedef enum walk_fold { WALK_SUM, WALK_LEAST, WALK_BEST } walk_fold;

/* The size of a pair. */
typedef enum walk_size { WALK_NO_SIZE, WALK_SHARD_BEFORE, WALK_SHARD_AFTER, WALK_COMMON } walk_size;

/* Digits that keep the best pairs are outside of those that sum or take the least. */
typedef struct walk_query {
    walk_size size;
    walk_fold sizes[LATTICE_ROLES];
    walk_fold helds[LATTICE_ROLES]; /* WALK_BEST where sizes has it */
} walk_query;

typedef struct walk_pair {
    int64_t size;
    int64_t held; /* elements in common before and after */
} walk_pair;

/* Pairs in no order. */
typedef struct walk_pairs {
    walk_pair *list;
    size_t count;
    size_t room;
} walk_pairs;

/* The two layouts of a walk. */
typedef struct walk_layouts {
    const plan_lattice *lattice;
    size_t rank;
    const plan_dim *src;
    const plan_dim *dst;
} walk_layouts;

/*
 * The pairs of all devices, over the digits that a dimension has: the product over dimensions. In
 * scratch memory. TSR_ERR_LIMIT beyond PLAN_MAX_ENUMERATED combinations that nothing takes at once.
 */
tsr_status lattice_walk(const plan_maker *m, const walk_layouts *layouts, const walk_query *query,
                        walk_pairs *out);

/* The sum over all devices of the elements that each holds both before and after. */
tsr_status lattice_held(const plan_maker *m, const walk_layouts *layouts, int64_t *out);

#endif
