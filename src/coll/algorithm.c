#include "coll/algorithm.h"

#define SHARED .shared = true
#define MESSAGES .messages = true
#define ANYWHERE SHARED, MESSAGES

/* The names of collectives, as constants. */
#define COLLECTIVE(kind, name, op, step, step_name, call, traits)                                  \
    static const char name_of_##kind[] = name;
#include "coll/collectives.def"
#undef COLLECTIVE

#define ROW(kind_, name_, method_, cost_, formula_, ...)                                           \
    {                                                                                              \
        .shown = {.collective = name_of_##kind_,                                                   \
                  .name = (name_),                                                                 \
                  .formula = (formula_),                                                           \
                  __VA_ARGS__},                                                                    \
        .kind = (kind_), .method = (method_), .cost = (cost_)                                      \
    }
/* An algorithm that moves, one that folds in group order, one that folds in another order. */
#define MOVES(...) .ordered = true, __VA_ARGS__
#define ORDERED(...) .reduces = true, .ordered = true, __VA_ARGS__
#define UNORDERED(...) .reduces = true, __VA_ARGS__

#define LINEAR_FORM "(p-1) a + n(p-1)/p b"
#define BRUCK_FORM "lg p a + n(p-1)/p b + n d"
#define PAIRWISE_FORM "(p-1) a + n(p-1)/p (b+g)"
#define HALVING_FORM "lg p a + n(p-1)/p (b+g) + n d"

/* clang-format off */
static const coll_algorithm table[] = {
    ROW(COLL_BROADCAST, "pull", BY_PULL, cost_broadcast_pull,
        "a + n b", MOVES(SHARED)),
    ROW(COLL_BROADCAST, "linear", BY_DIRECT, cost_broadcast_linear,
        "(p-1) a + n(p-1) b", MOVES(MESSAGES)),
    ROW(COLL_BROADCAST, "tree", BY_TREE, cost_broadcast_tree,
        "lg p (a + n b)", MOVES(MESSAGES)),
    ROW(COLL_SCATTER, "linear", BY_DIRECT, cost_scatter_linear, LINEAR_FORM,
        MOVES(ANYWHERE)),
    ROW(COLL_GATHER, "linear", BY_DIRECT, cost_scatter_linear, LINEAR_FORM,
        MOVES(ANYWHERE)),
    ROW(COLL_ALL_GATHER, "direct", BY_DIRECT, cost_all_gather_ring, LINEAR_FORM,
        MOVES(ANYWHERE)),
    ROW(COLL_ALL_GATHER, "ring", BY_RING, cost_all_gather_ring, LINEAR_FORM,
        MOVES(MESSAGES)),
    ROW(COLL_ALL_GATHER, "bruck", BY_BRUCK, cost_all_gather_bruck, BRUCK_FORM,
        MOVES(MESSAGES)),
    ROW(COLL_ALL_REDUCE, "shares", BY_SHARES, cost_all_reduce_shares,
        "2(p-1) a + 2n(p-1)/p b + n(p-1)/p g", ORDERED(ANYWHERE)),
    ROW(COLL_ALL_REDUCE, "direct", BY_FOLD, cost_all_reduce_direct,
        "(p-1) a + n(p-1) (b+g)", ORDERED(MESSAGES)),
    ROW(COLL_ALL_REDUCE, "gather", BY_GATHER, cost_all_reduce_gather,
        "lg p a + n(p-1) (b+g) + n d", ORDERED(MESSAGES)),
    ROW(COLL_ALL_REDUCE, "doubling", BY_DOUBLING, cost_all_reduce_doubling,
        "lg p (a + n(b+g)) + n d [+ a + n b]",
        UNORDERED(MESSAGES)),
    ROW(COLL_ALL_REDUCE, "rabenseifner", BY_RABENSEIFNER, cost_all_reduce_rabenseifner,
        "2 lg p a + 2n(p-1)/p b + n(p-1)/p g + 2n d",
        UNORDERED(MESSAGES)),
    ROW(COLL_REDUCE_SCATTER, "pairwise", BY_FOLD, cost_reduce_scatter_pairwise, PAIRWISE_FORM,
        ORDERED(ANYWHERE)),
    ROW(COLL_REDUCE_SCATTER, "halving", BY_HALVING, cost_reduce_scatter_halving, HALVING_FORM,
        UNORDERED(MESSAGES)),
    ROW(COLL_ALL_TO_ALL, "pairwise", BY_DIRECT, cost_all_to_all_pairwise, LINEAR_FORM,
        MOVES(ANYWHERE)),
    ROW(COLL_ALL_TO_ALL, "bruck", BY_BRUCK_TO_ALL, cost_all_to_all_bruck,
        "lg p a + n s/p b + (2n + 2n s/p) d",
        MOVES(MESSAGES)),
    ROW(COLL_PERMUTE, "direct", BY_DIRECT, cost_permute, "a + n b",
        MOVES(ANYWHERE)),
    ROW(COLL_SCATTER_V, "linear", BY_DIRECT, cost_scatter_linear, LINEAR_FORM,
        MOVES(ANYWHERE)),
    ROW(COLL_GATHER_V, "linear", BY_DIRECT, cost_scatter_linear, LINEAR_FORM,
        MOVES(ANYWHERE)),
    ROW(COLL_ALL_GATHER_V, "direct", BY_DIRECT, cost_all_gather_ring, LINEAR_FORM,
        MOVES(ANYWHERE)),
    ROW(COLL_ALL_GATHER_V, "ring", BY_RING, cost_all_gather_ring, LINEAR_FORM,
        MOVES(MESSAGES)),
    ROW(COLL_ALL_GATHER_V, "bruck", BY_BRUCK, cost_all_gather_bruck, BRUCK_FORM,
        MOVES(MESSAGES)),
    ROW(COLL_REDUCE_SCATTER_V, "pairwise", BY_FOLD, cost_reduce_scatter_pairwise, PAIRWISE_FORM,
        ORDERED(ANYWHERE)),
    ROW(COLL_REDUCE_SCATTER_V, "halving", BY_HALVING, cost_reduce_scatter_halving, HALVING_FORM,
        UNORDERED(MESSAGES)),
    ROW(COLL_ALL_TO_ALL_V, "pairwise", BY_DIRECT, cost_all_to_all_pairwise, LINEAR_FORM,
        MOVES(ANYWHERE)),
};
/* clang-format on */

static const size_t num_rows = sizeof table / sizeof table[0];

const coll_algorithm *coll_algorithms(size_t *count)
{
    *count = num_rows;
    return table;
}

double coll_price(const coll_algorithm *a, const tsr_link *link, double bytes, int64_t members)
{
    const coll_work work = a->cost(bytes, members);
    return coll_seconds(link, &work);
}

size_t coll_algorithm_index(const coll_algorithm *algorithm)
{
    return (size_t)(algorithm - table);
}

static bool may_use(const coll_choices *choices, const coll_algorithm *a, bool average)
{
    const bool here = choices->medium == TSR_MEDIUM_SHARED ? a->shown.shared : a->shown.messages;
    return here && (a->shown.ordered || (choices->unordered && !average));
}

const coll_algorithm *coll_choose(const coll_choices *choices, coll_kind kind, bool average,
                                  double bytes, int64_t members)
{
    const coll_algorithm *best = choices->set[kind];
    double least = 0;
    if (best != NULL && may_use(choices, best, average)) {
        return best;
    }
    best = NULL;
    for (const coll_algorithm *a = table; a < table + num_rows; a++) {
        if (a->kind != kind || !may_use(choices, a, average)) {
            continue;
        }
        const double cost = coll_price(a, &choices->link, bytes, members);
        if (best == NULL || cost < least) {
            best = a;
            least = cost;
        }
    }
    return best;
}
