/*
 * Collectives between ranks that share no memory: one file for each algorithm, and what they have
 * in common.
 *
 * After the rendezvous message.c opens a channel and begins the chosen algorithm. That starts some
 * messages and sets `next`, the step to run when they have arrived; a step that sets none ends the
 * call. Contiguous views are sent and received in place, others through buffers, which live as long
 * as the channel.
 */
#ifndef RT_MESSAGE_H
#define RT_MESSAGE_H

#include "base/base.h"
#include "coll/cost.h"
#include "rt/collective.h"

/* A message from another member, or a member's own contiguous data. */
typedef struct incoming {
    char *data;
    bool direct; /* into the destination itself */
} incoming;

/*
 * Blocks of all members, contiguous, this member's first, then those of the members after it in the
 * group; `at` has the offset of each, and the end.
 */
typedef struct circle {
    char *data;
    int64_t *at;
} circle;

/* A part of an algorithm, up to where it must wait for messages. */
typedef tsr_status message_step(coll_task *x);

/* The state of one collective by messages. An algorithm uses the fields that it needs. */
typedef struct message_state {
    channel channel;
    message_step *next;  /* when all messages have arrived; NULL when it is over */
    int64_t *starts;     /* of all members' chunks */
    char *packed;        /* the whole source, or this member's own part of it, contiguous */
    char *result;        /* of an all-reduce, contiguous */
    char *out;           /* what is sent in this round */
    char *in;            /* what is received in this round */
    circle circle;       /* blocks that are gathered or folded in rounds */
    int64_t round;       /* the current round, as the algorithm counts */
    message_step *then;  /* when the rounds are over */
    incoming incoming[]; /* one for each member */
} message_state;

/* The first step of each algorithm. */
/* Each chunk goes straight from its owner to the members that receive it. */
message_step message_direct;
/* The same, folded by the receiver. */
message_step message_fold;
/* Each member folds a share of all sources and sends it to all. */
message_step message_shares;
message_step message_tree;
message_step message_ring;
message_step message_bruck;
message_step message_gather;
message_step message_bruck_to_all;
message_step message_doubling;
message_step message_halving;
message_step message_rabenseifner;

/* Start messages to and from a member; 0 bytes are none. */
tsr_status message_send(coll_task *x, int64_t to, const void *data, int64_t bytes);
tsr_status message_receive(coll_task *x, int64_t from, void *data, int64_t bytes);

/* The member `by` positions after this one in the group, cyclically; before it if negative. */
static inline int64_t message_member(const coll_task *x, int64_t by)
{
    const int64_t p = x->comm->size;
    return ((x->comm->rank + by) % p + p) % p;
}

/* Counts bytes that stay on this member. */
void message_count_kept(const coll_task *x, int64_t bytes);

/* Whether an array is contiguous and row-major. */
bool message_is_dense(const coll_task *x, const int64_t *shape, const int64_t *strides);

/* Copy an array into contiguous memory, and back. */
void message_pack(const coll_task *x, char *out, strided_ref from, const int64_t *shape);
void message_unpack(const coll_task *x, strided_ref to, const char *in, const int64_t *shape);

/*
 * What this member sends to another, and where what it receives from another goes: data, strides
 * and shape.
 */
strided_ref message_part_for(const coll_task *x, int64_t to, int64_t *shape);
strided_ref message_part_from(const coll_task *x, int64_t from, int64_t *shape);

/* Sends what another member receives; what goes to all is packed only once. */
tsr_status message_send_part(coll_task *x, int64_t to);

/* Receives a member's part of a movement from `from`, in place if it is contiguous there. */
tsr_status message_receive_part(coll_task *x, int64_t member, int64_t from);

/* Receives so many bytes from every other member. */
tsr_status message_receive_runs(coll_task *x, int64_t bytes);

/* This member's own part of a movement. */
void message_keep_part(const coll_task *x);

/* This member's source, contiguous: in place, or in a buffer. NULL without memory. */
char *message_dense_source(coll_task *x);

/* Folds contiguous elements, one buffer of each member in their order, into an array. */
void message_fold_runs(const coll_task *x, strided_ref to, const int64_t *shape, size_t rank);

/* a = a op b, or with `reversed` a = b op a, of so many contiguous bytes. */
void message_fold_pair(const coll_task *x, char *a, const char *b, int64_t bytes, bool reversed);

/* The elements that a member reduces in an all-reduce. */
chunk message_share_of(const coll_task *x, int64_t member);

/* Makes room for a circle; bytes[i] are those of member i's block. */
tsr_status message_make_circle(coll_task *x, const int64_t *bytes);

/* Bruck's all-gather of a circle whose first block is filled in; then goes on with `then`. */
tsr_status message_gather_circle(coll_task *x, message_step *then);

/* Folds a circle of all blocks so that the first one is the fold of all members; then `then`. */
tsr_status message_fold_circle(coll_task *x, message_step *then);

#endif
