/*
 * What propagation tells about its way, when asked to: which step moved an axis from where to
 * where, and where the axes of a value came from in the first place.
 */
#ifndef PROPAGATE_DEBUG_H
#define PROPAGATE_DEBUG_H

#include "ir/edges.h"
#include "propagate/provenance.h"
#include "propagate/state.h"

/* ---- steps.c ---- */

/* An axis went from one value of an op to another. */
typedef struct step_record {
    named_axis axis;
    edge_value source;
    edge_value target;
    int64_t step;
    uint32_t next; /* of the same op: 1 + its number; 0: none */
} step_record;

/* The records of all ops; those of a function are of its results. */
typedef struct step_log {
    workspace *w;
    uint32_t *first;  /* by op: 1 + the number of a record */
    uint32_t num_ops; /* that there were at the start */
    step_record *records;
    size_t count;
    size_t room;
    int64_t step; /* the one under way */
} step_log;

/* Starts with what ops of the program have; the first step is the one after those. */
tsr_status steps_start(workspace *w, step_log *out);
/* Adds a record of the step under way, unless the op has one of the same axis and values. */
tsr_status steps_add(step_log *log, uint32_t op, const step_record *record);
/* Writes all records into the program, as attributes. */
tsr_status steps_store(step_log *log);

bool named_axis_same(const named_axis *a, const named_axis *b);
/* Room for one more item of an array that grows; false without memory. */
bool grow_array(tsr_arena *arena, void **items, size_t count, size_t *room, size_t size);

/* ---- origins.c ---- */

typedef struct origin {
    named_axis axis;
    const char *text;
    uint32_t next; /* of the same place: 1 + its number; 0: none */
} origin;

typedef struct origin_set {
    uint32_t *first; /* by place: 1 + the number of an origin */
    origin *list;
    size_t count;
    size_t room;
} origin_set;

/* Gives constraints and manual computations their names, as attributes. */
tsr_status origins_name(tsr_program *p);
/* The origins of what the program has before propagation. */
tsr_status origins_start(propagation *s, origin_set *out);
/* An axis went from one place to another. */
tsr_status origins_pass_on(propagation *s, origin_set *set, uint32_t from, uint32_t to,
                           const named_axis *axis);
/* Writes all origins into the program, as attributes. */
tsr_status origins_store(propagation *s, const origin_set *set);

/* ---- debug.c ---- */

/* The first tensor that had all these axes of a factor; their number: none had. */
size_t find_source(const projection *old, size_t factor, axis_view axes);

typedef struct debug_log {
    step_log steps;
    origin_set origins;
    why_log why;
} debug_log;

#endif
