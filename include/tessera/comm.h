/*
 * Ranks and communicators.
 *
 * A rank is a thread of this process, a forked process, or a process that mpirun started; each runs
 * the same function. Rank r is device r of a mesh. A communicator is one rank's handle of a group;
 * its calls are collective: every member makes the same calls in the same order. A failure is
 * collective too: if one rank rejects a call, does not arrive in time or ends, the call fails on
 * every member with the reason.
 */
#ifndef TESSERA_COMM_H
#define TESSERA_COMM_H

#include <tessera/mesh.h>
#include <tessera/topology.h>
#include <tessera/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_comm tsr_comm;

typedef enum tsr_ranks {
    TSR_RANKS_AUTO,      /* MPI if mpirun started this process, else threads */
    TSR_RANKS_THREADS,   /* threads of this process */
    TSR_RANKS_PROCESSES, /* forked processes: a crash ends only one rank */
    TSR_RANKS_MPI        /* this process is one of the ranks that mpirun started */
} tsr_ranks;

/* How to run ranks. Zero selects the default of each field. */
typedef struct tsr_launch_spec {
    int64_t num_ranks; /* 0: the number that mpirun started; without mpirun, one per core */
    tsr_ranks ranks;
    double timeout; /* seconds that a rank waits for the others; 0: 60. Joining: at least 10 */
    bool checked;   /* compare local calls before each, not after; also set by TSR_CHECK=1 */
    /* Address space of each rank's tensors; 0: TSR_SEGMENT_BYTES, or the memory of the machine. */
    size_t segment_bytes;
    double end_timeout; /* seconds that the last rank may run after the others; 0: no limit */
} tsr_launch_spec;

/* The function that a rank runs. Its messages go to tsr_comm_context(world). */
typedef tsr_status (*tsr_rank_function)(tsr_comm *world, void *state);

/*
 * Runs the function on every rank and waits for all of them. Returns TSR_OK if all of them returned
 * TSR_OK or a positive status; else the status of the lowest rank that failed, and the complete
 * messages of all ranks that failed, with their notes. Ranks that failed in the same way share one
 * message (`ranks 0-3 failed: ..`). Ranks with a failure of their own precede ranks that only met
 * the failure of another. A rank whose function fails without a message is named with its status.
 *
 * tsr_launch waits without limit for a rank that makes progress. A rank that has not ended within
 * `end_timeout` after all others did, or within the time-out after one has failed, is named, and
 * abandoned if it is a thread, killed if it is a forked process. Each forked process has its own
 * copy of `state`; its writes to it are lost. The program may ignore SIGCHLD or reap children
 * itself.
 *
 * The time-out of a rank that waits for another counts from the last progress of that rank, so a
 * slow transfer goes on. A process that stops inside a call is given up and named, and the
 * communicator is broken. The library waits without limit for a thread inside a call, because the
 * thread may use memory of the caller, and for a process that has only started a collective and
 * computes, unless it is on this machine and stopped. Segment memory into which a lost rank might
 * still write is not used again.
 *
 * Under mpirun every process calls tsr_launch and is one rank; the result and the messages are the
 * same on all of them, and tsr_context_print prints them on the lowest rank that is alive. A rank
 * that has ended waits for the others to end, with the same limits, and names those that have not.
 * MPI is loaded at run time: TSR_MPI=openmpi or mpich selects it, else the launcher's variables do;
 * TSR_MPI=none selects threads. Plug-ins are searched for in TSR_PLUGIN_PATH, beside the library,
 * and in the system's library directories. Ranks on one machine share memory; otherwise, or with
 * TSR_TRANSPORT=message, all data is sent as messages.
 */
TSR_API TSR_NODISCARD tsr_status tsr_launch(tsr_context *ctx, const tsr_launch_spec *spec,
                                            tsr_rank_function function,
                                            TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * Runs the function once, on this thread, as `rank` of an abstract world with any number of ranks
 * (no ranks, shapes only). Tensors have types, shapes and layouts but no elements (tsr_tensor_data
 * returns NULL, and source arrays are not read). Calls check their arguments, record what they
 * would move (tsr_trace_begin) and return tensors without elements. This checks a program and
 * counts its collectives, for meshes of thousands of devices, before anything runs. Calls that need
 * elements fail: collectives on arrays, full arrays, files.
 */
TSR_API TSR_NODISCARD tsr_status tsr_launch_abstract(tsr_context *ctx, int64_t num_ranks,
                                                     int64_t rank, tsr_rank_function function,
                                                     TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * A world that stays open and is driven from one thread, while functions run on its ranks one after
 * the other. Objects that the ranks create in one run (tensors, groups, scopes, caches) exist in
 * the next.
 *
 * Calls about one world come from one thread at a time, except tsr_world_stop. Between runs that
 * thread may use the communicators of the ranks for calls that are not collective, on any of their
 * tensors: tsr_tensor_retain, tsr_tensor_release, tsr_tensor_data, tsr_tensor_fill,
 * tsr_trace_events, tsr_comm_traffic and so on. No such call depends on the thread that makes it,
 * and a run is ordered after the calls before it. Messages of these calls go to the context of the
 * rank, which each run clears when it starts.
 *
 * Several worlds may be open, driven by the same thread or by several. CBLAS has one number of
 * threads for the whole process: while worlds are open it is the number of cores divided by the
 * largest number of local ranks of any world, at least 1.
 *
 * A child of fork cannot use the worlds of its parent: their calls fail, and tsr_world_close only
 * releases address space. The child may open its own. A process may exit while a world is open.
 */
typedef struct tsr_world tsr_world;

/*
 * Opens a world, with the spec of tsr_launch. Under mpirun this process is one rank of it, and
 * every process opens it; else its ranks are threads, which sleep between runs. Forked processes
 * cannot stay open (TSR_ERR_UNSUPPORTED): use tsr_launch for them. The context belongs to the
 * driving thread and must outlive the world.
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_open(tsr_context *ctx, const tsr_launch_spec *spec,
                                                tsr_world **out) TSR_MT_CONTEXT;

/* Opens an abstract world (tsr_launch_abstract). Its messages go to `ctx` directly. */
TSR_API TSR_NODISCARD tsr_status tsr_world_open_abstract(tsr_context *ctx, int64_t num_ranks,
                                                         int64_t rank,
                                                         tsr_world **out) TSR_MT_CONTEXT;

/*
 * Runs the function on every rank of this process and waits for all of them; a single rank runs on
 * the calling thread. Status and messages are those of tsr_launch, added to the context with which
 * the world was opened; if all ranks failed in the same way, the message has no prefix `ranks 0-3
 * failed: `. Under mpirun they are those of this process's rank only, and no process waits for
 * another at the end of a run.
 *
 * Within a run, a thread whose function has returned counts as ended: ranks that wait for it in a
 * call fail with its reason, and the communicator of that call is broken for good, so later calls
 * on it fail at once. A communicator with a pending request is broken too; the rank that left the
 * request pending has failed. If all ranks reject a call alike, or none fails, nothing is broken
 * and the next run starts normally. A rank that exceeds the limits of tsr_launch is abandoned and
 * named, and the world can then only be closed; the same holds if a function ends its thread
 * (pthread_exit).
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_run(tsr_world *world, tsr_rank_function function,
                                               TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * The same in two parts, so that the driving thread can handle signals in between. tsr_world_start
 * starts a run. tsr_world_wait waits for at most this many seconds, or without limit if the number
 * is negative; it returns TSR_IN_PROGRESS while ranks are running, else, once, the result of
 * tsr_world_run. It enforces the limits on ranks while it waits. A world of a single rank has
 * finished its run when tsr_world_start returns.
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_start(tsr_world *world, tsr_rank_function function,
                                                 TSR_NULLABLE void *state) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_world_wait(tsr_world *world, double seconds) TSR_MT_CONTEXT;

/*
 * Ends the run in progress as soon as possible: ranks that wait for others to enter a call fail
 * with TSR_ERR_PEER; ranks that compute fail in their next collective call. A call that all ranks
 * have entered is completed. Afterwards runs fail at once, and the world can only be closed. Any
 * thread may call it, including a rank, also when nothing runs, and more than once; a signal
 * handler must not, nor any thread while the world is being closed. Under mpirun other processes
 * are notified in their calls, or when this process closes the world.
 */
TSR_API void tsr_world_stop(tsr_world *world) TSR_MT_SAFE;

/*
 * Closes a world. Does nothing if it is NULL. Waits for a run in progress as tsr_world_wait does,
 * and returns its failure. Under mpirun it returns when all processes have closed the world, with
 * the limits of tsr_launch. Tensors of the ranks that were not released are freed with the world
 * and must not be used afterwards, not even released; memory that tsr_tensor_wrap received stays
 * with the program. Memory that an abandoned rank may be using is freed when its function returns.
 */
TSR_API TSR_NODISCARD tsr_status tsr_world_close(TSR_NULLABLE tsr_world *world) TSR_MT_CONTEXT;

/*
 * tsr_world_size returns the number of ranks of the world, tsr_world_num_local the number that this
 * process runs, tsr_world_comm the communicator of the i-th of those, or NULL if i is out of range;
 * it stays valid while the world is open. In a child of fork the numbers of the parent's worlds are
 * -1.
 */
TSR_API int64_t tsr_world_size(const tsr_world *world) TSR_MT_CONTEXT;
TSR_API int64_t tsr_world_num_local(const tsr_world *world) TSR_MT_CONTEXT;
TSR_API tsr_comm *tsr_world_comm(const tsr_world *world, int64_t i) TSR_MT_CONTEXT;

/* Returns whether a world is abstract. */
TSR_API bool tsr_comm_is_abstract(const tsr_comm *comm) TSR_MT_SAFE;

/*
 * Opens a world over the processes of a transport, for programs that bring their own; every process
 * calls it. `spec` may be NULL; its `ranks` is ignored. The transport is closed with the world.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_open(tsr_context *ctx, const tsr_transport *transport,
                                               TSR_NULLABLE const tsr_launch_spec *spec,
                                               tsr_comm **world) TSR_MT_CONTEXT;

/*
 * Opens a world over the processes of an MPI_Comm, given by its address, for programs that use MPI
 * already: the library detects the MPI implementation and duplicates the communicator. MPI must be
 * initialised; close the world before MPI_Finalize. MPI_COMM_NULL is rejected.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_open_mpi(tsr_context *ctx, const void *mpi_comm,
                                                   TSR_NULLABLE const tsr_launch_spec *spec,
                                                   tsr_comm **world) TSR_MT_CONTEXT;

/*
 * Closes a world that tsr_comm_open or tsr_comm_open_mpi opened. Every process calls it. Returns
 * when all have, or with an error that names the ranks that have not, with the limits of
 * tsr_launch.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_close(tsr_comm *world) TSR_MT_CONTEXT;

/*
 * Ends all processes of an MPI job at once: for a program that cannot continue without a rank that
 * did not arrive in time. A broken communicator stays broken, and MPI_Finalize would wait for the
 * missing process. Without MPI the call does nothing.
 */
TSR_API void tsr_comm_abort(tsr_comm *comm, int code) TSR_MT_CONTEXT;

/*
 * Returns the rank that an MPI launcher gave this process; -1 if no launcher started it, or if
 * TSR_MPI=none.
 */
TSR_API int64_t tsr_launcher_rank(void) TSR_MT_SAFE;

/*
 * Returns the kind of ranks: "threads", "processes", "openmpi" .. (static). Sets *shared to whether
 * this rank shares memory with all others.
 */
TSR_API const char *tsr_comm_transport(const tsr_comm *comm, bool *shared) TSR_MT_SAFE;

/* Return this rank's index in the group, the size of the group, and this rank's context. */
TSR_API int64_t tsr_comm_rank(const tsr_comm *comm) TSR_MT_SAFE;
TSR_API int64_t tsr_comm_size(const tsr_comm *comm) TSR_MT_SAFE;
TSR_API tsr_context *tsr_comm_context(const tsr_comm *comm) TSR_MT_SAFE;

/*
 * Builds a mesh over all ranks of the world from a text that tsr_mesh_parse reads: "dp=2, tp=4".
 * One size may be -1; it is computed from the number of ranks. The product of the sizes must be the
 * number of ranks. Not collective: every rank passes the same text.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_of_world(tsr_comm *world, tsr_arena *arena,
                                                   const char *axes,
                                                   const tsr_mesh **out) TSR_MT_CONTEXT;

/* Returns the rank in the world of a member of the group. */
TSR_API int64_t tsr_comm_world_rank(const tsr_comm *comm, int64_t member) TSR_MT_SAFE;

/*
 * Returns the group of this rank along axes of a mesh over all ranks of the world, in the order
 * that tsr_groups_create defines. Collective over the world. The world creates it once for each
 * list of axes of a mesh and owns it: repeated calls are cheap, and the caller must not free it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_along(tsr_comm *world, const tsr_mesh *mesh,
                                                TSR_COLLECTIVE TSR_ARRAY(num_axes)
                                                    const tsr_axis_ref *axes,
                                                size_t num_axes, tsr_comm **out) TSR_MT_CONTEXT;

/* Waits until every member has called it. */
TSR_API TSR_NODISCARD tsr_status tsr_barrier(tsr_comm *comm) TSR_MT_CONTEXT;

/* Bytes of tensors that the transport moved for this rank since the rank started. */
typedef struct tsr_traffic {
    int64_t bytes_sent;     /* to other ranks */
    int64_t bytes_received; /* from other ranks */
    int64_t bytes_local;    /* within this rank */
} tsr_traffic;
TSR_API tsr_traffic tsr_comm_traffic(const tsr_comm *comm) TSR_MT_CONTEXT;

/*
 * States where the ranks of a world are: rank r is device r of the topology, which is fitted to the
 * number of ranks (tsr_topology_fit). From this call on traffic is counted by level too, from
 * zeros; NULL stops that. Collective, with the same topology on every rank. Rejects a topology that
 * does not fit, and any change while a request is pending.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_comm_set_topology(tsr_comm *world, TSR_NULLABLE const tsr_topology *topology) TSR_MT_CONTEXT;

/*
 * Returns the bytes that moved for this rank at a level of the topology: to and from the ranks that
 * differ from it first at that level. Zeros if the world has no topology, or the level is out of
 * range. bytes_local is 0.
 */
TSR_API tsr_traffic tsr_comm_traffic_at(const tsr_comm *comm, size_t level) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
