/*
 * Carrying out a change of type along a communicator, on each rank's own array. Types are not
 * looked at here: what is done follows from the two ends, the arrays and the counts alone.
 */
#ifndef EAGER_TRANSITION_H
#define EAGER_TRANSITION_H

#include <tessera/typed.h>

#include "eager/eager.h"

enum { MAX_MEMBERS = COMM_MAX_RANKS };

/* One that is only started: what to wait for, and what is left to do then. */
typedef struct transition_tail {
    tsr_request request;
    tsr_tensor *sent;     /* what is sent, where that is not the value itself; NULL for none */
    tsr_tensor *received; /* pieces as they come, to be put along `dim` of what is moved */
    tsr_tensor *moved;    /* of the type on the wire, to be converted; NULL: the result is moved */
    size_t dim;
    int64_t *rows; /* of each piece; as many as members */
    int64_t members;
} transition_tail;

/* One call: along which communicator, what, and with which numbers. */
typedef struct transition_job {
    tsr_comm *comm;
    tsr_transition what; /* dims not negative, but for TSR_NO_DIM */
    const int64_t
        *counts; /* of S: rows of each member along its dimension; NULL: as even chunks are */
    const int64_t *sent; /* of S(i)->S(j): rows of each member along j; NULL: even chunks */
    bool has_wire_dtype;
    tsr_dtype wire_dtype;
    transition_tail *tail; /* only started: what to wait for and to do then; NULL to wait at once */
    bool in_place;         /* of an all_reduce: the result is x itself, with one reference more */
} transition_job;

/* Does it; the result is a fresh value of this rank, with one reference, in no scope. */
tsr_status transition_run(eager *e, const transition_job *job, tsr_tensor *x, tsr_tensor **out);

/* Does what is left when the request has been waited for; gives up what a tail holds. */
void transition_finish(const transition_tail *tail, tsr_tensor *result);
void transition_drop(eager *e, transition_tail *tail);

/* Whether ranks meet in it. */
bool transition_communicates(tsr_transition_op op);

/* A value of this rank: an array of its own that no other rank shares. */
tsr_status local_value(eager *e, tsr_dtype dtype, size_t rank, const int64_t *shape,
                       tsr_tensor **out);

/* The memory of a tensor as another tensor. */
tsr_status alias_tensor(tsr_tensor *tensor, tensor_layout *layout, tsr_tensor **out);

/* Divides a fresh value, in place. */
void transition_divide(const tsr_tensor *t, int64_t by);

#endif
