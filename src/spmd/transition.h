/* The tables of transitions, by the kind of each end. */
#ifndef SPMD_TRANSITION_H
#define SPMD_TRANSITION_H

#include "spmd/type.h"

/* An end without its dimension: V with a dimension, S(i), is a kind of its own. */
typedef enum end_kind { END_R, END_I, END_V, END_P, END_S, END_COUNT } end_kind;

/* Whether a call accepts a pair of ends. */
typedef enum pair_status { PAIR_NONE, PAIR_SAME, PAIR_EXPERT, PAIR_FINE } pair_status;

enum { TRANSITION_COUNT = TSR_CONVERT + 1 };

/* The kind of an end; false for an untyped one. */
bool end_kind_of(tsr_end end, end_kind *out);

/* The same call with dimensions that are counted from the front, where there are such. */
tsr_transition transition_resolved(const tsr_transition *t, size_t rank);

pair_status transition_pair(const tsr_transition *t);

/*
 * Whether a plain V becomes S(i), or S(i) a plain V; and whether every rank's part stays as large
 * as it is then, so that the axis is only put into the spec or taken out of it.
 */
bool transition_meets(const tsr_transition *t);
bool transition_stays(const tsr_transition *t);

/*
 * The dimensions that pieces come from and go to: where V and S(i) meet in an all_to_all, the plain
 * V is taken along its gather or scatter dimension. Any other call is as it was.
 */
tsr_transition transition_exchanged(const tsr_transition *t);

/* Whether a call concatenates the parts of its source, and whether it cuts its result. */
bool transition_gathers(const tsr_transition *t);
bool transition_scatters(const tsr_transition *t);

/* `all_reduce P->R` */
void transition_print(buffer *buf, const tsr_transition *t);

#endif
