#include "coll/level_cost.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define PS_PER_S INT64_C(1000000000000)

typedef __int128 wide;

static int64_t clamp(wide value)
{
    return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static int64_t times(int64_t a, int64_t b)
{
    return clamp((wide)a * b);
}

/* Bytes over a bandwidth in picoseconds, rounded up. */
static wide transfer(int64_t bytes, int64_t bandwidth)
{
    return ((wide)bytes * PS_PER_S + bandwidth - 1) / bandwidth;
}

int64_t level_nanoseconds(const tsr_topology_spec *t, const level_work *w)
{
    wide sum = transfer(w->reduced, t->reduce_bandwidth) + transfer(w->copied, t->copy_bandwidth);
    wide longest = 0;
    for (size_t i = 0; i < t->num_levels; i++) {
        const wide time = transfer(w->bytes[i], t->levels[i].bandwidth);
        longest = time > longest ? time : longest;
        sum += (wide)w->rounds[i] * t->levels[i].latency;
    }
    return clamp((sum + longest + 999) / 1000);
}

int level_compare(const tsr_topology_spec *t, const level_work *a, const level_work *b)
{
    const int64_t time_a = level_nanoseconds(t, a);
    const int64_t time_b = level_nanoseconds(t, b);
    if (time_a != time_b) {
        return time_a < time_b ? -1 : 1;
    }
    for (size_t i = 0; i < t->num_levels; i++) {
        if (a->bytes[i] != b->bytes[i]) {
            return a->bytes[i] < b->bytes[i] ? -1 : 1;
        }
    }
    return 0;
}

int64_t level_peers(const level_group *g, size_t num_levels, int64_t *peers)
{
    int64_t inner = 1;
    for (size_t i = num_levels; i-- > 0;) {
        peers[i] = times(g->sizes[i] - 1, inner);
        inner = times(g->sizes[i], inner);
    }
    return inner - 1;
}

/* In pairs: from each peer a share; of an all-reduce two, since it gathers what it has reduced. */
static level_work in_pairs(const tsr_topology_spec *t, const level_call *call)
{
    const bool both = call->kind == COLL_ALL_REDUCE;
    int64_t peers[TSR_MAX_LEVELS];
    level_work w = {.copied = call->copied};
    const int64_t others = level_peers(&call->group, t->num_levels, peers);
    for (size_t i = 0; i < t->num_levels; i++) {
        w.rounds[i] = times(peers[i], both ? 2 : 1);
        w.bytes[i] = times(w.rounds[i], call->share);
    }
    if (coll_has(coll_row_of(call->kind), COLL_HAS_OP)) {
        w.reduced = times(others, call->share);
    }
    if (call->known != NULL) {
        memcpy(w.bytes, call->known->bytes, sizeof w.bytes);
        memcpy(w.rounds, call->known->rounds, sizeof w.rounds);
    }
    return w;
}

/* The level at which all members differ; the number of levels if they differ at several. */
static size_t only_level(const tsr_topology_spec *t, const level_group *g)
{
    size_t found = t->num_levels;
    for (size_t i = 0; i < t->num_levels; i++) {
        if (g->sizes[i] > 1) {
            if (found < t->num_levels) {
                return t->num_levels;
            }
            found = i;
        }
    }
    return found;
}

/* Whole bytes or rounds of a formula. Products of shares are exact below 2^53. */
static int64_t whole(double value)
{
    const double up = ceil(value);
    return up < 9e18 ? (int64_t)up : INT64_MAX;
}

static level_work at_level(const coll_algorithm *a, const level_call *call, size_t level)
{
    const int64_t p = call->group.sizes[level];
    const coll_work work = a->cost((double)p * (double)call->share, p);
    level_work w = {.reduced = whole(work.reduced),
                    .copied = clamp((wide)whole(work.copied) + call->copied)};
    w.rounds[level] = whole(work.messages);
    w.bytes[level] = whole(work.bytes);
    return w;
}

const char *level_cheapest(const tsr_topology_spec *t, const level_call *call, level_work *out)
{
    const char *name = "pairwise";
    const size_t level = only_level(t, &call->group);
    size_t count = 0;
    const coll_algorithm *all = coll_algorithms(&count);
    *out = in_pairs(t, call);
    for (size_t i = 0; i < count && level < t->num_levels && call->known == NULL; i++) {
        if (all[i].kind != call->kind || !all[i].shown.ordered) {
            continue;
        }
        const level_work w = at_level(&all[i], call, level);
        if (level_compare(t, &w, out) < 0) {
            *out = w;
            name = all[i].shown.name;
        }
    }
    return name;
}
