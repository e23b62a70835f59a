/* Random meshes, shapes and shardings for property tests. */
#ifndef RANDOM_H
#define RANDOM_H

#include "support.h"

typedef struct rng {
    uint64_t state;
} rng;

/* From TSR_SEED, else a fixed seed; printed, so that a failure can be run again. */
rng rng_start(const char *test);

/* The same for one case, so that a case does not depend on those before it. */
rng rng_case(const rng *r, uint64_t index);

/* 0 .. n-1 */
int64_t rng_below(rng *r, int64_t n);
bool rng_chance(rng *r, int percent);

/* `cases` times TSR_PROP_SCALE. */
int64_t prop_cases(int64_t cases);
/* The same for cases that take sanitizers long: a third of them where tests are sampled. */
int64_t prop_heavy_cases(int64_t cases);

enum { MAX_AXES = 4, MAX_DIMS = 4 };

/* What random meshes may have. */
typedef struct mesh_limits {
    int64_t most_devices;
    bool permuted;  /* device ids, a transposed iota or any order */
    bool arbitrary; /* any order */
} mesh_limits;

const tsr_mesh *random_mesh(fixture *f, rng *r, mesh_limits limits);

/* The same with that many devices. */
const tsr_mesh *random_mesh_of(fixture *f, rng *r, int64_t n, mesh_limits limits);

/* Extents from 0 to 12, with 0, 1 and primes among them; returns the rank. */
size_t random_shape(rng *r, int64_t *shape);

/* What random shardings may have. */
typedef struct sharding_limits {
    bool sub_axes;
    bool lists; /* replicated, unreduced, openness, priorities */
    bool ragged;
} sharding_limits;

const tsr_sharding *random_sharding(fixture *f, rng *r, const tsr_mesh *mesh, size_t rank,
                                    const int64_t *shape, sharding_limits limits);

/* The same sharding with another reduction pending over its axes, or with nothing pending. */
const tsr_sharding *with_reduction(fixture *f, const tsr_sharding *s, bool settled,
                                   tsr_reduction reduction);

/* Another view of the same devices: axes split, joined or renamed; the ids in the same order. */
const tsr_mesh *random_view(fixture *f, rng *r, const tsr_mesh *mesh);

/* Whether a device holds a row of a dimension. */
bool holds_row(const tsr_geometry *g, int64_t device, size_t dim, int64_t row);

/* Whether both place every element on the same devices, by looking at each device. */
bool same_by_enumeration(const tsr_geometry *a, const tsr_geometry *b, size_t rank);

#endif
