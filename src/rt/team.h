/* The ranks of a world: the state of each, and the memory that they share. */
#ifndef RT_TEAM_H
#define RT_TEAM_H

#include <stdatomic.h>

#include <tessera/comm.h>
#include <tessera/topology.h>

#include "rt/channel.h"

enum { COMM_MAX_RANKS = 1024, CALL_TEXT = 160, REPORT_BYTES = 8192 };

typedef enum rank_state { RANK_RUNNING, RANK_ENDED, RANK_FAILED, RANK_DIED } rank_state;

/* What all ranks know of one. */
typedef struct rank_shared {
    _Alignas(64) _Atomic int64_t bytes_sent;
    _Atomic int64_t bytes_received;
    _Atomic int64_t bytes_local;
    _Atomic uint64_t progress; /* raised as it works inside a call */
    _Atomic int32_t state;
    int32_t pid; /* of its process; 0 when that is on another machine */
    int32_t status;
    _Atomic int64_t sent_at[TSR_MAX_LEVELS]; /* by level of a topology: levels.h */
    _Atomic int64_t received_at[TSR_MAX_LEVELS];
    char report[REPORT_BYTES]; /* why it failed: a message and its notes, each ended by a zero */
} rank_shared;

/* Set up before the ranks start. Ranks that share no memory have one each, of their own. */
typedef struct team {
    int64_t num_ranks;
    double timeout;
    double end_timeout; /* of the last rank, once all others have ended; 0: none */
    bool checked;
    bool spin;
    bool threads;       /* all ranks share one address space */
    bool message;       /* ranks share no memory */
    bool abstract;      /* an abstract world: one rank stands for all, nothing has elements, no
                           rendezvous */
    const char *name;   /* "threads" */
    endpoint *endpoint; /* NULL when this library started the ranks */
    const int *pidfds;  /* for each rank a descriptor that says when its process is gone; or NULL */
    size_t segment_bytes;
    char *segments; /* of all ranks, one after the other */
    rank_shared *ranks;
    struct comm_shared *world;
    struct plan_store *plans; /* that ranks share which are threads; NULL for others */
    size_t control_bytes;     /* from `world` on: the world and the ranks */
} team;

/* What a spec asks for, checked and with the defaults in place; nothing is mapped yet. */
tsr_status team_init(tsr_context *ctx, const tsr_launch_spec *spec, int64_t num_ranks, team *t);

/*
 * Maps what the ranks share: memory of this process, and of those forked from it if `shared`; or
 * files in memory, one for what describes the ranks and one for the segment of each.
 */
tsr_status team_map(tsr_context *ctx, team *t, bool shared);
/* Both for ranks that are threads of this process, or forked from it: by default one a core. */
tsr_status team_open(tsr_context *ctx, const tsr_launch_spec *spec, bool threads, team *t);
bool team_map_files(team *t, int control, const int *segments);
void team_unmap(team *t);

/* All ranks are running again, before they do: nothing is known of their ends. */
void team_restart(const team *t);

/* Tells the others that a rank is done, and how it went; `text` says why it failed. */
void team_report_end(const team *t, int64_t rank, tsr_status status, const char *text);
/* The same with the last error of its context and the notes of that. */
void team_report(const team *t, int64_t rank, tsr_status status, const tsr_context *ctx);
/* The same for a process that died. */
void team_report_death(const team *t, int64_t rank, const char *text);
/* Leaves a text for those that wait for a rank which ends now, and has not failed. */
void team_leave_text(const team *t, int64_t rank, const char *text);
/* Records the end of processes that died without reporting it. */
void team_look_for_deaths(const team *t);
/* The ranks that have not reported their end. */
int64_t team_num_running(const team *t);
/* Since when as many ranks are running as now. Starts as zeros. */
typedef struct end_watch {
    int64_t running;
    bool failed; /* another rank has */
    double since;
} end_watch;

/*
 * Whether the ranks that are still running, of which there are so many, exceed their limit: the
 * last one that which the caller set, all of them the time-out where one has failed. Else they are
 * waited for.
 */
bool team_is_overdue(const team *t, int64_t running, end_watch *w);
/* Whether a rank, or every rank but one, is done. */
bool team_is_done(const team *t, int64_t rank);
bool team_others_are_done(const team *t, int64_t rank);

/*
 * The outcome of all ranks: the status of the lowest that failed, and messages. Ranks that failed
 * in the same way have one; those that only met the failure of another come last. Where all ranks
 * failed in the same way the message says which only if `named`.
 */
tsr_status team_collect(tsr_context *ctx, const team *t, bool named);

/* The message of one rank alone, out of its context; -1: without its number. */
void team_collect_one(tsr_context *ctx, int64_t rank, tsr_status status, const tsr_context *own);

#endif
