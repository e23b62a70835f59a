#include "coll/collective.h"

static const coll_row rows[COLL_COUNT] = {
    [COLL_BROADCAST] = {"broadcast", "tsr_comm_broadcast", COLL_ROOT_SENDS | COLL_ONE_VIEW},
    [COLL_SCATTER] = {"scatter", "tsr_comm_scatter", COLL_ROOT_SENDS | COLL_CUTS_SRC},
    [COLL_GATHER] = {"gather", "tsr_comm_gather", COLL_ROOT_RECEIVES | COLL_CUTS_DST},
    [COLL_ALL_GATHER] = {"all-gather", "tsr_comm_all_gather", COLL_CUTS_DST},
    [COLL_ALL_REDUCE] = {"all-reduce", "tsr_comm_all_reduce", COLL_HAS_OP | COLL_IN_PLACE},
    [COLL_REDUCE_SCATTER] = {"reduce-scatter", "tsr_comm_reduce_scatter",
                             COLL_HAS_OP | COLL_CUTS_SRC},
    [COLL_ALL_TO_ALL] = {"all-to-all", "tsr_comm_all_to_all", COLL_CUTS_SRC | COLL_CUTS_DST},
    [COLL_PERMUTE] = {"collective-permute", "tsr_comm_permute", COLL_HAS_DESTINATIONS},
    [COLL_SCATTER_V] = {"scatter-v", "tsr_comm_scatter_v",
                        COLL_ROOT_SENDS | COLL_CUTS_SRC | COLL_HAS_COUNTS},
    [COLL_GATHER_V] = {"gather-v", "tsr_comm_gather_v",
                       COLL_ROOT_RECEIVES | COLL_CUTS_DST | COLL_HAS_COUNTS},
    [COLL_ALL_GATHER_V] = {"all-gather-v", "tsr_comm_all_gather_v",
                           COLL_CUTS_DST | COLL_HAS_COUNTS},
    [COLL_REDUCE_SCATTER_V] = {"reduce-scatter-v", "tsr_comm_reduce_scatter_v",
                               COLL_HAS_OP | COLL_CUTS_SRC | COLL_HAS_COUNTS},
    [COLL_ALL_TO_ALL_V] = {"all-to-all-v", "tsr_comm_all_to_all_v",
                           COLL_CUTS_SRC | COLL_CUTS_DST | COLL_HAS_COUNTS | COLL_COUNTS_DIFFER},
};

const coll_row *coll_row_of(coll_kind kind)
{
    return &rows[kind];
}
