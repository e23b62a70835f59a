/*
 * Where axes came from and what kept others out, recorded while propagation runs.
 *
 * Steps and annotations are numbered from 1 and kept by place; at the end they become what
 * <tessera/explain.h> shows, by value.
 */
#ifndef PROPAGATE_PROVENANCE_H
#define PROPAGATE_PROVENANCE_H

#include <tessera/explain.h>

#include "propagate/state.h"

/* A step, and the place that it is of. */
typedef struct placed_step {
    tsr_axis_step step;
    uint32_t place;
} placed_step;

/* What asks for provenance gives, and gets. */
typedef struct provenance_request {
    tsr_arena *arena;         /* of what comes out */
    const uint8_t *annotated; /* by value: the program itself has a sharding for it */
    uint32_t num_annotated;   /* values that there were then */
    tsr_provenance *out;
} provenance_request;

typedef struct why_log {
    const provenance_request *request;
    placed_step *steps; /* entry 0 is none */
    size_t count;
    size_t room;
    uint32_t *first; /* by place: the first step and the last; 0: none */
    uint32_t *last;
    tsr_annotation *annotations; /* entry 0 is none */
    size_t num_annotations;
    size_t annotation_room;
    uint32_t *annotation_of; /* by place */
    tsr_conflict *conflicts;
    size_t num_conflicts;
    size_t conflict_room;
    uint32_t visit;
} why_log;

/* Lists the annotations of the program; groups have been loaded. */
tsr_status provenance_start(propagation *s, const provenance_request *request, why_log *out);
/* Records what a visit changes; `old` is what factors had before. */
tsr_status provenance_visit(propagation *s, why_log *log, const visit_plan *v,
                            const projection *old, const engine_changes *changes);
/* A dimension of a tensor of a visit, whole, as another gets it: from, to. */
typedef struct tensor_dim {
    size_t tensor;
    size_t dim;
} tensor_dim;
tsr_status provenance_hand_on(propagation *s, why_log *log, const visit_plan *v,
                              const tensor_dim ends[2]);
/* A member of a group gets what another has. */
tsr_status provenance_share(propagation *s, why_log *log, uint32_t from, uint32_t to);
/* At the fixed point: lists the conflicts, and gives out all there is. */
tsr_status provenance_finish(propagation *s, why_log *log);

/* ---- provenance_conflicts.c ---- */

tsr_status conflicts_find(propagation *s, why_log *log);
/* The same at one op, before it goes away: it had its part in what came before. */
tsr_status conflicts_find_at(propagation *s, why_log *log, uint32_t op);
/* The step of a place by which a dimension has an axis, or a part of it; 0: none. */
uint32_t provenance_find_step(const why_log *log, uint32_t place, size_t dim, tsr_axis_ref axis);

#endif
