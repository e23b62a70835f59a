/*
 * What collectives cost: alpha for each message in a row, beta for each byte that a member sends or
 * gets, gamma for each byte that it reduces; seconds. n is the whole array in bytes (for all-to-all
 * what each member holds), p the size of the group, lg p the rounds of a doubling, ceil(log2 p).
 * A group of one costs nothing.
 */
#ifndef COLL_COST_H
#define COLL_COST_H

#include <tessera/base.h>

#include "coll/collective.h"

/* A link between members. */
typedef struct coll_link {
    double alpha;
    double beta;
    double gamma;
} coll_link;

typedef double (*coll_cost)(const coll_link *link, double n, int64_t p);

/* All-gather around a ring, or by a direct exchange: (p-1) alpha + n(p-1)/p beta */
double cost_all_gather_ring(const coll_link *link, double n, int64_t p);
/* All-gather by recursive doubling, or Bruck's: lg p alpha + n(p-1)/p beta */
double cost_all_gather_doubling(const coll_link *link, double n, int64_t p);
/* Reduce-scatter by halving: lg p alpha + n(p-1)/p (beta + gamma) */
double cost_reduce_scatter_halving(const coll_link *link, double n, int64_t p);
/* Reduce-scatter in pairs, or by a direct exchange: (p-1) alpha + n(p-1)/p (beta + gamma) */
double cost_reduce_scatter_pairwise(const coll_link *link, double n, int64_t p);
/* All-reduce, Rabenseifner's: 2 lg p alpha + 2n(p-1)/p beta + n(p-1)/p gamma */
double cost_all_reduce_rabenseifner(const coll_link *link, double n, int64_t p);
/* All-reduce in shares, exchanged directly: 2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma */
double cost_all_reduce_shares(const coll_link *link, double n, int64_t p);
/* All-reduce where each member gets all sources: (p-1) alpha + n(p-1) (beta + gamma) */
double cost_all_reduce_direct(const coll_link *link, double n, int64_t p);
/* All-to-all in pairs, n on each member: (p-1) alpha + n(p-1)/p beta */
double cost_all_to_all_pairwise(const coll_link *link, double n, int64_t p);
/* All-to-all, Bruck's, n on each member: lg p alpha + (n/2) lg p beta */
double cost_all_to_all_bruck(const coll_link *link, double n, int64_t p);
/* Scatter or gather, with counts or without, by the root alone: (p-1) alpha + n(p-1)/p beta */
double cost_scatter_linear(const coll_link *link, double n, int64_t p);
/* Broadcast by the root alone: (p-1) alpha + n(p-1) beta; each of the others gets n */
double cost_broadcast_linear(const coll_link *link, double n, int64_t p);
/* Broadcast where all read from the root at once: alpha + n beta */
double cost_broadcast_pull(const coll_link *link, double n, int64_t p);
/* Permutation, one message each: alpha + n beta */
double cost_permute(const coll_link *link, double n, int64_t p);

/* A formula by its algorithm. */
typedef struct coll_algorithm {
    coll_kind kind;
    const char *name; /* "ring" */
    coll_cost cost;
} coll_algorithm;

/* All of them, the collectives in the order of their rows. */
const coll_algorithm *coll_algorithms(size_t *count);

#endif
