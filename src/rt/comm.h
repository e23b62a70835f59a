/*
 * Communicators: how a collective call begins and ends.
 *
 * Every call begins with a rendezvous (comm_enter): the rank writes a record of what it is about to
 * do, or that it refuses, and waits at the barrier. After the barrier all records can be read: a
 * refusal, or a hash that differs, fails the call on every rank before anything else in a record is
 * used. Where hashes differ all ranks know it, and say in a second rendezvous what each was about
 * to do: the text costs nothing until it is needed. A rank returns only after its peers have
 * finished with its memory: that is the rendezvous at the end (comm_leave). Records are kept twice,
 * by the parity of the call, so that one that is being read is not written.
 *
 * Ranks that share no memory keep a copy of all records each. Their rendezvous is to send the own
 * record to all others (control.h), and there is nothing to wait for at the end of a call.
 */
#ifndef RT_COMM_H
#define RT_COMM_H

#include <tessera/comm.h>

#include "coll/algorithm.h"
#include "rt/barrier.h"
#include "rt/channel.h"
#include "rt/history.h"
#include "rt/layout.h"
#include "rt/levels.h"
#include "rt/plan_cache.h"
#include "rt/segment.h"
#include "rt/team.h"

enum { CALL_WORDS = 16 };

/* What a rank publishes before a collective step. */
typedef struct call_record {
    uint64_t hash;    /* of the call and of what must be the same on all members */
    uint64_t history; /* of the calls on tensors before it, on the world; 0 for none */
    int32_t status;
    uint64_t words[CALL_WORDS]; /* for the call itself: offsets, small data */
    char text[CALL_TEXT]; /* why it refuses; where members differ, the call with its arguments */
} call_record;

typedef struct comm_slot {
    _Alignas(64) _Atomic uint64_t entered; /* how many calls this member has entered */
    _Atomic uint64_t left;                 /* and finished, where they end with a rendezvous */
    call_record records[2];
} comm_slot;

/* What the members of a group share. */
typedef struct comm_shared {
    barrier gate;
    comm_slot slots[];
} comm_shared;

/* What a rank keeps for a world, once for all of its groups. */
typedef struct world_state {
    coll_choices choices;   /* of algorithms */
    rank_levels levels;     /* where the ranks are */
    struct comm_kept *kept; /* groups made from the world */
    int32_t num_kept;
    plan_store own_plans; /* unless the ranks share one */
    plan_cache plans;
    layout_table layouts;
    struct bound_symbol *symbols; /* of unbound dimensions: symbols.h */
    call_history history;
    bool own_values;             /* in typed code: what ranks make tensors of may differ */
    tsr_tensor *tensors;         /* all that are not released */
    void *above;                 /* what a layer above keeps for the world; NULL for nothing */
    void (*close_above)(void *); /* frees it when the world closes */
    void (*release_typed)(void *above, const void *typed); /* of a tensor that is freed */
    /* Refuses a tensor whose arrays, by its type, are not those of one whole. */
    /*
     * Called after each redistribution; a NULL plan is that of the two layouts. From NULL: all
     * ranks receive the number that rank `only` has.
     */
    tsr_status (*moved)(tsr_comm *world, const char *call, const tensor_layout *from,
                        const tensor_layout *to, const tsr_plan *plan, int64_t only);
    tsr_status (*check_whole)(void *above, const char *call, const void *typed);
    struct request *requests; /* started and not waited for, of all groups */
    uint64_t last_request;
    uint64_t turn; /* counts rounds of progress on requests */
    bool progressing;
    struct revocation *revocations; /* groups that other ranks have revoked */
    struct control_message *spare;  /* to say that this rank ends, without memory for a message */
    double last_heartbeat;          /* when this rank last told the others that it works */
    struct joined *joined;          /* when it was opened on a transport */
    bool closable;                  /* by tsr_comm_close */
    const _Atomic bool *stopped; /* by tsr_world_stop, all ranks of the process at once; or NULL */
} world_state;

/* What was last seen of a member that has not arrived, and when. */
typedef struct progress_seen {
    uint64_t progress;
    double since;
} progress_seen;

/* One rank's handle of a group. `world` is itself for the world. */
struct tsr_comm {
    tsr_context *ctx;
    tsr_arena *arena;
    const team *team;
    tsr_comm *world;
    world_state *state; /* of the world */
    int64_t world_rank;
    int64_t rank;
    int64_t size;
    const int64_t *members; /* world ranks; NULL for the world */
    comm_shared *shared;
    int32_t id;         /* 0 for the world, then in the order in which groups were made */
    uint64_t calls;     /* entered so far */
    uint64_t data_call; /* the last of them that moved messages */
    tsr_status broken;  /* why the group can no longer be used; TSR_OK while it can */
    bool told;          /* the last failure of a call is known to all members */
    bool passed;     /* the rendezvous is over: this rank was the last to arrive, or the only one */
    uint32_t ticket; /* of the current rendezvous */
    uint64_t overdue;    /* the call whose time-out has passed: members that have not arrived are
                            missing */
    uint64_t turn_seen;  /* the last turn in which one of its requests made progress */
    double last_poll;    /* when it last polled for processes that are gone, */
    double last_look;    /* and for some that are stopped */
    double gone_since;   /* since when a member is gone that has not entered */
    progress_seen *seen; /* of each member, in the current rendezvous */
    channel control;     /* the records of the current rendezvous, where ranks share no memory */
    segment *own;
};

/*
 * The guard of what needs ranks and elements: TSR_ERR_UNSUPPORTED in an abstract world, which has
 * neither.
 */
tsr_status comm_check_real(const tsr_comm *comm);

/* Bytes of what n members share. */
size_t comm_shared_bytes(int64_t n);

/* What this rank is about to do. */
typedef struct comm_call {
    const char *name;
    uint64_t hash;      /* of what must be the same on all members, besides the name */
    bool hash_has_name; /* the hash says which call it is: the name need not be added */
    tsr_status status;  /* negative: this rank refuses; its last diagnostic says why */
    /* Writes what this rank does, "calls ..", where members differ; NULL: the name. */
    void (*describe)(const void *of, char *text, size_t size);
    const void *of;
    uint64_t history; /* comm_history when the call began */
    uint64_t words[CALL_WORDS];
} comm_call;

/* The hash of the calls on tensors so far, for a call of the world; 0 for one of a group. */
static inline uint64_t comm_history(const tsr_comm *comm)
{
    return comm->world == comm ? comm->state->history.hash : 0;
}

/*
 * After a call of the world that failed on all ranks, or the wait for one: what they did before is
 * no longer compared. Ranks find a failed request at different places of the program, and wait for
 * it at the same one.
 */
static inline void comm_forget_history(tsr_comm *comm)
{
    if (comm->world == comm) {
        comm->state->history = (call_history){0};
    }
}

/*
 * Begins a call. Fails, on every member alike, when a member refuses, differs or is missing. On the
 * world it also compares the calls on tensors before it.
 */
tsr_status comm_enter(tsr_comm *comm, const comm_call *what);

/*
 * Tells the other members that this one fails alone, unless they know already, and returns
 * `status`. Their present call fails, or if that has no rendezvous their next one. The caller sets
 * `told` to false before what may fail.
 */
tsr_status comm_tell(tsr_comm *comm, const char *name, tsr_status status);

/*
 * The same in two parts: this rank enters; then it waits for the others, or polls whether they have
 * entered (else TSR_IN_PROGRESS). Between the two it enters nothing else on this communicator.
 */
tsr_status comm_start_entering(tsr_comm *comm, const comm_call *what);
tsr_status comm_finish_entering(tsr_comm *comm, const comm_call *what, bool wait);

/* The record of a member in the call that was entered last. */
const call_record *comm_record(const tsr_comm *comm, int64_t member);

/* Ends a call: returns when all members have finished. Also in two parts. */
tsr_status comm_leave(tsr_comm *comm, const char *name);
tsr_status comm_start_leaving(tsr_comm *comm, const char *name);
tsr_status comm_finish_leaving(tsr_comm *comm, const char *name, bool wait);

/*
 * Opens a channel between the members, after comm_enter; waits until all of its messages are
 * complete, or polls whether they are. When a member is gone or revokes the group, the group is
 * broken.
 */
void comm_open_channel(tsr_comm *comm, channel *m);
tsr_status comm_await_channel(tsr_comm *comm, channel *m, const char *name, bool wait);

/* A number that changes while members make progress inside a call. */
uint64_t comm_progress(const tsr_comm *comm);

/*
 * For who waits by polling: fails when no message has gone on and no member has made progress for
 * the time-out.
 */
tsr_status comm_check_time(tsr_comm *comm, channel *m, const char *name);

/* Revokes the group after a failure between entering and leaving: tells the other members. */
tsr_status comm_revoke(tsr_comm *comm, const char *name, tsr_status status);

/* An address in a rank's segment as an offset that every rank understands, and back. */
uint64_t comm_offset(const tsr_comm *comm, const void *memory);
char *comm_address(const tsr_comm *comm, int64_t world_rank, uint64_t offset);

/* Counts bytes that moved from one rank to another, or within one. */
void comm_count(const tsr_comm *comm, int64_t from, int64_t to, int64_t bytes);

/* The text of the last error in a context; "" when there is none. */
const char *last_error_text(const tsr_context *ctx);
/* A text of CALL_TEXT bytes; one that is longer ends in an ellipsis. */
void copy_call_text(char *out, const char *text);
/* The last error that is not a consequence of another; NULL when there is none. */
const tsr_diagnostic *last_error(const tsr_context *ctx);

/* The algorithms that the environment chooses. */
tsr_status algorithms_read(tsr_context *ctx, coll_choices *choices);

/* The world communicator of one rank. */
tsr_status comm_open_world(tsr_context *ctx, const team *t, int64_t rank, tsr_comm **out);
void comm_close_world(tsr_comm *world);

/*
 * After a run that failed, while no rank runs: breaks groups whose members are out of step, since
 * one gave up or left a request, for all of them. `worlds` are those of all ranks.
 */
void comm_settle(tsr_comm *const *worlds, int64_t count);

/* Refuses a communicator that is not the world. Not collective. */
tsr_status comm_check_world(const tsr_comm *comm);

/* Closes the control channels of all groups. */
void comm_close_control(tsr_comm *world);

#endif
