#include "coll/cost.h"

/* Messages in a row when each member talks to every other. */
static double others(int64_t p)
{
    return (double)(p - 1);
}

/* Messages in a row when what is known doubles with each: ceil(log2 p). */
static double rounds(int64_t p)
{
    int64_t known = 1;
    int count = 0;
    for (; known < p; known *= 2) {
        count++;
    }
    return count;
}

/* What a member lacks, or sends, of n bytes in equal shares. */
static double lacking(double n, int64_t p)
{
    return n * others(p) / (double)p;
}

double cost_all_gather_ring(const coll_link *link, double n, int64_t p)
{
    return others(p) * link->alpha + lacking(n, p) * link->beta;
}

double cost_all_gather_doubling(const coll_link *link, double n, int64_t p)
{
    return rounds(p) * link->alpha + lacking(n, p) * link->beta;
}

double cost_reduce_scatter_halving(const coll_link *link, double n, int64_t p)
{
    return rounds(p) * link->alpha + lacking(n, p) * (link->beta + link->gamma);
}

double cost_reduce_scatter_pairwise(const coll_link *link, double n, int64_t p)
{
    return others(p) * link->alpha + lacking(n, p) * (link->beta + link->gamma);
}

double cost_all_reduce_rabenseifner(const coll_link *link, double n, int64_t p)
{
    return 2 * rounds(p) * link->alpha + lacking(n, p) * (2 * link->beta + link->gamma);
}

double cost_all_reduce_shares(const coll_link *link, double n, int64_t p)
{
    return 2 * others(p) * link->alpha + lacking(n, p) * (2 * link->beta + link->gamma);
}

double cost_all_reduce_direct(const coll_link *link, double n, int64_t p)
{
    return others(p) * (link->alpha + n * (link->beta + link->gamma));
}

double cost_all_to_all_pairwise(const coll_link *link, double n, int64_t p)
{
    return others(p) * link->alpha + lacking(n, p) * link->beta;
}

double cost_all_to_all_bruck(const coll_link *link, double n, int64_t p)
{
    return rounds(p) * (link->alpha + n / 2 * link->beta);
}

double cost_scatter_linear(const coll_link *link, double n, int64_t p)
{
    return others(p) * link->alpha + lacking(n, p) * link->beta;
}

double cost_broadcast_linear(const coll_link *link, double n, int64_t p)
{
    return others(p) * (link->alpha + n * link->beta);
}

double cost_broadcast_pull(const coll_link *link, double n, int64_t p)
{
    return p > 1 ? link->alpha + n * link->beta : 0;
}

double cost_permute(const coll_link *link, double n, int64_t p)
{
    return p > 1 ? link->alpha + n * link->beta : 0;
}

static const coll_algorithm algorithms[] = {
    {COLL_BROADCAST, "linear", cost_broadcast_linear},
    {COLL_BROADCAST, "pull", cost_broadcast_pull},
    {COLL_SCATTER, "linear", cost_scatter_linear},
    {COLL_GATHER, "linear", cost_scatter_linear},
    {COLL_ALL_GATHER, "ring", cost_all_gather_ring},
    {COLL_ALL_GATHER, "doubling", cost_all_gather_doubling},
    {COLL_ALL_REDUCE, "rabenseifner", cost_all_reduce_rabenseifner},
    {COLL_ALL_REDUCE, "shares", cost_all_reduce_shares},
    {COLL_ALL_REDUCE, "direct", cost_all_reduce_direct},
    {COLL_REDUCE_SCATTER, "halving", cost_reduce_scatter_halving},
    {COLL_REDUCE_SCATTER, "pairwise", cost_reduce_scatter_pairwise},
    {COLL_ALL_TO_ALL, "pairwise", cost_all_to_all_pairwise},
    {COLL_ALL_TO_ALL, "bruck", cost_all_to_all_bruck},
    {COLL_PERMUTE, "direct", cost_permute},
};

const coll_algorithm *coll_algorithms(size_t *count)
{
    *count = sizeof algorithms / sizeof algorithms[0];
    return algorithms;
}
