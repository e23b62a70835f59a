/*
 * The cost model of collectives: alpha for each message of the longest sequence, beta for each byte
 * that a member sends or receives, gamma for each byte that it reduces, delta for each byte that
 * the algorithm has it copy; seconds. n is the whole array in bytes (for all-to-all what each
 * member holds), p the size of the group, lg p the rounds of a doubling, ceil(log2 p). A group of
 * one costs nothing.
 */
#ifndef COLL_COST_H
#define COLL_COST_H

#include <tessera/algorithm.h>

typedef tsr_link coll_link;
typedef double (*coll_cost)(const coll_link *link, double n, int64_t p);

/* All-gather around a ring, or directly: (p-1) alpha + n(p-1)/p beta */
double cost_all_gather_ring(const coll_link *link, double n, int64_t p);
/* All-gather, Bruck's: lg p alpha + n(p-1)/p beta + n delta */
double cost_all_gather_bruck(const coll_link *link, double n, int64_t p);
/* Reduce-scatter by halving: lg p alpha + n(p-1)/p (beta + gamma) + n delta */
double cost_reduce_scatter_halving(const coll_link *link, double n, int64_t p);
/* Reduce-scatter in pairs, or directly: (p-1) alpha + n(p-1)/p (beta + gamma) */
double cost_reduce_scatter_pairwise(const coll_link *link, double n, int64_t p);
/* All-reduce, Rabenseifner's: 2 lg p alpha + 2n(p-1)/p beta + n(p-1)/p gamma + 2n delta */
double cost_all_reduce_rabenseifner(const coll_link *link, double n, int64_t p);
/*
 * All-reduce by doubling: lg p (alpha + n (beta + gamma)) + n delta; and alpha + n beta more unless
 * p is a power of two, since those above it send their source first and receive the result last.
 */
double cost_all_reduce_doubling(const coll_link *link, double n, int64_t p);
/* All-reduce in shares, sent directly: 2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma */
double cost_all_reduce_shares(const coll_link *link, double n, int64_t p);
/* All-reduce where each member gets all sources: (p-1) alpha + n(p-1) (beta + gamma) */
double cost_all_reduce_direct(const coll_link *link, double n, int64_t p);
/*
 * All-reduce where each member gets all sources by Bruck's all-gather: lg p alpha + n(p-1) (beta +
 * gamma) + n delta
 */
double cost_all_reduce_gather(const coll_link *link, double n, int64_t p);
/* All-to-all in pairs, n on each member: (p-1) alpha + n(p-1)/p beta */
double cost_all_to_all_pairwise(const coll_link *link, double n, int64_t p);
/*
 * All-to-all, Bruck's, n on each member: lg p alpha + n s/p beta + (2n + 2n s/p) delta, where s is
 * how many bits are set in the numbers below p: s/p is (lg p)/2 where p is a power of two.
 */
double cost_all_to_all_bruck(const coll_link *link, double n, int64_t p);
/* Scatter or gather, with counts or without, by the root alone: (p-1) alpha + n(p-1)/p beta */
double cost_scatter_linear(const coll_link *link, double n, int64_t p);
/* Broadcast by the root alone: (p-1) alpha + n(p-1) beta; each of the others gets n */
double cost_broadcast_linear(const coll_link *link, double n, int64_t p);
/* Broadcast along a binomial tree: lg p (alpha + n beta) */
double cost_broadcast_tree(const coll_link *link, double n, int64_t p);
/* Broadcast where all read from the root at once: alpha + n beta */
double cost_broadcast_pull(const coll_link *link, double n, int64_t p);
/* Permutation, one message each: alpha + n beta */
double cost_permute(const coll_link *link, double n, int64_t p);

#endif
