/*
 * How the named conversions of placements run.
 *
 * A conversion checks its arguments and builds the destination's sharding, each rank by itself,
 * then enters a rendezvous (placement_run): with the reason why it refuses, or, in checked mode,
 * with a hash of the sizes and counts, which are compared. The data then moves by tsr_redistribute,
 * or stays where it is when only its meaning changes. Binding (placement_bind.c) may communicate:
 * its first rendezvous is always on the world, which is where a rank that refuses earlier enters as
 * well.
 */
#ifndef RT_PLACEMENT_H
#define RT_PLACEMENT_H

#include <tessera/placement.h>

#include "rt/tensor.h"

/* How a dimension is cut; a set of these is a sum. */
typedef enum dim_kind {
    DIM_WHOLE = 1,
    DIM_EVEN = 2,
    DIM_DYNAMIC = 4,
    DIM_UNALIGNED = 8,
    DIM_ALIGNED = 16
} dim_kind;

dim_kind dim_kind_of(const tsr_dim *dim);
const char *dim_kind_name(dim_kind kind);

struct tsr_conversion {
    tsr_arena *arena;
    const char *name;
    const tsr_sharding *src;
    const tsr_sharding *dst;
    size_t rank;
    const int64_t *shape;
    bool in_place; /* the same memory in another layout */
};

/* A conversion in progress. */
typedef struct conversion_call {
    const char *name;
    tsr_tensor *tensor;
    tsr_conversion *record; /* NULL when there is no memory for it */
    tsr_status status;      /* so far */
    bool known_to_all;      /* all ranks know of the failure */
} conversion_call;

/* Begins a conversion; the source may have a reduction pending or must not. */
conversion_call conversion_begin(const char *name, tsr_tensor *tensor, bool pending);

/* Sets the destination: a placement, bound now if it is not; or the source with another dimension.
 */
void conversion_to(conversion_call *c, const tsr_placement *to);
void conversion_to_dim(conversion_call *c, size_t dim, const tsr_dim *with);

/* Refuses unless the dimension of the tensor has one of these kinds. */
void conversion_check_dim(conversion_call *c, size_t dim, unsigned kinds);

/*
 * Refuses unless the placement has a dimension of these kinds; such a dimension must be of one of
 * `from` in the tensor.
 */
void conversion_check_to(conversion_call *c, const tsr_placement *to, unsigned kinds,
                         unsigned from);

/* Moves the data and ends the conversion. */
tsr_status conversion_end(conversion_call *c, tsr_conversion **record, tsr_tensor **out);

/* A conversion to a placement: its name, and which dimensions it takes. */
typedef struct conversion_row {
    const char *name;
    bool pending;   /* the source may have a reduction pending */
    unsigned kinds; /* of the placement's dimension */
    unsigned from;  /* of that dimension in the source */
} conversion_row;

/* The whole of such a conversion; and of one that makes a dimension whole. */
tsr_status convert_to_placement(const conversion_row *row, tsr_tensor *tensor,
                                const tsr_placement *to, tsr_conversion **record, tsr_tensor **out);
tsr_status convert_to_whole(const conversion_row *row, tsr_tensor *tensor, size_t dim,
                            tsr_conversion **record, tsr_tensor **out);

/*
 * Moves a tensor to a sharding, or with `in_place` makes another tensor of its memory, when all
 * ranks can; `status` says whether this one can.
 */
tsr_status placement_run(const char *name, tsr_tensor *tensor, tsr_status status,
                         const tsr_sharding *to, bool in_place, tsr_tensor **out);

/*
 * A rendezvous with this rank's status and, where it is TSR_OK, its sizes and counts of up to two
 * shardings, NULL for none: a difference is an error on every rank that names the ranks.
 */
tsr_status placement_agree(tsr_comm *world, const char *name, tsr_status status,
                           const tsr_sharding *a, const tsr_sharding *b);

/*
 * tsr_placement_bind under another name, for a sharding of any dimension that is unbound. Fails on
 * every rank alike.
 */
tsr_status placement_bind(tsr_comm *world, const char *name, tsr_arena *arena,
                          const tsr_placement *placement, int64_t extent, const tsr_sharding **out,
                          const char **how);

/*
 * The sharding of a placement with what is bound: the dimension of its amounts, and symbols of the
 * world. What is left unbound is refused but in an abstract world without amounts. *known_to_all:
 * whether all ranks know of a failure.
 */
tsr_status placement_resolve(tsr_comm *world, const char *name, tsr_arena *arena,
                             const tsr_placement *to, const int64_t *shape,
                             const tsr_sharding **out, bool *known_to_all);

/* What is bound: a dimension of a sharding, which has `shards` of it and so many partitions. */
typedef struct bind_target {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_sharding *sharding;
    size_t dim;
    tsr_ragged_kind kind;
    int64_t shards;
    int64_t partitions; /* 0: follows from the numbers */
} bind_target;

/* Refuses amounts that cannot be those of the target; sets its partitions if they are not known. */
tsr_status amounts_check(bind_target *to, const tsr_amounts *amounts);

/* The numbers that this rank has: an array, or what it holds of the tensor. Allocated in the arena.
 */
tsr_status amounts_own(const bind_target *to, const tsr_amounts *amounts, const int64_t **out,
                       size_t *count);

/*
 * All sizes or counts, and how they were derived. Amounts that were checked. `known_to_all` when a
 * failure is known to every rank already; else it is this rank's own.
 */
tsr_status amounts_fetch(const bind_target *to, const tsr_amounts *amounts, const int64_t **out,
                         const char **how, bool *known_to_all);

/* A PartitionedShard as one rank knows it. */
struct tsr_partitioned {
    tsr_comm *world;
    tsr_comm *group; /* the ranks along the dimension's axes, in the order of the shards */
    tsr_arena *arena;
    size_t dim;
    int64_t shards;
    int64_t shard; /* of this rank */
    tsr_ragged ragged;
    const tsr_sharding *sharding; /* unbound */
    const tsr_sharding *bound[2]; /* unaligned, aligned; NULL with a slice */
    const int64_t *row;           /* N */
    const int64_t *columns;       /* shards x owned */
    int64_t first;                /* owned partition */
    int64_t owned;
    bool aligned;
    tsr_counts_scope counts_scope;
    const char *how;
};

/* The rows that an owned partition, counted from the first, is stored in. */
int64_t partition_stored_rows(const tsr_partitioned *p, int64_t index);

/* Divides every element of a float or complex tensor, f16 and bf16 in f32. */
void tensor_divide(tsr_tensor *tensor, int64_t by);
bool tensor_divides(tsr_dtype dtype);

#endif
