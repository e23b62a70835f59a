/*
 * Routes on invented machines, run step by step: after each step every element is compared, and
 * what the busiest rank has received at each level with what the route says.
 */
#ifndef ROUTES_H
#define ROUTES_H

#include "pairs.h"

/* What was run, all numbers of ranks together. */
typedef struct route_counts {
    int64_t routes;
    int64_t long_routes; /* of two and more steps */
    int64_t counted;     /* steps whose bytes by level were compared */
    int64_t apart;       /* those of them on several levels */
    int64_t listed;      /* steps whose devices were counted one by one */
    int64_t held;        /* routes with a layout out of order, which no sharding has: not run */
    int64_t refused;
} route_counts;

/* Finds and runs the routes between a random choice of pairs of the catalogue. */
void check_routes(fixture *f, int64_t ranks, tsr_ranks kind, size_t sample, route_counts *counts);

#endif
