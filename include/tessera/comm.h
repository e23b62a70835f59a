/*
 * Ranks and communicators.
 *
 * A rank is a thread of this process or a forked process; each runs the same function. Rank r is
 * device r of a mesh. A communicator is one rank's end of a group; its calls are collective: every
 * member makes the same calls in the same order. A failure is collective too: when one rank refuses
 * a call, does not come in time or ends, every member's call fails with the reason.
 */
#ifndef TESSERA_COMM_H
#define TESSERA_COMM_H

#include <tessera/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_comm tsr_comm;

typedef enum tsr_ranks {
    TSR_RANKS_THREADS,  /* of this process */
    TSR_RANKS_PROCESSES /* forked: a crash costs one rank */
} tsr_ranks;

/* How to run ranks. Zeros are the defaults. */
typedef struct tsr_launch_spec {
    int64_t num_ranks; /* at least 1 */
    tsr_ranks ranks;
    double timeout;       /* seconds that a rank waits for the others; 0: 60 */
    bool checked;         /* compare what ranks are about to do; also by TSR_CHECK=1 */
    size_t segment_bytes; /* address space of each rank's tensors; 0: as much as the machine has */
} tsr_launch_spec;

/* What a rank runs. Its messages go to tsr_comm_context(world). */
typedef tsr_status (*tsr_rank_function)(tsr_comm *world, void *state);

/*
 * Runs the function on every rank and waits for all. TSR_OK when all of them returned TSR_OK or
 * more; else the status of the lowest rank that failed, and a message for every one that did. A
 * thread that does not end within the time-out after the others did is abandoned and named. With
 * forked processes, `state` is each process's copy; nothing that they write to it comes back.
 */
TSR_API TSR_NODISCARD tsr_status tsr_launch(tsr_context *ctx, const tsr_launch_spec *spec,
                                            tsr_rank_function function, void *state) TSR_MT_CONTEXT;

/* This rank's index in the group, how many there are, and this rank's context. */
TSR_API int64_t tsr_comm_rank(const tsr_comm *comm) TSR_MT_SAFE;
TSR_API int64_t tsr_comm_size(const tsr_comm *comm) TSR_MT_SAFE;
TSR_API tsr_context *tsr_comm_context(const tsr_comm *comm) TSR_MT_SAFE;

/* The rank in the world of a member of the group. */
TSR_API int64_t tsr_comm_world_rank(const tsr_comm *comm, int64_t member) TSR_MT_SAFE;

/*
 * The group of this rank along axes of a mesh over all ranks of the world, in the order that
 * tsr_groups gives. Collective over the world. Made once for each list of axes of a mesh and kept
 * by the world: asking again is cheap, and nobody frees it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_along(tsr_comm *world, const tsr_mesh *mesh,
                                                const tsr_axis_ref *axes, size_t num_axes,
                                                tsr_comm **out) TSR_MT_CONTEXT;

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
