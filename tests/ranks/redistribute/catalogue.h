/* A catalogue of layouts, by number of ranks, and every redistribution within its families. */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include "pairs.h"

typedef struct catalogue {
    family families[MAX_FAMILIES];
    size_t num_families;
    size_t num_layouts;
} catalogue;

/* The families with meshes of that many devices. The shardings are the fixture's. */
void catalogue_fill(fixture *f, int64_t ranks, catalogue *out);

/* A layout by the name of its mesh and its text, as in the tables of the catalogue. */
const tsr_sharding *catalogue_layout(fixture *f, int64_t ranks, const char *mesh, const char *text);

/*
 * Runs all pairs, or with `sample` above 0 a random choice of so many, on ranks that are launched,
 * and prints what was covered. Who has ranks already calls catalogue_fill, pairs_of and, on each of
 * them, run_pairs.
 */
void check_catalogue(fixture *f, int64_t ranks, tsr_ranks kind, size_t sample);

#endif
