/* A random case of placements on one rank: a mesh, a shape, counts, and layouts of all kinds. */
#ifndef JOB_H
#define JOB_H

#include <tessera/tessera.h>

#include "base/diag.h"
#include "rt/comm.h"

/* The layouts that conversions go between. */
typedef enum place_kind {
    WHOLE,
    EVEN,
    DYNAMIC,
    OTHER_SIZES,
    OTHER_DIM,
    UNALIGNED,
    ALIGNED,
    OTHER_OWNERS,
    SHARD_MAJOR, /* dynamic, with the rows that each shard of UNALIGNED has */
    PENDING_SUM,
    PENDING_AVG,
    PENDING_MAX,
    NUM_PLACES
} place_kind;

enum { MAX_RANK = 3 };

/* One random case on one rank. */
typedef struct job {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    tsr_axis_ref axes[2]; /* of the dimension */
    size_t num_axes;
    const tsr_axis_ref *beside; /* an axis for another dimension; NULL for none */
    int64_t shards;
    int64_t partitions;
    int64_t *counts;
    int64_t *owners;
    int64_t alignment;
    size_t rank;
    size_t dim;
    size_t other; /* dimension; the same when there is one only */
    int64_t shape[MAX_RANK];
    const tsr_sharding *at[NUM_PLACES];
    const char *what; /* under way, for messages */
} job;

/* Fails the rank, with what is under way, unless the condition holds. */
#define WANT_JOB(j, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return diag_error(tsr_comm_context((j)->world), TSR_ERR_INVALID, NO_LOCATION,          \
                              "%s: line %d: %s; last message: %s", (j)->what, __LINE__,            \
                              #condition, last_error_text(tsr_comm_context((j)->world)));          \
        }                                                                                          \
    } while (0)

/* The elements that a rank stores, pads among them. */
int64_t local_elements(const tsr_tensor *t);

/*
 * Aligned and unaligned partitions against their definition, on bytes that are no numbers: there
 * and back is the identity, for tensors and for parts in memory.
 */
tsr_status check_partition_laws(job *j);

#endif
