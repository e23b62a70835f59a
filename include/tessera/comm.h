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
    bool checked;   /* compare local calls too, before each; also by TSR_CHECK=1 */
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

/* Whether a world is abstract. */
TSR_API bool tsr_comm_is_abstract(const tsr_comm *comm) TSR_MT_SAFE;

/*
 * A world over the processes of a transport, for programs that bring their own; every process calls
 * it. `spec` may be NULL; its `ranks` is ignored. The transport is closed with the world.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_open(tsr_context *ctx, const tsr_transport *transport,
                                               TSR_NULLABLE const tsr_launch_spec *spec,
                                               tsr_comm **world) TSR_MT_CONTEXT;

/*
 * A world over the processes of an MPI_Comm, given by its address, for programs that use MPI
 * already: the library detects which MPI that is, and duplicates the communicator. MPI must be
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

/* The rank that an MPI launcher gave this process; -1 when none started it, or TSR_MPI=none. */
TSR_API int64_t tsr_launcher_rank(void) TSR_MT_SAFE;

/* "threads", "processes", "openmpi" ..: what this rank is, and whether it shares memory with all
 * others. Static. */
TSR_API const char *tsr_comm_transport(const tsr_comm *comm, bool *shared) TSR_MT_SAFE;

/* This rank's index in the group, how many there are, and this rank's context. */
TSR_API int64_t tsr_comm_rank(const tsr_comm *comm) TSR_MT_SAFE;
TSR_API int64_t tsr_comm_size(const tsr_comm *comm) TSR_MT_SAFE;
TSR_API tsr_context *tsr_comm_context(const tsr_comm *comm) TSR_MT_SAFE;

/*
 * A mesh over all ranks of the world, out of a text that tsr_mesh_parse reads: "dp=2, tp=4". One
 * size may be -1: what the others leave. The product of the sizes must be the number of ranks. Not
 * collective: every rank gives the same text.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mesh_of_world(tsr_comm *world, tsr_arena *arena,
                                                   const char *axes,
                                                   const tsr_mesh **out) TSR_MT_CONTEXT;

/* The rank in the world of a member of the group. */
TSR_API int64_t tsr_comm_world_rank(const tsr_comm *comm, int64_t member) TSR_MT_SAFE;

/*
 * The group of this rank along axes of a mesh over all ranks of the world, in the order that
 * tsr_groups gives. Collective over the world. Made once for each list of axes of a mesh and kept
 * by the world: asking again is cheap, and the caller does not free it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_along(tsr_comm *world, const tsr_mesh *mesh,
                                                TSR_TOLD TSR_ARRAY(num_axes)
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
