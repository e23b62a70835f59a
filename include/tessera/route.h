/*
 * Routes: the cheapest sequence of steps from one layout of a tensor to another, on a topology.
 *
 * A plan (plan.h) says what every device sends and receives in given steps; a route says which
 * steps to take. The cost of a step is counted by level of the topology, in integers, and a route
 * is the minimum over all sequences of steps: first by time, then by bytes by level from the
 * outermost, then by the number of steps. Every rank finds the same one.
 *
 * Steps take sets of *atoms* at once: the common parts of the axes of both layouts and of the
 * levels. So an axis of 16 over two hosts of eight can be gathered between hosts first and within
 * them second, although the hosts are its major part; in between its blocks are out of order, and
 * the layout has no sharding.
 */
#ifndef TESSERA_ROUTE_H
#define TESSERA_ROUTE_H

#include <tessera/plan.h>
#include <tessera/topology.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which steps a route may take. */
typedef enum tsr_vocabulary {
    TSR_VOCABULARY_RUNTIME, /* all kinds of steps; parts have their true sizes */
    TSR_VOCABULARY_PROGRAM  /* collectives of programs: no direct step; parts are padded */
} tsr_vocabulary;

/* Options. Zeros are the defaults. */
typedef struct tsr_route_options {
    TSR_NULLABLE const tsr_topology *topology; /* NULL: tsr_topology_find(NULL) */
    tsr_vocabulary vocabulary;
    int64_t memory;  /* live bytes of a device at most, in pages of 4096 bytes; 0: any */
    bool donated;    /* the memory of the source is free after the first step */
    bool any_layout; /* layouts between steps may have larger parts than both ends */
    int64_t
        quota; /* steps to price at most, those that enumerate devices count more; 0: a million */
} tsr_route_options;

typedef struct tsr_route tsr_route;

/*
 * Finds the cheapest route between two geometries of one shape on the same devices. The topology is
 * fitted to the devices (tsr_topology_fit). By default no layout between steps has a larger part
 * than the larger of the two ends.
 *
 * Where the axes and levels have no common parts (arbitrary lists of device ids; an axis of 6 over
 * levels of 4), or a dimension is unaligned, the route is the plan of tsr_plan_create, of one step
 * or two, with the bytes and rounds of the devices one by one, of at most 4096: it is not proven.
 *
 * TSR_ERR_UNSUPPORTED if no sequence of steps obeys the rules, if a sum would have to become
 * pending, or if steps of programs would have to lead where only a direct exchange does.
 * TSR_ERR_LIMIT beyond 16 atoms or rank 16. The geometries must live as long as the route, which is
 * allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_route_find(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_geometry *src, const tsr_geometry *dst,
                                                tsr_dtype dtype,
                                                TSR_NULLABLE const tsr_route_options *options,
                                                const tsr_route **out) TSR_MT_CONTEXT;

/*
 * What is known of a route. Lists have one number for each level, outermost first. Times of other
 * ways are -1 where a way does not exist: a direct step while a sum is pending, a collective where
 * the change is not one, the greedy plan where its boxes do not nest.
 */
typedef struct tsr_route_facts {
    const tsr_topology *topology; /* fitted */
    size_t num_steps;
    int64_t nanoseconds;
    const int64_t *bytes; /* received by the busiest device of each step */
    int64_t live_bytes;   /* of the step with the most: source, both tensors, workspace */
    int64_t lower_bound;  /* nanoseconds below which no route can be, without latencies */
    bool bound_met;       /* up to the rounding of each step */
    bool proven;          /* no route is cheaper; else the quota was used up */
    int64_t gap;          /* nanoseconds by which a cheaper route can differ at most */
    int64_t direct;       /* nanoseconds of one direct step */
    int64_t collective;   /* of one collective over all atoms */
    int64_t greedy;       /* of the greedy plan: reduce, gather axis by axis, slice */
    bool greedy_obeys;    /* it obeys the rules on memory that the route obeys */
    size_t num_layouts;   /* that the search considered */
} tsr_route_facts;

TSR_API tsr_route_facts tsr_route_describe(const tsr_route *route) TSR_MT_SAFE;

/* One step. Bytes and rounds are those of the busiest device, by level. */
typedef struct tsr_route_step {
    tsr_step_kind kind;
    const char *algorithm; /* of `tessera algorithms`; "pairwise"; of a slice "copy" */
    bool padded;           /* a part is padded, since its extent does not divide */
    size_t num_axes;
    TSR_ARRAY(num_axes) const tsr_axis_ref *axes; /* of the mesh of the source, that change */
    const int64_t *bytes;
    const int64_t *rounds;
    int64_t reduced; /* bytes */
    int64_t copied;
    int64_t nanoseconds;
    int64_t live_bytes;
    const char *layout; /* after the step; an axis in parentheses is gathered out of order */
    TSR_NULLABLE const tsr_sharding *sharding; /* of that layout; NULL: out of order */
} tsr_route_step;

/* Returns a step by its index; zeros if the index is out of range. Owned by the route. */
TSR_API tsr_route_step tsr_route_step_at(const tsr_route *route, size_t index) TSR_MT_SAFE;

#ifdef __cplusplus
}
#endif

#endif
