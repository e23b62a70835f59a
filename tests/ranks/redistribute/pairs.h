/*
 * Redistribution between pairs of layouts, checked element by element against slices of the full
 * array, and byte by byte against what each rank lacks.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "random.h"

enum { MAX_LAYOUTS = 48, MAX_FAMILIES = 12 };

/* Layouts of one shape over one set of devices. */
typedef struct family {
    const char *name;
    size_t rank;
    int64_t shape[MAX_DIMS];
    const tsr_sharding *layouts[MAX_LAYOUTS];
    size_t count;
} family;

/* One redistribution: layouts of a family. */
typedef struct layout_pair {
    size_t family;
    size_t from;
    size_t to;
} layout_pair;

typedef struct pair_list {
    const family *families;
    layout_pair *pairs;
    size_t count;
} pair_list;

/*
 * Every ordered pair within each family that can be redistributed: the target has nothing pending,
 * or what is pending in the source. Of more than `sample` pairs, when that is above 0, a random
 * choice of so many; the same in every process that has the same TSR_SEED.
 */
pair_list pairs_of(fixture *f, const family *families, size_t count, size_t sample);

/*
 * What a rank runs: all pairs of a list, `state`. The world must have as many ranks as the meshes
 * have devices. Fails with the pair that is wrong.
 */
tsr_status run_pairs(tsr_comm *world, void *state);

/* Launches ranks that run the pairs; fails the test with their message. */
void launch_pairs(fixture *f, int64_t ranks, tsr_ranks kind, pair_list *pairs);

/* The same of random families. */
void check_pairs(fixture *f, int64_t ranks, tsr_ranks kind, size_t sample);

#endif
