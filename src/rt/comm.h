/*
 * Ranks on one host: what they share, and how a collective call begins and ends.
 *
 * Every call enters (comm_enter): the rank writes a record of what it is about to do, and whether
 * it refuses, and meets the others at the barrier. Behind it all records can be read: a refusal, or
 * in checked mode a record that differs, fails the call on every rank. After that nobody leaves
 * before the closing barrier (comm_leave), so that memory of a peer is there while it is used.
 * Records are kept twice, by the parity of the call, so that one that is being read is not written.
 */
#ifndef RT_COMM_H
#define RT_COMM_H

#include <tessera/comm.h>

#include "rt/barrier.h"
#include "rt/segment.h"

enum { COMM_MAX_RANKS = 1024, CALL_TEXT = 160, CALL_WORDS = 16 };

/* What a rank says before a collective step. */
typedef struct call_record {
    uint64_t hash; /* of what it is about to do; compared in checked mode */
    int32_t status;
    uint64_t words[CALL_WORDS]; /* for the call itself: offsets, small data */
    char text[CALL_TEXT]; /* the call, in checked mode with its arguments; or why it refuses */
} call_record;

typedef struct comm_slot {
    _Alignas(64) _Atomic uint64_t entered; /* how many calls this member has entered */
    call_record records[2];
} comm_slot;

/* What the members of a group share. */
typedef struct comm_shared {
    barrier gate;
    comm_slot slots[];
} comm_shared;

typedef enum rank_state { RANK_RUNNING, RANK_ENDED, RANK_FAILED, RANK_DIED } rank_state;

/* What all ranks know of one. */
typedef struct rank_shared {
    _Alignas(64) _Atomic int64_t bytes_sent;
    _Atomic int64_t bytes_received;
    _Atomic int64_t bytes_local;
    _Atomic int32_t state;
    int32_t status;
    char text[CALL_TEXT];
} rank_shared;

/* What all ranks share: set up before they start. */
typedef struct team {
    int64_t num_ranks;
    double timeout;
    bool checked;
    bool spin;
    bool threads; /* all memory is everybody's */
    size_t segment_bytes;
    char *segments; /* of all ranks, one behind the other */
    rank_shared *ranks;
    comm_shared *world;
} team;

/* One rank's end of a group. `world` is itself for the world. */
struct tsr_comm {
    tsr_context *ctx;
    tsr_arena *arena;
    const team *team;
    tsr_comm *world;
    int64_t world_rank;
    int64_t rank;
    int64_t size;
    const int64_t *members; /* world ranks; NULL for the world */
    comm_shared *shared;
    uint64_t calls;    /* entered so far */
    tsr_status broken; /* why the group can no longer meet; TSR_OK while it can */
    segment *own;
    struct comm_kept *kept; /* groups made from the world */
};

/* Bytes of what n members share. */
size_t comm_shared_bytes(int64_t n);

/* What this rank is about to do. */
typedef struct call {
    const char *name;
    uint64_t hash;
    tsr_status status; /* negative: this rank refuses; its last diagnostic says why */
    const char *text;  /* NULL: the name */
    uint64_t words[CALL_WORDS];
} call;

/* Begins a call. Fails, on every member alike, when a member refuses, differs or does not come. */
tsr_status comm_enter(tsr_comm *comm, const call *what);

/* The record of a member in the call that was entered last. */
const call_record *comm_record(const tsr_comm *comm, int64_t member);

/* Ends a call: nobody passes before everybody is done. */
tsr_status comm_leave(tsr_comm *comm, const char *name);

/* A place in a rank's segment as an offset that every rank understands, and back. */
uint64_t comm_offset(const tsr_comm *comm, const void *memory);
char *comm_address(const tsr_comm *comm, int64_t world_rank, uint64_t offset);

/* Counts bytes that moved from one rank to another, or within one. */
void comm_count(const tsr_comm *comm, int64_t from, int64_t to, int64_t bytes);

/* The text of the last error in a context; "" when there is none. */
const char *last_error_text(const tsr_context *ctx);

/* The end of one rank in the world. */
tsr_status comm_open_world(tsr_context *ctx, const team *t, int64_t rank, tsr_comm **out);
void comm_close_world(tsr_comm *world);

#endif
