/*
 * The works that are measured, the same in every program and on every kind of ranks: the layout of
 * a tensor before and after each, what it must hold then, and the required ratio to memcpy.
 */
#ifndef BENCH_WORKS_H
#define BENCH_WORKS_H

#include "bench.h"

#include <tessera/collective.h>

enum { WORK_DIMS = 3, WORK_BOXES = 64, WORK_RANKS = 8, SRC = 0, DST = 1 };

/* The collective that is the same work, if one is. */
typedef enum work_collective {
    NO_COLLECTIVE,
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_REDUCE,
    ALL_TO_ALL
} work_collective;

/* One work on an f32 tensor. `wanted` is times memcpy, 0 where the issue wants nothing. */
typedef struct work_row {
    const char *name;
    const char
        *layouts[2]; /* with ' for ", and characters for what depends on the number of ranks */
    size_t rank;
    int64_t shape[WORK_DIMS]; /* for 1 MiB */
    int64_t more[WORK_DIMS];  /* added after the size */
    size_t grows;             /* the extent that grows with the size */
    double wanted_threads;
    double wanted_mpi;
    int64_t least_ranks;
    work_collective collective;
    bool replicated; /* every rank has the whole source */
    bool pending;    /* the source is to be summed */
} work_row;

extern const work_row work_rows[];
extern const size_t num_work_rows;

/* Contiguous rows of a shard: where they are in the tensor and in the shard. */
typedef struct work_box {
    int64_t start[WORK_DIMS];
    int64_t size[WORK_DIMS];
    int64_t local[WORK_DIMS];
} work_box;

/* What a rank holds; tensors of less than three dimensions get dimensions of 1 in front. */
typedef struct work_part {
    int64_t shape[WORK_DIMS];
    size_t bytes;
    size_t num_boxes;
    work_box boxes[WORK_BOXES];
} work_part;

/* A work of a size: the whole tensor has about so many MiB. */
typedef struct work_case {
    const work_row *row;
    int64_t mebibytes;
    int64_t ranks;
    int64_t shape[WORK_DIMS];
    tsr_arena *arena;
    const tsr_sharding *shardings[2];
    work_part parts[2][WORK_RANKS];
} work_case;

void work_open(tsr_comm *world, const work_row *row, int64_t mebibytes, work_case *out);
void work_close(work_case *c);

tsr_tensor_spec work_spec(const work_case *c, int side);

/* What a rank's part holds, written or compared; of the source, or of the destination. */
void work_fill(const work_case *c, int64_t rank, void *data);
bool work_is_right(const work_case *c, int64_t rank, void *data);

/* The bytes of a rank's larger part: what memcpy copies, the limit. */
size_t work_limit_bytes(const work_case *c, int64_t rank);

#endif
