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

double coll_seconds(const tsr_link *link, const coll_work *work)
{
    return work->messages * link->alpha + work->bytes * link->beta + work->reduced * link->gamma +
           work->copied * link->delta;
}

coll_work cost_exchange(int64_t sources, int64_t bytes, double reduced)
{
    return (coll_work){.messages = (double)sources, .bytes = (double)bytes, .reduced = reduced};
}

coll_work cost_slice(double bytes)
{
    return (coll_work){.copied = bytes};
}

coll_work cost_compute(double points, int64_t item_bytes)
{
    return (coll_work){.reduced = points * (double)item_bytes};
}

coll_work cost_all_gather_ring(double n, int64_t p)
{
    return (coll_work){.messages = others(p), .bytes = lacking(n, p)};
}

coll_work cost_all_gather_bruck(double n, int64_t p)
{
    return (coll_work){.messages = rounds(p), .bytes = lacking(n, p), .copied = copied(n, p)};
}

coll_work cost_reduce_scatter_halving(double n, int64_t p)
{
    return (coll_work){.messages = rounds(p),
                       .bytes = lacking(n, p),
                       .reduced = lacking(n, p),
                       .copied = copied(n, p)};
}

coll_work cost_reduce_scatter_pairwise(double n, int64_t p)
{
    return (coll_work){.messages = others(p), .bytes = lacking(n, p), .reduced = lacking(n, p)};
}

coll_work cost_all_reduce_rabenseifner(double n, int64_t p)
{
    return (coll_work){.messages = 2 * rounds(p),
                       .bytes = 2 * lacking(n, p),
                       .reduced = lacking(n, p),
                       .copied = 2 * copied(n, p)};
}

coll_work cost_all_reduce_doubling(double n, int64_t p)
{
    const double more = (p & (p - 1)) != 0 ? 1 : 0;
    return (coll_work){.messages = rounds(p) + more,
                       .bytes = (rounds(p) + more) * n,
                       .reduced = rounds(p) * n,
                       .copied = copied(n, p)};
}

coll_work cost_all_reduce_shares(double n, int64_t p)
{
    return (coll_work){
        .messages = 2 * others(p), .bytes = 2 * lacking(n, p), .reduced = lacking(n, p)};
}

coll_work cost_all_reduce_direct(double n, int64_t p)
{
    return (coll_work){.messages = others(p), .bytes = others(p) * n, .reduced = others(p) * n};
}

coll_work cost_all_reduce_gather(double n, int64_t p)
{
    return (coll_work){.messages = rounds(p),
                       .bytes = others(p) * n,
                       .reduced = others(p) * n,
                       .copied = copied(n, p)};
}

coll_work cost_all_to_all_pairwise(double n, int64_t p)
{
    return (coll_work){.messages = others(p), .bytes = lacking(n, p)};
}

coll_work cost_all_to_all_bruck(double n, int64_t p)
{
    const double moved = n * bits_below(p) / (double)p;
    return (coll_work){.messages = rounds(p), .bytes = moved, .copied = 2 * (copied(n, p) + moved)};
}

coll_work cost_scatter_linear(double n, int64_t p)
{
    return (coll_work){.messages = others(p), .bytes = lacking(n, p)};
}

coll_work cost_broadcast_linear(double n, int64_t p)
{
    return (coll_work){.messages = others(p), .bytes = others(p) * n};
}

coll_work cost_broadcast_tree(double n, int64_t p)
{
    return (coll_work){.messages = rounds(p), .bytes = rounds(p) * n};
}

coll_work cost_broadcast_pull(double n, int64_t p)
{
    return (coll_work){.messages = p > 1, .bytes = p > 1 ? n : 0};
}

coll_work cost_permute(double n, int64_t p)
{
    return (coll_work){.messages = p > 1, .bytes = p > 1 ? n : 0};
}
