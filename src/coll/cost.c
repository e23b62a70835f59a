#include "coll/cost.h"

/* Sequential messages when each member sends to every other. */
static double others(int64_t p)
{
    return (double)(p - 1);
}

/* Sequential messages when the known data doubles with each: ceil(log2 p). */
static double rounds(int64_t p)
{
    int count = 0;
    for (uint64_t known = 1; known < (uint64_t)p; known *= 2) {
        count++;
    }
    return count;
}

/* What a member receives, or sends, of n bytes in equal shares. */
static double lacking(double n, int64_t p)
{
    return n * others(p) / (double)p;
}

/* What a member copies of n bytes: nothing in a group of one. */
static double copied(double n, int64_t p)
{
    return p > 1 ? n : 0;
}

/* How many bits are set in the numbers below p, all together. */
static double bits_below(int64_t p)
{
    double count = 0;
    for (uint64_t bit = 1; bit < (uint64_t)p; bit *= 2) {
        const uint64_t whole = (uint64_t)p / (2 * bit) * bit;
        const uint64_t rest = (uint64_t)p % (2 * bit);
        count += (double)(whole + (rest > bit ? rest - bit : 0));
    }
    return count;
}

double cost_all_gather_ring(const coll_link *link, double n, int64_t p)
{
    return others(p) * link->alpha + lacking(n, p) * link->beta;
}

double cost_all_gather_bruck(const coll_link *link, double n, int64_t p)
{
    return rounds(p) * link->alpha + lacking(n, p) * link->beta + copied(n, p) * link->delta;
}

double cost_reduce_scatter_halving(const coll_link *link, double n, int64_t p)
{
    return rounds(p) * link->alpha + lacking(n, p) * (link->beta + link->gamma) +
           copied(n, p) * link->delta;
}

double cost_reduce_scatter_pairwise(const coll_link *link, double n, int64_t p)
{
    return others(p) * link->alpha + lacking(n, p) * (link->beta + link->gamma);
}

double cost_all_reduce_rabenseifner(const coll_link *link, double n, int64_t p)
{
    return 2 * rounds(p) * link->alpha + lacking(n, p) * (2 * link->beta + link->gamma) +
           2 * copied(n, p) * link->delta;
}

double cost_all_reduce_doubling(const coll_link *link, double n, int64_t p)
{
    const double more = (p & (p - 1)) != 0 ? 1 : 0;
    return (rounds(p) + more) * (link->alpha + n * link->beta) + rounds(p) * n * link->gamma +
           copied(n, p) * link->delta;
}

double cost_all_reduce_shares(const coll_link *link, double n, int64_t p)
{
    return 2 * others(p) * link->alpha + lacking(n, p) * (2 * link->beta + link->gamma);
}

double cost_all_reduce_direct(const coll_link *link, double n, int64_t p)
{
    return others(p) * (link->alpha + n * (link->beta + link->gamma));
}

double cost_all_reduce_gather(const coll_link *link, double n, int64_t p)
{
    return rounds(p) * link->alpha + others(p) * n * (link->beta + link->gamma) +
           copied(n, p) * link->delta;
}

double cost_all_to_all_pairwise(const coll_link *link, double n, int64_t p)
{
    return others(p) * link->alpha + lacking(n, p) * link->beta;
}

double cost_all_to_all_bruck(const coll_link *link, double n, int64_t p)
{
    const double moved = n * bits_below(p) / (double)p;
    return rounds(p) * link->alpha + moved * link->beta + 2 * (copied(n, p) + moved) * link->delta;
}

double cost_scatter_linear(const coll_link *link, double n, int64_t p)
{
    return others(p) * link->alpha + lacking(n, p) * link->beta;
}

double cost_broadcast_linear(const coll_link *link, double n, int64_t p)
{
    return others(p) * (link->alpha + n * link->beta);
}

double cost_broadcast_tree(const coll_link *link, double n, int64_t p)
{
    return rounds(p) * (link->alpha + n * link->beta);
}

double cost_broadcast_pull(const coll_link *link, double n, int64_t p)
{
    return p > 1 ? link->alpha + n * link->beta : 0;
}

double cost_permute(const coll_link *link, double n, int64_t p)
{
    return p > 1 ? link->alpha + n * link->beta : 0;
}
