/*
 * Communicators: how a collective call begins and ends.
 *
 * Every call enters (comm_enter): the rank writes a record of what it is about to do, and whether
 * it refuses, and meets the others at the barrier. Behind it all records can be read: a refusal, or
 * in checked mode a record that differs, fails the call on every rank. After that nobody leaves
 * before the closing barrier (comm_leave), so that memory of a peer is there while it is used.
 * Records are kept twice, by the parity of the call, so that one that is being read is not written.
 *
 * Ranks that share no memory keep a copy of all records each. To meet is then to send one's own to
 * all others (control.h), and there is nothing to wait for at the end of a call.
 */
#ifndef RT_COMM_H
#define RT_COMM_H

#include <tessera/comm.h>

#include "coll/algorithm.h"
#include "plan/cache.h"
#include "rt/barrier.h"
#include "rt/channel.h"
#include "rt/layout.h"
#include "rt/segment.h"
#include "rt/team.h"

enum { CALL_WORDS = 16 };

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
    int32_t id;         /* 0 for the world, then in the order in which groups were made */
    uint64_t calls;     /* entered so far */
    tsr_status broken;  /* why the group can no longer meet; TSR_OK while it can */
    bool passed;        /* the meeting is over: this rank was the last to come, or the only one */
    uint32_t ticket;    /* of the meeting under way */
    uint64_t overdue;   /* the call that has had its time: whoever has not come is missing */
    uint64_t turn_seen; /* the last turn in which a request of it went on */
    double last_poll;   /* when it last looked for processes that are gone */
    double gone_since;  /* since when a member is gone that has not come */
    channel control;    /* of the meeting under way, where ranks share no memory */
    segment *own;
    /* Only the world has these. */
    coll_choices choices;   /* of algorithms */
    struct comm_kept *kept; /* groups made from it */
    plan_cache plans;
    layout_table layouts;
    void *above;                 /* what a layer above keeps for the world; NULL for nothing */
    void (*close_above)(void *); /* gives it up when the world closes */
    int32_t num_kept;
    struct request *requests; /* started and not waited for, of all groups */
    uint64_t last_request;
    uint64_t turn; /* of going on with requests */
    bool progressing;
    struct revocation *revocations; /* groups that others said are broken */
    struct joined *joined;          /* when it was opened on a transport */
};

/* Bytes of what n members share. */
size_t comm_shared_bytes(int64_t n);

/* What this rank is about to do. */
typedef struct comm_call {
    const char *name;
    uint64_t hash;
    tsr_status status; /* negative: this rank refuses; its last diagnostic says why */
    const char *text;  /* NULL: the name */
    uint64_t words[CALL_WORDS];
} comm_call;

/* Begins a call. Fails, on every member alike, when a member refuses, differs or does not come. */
tsr_status comm_enter(tsr_comm *comm, const comm_call *what);

/*
 * The same in two parts: this rank comes; then it waits for the others, or looks whether they have
 * come (else TSR_IN_PROGRESS). Between the two it enters nothing else on this communicator.
 */
tsr_status comm_start_entering(tsr_comm *comm, const comm_call *what);
tsr_status comm_finish_entering(tsr_comm *comm, const comm_call *what, bool wait);

/* The record of a member in the call that was entered last. */
const call_record *comm_record(const tsr_comm *comm, int64_t member);

/* Ends a call: nobody passes before everybody is done. Also in two parts. */
tsr_status comm_leave(tsr_comm *comm, const char *name);
tsr_status comm_start_leaving(tsr_comm *comm, const char *name);
tsr_status comm_finish_leaving(tsr_comm *comm, const char *name, bool wait);

/*
 * Opens mail between the members, behind comm_enter; waits until all of it has come, or looks
 * whether it has. When a member is gone or gives up, the group is broken.
 */
void comm_open_channel(tsr_comm *comm, channel *m);
tsr_status comm_await_channel(tsr_comm *comm, channel *m, const char *name, bool wait);

/* Gives the group up after a failure between entering and leaving, and tells the others. */
tsr_status comm_revoke(tsr_comm *comm, const char *name, tsr_status status);

/* A place in a rank's segment as an offset that every rank understands, and back. */
uint64_t comm_offset(const tsr_comm *comm, const void *memory);
char *comm_address(const tsr_comm *comm, int64_t world_rank, uint64_t offset);

/* Counts bytes that moved from one rank to another, or within one. */
void comm_count(const tsr_comm *comm, int64_t from, int64_t to, int64_t bytes);

/* The text of the last error in a context; "" when there is none. */
const char *last_error_text(const tsr_context *ctx);

/* What the environment says of algorithms. */
tsr_status algorithms_read(tsr_context *ctx, coll_choices *choices);

/* The end of one rank in the world. */
tsr_status comm_open_world(tsr_context *ctx, const team *t, int64_t rank, tsr_comm **out);
void comm_close_world(tsr_comm *world);

/* Refuses a group, where only the world will do. Not collective. */
tsr_status comm_check_world(const tsr_comm *comm);

/* Gives up every meeting that is under way by letters. */
void comm_close_control(tsr_comm *world);

#endif
