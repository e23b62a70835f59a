/* What a route is, for the files that make one. */
#ifndef PLAN_ROUTE_H
#define PLAN_ROUTE_H

#include <tessera/route.h>

#include "plan/search.h"

struct tsr_route {
    tsr_route_facts facts;
    const tsr_route_step *steps;
};

/* What one route is made from. */
typedef struct route_request {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_topology *topology; /* fitted */
    const tsr_geometry *src;
    const tsr_geometry *dst;
    tsr_dtype dtype;
    search_rules rules;
} route_request;

/*
 * The route of two layouts that have no common atoms: the plan of tsr_plan_create, of one or two
 * steps, whose bytes and rounds are those of the devices one by one. It is not proven.
 * TSR_ERR_LIMIT beyond ROUTE_MAX_LISTED devices.
 */
tsr_status route_by_devices(const route_request *q, tsr_route **out);

enum { ROUTE_MAX_LISTED = 4096 };

#endif
