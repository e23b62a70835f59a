/*
 * The cost model: what a collective, or a step of a plan, has its busiest member do, and what that
 * costs on a link. alpha for each message of the longest sequence, beta for each byte that a member
 * sends or receives, gamma for each byte that it reduces, delta for each byte that the algorithm
 * has it copy; seconds. n is the whole array in bytes (for all-to-all what each member holds), p
 * the size of the group, lg p the rounds of a doubling, ceil(log2 p). A group of one costs nothing.
 */
#ifndef COLL_COST_H
#define COLL_COST_H

#include <tessera/algorithm.h>

/* What the busiest member does. */
typedef struct coll_work {
    double messages; /* of the longest sequence */
    double bytes;    /* sent or received */
    double reduced;  /* bytes */
    double copied;   /* bytes */
} coll_work;

typedef coll_work (*coll_cost)(double n, int64_t p);

double coll_seconds(const tsr_link *link, const coll_work *work);

/*
 * A step of a plan, in which each device receives what it lacks straight from an owner: m alpha + b
 * beta + r gamma for m sources, the b bytes of the busiest device and r bytes reduced. Between even
 * shards that is the direct algorithm of the collective that the step is.
 */
coll_work cost_exchange(int64_t sources, int64_t bytes, double reduced);
/* A slice: delta for each byte that a device keeps. */
coll_work cost_slice(double bytes);
/* An op on local parts, as fast as a reduction: gamma for each byte of an element at each point. */
coll_work cost_compute(double points, int64_t item_bytes);

/* All-gather around a ring, or directly: (p-1) alpha + n(p-1)/p beta */
coll_work cost_all_gather_ring(double n, int64_t p);
/* All-gather, Bruck's: lg p alpha + n(p-1)/p beta + n delta */
coll_work cost_all_gather_bruck(double n, int64_t p);
/* Reduce-scatter by halving: lg p alpha + n(p-1)/p (beta + gamma) + n delta */
coll_work cost_reduce_scatter_halving(double n, int64_t p);
/* Reduce-scatter in pairs, or directly: (p-1) alpha + n(p-1)/p (beta + gamma) */
coll_work cost_reduce_scatter_pairwise(double n, int64_t p);
/* All-reduce, Rabenseifner's: 2 lg p alpha + 2n(p-1)/p beta + n(p-1)/p gamma + 2n delta */
coll_work cost_all_reduce_rabenseifner(double n, int64_t p);
/*
 * All-reduce by doubling: lg p (alpha + n (beta + gamma)) + n delta; and alpha + n beta more unless
 * p is a power of two, since those above it send their source first and receive the result last.
 */
coll_work cost_all_reduce_doubling(double n, int64_t p);
/* All-reduce in shares, sent directly: 2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma */
coll_work cost_all_reduce_shares(double n, int64_t p);
/* All-reduce where each member gets all sources: (p-1) alpha + n(p-1) (beta + gamma) */
coll_work cost_all_reduce_direct(double n, int64_t p);
/*
 * All-reduce where each member gets all sources by Bruck's all-gather: lg p alpha + n(p-1) (beta +
 * gamma) + n delta
 */
coll_work cost_all_reduce_gather(double n, int64_t p);
/* All-to-all in pairs, n on each member: (p-1) alpha + n(p-1)/p beta */
coll_work cost_all_to_all_pairwise(double n, int64_t p);
/*
 * All-to-all, Bruck's, n on each member: lg p alpha + n s/p beta + (2n + 2n s/p) delta, where s is
 * how many bits are set in the numbers below p: s/p is (lg p)/2 where p is a power of two.
 */
coll_work cost_all_to_all_bruck(double n, int64_t p);
/* Scatter or gather, with counts or without, by the root alone: (p-1) alpha + n(p-1)/p beta */
coll_work cost_scatter_linear(double n, int64_t p);
/* Broadcast by the root alone: (p-1) alpha + n(p-1) beta; each of the others gets n */
coll_work cost_broadcast_linear(double n, int64_t p);
/* Broadcast along a binomial tree: lg p (alpha + n beta) */
coll_work cost_broadcast_tree(double n, int64_t p);
/* Broadcast where all read from the root at once: alpha + n beta */
coll_work cost_broadcast_pull(double n, int64_t p);
/* Permutation, one message each: alpha + n beta */
coll_work cost_permute(double n, int64_t p);

#endif
