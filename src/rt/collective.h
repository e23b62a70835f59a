/*
 * How a collective call runs.
 *
 * Each rank checks its arguments (collective_check.c), then enters a rendezvous (comm_enter) with
 * either the reason why it refuses or a hash of what all must agree on. Sources of a few bytes
 * travel in the records of that rendezvous (collective_inline.c). Otherwise each member has an
 * offer in its segment, which says where its views are; after the rendezvous the members copy
 * straight from view to view (collective_movement.c) or fold (collective_reduce.c,
 * collective_all_reduce.c), and finish with a second rendezvous (comm_leave). Views that others
 * cannot reach are first copied into the segment. Between ranks that share no memory the data goes
 * by messages (message.h).
 *
 * A call is a sequence of steps, each of which ends where it must wait for other members; `next` is
 * the following step. A blocking call waits in every step; a started one is polled inside later
 * calls of the library (request.c).
 */
#ifndef RT_COLLECTIVE_H
#define RT_COLLECTIVE_H

#include <tessera/collective.h>

#include "coll/algorithm.h"
#include "kernel/copy.h"
#include "kernel/packed.h"
#include "rt/comm.h"

/* Sources of up to this many bytes travel in the records. */
enum { INLINE_BYTES = 64 };

/* What the caller passed. Zeros for what the collective does not have. */
typedef struct coll_arguments {
    coll_kind kind;
    tsr_reduce_op op;
    const tsr_view *src;
    const tsr_view *dst;
    size_t src_dim; /* where sources are cut */
    size_t dst_dim;
    int64_t root;
    const int64_t *src_counts; /* rows of the chunks, where those are cut */
    const int64_t *dst_counts;
    const int64_t *destinations;
} coll_arguments;

/* A checked view. The shape is known, and `bytes`, even where the member has no such view. */
typedef struct array {
    bool here;
    char *data;
    int64_t bytes; /* of all elements */
    int64_t low;   /* the bytes that they span, from data */
    int64_t high;
    int64_t shape[KERNEL_MAX_RANK];
    int64_t strides[KERNEL_MAX_RANK];
} array;

/*
 * What a member publishes for the others, in its segment. Written before comm_enter and read
 * between it and comm_leave. The starts of all chunks and their end: size + 1 of the source, then
 * of the destination.
 */
typedef struct offer {
    uint64_t src;
    uint64_t dst;
    int64_t src_strides[KERNEL_MAX_RANK];
    int64_t dst_strides[KERNEL_MAX_RANK];
    int64_t starts[];
} offer;

/* The arrays of an all-reduce that goes in pieces: collective_pieces.c. */
typedef struct coll_pieces {
    array src;
    array dst;
    int64_t at;
    int64_t count; /* 0: not cut yet */
    size_t dim;
    int64_t rows;
} coll_pieces;

/* A collective in progress on one member. */
typedef struct coll_task coll_task;
typedef tsr_status coll_task_step(coll_task *x, bool wait);

struct coll_task {
    tsr_comm *comm;
    coll_arguments args; /* views and counts are not read after coll_task_begin */
    const coll_row *row;
    const coll_algorithm *algorithm;
    coll_task_step *next; /* NULL when it is over */
    tsr_status refused;   /* why this member refuses the call */
    tsr_dtype dtype;
    size_t rank;
    size_t item;
    uint64_t hash;    /* of what all members must agree on */
    uint64_t history; /* comm_history when the call began */
    bool inlined;     /* sources are in the records, row-major */
    bool stream;
    array src; /* of the current piece, where there are several */
    array dst;
    coll_pieces pieces;
    int64_t packed[KERNEL_MAX_RANK]; /* row-major strides of the source; where sources are packed */
    offer *offer;
    void *bounce;                   /* the source in the segment, when others could not reach it */
    struct message_state *messages; /* the state of a call by messages */
};

/*
 * Starts a call; `history` is comm_history where the program made it. The caller then runs its
 * steps, until `next` is NULL or one fails, and ends it in any case.
 */
tsr_status coll_task_begin(coll_task *x, tsr_comm *comm, const coll_arguments *args,
                           uint64_t history);
void coll_task_end(coll_task *x);

/* Goes on to the next piece, or to the first; false when all are done. */
bool pieces_next(coll_task *x);

/* The whole of a call. */
tsr_status coll_task_run(tsr_comm *comm, const coll_arguments *args);

/* Checks the arguments of this member and fills in all but the offer. Not collective. */
tsr_status coll_task_prepare(coll_task *x, tsr_comm *comm, const coll_arguments *args);

/* The call of a task with its arguments, and `f32[4,8]`, for messages; truncated to `size`. */
void coll_task_describe(const void *task, char *text, size_t size);
void describe_type(tsr_dtype dtype, const int64_t *shape, size_t rank, char *text, size_t size);

/* Some rows along a dimension. */
typedef struct chunk {
    int64_t start;
    int64_t rows;
} chunk;

/* What of a source or destination moves between two members. */
chunk chunk_of_src(const coll_task *x, int64_t from, int64_t to);
chunk chunk_of_dst(const coll_task *x, int64_t from, int64_t to);

/* Data and strides of a view, at an address of this rank. */
typedef struct strided_ref {
    char *data;
    const int64_t *strides;
} strided_ref;

strided_ref src_of_member(const coll_task *x, int64_t member);
strided_ref dst_of_member(const coll_task *x, int64_t member);

/* Counts what went from one member to another. */
void count_move(const coll_task *x, int64_t from, int64_t to, int64_t bytes);

/* Whether a member's chunk goes to another. */
bool coll_task_sends(const coll_task *x, int64_t from, int64_t to);

/* Whether every member expects of every other what that one sends: the same answer on all. */
tsr_status coll_task_compare_counts(const coll_task *x);

/* The address of a row of a view; scalars have no rows. */
static inline char *row_address(strided_ref p, const coll_task *x, size_t dim, int64_t start)
{
    return x->rank > 0 ? p.data + start * p.strides[dim] : p.data;
}

/* The bytes of an array of some shape. */
int64_t coll_task_bytes(const coll_task *x, const int64_t *shape);

/* Fills the destination with zeros if no member sends to this one. */
void coll_task_fill_unsent(const coll_task *x);

/* Starts a small call. */
tsr_status inline_begin(coll_task *x);

/* Goes on by messages, after the rendezvous (message.c). */
tsr_status message_begin(coll_task *x);
void message_end(coll_task *x);
/* The starts of a member's chunks, where members send each other their counts. */
const int64_t *message_starts(const coll_task *x, int64_t member);

/* This member's part of a movement: by writing into the others' views, or by reading from them. */
void movement_push(const coll_task *x);
void movement_pull(const coll_task *x);

/* This member's chunk of a reduction; or all of it, where sources are not cut. */
void reduce_pull(const coll_task *x);

/* This member's share of an all-reduce, into every destination. */
void all_reduce_share(const coll_task *x);

#endif
