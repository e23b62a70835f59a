/*
 * Ranks and communicators.
 *
 * A rank is a thread of this process, a forked process, or a process that mpirun started; each runs
 * the same function. Rank r is device r of a mesh. A communicator is one rank's handle of a group;
 * its calls are collective: every member makes the same calls in the same order. A failure is
 * collective too: when one rank refuses a call, does not arrive in time or ends, every member's
 * call fails with the reason.
 */
#ifndef TESSERA_COMM_H
#define TESSERA_COMM_H

#include <tessera/mesh.h>
#include <tessera/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_comm tsr_comm;

typedef enum tsr_ranks {
    TSR_RANKS_AUTO,      /* MPI when mpirun started this process, else threads */
    TSR_RANKS_THREADS,   /* of this process */
    TSR_RANKS_PROCESSES, /* forked: a crash ends only one rank */
    TSR_RANKS_MPI        /* this process is one of those that mpirun started */
} tsr_ranks;

/* How to run ranks. Zeros are the defaults. */
typedef struct tsr_launch_spec {
    int64_t num_ranks; /* 0: as many as mpirun started; without it, one for each core */
    tsr_ranks ranks;
    double timeout; /* seconds that a rank waits for the others; 0: 60 */
    bool checked;   /* compare local calls before each, not after; also by TSR_CHECK=1 */
    /* Address space of each rank's tensors; 0: TSR_SEGMENT_BYTES, or as much as the machine has. */
    size_t segment_bytes;
    double end_timeout; /* seconds that the last rank may go on after the others; 0: no limit */
} tsr_launch_spec;

/* What a rank runs. Its messages go to tsr_comm_context(world). */
typedef tsr_status (*tsr_rank_function)(tsr_comm *world, void *state);

/*
 * Runs the function on every rank and waits for all. TSR_OK when all of them returned TSR_OK or
 * more; else the status of the lowest rank that failed, and messages of those that did, whole and
 * with their notes: one for ranks that failed in the same way (`ranks 0-3 failed: ..`), first those
 * that failed by themselves, then those that met the failure of another. A rank whose function
 * fails without a message is named with its status. A rank that works is waited for. One that has
 * not ended within `end_timeout` after all others did, or within the time-out after one has failed,
 * is named, and abandoned if it is a thread, killed if it is a forked process. With forked
 * processes, `state` is each process's copy; what they write to it is lost. The program may ignore
 * SIGCHLD or reap children by itself.
 *
 * The time-out of a rank that waits for another counts from the last progress of that one, so that
 * a slow transfer goes on; a process that stops inside a call is given up and named, and the
 * communicator is broken. A thread that is inside a call is waited for, since it may be using
 * memory of the caller's. So is a process that has only started a collective and computes, unless
 * it is on this machine and stopped. Memory of the segment into which a lost rank might still write
 * is not used again.
 *
 * Under mpirun every process calls this, and is one rank; the result and the messages are the same
 * on all of them, and tsr_context_print prints them on the first that lives. A
 * rank that has ended waits for the others to end, with the same limits, and names those that have
 * not. MPI is found at run time: TSR_MPI=openmpi or mpich says which, else the launcher's
 * variables do; TSR_MPI=none keeps to threads. Plug-ins are looked for in TSR_PLUGIN_PATH, beside
 * the library, and where the system keeps libraries. When ranks run on one machine they share
 * memory; else, or with TSR_TRANSPORT=message, everything goes by messages.
 */
TSR_API TSR_NODISCARD tsr_status tsr_launch(tsr_context *ctx, const tsr_launch_spec *spec,
                                            tsr_rank_function function,
                                            TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * Runs the function once, on this thread, as `rank` of an abstract world of any number of ranks (no
 * ranks, shapes only): what it makes has types, shapes and layouts, but no elements
 * (tsr_tensor_data is NULL, what a tensor is made from is not read). Calls check their arguments,
 * record what they would move (tsr_trace_begin) and give tensors without elements. So a program is
 * checked, and its collectives are counted, for meshes of thousands of devices before anything
 * runs. Calls that would need elements fail: collectives on arrays, full arrays, files.
 */
TSR_API TSR_NODISCARD tsr_status tsr_launch_abstract(tsr_context *ctx, int64_t num_ranks,
                                                     int64_t rank, tsr_rank_function function,
                                                     TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * A world that stays open and is driven from one thread, while functions run on its ranks one
 * after the other. What the ranks make in one run (tensors, groups, scopes, caches) is there in
 * the next.
 *
 * Calls about one world come from one thread at a time, but for tsr_world_stop. Between runs that
 * thread may use the communicators of the ranks for calls that are not collective, on any of their
 * tensors: tsr_tensor_retain, tsr_tensor_release, tsr_tensor_data, tsr_tensor_fill,
 * tsr_trace_events, tsr_comm_traffic and so on; no such call depends on the thread that makes it,
 * and a run is ordered after what was done before it. Their messages go to the context of the
 * rank, which each run clears when it starts.
 *
 * Several worlds may be open, driven by the same thread or by several. CBLAS has one number of
 * threads for the whole process: while worlds are open that is the cores divided by the ranks of
 * the world that has the most of them here, at least 1.
 *
 * In a child of fork the worlds of its parent cannot be used: their calls fail, and tsr_world_close
 * only gives back address space. It may open its own. A process may exit with a world open.
 */
typedef struct tsr_world tsr_world;

/*
 * Opens a world, with the spec of tsr_launch: under mpirun this process is one rank of it, and
 * every process opens it; else its ranks are threads, which sleep between runs. Forked processes
 * cannot stay open (TSR_ERR_UNSUPPORTED): tsr_launch runs them. The context is that of the driving
 * thread and outlives the world.
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_open(tsr_context *ctx, const tsr_launch_spec *spec,
                                                tsr_world **out) TSR_MT_CONTEXT;

/*
 * Returns the same for an abstract world, as tsr_launch_abstract has. Its messages go to `ctx`
 * directly.
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_open_abstract(tsr_context *ctx, int64_t num_ranks,
                                                         int64_t rank,
                                                         tsr_world **out) TSR_MT_CONTEXT;

/*
 * Runs the function on every rank of this process and waits for all; a single one runs on the
 * calling thread. The status and the messages are those of tsr_launch, added to the context that
 * the world was opened with; but where all ranks failed in the same way the message is theirs
 * alone, without `ranks 0-3 failed: ` before it. Under mpirun they are those of this process's rank
 * only, and no process waits for another at the end of a run.
 *
 * Within a run, a thread whose function has returned counts as ended: ranks that wait for it in a
 * call fail with its reason, and the communicator of that call is broken for good, so that later
 * calls on it fail at once. So is one on which a request was left pending, which is a failure of
 * the rank that left it. Where all ranks refuse a call alike, or fail in none, nothing is broken
 * and the next run begins as if nothing had happened. A rank that exceeds the limits of tsr_launch
 * is abandoned and named, and the world can then only be closed; so too when a function ends its
 * thread (pthread_exit).
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_run(tsr_world *world, tsr_rank_function function,
                                               TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * Returns the same in two parts, so that the driving thread can look at signals in between: starts
 * a run; then waits for at most so many seconds, or without limit if negative, and gives
 * TSR_IN_PROGRESS while ranks are running, else once what tsr_world_run gives. The limits on ranks
 * are watched while it waits. A single rank has ended when tsr_world_start returns, which runs it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_start(tsr_world *world, tsr_rank_function function,
                                                 TSR_NULLABLE void *state) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_world_wait(tsr_world *world, double seconds) TSR_MT_CONTEXT;

/*
 * Ends the run in progress as soon as possible: ranks that wait for others to enter a call fail
 * with TSR_ERR_PEER, those that compute in their next collective call. A call that all have entered
 * is finished. From then on runs fail at once, and the world can only be closed. May be called by
 * any thread, a rank's too, when nothing runs, and more than once, but not by a signal handler, nor
 * while the world is closed. Under mpirun other processes learn of it in their calls, or when this
 * one closes.
 */
TSR_API void tsr_world_stop(tsr_world *world) TSR_MT_SAFE;

/*
 * Closes a world; NULL is none. Waits for a run in progress as tsr_world_wait does, and gives its
 * failure. Under mpirun it returns when all processes have closed, with the limits of tsr_launch.
 * Tensors of the ranks that were not released are freed with the world, and must not be used any
 * more, not even released; memory that such a tensor was made over is the program's. What an
 * abandoned rank may be using is given back when its function returns.
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_close(TSR_NULLABLE tsr_world *world) TSR_MT_CONTEXT;

/*
 * Returns how many ranks the world has, how many of them this process runs, and the communicator of
 * the i-th of those; NULL if there is none. It stays the same while the world is open. In a child
 * of fork the numbers of a world of its parent are -1.
 */
TSR_API int64_t tsr_world_size(const tsr_world *world) TSR_MT_CONTEXT;
TSR_API int64_t tsr_world_num_local(const tsr_world *world) TSR_MT_CONTEXT;
TSR_API tsr_comm *tsr_world_comm(const tsr_world *world, int64_t i) TSR_MT_CONTEXT;

/* Returns whether a world is abstract. */
TSR_API bool tsr_comm_is_abstract(const tsr_comm *comm) TSR_MT_SAFE;

/*
 * Returns a world over the processes of a transport, for programs that bring their own; every
 * process calls it. `spec` may be NULL; its `ranks` is ignored. The transport is closed with the
 * world.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_open(tsr_context *ctx, const tsr_transport *transport,
                                               TSR_NULLABLE const tsr_launch_spec *spec,
                                               tsr_comm **world) TSR_MT_CONTEXT;

/*
 * Returns a world over the processes of an MPI_Comm, given by its address, for programs that use
 * MPI already: the library detects which MPI that is, and duplicates the communicator. MPI must be
 * initialised; the world is closed before it is finalised. MPI_COMM_NULL is refused.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_open_mpi(tsr_context *ctx, const void *mpi_comm,
                                                   TSR_NULLABLE const tsr_launch_spec *spec,
                                                   tsr_comm **world) TSR_MT_CONTEXT;

/*
 * Ends a world that tsr_comm_open or tsr_comm_open_mpi made. Every process calls it; returns when
 * all have, or with an error that names the ranks that have not, with the limits of tsr_launch.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_close(tsr_comm *world) TSR_MT_CONTEXT;

/*
 * Ends all processes of an MPI job at once. For when a rank did not arrive in time and the program
 * cannot go on without it: a broken communicator stays broken, and MPI_Finalize would wait for the
 * missing process. Without MPI it does nothing.
 */
TSR_API void tsr_comm_abort(tsr_comm *comm, int code) TSR_MT_CONTEXT;

/*
 * Returns the rank that an MPI launcher gave this process; -1 when none started it, or
 * TSR_MPI=none.
 */
TSR_API int64_t tsr_launcher_rank(void) TSR_MT_SAFE;

/* "threads", "processes", "openmpi" ..: what this rank is, and whether it shares memory with all
 * others. Static. */
TSR_API const char *tsr_comm_transport(const tsr_comm *comm, bool *shared) TSR_MT_SAFE;

/* This rank's index in the group, how many there are, and this rank's context. */
TSR_API int64_t tsr_comm_rank(const tsr_comm *comm) TSR_MT_SAFE;
TSR_API int64_t tsr_comm_size(const tsr_comm *comm) TSR_MT_SAFE;
TSR_API tsr_context *tsr_comm_context(const tsr_comm *comm) TSR_MT_SAFE;

/*
 * Returns a mesh over all ranks of the world, out of a text that tsr_mesh_parse reads: "dp=2,
 * tp=4". One size may be -1: what the others leave. The product of the sizes must be the number of
 * ranks. Not collective: every rank gives the same text.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_of_world(tsr_comm *world, tsr_arena *arena,
                                                   const char *axes,
                                                   const tsr_mesh **out) TSR_MT_CONTEXT;

/* Returns the rank in the world of a member of the group. */
TSR_API int64_t tsr_comm_world_rank(const tsr_comm *comm, int64_t member) TSR_MT_SAFE;

/*
 * Returns the group of this rank along axes of a mesh over all ranks of the world, in the order
 * that tsr_groups gives. Collective over the world. Made once for each list of axes of a mesh and
 * kept by the world: asking again is cheap, and the caller does not free it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_along(tsr_comm *world, const tsr_mesh *mesh,
                                                TSR_COLLECTIVE TSR_ARRAY(num_axes)
                                                    const tsr_axis_ref *axes,
                                                size_t num_axes, tsr_comm **out) TSR_MT_CONTEXT;

/* Returns when every member has called it. */
TSR_API TSR_NODISCARD tsr_status tsr_barrier(tsr_comm *comm) TSR_MT_CONTEXT;

/* What the transport moved for this rank since it started, in bytes of tensors. */
typedef struct tsr_traffic {
    int64_t bytes_sent;     /* to other ranks */
    int64_t bytes_received; /* from other ranks */
    int64_t bytes_local;    /* within this rank */
} tsr_traffic;
TSR_API tsr_traffic tsr_comm_traffic(const tsr_comm *comm) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
